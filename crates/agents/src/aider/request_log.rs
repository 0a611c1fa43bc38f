//! The requests that the client sent to its model, where it was told to keep them.
//!
//! The log has every request whole, one after the other. What commands and failed edits add to a chat stands in it and in
//! no other file: it is taken from the last request of the chat, and put where the model saw it.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::transcript::{Body, Entry, EntryKey, Fact, Origin, Part, RejectedRecord, text_of};

use super::{record, turn, wire};
use crate::Sink;
use crate::formats::jsonl::{self, Line};

/// Beside the history; the client writes it where it is told to, and this is the name that its own pages give it.
const LOG_FILE: &str = ".aider.llm.history";
/// The place of the log among the files of a session.
pub(super) const LOG_FILE_INDEX: u16 = 1;

const REQUEST_START: &str = "TO LLM ";
const RESPONSE_START: &str = "LLM RESPONSE ";
const BAR: &str = "-------";
const USER_MARK: &str = "USER ";
const MODEL_MARK: &str = "ASSISTANT ";

/// How the messages begin that tell which files the user has opened. The next client reads files itself.
const FILE_MESSAGE_STARTS: [&str; 4] = [
    "I have *added these files",
    "Here are some READ ONLY files",
    "I am not sharing ",
    "Don't try and edit any existing code",
];

/// Whether a message of the user's that is no prompt stands in the history all the same, or is none of the chat's.
fn is_in_history(text: &str) -> bool {
    let marks = FILE_MESSAGE_STARTS.iter().chain([&wire::SUMMARY_START, &wire::HOOK_START]);
    let handed = turn::is_watch_prompt(text) || text.starts_with(turn::HELP_START);
    handed || wire::is_command(text) || marks.into_iter().any(|mark| text.starts_with(mark))
}

/// The log beside a history.
pub(super) fn log_path(history: &Path) -> PathBuf {
    history.with_file_name(LOG_FILE)
}

/// The user's prompts and the model's last reply in a chat, by which requests are matched to it.
#[derive(Default)]
pub(super) struct ChatTexts {
    prompts: Vec<String>,
    last_reply: Option<String>,
}

