//! Lists a store's sessions from the beginnings and ends of their files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Entry, Fact, Opaque, Origin, SessionId};

use super::base::{self, BaseFile};
use super::meta::WireMeta;
use super::{Codex, item, record, rollout, titles};
use crate::formats::drift;
use crate::formats::file::modified_at;
use crate::formats::jsonl::{self, Line};
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Liveness, Source, Store};

/// How much of a file's beginning and end is looked at.
const END_BYTES: u64 = 32 << 10;

/// How much of the beginning, where the vendor's prompt fills the first lines.
const LONG_HEAD_BYTES: u64 = 256 << 10;

impl Discovery for Codex {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        let by_name = jsonl::is_compressed(path) && rollout::session_id(path).is_some();
        let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        by_name || (WireMeta::parse(first).is_some() && is_rollout(first))
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let titles = titles::read_all(&store.root);
        let mut files = rollout::list_all(&store.root)?;
        let mut unopened = UnopenedFiles::default();
        files.retain(|path| unopened.can_read(path));
        for path in current_files(&files) {
            let looked = inspect_file(path, &files, &store.root, &titles);
            let Some(session) = unopened.ok_or_note(looked).flatten() else { continue };
            if found(session).is_break() {
                return Ok(());
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        // What it was reverted from is for a listing to find.
        let looked = inspect_file(file, &[file.to_owned()], &store.root, &titles::read_all(&store.root))?;
        Ok(looked.into_iter().collect())
    }
}

/// One file for each session: those that it was reverted from are part of it.
fn current_files(files: &[PathBuf]) -> Vec<&PathBuf> {
    let mut sessions: BTreeMap<Option<&str>, Vec<&PathBuf>> = BTreeMap::new();
    for path in files {
        sessions.entry(rollout::session_id(path)).or_default().push(path);
    }
    sessions.values().filter_map(|of_session| base::current_file(of_session)).collect()
}

/// The bare first line of the oldest versions has little that is its own; its instructions are.
fn is_rollout(first: &[u8]) -> bool {
    let has = |name: &[u8]| memchr::memmem::find(first, name).is_some();
    has(br#""session_meta""#) || (has(br#""instructions""#) && !has(br#""type""#))
}

/// The result of reading the beginning and the end of a file.
#[derive(Default)]
struct EndsScan {
    meta: Option<WireMeta>,
    title: Option<String>,
    model: Option<String>,
    project: Option<PathBuf>,
    updated_at: Option<Timestamp>,
    n_known: usize,
    n_unknown: usize,
    spoken: bool,
}

fn inspect_file(
    path: &Path,
    files: &[PathBuf],
    root: &Path,
    titles: &BTreeMap<String, String>,
) -> Result<Option<FoundSession>, AgentError> {
    let metadata = fs_err::metadata(path)?;
    if metadata.len() == 0 {
        return Ok(None);
    }
    let mut glimpse = EndsScan::from_head(&jsonl::read_head(path, END_BYTES)?);
    if (glimpse.meta.is_none() || glimpse.title.is_none()) && metadata.len() > END_BYTES {
        glimpse = EndsScan::from_head(&jsonl::read_head(path, LONG_HEAD_BYTES)?);
    }
    if glimpse.has_drifted() && metadata.len() > END_BYTES {
        glimpse = EndsScan::from_head(&jsonl::read_head(path, drift::CHECK_BYTES)?);
    }
    let of_head = glimpse.updated_at.take();
    glimpse.scan_tail(&jsonl::read_tail(path, END_BYTES)?);
    if glimpse.meta.as_ref().is_some_and(|meta| meta.base.is_some()) {
        // Without its base it cannot be read, but that is no reason to hide it.
        glimpse.read_bases(base::find_bases(path, files).unwrap_or_default())?;
    }
    let drifted = glimpse.has_drifted();
    let meta = glimpse.meta.unwrap_or_default();
    let Some(id) = meta.id.or_else(|| rollout::session_id(path).map(str::to_owned)) else { return Ok(None) };
    if meta.is_hidden || meta.parent.is_some() {
        return Ok(None);
    }
    Ok(Some(FoundSession {
        title: titles.get(&id).cloned().or(glimpse.title),
        project: glimpse.project.or_else(|| meta.cwd.map(PathBuf::from)),
        branch: meta.branch,
        started_at: meta.timestamp.as_deref().and_then(Timestamp::parse),
        // Where the end of the file names no time, its own is nearer than that of the beginning.
        updated_at: glimpse.updated_at.or(modified_at(&metadata)).or(of_head),
        messages: None,
        bytes: metadata.len(),
        model: glimpse.model,
        live: session_liveness(root, &id),
        drifted,
        id: SessionId(id),
        source: Source::file(path),
    }))
}

/// A client that has a session open holds a lock on a file, which it removes when it ends. Whether the lock is held
/// cannot be tested without taking it, which would make the client's own attempt fail; so a file that is there only
/// says that the session may be open.
fn session_liveness(root: &Path, id: &str) -> Liveness {
    let lock = root.join("thread-writer-locks").join(format!("{id}.lock"));
    if lock.exists() { Liveness::Unknown } else { Liveness::NotLive }
}

impl EndsScan {
    fn from_head(head: &[u8]) -> Self {
        let mut glimpse = Self::default();
        let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        glimpse.meta = WireMeta::parse(first);
        if glimpse.meta.is_some() {
            glimpse.n_known = 1;
        }
        for line in jsonl::whole_lines(head) {
            glimpse.scan_line(line.trim_ascii_end());
            if glimpse.title.is_some() && glimpse.model.is_some() {
                break;
            }
        }
        glimpse
    }

    fn has_drifted(&self) -> bool {
        drift::has_drifted(self.n_known, self.n_unknown, self.spoken)
    }

    fn count_record(&mut self, bytes: &[u8], parsed: &record::ParsedRecord) {
        // Items that we do not know have names that none of ours has.
        let is_new = |body: &Body| matches!(body, Body::Opaque(Opaque::Unknown(kind)) if kind.starts_with("item."));
        let all_new = !parsed.entries.is_empty() && parsed.entries.iter().all(|entry| is_new(&entry.body));
        if record::is_known_kind(bytes) && parsed.rejected.is_none() && !all_new {
            self.n_known += 1;
        } else {
            self.n_unknown += 1;
        }
        let silent = |body: &Body| matches!(body, Body::Opaque(_) | Body::Note(_) | Body::Failure(_));
        self.spoken |= parsed.entries.iter().any(|entry| !silent(&entry.body));
    }

    /// The files that a session was reverted from tell how it began, and when. Nearest first, so that the oldest
    /// decides; a fork begins with itself, in the client's own list as well.
    fn read_bases(&mut self, bases: Vec<BaseFile>) -> Result<(), AgentError> {
        for base in bases.into_iter().filter(|base| base.is_own) {
            let end = base.end.end_byte_offset.unwrap_or(LONG_HEAD_BYTES);
            let before = Self::from_head(&jsonl::read_head(&base.path, end.min(LONG_HEAD_BYTES))?);
            self.title = before.title.or(self.title.take());
            if let Some(meta) = &mut self.meta {
                meta.timestamp = base.meta.timestamp;
            }
        }
        Ok(())
    }

    /// The end tells the last settings and the last time; its prompts are not the first.
    fn scan_tail(&mut self, tail: &[u8]) {
        let title = self.title.take();
        jsonl::whole_lines(tail).for_each(|line| self.scan_line(line.trim_ascii_end()));
        self.title = title;
    }

    fn scan_line(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let line = Line::from_bytes(0, bytes);
        let Some(parsed) = record::parse(line, 0, false) else { return };
        self.count_record(bytes, &parsed);
        for fact in parsed.facts {
            match fact {
                Fact::Model(model) => self.model = Some(model),
                Fact::Project(project) => self.project = Some(project),
                _ => {}
            }
        }
        self.updated_at = parsed.entries.iter().filter_map(|entry| entry.at).max().max(self.updated_at);
        if self.title.is_none() {
            self.title = parsed.entries.iter().find_map(prompt_title);
        }
    }
}

fn prompt_title(entry: &Entry) -> Option<String> {
    match &entry.body {
        Body::Prompt(parts) if entry.origin == Origin::User => item::make_title(parts),
        _ => None,
    }
}
