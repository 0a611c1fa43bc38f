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
use super::values::{self, DAMAGED, TOO_LONG, Table};
use crate::cursor::copies::Weight;
use crate::cursor::lenient::{self, Lenient, parse_nested};
use crate::cursor::session::{RawRecord, RecordForm, RecordHead, Session, StoredSession};

/// How many bubbles of a conversation are looked at to see that their format is known.
const BUBBLES_CHECKED: usize = 4;

/// The name of the record that stands for a document which does not tell the order of its bubbles, and why it does not.
const DOCUMENT_NAME: &str = "document";
const DOCUMENT_DAMAGED: &str =
    "the database is damaged where the conversation names its messages, which are in the order of their times";
const DOCUMENT_UNREADABLE: &str =
    "the record that names the messages of the conversation cannot be read, so they are in the order of their times";
const DOCUMENT_EMPTY: &str =
    "the record that names the messages of the conversation is empty, so they are in the order of their times";
const DOCUMENT_GONE: &str =
    "the record that names the messages of the conversation is gone, so they are in the order of their times";
const NO_ORDER: &str =
    "the conversation names its messages in a way that is not known, so they are in the order of their times";
const NO_NAME: &str = "the conversation names it in a way that is not known";

/// The kind of a bubble that is the user's.
const USER_KIND: i64 = 1;

/// The capability under which older documents keep what tools did.
const TOOL_CAPABILITY: i64 = 15;

/// The document of a conversation.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireComposer<'a> {
    #[serde(borrow)]
    full_conversation_headers_only: Option<&'a RawValue>,
    #[serde(borrow)]
    conversation: Option<&'a RawValue>,
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
    #[serde(rename = "type")]
    kind: Lenient<i64>,
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

/// What a document tells of the order of its bubbles.
enum Order<'a> {
    /// The bubbles by their names, and those that are named in a way that we do not know.
    Named(Vec<Option<WireBubblePlace>>),
    /// They stand in the document.
    Inline(Vec<&'a RawValue>),
    /// Nothing, as far as it is known.
    Lost,
}

impl<'a> WireComposer<'a> {
    fn read_order(&self) -> Order<'a> {
        let list = |raw: &'a RawValue| serde_json::from_str::<Vec<&'a RawValue>>(raw.get()).unwrap_or_default();
        let inline = self.conversation.map(list).unwrap_or_default();
        match self.full_conversation_headers_only.map(list) {
            Some(headers) if !headers.is_empty() || inline.is_empty() => Self::read_names(&headers),
            _ if !inline.is_empty() => Order::Inline(inline),
            _ => Order::Lost,
        }
    }

    fn read_names(headers: &[&RawValue]) -> Order<'a> {
        let place = |raw: &RawValue| serde_json::from_str::<WireBubblePlace>(raw.get()).ok();
        let named: Vec<_> = headers.iter().map(|raw| place(raw).filter(|place| place.bubble_id.0.is_some())).collect();
        let is_known = named.is_empty() || named.iter().any(Option::is_some);
        if is_known { Order::Named(named) } else { Order::Lost }
    }
}

/// A conversation in the shared database.
struct ComposerSession<'c> {
    connection: &'c Connection,
    session: Session,
    heads: Vec<RecordHead>,
    /// Records that have no row of their own.
    inline: BTreeMap<String, RawRecord>,
}

