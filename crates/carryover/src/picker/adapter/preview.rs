//! What a session is about, for the preview.

use carryover_agents::Env;
use carryover_core::distill::{Brief, FileChange, Item, State, StateKind, Task, Voice};
use carryover_engine::carry::offers::{self, Road};
use carryover_engine::context::Context;
use carryover_engine::handoff::{self, distil_session};
use carryover_engine::sessions::list::ListedSession;

use super::super::model::{CARRIED_HEADING, Preview, Section};
use super::estimate_notes;
use crate::quantity;
use crate::relative_time::format_until;
use crate::told_words::describe_state;

/// The most files that a preview names.
const MAX_FILES: usize = 8;

/// Reads what a session is about; secrets are masked.
pub(in super::super) fn read_preview(context: &Context, session: &ListedSession) -> Result<Preview, String> {
    let options = handoff::Options { project: None, redact: true };
    let distilled = distil_session(context, session, options).map_err(|error| error.to_string())?;
    let mut sections = preview_sections(context, &distilled.brief);
    sections.push(Section { heading: "To know", texts: distilled.warnings });
    Ok(Preview { sections })
}

fn preview_sections(context: &Context, brief: &Brief) -> Vec<Section> {
    vec![
        Section { heading: "State", texts: state_texts(&brief.state, &context.env) },
        Section { heading: "Task", texts: brief.task.request.iter().map(|item| item.text.clone()).collect() },
        Section { heading: "Last exchange", texts: exchange_texts(&brief.state, &brief.task, &brief.last_words) },
        Section { heading: "Files changed", texts: changed_files(brief) },
    ]
}

/// How the session stands, and where the service stopped it, its own words: they may tell more than was understood.
fn state_texts(state: &State, env: &Env) -> Vec<String> {
    let until = match state.until {
        Some(until) if until <= env.now => ", which is over".to_owned(),
        Some(until) => format!(", until {}", format_until(until, env)),
        None => String::new(),
    };
    let stands = format!("{}{until}", describe_state(state.kind));
    let told = state.detail.iter().filter(|item| item.voice == Voice::Service).map(|item| item.text.clone());
    let queued = state.queued.iter().map(|queued| format!("typed ahead: {}", queued.text));
    std::iter::once(stands).chain(told).chain(queued).collect()
}

/// The user's last prompt and the agent's last words, in the order of time.
fn exchange_texts(state: &State, task: &Task, last_words: &[Item]) -> Vec<String> {
    let said = last_words.last();
    let words = said.map(|item| format!("agent: {}", item.text));
    let Some(asked) = task.follow_up.as_ref().or(task.request.as_ref()) else { return words.into_iter().collect() };
    let prompt = format!("you: {}", asked.text);
    if said.is_some_and(|said| !came_before(said, asked, task)) {
        return std::iter::once(prompt).chain(words).collect();
    }
    words.into_iter().chain([prompt]).chain(describe_silence(state.kind).map(str::to_owned)).collect()
}

/// Whether the agent said something before it was asked.
fn came_before(said: &Item, asked: &Item, task: &Task) -> bool {
    let is_replied_to = task.in_reply_to.as_ref().is_some_and(|replied_to| replied_to.entries == said.entries);
    is_replied_to || matches!((said.at, asked.at), (Some(said), Some(asked)) if said < asked)
}

/// Why there are no words below the last prompt; none where they may still come.
fn describe_silence(kind: StateKind) -> Option<&'static str> {
    match kind {
        StateKind::Limit => Some("(no answer: limit)"),
        StateKind::ServiceError => Some("(no answer: error of the service)"),
        StateKind::Interrupted => Some("(no answer: interrupted)"),
        StateKind::Unanswered => Some("(no answer)"),
        StateKind::Empty | StateKind::Waiting | StateKind::MidTurn | StateKind::AskedUser => None,
    }
}

