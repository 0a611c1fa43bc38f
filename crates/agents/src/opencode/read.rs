//! Reading a session.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::transcript::{
    Begin, Body, Closing, Entry, EntryKey, Fact, Header, Origin, SessionId, TitleRank, text_of,
};

use super::OpenCode;
use super::export::{self, Exported};
use super::folders::Folders;
use super::pile::{Parser, Pile};
use super::record::{self, Parsed};
use super::rows::Rows;
use super::stored_session::{Head, Message, Session, StoredSession, Weight};
use super::thread::{self, Fate};
use super::wire::{WireInfo, WireModel, WireRule, lenient};
use crate::formats::{file, ids, inside, jsonl, lanes, sqlite};
use crate::{AgentError, Bookmark, Reader, Sink, Source};

/// What the client answers a call with that has no outcome.
const INTERRUPTED: &str = "[Tool execution was interrupted]";

impl Reader for OpenCode {
    fn near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        const FEW: usize = 8;
        open(source, &mut |kept, _| {
            let Some(session) = kept.session()? else { return Ok(None) };
            let mut heads = kept.heads()?;
            kept.weigh(&mut heads)?;
            let fates = thread::fates(kept, &session, &heads)?;
            let count = heads.len().saturating_sub(FEW);
            Ok(Some(mark(&session, &heads[..count], &fates)))
        })
    }

    fn read(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let mut begun = false;
        open(source, &mut |kept, path| {
            if begun && sink.retract_all().is_break() {
                return Ok(Some(*from));
            }
            let is_first = !begun && *from == Bookmark::Start;
            let from = if begun { &Bookmark::Start } else { from };
            begun = true;
            let Some(session) = kept.session()? else { return Ok(None) };
            Pour { kept, session: &session, path, sink: &mut *sink, is_first, is_titled: false, model: None }
                .pour(from)
                .map(Some)
        })
    }

    fn reload(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        open(&inside::source_of(header), &mut |kept, _| {
            let Some(session) = kept.session()? else { return Ok(None) };
            let Some(found) = kept.message(key.offset)? else { return Ok(None) };
            let heads = kept.heads()?;
            let fates = thread::fates(kept, &session, &heads)?;
            let fate = heads.iter().zip(fates).find(|(head, _)| head.message.id == found.message.id);
            Ok(fate.map(|(_, fate)| record::parse(found.as_message(), &fate, &mut Parser::default()).entries))
        })
        .map_err(|error| inside::moved(error, key))
    }

    fn record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        let record = open(&inside::source_of(header), &mut |kept, _| {
            let Some(found) = kept.message(key.offset)? else { return Ok(None) };
            // What was taken back of it is no longer part of it.
            let revert = kept.session()?.and_then(|session| session.revert);
            let revert = revert.filter(|revert| revert.message == found.message.id).and_then(|revert| revert.part);
            let message = found.as_message();
            let message = revert.map_or(message, |part| message.before(&part));
            Ok(Some(message.to_record()))
        });
        let gone = || AgentError::Moved { path: inside::source_of(header).path, offset: key.offset };
        let record = record.map_err(|error| inside::moved(error, key))?.ok_or_else(gone)?;
        Ok(record.to_string())
    }

    fn is_unknown(&self, body: &Body) -> bool {
        matches!(body, Body::Opaque(kind) if kind == "unknown" || kind.starts_with("message "))
    }
}

/// What is looked for in what holds a session; `None` means that the session is not there.
type Look<'a, T> = dyn FnMut(&dyn StoredSession, &Path) -> rusqlite::Result<Option<T>> + 'a;

/// Opens what holds a session.
fn open<T>(source: &Source, look: &mut Look<'_, T>) -> Result<T, AgentError> {
    let (path, key) = inside::split(source);
    let refuse = |reason| AgentError::NotASession { agent: "opencode", path: path.clone(), reason };
    if is_file_of_its_own(&path)? {
        let kept: Box<dyn StoredSession> = if let Some(folders) = Folders::of(&path) {
            Box::new(folders)
        } else {
            let text = file::read_text(&path, file::MAX_DOCUMENT)?;
            Box::new(Exported::parse(&text).ok_or_else(|| refuse("it is no whole export"))?)
        };
        let found = look(&*kept, &path).map_err(|source| AgentError::Database { path: path.clone(), source })?;
        return found.ok_or_else(|| refuse("it cannot be read"));
    }
    let found = sqlite::look(&path, &mut |connection| match Rows::of(connection, key.as_deref())? {
        Some(rows) => look(&rows, &path),
        None => Ok(None),
    })?;
    found.ok_or_else(|| refuse("no such session is in it"))
}

fn is_file_of_its_own(path: &Path) -> Result<bool, AgentError> {
    let head = jsonl::read_head(path, 1024)?;
    let text = String::from_utf8_lossy(&head);
    Ok(!sqlite::is_database(&head) && export::without_status(&text).trim_start().starts_with('{'))
}

