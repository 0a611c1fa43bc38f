//! One line of a session file, made into entries.

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    BlobLocation, Body, CallId, Compaction, Entry, EntryKey, Fact, Node, NodeId, Note, Origin, Outcome, Part,
    SessionId, Status, TitleRank,
};

use super::edits::{Edit, Edits};
use super::outcome;
use crate::formats::jsonl::{self, Line};
use crate::formats::text::Text;
use crate::formats::tree::bodies::{self, Bodies, note_bodies, opaque_body, prompt_bodies, unknown_body};
use crate::formats::tree::wire::{Content, Message, Record};
use crate::formats::tree::words::{SkippedText, Words};
use crate::formats::tree::{conditions, injected_text};

/// The facts and entries of one line.
pub(super) type Parsed = jsonl::ParsedRecord<More>;

/// What only lines of this client tell.
#[derive(Default)]
pub(super) struct More {
    /// Of a kind that we know.
    pub known: bool,
    /// The first record that a compaction keeps, in a file whose records have numbers only.
    pub first_kept: Option<u64>,
}

/// The facts that earlier lines have told, so that they are not told again.
#[derive(Default)]
pub(super) struct LastFacts {
    has_title: bool,
    model: String,
}

/// Reads a line. `None`: it ends without a line feed and is not whole.
pub(super) fn parse_record(told: &mut LastFacts, line: Line<'_>, file: u16, edits: &Edits) -> Option<Parsed> {
    jsonl::parse_line(line, file, |key, record: Record<'_, Text<'_>>| {
        RecordReader { line: line.bytes, key, record, told }.read_record(edits)
    })
}

/// Reads a line from before the last compaction, of which kinds and places are told only. Most of a long session is of
/// that kind, and most of such a record is text that nobody will see.
pub(super) fn skim_record(told: &mut LastFacts, line: Line<'_>, file: u16, edits: &Edits) -> Option<Parsed> {
    let mut parsed = match jsonl::parse_record::<Record<'_, SkippedText>>(line.bytes) {
        // Attachments of a prompt are known by its words only, and errors in a line by reading it whole.
        Ok(record) if !is_prompt(&record) => {
            RecordReader { line: line.bytes, key: line.key(file), record, told }.read_record(edits)
        }
        _ => parse_record(told, line, file, edits)?,
    };
    parsed.entries.iter_mut().for_each(Entry::reduce);
    Some(parsed)
}

fn is_prompt<W>(record: &Record<'_, W>) -> bool {
    record.message.as_ref().is_some_and(|message| &*message.role == "user")
}

/// A record in the course of being read.
struct RecordReader<'r, 'a, W> {
    line: &'a [u8],
    key: EntryKey,
    record: Record<'a, W>,
    told: &'r mut LastFacts,
}

impl<'a, W: Words<'a>> RecordReader<'_, 'a, W> {
    fn read_record(mut self, edits: &Edits) -> Parsed {
        let mut facts = Vec::new();
        let edit = self.record.id.as_deref().and_then(|id| edits.get(id));
        let bodies = match edit {
            Some(Edit::Omitted) => vec![opaque_body("message/omitted")],
            Some(Edit::Replaced(content)) => self.read_replaced(content, &mut facts),
            None => self.read_bodies(&mut facts),
        };
        let known = bodies.iter().all(|(_, body)| !body.is_unknown());
        let entries = bodies::make_entries(bodies, self.key, self.record.timestamp.as_deref(), self.make_node());
        let more = More { known, first_kept: self.record.first_kept_entry_index };
        Parsed { key: self.key, facts, entries, rejected: None, more }
    }

    /// Everything but the first line is part of the tree; the oldest files have no names in it.
    fn make_node(&self) -> Option<Node> {
        let id = self.record.id.as_deref().filter(|_| &*self.record.kind != "session")?;
        let parent = self.record.parent_id.as_deref().map(NodeId::from_name);
        Some(Node { id: NodeId::from_name(id), parent, group: None })
    }

    fn read_bodies(&mut self, facts: &mut Vec<Fact>) -> Bodies {
        let content = std::mem::take(&mut self.record.content);
        match &*self.record.kind {
            "session" => self.read_session(facts),
            "message" => match self.record.message.take() {
                Some(mut message) => {
                    let content = std::mem::take(&mut message.content);
                    self.read_message(&message, content, facts)
                }
                None => vec![bodies::prompt_without_words()],
            },
            "custom_message" => self.read_injected(content),
            "compaction" => {
                facts.extend(conditions::compaction_facts(&self.record));
                self.read_compaction()
            }
            "branch_summary" => bodies::branch_summary_bodies(self.record.summary.as_ref()),
            "session_info" => {
                note_bodies(facts, bodies::title_fact(TitleRank::Given, self.record.name.as_deref()), Note::Title)
            }
            "model_change" => {
                facts.extend(conditions::setting_facts(&self.record));
                let model = self.record.model_id.take();
                note_bodies(facts, model.and_then(|model| self.new_model(&model)), Note::Mode)
            }
            "thinking_level_change" => {
                facts.extend(conditions::setting_facts(&self.record));
                note_bodies(facts, None, Note::Mode)
            }
            "usage" => note_bodies(facts, None, Note::Usage(Box::default())),
            "context_edit" => vec![opaque_body("context_edit")],
            "custom" => vec![opaque_body("custom")],
            "label" => vec![opaque_body("label")],
            kind => vec![unknown_body(kind)],
        }
    }

    /// A record whose content was changed later on.
    fn read_replaced(&mut self, content: &Json, facts: &mut Vec<Fact>) -> Bodies {
        let Ok(content) = serde_json::from_str::<Content<'_, Text<'_>>>(content.as_str()) else {
            return self.read_bodies(facts);
        };
        match (&*self.record.kind, self.record.message.take()) {
            ("message", Some(message)) => self.read_message(&message, content, facts),
            ("custom_message", _) => self.read_injected(content),
            (_, message) => {
                self.record.message = message;
                self.read_bodies(facts)
            }
        }
    }

