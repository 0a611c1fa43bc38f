//! Reads a session: what its file continues, then the file itself.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Closing, Entry, EntryKey, Fact, Header, Origin, Part, TitleRank};

use super::base::{self, Base};
use super::record::{self, Parsed};
use super::{Codex, item, rollout, titles};
use crate::formats::jsonl::{self, Line};
use crate::{AgentError, Bookmark, Reader, Sink, Source};

/// The answer that the client gives to a call without an outcome when it resumes.
const ANSWER: &str = "aborted";

impl Reader for Codex {
    fn near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        Ok(jsonl::mark_near_end(&source.path, jsonl::digest_head)?)
    }

    fn read(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let path = &source.path;
        let mut merge = Merge { sink, own: path.clone(), titled: false, end: None };
        let offset = match *from {
            Bookmark::Start | Bookmark::Rows { .. } => {
                merge.learn(Fact::File(path.clone()));
                merge.learn(Fact::Closing(Closing::Answer(ANSWER)));
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
        let bases = if offset == 0 { base::chain(path, &rollout::around(path)?)? } else { Vec::new() };
        if *from == Bookmark::Start {
            for base in &bases {
                merge.learn(Fact::File(base.path.clone()));
            }
        }
        let begins = merge.bases(&bases)?;
        let end = merge.file(path, offset, Stretch { file: 0, base: None, begins })?;
        if let Some(title) = given_title(path) {
            merge.learn(Fact::Title(TitleRank::Given, title));
        }
        Ok(jsonl::mark(path, end, jsonl::digest_head)?)
    }

    fn reload(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        let path = file_of(header, key)?;
        let text = jsonl::read_record_at(path, key.offset, u64::from(key.length))?;
        let line = Line::whole(key.offset, text.as_bytes());
        match record::parse(line, key.file, jsonl::is_compressed(path)) {
            Some(parsed) if parsed.rejected.is_none() => Ok(parsed.entries),
            _ => Err(AgentError::Moved { path: path.to_owned(), offset: key.offset }),
        }
    }

    fn record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        Ok(jsonl::read_record_at(file_of(header, key)?, key.offset, u64::from(key.length))?)
    }
}

/// The file that a key points into.
fn file_of(header: &Header, key: EntryKey) -> Result<&Path, AgentError> {
    let path = header.files.get(usize::from(key.file));
    path.map(PathBuf::as_path).ok_or(AgentError::NotASession {
        agent: "codex",
        path: PathBuf::new(),
        reason: "the header lists no such file",
    })
}

/// Takes what the lines hold to the sink.
struct Merge<'a> {
    sink: &'a mut dyn Sink,
    /// The session's own file, beside which those of sub-agents are.
    own: PathBuf,
    /// Whether the first prompt has been met.
    titled: bool,
    /// The end of the last record that the sink took, once it wants no more.
    end: Option<u64>,
}

/// One file's part in a session.
#[derive(Clone, Copy)]
struct Stretch<'a> {
    file: u16,
    /// Set where another file continues it.
    base: Option<&'a Base>,
    /// Whether it is the session's first file.
    begins: bool,
}

impl Stretch<'_> {
    /// Who it is, the session's own file tells; settings stay as they were until it has its first turn.
    fn tells(&self, fact: &Fact) -> bool {
        match fact {
            Fact::StartedAt(_) => self.begins,
            Fact::Model(_) | Fact::Permission(_) => true,
            _ => self.base.is_none(),
        }
    }
}

impl Merge<'_> {
    /// A sink that wants no more says so again at the next entry, so the answer may be passed over here.
    fn learn(&mut self, fact: Fact) {
        let _: ControlFlow<()> = self.sink.learn(fact);
    }

    /// Reads what a file continues, oldest first; whether the session itself begins only in the file.
    ///
    /// The file is number 0, so those before it count up.
    fn bases(&mut self, bases: &[Base]) -> Result<bool, AgentError> {
        let mut begins = true;
        for (index, base) in bases.iter().enumerate().rev() {
            let file = u16::try_from(index + 1).unwrap_or(u16::MAX);
            self.file(&base.path, 0, Stretch { file, base: Some(base), begins: begins && base.is_own })?;
            begins &= !base.is_own;
        }
        Ok(begins)
    }

    /// Reads one file from an offset on; a base ends where it was left.
    fn file(&mut self, path: &Path, offset: u64, stretch: Stretch<'_>) -> Result<u64, AgentError> {
        let compressed = jsonl::is_compressed(path);
        let end = jsonl::scan_records(
            path,
            offset,
            |line| record::parse(line, stretch.file, compressed),
            |parsed| match stretch.base {
                Some(base) if base.is_beyond(parsed.ordinal, parsed.key.offset) => ControlFlow::Break(()),
                _ => self.take(parsed, stretch),
            },
        )?;
        Ok(self.end.unwrap_or(end))
    }

    fn take(&mut self, parsed: Parsed, stretch: Stretch<'_>) -> ControlFlow<()> {
        let end = parsed.key.offset + u64::from(parsed.key.length) + 1;
        let taken = self.take_all(parsed, stretch);
        if taken.is_break() {
            self.end = Some(end);
        }
        taken
    }

    fn take_all(&mut self, parsed: Parsed, stretch: Stretch<'_>) -> ControlFlow<()> {
        if let Some(rejected) = parsed.rejection() {
            self.sink.reject(rejected)?;
        }
        for fact in parsed.facts {
            if stretch.tells(&fact) {
                self.sink.learn(fact)?;
            }
        }
        for entry in parsed.entries {
            if let (false, Origin::User, Body::Prompt(parts)) = (self.titled, entry.origin, &entry.body)
                && let Some(title) = item::title_of(parts)
            {
                self.titled = true;
                self.sink.learn(Fact::Title(TitleRank::FirstPrompt, title))?;
            }
            if let Some(path) = child_in(&entry.body, &self.own) {
                self.sink.learn(Fact::Child(path))?;
            }
            self.sink.put(entry)?;
        }
        ControlFlow::Continue(())
    }
}

/// The file of a sub-agent, from the answer to the call that made it: `{"agent_id":"…","nickname":"…"}`.
fn child_in(body: &Body, own: &Path) -> Option<PathBuf> {
    let Body::Outcome(outcome) = body else { return None };
    let [Part::Text(text)] = &outcome.parts[..] else { return None };
    let id = text.strip_prefix(r#"{"agent_id":""#)?.split('"').next()?;
    let files = rollout::around(own).ok()?;
    let of_child: Vec<&PathBuf> = files.iter().filter(|path| rollout::session_in(path) == Some(id)).collect();
    base::current(&of_child).cloned()
}

fn is_same_file(path: &Path, offset: u64, head: u64) -> Result<bool, AgentError> {
    let shorter = !jsonl::is_compressed(path) && fs_err::metadata(path)?.len() < offset;
    Ok(!shorter && jsonl::digest_head(path, offset)? == head)
}

fn given_title(path: &Path) -> Option<String> {
    titles::all(rollout::root_of(path)?).remove(rollout::session_in(path)?)
}
