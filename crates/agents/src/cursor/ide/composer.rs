//! One conversation of the editor: a document that names its bubbles in their order, and a row for each bubble. Before there
//! were such rows, the document held the bubbles, and what tools did stood beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Failure, FailureKind, Origin};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::chat;
use super::heads::{self, Head, WireHead};
use super::values::{self, Table};
use crate::cursor::lenient::{self, Lenient, parse_nested};
use crate::cursor::session::{RawRecord, RecordForm, RecordHead, Session, StoredSession};

/// How many bubbles of a conversation are looked at to see that their format is known.
const BUBBLES_CHECKED: usize = 4;

/// The capability under which older documents keep what tools did.
const TOOL_CAPABILITY: i64 = 15;

/// The document of a conversation.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireComposer<'a> {
    #[serde(borrow)]
    full_conversation_headers_only: Vec<&'a RawValue>,
    #[serde(borrow)]
    conversation: Vec<&'a RawValue>,
    capabilities: Lenient<Vec<WireCapability>>,
    model_config: Lenient<WireModel>,
    status: Lenient<String>,
    subagent_composer_ids: Lenient<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireModel {
    model_name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCapability {
    #[serde(rename = "type", default)]
    kind: Lenient<i64>,
    #[serde(default)]
    data: Lenient<WireCapabilityData>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireCapabilityData {
    #[serde(default)]
    bubble_data_map: Lenient<String>,
}

/// A bubble where the document names it, and as far as it is needed to put it in its place.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireBubblePlace {
    bubble_id: Lenient<String>,
    created_at: Lenient<String>,
    timing_info: Lenient<WireTiming>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireTiming {
    #[serde(default)]
    pub client_start_time: Lenient<f64>,
}

/// A conversation in the shared database.
struct ComposerSession<'c> {
    connection: &'c Connection,
    session: Session,
    heads: Vec<RecordHead>,
    /// Records that have no row of their own.
    inline: BTreeMap<String, String>,
}

impl StoredSession for ComposerSession<'_> {
    fn session(&self) -> &Session {
        &self.session
    }

    fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    fn read_text(&self, head: &RecordHead) -> rusqlite::Result<RawRecord> {
        if let Some(text) = self.inline.get(&head.name) {
            return Ok(RawRecord::Text(text.clone()));
        }
        let found = values::read_value(self.connection, Table::Disk, &bubble_key(&self.session.id, &head.name))?;
        Ok(found.unwrap_or(RawRecord::Empty))
    }
}

/// Opens a conversation in one of the editor's databases; the one that changed last where none is named.
pub(in crate::cursor) fn open_session<'c>(
    connection: &'c Connection,
    database: &Path,
    key: Option<&str>,
) -> rusqlite::Result<Option<Box<dyn StoredSession + 'c>>> {
    let newest = if key.is_none() { heads::find_newest(connection, database)? } else { None };
    if let Some(id) = key.or(newest.as_deref())
        && let Some(session) = open_composer(connection, database, id)?
    {
        return Ok(Some(Box::new(session)));
    }
    let chat = chat::open_chat(connection, database, key)?;
    Ok(chat.map(|chat| Box::new(chat) as Box<dyn StoredSession>))
}

fn open_composer<'c>(
    connection: &'c Connection,
    database: &Path,
    id: &str,
) -> rusqlite::Result<Option<ComposerSession<'c>>> {
    let text = match values::read_value(connection, Table::Disk, &composer_key(id))? {
        Some(RawRecord::Text(text)) => text,
        Some(_) => "{}".to_owned(),
        None => return Ok(None),
    };
    let composer: WireComposer<'_> = serde_json::from_str(&text).unwrap_or_default();
    let mut session = heads::read_session(connection, database, id, &text)?;
    let model = composer.model_config.0.and_then(|config| config.model_name);
    // The editor chooses one, and does not say which.
    session.model = model.filter(|model| !model.is_empty() && model != "default");
    let children = composer.subagent_composer_ids.0.unwrap_or_default();
    session.children = children.iter().map(|child| database.join(child)).collect();
    let mut opened = ComposerSession { connection, session, heads: Vec::new(), inline: BTreeMap::new() };
    if composer.full_conversation_headers_only.is_empty() {
        opened.add_inline_bubbles(&composer.conversation, composer.capabilities.0.unwrap_or_default());
    }
    for header in &composer.full_conversation_headers_only {
        let Ok(header) = serde_json::from_str::<WireBubblePlace>(header.get()) else { continue };
        let Some(name) = header.bubble_id.0.clone() else { continue };
        opened.heads.push(RecordHead { at: header.time(), ..RecordHead::new(name, RecordForm::Bubble) });
    }
    opened.add_strays()?;
    if composer.status.0.as_deref() == Some("aborted") {
        opened.add_inline("status", RecordForm::Status, &json!({ "status": "aborted" }));
    }
    Ok(Some(opened))
}

impl WireBubblePlace {
    fn time(&self) -> Option<Timestamp> {
        let timed = || self.timing_info.0.as_ref()?.client_start_time.0.and_then(lenient::time);
        self.created_at.0.as_deref().and_then(Timestamp::parse).or_else(timed)
    }
}

