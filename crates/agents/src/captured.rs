//! Captured sessions: UASF files, and conversations that were saved in a repository, read in the stead of the agent whose
//! session they hold.
//!
//! Such a file may come from anybody. Nothing in it is followed or believed beyond what was said and done: no path is opened,
//! no permission is taken, and secrets are masked while it is read.

use std::fmt;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::render::saved::SavedMessage;
use carryover_core::render::uasf::{UASF_SCHEMA, UASF_SCHEMA_PREFIX, UasfReader, action_from_call};
use carryover_core::render::{UasfEvent, UasfSession};
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Answer, Body, Call, Closing, Entry, EntryKey, Fact, Header, Origin, Outcome, Refusal, RejectedRecord,
    SessionId, TitleRank, text_cow,
};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::facts::{Facts, UNKNOWN_RESUME_BUDGET};
use crate::formats::{file, jsonl};
use crate::saved::{SavedFile, SavedLine, is_saved, project_folder, read_saved};
use crate::{AGENTS, Agent, AgentError, Bookmark, Dialect, Discovery, FoundCallback, Reader, Sink, Source, Store};

/// More events than anybody has seen; each costs memory, however short it is.
pub(crate) const MAX_EVENTS: usize = 1_000_000;
pub(crate) const TOO_MANY_EVENTS: &str = "it holds more than a million events";

/// The first version of the format does not say what came back from an edit.
const MISSING_OUTCOME: &str = "[what came back is not in the captured file]";

/// A reader of captured files.
struct CapturedReader {
    /// Whose sessions it reads; none for an agent that we do not know.
    agent: Option<&'static dyn Agent>,
    masks_secrets: bool,
}

/// Of every agent and of an unknown one; each masking and not.
static READERS: LazyLock<Vec<CapturedReader>> = LazyLock::new(|| {
    let agents = || AGENTS.iter().copied().map(Some).chain([None]);
    agents().flat_map(|of| [true, false].map(|masks| CapturedReader { agent: of, masks_secrets: masks })).collect()
});

/// An agent that we do not know.
static UNKNOWN_AGENT: Facts =
    Facts { id: "captured", name: "a captured session", default_window: UNKNOWN_RESUME_BUDGET, ..Facts::USUAL };

/// The file as a whole; events are read one by one.
#[derive(Deserialize)]
struct Document<'a> {
    #[serde(default)]
    schema: Option<String>,
    session: UasfSession,
    #[serde(borrow)]
    events: EventList<'a>,
}

struct EventList<'a>(Vec<&'a RawValue>);

/// The first line of a file that has an event on each of the others, as capsules do.
#[derive(Deserialize)]
struct FirstLine {
    schema: String,
    session: UasfSession,
    #[serde(default)]
    events: Option<IgnoredAny>,
}

/// Facts about the session of a file, its entries, and what could not be read.
type FileContents = (Vec<Fact>, Vec<Entry>, Vec<RejectedRecord>);

/// The reader for a file, if it holds a captured session.
pub fn recognise(path: &Path, head: &[u8]) -> Result<Option<&'static dyn Agent>, AgentError> {
    if is_saved(path) {
        return Ok(Some(find_reader(&read_saved(path)?.session.agent, true)));
    }
    let holds = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
    let begins = head.trim_ascii_start().strip_prefix(BOM).unwrap_or(head).trim_ascii_start().starts_with(b"{");
    if !begins || !(holds("\"events\"") || holds(UASF_SCHEMA_PREFIX)) {
        return Ok(None);
    }
    let bytes = file::read_bytes(path, file::MAX_DOCUMENT_BYTES)?;
    match parse_document(path, &bytes) {
        Ok(document) => Ok(Some(find_reader(&document.session.agent, true))),
        // Something else may have events, too.
        Err(_) if !holds("\"session\"") => Ok(None),
        Err(error) => Err(error),
    }
}

/// The same for a file that nothing has been read of yet; one that is broken is none.
pub fn recognise_file(path: &Path) -> Option<&'static dyn Agent> {
    const HEAD_BYTES: u64 = 64 << 10;
    let head = jsonl::read_head(path, HEAD_BYTES).ok()?;
    recognise(path, &head).ok().flatten()
}

fn find_reader(agent: &str, masks: bool) -> &'static dyn Agent {
    let id = crate::agent_by_name(agent).map(|agent| agent.facts().id);
    let fits =
        |reader: &&CapturedReader| reader.masks_secrets == masks && reader.agent.map(|agent| agent.facts().id) == id;
    // There is one for every agent and one for none, so the fallback is never needed.
    READERS.iter().find(fits).unwrap_or(&READERS[READERS.len() - 1])
}

const BOM: &[u8] = b"\xef\xbb\xbf";

