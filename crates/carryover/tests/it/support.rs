//! A home of its own for every test, and what the program says in it.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use carryover_agents::AGENTS;
use carryover_testkit::agents::find_lab;
use carryover_testkit::lab::{Lab, LooseFile};
use serde_json::Value;
use tempfile::TempDir;

/// The bundled sessions of the demo, as their clients would have stored them.
const SESSIONS: &[(&str, &str)] = &[
    (
        ".claude/projects/{slug}/d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl",
        include_str!("../../demo/claude-code.jsonl"),
    ),
    (
        ".codex/sessions/2026/11/15/rollout-2026-11-15T08-10-00-01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8.jsonl",
        include_str!("../../demo/codex.jsonl"),
    ),
];

/// The id of the bundled Claude Code session.
pub(crate) const CLAUDE: &str = "d3a03cdd";

/// The id of the bundled Codex session.
pub(crate) const CODEX: &str = "01a1dcb4";

/// A home, a project in it, a clock that stands still.
pub(crate) struct TestEnv {
    folder: TempDir,
    vars: Vec<(String, String)>,
}

/// What the program said.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl TestEnv {
    /// A home without any agent.
    pub(crate) fn new() -> Self {
        let env = Self { folder: tempfile::tempdir().unwrap(), vars: Vec::new() };
        fs_err::create_dir_all(env.project()).unwrap();
        env
    }

    /// A home with two sessions of one project.
    pub(crate) fn with_sessions() -> Self {
        let env = Self::new();
        let project = env.project().display().to_string();
        for (path, text) in SESSIONS {
            env.write(&path.replace("{slug}", &slug(&project)), &text.replace("/home/you/calc", &project));
        }
        env
    }

    /// Gives its daemon a port of its own, or none with 0: tests run side by side.
    #[cfg(unix)]
    pub(crate) fn set_daemon_port(&self, port: u16) {
        self.write(".carryover/config.toml", &format!("[daemon]\nport = {port}\n"));
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs_err::set_permissions(self.home().join(".carryover"), private).unwrap();
    }

    /// Sets a variable for every run.
    pub(crate) fn var(mut self, name: &str, value: &str) -> Self {
        self.vars.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Puts a client in place that tells where and how it was started.
    #[cfg(unix)]
    pub(crate) fn with_client(self, name: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let program = format!("bin/{name}");
        self.write(&program, &format!("#!/bin/sh\necho \"{name} in $PWD: $*\"\n"));
        fs_err::set_permissions(self.home().join(program), std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:/bin:/usr/bin", self.home().join("bin").display());
        self.var("PATH", &path)
    }

    /// The home, without links: `/tmp` is one on some systems.
    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home().join("calc")
    }

    /// Writes a file below the home; it was last changed before the clock stood still.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home().join(path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(&path, text).unwrap();
        let changed = SystemTime::UNIX_EPOCH + Duration::from_hours(498_537);
        fs_err::OpenOptions::new().write(true).open(&path).unwrap().into_parts().0.set_modified(changed).unwrap();
    }

    /// The program with arguments, in the project.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_carryover"));
        command.args(args).current_dir(self.project()).env_clear();
        command.env("HOME", self.home()).env("USERPROFILE", self.home()).env("TZ", "UTC").env("COLUMNS", "120");
        command.env("CARRYOVER_NOW", "2026-11-15T10:00:00Z").env("CARRYOVER_SEED", "1000000");
        command.envs(self.vars.iter().map(|(name, value)| (name, value)));
        command
    }

    #[must_use = "compare the output, or assert its exit code"]
    pub(crate) fn run(&self, args: &[&str]) -> Said {
        self.said(self.command(args).output().unwrap())
    }

    #[must_use = "compare the output, or assert its exit code"]
    pub(crate) fn run_in(&self, folder: &Path, args: &[&str]) -> Said {
        self.said(self.command(args).current_dir(folder).output().unwrap())
    }

    /// Runs with `--json` and checks the answer against its schema.
    pub(crate) fn json(&self, schema: &str, args: &[&str]) -> Value {
        let output = self.command(args).arg("--json").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        check_schema(schema, &value);
        value
    }

    /// Resumes with `--json`.
    pub(crate) fn resume_json(&self, args: &[&str]) -> Value {
        self.json("resume", args)
    }

    /// Paths differ from run to run, so they are named; so do sizes, which depend on how long paths are.
    pub(crate) fn said(&self, output: Output) -> Said {
        let home = self.home().display().to_string();
        let text = |bytes: Vec<u8>| {
            let text = String::from_utf8(bytes).unwrap();
            without_sizes(&text.replace(&home, "[HOME]").replace(&slug(&home), "[SLUG]"))
        };
        Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }

    /// Every file below the home with its bytes, to see what changed.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        collect(&self.home(), &mut found);
        found.retain(|(path, _)| !path.starts_with(self.home().join(".carryover")));
        found.sort();
        found
    }
}

