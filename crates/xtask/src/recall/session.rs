//! A session with planted facts, as a client would have written it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::corpus::{
    ANSWERS, CHOICES, DECISIONS, Dice, Half, NEXT, QUESTIONS, REASONS, REBASES, STEPS, SUBJECTS, TASKS, THINGS, key,
    say,
};
use super::noise;

/// What was planted, by the words by which it is known again.
#[derive(Debug, Default)]
pub(super) struct Planted {
    pub(super) task: String,
    /// A task that is no longer the one in force.
    pub(super) old_task: Option<String>,
    pub(super) decisions: Vec<String>,
    /// Commands that failed to the end.
    pub(super) unresolved: Vec<String>,
    /// Commands that failed and then did not.
    pub(super) resolved: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) questions: Vec<String>,
    /// Questions that were answered.
    pub(super) answered: Vec<String>,
    pub(super) next: String,
    /// The requests as they were said.
    pub(super) requests: Vec<String>,
}

enum Record {
    User(String),
    Agent(String),
    Call { name: &'static str, input: Value, output: String, failed: bool },
}

pub(super) struct Session {
    pub(super) planted: Planted,
    records: Vec<Record>,
}

/// Files that a session changes; some get a second change, so the order is that of the last.
const FILES: [&str; 12] = [
    "src/umbra.rs",
    "src/penta.rs",
    "lib/quorum.py",
    "web/ribbon.ts",
    "web/sextant.tsx",
    "cmd/tonic.go",
    "src/ulna.java",
    "docs/verso.md",
    "src/waltz.c",
    "tests/xylem_test.py",
    "config/yonder.toml",
    "scripts/zephyr.sh",
];

/// Commands that can fail, the word by which each is known again, and what it says then.
const FAILING: [(&str, &str, &str); 6] = [
    ("make amberlint", "amberlint", "make: *** [amberlint] Error 2\nlint: 4 problems in build/rules.mk"),
    ("npm run cobaltbuild", "cobaltbuild", "error TS2304: Cannot find name 'Cobalt'.\n    at build (tools/build.ts:4)"),
    (
        "cargo test indigo_roundtrip",
        "indigo_roundtrip",
        "test indigo_roundtrip ... FAILED\n\nfailures:\n    indigo_roundtrip\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored",
    ),
    (
        "pytest tests/test_scarlet.py",
        "test_scarlet",
        "E   AssertionError: assert 3 == 4\n=========== 1 failed, 7 passed in 0.41s ===========",
    ),
    ("docker build -t viridian .", "viridian", "ERROR: failed to solve: base image viridian:edge not found"),
    (
        "go test ./magenta/...",
        "magenta",
        "--- FAIL: TestMagenta (0.00s)\n    magenta_test.go:9: got nil\nFAIL\tproject/magenta\t0.01s",
    ),
];

impl Session {
    pub(super) fn make(number: u64, seed: u64, half: Half) -> Self {
        let mut maker = Maker {
            dice: Dice::new(number, seed, half),
            session: Self { planted: Planted::default(), records: Vec::new() },
        };
        maker.begin();
        let open = maker.work();
        maker.end(open);
        maker.session
    }

    /// The words in which something was planted.
    pub(super) fn saying(&self, word: &str) -> Option<&str> {
        self.records.iter().find_map(|record| match record {
            Record::User(text) | Record::Agent(text) if text.contains(word) => Some(text.as_str()),
            _ => None,
        })
    }

    /// The session as its client's file.
    pub(super) fn text(&self, project: &Path) -> String {
        let mut file = File { project, lines: String::new(), parent: None, count: 0 };
        for record in &self.records {
            file.put(record);
        }
        file.lines
    }
}

struct Maker {
    dice: Dice,
    session: Session,
}

impl Maker {
    fn user(&mut self, text: impl Into<String>) {
        self.session.records.push(Record::User(text.into()));
    }

    fn agent(&mut self, text: impl Into<String>) {
        self.session.records.push(Record::Agent(text.into()));
    }