/// Hands a session over.
struct Pour<'a> {
    kept: &'a dyn StoredSession,
    session: &'a Session,
    path: &'a Path,
    sink: &'a mut dyn Sink,
    /// The sink knows nothing yet.
    is_first: bool,
    /// A prompt has given it a title.
    is_titled: bool,
    /// The model of the last message of the agent's.
    model: Option<String>,
}

impl Pour<'_> {
    fn pour(mut self, from: &Bookmark) -> rusqlite::Result<Bookmark> {
        let mut heads = self.kept.heads()?;
        // Who reads all of it learns what the parts weigh on the way.
        let is_weighed = *from != Bookmark::Start;
        if is_weighed {
            self.kept.weigh(&mut heads)?;
        }
        let fates = thread::fates(self.kept, self.session, &heads)?;
        let start = match self.start(from, &heads, &fates) {
            ControlFlow::Continue(start) => start,
            ControlFlow::Break(()) => return Ok(*from),
        };
        if self.begin(&heads).is_break() {
            return Ok(mark(self.session, &heads[..start], &fates));
        }
        let (handed, weights) = self.messages(&heads[start..], &fates[start..])?;
        if !is_weighed {
            heads.iter_mut().zip(&weights).for_each(|(head, weight)| head.weigh(weight.as_ref()));
        }
        Ok(mark(self.session, &heads[..start + handed], &fates))
    }

    /// Hands messages over. They are taken from where they are kept here, and parsed in lanes. Tells how many the sink
    /// took, and the weights of all that were looked at.
    fn messages(&mut self, heads: &[Head], fates: &[Fate]) -> rusqlite::Result<(usize, Vec<Option<Weight>>)> {
        let mut stack = Stack { kept: self.kept, heads, weights: Vec::with_capacity(heads.len()) };
        let mut failed = Ok(());
        let mut handed = 0;
        // Piles that were worked off serve again.
        let spare: RefCell<Vec<Batch>> = RefCell::default();
        let next = || {
            let batch = spare.borrow_mut().pop().unwrap_or_default();
            stack.next(batch).unwrap_or_else(|error| {
                failed = Err(error);
                None
            })
        };
        let past = self.past(heads, fates);
        let work = |batch: Batch| (batch.parse(heads, fates, past), batch);
        let merge = |(parsed, batch): (Vec<Parsed>, Batch)| {
            spare.borrow_mut().push(batch);
            for message in parsed {
                self.hand_over(message, handed < past)?;
                handed += 1;
            }
            ControlFlow::Continue(())
        };
        lanes::in_order(next, work, merge);
        failed?;
        Ok((handed, stack.weights))
    }

    /// How many of these messages are history: all before the last that begins the context anew, where the past is not
    /// wanted. What that one keeps is read again when it is needed.
    fn past(&self, heads: &[Head], fates: &[Fate]) -> usize {
        let is_barrier = |(head, fate): (&Head, &Fate)| fate.barrier.is_some() && info(head).is_some();
        let last = if self.sink.wants_the_past() { None } else { heads.iter().zip(fates).rposition(is_barrier) };
        last.filter(|count| *count >= WORTH_PASSING_OVER).unwrap_or(0)
    }

    /// Where to start: after what was read, or anew where any of that is not what it was.
    fn start(&mut self, from: &Bookmark, heads: &[Head], fates: &[Fate]) -> ControlFlow<(), usize> {
        let count = match *from {
            Bookmark::Start => return ControlFlow::Continue(0),
            Bookmark::Rows { count, .. } => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                let read = heads.get(..count);
                read.filter(|read| mark(self.session, read, fates) == *from).map(<[Head]>::len)
            }
            Bookmark::Appended { .. } => None,
        };
        match count {
            Some(count) => ControlFlow::Continue(count),
            None => self.sink.retract_all().map_continue(|()| 0),
        }
    }

    fn begin(&mut self, heads: &[Head]) -> ControlFlow<()> {
        let session = self.session;
        self.sink.learn(Fact::Session(SessionId(session.id.clone())))?;
        self.sink.learn(Fact::Closing(Closing::Answer(INTERRUPTED)))?;
        let mut facts = Vec::new();
        if self.is_first {
            facts.push(Fact::File(self.path.to_owned()));
            facts.extend(session.children.iter().map(|child| Fact::Child(self.path.join(child))));
        }
        facts.extend(session.created.map(Fact::StartedAt));
        facts.extend(session.directory.as_deref().map(|path| Fact::Project(PathBuf::from(path))));
        facts.extend(title(session).map(|title| Fact::Title(TitleRank::Generated, title)));
        facts.extend(session.version.clone().map(Fact::ClientVersion));
        facts.extend(session.parent.clone().map(|parent| Fact::Parent(SessionId(parent))));
        facts.extend(model(session, heads).map(Fact::Model));
        facts.extend(begun(session, heads).into_iter().map(Fact::Begun));
        facts.into_iter().try_for_each(|fact| self.sink.learn(fact))
    }

    fn hand_over(&mut self, parsed: Parsed, is_past: bool) -> ControlFlow<()> {
        for rejected in parsed.rejected {
            self.sink.reject(rejected)?;
        }
        if let Some(model) = parsed.model.filter(|model| self.model.as_ref() != Some(model)) {
            self.model = Some(model.clone());
            self.sink.learn(Fact::UsedModel(model))?;
        }
        for mut entry in parsed.entries {
            // The first prompt decides: the others need not be looked at.
            if let (Body::Prompt(parts), Origin::User, false) = (&entry.body, entry.origin, self.is_titled) {
                let first = one_line(&text_of(parts), 200);
                if !first.is_empty() {
                    self.is_titled = true;
                    self.sink.learn(Fact::Title(TitleRank::FirstPrompt, first))?;
                }
            }
            if is_past {
                entry.reduce();
            }
            self.sink.put(entry)?;
        }
        ControlFlow::Continue(())
    }
}

