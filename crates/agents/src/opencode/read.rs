//! Reading a session.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::transcript::{
    Body, Closing, Condition, Entry, EntryKey, Fact, Header, Origin, SessionId, StartSetting, TitleRank, text_of,
};

use super::OpenCode;
use super::export::{self, ExportStorage};
use super::folder_storage::FolderStorage;
use super::message_state::{self, MessageState};
use super::part_buffer::{PartBuffer, PartParser};
use super::record::{self, ParsedMessage};
use super::rows::DatabaseStorage;
use super::stored_session::{Message, MessageHead, PartsSummary, Session, StoredSession};
use super::wire::{WireInfo, WireModel, WireRule, parse_lenient};
use crate::formats::{file, ids, in_database, jsonl, ordered_pool, sqlite};
use crate::{AgentError, Bookmark, ExportedSession, Reader, Sink, Source};

/// The client's own answer to a call that has no outcome.
const MISSING_RESULT: &str = "[Tool execution was interrupted]";

impl Reader for OpenCode {
    fn bookmark_near_end(&self, source: &Source) -> Result<Bookmark, AgentError> {
        const MESSAGES_NEAR_END: usize = 8;
        with_storage(source, &mut |kept, _| {
            let Some(session) = kept.read_session()? else { return Ok(None) };
            let mut heads = kept.read_heads()?;
            kept.stamp_parts(&mut heads)?;
            let fates = message_state::resolve_states(kept, &session, &heads)?;
            let count = heads.len().saturating_sub(MESSAGES_NEAR_END);
            Ok(Some(make_bookmark(&session, &heads[..count], &fates)))
        })
    }

    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let mut begun = false;
        with_storage(source, &mut |kept, path| {
            if begun && sink.retract_all().is_break() {
                return Ok(Some(*from));
            }
            let is_first = !begun && *from == Bookmark::Start;
            let from = if begun { &Bookmark::Start } else { from };
            begun = true;
            let Some(session) = kept.read_session()? else { return Ok(None) };
            SessionReader {
                storage: kept,
                session: &session,
                path,
                sink: &mut *sink,
                is_first,
                is_titled: false,
                model: None,
            }
            .read_from(from)
            .map(Some)
        })
    }

    fn export_session(&self, source: &Source) -> Result<Option<ExportedSession>, AgentError> {
        with_storage(source, &mut |kept, _| Ok(export::write_pieces(kept)?.map(Some)))
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        with_storage(&in_database::header_source(header), &mut |kept, _| {
            let Some(session) = kept.read_session()? else { return Ok(None) };
            let Some(found) = kept.find_message(key.offset)? else { return Ok(None) };
            let heads = kept.read_heads()?;
            let fates = message_state::resolve_states(kept, &session, &heads)?;
            let fate = heads.iter().zip(fates).find(|(head, _)| head.message.id == found.message.id);
            Ok(fate
                .map(|(_, fate)| record::parse_message(found.as_message(), &fate, &mut PartParser::default()).entries))
        })
        .map_err(|error| in_database::moved_error(error, key))
    }

    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        let record = with_storage(&in_database::header_source(header), &mut |kept, _| {
            let Some(found) = kept.find_message(key.offset)? else { return Ok(None) };
            // The part of it that was taken back is no longer part of it.
            let revert = kept.read_session()?.and_then(|session| session.revert);
            let revert = revert.filter(|revert| revert.message == found.message.id).and_then(|revert| revert.part);
            let message = found.as_message();
            let message = revert.map_or(message, |part| message.truncate_at(&part));
            Ok(Some(message.to_record()))
        });
        let gone = || AgentError::Moved { path: in_database::header_source(header).path, offset: key.offset };
        let record = record.map_err(|error| in_database::moved_error(error, key))?.ok_or_else(gone)?;
        Ok(record.to_string())
    }
}

/// Looks something up in what holds a session; `None` means that the session is not there.
type StorageCallback<'a, T> = dyn FnMut(&dyn StoredSession, &Path) -> rusqlite::Result<Option<T>> + 'a;

/// Opens what holds a session.
fn with_storage<T>(source: &Source, look: &mut StorageCallback<'_, T>) -> Result<T, AgentError> {
    let (path, key) = in_database::split_source(source);
    let refuse = |reason| AgentError::NotASession { agent: "opencode", path: path.clone(), reason };
    if is_single_session(&path)? {
        let kept: Box<dyn StoredSession> = if let Some(folders) = FolderStorage::from_path(&path) {
            Box::new(folders)
        } else {
            let text = file::read_text(&path, file::MAX_DOCUMENT_BYTES)?;
            Box::new(ExportStorage::parse(&text).ok_or_else(|| refuse("it is no whole export"))?)
        };
        let found = look(&*kept, &path).map_err(|source| AgentError::Database { path: path.clone(), source })?;
        return found.ok_or_else(|| refuse("it cannot be read"));
    }
    let found =
        sqlite::read_database(&path, &mut |connection| match DatabaseStorage::open(connection, key.as_deref())? {
            Some(rows) => look(&rows, &path),
            None => Ok(None),
        })?;
    found.ok_or_else(|| refuse("no such session is in it"))
}

