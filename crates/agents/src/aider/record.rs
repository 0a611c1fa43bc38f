//! From a stretch of lines to entries.

use std::borrow::Cow;

use carryover_core::transcript::{Body, Entry, EntryKey, Failure, FailureKind, Note, Origin, Part, Reasoning};

use super::chats::Chat;
use super::turn::{self, Turn, Voice};
use super::{commits, edits, shell, usage, wire};
use crate::formats::git::Repository;

/// What the client puts around the thoughts of a model that tells them, and what some models put there themselves.
const THINKING: [(&str, &str); 2] = [
    ("<thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>", "</thinking-content-7bbeb8e1441453ad999a0bbba8a46d4b>"),
    ("<think>", "</think>"),
];

/// What the entries of a stretch depend on besides its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    pub(super) chat: &'a Chat,
    /// It is in the chat that goes on. Chats before it are loaded with all that was cleared in them.
    pub(super) going_on: bool,
    /// What stands before it is a summary.
    pub(super) after_summary: bool,
    /// What has happened since the user's last words.
    pub(super) turn: &'a Turn,
    /// The client has just told of edits that are not committed yet.
    pub(super) applied: bool,
    /// Where the client commits what it edits.
    pub(super) repository: Option<&'a Repository>,
}

/// The entries of a stretch: what the user, the client or the model said in one go.
pub(super) fn entries(text: &str, key: EntryKey, around: Around<'_>) -> Vec<Entry> {
    let bodies = match who(text, around.chat) {
        Who::User => user(&wire::user_text(text), key.offset, around),
        Who::Client => console(&wire::console_text(text), key.offset, around),
        Who::Model => model(text, around),
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
pub(super) fn follow(text: &str, key: EntryKey, chat: &Chat, turn: &mut Turn, entries: &[Entry]) {
    match who(text, chat) {
        Who::User => {
            let said = wire::user_text(text);
            if wire::is_command(&said) {
                turn.command(&said, key.offset);
            }
        }
        Who::Client => turn.told(&wire::console_text(text)),
        Who::Model => {}
    }
    turn.hear(entries);
}

enum Who {
    User,
    Client,
    Model,
}

/// Whose words they are, by their first and last line.
fn who(text: &str, chat: &Chat) -> Who {
    let ends = |line: Option<&str>| line.is_some_and(|line| line.ends_with(wire::END)) || !chat.strict;
    if text.starts_with(wire::USER) && ends(text.lines().next()) {
        Who::User
    } else if text.starts_with(wire::CONSOLE) && ends(text.lines().last()) {
        Who::Client
    } else {
        Who::Model
    }
}

fn text(text: impl Into<String>) -> Vec<Part> {
    vec![Part::Text(text.into())]
}

fn user(said: &str, offset: u64, around: Around<'_>) -> Vec<(Origin, Body)> {
    if around.chat.is_ours() {
        return vec![ours(said)];
    }
    if wire::is_command(said) {
        return vec![command(said, offset, around)];
    }
    let prompt = |origin, said: &str| (origin, Body::Prompt(text(said)));
    match around.turn.voice(said) {
        Voice::User => vec![prompt(Origin::User, said)],
        Voice::Echo => vec![opaque("echo")],
        Voice::Handed(asked) => {
            let asked = asked.filter(|asked| !asked.is_empty()).map(|asked| prompt(Origin::User, asked));
            asked.into_iter().chain([prompt(Origin::Hook, said)]).collect()
        }
        Voice::Watched => {
            let comments = Some(turn::comments(said)).filter(|comments| !comments.is_empty());
            let comments = comments.map(|comments| prompt(Origin::User, &comments));
            comments.into_iter().chain([prompt(Origin::Hook, said)]).collect()
        }
    }
}

/// What the user typed to the client.
fn command(said: &str, offset: u64, around: Around<'_>) -> (Origin, Body) {
    if turn::forgets(said) && around.going_on {
        return (Origin::Harness, Body::Compacted(Box::default()));
    }
    let call = shell::typed(said).and_then(|command| shell::call(command, offset));
    call.map_or_else(|| opaque("command"), |call| (Origin::Harness, call))
}

/// The user's words, or what stands in their place, in a chat that we wrote.
fn ours(said: &str) -> (Origin, Body) {
    if let Some(summary) = said.strip_prefix(wire::SUMMARY) {
        return (Origin::Agent, Body::Summary(text(summary.trim_start_matches('\n'))));
    }
    match said.strip_prefix(wire::HOOK).and_then(|said| said.strip_suffix("\n</hook>")) {
        Some(told) => (Origin::Hook, Body::Prompt(text(told))),
        None => (Origin::User, Body::Prompt(text(said))),
    }
}

fn opaque(kind: &'static str) -> (Origin, Body) {
    (Origin::Harness, Body::Opaque(Cow::Borrowed(kind)))
}

fn console(said: &str, offset: u64, around: Around<'_>) -> Vec<(Origin, Body)> {
    if around.chat.is_ours() {
        return vec![told(said, around)];
    }
    // A commit of anything else is of what the user had changed before.
    let committed = around.repository.filter(|_| around.applied).and_then(|found| commits::bodies(said, found));
    let done = committed.map_or_else(|| deeds(said, offset, around.turn), Vec::from);
    let is_told = done.is_empty() || said.starts_with(edits::APPLIED);
    let told = is_told.then(|| told(said, around));
    told.into_iter().chain(done.into_iter().map(|body| (Origin::Harness, body))).collect()
}

/// What the client says that it did, as calls.
fn deeds(said: &str, offset: u64, turn: &Turn) -> Vec<Body> {
    if let Some(command) = said.strip_prefix("Running ").filter(|_| turn.may_run) {
        return shell::call(command.to_owned(), offset).into_iter().collect();
    }
    if let Some(test) = turn.test.filter(|_| said.starts_with("Added ") && said.ends_with(" of output to the chat.")) {
        return vec![shell::failed(said, test)];
    }
    edits::bodies(said, turn.reply(), offset)
}

fn told(said: &str, around: Around<'_>) -> (Origin, Body) {
    if let Some(thoughts) = said.strip_prefix(wire::THOUGHTS).filter(|_| around.chat.is_ours()) {
        let text = thoughts.trim_start_matches('\n').to_owned();
        return (Origin::Agent, Body::Reasoning(Box::new(Reasoning { text, sealed: false })));
    }
    if around.turn.is_pasted(said) {
        return (Origin::User, Body::Prompt(text(said)));
    }
    let clears = wire::CLEARED.contains(&said) && !around.turn.cleared;
    if clears && around.going_on && !around.chat.is_ours() {
        return (Origin::Harness, Body::Compacted(Box::default()));
    }
    let at_rest = said.starts_with("^C") && !around.turn.works;
    if let Some(kind) = failure(said).filter(|_| !at_rest) {
        let failure = Failure { kind, message: said.to_owned(), resets_at: None };
        return (Origin::Harness, Body::Failure(Box::new(failure)));
    }
    if said.starts_with(usage::TOKENS) {
        return (Origin::Harness, usage::of(said).into_body());
    }
    // Every edit is a commit, which is also the way back.
    let committed = ["Applied edit to ", "Commit ", "Removed: "].iter().any(|words| said.starts_with(words));
    if committed { (Origin::Harness, Body::Note(Note::Snapshot)) } else { opaque("console") }
}

fn failure(said: &str) -> Option<FailureKind> {
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

fn model(said: &str, around: Around<'_>) -> Vec<(Origin, Body)> {
    let has_returns = said.contains('\r');
    let said = if has_returns { Cow::Owned(said.replace("\r\n", "\n")) } else { Cow::Borrowed(said) };
    let said = said.trim_end();
    if around.after_summary && said == wire::ACKNOWLEDGED {
        return vec![opaque("acknowledgement")];
    }
    if around.chat.is_ours() {
        return vec![(Origin::Agent, Body::Reply(text(wire::unguard(said))))];
    }
    let (thoughts, reply) = thoughts(said);
    let reasoning = thoughts.map(|thoughts| Reasoning { text: thoughts.to_owned(), sealed: false });
    let reasoning = reasoning.map(|reasoning| Body::Reasoning(Box::new(reasoning)));
    let reply = (!reply.is_empty()).then(|| Body::Reply(text(reply)));
    reasoning.into_iter().chain(reply).map(|body| (Origin::Agent, body)).collect()
}

/// What the model said, without what it thought.
pub(super) fn spoken(said: &str) -> &str {
    thoughts(said).1
}

/// What the model thought, which the client does not send again, and what it said.
fn thoughts(said: &str) -> (Option<&str>, &str) {
    let split = THINKING.iter().find_map(|(opening, closing)| {
        let rest = said.strip_prefix(opening)?;
        let (thoughts, reply) = rest.split_once(closing).unwrap_or((rest, ""));
        Some((Some(thoughts.trim()), reply.trim()))
    });
    split.unwrap_or((None, said))
}
