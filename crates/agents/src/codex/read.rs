//! Reads a session: what its file continues, then the file itself.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Closing, Entry, EntryKey, Fact, Header, Origin, Part, TitleRank};

use super::base::{self, BaseFile};
use super::record::{self, ParsedRecord};
use super::{Codex, item, rollout, titles};
use crate::formats::jsonl::{self, Line};
use crate::{AgentError, Bookmark, Reader, Sink, Source};

/// The answer that the client gives to a call without an outcome when it resumes.
const ABORTED_ANSWER: &str = "aborted";

impl Reader for Codex {
    fn bookmark_near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        Ok(jsonl::bookmark_near_end(&source.path, jsonl::digest_head)?)
    }

    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = &source.path;
        let mut merge = SessionReader { sink, own: path.clone(), has_title: false, end: None };
        let offset = match *from {
            Bookmark::Start | Bookmark::Rows { .. } => {
                merge.learn_fact(Fact::File(path.clone()));
                merge.learn_fact(Fact::Closing(Closing::Answer(ABORTED_ANSWER)));
                0
            }
            Bookmark::Appended { offset, head } if is_same_file(path, offset, head)? => offset,
            Bookmark::Appended { .. } => {
                if merge.sink.retract_all().is_break() {
                    return Ok(*from);
                }
                0
            }
        };
        let bases = if offset == 0 { base::find_bases(path, &rollout::list_around(path)?)? } else { Vec::new() };
        if *from == Bookmark::Start {
            for base in &bases {
                merge.learn_fact(Fact::File(base.path.clone()));
            }
        }
        let begins = merge.read_bases(&bases)?;
        let end = merge.read_file(path, offset, FilePart { file: 0, base: None, begins })?;
        if let Some(title) = given_title(path) {
            merge.learn_fact(Fact::Title(TitleRank::Given, title));
        }
        Ok(jsonl::make_bookmark(path, end, jsonl::digest_head)?)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let path = file_for_key(header, key)?;
        let text = jsonl::read_record_at(path, key.offset, u64::from(key.length))?;
        let line = Line::from_bytes(key.offset, text.as_bytes());
        match record::parse(line, key.file, jsonl::is_compressed(path)) {
            Some(parsed) if parsed.rejected.is_none() => Ok(parsed.entries),
            _ => Err(AgentError::Moved { path: path.to_owned(), offset: key.offset }),
        }
    }

    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        Ok(jsonl::read_record_at(file_for_key(header, key)?, key.offset, u64::from(key.length))?)
    }
}

/// The file that a key points into.
fn file_for_key(header: &Header, key: EntryKey) -> Result<&Path, AgentError> {
    let path = header.files.get(usize::from(key.file));
    path.map(PathBuf::as_path).ok_or(AgentError::NotASession {
        agent: "codex",
        path: PathBuf::new(),
        reason: "the header lists no such file",
    })
}

/// Takes what the lines hold to the sink.
struct SessionReader<'a> {
    sink: &'a mut dyn Sink,
    /// The session's own file, beside which those of sub-agents are.
    own: PathBuf,
    /// Whether the first prompt has been met.
    has_title: bool,
    /// The end of the last record that the sink took, once it wants no more.
    end: Option<u64>,
}

/// One file's part in a session.
#[derive(Clone, Copy)]
struct FilePart<'a> {
    file: u16,
    /// Set where another file continues it.
    base: Option<&'a BaseFile>,
    /// Whether it is the session's first file.
    begins: bool,
}

impl FilePart<'_> {
    /// Who it is, the session's own file tells; settings stay as they were until it has its first turn.
    fn accepts_fact(&self, fact: &Fact) -> bool {
        match fact {
            Fact::StartedAt(_) => self.begins,
            Fact::Model(_) | Fact::Permission(_) => true,
            _ => self.base.is_none(),
        }
    }
}

impl SessionReader<'_> {
    /// A sink that wants no more says so again at the next entry, so the answer may be passed over here.
    fn learn_fact(&mut self, fact: Fact) {
        let _: ControlFlow<()> = self.sink.learn(fact);
    }

    /// Reads what a file continues, oldest first; whether the session itself begins only in the file.
    ///
    /// The file is number 0, so those before it count up.
    fn read_bases(&mut self, bases: &[BaseFile]) -> Result<bool, AgentError> {
        let mut begins = true;
        for (index, base) in bases.iter().enumerate().rev() {
            let file = u16::try_from(index + 1).unwrap_or(u16::MAX);
            self.read_file(&base.path, 0, FilePart { file, base: Some(base), begins: begins && base.is_own })?;
            begins &= !base.is_own;
        }
        Ok(begins)
    }

    /// Reads one file from an offset on; a base ends where it was left.
    fn read_file(&mut self, path: &Path, offset: u64, stretch: FilePart<'_>) -> Result<u64, AgentError> {
        let compressed = jsonl::is_compressed(path);
        let end = jsonl::scan_records(
            path,
            offset,
            |line| record::parse(line, stretch.file, compressed),
            |parsed| match stretch.base {
                Some(base) if base.ends_before(parsed.ordinal, parsed.key.offset) => ControlFlow::Break(()),
                _ => self.take_record(parsed, stretch),
            },
        )?;
        Ok(self.end.unwrap_or(end))
    }

    fn take_record(&mut self, parsed: ParsedRecord, stretch: FilePart<'_>) -> ControlFlow<()> {
        let end = parsed.key.offset + u64::from(parsed.key.length) + 1;
        let taken = self.pass_to_sink(parsed, stretch);
        if taken.is_break() {
            self.end = Some(end);
        }
        taken
    }

    fn pass_to_sink(&mut self, parsed: ParsedRecord, stretch: FilePart<'_>) -> ControlFlow<()> {
        if let Some(rejected) = parsed.rejected_record() {
            self.sink.reject(rejected)?;
        }
        for fact in parsed.facts {
            if stretch.accepts_fact(&fact) {
                self.sink.learn(fact)?;
            }
        }
        for entry in parsed.entries {
            if let (false, Origin::User, Body::Prompt(parts)) = (self.has_title, entry.origin, &entry.body)
                && let Some(title) = item::make_title(parts)
            {
                self.has_title = true;
                self.sink.learn(Fact::Title(TitleRank::FirstPrompt, title))?;
            }
            if let Some(path) = find_child(&entry.body, &self.own) {
                self.sink.learn(Fact::Child(path))?;
            }
            self.sink.put(entry)?;
        }
        ControlFlow::Continue(())
    }
}

/// The file of a sub-agent, from the answer to the call that made it: `{"agent_id":"…","nickname":"…"}`.
fn find_child(body: &Body, own: &Path) -> Option<PathBuf> {
    let Body::Outcome(outcome) = body else { return None };
    let [Part::Text(text)] = &outcome.parts[..] else { return None };
    let id = text.strip_prefix(r#"{"agent_id":""#)?.split('"').next()?;
    let files = rollout::list_around(own).ok()?;
    let of_child: Vec<&PathBuf> = files.iter().filter(|path| rollout::session_id(path) == Some(id)).collect();
    base::current_file(&of_child).cloned()
}

fn is_same_file(path: &Path, offset: u64, head: u64) -> Result<bool, AgentError> {
    let shorter = !jsonl::is_compressed(path) && fs_err::metadata(path)?.len() < offset;
    Ok(!shorter && jsonl::digest_head(path, offset)? == head)
}

fn given_title(path: &Path) -> Option<String> {
    titles::read_all(rollout::store_root(path)?).remove(rollout::session_id(path)?)
}
