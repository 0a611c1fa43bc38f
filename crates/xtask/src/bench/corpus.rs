//! Sessions made up for measuring: the shapes and sizes of real ones, the same bytes every time.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Result;

/// A small generator of numbers; quality does not matter, sameness does.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next_index(&mut self, below: u64) -> usize {
        usize::try_from(self.next_below(below)).unwrap_or(0)
    }

    pub(super) fn next_text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(WORDS[self.next_index(WORDS.len() as u64)]);
            text.push(if self.next_below(9) == 0 { '\n' } else { ' ' });
        }
        text
    }

    fn next_below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// A session file in the making.
struct SessionWriter<W: Write> {
    out: W,
    random: Random,
    written: usize,
    count: u64,
    parent: Option<String>,
    id: String,
}

const WORDS: &[&str] = &[
    "fn",
    "the",
    "parser",
    "returns",
    "error",
    "while",
    "\"quoted\"",
    "let value =",
    "src/main.rs",
    "\\n",
    "naïve",
    "test result: ok",
    "→",
    "0x7fff",
    "pub struct",
    "index",
    "{",
    "}",
    "match",
    "warning:",
    "日本",
];

impl<W: Write> SessionWriter<W> {
    fn new(out: W, seed: u64) -> Self {
        let id = format!("00000000-0000-4000-8000-{seed:012x}");
        Self { out, random: Random(seed), written: 0, count: 0, parent: None, id }
    }

    fn write_record(&mut self, value: &Value) -> Result<()> {
        let mut line = value.to_string();
        line.push('\n');
        self.out.write_all(line.as_bytes())?;
        self.written += line.len();
        Ok(())
    }

    fn next_text(&mut self, bytes: usize) -> String {
        self.random.next_text(bytes)
    }

    fn write_chained(&mut self, mut value: Value) -> Result<()> {
        self.count += 1;
        let uuid = format!("{:08x}-0000-4000-8000-{}", self.count, &self.id[24..]);
        value["parentUuid"] = json!(self.parent);
        value["uuid"] = json!(uuid);
        value["timestamp"] = json!("2026-11-15T00:00:00.000Z");
        value["sessionId"] = json!(self.id);
        value["cwd"] = json!("/home/dev/project");
        value["version"] = json!("2.1.325");
        value["gitBranch"] = json!("main");
        value["isSidechain"] = json!(false);
        value["entrypoint"] = json!("cli");
        self.parent = Some(uuid);
        self.write_record(&value)
    }

    /// A prompt, some calls with their outcomes, a reply, and the client's own bookkeeping around them.
    fn write_turn(&mut self) -> Result<()> {
        let prompt = self.next_text(200);
        self.write_chained(json!({ "type": "user", "message": { "role": "user", "content": prompt } }))?;
        self.write_bookkeeping()?;
        for call in 0..3 {
            self.write_call(call)?;
        }
        let reply = self.next_text(900);
        self.write_reply(&json!({ "type": "text", "text": reply }))?;
        let leaf = self.parent.clone();
        self.write_record(
            &json!({ "type": "last-prompt", "lastPrompt": prompt, "leafUuid": leaf, "sessionId": self.id }),
        )
    }

    fn write_bookkeeping(&mut self) -> Result<()> {
        let prompt = self.next_text(6000);
        self.write_chained(
            json!({ "type": "attachment", "attachment": { "type": "prompt_snapshot", "text": prompt } }),
        )?;
        let blob = self.next_text(9000);
        self.write_record(&json!({ "type": "api-request-blob", "sessionId": self.id, "hash": "0", "body": blob }))
    }

    fn write_call(&mut self, call: u64) -> Result<()> {
        let id = format!("toolu_{:08x}{call}", self.count);
        let command = self.next_text(80);
        self.write_reply(&json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }))?;
        let size = [300, 2_000, 12_000][self.random.next_index(3)];
        let output = self.next_text(size);
        self.write_chained(json!({
            "type": "user",
            "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": output }] },
            "toolUseResult": { "stdout": output, "stderr": "", "interrupted": false, "isImage": false },
        }))
    }

    fn write_reply(&mut self, block: &Value) -> Result<()> {
        let usage = json!({ "input_tokens": 12_000, "output_tokens": 42, "cache_read_input_tokens": 9000 });
        let message = json!({
            "id": format!("msg_{:08x}", self.count), "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": [block], "stop_reason": "tool_use", "usage": usage,
        });
        self.write_chained(json!({ "type": "assistant", "message": message, "requestId": "req_1" }))
    }

    fn write_compaction(&mut self) -> Result<()> {
        self.parent = None;
        self.write_chained(
            json!({ "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted" }),
        )?;
        let summary = self.next_text(8000);
        self.write_chained(json!({
            "type": "user", "isCompactSummary": true, "message": { "role": "user", "content": summary },
        }))
    }
}

/// One session of some size, compacted three times, kept for the next run.
pub(super) fn make_big_session(folder: &Path, size: usize) -> Result<PathBuf> {
    let path = folder.join("00000000-0000-4000-8000-000000000001.jsonl");
    if fs_err::metadata(&path).is_ok_and(|metadata| metadata.len() >= size as u64) {
        return Ok(path);
    }
    let mut session = SessionWriter::new(BufWriter::new(fs_err::File::create(&path)?), 1);
    let mut compactions = 0;
    while session.written < size {
        session.write_turn()?;
        if compactions < 3 && session.written > size / 4 * (compactions + 1) {
            session.write_compaction()?;
            compactions += 1;
        }
    }
    session.out.flush()?;
    Ok(path)
}

/// A home with many sessions of several projects.
pub(super) fn make_many_sessions(folder: &Path, count: u64, bytes: usize) -> Result<PathBuf> {
    let home = folder.join(format!("many-{count}"));
    let done = home.join("done");
    if done.exists() {
        return Ok(home);
    }
    let mut template = SessionWriter::new(Vec::new(), 2);
    while template.written < bytes {
        template.write_turn()?;
    }
    for n in 0..count {
        let project = home.join(format!(".claude/projects/-home-dev-project-{}", n % 12));
        fs_err::create_dir_all(&project)?;
        let mut session = SessionWriter::new(Vec::new(), n + 10);
        session.write_turn()?;
        session.out.extend_from_slice(&template.out);
        session.write_turn()?;
        fs_err::write(project.join(format!("{}.jsonl", session.id)), &session.out)?;
    }
    fs_err::write(&done, "")?;
    Ok(home)
}
