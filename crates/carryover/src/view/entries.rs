//! Words that the renderings for people share.

use std::borrow::Cow;
use std::collections::BTreeMap;

use carryover_agents::Env;
use carryover_core::plain::{one_line, strip_hidden};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Call, CallId, Entry, FailureKind, Origin, Outcome, Part, Status};
use jiff::tz::TimeZone;

use super::{View, usage};
use crate::quantity::{format_count, format_tokens};

/// How much of a tool's output is shown where not everything is.
const MAX_OUTPUT_LINES: usize = 8;
const MAX_OUTPUT_CHARS: usize = 800;

/// Who speaks in an entry.
pub(super) fn speaker_name(view: &View, entry: &Entry) -> Option<String> {
    let name = match (&entry.body, entry.origin) {
        (Body::Prompt(_), Origin::User) => "You".to_owned(),
        (Body::Prompt(_), Origin::Hook) => "Attached".to_owned(),
        (Body::Prompt(_), Origin::Harness) => format!("{} itself", view.agent.facts().name),
        (Body::Summary(parts), _) if parts.is_empty() => "Summary of what was before, sealed by its vendor".to_owned(),
        (Body::Summary(_), _) => "Summary of what was before".to_owned(),
        (Body::Prompt(_) | Body::Reply(_) | Body::Reasoning(_) | Body::Call(_) | Body::Outcome(_), _) => {
            view.agent.facts().name.to_owned()
        }
        _ => return None,
    };
    Some(if entry.side { format!("{name}, sub-agent") } else { name })
}

/// An event besides the conversation, in a few words; `None` where it means nothing to people.
pub(super) fn describe_event(body: &Body) -> Option<String> {
    match body {
        Body::Compacted(_) => Some("the context was compacted here".to_owned()),
        Body::Rewound { turns } => Some(format!("the last {turns} turns before this were taken back")),
        Body::Failure(failure) => Some(format!("{}: {}", failure_word(failure.kind), one_line(&failure.message, 160))),
        _ => None,
    }
}

fn failure_word(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::RateLimit => "rate limit",
        FailureKind::Server => "server error",
        FailureKind::Authentication => "not signed in",
        FailureKind::Billing => "billing",
        FailureKind::ContextTooLong => "context too long",
        FailureKind::Interrupted => "interrupted",
        FailureKind::Other => "failed",
    }
}

/// The text of parts, with a word for each blob.
pub(super) fn render_parts(parts: &[Part]) -> String {
    let words: Vec<Cow<'_, str>> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => strip_hidden(text),
            Part::Blob(blob) => {
                let name = blob.name.as_deref().map(|name| format!(" {}", one_line(name, 80))).unwrap_or_default();
                Cow::Owned(format!("[{}{name}]", one_line(&blob.media_type, 40)))
            }
        })
        .collect();
    words.join("\n\n").trim_end().to_owned()
}

/// The tools of the calls so far: outcomes of parallel calls come after all of them, and need a name.
#[derive(Default)]
pub(super) struct CallTools<'a> {
    tools: BTreeMap<&'a CallId, &'a str>,
    last: Option<&'a CallId>,
}

impl<'a> CallTools<'a> {
    pub(super) fn record_call(&mut self, call: &'a Call) {
        self.tools.insert(&call.id, &call.tool);
        self.last = Some(&call.id);
    }

    /// Whose outcome it is, where the call does not stand right before it.
    pub(super) fn tool_of(&mut self, outcome: &Outcome) -> Option<String> {
        let follows = self.last.take() == Some(&outcome.call);
        self.tools.get(&outcome.call).filter(|_| !follows).map(|tool| one_line(tool, 60))
    }
}

/// How a call ended, where that needs saying.
pub(super) fn describe_ending(outcome: &Outcome) -> Option<String> {
    let word = match outcome.status {
        Status::Done | Status::Ended => {
            return outcome.exit_code.filter(|code| *code != 0).map(|code| format!("exit code {code}"));
        }
        Status::Failed => "failed",
        Status::Interrupted => "interrupted",
    };
    Some(outcome.exit_code.map_or_else(|| word.to_owned(), |code| format!("{word}, exit code {code}")))
}