impl StoredSession for ComposerSession<'_> {
    fn session(&self) -> &Session {
        &self.session
    }

    fn heads(&self) -> &[RecordHead] {
        &self.heads
    }

    fn read_text(&self, head: &RecordHead) -> rusqlite::Result<RawRecord> {
        if let Some(record) = self.inline.get(&head.name) {
            return Ok(record.clone());
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
    let (text, fault) = match values::read_value(connection, Table::Disk, &composer_key(id))? {
        Some(RawRecord::Text(text)) => (text, None),
        Some(RawRecord::Empty) => (String::new(), Some(DOCUMENT_EMPTY)),
        Some(RawRecord::Unreadable(DAMAGED)) => (String::new(), Some(DOCUMENT_DAMAGED)),
        Some(RawRecord::Unreadable(_)) => (String::new(), Some(DOCUMENT_UNREADABLE)),
        None if has_bubbles(connection, id)? => (String::new(), Some(DOCUMENT_GONE)),
        None => return Ok(None),
    };
    let (composer, fault) = match serde_json::from_str::<WireComposer<'_>>(&text) {
        Ok(composer) => (composer, fault),
        Err(_) => (WireComposer::default(), fault.or(Some(DOCUMENT_UNREADABLE))),
    };
    let mut opened = ComposerSession {
        connection,
        session: heads::read_session(connection, database, id, &text)?,
        heads: Vec::new(),
        inline: BTreeMap::new(),
    };
    let model = composer.model_config.0.as_ref().and_then(|config| config.model_name.clone());
    // The editor chooses one, and does not say which.
    opened.session.model = model.filter(|model| !model.is_empty() && model != "default");
    let children = composer.subagent_composer_ids.0.as_deref().unwrap_or_default();
    opened.session.children = children.iter().map(|child| database.join(child)).collect();
    match (fault, composer.read_order()) {
        (Some(fault), _) => opened.add_bubbles_by_time(fault)?,
        (None, Order::Lost) if has_bubbles(connection, id)? => opened.add_bubbles_by_time(NO_ORDER)?,
        (None, Order::Lost) => {}
        (None, Order::Named(bubbles)) => {
            opened.add_named_bubbles(bubbles);
            opened.add_strays()?;
        }
        (None, Order::Inline(bubbles)) => {
            opened.add_inline_bubbles(&bubbles, composer.capabilities.0.unwrap_or_default());
            opened.add_strays()?;
        }
    }
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
        self.inline.insert(name.to_owned(), RawRecord::Text(record.to_string()));
    }

    /// Adds a record of which only the reason is known why it cannot be read.
    fn add_unreadable(&mut self, name: &str, reason: &'static str) {
        self.heads.push(RecordHead::new(name, RecordForm::Bubble));
        self.inline.insert(name.to_owned(), RawRecord::Unreadable(reason));
    }

    fn add_named_bubbles(&mut self, bubbles: Vec<Option<WireBubblePlace>>) {
        for (number, bubble) in bubbles.into_iter().enumerate() {
            let Some((place, name)) = bubble.and_then(|place| place.bubble_id.0.clone().map(|name| (place, name)))
            else {
                self.add_unreadable(&format!("unnamed-{number}"), NO_NAME);
                continue;
            };
            self.heads.push(RecordHead { at: place.time(), ..RecordHead::new(name, RecordForm::Bubble) });
        }
    }

    /// All bubbles that are kept, where the document does not tell their order: in that of their times, and those that tell
    /// none behind the one that was written before them. Which of them were taken back is not known then.
    fn add_bubbles_by_time(&mut self, reason: &'static str) -> rusqlite::Result<()> {
        self.add_unreadable(DOCUMENT_NAME, reason);
        let names = values::list_keys_as_written(self.connection, &bubble_key(&self.session.id, ""))?;
        let mut latest = None;
        let mut timed = Vec::new();
        for name in names {
            let head = RecordHead::new(name, RecordForm::Bubble);
            latest = self.bubble_time(&head)?.or(latest);
            timed.push((latest, head));
        }
        timed.sort_by_key(|(at, _)| *at);
        self.heads.extend(timed.into_iter().map(|(_, head)| head));
        Ok(())
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
        let all = values::list_keys(self.connection, &bubble_key(&self.session.id, ""))?;
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
    if has_bubbles(connection, id)? {
        return Ok(true);
    }
    let text = values::read_text(connection, Table::Disk, &composer_key(id))?.unwrap_or_default();
    let composer = serde_json::from_str::<WireComposer<'_>>(&text);
    Ok(composer.is_ok_and(|composer| matches!(composer.read_order(), Order::Inline(_))))
}