/// The session's client meets a limit.
pub(crate) fn meet_limit(env: &TestEnv) {
    let info = serde_json::json!({ "rate_limit_info": { "status": "rejected", "resetsAt": 1_794_744_000 } });
    let message = serde_json::json!({ "model": "<synthetic>", "role": "assistant", "content": [{ "type": "text",
        "text": "You've hit your limit" }] });
    let record = serde_json::json!({ "type": "assistant", "parentUuid": null, "isSidechain": false, "error": "rate_limit",
        "sessionId": "d3a03cdd-c689-41e6-9587-86a6223f5251", "uuid": "00000000-0000-4000-8000-000000000001",
        "timestamp": "2026-11-15T10:00:00.000Z", "isApiErrorMessage": true, "apiErrorParams": info, "message": message });
    append_record(env, &record);
}

/// The session's client writes a record.
pub(crate) fn append_record(env: &TestEnv, record: &Value) {
    let folders = fs_err::read_dir(env.home().join(".claude/projects")).unwrap();
    let folder = folders.map(|folder| folder.unwrap().path()).next().unwrap();
    let path = folder.join("d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl");
    let mut file = fs_err::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(format!("{record}\n").as_bytes()).unwrap();
}

/// Another session of the same client in the project: what was said, with who said it.
pub(crate) fn write_session(env: &TestEnv, id: &str, said: &[(&str, Value)]) {
    let folder = fs_err::read_dir(env.home().join(".claude/projects")).unwrap().next().unwrap().unwrap().path();
    let mut lines = Vec::new();
    let mut parent = Value::Null;
    for (index, (role, content)) in said.iter().enumerate() {
        let uuid = Value::from(format!("{id}-{index}"));
        let record = serde_json::json!({ "type": role, "parentUuid": parent, "uuid": uuid, "isSidechain": false,
            "userType": "external", "sessionId": id, "timestamp": "2026-11-15T09:40:00.000Z", "cwd": env.project(),
            "version": "2.1.0", "message": { "role": role, "content": content } });
        lines.push(record.to_string());
        parent = uuid;
    }
    let file = folder.join(format!("{id}.jsonl"));
    env.write(file.strip_prefix(env.home()).unwrap().to_str().unwrap(), &(lines.join("\n") + "\n"));
}

/// The agents whose sessions are files: into a database, only its own client writes, which is not here.
pub(crate) fn file_targets() -> impl Iterator<Item = &'static str> {
    let writers = AGENTS.iter().filter(|agent| agent.writer().is_some()).map(|agent| agent.facts().id);
    writers.filter(|id| find_lab(id).is_some_and(|lab| !lab.sample.is_database()))
}

/// The agents' ids as a message lists them.
pub(crate) fn listed_agents() -> String {
    AGENTS.iter().map(|agent| agent.facts().id).collect::<Vec<_>>().join(", ")
}

/// A path as a folder's name, the way one of the clients makes it.
pub(crate) fn slug(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Hides the digits of sizes and token counts.
fn without_sizes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let number = &rest[start..];
        let end = number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        let size = [" KB", "k ", "k,"].iter().any(|unit| after.starts_with(unit));
        out.push_str(&rest[..start]);
        out.extend(number.chars().map(|c| if size && c.is_ascii_digit() { '#' } else { c }));
        rest = after;
    }
    out + rest
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else {
            let bytes = fs_err::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
}

/// Fails with every way in which a value breaks its schema.
pub(crate) fn check_schema(name: &str, value: &Value) {
    let path = format!("{}/../../docs/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
    let schema: Value = serde_json::from_str(&fs_err::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
}

impl Said {
    /// Lists of all agents, which grow with every new one, are named.
    pub(crate) fn without_agents(mut self) -> Self {
        for text in [&mut self.stdout, &mut self.stderr] {
            *text = text.replace(&listed_agents(), "[AGENTS]");
        }
        self
    }

    /// The output of a run that went well.
    pub(crate) fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "{self}");
        self
    }
}

impl fmt::Display for Said {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "exit code {}", self.code.map_or_else(|| "none".to_owned(), |code| code.to_string()))?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(out, "--- {name}\n{}", text.trim_end())?;
            }
        }
        Ok(())
    }
}

/// Puts a session of an agent's fixtures beside the project; the answer is how a command in the project names it.
pub(crate) fn write_loose_file(env: &TestEnv, lab: &Lab, loose: &LooseFile) -> String {
    let agents = Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("agents");
    let fixture = agents.join(format!("src/{}/fixtures/{}", lab.id.replace('-', "_"), loose.fixture));
    env.write(&format!("in/{}", loose.name), &fs_err::read_to_string(fixture).unwrap());
    format!("../in/{}", loose.name)
}
