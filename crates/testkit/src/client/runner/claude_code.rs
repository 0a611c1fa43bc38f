//! Claude Code in its print mode.

use std::path::Path;

use fs_err as fs;

use super::{Ask, Look, Runner, Session, words};
use crate::client::{ClientError, Sandbox, Setup};

pub(super) struct ClaudeCode;

impl Runner for ClaudeCode {
    fn env(&self, sandbox: &Sandbox, _setup: &Setup, port: u16) -> Vec<(&'static str, String)> {
        vec![
            ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")),
            ("ANTHROPIC_API_KEY", "sk-ant-fake".to_owned()),
            ("DISABLE_TELEMETRY", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
            // A scripted failure is meant: retries would use up the script and the time.
            ("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()),
            // Since 2.1 the plan's tools are off in print mode unless asked for.
            ("CLAUDE_CODE_ENABLE_TASKS", "1".to_owned()),
            ("CLAUDE_CODE_ENABLE_TODO_TOOLS", "1".to_owned()),
            // It keeps images and background output in a shared temporary folder otherwise.
            ("CLAUDE_CODE_TMPDIR", sandbox.home.join("tmp").display().to_string()),
            // Allows the bypass flag for root, as in a container.
            ("IS_SANDBOX", "1".to_owned()),
        ]
    }

    fn args(&self, _sandbox: &Sandbox, ask: &Ask<'_>) -> Vec<String> {
        let mut args = words(&["-p", "--output-format", "json", "--dangerously-skip-permissions"]);
        match ask.session {
            Session::New(_) => {}
            Session::Named(id) => args.extend(words(&["--resume", id])),
            Session::Newest => args.push("--continue".to_owned()),
        }
        args.push(ask.prompt.to_owned());
        args
    }

    fn lists(&self, look: &Look<'_>) -> Result<Option<bool>, ClientError> {
        if look.client.pin.version.starts_with("2.0.") {
            // It goes by the times inside the files, and those are the source's; so the list is made short.
            keep_only(&look.sandbox.home.join(".claude/projects"), look.session_id)?;
        }
        // Its picker needs a terminal; but what it continues unasked is the first of the same list.
        let captured = look.client.continue_newest(look.sandbox, look.setup, "Probe: which session is this?")?;
        let user = captured.first()["metadata"]["user_id"].as_str().unwrap_or_default();
        Ok(Some(user.contains(look.session_id)))
    }
}

/// Removes all other sessions from a store.
fn keep_only(folder: &Path, session_id: &str) -> Result<(), ClientError> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            keep_only(&path, session_id)?;
        } else if !path.display().to_string().contains(session_id) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}
