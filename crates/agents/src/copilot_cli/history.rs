//! Sessions of the first versions (0.0.34x): one JSON document, `history-session-state/session_<id>_<time>.json`, with the
//! messages as they were sent to the model. The document is written anew with every turn, and names no project.
//!
//! Known from the code of that client, which runs with an account only.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Blob, BlobLocation, Body, Call, CallForm, CallId, Closing, Entry, EntryKey, Fact, Origin, Outcome, Part,
    RejectedRecord, SessionId, Status, text_of,
};
use serde_json::value::RawValue;

use super::outcome::exit_code_in_text;
use super::prompt;
use super::read::INTERRUPTED_ANSWER;
use super::record::first_prompt_title;
use crate::formats::file;
use crate::formats::text::{Text, text_or_none};
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Bookmark, FoundCallback, FoundSession, Liveness, Sink, Source};

const FOLDER_NAME: &str = "history-session-state";

/// A larger document is listed without its title.
const MAX_TITLED_BYTES: u64 = 4 << 20;

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireHistory<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    start_time: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "text_or_none")]
    selected_model: Option<Text<'a>>,
    #[serde(borrow)]
    chat_messages: Vec<&'a RawValue>,
}

#[derive(serde::Deserialize)]
struct WireChat {
    role: String,
    #[serde(default)]
    content: Option<WireContent>,
    #[serde(default)]
    tool_calls: Vec<WireChatCall>,
    #[serde(default)]
    tool_call_id: Option<String>,
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum WireContent {
    Text(String),
    Parts(Vec<WirePart>),
}

#[derive(serde::Deserialize)]
struct WirePart {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    image_url: Option<WireUrl>,
}

#[derive(serde::Deserialize)]
struct WireUrl {
    url: String,
}

#[derive(serde::Deserialize)]
struct WireChatCall {
    id: String,
    #[serde(default)]
    function: Option<WireFunction>,
    #[serde(default)]
    custom: Option<WireFunction>,
}

#[derive(serde::Deserialize)]
struct WireFunction {
    name: String,
    /// JSON in a string, or the words of a call that takes words.
    #[serde(alias = "input")]
    arguments: String,
}

/// Whether a file is such a document, by its first bytes.
pub(super) fn is_history(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head);
    text.trim_start().starts_with('{') && text.contains("\"sessionId\"") && text.contains("\"chatMessages\"")
}

/// Whether a path is that of such a document; events are in lines.
pub(super) fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "json")
}

/// Tells the sessions of the folder, if there is one.
pub(super) fn list_sessions(root: &Path, unopened: &mut UnopenedFiles, found: FoundCallback<'_>) -> ControlFlow<()> {
    let Some(files) = unopened.ok_or_note(fs_err::read_dir(root.join(FOLDER_NAME))) else {
        return ControlFlow::Continue(());
    };
    for path in files.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| is_document(path)) {
        let metadata = unopened.ok_or_note(file::check_regular(&path).and_then(|()| fs_err::metadata(&path)));
        if let Some(session) = metadata.and_then(|metadata| scan_session(&path, &metadata)) {
            found(session)?;
        }
    }
    ControlFlow::Continue(())
}

fn scan_session(path: &Path, metadata: &std::fs::Metadata) -> Option<FoundSession> {
    let name = path.file_stem()?.to_str()?;
    let (id, millis) = name.strip_prefix("session_")?.rsplit_once('_')?;
    let modified = metadata.modified().ok().and_then(|at| jiff::Timestamp::try_from(at).ok());
    let small = metadata.len() <= MAX_TITLED_BYTES;
    let text = small.then(|| file::read_text(path, MAX_TITLED_BYTES).ok()).flatten();
    let history: Option<WireHistory<'_>> = text.as_deref().and_then(|text| serde_json::from_str(text).ok());
    let title = history.as_ref().and_then(find_title);
    Some(FoundSession {
        source: Source { path: path.to_path_buf(), key: None },
        id: SessionId(id.to_owned()),
        title,
        project: None,
        branch: None,
        started_at: millis.parse().ok().map(Timestamp::from_millis),
        updated_at: modified.map(|at| Timestamp::from_millis(at.as_millisecond())),
        messages: None,
        bytes: metadata.len(),
        model: history.as_ref().and_then(|history| history.selected_model.as_deref().map(str::to_owned)),
        live: Liveness::Unknown,
        drifted: small && history.is_none(),
    })
}

fn find_title(history: &WireHistory<'_>) -> Option<String> {
    let key = EntryKey { file: 0, offset: 0, part: 0, length: 0 };
    let mut entries = history.chat_messages.iter().filter_map(|raw| read_entries(raw.get(), key)).flatten();
    let first = entries.find_map(|entry| match entry.body {
        Body::Prompt(parts) => first_prompt_title(&parts),
        _ => None,
    });
    match first {
        Some(Fact::Title(_, title)) => Some(title),
        _ => None,
    }
}