/// The beginning of a long output.
pub(super) fn shorten_output(text: &str, full: bool) -> String {
    if full {
        return text.to_owned();
    }
    let head: String = text.chars().take(MAX_OUTPUT_CHARS).collect();
    let mut lines: Vec<&str> = head.lines().take(MAX_OUTPUT_LINES).collect();
    let left = text.lines().count().saturating_sub(lines.len());
    let more = match left {
        0 if head.len() == text.len() => None,
        0 => Some("… (`--full` shows the rest)".to_owned()),
        1 => Some("… 1 more line (`--full` shows it)".to_owned()),
        left => Some(format!("… {left} more lines (`--full` shows them)")),
    };
    lines.extend(more.as_deref());
    lines.join("\n")
}

/// A time of day, for headings.
pub(super) fn time_of_day(at: Option<Timestamp>, zone: &TimeZone) -> String {
    at.map(|at| to_zoned(at, zone).strftime("%H:%M").to_string()).unwrap_or_default()
}

/// From when to when.
pub(super) fn time_span(from: Option<Timestamp>, to: Option<Timestamp>, zone: &TimeZone) -> Option<String> {
    let from = to_zoned(from?, zone);
    let start = from.strftime("%Y-%m-%d %H:%M").to_string();
    let Some(to) = to.map(|to| to_zoned(to, zone)) else { return Some(start) };
    let same_day = from.date() == to.date();
    let end = to.strftime(if same_day { "%H:%M" } else { "%Y-%m-%d %H:%M" });
    Some(format!("{start} to {end}"))
}

fn to_zoned(at: Timestamp, zone: &TimeZone) -> jiff::Zoned {
    let instant = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    instant.to_zoned(zone.clone())
}

/// The lines that head a rendering: whose session it is, where, when, how big.
pub(super) fn header_lines(view: &View, env: &Env) -> Vec<String> {
    let zone = &env.zone;
    let header = &view.transcript.header;
    let mut lines = vec![format!("{} session {}", view.agent.facts().name, one_line(&header.session.0, 80))];
    if let Some(project) = &header.project {
        let branch = header.branch.as_deref().map(|branch| format!(" ({})", one_line(branch, 60))).unwrap_or_default();
        lines.push(format!("{}{branch}", one_line(&project.display().to_string(), 200)));
    }
    let model = header.model.as_deref().map(|model| one_line(model, 60));
    let version = header.client_version.as_deref().map(|version| format!("client {}", one_line(version, 30)));
    let span = time_span(header.started_at, header.updated_at, zone);
    let facts = [model, version, span, Some(size_words(view))];
    lines.push(facts.into_iter().flatten().collect::<Vec<_>>().join(", "));
    if let Some(told) = view.transcript.total_usage() {
        lines.extend(usage::tokens_line(&told));
        lines.extend(usage::limits_line(&told, zone));
    }
    lines.extend(usage::begun_line(&header.start_settings));
    lines.extend(view.ending.state_lines(env));
    lines.extend(view.ending.lineage_lines(env));
    lines
}

/// How many messages there are, and how many of them the model would see next.
fn size_words(view: &View) -> String {
    let (all, live) = (view.transcript.n_messages(), view.n_live_messages());
    let messages = format_count(all, "message", "messages");
    let tokens = format_tokens(view.count_tokens());
    if live < all {
        return format!("{messages}, {live} of them in context, about {tokens} tokens");
    }
    format!("{messages}, about {tokens} tokens in context")
}

/// The lines that end a rendering: how the session stands, what it cost, and where it went on.
pub(super) fn footer_lines(view: &View, env: &Env) -> Vec<String> {
    let used = view.transcript.total_usage().and_then(|told| usage::tokens_line(&told));
    let ending = &view.ending;
    ending.state_lines(env).into_iter().chain(used).chain(ending.lineage_lines(env)).collect()
}

/// The title, or what stands for it.
pub(super) fn title_line(view: &View) -> String {
    view.transcript.header.title.as_deref().map_or_else(|| "(no title)".to_owned(), |title| one_line(title, 160))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_outputs_say_how_much_is_left() {
        assert_eq!(shorten_output("a\nb", false), "a\nb");
        let long = (1..=20).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
        assert!(shorten_output(&long, false).ends_with("8\n… 12 more lines (`--full` shows them)"));
        assert_eq!(shorten_output(&long, true), long);
        assert!(shorten_output(&"x".repeat(5000), false).ends_with("x\n… (`--full` shows the rest)"));
    }
}
