//! Transcripts that the client writes beside its stores, for reading: no results, no times, thoughts at the end of words.

use std::io;
use std::path::{Path, PathBuf};

use carryover_core::json::Json;
use carryover_core::plain::one_line;
use carryover_core::transcript::{
    Body, Call, CallForm, CallId, EntryKey, Fact, Opaque, Origin, Part, SessionId, TitleRank,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::cli::split_user_text;
use super::failure::read_error_text;
use super::lenient::Lenient;
use crate::FoundSession;
use crate::formats::jsonl::{self, EndsScan, Line, ParsedRecord};

const END_BYTES: u64 = 20 << 10;

/// Stands for a thought that only the vendor can read, at the end of the words.
const SEALED_THOUGHT: &str = "[REDACTED]";

#[derive(Deserialize)]
struct WireLine<'a> {
    #[serde(default)]
    role: Lenient<String>,
    #[serde(default, rename = "type")]
    kind: Lenient<String>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    error: Lenient<Value>,
    #[serde(default)]
    status: Lenient<String>,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow, default)]
    content: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct WirePart<'a> {
    #[serde(rename = "type", default)]
    kind: Lenient<String>,
    #[serde(default)]
    text: Lenient<String>,
    #[serde(default)]
    name: Lenient<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

/// What only lines tell.
#[derive(Debug, Default)]
pub(super) struct More {
    /// Whether the line is of a kind that we know.
    pub is_known: bool,
}

/// Whether the first bytes are those of a transcript.
pub(super) fn is_transcript(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    let Ok(line) = serde_json::from_slice::<WireLine<'_>>(line) else { return false };
    let has_content =
        |raw: &RawValue| serde_json::from_str::<WireMessage<'_>>(raw.get()).is_ok_and(|it| !it.content.is_empty());
    // Others wrap messages alike, and say of what kind their line is.
    let is_message = line.kind.0.is_none() && matches!(line.role.0.as_deref(), Some("user" | "assistant"));
    is_message && line.message.is_some_and(has_content)
}

/// Reads a line. `None`: it ends without a line feed and may still be growing.
pub(super) fn parse_line(line: Line<'_>) -> Option<ParsedRecord<More>> {
    jsonl::parse_line(line, 0, |key, line: WireLine<'_>| convert(key, &line))
}

fn convert(key: EntryKey, line: &WireLine<'_>) -> ParsedRecord<More> {
    let mut parsed: ParsedRecord<More> = ParsedRecord::empty(key);
    let bodies = read_line(line, key, &mut parsed.facts);
    parsed.more.is_known = !bodies.iter().any(|(_, body)| body.is_unknown());
    parsed.push_entries(None, false, None, bodies);
    parsed
}

fn read_line(line: &WireLine<'_>, key: EntryKey, facts: &mut Vec<Fact>) -> Vec<(Origin, Body)> {
    let failure = |message: &str| {
        let mut failure = read_error_text(message);
        if line.status.0.as_deref() == Some("aborted") {
            failure.kind = carryover_core::transcript::FailureKind::Interrupted;
        }
        vec![(Origin::Harness, Body::Failure(Box::new(failure)))]
    };
    let message = line.message.and_then(|raw| serde_json::from_str::<WireMessage<'_>>(raw.get()).ok());
    let error = line.error.0.as_ref().map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned));
    match (line.role.0.as_deref(), line.kind.0.as_deref(), message) {
        (Some("user"), _, Some(message)) => user_bodies(&message, facts),
        (Some("assistant"), _, Some(message)) => assistant_bodies(&message, key),
        (_, Some("error"), _) => failure(&error.unwrap_or_default()),
        (_, Some("turn_ended"), _) => match (line.status.0.as_deref(), error) {
            (Some("success"), _) => vec![(Origin::Harness, Body::known("turn_ended"))],
            (status, error) => failure(error.as_deref().or(status).unwrap_or_default()),
        },
        (_, Some("metadata"), _) => vec![(Origin::Harness, Body::known("metadata"))],
        (role, kind, _) => vec![(Origin::Harness, Body::unknown(role.or(kind).unwrap_or_default()))],
    }
}

fn parts<'a>(message: &WireMessage<'a>) -> impl Iterator<Item = WirePart<'a>> + use<'a> {
    let content = message.content.clone();
    content.into_iter().filter_map(|raw| serde_json::from_str(raw.get()).ok())
}

