//! How a session ended, where it was carried from, and where to.

use carryover_agents::{Env, Liveness};
use carryover_core::distill::{State, StateKind};
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::handoff;
use carryover_engine::sessions::copies::{CarriedCopy, Copies, SessionRef};
use carryover_engine::sessions::list::ListedSession;
use serde::Serialize;

use super::entries::time_span;
use crate::relative_time::format_ago;
use crate::short_id::ShortIds;
use crate::told_words::describe_state;

/// The end of a session's line, and the threads that lead on from it.
#[derive(Default)]
pub(crate) struct Ending {
    /// None where the session could not be read for it.
    pub(super) state: Option<State>,
    is_open: bool,
    pub(super) carried_from: Option<CarriedRow>,
    /// The newest first.
    pub(super) carried_to: Vec<CarriedRow>,
}

/// The other end of a carry, as `--json` tells it.
#[derive(Serialize)]
pub(super) struct CarriedRow {
    agent: String,
    session_id: String,
    #[serde(serialize_with = "as_text")]
    at: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
fn as_text<S: serde::Serializer>(at: &Timestamp, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(at)
}

impl CarriedRow {
    fn new(copy: &CarriedCopy, other_end: &SessionRef) -> Self {
        Self { agent: other_end.agent.clone(), session_id: other_end.session.0.clone(), at: copy.at }
    }

    /// As `claude-code d2f488a7, 2 d ago`.
    fn to_line(&self, env: &Env) -> String {
        let id = one_line(ShortIds::default().shorten(&self.session_id), 40);
        format!("{} {id}, {}", one_line(&self.agent, 40), format_ago(self.at, env.now))
    }
}

impl Ending {
    /// Looks how a session stands, and what the journals tell of it.
    pub(crate) fn look_up(context: &Context, session: &ListedSession) -> Self {
        let (copies, agent, id) = (Copies::load(context), session.agent.facts().id, &session.found.id);
        Self {
            // It was read for being shown, so what is wrong with it was told. That nothing was said is not known of a
            // session whose records are not understood.
            state: handoff::read_state(session)
                .ok()
                .filter(|state| !session.found.drifted || state.kind != StateKind::Empty),
            is_open: session.found.live == Liveness::Live,
            carried_from: copies.origin_of(agent, id).map(|copy| CarriedRow::new(copy, &copy.told_source)),
            carried_to: copies.copies_of(agent, id).map(|copy| CarriedRow::new(copy, &copy.target)).collect(),
        }
    }

    /// How the session stands: one line, and one for each prompt that nobody saw.
    pub(super) fn state_lines(&self, env: &Env) -> Vec<String> {
        let Some(state) = &self.state else { return Vec::new() };
        let open = if self.is_open { "open now; " } else { "" };
        let until = time_span(state.until, None, &env.zone).map(|until| format!(", until {until}"));
        let ago = state.at.map(|at| format!(", {}", format_ago(at, env.now)));
        // A prompt without an answer is the last thing that is shown.
        let detail = state.detail.as_ref().filter(|_| state.kind != StateKind::Unanswered);
        let detail = detail.map(|detail| format!(": {}", one_line(&detail.text, 120)));
        let [until, ago, detail] = [until, ago, detail].map(Option::unwrap_or_default);
        let line = format!("{open}{}{until}{ago}{detail}", describe_state(state.kind));
        let queued = state.queued.iter().map(|queued| format!("typed ahead: {}", one_line(&queued.text, 120)));
        std::iter::once(line).chain(queued).collect()
    }

    /// Where it came from and where it went, a line each.
    pub(super) fn lineage_lines(&self, env: &Env) -> Vec<String> {
        let from = self.carried_from.iter().map(|row| format!("← {}", row.to_line(env)));
        from.chain(self.carried_to.iter().map(|row| format!("→ {}", row.to_line(env)))).collect()
    }
}