impl Sink for ChatTexts {
    fn learn(&mut self, _fact: Fact) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        match &entry.body {
            Body::Prompt(parts) if entry.origin == Origin::User => self.prompts.push(normalize_space(&text_of(parts))),
            Body::Reply(parts) => self.last_reply = Some(normalize_space(&text_of(parts))),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn retract(&mut self, _from: EntryKey) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    fn reject(&mut self, _rejected: RejectedRecord) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A text without its white space, which the log does not keep as it was.
fn normalize_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Something that the model saw and the history does not hold.
#[derive(Debug, PartialEq, Eq)]
struct AddedMessage {
    /// After which prompt of the chat, and after how many replies to it.
    after: (usize, usize),
    key: EntryKey,
    text: String,
}

/// A request with its answer.
struct Exchange {
    sent: u64,
    answered: u64,
    end: u64,
}

/// A message of a request.
struct Message {
    is_user: bool,
    key: EntryKey,
    text: String,
}

/// The exchanges since a local time.
fn find_exchanges(log: &Path, since: &str) -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    let mut open = None;
    let scanned = jsonl::scan_records(log, 0, parse_mark, |(offset, is_answer, time)| {
        if let Some(last) = found.last_mut() {
            last.end = last.end.min(offset);
        }
        match (is_answer, open.take()) {
            (true, Some(sent)) => found.push(Exchange { sent, answered: offset, end: u64::MAX }),
            (false, _) if time.replacen('T', " ", 1).as_str() >= since => open = Some(offset),
            _ => {}
        }
        ControlFlow::Continue(())
    });
    let Ok(end) = scanned else { return Vec::new() };
    if let Some(last) = found.last_mut() {
        last.end = last.end.min(end);
    }
    found
}

/// A line that begins a request or an answer; lines of messages begin with who said them.
fn parse_mark(line: Line<'_>) -> Option<(u64, bool, String)> {
    let text = std::str::from_utf8(line.bytes).ok().filter(|_| !line.unterminated)?;
    let (time, is_answer) = match (text.strip_prefix(REQUEST_START), text.strip_prefix(RESPONSE_START)) {
        (Some(time), _) => (time, false),
        (_, Some(time)) => (time, true),
        _ => return None,
    };
    time.parse::<jiff::civil::DateTime>().ok()?;
    Some((line.offset, is_answer, time.to_owned()))
}

/// The text of some lines that one voice said.
fn text_by(lines: &str, voice: &str) -> String {
    let line = |line| str::strip_prefix(line, voice).unwrap_or_default();
    lines.lines().filter(|line| line.starts_with(voice)).map(line).collect::<Vec<_>>().join("\n")
}

/// The messages of a request that begins at an offset.
fn parse_messages(text: &str, offset: u64) -> Vec<Message> {
    let mut found = Vec::new();
    let mut at = offset;
    for block in text.split_inclusive(&format!("{BAR}\n")) {
        let lines = block.strip_suffix(&format!("{BAR}\n")).unwrap_or(block);
        let key =
            EntryKey { file: LOG_FILE_INDEX, offset: at, part: 0, length: u32::try_from(lines.len()).unwrap_or(0) };
        at += block.len() as u64;
        for (voice, is_user) in [(USER_MARK, true), (MODEL_MARK, false)] {
            if lines.starts_with(voice) {
                found.push(Message { is_user, key, text: text_by(lines, voice) });
            }
        }
    }
    found
}

/// The last request of a chat, known by what the model answered: other chats may have the same log.
fn find_last_request(log: &Path, since: &str, heard: &ChatTexts) -> Option<Vec<Message>> {
    let last_reply = heard.last_reply.as_deref()?;
    let text = |from: u64, to: u64| jsonl::read_record_at(log, from, to.checked_sub(from)?).ok();
    let is_last = |exchange: &&Exchange| {
        let answer = text(exchange.answered, exchange.end).map(|lines| text_by(&lines, MODEL_MARK));
        answer.is_some_and(|answer| normalize_space(record::without_thoughts(answer.trim_end())) == last_reply)
    };
    let exchanges = find_exchanges(log, since);
    let last = exchanges.iter().rev().find(is_last)?;
    let length = last.answered - last.sent;
    (length <= jsonl::MAX_RECORD_BYTES as u64).then_some(())?;
    Some(parse_messages(&text(last.sent, last.answered)?, last.sent))
}

/// Which messages are prompts of the chat: its last prompts are the last ones of the request, in their order.
fn match_prompts(messages: &[Message], heard: &ChatTexts) -> Vec<Option<usize>> {
    let mut before = heard.prompts.as_slice();
    let mut found = vec![None; messages.len()];
    for (index, message) in messages.iter().enumerate().rev().filter(|(_, message)| message.is_user) {
        let said = normalize_space(&message.text);
        let same = before.iter().rposition(|prompt| *prompt == said);
        // The client may add to a prompt: what an address in it shows, or its own rules at the very end.
        let begins = || before.last().filter(|prompt| said.starts_with(prompt.as_str())).map(|_| before.len() - 1);
        found[index] = same.or_else(begins);
        before = &before[..found[index].unwrap_or(before.len())];
    }
    found
}

/// The messages that the model saw in a chat and the history does not hold. `since` is the chat's local start time.
fn find_added(log: &Path, since: &str, heard: &ChatTexts) -> Vec<AddedMessage> {
    let messages = find_last_request(log, since, heard).unwrap_or_default();
    let prompts = match_prompts(&messages, heard);
    let mut after = None;
    let mut found: Vec<AddedMessage> = Vec::new();
    // Whether the message before is one that the client answers in the model's name.
    let (mut of_client, mut of_files) = (false, false);
    for (message, prompt) in messages.into_iter().zip(prompts) {
        let answered = of_files || (of_client && message.text.trim_end_matches('.') == "Ok");
        (of_client, of_files) = (false, false);
        match (prompt, &mut after) {
            (Some(prompt), _) => after = Some((prompt, 0)),
            (None, Some((_, replies))) if !message.is_user => *replies += usize::from(!answered),
            (None, Some(_)) if is_in_history(&message.text) => of_files = true,
            (None, Some(after)) => {
                of_client = true;
                found.push(AddedMessage { after: *after, key: message.key, text: message.text });
            }
            _ => {}
        }
    }
    found
}

/// The entry of a message, from its lines.
pub(super) fn read_entry(lines: &str, key: EntryKey) -> Entry {
    hook_entry(text_by(lines, USER_MARK), key)
}

fn hook_entry(text: String, key: EntryKey) -> Entry {
    let body = Body::Prompt(vec![Part::Text(text)]);
    Entry { key, at: None, origin: Origin::Hook, side: false, node: None, body }
}

/// Hands a chat on, with what the log adds to it.
pub(super) struct LogMerger<'a> {
    added: std::iter::Peekable<std::vec::IntoIter<AddedMessage>>,
    /// How many prompts came, and how many replies to the last of them.
    prompts: usize,
    replies: usize,
    sink: &'a mut dyn Sink,
}

impl<'a> LogMerger<'a> {
    pub(super) fn new(log: &Path, since: &str, heard: &ChatTexts, sink: &'a mut dyn Sink) -> Self {
        let added = find_added(log, since, heard).into_iter().peekable();
        Self { added, prompts: 0, replies: 0, sink }
    }

    /// Hands on what stands before so many replies to the last prompt.
    pub(super) fn put_until(&mut self, replies: usize) -> ControlFlow<()> {
        let Some(last) = self.prompts.checked_sub(1) else { return ControlFlow::Continue(()) };
        while let Some(added) = self.added.next_if(|added| added.after <= (last, replies)) {
            self.sink.put(hook_entry(added.text, added.key))?;
        }
        ControlFlow::Continue(())
    }
}

impl Sink for LogMerger<'_> {
    fn wants_full_history(&self) -> bool {
        self.sink.wants_full_history()
    }

    fn learn(&mut self, fact: Fact) -> ControlFlow<()> {
        self.sink.learn(fact)
    }

    fn put(&mut self, entry: Entry) -> ControlFlow<()> {
        match &entry.body {
            Body::Prompt(_) if entry.origin == Origin::User => {
                self.put_until(usize::MAX)?;
                (self.prompts, self.replies) = (self.prompts + 1, 0);
            }
            Body::Compacted(_) => self.put_until(usize::MAX)?,
            Body::Reply(_) => {
                self.put_until(self.replies)?;
                self.replies += 1;
            }
            _ => {}
        }
        self.sink.put(entry)
    }

    fn retract(&mut self, from: EntryKey) -> ControlFlow<()> {
        self.sink.retract(from)
    }

    fn reject(&mut self, rejected: RejectedRecord) -> ControlFlow<()> {
        self.sink.reject(rejected)
    }
}
