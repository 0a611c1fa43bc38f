//! The state of the screen: the sessions in use, by the events that were reported.

use std::cmp::Reverse;
use std::time::Duration;

use carryover_core::time::Timestamp;
use carryover_engine::watch::{Activity, Doing, Event};

use crate::short_id::ShortIds;

/// Words about a session change with its age, and every so often at most.
const AGE_STEP_SECONDS: i64 = 30;

/// A session in use.
pub(super) struct Row {
    pub(super) activity: Activity,
    /// The agent to go on in, where a limit stopped this one and another is installed.
    pub(super) target: Option<&'static str>,
    /// It is not in use any more, and shown because of its limit.
    pub(super) has_ended: bool,
}

#[derive(Default)]
pub(super) struct Board {
    pub(super) agents: Vec<&'static str>,
    /// Newest first.
    pub(super) rows: Vec<Row>,
    pub(super) ids: ShortIds,
    /// The last thing that went wrong.
    pub(super) trouble: Option<String>,
    /// So many rows are above the first that is shown.
    pub(super) offset: usize,
}

impl Board {
    /// Takes an event; `choose_target` names the agent to go on in.
    pub(super) fn apply_event(&mut self, event: Event, choose_target: impl Fn(&str) -> Option<&'static str>) {
        match event {
            Event::Watching { agents } => self.agents = agents,
            Event::Active(activity) => {
                let is_stopped = matches!(activity.doing, Doing::AtLimit { .. });
                let target = if is_stopped { choose_target(activity.agent) } else { None };
                self.ids.add(&activity.session.0);
                self.rows.retain(|row| !is_same(row, activity.agent, &activity.session.0));
                self.rows.push(Row { activity, target, has_ended: false });
                self.rows.sort_by_key(|row| Reverse(row.activity.at));
            }
            // The activity that comes with it has told all that a row shows.
            Event::Limit(_) => {}
            Event::Ended { agent, session, is_gone, .. } => self.end_session(agent, &session.0, is_gone),
            Event::Trouble { agent, message } => {
                let whose = agent.map(|agent| format!("{agent}: ")).unwrap_or_default();
                self.trouble = Some(format!("{whose}{message}"));
            }
        }
        self.scroll_by(0);
    }

    /// Takes away a session that is not in use any more; one that stopped at a limit waits to be carried on.
    fn end_session(&mut self, agent: &str, session: &str, is_gone: bool) {
        for row in self.rows.iter_mut().filter(|row| is_same(row, agent, session)) {
            row.has_ended = true;
        }
        let is_kept = |row: &Row| !is_gone && matches!(row.activity.doing, Doing::AtLimit { .. });
        self.rows.retain(|row| !is_same(row, agent, session) || is_kept(row));
    }

    /// Whether a session is shown that is not in use any more.
    pub(super) fn has_ended_rows(&self) -> bool {
        self.rows.iter().any(|row| row.has_ended)
    }

    /// Takes away sessions that are not in use any more and that were carried on.
    pub(super) fn remove_carried(&mut self, is_carried: impl Fn(&Activity) -> bool) {
        self.rows.retain(|row| !row.has_ended || !is_carried(&row.activity));
        self.scroll_by(0);
    }

    /// Moves the rows; the last one stays in sight.
    pub(super) fn scroll_by(&mut self, rows: isize) {
        self.offset = self.offset.saturating_add_signed(rows).min(self.rows.len().saturating_sub(1));
    }

    /// When something on the screen will be said otherwise, if nothing happens; never without a row.
    pub(super) fn next_change(&self, now: Timestamp) -> Option<Duration> {
        let until_step = |at: Timestamp| {
            let age = now.seconds().saturating_sub(at.seconds()).max(0);
            AGE_STEP_SECONDS - age % AGE_STEP_SECONDS
        };
        let until_end = |doing: &Doing| match doing {
            Doing::AtLimit { resets_at: Some(ends), .. } if *ends > now => Some(ends.seconds() - now.seconds()),
            _ => None,
        };
        let of = |row: &Row| until_end(&row.activity.doing).unwrap_or(i64::MAX).min(until_step(row.activity.at));
        let seconds = self.rows.iter().map(of).min()?;
        Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(1).max(1)))
    }
}

fn is_same(row: &Row, agent: &str, session: &str) -> bool {
    row.activity.agent == agent && row.activity.session.0 == session
}
