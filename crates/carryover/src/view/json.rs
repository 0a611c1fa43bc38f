//! A transcript as data.

use carryover_core::distill::State;
use carryover_core::json::Json;
use carryover_core::transcript::{Body, Entry, Origin, Part, Permission, StartSettings, Status};
use carryover_engine::sessions::unread::Unread;
use serde::Serialize;

use super::ending::CarriedRow;
use super::usage::{TokensRow, UsageRow};
use super::{Item, View};

/// A session, as `show --json` tells it.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    schema: &'static str,
    agent: &'static str,
    id: &'a str,
    title: Option<&'a str>,
    project: Option<String>,
    branch: Option<&'a str>,
    model: Option<&'a str>,
    client_version: Option<&'a str>,
    permission: Permission,
    begun: &'a StartSettings,
    started_at: Option<String>,
    updated_at: Option<String>,
    messages: usize,
    tokens: u64,
    tokens_used: Option<UsageRow>,
    /// How it stands at its end.
    state: Option<&'a State>,
    carried_from: Option<&'a CarriedRow>,
    carried_to: &'a [CarriedRow],
    rejected: usize,
    unread: Unread,
    entries: Vec<EntryRow<'a>>,
}

/// One entry; what does not apply is left out.
#[derive(Serialize)]
struct EntryRow<'a> {
    kind: &'a str,
    live: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    origin: Origin,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    side: bool,
    /// The name by which `--entry` shows it again.
    entry: String,
    /// Where it stands in its source: a file of the session and a byte.
    position: Position,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<PartRow<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// The client's own count for a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_used: Option<TokensRow>,
}

#[derive(Serialize)]
struct Position {
    file: u16,
    offset: u64,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum PartRow<'a> {
    Text { text: &'a str },
    Blob { media_type: &'a str, name: Option<&'a str> },
}

/// The view as a document.
pub(crate) fn view_document(view: &View) -> Document<'_> {
    let header = &view.transcript.header;
    let unread = Unread::from_transcript(&view.transcript);
    Document {
        schema: "carryover.session/1",
        agent: view.agent.facts().id,
        id: &header.session.0,
        title: header.title.as_deref(),
        project: header.project.as_ref().map(|project| project.display().to_string()),
        branch: header.branch.as_deref(),
        model: header.model.as_deref(),
        client_version: header.client_version.as_deref(),
        permission: header.permission,
        begun: &header.start_settings,
        started_at: header.started_at.map(|at| at.to_string()),
        updated_at: header.updated_at.map(|at| at.to_string()),
        messages: view.transcript.n_messages(),
        tokens: view.count_tokens(),
        tokens_used: view.transcript.total_usage().map(UsageRow::from),
        state: view.ending.state.as_ref(),
        carried_from: view.ending.carried_from.as_ref(),
        carried_to: &view.ending.carried_to,
        rejected: unread.count,
        unread,
        entries: view.items.iter().map(|item| item_row(view, item)).collect(),
    }
}

fn item_row<'a>(view: &'a View, item: &Item) -> EntryRow<'a> {
    match *item {
        Item::Entry { index, live } => entry_row(view, &view.transcript.entries[index], live),
        Item::Answer { call, text } => {
            let asked = &view.transcript.entries[call];
            let id = if let Body::Call(call) = &asked.body { Some(&*call.id.0) } else { None };
            EntryRow {
                kind: "outcome",
                origin: Origin::Harness,
                text: Some(text),
                call: id,
                status: Some(status_word(Status::Interrupted)),
                ..base_row(asked, true)
            }
        }
    }
}

fn entry_row<'a>(view: &View, entry: &'a Entry, live: bool) -> EntryRow<'a> {
    let row = base_row(entry, live);
    match &entry.body {
        Body::Reasoning(reasoning) => EntryRow { text: Some(&reasoning.text), ..row },
        Body::Failure(failure) => EntryRow { text: Some(&failure.message), ..row },
        Body::Call(call) => EntryRow {
            call: Some(&call.id.0),
            tool: Some(&call.tool),
            action: Some(view.agent.action(call, None).kind()),
            input: Some(&call.input),
            ..row
        },
        Body::Outcome(outcome) => EntryRow {
            call: Some(&outcome.call.0),
            status: Some(status_word(outcome.status)),
            exit_code: outcome.exit_code,
            ..row
        },
        Body::Opaque(opaque) => EntryRow { text: Some(opaque.name()), ..row },
        _ => row,
    }
}

/// The fields that every entry has.
fn base_row(entry: &Entry, live: bool) -> EntryRow<'_> {
    EntryRow {
        kind: entry.body.kind(),
        live,
        at: entry.at.map(|at| at.to_string()),
        origin: entry.origin,
        side: entry.side,
        entry: entry.key.reference().to_string(),
        position: Position { file: entry.key.file, offset: entry.key.offset },
        parts: entry.body.parts().iter().map(part_row).collect(),
        text: None,
        call: None,
        tool: None,
        action: None,
        input: None,
        status: None,
        exit_code: None,
        tokens_used: entry.usage().map(|usage| usage.tokens).filter(|it| !it.is_empty()).map(TokensRow::from),
    }
}

fn part_row(part: &Part) -> PartRow<'_> {
    match part {
        Part::Text(text) => PartRow::Text { text },
        Part::Blob(blob) => PartRow::Blob { media_type: &blob.media_type, name: blob.name.as_deref() },
    }
}

fn status_word(status: Status) -> &'static str {
    match status {
        Status::Done => "done",
        Status::Ended => "ended",
        Status::Failed => "failed",
        Status::Interrupted => "interrupted",
    }
}
