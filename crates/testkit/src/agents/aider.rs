//! Aider: one message per run. Its sessions lie in the project, all runs in one history file.

mod driver;

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::client::runner::{ListingQuery, PromptRequest, Runner, SessionChoice, to_args, write_json};
use crate::client::{ClientError, Sandbox, Setup};
use crate::lab::{
    BenchPlace, ClientLab, Compaction, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Package,
    PinnedVersion, Sample, SessionPlace,
};
use crate::model::Block;
use crate::model::{FLAT_MODEL, SIDE_MODEL};
use crate::request::Loss;
use crate::scenario::dialect::Dialect;
use crate::scenario::tools::Tools;
use crate::scenario::{Ability, Action, ActionKind, Source};

pub(super) static LAB: Lab = Lab {
    id: "aider",
    name: "Aider",
    client: ClientLab {
        package: Package::pypi("aider-chat", "aider"),
        pins: &[PinnedVersion::new("0.86.2", "newest")],
        runner: &Aider,
        tools: &Aider,
        start_driver: |client, sandbox, setup, port| {
            Ok(Box::new(driver::AiderDriver::start(client, sandbox, setup, port)?))
        },
        // It compacts in memory only; an image is a file of the chat, and is not in its history.
        abilities: &[Ability::Interrupt],
        limit_code: "rate_limit_exceeded",
        compaction: Compaction::PLAIN,
        path_index: None,
    },
    conformance: ConformanceLab {
        losses: &[Loss::Structure, Loss::Images],
        loss_reason: Some("its history is text of the user and of the model, and nothing else"),
        ..ConformanceLab::lossless(SessionPlace::Project { prefix: ".aider." })
    },
    sample: SAMPLE,
    other_forms: &[],
    readings: &[ExpectedReading {
        fixture: "0.86.2-restored.md",
        tokens: "7950 in (0 from cache), 136 out (0 thought), openai/fake",
        start_settings: "",
        messages: "8 messages in 4 prompts and 4 pieces of replies",
    }],
    loose_files: &[LooseFile { fixture: "0.86.2-edit.md", name: HISTORY_FILE }],
    bench: BenchPlace::Markdown("project-{N}/.aider.chat.history.md"),
};

const SAMPLE: Sample = Sample {
    root: "calc",
    root_variable: None,
    file: HISTORY_FILE,
    format: Format::Lines(LineFormat {
        start_lines: &["# aider chat started at 2026-11-15 00:00:00", "> Aider v0.86.2  "],
        exchange: &["#### {FILL}  ", "Done."],
        renames: &[("#### ", "@you ")],
        without_words: &[],
    }),
    other_files: &["calc/.aider.conf.yml"],
    companions: &[],
};

struct Aider;

/// The history file that the client uses unless it is told of another.
const HISTORY_FILE: &str = ".aider.chat.history.md";

/// Its settings, of a home and of a project.
const CONFIG_FILE: &str = ".aider.conf.yml";

