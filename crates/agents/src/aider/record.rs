//! From a stretch of lines to entries.

use std::borrow::Cow;

use carryover_core::transcript::{Body, Entry, EntryKey, Failure, FailureKind, Note, Origin, Part, Reasoning};

use super::chats::Chat;
use super::turn::{self, PromptSource, Turn};
use super::{commits, edits, shell, usage, wire};
use crate::formats::git::Repository;

/// Tags that the client puts around the thoughts of a model that tells them, and those that some models use themselves.
const THINKING_TAGS: [(&str, &str); 2] = [
    ("<thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>", "</thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>"),
    ("<think>", "</think>"),
];

/// The context that the entries of a segment depend on besides its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct SegmentContext<'a> {
    pub(super) chat: &'a Chat,
    /// It is in the chat that goes on. Chats before it are loaded with all that was cleared in them.
    pub(super) is_current_chat: bool,
    /// A summary stands before it.
    pub(super) after_summary: bool,
    /// The events since the user's last words.
    pub(super) turn: &'a Turn,
    /// The client has just told of edits that are not committed yet.
    pub(super) applied: bool,
    /// Where the client commits what it edits.
    pub(super) repository: Option<&'a Repository>,
}

/// The entries of a stretch: what the user, the client or the model said in one go.
pub(super) fn make_entries(text: &str, key: EntryKey, around: SegmentContext<'_>) -> Vec<Entry> {
    let bodies = match find_speaker(text, around.chat) {
        Speaker::User => user_bodies(&wire::user_text(text), key.offset, around),
        Speaker::Client => console_bodies(&wire::console_text(text), key.offset, around),
        Speaker::Model => model_bodies(text, around),
    };
    let entry = |(part, (origin, body)): (usize, (Origin, Body))| Entry {
        key: EntryKey { part: u16::try_from(part).unwrap_or(u16::MAX), ..key },
        at: None,
        origin,
        side: false,
        node: None,
        body,
    };
    bodies.into_iter().enumerate().map(entry).collect()
}

/// Takes in what a stretch tells of the turn.
pub(super) fn update_turn(text: &str, key: EntryKey, chat: &Chat, turn: &mut Turn, entries: &[Entry]) {
    match find_speaker(text, chat) {
        Speaker::User => {
            let said = wire::user_text(text);
            if wire::is_command(&said) {
                turn.note_command(&said, key.offset);
            }
        }
        Speaker::Client => turn.note_console(&wire::console_text(text)),
        Speaker::Model => {}
    }
    turn.note_entries(entries);
}

enum Speaker {
    User,
    Client,
    Model,
}

/// Whose words they are, by their first and last line.
fn find_speaker(text: &str, chat: &Chat) -> Speaker {
    let ends = |line: Option<&str>| line.is_some_and(|line| line.ends_with(wire::END)) || !chat.strict;
    if text.starts_with(wire::USER) && ends(text.lines().next()) {
        Speaker::User
    } else if text.starts_with(wire::CONSOLE) && ends(text.lines().last()) {
        Speaker::Client
    } else {
        Speaker::Model
    }
}

fn text_parts(text: impl Into<String>) -> Vec<Part> {
    vec![Part::Text(text.into())]
}

fn user_bodies(said: &str, offset: u64, around: SegmentContext<'_>) -> Vec<(Origin, Body)> {
    if around.chat.is_carried_over() {
        return vec![carried_body(said)];
    }
    if wire::is_command(said) {
        return vec![command_body(said, offset, around)];
    }
    let prompt = |origin, said: &str| (origin, Body::Prompt(text_parts(said)));
    match around.turn.prompt_source(said) {
        PromptSource::User => vec![prompt(Origin::User, said)],
        PromptSource::Echo => vec![opaque_body("echo")],
        PromptSource::Forwarded(asked) => {
            let asked = asked.filter(|asked| !asked.is_empty()).map(|asked| prompt(Origin::User, asked));
            asked.into_iter().chain([prompt(Origin::Hook, said)]).collect()
        }
        PromptSource::Watched => {
            let comments = Some(turn::marked_comments(said)).filter(|comments| !comments.is_empty());
            let comments = comments.map(|comments| prompt(Origin::User, &comments));
            comments.into_iter().chain([prompt(Origin::Hook, said)]).collect()
        }
    }
}

/// A command that the user typed to the client.
fn command_body(said: &str, offset: u64, around: SegmentContext<'_>) -> (Origin, Body) {
    if turn::is_clear_command(said) && around.is_current_chat {
        return (Origin::Harness, Body::Compacted(Box::default()));
    }
    let call = shell::typed_command(said).and_then(|command| shell::make_call(command, offset));
    call.map_or_else(|| opaque_body("command"), |call| (Origin::Harness, call))
}

/// The user's words, or what stands in their place, in a chat that we wrote.
fn carried_body(said: &str) -> (Origin, Body) {
    if let Some(summary) = said.strip_prefix(wire::SUMMARY_START) {
        return (Origin::Agent, Body::Summary(text_parts(summary.trim_start_matches('\n'))));
    }
    match said.strip_prefix(wire::HOOK_START).and_then(|said| said.strip_suffix("\n</hook>")) {
        Some(told) => (Origin::Hook, Body::Prompt(text_parts(told))),
        None => (Origin::User, Body::Prompt(text_parts(said))),
    }
}

fn opaque_body(kind: &'static str) -> (Origin, Body) {
    (Origin::Harness, Body::known(kind))
}