fn has_bubbles(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    // That of a window has chats alone.
    Ok(Table::Disk.is_in(connection)? && values::has_keys(connection, &bubble_key(id, ""))?)
}

/// How much of a conversation is kept, by what its document names; nothing where it has no words.
pub(super) fn weigh(connection: &Connection, id: &str) -> rusqlite::Result<Option<Weight>> {
    let text = values::read_text(connection, Table::Disk, &composer_key(id))?.unwrap_or_default();
    let told: WireHead = serde_json::from_str(&text).unwrap_or_default();
    let updated = told.into_head().session.updated;
    let is_prompt = |place: &WireBubblePlace| place.kind.0 == Some(USER_KIND);
    let order = serde_json::from_str::<WireComposer<'_>>(&text).map_or(Order::Lost, |composer| composer.read_order());
    let (prompts, records) = match order {
        Order::Inline(bubbles) => {
            let places = bubbles.iter().filter_map(|raw| serde_json::from_str::<WireBubblePlace>(raw.get()).ok());
            (places.filter(is_prompt).count(), bubbles.len())
        }
        _ if !has_bubbles(connection, id)? => return Ok(None),
        Order::Named(places) => (places.iter().flatten().filter(|place| is_prompt(place)).count(), places.len()),
        Order::Lost => (0, values::list_keys(connection, &bubble_key(id, ""))?.len()),
    };
    Ok(Some(Weight { prompts, records, updated }))
}

/// Whether the document of a conversation names bubbles.
pub(super) fn names_bubbles(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
    let text = values::read_text(connection, Table::Disk, &composer_key(id))?.unwrap_or_default();
    let composer = serde_json::from_str::<WireComposer<'_>>(&text);
    Ok(composer.is_ok_and(|composer| matches!(composer.read_order(), Order::Named(names) if !names.is_empty())))
}

/// What a look at a conversation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    Known,
    /// It is there, and of a form that we do not know.
    Drifted,
    /// The database is damaged where its document is.
    Damaged,
}

/// Whether a conversation of which bubbles are kept is of a form that we know.
pub(super) fn look(connection: &Connection, id: &str) -> rusqlite::Result<Look> {
    let is_known = match values::read_value(connection, Table::Disk, &composer_key(id))? {
        None => false,
        // That it cannot be read is told when the conversation is.
        Some(RawRecord::Empty | RawRecord::Unreadable(TOO_LONG)) => true,
        Some(RawRecord::Unreadable(_)) => return Ok(Look::Damaged),
        Some(RawRecord::Text(text)) => match serde_json::from_str::<WireComposer<'_>>(&text) {
            Ok(composer) => !matches!(composer.read_order(), Order::Lost),
            Err(error) => !error.is_data(),
        },
    };
    Ok(if is_known && knows_bubbles(connection, id)? { Look::Known } else { Look::Drifted })
}

/// Whether any bubble is of a form that we know, as far as there are bubbles.
fn knows_bubbles(connection: &Connection, id: &str) -> rusqlite::Result<bool> {
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
    let names = values::list_keys(connection, &bubble_key(id, ""))?;
    let (mut known, mut seen) = (false, false);
    for name in names.iter().take(BUBBLES_CHECKED) {
        let Some(text) = values::read_text(connection, Table::Disk, &bubble_key(id, name))? else { continue };
        seen = true;
        known |= serde_json::from_str::<WireKind<'_>>(&text).is_ok_and(|bubble| {
            let says = bubble.text.is_some() || bubble.tool_former_data.is_some() || bubble.thinking.is_some();
            matches!(bubble.kind, 1 | 2) && says
        });
    }
    Ok(!seen || known)
}

fn composer_key(id: &str) -> String {
    format!("composerData:{id}")
}

fn bubble_key(id: &str, name: &str) -> String {
    format!("bubbleId:{id}:{name}")
}