    fn working(&mut self) {
        let words = noise::working(&mut self.dice);
        self.agent(words);
    }

    fn call(&mut self, name: &'static str, input: Value, output: &str, failed: bool) {
        self.session.records.push(Record::Call { name, input, output: output.to_owned(), failed });
    }

    fn run(&mut self, command: &str, output: &str, failed: bool) {
        self.call("Bash", json!({ "command": command, "description": "Run it" }), output, failed);
    }

    /// The request, sometimes among other things, sometimes replaced later.
    fn begin(&mut self) {
        let things = self.dice.things(THINGS, 2);
        let injected = noise::BOILERPLATE[self.dice.roll(4)];
        self.user(injected);
        let mut request = say(self.dice.wording(TASKS), things[0], "");
        if self.dice.roll(3) == 0 {
            write!(request, "\n\nThis is what I get at the moment:\n\n{}", noise::PASTED).ok();
        }
        self.session.planted.requests.push(request.clone());
        self.user(request);
        self.session.planted.task = key(things[0]).to_owned();
        self.look_around();
        if self.dice.roll(3) == 0 {
            let rebase = say(self.dice.wording(REBASES), things[1], "");
            self.session.planted.requests.push(rebase.clone());
            self.user(rebase);
            self.session.planted.old_task =
                Some(std::mem::replace(&mut self.session.planted.task, key(things[1]).to_owned()));
            self.look_around();
        }
    }

    fn look_around(&mut self) {
        self.working();
        for _ in 0..2 + self.dice.roll(3) {
            let output = noise::output(&mut self.dice);
            match self.dice.roll(3) {
                0 => self.call("Read", json!({ "file_path": "/read/only/manual.md" }), output, false),
                1 => self.call("Grep", json!({ "pattern": "TODO|FIXME", "path": "src" }), output, false),
                _ => self.run("git log -3", output, false),
            }
        }
    }

    /// Decisions, questions, failures and files, in an order that the dice decide.
    ///
    /// The answer is what is still to be asked.
    fn work(&mut self) -> &'static str {
        let choices = self.dice.things(CHOICES, 4);
        let reasons = self.dice.things(REASONS, 4);
        let subjects = self.dice.things(SUBJECTS, 3);
        let mut failing: Vec<usize> = (0..FAILING.len()).collect();
        for (index, choice) in choices.iter().enumerate() {
            self.change_files(index);
            let decision = say(self.dice.wording(DECISIONS), choice, reasons[index]);
            if self.dice.roll(2) == 0 {
                self.user(decision);
            } else {
                self.agent(decision);
            }
            self.session.planted.decisions.push(key(choice).to_owned());
            let which = failing.swap_remove(self.dice.roll(failing.len()));
            if index < 2 {
                self.fail_and_mend(which);
            } else if index == 2 {
                self.fail_for_good(which);
            }
            if index == 1 {
                self.answered_question(subjects[0]);
            }
            if self.dice.roll(2) == 0 {
                let talk = noise::talk(&mut self.dice);
                self.user(talk);
                self.working();
            }
            self.look_around();
        }
        self.session.planted.questions.push(key(subjects[1]).to_owned());
        subjects[1]
    }

    fn change_files(&mut self, round: usize) {
        for file in &FILES[round * 3..round * 3 + 3] {
            let path = format!("/project/{file}");
            if self.dice.roll(2) == 0 {
                self.call(
                    "Write",
                    json!({ "file_path": path, "content": format!("// {file}\n") }),
                    "File created",
                    false,
                );
            } else {
                let input = json!({ "file_path": path, "old_string": "a", "new_string": "b" });
                self.call("Edit", input, "The file has been updated.", false);
            }
            self.session.planted.files.push((*file).to_owned());
        }
    }

    fn fail_and_mend(&mut self, which: usize) {
        let (command, mark, says) = FAILING[which];
        self.run(command, says, true);
        self.working();
        self.run(command, "ok", false);
        self.session.planted.resolved.push(mark.to_owned());
    }