fn is_single_session(path: &Path) -> Result<bool, AgentError> {
    let head = jsonl::read_head(path, 1024)?;
    let text = String::from_utf8_lossy(&head);
    Ok(!sqlite::is_database(&head) && export::strip_status_line(&text).trim_start().starts_with('{'))
}

/// Hands a session over.
struct SessionReader<'a> {
    storage: &'a dyn StoredSession,
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

impl SessionReader<'_> {
    fn read_from(mut self, from: &Bookmark) -> rusqlite::Result<Bookmark> {
        let mut heads = self.storage.read_heads()?;
        // Who reads all of it learns what the parts weigh on the way.
        let is_weighed = *from != Bookmark::Start;
        if is_weighed {
            self.storage.stamp_parts(&mut heads)?;
        }
        let fates = message_state::resolve_states(self.storage, self.session, &heads)?;
        let start = match self.find_start(from, &heads, &fates) {
            ControlFlow::Continue(start) => start,
            ControlFlow::Break(()) => return Ok(*from),
        };
        if self.send_first_facts(&heads).is_break() {
            return Ok(make_bookmark(self.session, &heads[..start], &fates));
        }
        let (handed, weights) = self.send_messages(&heads[start..], &fates[start..])?;
        if !is_weighed {
            heads.iter_mut().zip(&weights).for_each(|(head, weight)| head.stamp_parts(weight.as_ref()));
        }
        Ok(make_bookmark(self.session, &heads[..start + handed], &fates))
    }

    /// Hands messages over. They are taken from where they are kept here, and parsed in lanes. Tells how many the sink
    /// took, and the weights of all that were looked at.
    fn send_messages(
        &mut self,
        heads: &[MessageHead],
        fates: &[MessageState],
    ) -> rusqlite::Result<(usize, Vec<Option<PartsSummary>>)> {
        let mut stack = BatchReader { storage: self.storage, heads, summaries: Vec::with_capacity(heads.len()) };
        let mut failed = Ok(());
        let mut handed = 0;
        // Piles that were worked off serve again.
        let spare: RefCell<Vec<MessageBatch>> = RefCell::default();
        let next = || {
            let batch = spare.borrow_mut().pop().unwrap_or_default();
            stack.next_batch(batch).unwrap_or_else(|error| {
                failed = Err(error);
                None
            })
        };
        let past = self.count_past(heads, fates);
        let work = |batch: MessageBatch| (batch.parse_messages(heads, fates, past), batch);
        let merge = |(parsed, batch): (Vec<ParsedMessage>, MessageBatch)| {
            spare.borrow_mut().push(batch);
            for message in parsed {
                self.send_to_sink(message, handed < past)?;
                handed += 1;
            }
            ControlFlow::Continue(())
        };
        ordered_pool::map_ordered(next, work, merge);
        failed?;
        Ok((handed, stack.summaries))
    }

    /// How many of these messages are history: all before the last that begins the context anew, where the past is not
    /// wanted. What that one keeps is read again when it is needed.
    fn count_past(&self, heads: &[MessageHead], fates: &[MessageState]) -> usize {
        let is_barrier =
            |(head, fate): (&MessageHead, &MessageState)| fate.barrier.is_some() && parse_info(head).is_some();
        let last = if self.sink.wants_full_history() { None } else { heads.iter().zip(fates).rposition(is_barrier) };
        last.filter(|count| *count >= SKIM_FROM_MESSAGES).unwrap_or(0)
    }

    /// Where to start: after what was read, or anew where any of that is not what it was.
    fn find_start(&mut self, from: &Bookmark, heads: &[MessageHead], fates: &[MessageState]) -> ControlFlow<(), usize> {
        let count = match *from {
            Bookmark::Start => return ControlFlow::Continue(0),
            Bookmark::Rows { count, .. } => {
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                let read = heads.get(..count);
                read.filter(|read| make_bookmark(self.session, read, fates) == *from).map(<[MessageHead]>::len)
            }
            Bookmark::Appended { .. } => None,
        };
        match count {
            Some(count) => ControlFlow::Continue(count),
            None => self.sink.retract_all().map_continue(|()| 0),
        }
    }

    fn send_first_facts(&mut self, heads: &[MessageHead]) -> ControlFlow<()> {
        let session = self.session;
        self.sink.learn(Fact::Session(SessionId(session.id.clone())))?;
        self.sink.learn(Fact::Closing(Closing::Answer(MISSING_RESULT)))?;
        let mut facts = Vec::new();
        if self.is_first {
            facts.push(Fact::File(self.path.to_owned()));
            facts.extend(session.children.iter().map(|child| Fact::Child(self.path.join(child))));
        }
        facts.extend(session.created.map(Fact::StartedAt));
        facts.extend(session.directory.as_deref().map(|path| Fact::Project(PathBuf::from(path))));
        facts.extend(session_title(session).map(|title| Fact::Title(TitleRank::Generated, title)));
        facts.extend(session.version.clone().map(Fact::ClientVersion));
        facts.extend(session.parent.clone().map(|parent| Fact::Parent(SessionId(parent))));
        facts.extend(last_model(session, heads).map(Fact::Model));
        facts.extend(start_settings(session, heads).into_iter().map(Fact::StartSetting));
        facts.extend(last_conditions(session, heads).into_iter().map(Fact::Condition));
        facts.into_iter().try_for_each(|fact| self.sink.learn(fact))
    }

    fn send_to_sink(&mut self, parsed: ParsedMessage, is_past: bool) -> ControlFlow<()> {
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
const SKIM_FROM_MESSAGES: usize = 64;

/// How much is parsed at a time: enough to be worth a thread's waking, and little enough that some of it fits in memory.
const BATCH_BYTES: usize = 256 << 10;

/// Messages with their parts.
#[derive(Default)]
struct MessageBatch {
    /// The first of them.
    first: usize,
    parts: PartBuffer,
    /// Where the parts of each message end.
    ends: Vec<usize>,
}

impl MessageBatch {
    /// Parses the messages; those before some index are skimmed.
    fn parse_messages(&self, heads: &[MessageHead], fates: &[MessageState], past: usize) -> Vec<ParsedMessage> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends).map(|(start, end)| start..*end);
        let mut parser = PartParser::default();
        let messages = ranges.enumerate().map(|(index, range)| {
            let index = self.first + index;
            let message = Message::new(&heads[index].message, &self.parts, range);
            let parse = if index < past { record::skim_message } else { record::parse_message };
            parse(message, &fates[index], &mut parser)
        });
        messages.collect()
    }
}