/// Reads the document, anew where it has changed.
pub(super) fn read_document(path: &Path, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
    let text = file::read_text(path, file::MAX_DOCUMENT_BYTES)?;
    let bookmark = Bookmark::Appended { offset: text.len() as u64, head: digest_text(&text) };
    if *from == bookmark {
        return Ok(bookmark);
    }
    let whole = EntryKey { file: 0, offset: 0, part: 0, length: 0 };
    let Ok(history) = serde_json::from_str::<WireHistory<'_>>(&text) else {
        let _ = sink.reject(RejectedRecord { key: whole, reason: "not a JSON document of the kind that it was" });
        return Ok(*from);
    };
    if *from != Bookmark::Start {
        // The verdict of a sink that wants no more is met again at the first entry.
        let _ = sink.retract(whole);
    }
    let _ = send_to_sink(path, &text, &history, sink);
    Ok(bookmark)
}

fn send_to_sink(path: &Path, text: &str, history: &WireHistory<'_>, sink: &mut dyn Sink) -> ControlFlow<()> {
    sink.learn(Fact::File(path.to_path_buf()))?;
    sink.learn(Fact::Closing(Closing::Answer(INTERRUPTED_ANSWER)))?;
    sink.learn(Fact::Session(SessionId(history.session_id.to_string())))?;
    let started = history.start_time.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt);
    let model = history.selected_model.as_deref().map(|model| Fact::Model(model.to_owned()));
    for fact in started.into_iter().chain(model) {
        sink.learn(fact)?;
    }
    for raw in &history.chat_messages {
        let offset = (raw.get().as_ptr() as usize - text.as_ptr() as usize) as u64;
        let length = u32::try_from(raw.get().len()).unwrap_or(u32::MAX);
        let key = EntryKey { file: 0, offset, part: 0, length };
        let Some(entries) = read_entries(raw.get(), key) else {
            sink.reject(RejectedRecord { key, reason: "a field has another type than it had" })?;
            continue;
        };
        for entry in entries {
            if let (Body::Prompt(parts), Origin::User) = (&entry.body, entry.origin)
                && let Some(title) = first_prompt_title(parts)
            {
                sink.learn(title)?;
            }
            sink.put(entry)?;
        }
    }
    ControlFlow::Continue(())
}

/// The entries of one message.
pub(super) fn read_entries(text: &str, key: EntryKey) -> Option<Vec<Entry>> {
    let message: WireChat = serde_json::from_str(text).ok()?;
    let entry = |(part, (origin, body)): (usize, (Origin, Body))| {
        let key = EntryKey { part: u16::try_from(part).unwrap_or(u16::MAX), ..key };
        Entry { key, at: None, origin, side: false, node: None, body }
    };
    Some(message_bodies(message).into_iter().enumerate().map(entry).collect())
}

fn message_bodies(message: WireChat) -> Vec<(Origin, Body)> {
    let parts = message.content.map(content_parts).unwrap_or_default();
    let mut bodies = Vec::new();
    match message.role.as_str() {
        "user" => {
            let parts: Vec<Part> = parts.into_iter().filter_map(strip_reminder).collect();
            if !parts.is_empty() {
                bodies.push((Origin::User, Body::Prompt(parts)));
            }
        }
        "assistant" => {
            if !parts.is_empty() {
                bodies.push((Origin::Agent, Body::Reply(parts)));
            }
            bodies.extend(message.tool_calls.into_iter().filter_map(call_body).map(|call| (Origin::Agent, call)));
        }
        "tool" => {
            let call = CallId(message.tool_call_id.unwrap_or_default().into());
            let exit_code = exit_code_in_text(&text_of(&parts));
            let status = if exit_code.is_none_or(|code| code == 0) { Status::Done } else { Status::Failed };
            let outcome = Outcome { call, status, exit_code, parts };
            bodies.push((Origin::Agent, Body::Outcome(Box::new(outcome))));
        }
        _ => {}
    }
    if bodies.is_empty() {
        bodies.push((Origin::Harness, Body::unknown(format!("chat/{}", message.role))));
    }
    bodies
}

fn call_body(call: WireChatCall) -> Option<Body> {
    let form = if call.function.is_some() { CallForm::Function } else { CallForm::Freeform };
    let WireFunction { name, arguments } = call.function.or(call.custom)?;
    let spoken = || Json::from_value(&serde_json::Value::String(arguments.clone()));
    let input = if form == CallForm::Function { Json::parse(&arguments) } else { None };
    let input = input.unwrap_or_else(spoken);
    Some(Body::Call(Box::new(Call { id: CallId(call.id.into()), tool: name, input, form })))
}

fn content_parts(content: WireContent) -> Vec<Part> {
    match content {
        WireContent::Text(text) if text.is_empty() => Vec::new(),
        WireContent::Text(text) => vec![Part::Text(text)],
        WireContent::Parts(parts) => parts.into_iter().filter_map(read_part).collect(),
    }
}

fn read_part(part: WirePart) -> Option<Part> {
    if let Some(text) = part.text {
        return Some(Part::Text(text));
    }
    let url = part.image_url?.url;
    let (media_type, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(Part::Blob(Blob {
        media_type: media_type.to_owned(),
        name: None,
        location: BlobLocation::Inline(data.into()),
    }))
}

/// The client's reminders to its model stand around the user's words.
fn strip_reminder(part: Part) -> Option<Part> {
    let Part::Text(text) = part else { return Some(part) };
    let words = prompt::split_blocks(&text).0.trim();
    (!words.is_empty()).then(|| Part::Text(words.to_owned()))
}

fn digest_text(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The file of a record, where it is such a document.
pub(super) fn is_in_document(files: &[PathBuf], key: EntryKey) -> bool {
    files.get(usize::from(key.file)).is_some_and(|path| is_document(path))
}
