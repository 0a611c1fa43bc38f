//! The plan as the agent's own tools left it: written whole each time, or kept step by step.

use super::Work;
use super::call::Call;
use crate::distill::{Item, Plan, Quoting, Voice};
use crate::transcript::{Action, PlanStep, StepChange, StepState};

/// The longest step, in characters.
const STEP_CHARS: usize = 300;

/// A step of the plan in force.
struct TrackedStep {
    state: StepState,
    /// Its words, with the calls that made it what it is.
    item: Item,
    /// How later calls name it, where they can.
    id: Option<String>,
}

/// The plan that stands after all calls. One that was over before the present work began is history.
pub(super) fn build_from(work: &Work<'_>, present_from: usize) -> Plan {
    let (before, since) = work.calls.split_at(work.calls.partition_point(|call| call.step < present_from));
    let mut steps = Vec::new();
    replay_calls(&mut steps, before, work.quoting);
    if steps.iter().all(|step: &TrackedStep| step.state == StepState::Done) {
        steps.clear();
    }
    replay_calls(&mut steps, since, work.quoting);
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

fn replay_calls(plan: &mut Vec<TrackedStep>, calls: &[Call<'_>], quoting: Quoting) {
    for call in calls {
        match call.action {
            Action::Plan(steps) if !steps.is_empty() && !call.failed => {
                *plan = steps.iter().map(|step| TrackedStep::from_plan_step(step, call, quoting)).collect();
            }
            // Whether a step was changed is known only when the call has come back.
            Action::Step(change) if call.succeeded() => apply_change(plan, change, call, quoting),
            _ => {}
        }
    }
}

fn apply_change(plan: &mut Vec<TrackedStep>, change: &StepChange, call: &Call<'_>, quoting: Quoting) {
    match change {
        StepChange::Add { id, text } => plan.push(TrackedStep::from_added_step(id.clone(), text, call, quoting)),
        StepChange::Update { id, text, state } => {
            if let Some(index) = find_step(plan, id) {
                plan[index].update_step(text.as_deref(), *state, call, quoting);
            }
        }
        StepChange::Drop { id } => {
            if let Some(index) = find_step(plan, id) {
                plan.remove(index);
            }
        }
    }
}

/// The newest step of a name: a list that was finished may be begun anew with the same ones.
fn find_step(plan: &[TrackedStep], id: &str) -> Option<usize> {
    plan.iter().rposition(|step| step.id.as_deref() == Some(id))
}

impl TrackedStep {
    fn from_plan_step(step: &PlanStep, call: &Call<'_>, quoting: Quoting) -> Self {
        Self { state: step.state, item: quote_step(&step.text, call, quoting), id: None }
    }

    fn from_added_step(id: Option<String>, text: &str, call: &Call<'_>, quoting: Quoting) -> Self {
        Self { state: StepState::Pending, item: quote_step(text, call, quoting), id }
    }

    fn update_step(&mut self, text: Option<&str>, state: Option<StepState>, call: &Call<'_>, quoting: Quoting) {
        if let Some(text) = text {
            self.item.text = quoting.quote_passage(text, STEP_CHARS);
        }
        self.state = state.unwrap_or(self.state);
        self.item.at = call.at;
        self.item.entries.push(call.key);
    }
}

fn quote_step(text: &str, call: &Call<'_>, quoting: Quoting) -> Item {
    quoting.quote_item(text, STEP_CHARS, Voice::Agent, call.at, call.key)
}
