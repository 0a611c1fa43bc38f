//! What the editor's windows kept before there were composers: chats in tabs, and a list of what was typed.

use std::path::Path;

use carryover_core::plain::one_line;
use carryover_core::transcript::{Body, Fact, Opaque, Origin, Part};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::heads::make_found;
use super::values::{self, Table};
use super::workspaces::{Workspace, read_project};
use crate::FoundSession;
use crate::cursor::lenient::{self, Lenient};
use crate::cursor::session::{RawRecord, RecordForm, RecordHead, Session, StoredSession};

const TABS_KEY: &str = "workbench.panel.aichat.view.aichat.chatdata";
/// The list of what was typed, which is the key of the session that is made of it, too.
pub(super) const PROMPTS_KEY: &str = "aiService.prompts";
const GENERATIONS_KEY: &str = "aiService.generations";

#[derive(Deserialize)]
struct WireTabs<'a> {
    #[serde(borrow, default)]
    tabs: Vec<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireTab<'a> {
    tab_id: Lenient<String>,
    chat_title: Lenient<String>,
    last_send_time: Lenient<f64>,
    #[serde(borrow)]
    bubbles: Vec<&'a RawValue>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireChatBubble {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    raw_text: Lenient<String>,
    text: Lenient<String>,
    model_type: Lenient<String>,
}

#[derive(Deserialize)]
struct WirePrompt {
    #[serde(default)]
    text: Lenient<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireGeneration {
    #[serde(default)]
    unix_ms: Lenient<f64>,
    #[serde(default)]
    text_description: Lenient<String>,
}

/// A session whose records are all in memory.
pub(super) struct ChatSession {
    session: Session,
    heads: Vec<RecordHead>,
    texts: Vec<String>,
}

impl StoredSession for ChatSession {
    fn session(&self) -> &Session {
        &self.session
    }

    fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    fn read_text(&self, head: &RecordHead) -> rusqlite::Result<RawRecord> {
        let found = self.heads.iter().position(|other| other.name == head.name);
        Ok(found.map_or(RawRecord::Empty, |index| RawRecord::Text(self.texts[index].clone())))
    }
}

/// The chats of a window, and what was typed in it.
pub(super) fn list_chats(connection: &Connection, workspace: &Workspace) -> rusqlite::Result<Vec<FoundSession>> {
    let mut found = Vec::new();
    for chat in read_tabs(connection)?.into_iter().chain(read_prompts(connection, &workspace.id)?) {
        let is_typed = chat.heads.iter().all(|head| head.form == RecordForm::TypedPrompt);
        let session = Session { project: workspace.project.clone(), ..chat.session };
        let mut one = make_found(session, &workspace.database, false);
        if is_typed {
            one.source.key = Some(PROMPTS_KEY.to_owned());
        }
        found.push(one);
    }
    Ok(found)
}

/// Opens a chat of a window; the last one where none is named.
pub(super) fn open_chat(
    connection: &Connection,
    database: &Path,
    key: Option<&str>,
) -> rusqlite::Result<Option<ChatSession>> {
    let folder = database.parent().unwrap_or(database);
    let window = folder.file_name().unwrap_or_default().to_string_lossy();
    let mut chats = read_tabs(connection)?;
    chats.sort_by_key(|chat| std::cmp::Reverse(chat.session.updated));
    let typed = read_prompts(connection, &window)?;
    let is_wanted = |chat: &ChatSession| key.is_none_or(|key| chat.session.id == key);
    let found = match key {
        Some(PROMPTS_KEY) => typed,
        _ => chats.into_iter().chain(typed).find(is_wanted),
    };
    Ok(found.map(|mut chat| {
        chat.session.project = read_project(folder);
        chat
    }))
}

/// Chats in which something was said.
fn read_tabs(connection: &Connection) -> rusqlite::Result<Vec<ChatSession>> {
    let text = values::read_text(connection, Table::Items, TABS_KEY)?.unwrap_or_default();
    let Ok(tabs) = serde_json::from_str::<WireTabs<'_>>(&text) else { return Ok(Vec::new()) };
    let read = |raw: &&RawValue| serde_json::from_str::<WireTab<'_>>(raw.get()).ok().and_then(WireTab::into_session);
    Ok(tabs.tabs.iter().filter_map(read).collect())
}

impl WireTab<'_> {
    fn into_session(self) -> Option<ChatSession> {
        let id = self.tab_id.0.filter(|_| !self.bubbles.is_empty())?;
        let title = self.chat_title.0.map(|title| one_line(&title, 200)).filter(|title| !title.is_empty());
        let updated = self.last_send_time.0.and_then(lenient::time);
        let head = |number: usize| RecordHead::new(format!("{number}"), RecordForm::ChatBubble);
        Some(ChatSession {
            session: Session { id, title, updated, ..Session::default() },
            heads: (0..self.bubbles.len()).map(head).collect(),
            texts: self.bubbles.iter().map(|raw| raw.get().to_owned()).collect(),
        })
    }
}

