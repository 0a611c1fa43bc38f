//! Sessions made up for measuring: the shapes and sizes of real ones, the same bytes every time.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Result;

/// A small generator of numbers; quality does not matter, sameness does.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn index(&mut self, below: u64) -> usize {
        usize::try_from(self.roll(below)).unwrap_or(0)
    }

    pub(super) fn text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            text.push_str(WORDS[self.index(WORDS.len() as u64)]);
            text.push(if self.roll(9) == 0 { '\n' } else { ' ' });
        }
        text
    }

    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// A session file in the making.
struct Session<W: Write> {
    out: W,
    dice: Dice,
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

impl<W: Write> Session<W> {
    fn new(out: W, seed: u64) -> Self {
        let id = format!("00000000-0000-4000-8000-{seed:012x}");
        Self { out, dice: Dice(seed), written: 0, count: 0, parent: None, id }
    }

    fn put(&mut self, value: &Value) -> Result<()> {
        let mut line = value.to_string();
        line.push('\n');
        self.out.write_all(line.as_bytes())?;
        self.written += line.len();
        Ok(())
    }

    fn text(&mut self, bytes: usize) -> String {
        self.dice.text(bytes)
    }

    fn chained(&mut self, mut value: Value) -> Result<()> {
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
        self.put(&value)
    }

    /// A prompt, some calls with their outcomes, a reply, and the client's own bookkeeping around them.
    fn turn(&mut self) -> Result<()> {
        let prompt = self.text(200);
        self.chained(json!({ "type": "user", "message": { "role": "user", "content": prompt } }))?;
        self.bookkeeping()?;
        for call in 0..3 {
            self.call(call)?;
        }
        let reply = self.text(900);
        self.said(&json!({ "type": "text", "text": reply }))?;
        let leaf = self.parent.clone();
        self.put(&json!({ "type": "last-prompt", "lastPrompt": prompt, "leafUuid": leaf, "sessionId": self.id }))
    }

    fn bookkeeping(&mut self) -> Result<()> {
        let prompt = self.text(6000);
        self.chained(json!({ "type": "attachment", "attachment": { "type": "prompt_snapshot", "text": prompt } }))?;
        let blob = self.text(9000);
        self.put(&json!({ "type": "api-request-blob", "sessionId": self.id, "hash": "0", "body": blob }))
    }

    fn call(&mut self, call: u64) -> Result<()> {
        let id = format!("toolu_{:08x}{call}", self.count);
        let command = self.text(80);
        self.said(&json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } }))?;
        let size = [300, 2_000, 12_000][self.dice.index(3)];
        let output = self.text(size);
        self.chained(json!({
            "type": "user",
            "message": { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": output }] },
            "toolUseResult": { "stdout": output, "stderr": "", "interrupted": false, "isImage": false },
        }))
    }

    fn said(&mut self, block: &Value) -> Result<()> {
        let usage = json!({ "input_tokens": 12_000, "output_tokens": 42, "cache_read_input_tokens": 9000 });
        let message = json!({
            "id": format!("msg_{:08x}", self.count), "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": [block], "stop_reason": "tool_use", "usage": usage,
        });
        self.chained(json!({ "type": "assistant", "message": message, "requestId": "req_1" }))
    }

    fn compaction(&mut self) -> Result<()> {
        self.parent = None;
        self.chained(json!({ "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted" }))?;
        let summary = self.text(8000);
        self.chained(json!({
            "type": "user", "isCompactSummary": true, "message": { "role": "user", "content": summary },
        }))
    }
}

/// One session of some size, compacted three times, kept for the next run.
pub(super) fn big_session(folder: &Path, size: usize) -> Result<PathBuf> {
    let path = folder.join("00000000-0000-4000-8000-000000000001.jsonl");
    if fs_err::metadata(&path).is_ok_and(|metadata| metadata.len() >= size as u64) {
        return Ok(path);
    }
    let mut session = Session::new(BufWriter::new(fs_err::File::create(&path)?), 1);
    let mut compactions = 0;
    while session.written < size {
        session.turn()?;
        if compactions < 3 && session.written > size / 4 * (compactions + 1) {
            session.compaction()?;
            compactions += 1;
        }
    }
    session.out.flush()?;
    Ok(path)
}

/// A home with many sessions of several projects.
pub(super) fn many_sessions(folder: &Path, count: u64, bytes: usize) -> Result<PathBuf> {
    let home = folder.join(format!("many-{count}"));
    let done = home.join("done");
    if done.exists() {
        return Ok(home);
    }
    let mut template = Session::new(Vec::new(), 2);
    while template.written < bytes {
        template.turn()?;
    }
    for n in 0..count {
        let project = home.join(format!(".claude/projects/-home-dev-project-{}", n % 12));
        fs_err::create_dir_all(&project)?;
        let mut session = Session::new(Vec::new(), n + 10);
        session.turn()?;
        session.out.extend_from_slice(&template.out);
        session.turn()?;
        fs_err::write(project.join(format!("{}.jsonl", session.id)), &session.out)?;
    }
    fs_err::write(&done, "")?;
    Ok(home)
}