fn console_bodies(said: &str, offset: u64, around: SegmentContext<'_>) -> Vec<(Origin, Body)> {
    if around.chat.is_carried_over() {
        return vec![console_body(said, around)];
    }
    // A commit of anything else is of what the user had changed before.
    let committed = around.repository.filter(|_| around.applied).and_then(|found| commits::make_bodies(said, found));
    let done = committed.map_or_else(|| call_bodies(said, offset, around.turn), Vec::from);
    let is_told = done.is_empty() || said.starts_with(edits::APPLIED_START);
    let told = is_told.then(|| console_body(said, around));
    told.into_iter().chain(done.into_iter().map(|body| (Origin::Harness, body))).collect()
}

/// The calls that the client says it carried out.
fn call_bodies(said: &str, offset: u64, turn: &Turn) -> Vec<Body> {
    if let Some(command) = said.strip_prefix("Running ").filter(|_| turn.may_run) {
        return shell::make_call(command.to_owned(), offset).into_iter().collect();
    }
    if let Some(test) = turn.test.filter(|_| said.starts_with("Added ") && said.ends_with(" of output to the chat.")) {
        return vec![shell::failed_outcome(said, test)];
    }
    edits::make_bodies(said, turn.last_reply(), offset)
}

fn console_body(said: &str, around: SegmentContext<'_>) -> (Origin, Body) {
    if let Some(thoughts) = said.strip_prefix(wire::THOUGHTS_LINE).filter(|_| around.chat.is_carried_over()) {
        let text = thoughts.trim_start_matches('\n').to_owned();
        return (Origin::Agent, Body::Reasoning(Box::new(Reasoning { text, sealed: false })));
    }
    if around.turn.is_pasted(said) {
        return (Origin::User, Body::Prompt(text_parts(said)));
    }
    let clears = wire::CLEARED_NOTICES.contains(&said) && !around.turn.cleared;
    if clears && around.is_current_chat && !around.chat.is_carried_over() {
        return (Origin::Harness, Body::Compacted(Box::default()));
    }
    let at_rest = said.starts_with("^C") && !around.turn.is_working;
    if let Some(kind) = failure_kind(said).filter(|_| !at_rest) {
        let failure = Failure { kind, message: said.to_owned(), resets_at: None };
        return (Origin::Harness, Body::Failure(Box::new(failure)));
    }
    if said.starts_with(usage::TOKENS_START) {
        return (Origin::Harness, usage::parse_line(said).into_body());
    }
    // Every edit is a commit, which is also the way back.
    let committed = ["Applied edit to ", "Commit ", "Removed: "].iter().any(|words| said.starts_with(words));
    if committed { (Origin::Harness, Body::Note(Note::Snapshot)) } else { opaque_body("console") }
}

fn failure_kind(said: &str) -> Option<FailureKind> {
    if said.starts_with("^C") {
        return Some(FailureKind::Interrupted);
    }
    if said.ends_with("has hit a token limit!") {
        return Some(FailureKind::ContextTooLong);
    }
    let error = said.strip_prefix("litellm.")?;
    if error.contains("maximum context length") {
        return Some(FailureKind::ContextTooLong);
    }
    let name = error.split([':', ' ', '.']).next().unwrap_or_default();
    Some(match name {
        "RateLimitError" | "RouterRateLimitError" => FailureKind::RateLimit,
        "AuthenticationError" | "PermissionDeniedError" => FailureKind::Authentication,
        "BudgetExceededError" => FailureKind::Billing,
        "ContextWindowExceededError" => FailureKind::ContextTooLong,
        "InternalServerError"
        | "BadGatewayError"
        | "ServiceUnavailableError"
        | "Timeout"
        | "APIConnectionError"
        | "APIError" => FailureKind::Server,
        _ => FailureKind::Other,
    })
}

fn model_bodies(said: &str, around: SegmentContext<'_>) -> Vec<(Origin, Body)> {
    let has_returns = said.contains('\r');
    let said = if has_returns { Cow::Owned(said.replace("\r\n", "\n")) } else { Cow::Borrowed(said) };
    let said = said.trim_end();
    if around.after_summary && said == wire::SUMMARY_REPLY {
        return vec![opaque_body("acknowledgement")];
    }
    if around.chat.is_carried_over() {
        return vec![(Origin::Agent, Body::Reply(text_parts(wire::unguard_marks(said))))];
    }
    let (thoughts, reply) = split_thoughts(said);
    let reasoning = thoughts.map(|thoughts| Reasoning { text: thoughts.to_owned(), sealed: false });
    let reasoning = reasoning.map(|reasoning| Body::Reasoning(Box::new(reasoning)));
    let reply = (!reply.is_empty()).then(|| Body::Reply(text_parts(reply)));
    reasoning.into_iter().chain(reply).map(|body| (Origin::Agent, body)).collect()
}

/// The model's words, without its thoughts.
pub(super) fn without_thoughts(said: &str) -> &str {
    split_thoughts(said).1
}

/// The model's thoughts, which the client does not send again, and its words.
fn split_thoughts(said: &str) -> (Option<&str>, &str) {
    let split = THINKING_TAGS.iter().find_map(|(opening, closing)| {
        let rest = said.strip_prefix(opening)?;
        let (thoughts, reply) = rest.split_once(closing).unwrap_or((rest, ""));
        Some((Some(thoughts.trim()), reply.trim()))
    });
    split.unwrap_or((None, said))
}