/// What was typed in a window, with the times at which it was answered.
fn read_prompts(connection: &Connection, window: &str) -> rusqlite::Result<Option<ChatSession>> {
    let read = |key| values::read_text(connection, Table::Items, key).map(Option::unwrap_or_default);
    let prompts: Vec<WirePrompt> = serde_json::from_str(&read(PROMPTS_KEY)?).unwrap_or_default();
    let generations: Vec<WireGeneration> = serde_json::from_str(&read(GENERATIONS_KEY)?).unwrap_or_default();
    let mut answered = generations.into_iter().peekable();
    let (mut heads, mut texts) = (Vec::new(), Vec::new());
    for (number, text) in prompts.into_iter().filter_map(|prompt| prompt.text.0).enumerate() {
        let is_answer = |one: &WireGeneration| one.text_description.0.as_deref() == Some(text.as_str());
        let at = answered.next_if(is_answer).and_then(|one| one.unix_ms.0).and_then(lenient::time);
        heads.push(RecordHead { at, ..RecordHead::new(format!("{number}"), RecordForm::TypedPrompt) });
        texts.push(json!({ "text": text }).to_string());
    }
    let times = || heads.iter().filter_map(|head| head.at);
    let session = Session {
        id: format!("prompts-{window}"),
        started: times().min(),
        updated: times().max(),
        ..Session::default()
    };
    Ok((!heads.is_empty()).then_some(ChatSession { session, heads, texts }))
}

/// A bubble of a chat.
pub(in crate::cursor) fn read_chat_bubble(
    text: &str,
    facts: &mut Vec<Fact>,
) -> serde_json::Result<Vec<(Origin, Body)>> {
    let bubble: WireChatBubble = serde_json::from_str(text)?;
    let words = bubble.raw_text.0.or(bubble.text.0).filter(|words| !words.trim().is_empty());
    facts.extend(bubble.model_type.0.map(Fact::Model));
    let kind = bubble.kind.0.unwrap_or_default();
    Ok(vec![match (kind.as_str(), words) {
        ("user", Some(words)) => (Origin::User, Body::Prompt(vec![Part::Text(words)])),
        ("user", None) => (Origin::Harness, Body::Opaque(Opaque::Wordless)),
        ("ai", Some(words)) => (Origin::Agent, Body::Reply(vec![Part::Text(words)])),
        ("ai", None) => (Origin::Harness, Body::known("chat/empty")),
        _ => (Origin::Harness, Body::unknown(kind)),
    }])
}

/// Something that was typed.
pub(in crate::cursor) fn read_typed_prompt(text: &str) -> serde_json::Result<Vec<(Origin, Body)>> {
    let record: Value = serde_json::from_str(text)?;
    let words = record["text"].as_str().filter(|words| !words.trim().is_empty());
    Ok(vec![match words {
        Some(words) => (Origin::User, Body::Prompt(vec![Part::Text(words.to_owned())])),
        None => (Origin::Harness, Body::Opaque(Opaque::Wordless)),
    }])
}