fn parse_document<'a>(path: &Path, bytes: &'a [u8]) -> Result<Document<'a>, AgentError> {
    let broken = |reason: String| AgentError::Captured { path: path.to_owned(), reason };
    let text = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let document = match parse_lines(text) {
        Some(document) => document,
        None => serde_json::from_slice(text),
    };
    let document = document.map_err(|error| broken(describe_cause(&error)))?;
    match document.schema.as_deref().and_then(|schema| schema.strip_prefix(UASF_SCHEMA_PREFIX)) {
        Some(version) if version.parse::<u32>().is_ok_and(|version| version > 2) => {
            Err(broken(format!("it is of version {version}, and this carryover reads up to 2")))
        }
        _ => Ok(document),
    }
}

/// A file of lines, where it is one: the session first, then its events.
fn parse_lines(text: &[u8]) -> Option<serde_json::Result<Document<'_>>> {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    let first: FirstLine = serde_json::from_slice(&text[..end]).ok()?;
    if !first.schema.starts_with(UASF_SCHEMA_PREFIX) || first.events.is_some() {
        return None;
    }
    let mut events = Vec::new();
    for event in serde_json::Deserializer::from_slice(&text[end..]).into_iter::<&RawValue>() {
        match event {
            Ok(_) if events.len() == MAX_EVENTS => return Some(Err(de::Error::custom(TOO_MANY_EVENTS))),
            Ok(event) => events.push(event),
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(Document { schema: Some(first.schema), session: first.session, events: EventList(events) }))
}

/// Why it could not be read, without a word of what is in it.
pub fn describe_cause(error: &serde_json::Error) -> String {
    let place = format!("line {} column {}", error.line(), error.column());
    match error.classify() {
        Category::Eof => format!("it ends in the middle, at {place}"),
        Category::Data if error.to_string().starts_with(TOO_MANY_EVENTS) => TOO_MANY_EVENTS.to_owned(),
        Category::Data => format!("a field is missing or has another type, at {place}"),
        Category::Syntax | Category::Io => format!("it is not JSON from {place} on"),
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for EventList<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct EventsVisitor;
        impl<'de> Visitor<'de> for EventsVisitor {
            type Value = Vec<&'de RawValue>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a list of events")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut events = Vec::new();
                while let Some(event) = seq.next_element()? {
                    if events.len() == MAX_EVENTS {
                        return Err(de::Error::custom(TOO_MANY_EVENTS));
                    }
                    events.push(event);
                }
                Ok(events)
            }
        }
        from.deserialize_seq(EventsVisitor).map(Self)
    }
}

impl CapturedReader {
    /// Reads a file as a whole: what it tells of the session, its entries, and what could not be read.
    fn read_file(&self, path: &Path) -> Result<FileContents, AgentError> {
        if is_saved(path) {
            return Ok(self.convert_saved(path, read_saved(path)?));
        }
        let bytes = file::read_bytes(path, file::MAX_DOCUMENT_BYTES)?;
        let Document { schema, session, events } = parse_document(path, &bytes)?;
        let session = if self.masks_secrets { session.redacted() } else { session };
        let mut reading = UasfReader::new(self.agent.is_some());
        let mut rejected = Vec::new();
        for raw in events.0 {
            let offset = (raw.get().as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize) as u64;
            let length = u32::try_from(raw.get().len()).unwrap_or(u32::MAX);
            let Ok(event) = serde_json::from_str::<UasfEvent>(raw.get()) else {
                let key = EntryKey { file: 0, offset, part: 0, length };
                rejected.push(RejectedRecord { key, reason: "an event with a field of another type" });
                continue;
            };
            reading.read_event(offset, length, if self.masks_secrets { event.redacted() } else { event });
        }
        let entries = reading.finish();
        let mut facts = session_facts(path, session);
        let is_ours = schema.as_deref() == Some(UASF_SCHEMA);
        facts.push(Fact::Closing(if is_ours { Closing::Drop } else { Closing::Answer(MISSING_OUTCOME) }));
        facts.extend(first_prompt_title(&entries));
        Ok((facts, entries, rejected))
    }

    /// The same of the lines of a saved conversation.
    fn convert_saved(&self, path: &Path, saved: SavedFile) -> FileContents {
        let SavedFile { session, lines } = saved;
        let mut reading = UasfReader::new(self.agent.is_some());
        let mut rejected = Vec::new();
        for (index, line) in lines.into_iter().enumerate() {
            let SavedLine { offset, length, message } = line;
            let Some(message) = message else {
                let key = EntryKey { file: 0, offset, part: 0, length };
                rejected.push(RejectedRecord { key, reason: "a line that is no message" });
                continue;
            };
            let mut event = message.into_event();
            event.past = session.compacted.iter().any(|(start, end)| (*start..*end).contains(&index));
            reading.read_event(offset, length, if self.masks_secrets { event.redacted() } else { event });
        }
        let entries = reading.finish();
        let here = || project_folder(path).map(|project| project.display().to_string()).unwrap_or_default();
        let about = UasfSession {
            id: session.session_id,
            agent: session.agent,
            model: session.agent_config.model.unwrap_or_default(),
            cwd: if session.project.is_empty() { here() } else { session.project },
            git_branch: session.git_branch,
            started_at: session.created_at,
            title: Some(session.title),
            ..UasfSession::default()
        };
        let mut facts = session_facts(path, if self.masks_secrets { about.redacted() } else { about });
        facts.push(Fact::Closing(Closing::Drop));
        facts.extend(first_prompt_title(&entries));
        (facts, entries, rejected)
    }
}

