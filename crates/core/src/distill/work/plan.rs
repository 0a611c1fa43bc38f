//! The plan as the agent's own tools left it: written whole each time, or kept step by step.

use super::Work;
use super::call::Call;
use crate::distill::{Item, Plan, Quoting, Voice};
use crate::transcript::{Action, PlanStep, StepChange, StepState};

/// The longest step, in characters.
const STEP_CHARS: usize = 300;

/// A step of the plan in force.
struct Planned {
    state: StepState,
    /// Its words, with the calls that made it what it is.
    item: Item,
    /// How later calls name it, where they can.
    id: Option<String>,
}

/// The plan that stands after all calls. One that was over before the present work began is history.
pub(super) fn plan(work: &Work<'_>, present_from: usize) -> Plan {
    let (before, since) = work.calls.split_at(work.calls.partition_point(|call| call.step < present_from));
    let mut steps = Vec::new();
    replay(&mut steps, before, work.quoting);
    if steps.iter().all(|step: &Planned| step.state == StepState::Done) {
        steps.clear();
    }
    replay(&mut steps, since, work.quoting);
    let mut plan = Plan::default();
    for step in steps {
        let list = match step.state {
            StepState::Done => &mut plan.done,
            StepState::InProgress => &mut plan.in_progress,
            StepState::Pending => &mut plan.left,
        };
        list.push(step.item);
    }
    plan
}

fn replay(plan: &mut Vec<Planned>, calls: &[Call<'_>], quoting: Quoting) {
    for call in calls {
        match call.action {
            Action::Plan(steps) if !steps.is_empty() && !call.failed => {
                *plan = steps.iter().map(|step| Planned::written(step, call, quoting)).collect();
            }
            // Whether a step was changed is known only when the call has come back.
            Action::Step(change) if call.succeeded() => apply(plan, change, call, quoting),
            _ => {}
        }
    }
}

fn apply(plan: &mut Vec<Planned>, change: &StepChange, call: &Call<'_>, quoting: Quoting) {
    match change {
        StepChange::Add { id, text } => plan.push(Planned::added(id.clone(), text, call, quoting)),
        StepChange::Update { id, text, state } => {
            if let Some(index) = place(plan, id) {
                plan[index].update(text.as_deref(), *state, call, quoting);
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
    fn written(step: &PlanStep, call: &Call<'_>, quoting: Quoting) -> Self {
        Self { state: step.state, item: item(&step.text, call, quoting), id: None }
    }

    fn added(id: Option<String>, text: &str, call: &Call<'_>, quoting: Quoting) -> Self {
        Self { state: StepState::Pending, item: item(text, call, quoting), id }
    }

    fn update(&mut self, text: Option<&str>, state: Option<StepState>, call: &Call<'_>, quoting: Quoting) {
        if let Some(text) = text {
            self.item.text = quoting.passage(text, STEP_CHARS);
        }
        self.state = state.unwrap_or(self.state);
        self.item.at = call.at;
        self.item.entries.push(call.key);
    }
}

fn item(text: &str, call: &Call<'_>, quoting: Quoting) -> Item {
    quoting.item(text, STEP_CHARS, Voice::Agent, call.at, call.key)
}
