//! Sessions grown from the agents' own fixtures: every kind of record that the client writes, in the order in which it
//! writes them, again and again under new names, with texts as long as those of real sessions.

use std::io::{BufWriter, Write};
use std::path::Path;

use carryover_agents::Version;
use serde_json::Value;

use super::Result;
use super::corpus::Random;

/// Parts of sessions that cannot stand in another one.
const DEPENDENT_WORDS: &[&str] = &["fork", "import", "killed", "parent", "revert", "subagent"];

/// Sessions that take the past away; a real one does so now and then, not all the time.
const COMPACTING_WORDS: &[&str] = &["branches", "cleared", "compact", "compress", "restored"];
const MAX_COMPACTIONS: usize = 3;

/// Fields that hold what is said.
const SPEECH_FIELDS: &[&str] = &[
    "text",
    "message",
    "thinking",
    "prompt",
    "description",
    "summary",
    "transformedContent",
    "lastPrompt",
    "reasoningText",
];

/// Fields that hold what a tool gave back, or what is kept of a file.
const OUTPUT_FIELDS: &[&str] = &[
    "content",
    "output",
    "stdout",
    "aggregated_output",
    "formatted_output",
    "toolUseResult",
    "resultDisplay",
    "llmContent",
    "fileDiff",
    "originalContent",
    "newContent",
    "originalFile",
    "unified_diff",
    "diff",
    "patch",
    "detailedContent",
    "textResultForLlm",
    "developer_instructions",
    "sessionLog",
    "body",
];

/// The sessions that an agent's newest known client wrote.
pub(crate) struct Fixtures {
    plain: Vec<String>,
    compacting: Vec<String>,
}

impl Fixtures {
    pub(crate) fn load(root: &Path, agent: &str) -> Result<Self> {
        let folder = root.join("crates/agents/src").join(agent.replace('-', "_")).join("fixtures");
        let mut named = Vec::new();
        for entry in fs_err::read_dir(&folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_file() && !name.starts_with("hand") && !DEPENDENT_WORDS.iter().any(|bound| name.contains(bound))
            {
                named.push((Version::find_in(&name), name, path));
            }
        }
        named.sort();
        let newest = named.last().and_then(|(version, ..)| *version);
        let mut fixtures = Self { plain: Vec::new(), compacting: Vec::new() };
        for (_, name, path) in named.into_iter().filter(|(version, ..)| *version == newest) {
            let forgets = COMPACTING_WORDS.iter().any(|word| name.contains(word));
            let list = if forgets { &mut fixtures.compacting } else { &mut fixtures.plain };
            list.push(fs_err::read_to_string(path)?);
        }
        if fixtures.plain.is_empty() { Err(format!("{agent} has no fixtures to grow").into()) } else { Ok(fixtures) }
    }

    /// By which a corpus that was grown from others is noticed.
    pub(super) fn compute_digest(&self) -> u64 {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.plain.iter().chain(&self.compacting).flat_map(|text| text.bytes()).fold(0xcbf2_9ce4_8422_2325, step)
    }
}

/// A session in the making.
pub(super) struct SessionGrower<'a> {
    fixtures: &'a Fixtures,
    session: String,
    random: Random,
    size: usize,
    /// How many times the fixtures were gone through, by which names become new ones.
    round: u64,
    /// The record that the next round goes on from.
    last: Option<String>,
    is_rooted: bool,
}

impl<'a> SessionGrower<'a> {
    pub(super) fn new(fixtures: &'a Fixtures, session: String, seed: u64, size: usize) -> Self {
        Self { fixtures, session, random: Random::new(seed), size, round: 0, last: None, is_rooted: true }
    }

    /// Goes through the fixtures until `grow` has written enough; it says how much it has.
    fn run_rounds(mut self, grow: &mut dyn FnMut(&mut Self, &str, bool) -> Result<usize>) -> Result<()> {
        let fixtures = self.fixtures;
        let (mut written, mut forgotten) = (0, 0);
        while written < self.size {
            let forgets = forgotten < MAX_COMPACTIONS && written > self.size / (MAX_COMPACTIONS + 1) * (forgotten + 1);
            forgotten += usize::from(forgets);
            let more: &[String] = if forgets { &fixtures.compacting } else { &[] };
            for text in fixtures.plain.iter().chain(more) {
                self.is_rooted = self.round == 0;
                written += grow(&mut self, text, forgets)?;
                self.round += 1;
            }
        }
        Ok(())
    }