fn session_facts(path: &Path, session: UasfSession) -> Vec<Fact> {
    let filled = |text: String| Some(text).filter(|text| !text.is_empty());
    // One that is not whole would be looked for wherever we happen to be.
    let project = filled(session.cwd).map(PathBuf::from).filter(|project| project.is_absolute());
    let title = session.title.map(|title| one_line(&title, 200)).and_then(filled);
    [
        Some(Fact::File(path.to_owned())),
        filled(session.id).map(|id| Fact::Session(SessionId(id))),
        filled(session.model).map(Fact::Model),
        project.map(Fact::Project),
        session.git_branch.and_then(filled).map(Fact::Branch),
        Timestamp::parse(&session.started_at).map(Fact::StartedAt),
        title.map(|title| Fact::Title(TitleRank::Generated, title)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn first_prompt_title(entries: &[Entry]) -> Option<Fact> {
    let text = entries.iter().find_map(|entry| match &entry.body {
        Body::Prompt(parts) if entry.origin == Origin::User => Some(one_line(&text_cow(parts), 200)),
        _ => None,
    });
    text.filter(|text| !text.is_empty()).map(|text| Fact::Title(TitleRank::FirstPrompt, text))
}

/// The event that a record of ours is.
fn parse_event(record: &str) -> Option<UasfEvent> {
    let saved = SavedMessage::parse(record).map(SavedMessage::into_event);
    saved.or_else(|| serde_json::from_str(record).ok())
}

impl Agent for CapturedReader {
    fn facts(&self) -> &'static Facts {
        self.agent.map_or(&UNKNOWN_AGENT, |agent| agent.facts())
    }

    fn stores(&self, _env: &crate::Env) -> Vec<Store> {
        Vec::new()
    }

    fn as_captured(&self) -> Option<&'static dyn Agent> {
        Some(find_reader(self.agent.map_or("", |agent| agent.facts().id), false))
    }
}

impl Discovery for CapturedReader {
    fn recognises(&self, _path: &Path, _head: &[u8]) -> bool {
        false
    }

    fn list_sessions(&self, _store: &Store, _found: FoundCallback<'_>) -> Result<(), AgentError> {
        Ok(())
    }
}

impl Reader for CapturedReader {
    fn read_session(&self, source: &Source, _from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let (facts, entries, rejected) = self.read_file(&source.path)?;
        // Who has seen enough says so, and is told no more.
        let _: ControlFlow<()> = (|| {
            facts.into_iter().try_for_each(|fact| sink.learn(fact))?;
            entries.into_iter().try_for_each(|entry| sink.put(entry))?;
            rejected.into_iter().try_for_each(|rejected| sink.reject(rejected))
        })();
        Ok(Bookmark::Start)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let path = header.files.first().ok_or_else(|| moved_error(Path::new(""), key))?;
        let (_, mut entries, _) = self.read_file(path)?;
        entries.retain(|entry| entry.key.record() == key.record());
        Ok(entries)
    }

    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        let path = header.files.first().ok_or_else(|| moved_error(Path::new(""), key))?;
        let text = jsonl::read_record_at(path, key.offset, u64::from(key.length))?;
        // The outcome of a call is named by the byte after its event's first.
        let text = if text.starts_with('{') { text } else { format!("{{{text}") };
        let event = parse_event(&text).ok_or_else(|| moved_error(path, key))?;
        let event = if self.masks_secrets { event.redacted() } else { event };
        serde_json::to_string(&event).map_err(|_| moved_error(path, key))
    }
}

impl Dialect for CapturedReader {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        let told = outcome.and_then(parse_event).and_then(|event| event.outcome?.action);
        let told = told.as_ref().and_then(Json::read_as::<Action>);
        let spelt = || self.agent.map_or(Action::Other, |agent| agent.action(call, None));
        told.unwrap_or_else(|| action_from_call(call).unwrap_or_else(spelt))
    }

    fn answers(&self, _call: &Call, outcome: &str) -> Vec<Answer> {
        parse_event(outcome).and_then(|event| event.outcome).map(|outcome| outcome.answers).unwrap_or_default()
    }

    fn refusal(&self, outcome: &Outcome) -> Option<Refusal> {
        self.agent.and_then(|agent| agent.refusal(outcome))
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        if let Some(agent) = self.agent {
            agent.strip_harness_text(outcome);
        }
    }
}

fn moved_error(path: &Path, key: EntryKey) -> AgentError {
    AgentError::Moved { path: path.to_owned(), offset: key.offset }
}