    fn fail_for_good(&mut self, which: usize) {
        let (command, mark, says) = FAILING[which];
        for _ in 0..2 {
            self.run(command, says, true);
        }
        self.session.planted.unresolved.push(mark.to_owned());
    }

    fn answered_question(&mut self, subject: &str) {
        let mut pair = (self.dice.wording(QUESTIONS), self.dice.wording(ANSWERS));
        // A yes to `which?` answers nothing, and the question would rightly stay open.
        for _ in 0..50 {
            if answers(pair.0, pair.1) {
                break;
            }
            pair = (self.dice.wording(QUESTIONS), self.dice.wording(ANSWERS));
        }
        let question = say(pair.0, subject, "");
        self.agent(question);
        self.user(pair.1);
        self.session.planted.answered.push(key(subject).to_owned());
    }

    /// The last reply asks what is open, and says what is next.
    fn end(&mut self, open: &str) {
        let step = self.dice.things(STEPS, 1)[0];
        let next = say(self.dice.wording(NEXT), step, "");
        self.session.planted.next = key(step).to_owned();
        let question = say(self.dice.wording(QUESTIONS), open, "");
        let first = noise::working(&mut self.dice);
        self.agent(format!("{first}\n\n{question}\n\n{next}"));
    }
}

/// Whether an answer fits a question: a bare yes, no or ok fits what can be answered by it.
fn answers(question: &str, answer: &str) -> bool {
    const ASKS: [&str; 9] = ["which", "what", "how", "when", "where", "who", "whose", "why", "or"];
    let words = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
    };
    let is_polar = words(answer)
        .first()
        .is_some_and(|word| matches!(word.as_str(), "yes" | "no" | "ok" | "okay" | "sure" | "fine"));
    !is_polar || !words(question).iter().any(|word| ASKS.contains(&word.as_str()))
}

/// A session file in the making.
struct File<'a> {
    project: &'a Path,
    lines: String,
    parent: Option<String>,
    count: u32,
}

impl File<'_> {
    fn put(&mut self, record: &Record) {
        match record {
            Record::User(text) => self.line("user", &json!({ "role": "user", "content": text })),
            Record::Agent(text) => self.said(&json!({ "type": "text", "text": text })),
            Record::Call { name, input, output, failed } => {
                let id = format!("toolu_{:06}", self.count);
                let input = self.placed(input);
                self.said(&json!({ "type": "tool_use", "id": id, "name": name, "input": input }));
                let text = if *failed { format!("Exit code 1\n{output}") } else { output.clone() };
                let result = json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed });
                self.line("user", &json!({ "role": "user", "content": [result] }));
            }
        }
    }

    /// Files lie in the project.
    fn placed(&self, input: &Value) -> Value {
        let mut input = input.clone();
        if let Some(path) =
            input.get("file_path").and_then(Value::as_str).and_then(|path| path.strip_prefix("/project/"))
        {
            input["file_path"] = json!(self.project.join(path));
        }
        input
    }

    fn said(&mut self, block: &Value) {
        let message = json!({
            "id": format!("msg_{:06}", self.count), "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [block],
        });
        self.line("assistant", &message);
    }

    fn line(&mut self, kind: &str, message: &Value) {
        self.count += 1;
        let uuid = format!("{:08x}-0000-4000-8000-000000000000", self.count);
        let record = json!({
            "type": kind, "message": message, "uuid": uuid, "parentUuid": self.parent, "isSidechain": false,
            "timestamp": format!("2026-11-15T10:{:02}:{:02}.000Z", self.count / 60 % 60, self.count % 60),
            "sessionId": "00000000-0000-4000-8000-000000000042", "cwd": self.project, "version": "2.1.325",
            "gitBranch": "main", "entrypoint": "cli", "userType": "external",
        });
        self.parent = Some(uuid);
        self.lines.push_str(&record.to_string());
        self.lines.push('\n');
    }
}
