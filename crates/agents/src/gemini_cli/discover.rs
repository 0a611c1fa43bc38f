//! Listing sessions from the heads and tails of their files.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use carryover_core::transcript::{Body, Origin, SessionId};

use super::GeminiCli;
use super::project::{self, ProjectRegister};
use super::record::{self, ConversationChange, Message, ParsedRecord};
use super::wire::WireSession;
use crate::formats::jsonl::{self, EndsScan};
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Store};

/// How much of the beginning is looked at; the first record can hold a tree of the project.
const HEAD_BYTES: u64 = 40 << 10;
/// How much of the end.
const TAIL_BYTES: u64 = 20 << 10;

impl Discovery for GeminiCli {
    fn recognises(&self, _path: &Path, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(&head[..head.len().min(2_048)]);
        text.trim_start().starts_with('{') && text.contains("\"sessionId\"") && text.contains("\"projectHash\"")
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let projects = store.root.join("tmp");
        let mut unopened = UnopenedFiles::default();
        let register = ProjectRegister::load(&store.root);
        for folder in unopened.ok_or_note(fs_err::read_dir(&projects)).into_iter().flatten() {
            let folder = folder?.path();
            let Some(files) = unopened.ok_or_note(fs_err::read_dir(folder.join("chats"))) else { continue };
            let files = files.filter_map(Result::ok).map(|entry| entry.path());
            let project = project::find_by_folder(&register, &folder);
            let mut sessions: BTreeMap<SessionId, FoundSession> = BTreeMap::new();
            for path in files.filter(|path| is_session_file(path)) {
                if !unopened.can_read(&path) {
                    continue;
                }
                let Some(mut session) = unopened.ok_or_note(scan_session(&path)).flatten() else { continue };
                session.project = project.clone().or(session.project);
                keep_newest(&mut sessions, session);
            }
            for session in sessions.into_values() {
                if found(session).is_break() {
                    return Ok(());
                }
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        let looked = if is_session_file(file) { scan_session(file)? } else { None };
        let Some(mut session) = looked else { return Ok(Vec::new()) };
        let folder = file.parent().and_then(Path::parent);
        let project = folder.and_then(|folder| project::find_by_folder(&ProjectRegister::load(&store.root), folder));
        session.project = project.or(session.project);
        Ok(vec![session])
    }
}

fn is_session_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let ends = name.ends_with(".jsonl") || name.ends_with(".json");
    name.starts_with("session-") && ends
}

/// A session of the older form is copied into the newer one when it is resumed; both stay, under one id.
fn keep_newest(sessions: &mut BTreeMap<SessionId, FoundSession>, session: FoundSession) {
    let rank =
        |found: &FoundSession| (found.updated_at, found.source.path.extension().is_some_and(|end| end == "jsonl"));
    match sessions.get(&session.id) {
        Some(known) if rank(known) >= rank(&session) => {}
        _ => {
            sessions.insert(session.id.clone(), session);
        }
    }
}

/// Looks at the two ends of a file. A sub-agent's is not listed, nor one in which nothing was said: the client leaves
/// such a file behind whenever it resumes.
fn scan_session(path: &Path) -> io::Result<Option<FoundSession>> {
    let metadata = fs_err::metadata(path)?;
    let ends = if path.extension().is_some_and(|extension| extension == "json") {
        let ends = look_at_document(&jsonl::read_head(path, HEAD_BYTES)?);
        ends.is_session(metadata.len() <= HEAD_BYTES).then_some(ends)
    } else {
        EndsScan::read(path, &metadata, HEAD_BYTES, TAIL_BYTES, |ends, line| {
            if ends.known == 0 {
                ends.is_sub_agent |= is_sub_agent(line.bytes);
            }
            if let Some(parsed) = record::parse_record(line) {
                scan_record(ends, parsed);
            }
        })?
    };
    let Some(ends) = ends else { return Ok(None) };
    let named = Some(ends.header.session.clone()).filter(|session| !session.0.is_empty());
    let stem = path.file_stem().map(|stem| SessionId(stem.to_string_lossy().into_owned()));
    Ok(named.or(stem).map(|id| ends.into_found(path, &metadata, id)))
}

/// A document that is longer than what was looked at is known by its first fields.
fn look_at_document(head: &[u8]) -> EndsScan {
    let mut ends = EndsScan::default();
    let text = String::from_utf8_lossy(head);
    let parsed = record::parse_document(&text);
    if parsed.known {
        scan_record(&mut ends, parsed);
        return ends;
    }
    let Some((fields, _)) = text.split_once("\"messages\"") else {
        ends.unknown += 1;
        return ends;
    };
    let fields = format!("{}}}", fields.trim_end().trim_end_matches(','));
    scan_record(&mut ends, record::parse_document(&fields));
    ends.has_messages = true;
    ends
}

fn scan_record(ends: &mut EndsScan, parsed: ParsedRecord) {
    let messages: &[Message] = match &parsed.change {
        ConversationChange::Message(message) => std::slice::from_ref(message),
        ConversationChange::Messages(list) => list,
        ConversationChange::Nothing | ConversationChange::RewindTo(_) => &[],
    };
    let hollow = messages.iter().filter(|message| is_unknown_or_empty(message)).count();
    if parsed.known && (hollow == 0 || hollow < messages.len()) {
        ends.known += 1;
    } else {
        ends.unknown += hollow.max(1);
    }
    let entries = || messages.iter().flat_map(|message| &message.entries).chain(&parsed.entry);
    ends.has_messages |= entries().any(|entry| {
        let is_silent = matches!(entry.body, Body::Opaque(_) | Body::Note(_) | Body::Failure(_));
        !is_silent && entry.origin != Origin::Harness
    });
    ends.add_facts(entries().filter_map(|entry| entry.at), parsed.facts);
}

/// A message of a kind that we do not know, or without anything in it: its fields may have other names now.
fn is_unknown_or_empty(message: &Message) -> bool {
    message
        .entries
        .iter()
        .all(|entry| matches!(&entry.body, Body::Opaque(opaque) if !matches!(opaque.name(), "info" | "warning")))
}

fn is_sub_agent(line: &[u8]) -> bool {
    let session = serde_json::from_slice::<WireSession<'_>>(line);
    session.is_ok_and(|session| session.session_id.is_some() && session.role.as_deref() == Some("subagent"))
}
