//! The content of records of a tree, as the bodies of entries.

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, BlobLocation, Body, Call, CallForm, CallId, Entry, EntryKey, Fact, Failure, FailureKind, Node, Note, Opaque,
    Origin, Part, Reasoning, TitleRank,
};

use super::wire::{Block, Content, Message};
use super::words::Words;
use super::{injected_text, usage};
use crate::formats::text::Text;

/// Whose words, and what they are.
pub type Bodies = Vec<(Origin, Body)>;

/// The entries of one record.
pub fn make_entries(bodies: Bodies, key: EntryKey, at: Option<&str>, node: Option<Node>) -> Vec<Entry> {
    let at = at.and_then(Timestamp::parse);
    let entry = |(part, (origin, body)): (usize, (Origin, Body))| {
        let key = EntryKey { part: u16::try_from(part).unwrap_or(u16::MAX), ..key };
        Entry { key, at, origin, side: false, node, body }
    };
    bodies.into_iter().enumerate().map(entry).collect()
}

/// Stands in the place of a record that cannot be read.
pub fn rejected_entry(key: EntryKey) -> Entry {
    let body = Body::Opaque(Opaque::Rejected);
    Entry { key, at: None, origin: Origin::Harness, side: false, node: None, body }
}

/// Texts and images; `place` tells where an image is.
pub fn content_parts<'a, W: Words<'a>>(content: Content<'a, W>, place: impl Fn(W) -> BlobLocation) -> Vec<Part> {
    match content {
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => vec![Part::Text(text.into_string())],
        Content::Blocks(blocks) => blocks.into_iter().filter_map(|block| block_part(block, &place)).collect(),
    }
}

fn block_part<'a, W: Words<'a>>(block: Block<'a, W>, place: impl Fn(W) -> BlobLocation) -> Option<Part> {
    if let Some(text) = block.text {
        return Some(Part::Text(text.into_string()));
    }
    let data = block.data?;
    let media_type = block.mime_type.as_deref().unwrap_or("image/png").to_owned();
    Some(Part::Blob(Blob { media_type, name: None, location: place(data) }))
}

/// A message of the agent's. One that ended in an error or was stopped is never sent again. `is_seal` tells whether
/// what stands beside the thinking is its seal.
pub fn assistant_bodies<'a, M, W: Words<'a>>(
    message: &Message<'_, M>,
    content: Content<'a, W>,
    is_seal: impl Fn(&str) -> bool,
) -> Bodies {
    let stopped = message.stop_reason.as_deref();
    if let Some("error" | "aborted") = stopped {
        let text = message.error_message.as_deref().unwrap_or_default().to_owned();
        let kind = if stopped == Some("aborted") { FailureKind::Interrupted } else { classify_failure(&text) };
        let failure = Failure { kind, resets_at: find_reset_time(&text), message: text };
        return vec![(Origin::Harness, Body::Failure(Box::new(failure)))];
    }
    let said: Bodies = match content {
        Content::Text(text) => vec![(Origin::Agent, reply_body(Some(text)))],
        Content::Blocks(blocks) => {
            blocks.into_iter().map(|block| (Origin::Agent, block_body(block, &is_seal))).collect()
        }
    };
    let mut said = if said.is_empty() { vec![opaque_body("message/assistant")] } else { said };
    said.extend(usage::read_usage(message).map(|usage| (Origin::Harness, usage.into_body())));
    said
}

/// One block of the agent's message.
fn block_body<'a, W: Words<'a>>(block: Block<'a, W>, is_seal: impl Fn(&str) -> bool) -> Body {
    match &*block.kind {
        "text" => reply_body(block.text),
        "thinking" => Body::Reasoning(Box::new(Reasoning {
            text: block.thinking.map(W::into_string).unwrap_or_default(),
            sealed: block.thinking_signature.as_deref().is_some_and(is_seal),
        })),
        "toolCall" => Body::Call(Box::new(Call {
            id: CallId(block.id.as_deref().unwrap_or_default().into()),
            tool: block.name.as_deref().unwrap_or_default().to_owned(),
            input: block.arguments.map_or_else(Json::empty_object, W::read_json),
            form: CallForm::Function,
        })),
        kind => Body::unknown(format!("block/{kind}")),
    }
}

/// Empty texts are not sent.
fn reply_body<'a, W: Words<'a>>(text: Option<W>) -> Body {
    match text.filter(|text| !text.is_blank()) {
        Some(text) => Body::Reply(vec![Part::Text(text.into_string())]),
        None => Body::known("block/empty"),
    }
}