impl Runner for Aider {
    fn env(&self, sandbox: &Sandbox, _setup: &Setup, port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("OPENAI_API_BASE", format!("http://127.0.0.1:{port}/v1")),
            ("OPENAI_API_KEY", "sk-fake".to_owned()),
            // Its library fetches a list of models otherwise.
            ("LITELLM_LOCAL_MODEL_COST_MAP", "True".to_owned()),
            ("GIT_CONFIG_GLOBAL", sandbox.home.join(".gitconfig").display().to_string()),
        ]
    }

    fn configure(&self, sandbox: &Sandbox, _setup: &Setup, _port: u16) -> Result<(), ClientError> {
        fs_err::write(sandbox.home.join(".gitconfig"), "[user]\n\tname = Lab\n\temail = lab@example.invalid\n")?;
        // It fetches the same list once more itself, unless it has one of today that is not empty.
        let models = sandbox.home.join(".aider/caches/model_prices_and_context_window.json");
        write_json(&models, &json!({"none": {}}))
    }

    fn prompt_args(&self, sandbox: &Sandbox, ask: &PromptRequest<'_>) -> Vec<String> {
        let mut args = base_args();
        match ask.session {
            SessionChoice::New(_) => {}
            SessionChoice::Named(id) => {
                args.push(format!("--chat-history-file={}", history_path(&sandbox.project, id).display()));
                args.push("--restore-chat-history".to_owned());
            }
            SessionChoice::Newest => args.push("--restore-chat-history".to_owned()),
        }
        args.extend(to_args(&["--message", ask.prompt]));
        args
    }

    fn interface_args(&self, _session_id: &str) -> Vec<String> {
        to_args(&["--restore-chat-history"])
    }

    fn ready_text(&self) -> Option<&'static str> {
        Some("diff>")
    }

    /// The arguments of a run without a terminal, as settings.
    fn settle_interface(&self, sandbox: &Sandbox) -> Result<(), ClientError> {
        let settings = json!({
            "model": format!("openai/{FLAT_MODEL}"), "weak-model": format!("openai/{SIDE_MODEL}"),
            "edit-format": "diff", "map-tokens": 0, "max-chat-history-tokens": 1_000_000,
            "check-update": false, "show-model-warnings": false, "show-release-notes": false, "pretty": false,
            "stream": false, "gitignore": false, "suggest-shell-commands": false,
            "analytics-disable": true, "yes-always": true,
        });
        // What is JSON is YAML as well.
        write_json(&sandbox.home.join(CONFIG_FILE), &settings)
    }

    fn reads_opted_in_handoff(&self) -> bool {
        true
    }

    fn opt_in_handoff(&self, sandbox: &Sandbox) -> Result<(), ClientError> {
        let path = sandbox.project.join(CONFIG_FILE);
        if !path.exists() {
            fs_err::write(path, "read:\n  - .carryover/handoff.md\n")?;
        }
        Ok(())
    }

    /// It has no listing: a session is the history file that it is pointed at.
    fn lists_session(&self, _look: &ListingQuery<'_>) -> Result<Option<bool>, ClientError> {
        Ok(None)
    }
}

/// The arguments of every run.
fn base_args() -> Vec<String> {
    let mut args = to_args(&["--no-check-update", "--analytics-disable", "--yes", "--no-show-model-warnings"]);
    args.extend(to_args(&[
        "--no-show-release-notes",
        "--no-pretty",
        "--no-stream",
        "--map-tokens=0",
        "--edit-format=diff",
    ]));
    // Long histories are summarised before they are sent; what is measured is the history.
    args.extend(to_args(&["--max-chat-history-tokens=1000000", "--no-gitignore", "--no-suggest-shell-commands"]));
    args.push(format!("--model=openai/{FLAT_MODEL}"));
    args.push(format!("--weak-model=openai/{SIDE_MODEL}"));
    args
}

/// The history file of a session: the one that is named, or the common one.
fn history_path(project: &Path, named: &str) -> PathBuf {
    let path = project.join(named);
    if !named.is_empty() && path.is_file() { path } else { project.join(HISTORY_FILE) }
}

/// Its model makes no calls: it writes the changes that it wants into its text, all in one answer.
impl Tools for Aider {
    fn has_tool(&self, _source: &Source, what: ActionKind) -> bool {
        matches!(
            what,
            ActionKind::Say | ActionKind::SayUnicode | ActionKind::Think | ActionKind::Write | ActionKind::Edit
        )
    }

    fn perform_action(&self, _dialect: &Dialect<'_>, action: &Action) -> Block {
        Block::Text(edit_block(action))
    }

    fn answers_once(&self) -> bool {
        true
    }
}

/// A block that the client applies to a file.
fn edit_block(action: &Action) -> String {
    let file = action.file_path();
    let word = action.word(0);
    let (old, new) = match action.what {
        ActionKind::Edit => (format!("old line of {}\n", action.key), format!("new line {word}\n")),
        _ => (String::new(), format!("{word}\n")),
    };
    format!("{file}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n")
}