fn changed_files(brief: &Brief) -> Vec<String> {
    let changed: Vec<_> = brief.files.iter().filter(|file| file.change != FileChange::Read).collect();
    let word = |change| match change {
        FileChange::Created => "created",
        FileChange::Written => "written",
        FileChange::Modified => "modified",
        FileChange::Deleted => "deleted",
        FileChange::Moved => "moved",
        FileChange::Read => "read",
    };
    let mut texts: Vec<String> =
        changed.iter().take(MAX_FILES).map(|file| format!("{} {}", file.path, word(file.change))).collect();
    if changed.len() > MAX_FILES {
        texts.push(format!("and {} more", changed.len() - MAX_FILES));
    }
    texts
}

/// What the first target would get: the preview says what a carry is worth before anybody asks for one.
pub(in super::super) fn carried_section(context: &Context, session: &ListedSession) -> Option<Section> {
    let offers = offers::list_offers(context, session);
    let offer = offers.iter().find(|offer| offer.road == Road::Native)?;
    let texts = match offer.estimate(context, session) {
        Ok(estimate) => {
            let (tokens, window) = (estimate.tokens, estimate.window);
            let carried = format!(
                "to {}: {}, {}, about {} of {} tokens ({} %)",
                offer.target.name,
                quantity::format_count(estimate.messages, "message", "messages"),
                quantity::format_count(estimate.calls, "tool call", "tool calls"),
                quantity::format_tokens(tokens),
                quantity::format_tokens(window),
                quantity::format_percent(tokens, window),
            );
            std::iter::once(carried).chain(estimate_notes(&estimate).0).collect()
        }
        Err(error) => vec![format!("to {}: {error}", offer.target.name)],
    };
    Some(Section { heading: CARRIED_HEADING, texts })
}

#[cfg(test)]
mod tests {
    use carryover_core::time::Timestamp;
    use carryover_core::transcript::EntryKey;

    use super::super::super::tests::sample::empty_state;
    use super::*;

    fn item(text: &str, voice: Voice, at: &str, offset: u64) -> Item {
        let entries = vec![EntryKey { file: 0, offset, part: 0, length: 1 }];
        Item { text: text.to_owned(), voice, at: Timestamp::parse(at), entries }
    }

    fn stopped_at_limit() -> State {
        let told = item("usage limit reached, resets at 5pm", Voice::Service, "2026-11-15T09:00:02Z", 2);
        let kind = StateKind::Limit;
        State { kind, at: None, until: None, detail: Some(told), output: None, queued: Vec::new(), cleared: false }
    }

    #[test]
    fn an_unanswered_prompt_stands_below_the_words_that_came_before_it() {
        let said = item("All done.", Voice::Agent, "2026-11-15T09:00:00Z", 0);
        let asked = item("and the discount?", Voice::User, "2026-11-15T09:00:01Z", 1);
        let task = Task { request: Some(asked), ..Task::default() };
        let told = ["agent: All done.", "you: and the discount?", "(no answer: limit)"];
        assert_eq!(exchange_texts(&stopped_at_limit(), &task, std::slice::from_ref(&said)), told);
        assert_eq!(exchange_texts(&stopped_at_limit(), &task, &[]), told[1..]);
        // Stores without times tell it by what the prompt replies to.
        let timeless = Item { at: None, ..said.clone() };
        let task = Task { in_reply_to: Some(said.clone()), ..task };
        assert_eq!(exchange_texts(&stopped_at_limit(), &task, &[timeless]), told);
        let later = item("All done.", Voice::Agent, "2026-11-15T09:00:02Z", 3);
        assert_eq!(exchange_texts(&stopped_at_limit(), &task, &[later]), [told[1], told[0]]);
    }

    #[test]
    fn a_limit_is_told_with_the_words_of_the_service() {
        let env = empty_state(60, 20).setup.env;
        let mut state = stopped_at_limit();
        let words = "usage limit reached, resets at 5pm";
        assert_eq!(state_texts(&state, &env), ["a limit stopped the agent", words]);
        state.until = Timestamp::parse("2026-11-15T17:00:00Z");
        assert_eq!(state_texts(&state, &env), ["a limit stopped the agent, until 17:00", words]);
        state.until = Some(env.now);
        assert_eq!(state_texts(&state, &env)[0], "a limit stopped the agent, which is over");
    }
}
