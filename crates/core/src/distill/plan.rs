//! The plan as the agent's own tools left it: written whole each time, or kept step by step.

use super::digest::{Call, short};
use super::{Item, Voice};
use crate::transcript::{Action, PlanStep, StepChange, StepState};

/// A step of the plan in force.
pub(super) struct Planned {
    pub(super) state: StepState,
    /// Its words, with the calls that made it what it is.
    pub(super) item: Item,
    /// How later calls name it, where they can.
    id: Option<String>,
}

/// The steps that stand after all calls. A plan that was over before the task began is history.
pub(super) fn in_force(calls: &[Call<'_>], task_from: usize) -> Vec<Planned> {
    let (before, since) = calls.split_at(calls.partition_point(|call| call.step < task_from));
    let mut plan = Vec::new();
    replay(&mut plan, before);
    if plan.iter().all(|step: &Planned| step.state == StepState::Done) {
        plan.clear();
    }
    replay(&mut plan, since);
    plan
}

fn replay(plan: &mut Vec<Planned>, calls: &[Call<'_>]) {
    for call in calls {
        match call.action {
            Action::Plan(steps) if !steps.is_empty() && !call.failed => {
                *plan = steps.iter().map(|step| Planned::written(step, call)).collect();
            }
            // Whether a step was changed is known only when the call has come back.
            Action::Step(change) if call.succeeded() => apply(plan, change, call),
            _ => {}
        }
    }
}

fn apply(plan: &mut Vec<Planned>, change: &StepChange, call: &Call<'_>) {
    match change {
        StepChange::Add { id, text } => plan.push(Planned::added(id.clone(), text, call)),
        StepChange::Update { id, text, state } => {
            if let Some(index) = place(plan, id) {
                plan[index].update(text.as_deref(), *state, call);
            }
        }
        StepChange::Drop { id } => {
            if let Some(index) = place(plan, id) {
                plan.remove(index);
            }
        }
    }
}

/// The newest step of a name: a list that was finished may be begun anew with the same ones.
fn place(plan: &[Planned], id: &str) -> Option<usize> {
    plan.iter().rposition(|step| step.id.as_deref() == Some(id))
}

impl Planned {
    fn written(step: &PlanStep, call: &Call<'_>) -> Self {
        let item = Item { text: told(&step.text), voice: Voice::Agent, at: call.at, cites: vec![call.key] };
        Self { state: step.state, item, id: None }
    }

    fn added(id: Option<String>, text: &str, call: &Call<'_>) -> Self {
        let item = Item { text: told(text), voice: Voice::Agent, at: call.at, cites: vec![call.key] };
        Self { state: StepState::Pending, item, id }
    }

    fn update(&mut self, text: Option<&str>, state: Option<StepState>, call: &Call<'_>) {
        if let Some(text) = text {
            self.item.text = told(text);
        }
        self.state = state.unwrap_or(self.state);
        self.item.at = call.at;
        self.item.cites.push(call.key);
    }
}

fn told(text: &str) -> String {
    short(text, 240)
}
