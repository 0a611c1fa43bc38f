//! A home with two sessions in it, made for the demo and removed after it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::Env;
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::own::config::Config;
use tempfile::TempDir;

use crate::error::CommandError;
use crate::process_env::resolve_path;

/// The folder that the bundled sessions were made in.
const ORIGINAL_PROJECT: &str = "/home/you/calc";

/// The day on which they were made.
const DAY_PREFIX: &str = "\"2026-11-15T";

/// The files of the project, as the sessions left them.
const PROJECT_FILES: &[(&str, &str)] = &[
    ("calc.py", "def add(a, b):\n    return a + b\n"),
    ("test_calc.py", "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"),
    ("stats.py", "def mean(xs):\n    return sum(xs) / len(xs) if xs else 0\n"),
];

/// Sessions that the real clients wrote, shortened, with the minutes that they are old when the demo starts.
const CLAUDE_CODE: (&str, i64) = (include_str!("../../../demo/claude-code.jsonl"), 4);
const CODEX: (&str, i64) = (include_str!("../../../demo/codex.jsonl"), 58);

/// A temporary home.
pub(super) struct Sandbox {
    folder: TempDir,
    context: Context,
}

impl Sandbox {
    /// Makes the home, and surroundings in which only it exists.
    pub(super) fn unpack(outer: &Context) -> Result<Self, CommandError> {
        let folder = tempfile::Builder::new().prefix("carryover-demo-").tempdir()?;
        let home = resolve_path(folder.path());
        let project = home.join("calc");
        for (name, text) in PROJECT_FILES {
            write_file(&project.join(name), text)?;
        }
        write_sessions(&home, &project, outer.env.now)?;
        let env = Env {
            home: home.clone(),
            vars: BTreeMap::new(),
            stores: BTreeMap::new(),
            projects: Vec::new(),
            ..outer.env.clone()
        };
        let context = Context::with_config(env, Config::default(), home.join(".carryover"), project, outer.seed);
        Ok(Self { folder, context })
    }

    /// The surroundings of a step; each has its own randomness.
    pub(super) fn context(&self, step: usize) -> Context {
        let seed = self.context.seed.wrapping_add((step as u128) << 64);
        Context { seed, ..self.context.clone() }
    }

    /// Removes everything, and fails where that fails.
    pub(super) fn remove(self) -> Result<(), CommandError> {
        Ok(self.folder.close()?)
    }
}

fn write_sessions(home: &Path, project: &Path, now: Timestamp) -> Result<(), CommandError> {
    let (text, age) = CLAUDE_CODE;
    let path =
        home.join(".claude/projects").join(project_slug(project)).join("d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl");
    write_file(&path, &adapt_session(text, project, now.plus_millis(-age * 60_000)))?;
    let (text, age) = CODEX;
    let ended = now.plus_millis(-age * 60_000);
    let (date, clock) = (ended.to_string().replace('-', "/"), ended.to_string().replace(':', "-"));
    let name = format!("rollout-{}-01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8.jsonl", &clock[..19]);
    let path: PathBuf = home.join(".codex/sessions").join(&date[..10]).join(name);
    write_file(&path, &adapt_session(text, project, ended))
}

/// A session moved to another folder and another time.
fn adapt_session(text: &str, project: &Path, ended: Timestamp) -> String {
    let last = find_times(text).map(|(_, at)| at).max().unwrap_or(ended);
    let shift = ended.millis() - last.millis();
    let mut moved = String::with_capacity(text.len());
    let mut written = 0;
    for (start, at) in find_times(text) {
        moved.push_str(&text[written..start]);
        moved.push_str(&at.plus_millis(shift).to_string());
        written = start + TIME_BYTES;
    }
    moved.push_str(&text[written..]);
    let project = serde_json::Value::from(project.display().to_string()).to_string();
    moved.replace(ORIGINAL_PROJECT, project.trim_matches('"'))
}

/// How long a time is as both clients write it.
const TIME_BYTES: usize = "2026-11-15T09:00:00.000Z".len();

/// The times in a session, with where they stand.
fn find_times(text: &str) -> impl Iterator<Item = (usize, Timestamp)> + '_ {
    text.match_indices(DAY_PREFIX).filter_map(|(quote, _)| {
        let start = quote + 1;
        Some((start, Timestamp::parse(text.get(start..start + TIME_BYTES)?)?))
    })
}

/// The name of a project's folder: every character that is no letter and no digit becomes a dash.
fn project_slug(project: &Path) -> String {
    project.display().to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

fn write_file(path: &Path, text: &str) -> Result<(), CommandError> {
    if let Some(folder) = path.parent() {
        fs_err::create_dir_all(folder)?;
    }
    Ok(fs_err::write(path, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_move_in_time_and_place() {
        let ended = Timestamp::parse("2030-01-02T03:04:05.678Z").unwrap();
        for (text, _) in [CLAUDE_CODE, CODEX] {
            let moved = adapt_session(text, Path::new("/tmp/x"), ended);
            assert!(moved.contains("\"2030-01-02T03:04:05.678Z\""));
            assert!(!moved.contains(DAY_PREFIX) && !moved.contains(ORIGINAL_PROJECT));
            assert_eq!(moved.lines().count(), text.lines().count());
            for line in moved.lines() {
                serde_json::from_str::<serde_json::Value>(line).unwrap();
            }
        }
    }
}
