//! Aider with one message per run. Its sessions lie in the project, all runs in one history file.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Ask, Look, Runner, Session, words, write_json};
use crate::client::{ClientError, Sandbox, Setup};
use crate::model::{FLAT_MODEL, SIDE_MODEL};

pub(super) struct Aider;

/// The history file that the client uses unless it is told of another.
pub(crate) const HISTORY: &str = ".aider.chat.history.md";

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

    fn args(&self, sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args = base_args();
        match ask.session {
            Session::New(_) => {}
            Session::Named(id) => {
                args.push(format!("--chat-history-file={}", history(&sandbox.project, id).display()));
                args.push("--restore-chat-history".to_owned());
            }
            Session::Newest => args.push("--restore-chat-history".to_owned()),
        }
        args.extend(words(&["--message", ask.prompt]));
        args
    }

    /// It has no listing: a session is the history file that it is pointed at.
    fn lists(&self, _look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        Ok(None)
    }
}

/// What every run is told.
pub(crate) fn base_args() -> Vec<String> {
    let mut args = words(&["--no-check-update", "--analytics-disable", "--yes", "--no-show-model-warnings"]);
    args.extend(words(&[
        "--no-show-release-notes",
        "--no-pretty",
        "--no-stream",
        "--map-tokens=0",
        "--edit-format=diff",
    ]));
    // Long histories are summarised before they are sent; what is measured is the history.
    args.extend(words(&["--max-chat-history-tokens=1000000", "--no-gitignore", "--no-suggest-shell-commands"]));
    args.push(format!("--model=openai/{FLAT_MODEL}"));
    args.push(format!("--weak-model=openai/{SIDE_MODEL}"));
    args
}

/// The history file of a session: the one that is named, or the common one.
fn history(project: &Path, named: &str) -> PathBuf {
    let path = project.join(named);
    if !named.is_empty() && path.is_file() { path } else { project.join(HISTORY) }
}