/// The messages that are still to be read.
struct BatchReader<'a> {
    storage: &'a dyn StoredSession,
    heads: &'a [MessageHead],
    /// Counts, times and sizes of the parts of those that were read.
    summaries: Vec<Option<PartsSummary>>,
}

impl BatchReader<'_> {
    fn next_batch(&mut self, mut batch: MessageBatch) -> rusqlite::Result<Option<MessageBatch>> {
        batch.first = self.summaries.len();
        batch.parts.clear(2 * BATCH_BYTES);
        batch.ends.clear();
        for head in &self.heads[batch.first..] {
            self.summaries.push(self.storage.read_parts(&head.message.id, &mut batch.parts)?);
            batch.ends.push(batch.parts.len());
            if batch.parts.text_len() >= BATCH_BYTES {
                break;
            }
        }
        Ok((!batch.ends.is_empty()).then_some(batch))
    }
}

/// Where a reader is who has read these messages.
fn make_bookmark(session: &Session, read: &[MessageHead], fates: &[MessageState]) -> Bookmark {
    let digest = read.iter().zip(fates).fold(ids::digest_name(&session.id), |digest, (head, fate)| {
        fate.extend_digest(ids::extend_digest(digest, &head.stamp.to_le_bytes()))
    });
    Bookmark::Rows { count: read.len() as u64, digest }
}

/// The title that a session got; the client gives each one with a date to begin with.
pub(super) fn session_title(session: &Session) -> Option<String> {
    let title = one_line(session.title.as_deref()?, 200);
    let is_given = !title.is_empty() && !title.starts_with("New session - ") && !title.starts_with("Child session - ");
    is_given.then_some(title)
}

fn parse_info(head: &MessageHead) -> Option<WireInfo<'_>> {
    serde_json::from_str(head.message.as_part().record.ok()?).ok()
}

/// How it was begun: as which of the client's agents, and with which rules of its own.
fn start_settings(session: &Session, heads: &[MessageHead]) -> Vec<StartSetting> {
    let agent = heads.first().and_then(parse_info).and_then(|info| info.agent);
    let mode = agent.map(|agent| StartSetting::PermissionMode(agent.to_string()));
    let rule = |rule: &WireRule| format!("{} {} {}", rule.action, rule.permission, rule.pattern);
    let rules = session.rules.as_ref().map(|rules| StartSetting::PermissionRules(rules.iter().map(rule).collect()));
    mode.into_iter().chain(rules).collect()
}

/// What it goes on under: as which of the client's agents, and through whom its model is reached.
fn last_conditions(session: &Session, heads: &[MessageHead]) -> Vec<Condition> {
    let last = || heads.iter().rev().take(10).filter_map(parse_info);
    let agent = last().find_map(|info| info.agent).map(|agent| Condition::PermissionMode(agent.to_string()));
    let told = last().find_map(|info| {
        let provider = info.provider_id.map(|provider| provider.to_string());
        provider.or_else(|| parse_lenient::<WireModel>(info.model).map(|model| model.provider))
    });
    let provider = told.or_else(|| session.model.as_ref().map(|model| model.provider.clone()));
    agent.into_iter().chain(provider.map(Condition::Routing)).collect()
}

/// The model of the last message.
fn last_model(session: &Session, heads: &[MessageHead]) -> Option<String> {
    let of = |head: &MessageHead| {
        let info = parse_info(head)?;
        let told = info.model_id.map(|id| id.to_string());
        told.or_else(|| parse_lenient::<WireModel>(info.model).map(|model| model.model))
    };
    let last = heads.iter().rev().take(10).find_map(of);
    last.or_else(|| session.model.as_ref().map(|model| model.model.clone()))
}