    fn read_session(&self, facts: &mut Vec<Fact>) -> Bodies {
        let record = &self.record;
        facts.extend(record.id.as_deref().map(|id| Fact::Session(SessionId(id.to_owned()))));
        facts.extend(record.cwd.as_deref().filter(|cwd| !cwd.is_empty()).map(|cwd| Fact::Project(cwd.into())));
        facts.extend(record.timestamp.as_deref().and_then(Timestamp::parse).map(Fact::StartedAt));
        vec![opaque_body("session")]
    }

    fn read_message<'c, V: Words<'c>>(
        &mut self,
        message: &Message<'_, W>,
        content: Content<'c, V>,
        facts: &mut Vec<Fact>,
    ) -> Bodies {
        match &*message.role {
            "user" => {
                let parts = self.read_parts(content);
                facts.extend(self.new_title(&parts));
                injected_text::split_prompt(parts)
            }
            "assistant" => {
                facts.extend(message.model.as_deref().and_then(|model| self.new_model(model)));
                facts.extend(conditions::reply_routing(message));
                bodies::assistant_bodies(message, content, |signature| !signature.is_empty())
            }
            "toolResult" => vec![(Origin::Agent, self.read_outcome(message, content))],
            // Run with `!!`, it is not told to the model.
            "bashExecution" if message.exclude_from_context == Some(true) => vec![opaque_body("message/bashExecution")],
            "bashExecution" => bodies::user_command_bodies(message),
            "custom" | "hookMessage" => self.read_injected(content),
            "system" => {
                facts.extend(conditions::prompt_facts(message));
                vec![opaque_body("message/system")]
            }
            role => vec![unknown_body(format!("message/{role}"))],
        }
    }

    /// The model, where it is another one than before.
    fn new_model(&mut self, model: &str) -> Option<Fact> {
        if self.told.model == model {
            return None;
        }
        model.clone_into(&mut self.told.model);
        Some(Fact::Model(model.to_owned()))
    }

    fn new_title(&mut self, parts: &[Part]) -> Option<Fact> {
        let title = if self.told.has_title { None } else { bodies::first_prompt_title(parts) };
        self.told.has_title |= title.is_some();
        title
    }

    fn read_outcome<'c, V: Words<'c>>(&self, message: &Message<'_, W>, content: Content<'c, V>) -> Body {
        let parts = self.read_parts(content);
        let failed = message.is_error == Some(true);
        let status = match failed {
            true if outcome::is_interruption(&parts) => Status::Interrupted,
            true => Status::Failed,
            false => Status::Done,
        };
        let exit_code = if failed { outcome::find_exit_code(&parts) } else { None };
        let call = CallId(message.tool_call_id.as_deref().unwrap_or_default().into());
        Body::Outcome(Box::new(Outcome { call, status, exit_code, parts }))
    }

    /// Reads a message that an extension of the user's sent to the model.
    fn read_injected<'c, V: Words<'c>>(&self, content: Content<'c, V>) -> Bodies {
        prompt_bodies(Origin::Hook, self.read_parts(content), "custom_message")
    }

    /// Records between the first one that is kept and the compaction stay, behind the summary.
    fn read_compaction(&mut self) -> Bodies {
        let record = &mut self.record;
        let head = record.first_kept_entry_id.as_deref().filter(|head| Some(*head) != record.id.as_deref());
        let kept = head
            .zip(record.parent_id.as_deref())
            .map(|(head, tail)| (NodeId::from_name(head), NodeId::from_name(tail)));
        let barrier = Compaction { kept, ..Compaction::default() };
        let summary = record.summary.take().map(|summary| Part::Text(summary.into_string()));
        vec![
            (Origin::Harness, Body::Compacted(Box::new(barrier))),
            (Origin::Agent, Body::Summary(summary.into_iter().collect())),
        ]
    }

    fn read_parts<'c, V: Words<'c>>(&self, content: Content<'c, V>) -> Vec<Part> {
        bodies::content_parts(content, |data| self.blob_location(data))
    }

    /// Base64 stands in the line as it is, so its place is enough.
    fn blob_location<'c, V: Words<'c>>(&self, data: V) -> BlobLocation {
        match data.range_in(self.line) {
            Some(within) => BlobLocation::Encoded {
                file: self.key.file,
                offset: self.key.offset + within.start as u64,
                length: within.len() as u64,
            },
            None => BlobLocation::Inline(data.into_string().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passing_over_tells_the_same_but_for_the_words() {
        let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/src/pi/fixtures");
        let odd = [r#"{"type":"message","message":{"role":"user","content":7}}"#, "{", "7", r#"{"type":"x\ud800"}"#];
        let mut lines: Vec<String> = odd.map(str::to_owned).to_vec();
        for file in fs_err::read_dir(fixtures).unwrap() {
            lines.extend(fs_err::read_to_string(file.unwrap().path()).unwrap().lines().map(str::to_owned));
        }
        for text in &lines {
            let line = Line::from_bytes(9, text.as_bytes());
            let told = || LastFacts { has_title: true, model: String::new() };
            let mut whole = parse_record(&mut told(), line, 0, &Edits::default()).unwrap();
            whole.entries.iter_mut().for_each(Entry::reduce);
            let passed = skim_record(&mut told(), line, 0, &Edits::default()).unwrap();
            assert_eq!((passed.entries, passed.facts), (whole.entries, whole.facts), "{text}");
            assert_eq!((passed.rejected, passed.more.known), (whole.rejected, whole.more.known), "{text}");
        }
    }
}