impl ComposerSession<'_> {
    fn add_inline(&mut self, name: &str, form: RecordForm, record: &Value) {
        self.heads.push(RecordHead::new(name, form));
        self.inline.insert(name.to_owned(), record.to_string());
    }

    /// Bubbles that stand in the document, each with what its tool did.
    fn add_inline_bubbles(&mut self, bubbles: &[&RawValue], capabilities: Vec<WireCapability>) {
        let mut tools: BTreeMap<String, Value> = BTreeMap::new();
        for capability in capabilities.into_iter().filter(|one| one.kind.0 == Some(TOOL_CAPABILITY)) {
            let map = capability.data.0.and_then(|data| data.bubble_data_map.0);
            tools.extend(map.and_then(|map| parse_nested::<BTreeMap<String, Value>>(&map)).into_iter().flatten());
        }
        for (number, raw) in bubbles.iter().enumerate() {
            let mut bubble: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
            let named = bubble.get("bubbleId").and_then(Value::as_str).map(str::to_owned);
            let name = named.filter(|name| !self.inline.contains_key(name)).unwrap_or_else(|| format!("{number}"));
            if let Some(tool) = tools.remove(&name) {
                bubble.entry("toolFormerData").or_insert(tool);
            }
            self.add_inline(&name, RecordForm::Bubble, &Value::Object(bubble));
        }
    }

    /// Bubbles that the document does not name, put where their time says. Those that tell no time come first: they are not
    /// what happened last.
    fn add_strays(&mut self) -> rusqlite::Result<()> {
        let named: BTreeSet<&str> = self.heads.iter().map(|head| head.name.as_str()).collect();
        let all = values::list_keys(self.connection, &format!("bubbleId:{}:", self.session.id))?;
        let strays: Vec<String> = all.into_iter().filter(|name| !named.contains(name.as_str())).collect();
        if strays.is_empty() {
            return Ok(());
        }
        let mut timed = Vec::new();
        for head in std::mem::take(&mut self.heads) {
            let at = if head.at.is_some() { head.at } else { self.bubble_time(&head)? };
            timed.push((at, head));
        }
        for name in strays {
            let head = RecordHead::new(name, RecordForm::Stray);
            let at = self.bubble_time(&head)?;
            let is_later = |other: &(Option<Timestamp>, RecordHead)| other.0 > at;
            let place = at.map_or(0, |_| timed.iter().position(is_later).unwrap_or(timed.len()));
            timed.insert(place, (at, head));
        }
        self.heads = timed.into_iter().map(|(_, head)| head).collect();
        Ok(())
    }

    fn bubble_time(&self, head: &RecordHead) -> rusqlite::Result<Option<Timestamp>> {
        let text = self.read_text(head)?;
        Ok(serde_json::from_str::<WireBubblePlace>(text.as_text()).ok().and_then(|bubble| bubble.time()))
    }
}

/// A turn that the user broke off.
pub(in crate::cursor) fn read_status() -> Vec<(Origin, Body)> {
    let failure = Failure { kind: FailureKind::Interrupted, message: "aborted".to_owned(), resets_at: None };
    vec![(Origin::Harness, Body::Failure(Box::new(failure)))]
}

/// What a conversation that is in no index says of itself.
pub(super) fn read_head(connection: &Connection, id: &str) -> rusqlite::Result<Option<Head>> {
    let Some(text) = values::read_text(connection, Table::Disk, &composer_key(id))? else { return Ok(None) };
    let told: WireHead = serde_json::from_str(&text).unwrap_or_default();
    let mut head = told.into_head();
    id.clone_into(&mut head.session.id);
    Ok(Some(head))
}

/// Whether anything is kept of what was said in a conversation.
pub(super) fn has_words(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    if values::has_keys(connection, &format!("bubbleId:{id}:"))? {
        return Ok(true);
    }
    let text = values::read_text(connection, Table::Disk, &composer_key(id))?.unwrap_or_default();
    Ok(serde_json::from_str::<WireComposer<'_>>(&text).is_ok_and(|composer| !composer.conversation.is_empty()))
}

/// Whether bubbles are there, and none of a form that we know.
pub(super) fn has_drifted(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct WireKind<'a> {
        #[serde(rename = "type")]
        kind: i64,
        #[serde(borrow)]
        text: Option<&'a RawValue>,
        #[serde(borrow)]
        tool_former_data: Option<&'a RawValue>,
        #[serde(borrow)]
        thinking: Option<&'a RawValue>,
    }
    let names = values::list_keys(connection, &format!("bubbleId:{id}:"))?;
    let (mut known, mut seen) = (false, false);
    for name in names.iter().take(BUBBLES_CHECKED) {
        let Some(text) = values::read_text(connection, Table::Disk, &bubble_key(id, name))? else { continue };
        seen = true;
        known |= serde_json::from_str::<WireKind<'_>>(&text).is_ok_and(|bubble| {
            let says = bubble.text.is_some() || bubble.tool_former_data.is_some() || bubble.thinking.is_some();
            matches!(bubble.kind, 1 | 2) && says
        });
    }
    Ok(seen && !known)
}

fn composer_key(id: &str) -> String {
    format!("composerData:{id}")
}

fn bubble_key(id: &str, name: &str) -> String {
    format!("bubbleId:{id}:{name}")
}