    pub(super) fn write_lines(self, path: &Path) -> Result<()> {
        let mut out = BufWriter::new(fs_err::File::create(path)?);
        self.run_rounds(&mut |grower, text, forgets| {
            let mut written = 0;
            for (at, line) in text.lines().enumerate() {
                // The first line tells what the file is, once; a list of all messages takes the past away.
                let is_list = line.starts_with(r#"{"$set":{"messages""#);
                let Ok(mut record) = serde_json::from_str::<Value>(line) else { continue };
                if (at == 0 && grower.round > 0) || (is_list && !forgets) {
                    continue;
                }
                if grower.round == 0 && at == 0 {
                    grower.name_session(&mut record);
                }
                // A change of the session's settings may name it again.
                grower.rename_at(&mut record, "/$set/sessionId");
                grower.grow_record(&mut record);
                let line = record.to_string();
                writeln!(out, "{line}")?;
                written += line.len() + 1;
            }
            Ok(written)
        })?;
        Ok(out.flush()?)
    }

    pub(super) fn write_markdown(self, path: &Path) -> Result<()> {
        let mut out = BufWriter::new(fs_err::File::create(path)?);
        // One chat, however long.
        let mut is_first = true;
        self.run_rounds(&mut |grower, text, _| {
            let mut written = 0;
            for line in text.lines() {
                let starts = line.starts_with("# aider chat started");
                if starts && !std::mem::take(&mut is_first) {
                    continue;
                }
                let marked = [">", "#", "<", "=", "`"].iter().any(|mark| line.starts_with(mark));
                let more = if marked || line.is_empty() { String::new() } else { grower.next_output() };
                writeln!(out, "{line}{more}")?;
                written += line.len() + more.len() + 1;
            }
            Ok(written)
        })?;
        Ok(out.flush()?)
    }

    /// Tells every message of sessions that are kept as messages with their parts.
    pub(super) fn for_each_message(self, tell: &mut dyn FnMut(Value) -> Result<()>) -> Result<()> {
        self.run_rounds(&mut |grower, text, _| {
            let mut written = 0;
            let mut session: Value = serde_json::from_str(text)?;
            for mut message in session["messages"].as_array_mut().into_iter().flatten().map(Value::take) {
                grower.grow_value("", &mut message);
                written += message.to_string().len();
                tell(message)?;
            }
            Ok(written)
        })
    }

    /// Tells every record of sessions that are kept as a header and entries.
    pub(super) fn for_each_event(self, tell: &mut dyn FnMut(&Value) -> Result<()>) -> Result<()> {
        self.run_rounds(&mut |grower, text, _| {
            let mut written = 0;
            let mut session: Value = serde_json::from_str(text)?;
            let mut header = session["header"].take();
            if grower.round == 0 {
                grower.name_session(&mut header);
                tell(&header)?;
            }
            for mut event in session["entries"].as_array_mut().into_iter().flatten().map(Value::take) {
                grower.grow_record(&mut event);
                written += event.to_string().len();
                tell(&event)?;
            }
            Ok(written)
        })
    }

    /// The first record names the session; where it does, the name is made this one's own.
    fn name_session(&self, record: &mut Value) {
        for place in ["/sessionId", "/data/sessionId", "/payload/id", "/payload/session_id", "/id"] {
            self.rename_at(record, place);
        }
    }

    fn rename_at(&self, record: &mut Value, place: &str) {
        if let Some(name) = record.pointer_mut(place).filter(|name| name.is_string()) {
            *name = Value::from(self.session.as_str());
        }
    }

    fn grow_record(&mut self, record: &mut Value) {
        self.grow_value("", record);
        let parent = ["parentUuid", "parentId"].into_iter().find(|name| record.get(*name).is_some());
        let Some(parent) = parent else { return };
        if record[parent].is_null() && !self.is_rooted && self.last.is_some() {
            record[parent] = Value::from(self.last.clone());
        }
        self.is_rooted = true;
        let own = ["uuid", "id"].into_iter().find_map(|name| record[name].as_str());
        self.last = own.map(str::to_owned).or(self.last.take());
    }

    fn grow_value(&mut self, key: &str, value: &mut Value) {
        match value {
            Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| self.grow_value(key, value)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.grow_value(key, item)),
            Value::String(text) => self.grow_text(key, text),
            _ => {}
        }
    }

    fn grow_text(&mut self, key: &str, text: &mut String) {
        if is_id_field(key) {
            if self.round > 0 {
                text.extend(["~", &self.round.to_string()]);
            }
        } else if SPEECH_FIELDS.contains(&key) && text.len() > 8 {
            let size = [80, 400, 1_500][self.random.next_index(3)];
            text.push_str(&self.random.next_text(size));
        } else if OUTPUT_FIELDS.contains(&key) && text.len() > 8 {
            text.push_str(&self.next_output());
        } else if matches!(key, "data" | "base64") && text.len() > 60 {
            let whole = text.trim_end_matches('=').len() / 4 * 4;
            *text = text[..whole].repeat(40_000 / whole);
        }
    }

    fn next_output(&mut self) -> String {
        let size = [200, 1_500, 9_000][self.random.next_index(3)];
        self.random.next_text(size)
    }
}

/// Whether a field names a record or a call, so that it must be new in every round.
fn is_id_field(key: &str) -> bool {
    let lower = key.to_lowercase();
    let of_all = ["session", "model", "provider", "project", "thread"].iter().any(|word| lower.contains(word));
    !of_all && ["id", "ids"].iter().any(|end| lower.ends_with(end))
}