/// Fewer messages than this are read whole, whoever reads them: the end of a session is looked at for what happened.
const WORTH_PASSING_OVER: usize = 64;

/// How much is parsed at a time: enough to be worth a thread's waking, and little enough that some of it fits in memory.
const BATCH: usize = 256 << 10;

/// Messages with their parts.
#[derive(Default)]
struct Batch {
    /// The first of them.
    first: usize,
    parts: Pile,
    /// Where the parts of each message end.
    ends: Vec<usize>,
}

impl Batch {
    /// What the messages say; those before some index are passed over.
    fn parse(&self, heads: &[Head], fates: &[Fate], past: usize) -> Vec<Parsed> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, end)| start..*end);
        let mut parser = Parser::default();
        let messages = ranges.enumerate().map(|(index, range)| {
            let index = self.first + index;
            let message = Message::new(&heads[index].message, &self.parts, range);
            let parse = if index < past { record::pass_over } else { record::parse };
            parse(message, &fates[index], &mut parser)
        });
        messages.collect()
    }
}

/// The messages that are still to be read.
struct Stack<'a> {
    kept: &'a dyn StoredSession,
    heads: &'a [Head],
    /// What the parts of those that were read weigh.
    weights: Vec<Option<Weight>>,
}

impl Stack<'_> {
    fn next(&mut self, mut batch: Batch) -> rusqlite::Result<Option<Batch>> {
        batch.first = self.weights.len();
        batch.parts.clear(2 * BATCH);
        batch.ends.clear();
        for head in &self.heads[batch.first..] {
            self.weights.push(self.kept.parts(&head.message.id, &mut batch.parts)?);
            batch.ends.push(batch.parts.len());
            if batch.parts.size() >= BATCH {
                break;
            }
        }
        Ok((!batch.ends.is_empty()).then_some(batch))
    }
}

/// Where a reader is who has read these messages.
fn mark(session: &Session, read: &[Head], fates: &[Fate]) -> Bookmark {
    let digest = read.iter().zip(fates).fold(ids::digest(&session.id), |digest, (head, fate)| {
        fate.digest_on(ids::digest_on(digest, &head.stamp.to_le_bytes()))
    });
    Bookmark::Rows { count: read.len() as u64, digest }
}

/// The title that a session got; the client gives each one with a date to begin with.
pub(super) fn title(session: &Session) -> Option<String> {
    let title = one_line(session.title.as_deref()?, 200);
    let is_given = !title.is_empty() && !title.starts_with("New session - ") && !title.starts_with("Child session - ");
    is_given.then_some(title)
}

fn info(head: &Head) -> Option<WireInfo<'_>> {
    serde_json::from_str(head.message.as_part().record.ok()?).ok()
}

/// How it was begun: as which of the client's agents, and with which rules of its own.
fn begun(session: &Session, heads: &[Head]) -> Vec<Begin> {
    let agent = heads.first().and_then(info).and_then(|info| info.agent);
    let mode = agent.map(|agent| Begin::PermissionMode(agent.to_string()));
    let rule = |rule: &WireRule| format!("{} {} {}", rule.action, rule.permission, rule.pattern);
    let rules = session.rules.as_ref().map(|rules| Begin::PermissionRules(rules.iter().map(rule).collect()));
    mode.into_iter().chain(rules).collect()
}

/// The model of the last message.
fn model(session: &Session, heads: &[Head]) -> Option<String> {
    let of = |head: &Head| {
        let info = info(head)?;
        let told = info.model_id.map(|id| id.to_string());
        told.or_else(|| lenient::<WireModel>(info.model).map(|model| model.model))
    };
    let last = heads.iter().rev().take(10).find_map(of);
    last.or_else(|| session.model.as_ref().map(|model| model.model.clone()))
}