/// A prompt; `kind` names a record in which nothing was said.
pub fn prompt_bodies(origin: Origin, parts: Vec<Part>, kind: &'static str) -> Bodies {
    if parts.is_empty() { vec![opaque_body(kind)] } else { vec![(origin, Body::Prompt(parts))] }
}

/// A command that the user ran: the client tells the model of it in the user's place. They typed the command, and no
/// words.
pub fn user_command_bodies<W>(message: &Message<'_, W>) -> Bodies {
    let command = message.command.as_deref().unwrap_or_default();
    let output = message.output.as_deref().unwrap_or_default();
    let output = if output.is_empty() { "(no output)".to_owned() } else { format!("```\n{output}\n```") };
    let ending = match message.exit_code {
        _ if message.cancelled == Some(true) => "\n\n(command cancelled)".to_owned(),
        Some(code) if code != 0 => format!("\n\nCommand exited with code {code}"),
        _ => String::new(),
    };
    let path = message.full_output_path.as_deref().filter(|_| message.truncated == Some(true));
    let rest = path.map(|path| format!("\n\n[Output truncated. Full output: {path}]")).unwrap_or_default();
    vec![(Origin::Hook, Body::Prompt(vec![Part::Text(format!("Ran `{command}`\n{output}{ending}{rest}"))]))]
}

/// The summary of a branch that was left; it stands in the midst of a context and replaces nothing.
pub fn branch_summary_bodies(summary: Option<&Text<'_>>) -> Bodies {
    let Some(summary) = summary.filter(|summary| !summary.is_empty()) else {
        return vec![opaque_body("branch_summary")];
    };
    let text = format!("[summary of another branch of this conversation]\n{}", &**summary);
    vec![(Origin::Hook, Body::Prompt(vec![Part::Text(text)]))]
}

/// A record in the user's place without words.
pub fn prompt_without_words() -> (Origin, Body) {
    (Origin::Harness, Body::Opaque(Opaque::Wordless))
}

pub fn opaque_body(kind: &'static str) -> (Origin, Body) {
    (Origin::Harness, Body::known(kind))
}

pub fn unknown_body(kind: impl Into<Box<str>>) -> (Origin, Body) {
    (Origin::Harness, Body::unknown(kind))
}

pub fn note_bodies(facts: &mut Vec<Fact>, fact: Option<Fact>, note: Note) -> Bodies {
    facts.extend(fact);
    vec![(Origin::Harness, Body::Note(note))]
}

pub fn title_fact(rank: TitleRank, text: Option<&str>) -> Option<Fact> {
    let text = one_line(text?, 200);
    (!text.is_empty()).then_some(Fact::Title(rank, text))
}

/// The title that a prompt of the user's gives to a session that has no other.
pub fn first_prompt_title(parts: &[Part]) -> Option<Fact> {
    let text = injected_text::user_words(parts)?;
    // Long prompts are named by their beginning, and that needs no look at the rest.
    title_fact(TitleRank::FirstPrompt, Some(&text[..text.floor_char_boundary(2_000)]))
}

/// When a limit ends, where the API's answer is in the message: seconds since the epoch.
fn find_reset_time(text: &str) -> Option<Timestamp> {
    let (_, rest) = text.split_once("\"resets_at\":")?;
    let rest = rest.trim_start();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse::<i64>().ok()?.checked_mul(1000).map(Timestamp::from_millis)
}

/// The kind of error that a message ended in; only the API's words are kept, which begin with the status.
fn classify_failure(text: &str) -> FailureKind {
    let lower = text.to_ascii_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    match lower.get(..3).and_then(|status| status.parse::<u16>().ok()) {
        Some(429) => FailureKind::RateLimit,
        Some(401 | 403) => FailureKind::Authentication,
        Some(402) => FailureKind::Billing,
        _ if says(&["credit balance", "insufficient_quota", "insufficient credits"]) => FailureKind::Billing,
        Some(500..=599) => FailureKind::Server,
        _ if says(&["rate limit", "rate_limit", "usage limit", "usage_limit", "too many requests"]) => {
            FailureKind::RateLimit
        }
        _ if says(&["context length", "context window", "too long", "maximum context"]) => FailureKind::ContextTooLong,
        _ if says(&["overloaded", "server error", "server_error"]) => FailureKind::Server,
        _ if says(&["timed out", "connection error", "fetch failed", "terminated"]) => FailureKind::Server,
        _ => FailureKind::Other,
    }
}