fn user_bodies(message: &WireMessage<'_>, facts: &mut Vec<Fact>) -> Vec<(Origin, Body)> {
    let mut bodies = Vec::new();
    for text in parts(message).filter_map(|part| part.text.0) {
        for piece in split_user_text(&text) {
            let origin = match (piece.is_users, piece.is_attached) {
                (true, _) => Origin::User,
                (false, true) => Origin::Hook,
                (false, false) => Origin::Harness,
            };
            if origin == Origin::User {
                facts.push(Fact::Title(TitleRank::FirstPrompt, one_line(piece.text, 200)));
            }
            bodies.push((origin, Body::Prompt(vec![Part::Text(piece.text.to_owned())])));
        }
    }
    if bodies.is_empty() {
        bodies.push((Origin::Harness, Body::Opaque(Opaque::Wordless)));
    }
    bodies
}

fn assistant_bodies(message: &WireMessage<'_>, key: EntryKey) -> Vec<(Origin, Body)> {
    let mut bodies = Vec::new();
    for (number, part) in parts(message).enumerate() {
        match part.kind.0.as_deref().unwrap_or_default() {
            "text" => bodies.extend(said_body(&part.text.0.unwrap_or_default())),
            "tool_use" => {
                // Calls have no names here; their place is as good.
                let id = CallId(format!("line-{}-{number}", key.offset).into());
                let input = part.input.map_or_else(Json::empty_object, Json::from_raw);
                let call = Call { id, tool: part.name.0.unwrap_or_default(), input, form: CallForm::Function };
                bodies.push((Origin::Agent, Body::Call(Box::new(call))));
            }
            kind => bodies.push((Origin::Harness, Body::unknown(format!("part/{kind}")))),
        }
    }
    if bodies.is_empty() {
        bodies.push((Origin::Harness, Body::known("line/empty")));
    }
    bodies
}

/// Words without the mark of a sealed thought behind them.
fn said_body(text: &str) -> Option<(Origin, Body)> {
    let mut words = text.trim_end();
    while let Some(before) = words.strip_suffix(SEALED_THOUGHT) {
        words = before.trim_end();
    }
    (!words.trim().is_empty()).then(|| (Origin::Agent, Body::Reply(vec![Part::Text(words.to_owned())])))
}

/// A transcript as a listing shows it; one in which nothing was said is none.
pub(super) fn scan_transcript(path: &Path) -> io::Result<Option<FoundSession>> {
    let metadata = fs_err::metadata(path)?;
    let ends = EndsScan::read(path, &metadata, END_BYTES, END_BYTES, |ends, line| {
        let Some(parsed) = parse_line(line) else { return };
        ends.scan_record(parsed.more.is_known, &parsed.entries, parsed.facts);
    })?;
    let id = SessionId(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
    Ok(ends.map(|ends| ends.into_found(path, &metadata, id)))
}

/// The transcripts of every project: in a folder for each session, or, as older clients wrote them, side by side.
pub(super) fn list_transcripts(client: &Path) -> Vec<PathBuf> {
    list_files(client, "jsonl")
}

/// The same of clients before that, which are plain text.
pub(super) fn list_plain_transcripts(client: &Path) -> Vec<PathBuf> {
    list_files(client, "txt")
}

fn list_files(client: &Path, ending: &str) -> Vec<PathBuf> {
    let below = |folder: PathBuf| fs_err::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let projects = below(client.join("projects"));
    let sessions = projects.flat_map(|project| below(project.path().join("agent-transcripts")));
    let file = |path: PathBuf| match path.file_name() {
        Some(name) if path.is_dir() => path.join(name).with_extension(ending),
        _ => path,
    };
    let mut files: Vec<PathBuf> = sessions.map(|session| file(session.path())).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == ending) && fs_err::symlink_metadata(path).is_ok());
    files.sort();
    files
}

/// The transcripts of a session's sub-agents, which stand beside its own.
pub(super) fn list_sub_agents(transcript: &Path) -> Vec<PathBuf> {
    let folder = transcript.with_file_name("subagents");
    let mut files: Vec<PathBuf> =
        fs_err::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    files
}

/// The name of the project's folder that a transcript is in.
pub(super) fn project_folder(transcript: &Path) -> Option<&str> {
    let folder =
        transcript.ancestors().find(|above| above.file_name().is_some_and(|name| name == "agent-transcripts"))?;
    folder.parent()?.file_name()?.to_str()
}
