//! Commands that the user typed with a slash, as the client records them.

use std::borrow::Cow;

use super::boilerplate::{SortedText, text_between};

/// Commands that the client carries out itself; all others are prompts that the user keeps in files.
const LOCAL_COMMANDS: &[&str] = &[
    "add-dir",
    "agents",
    "bashes",
    "bug",
    "clear",
    "color",
    "compact",
    "config",
    "context",
    "copy",
    "cost",
    "doctor",
    "effort",
    "exit",
    "export",
    "fast",
    "feedback",
    "fork",
    "help",
    "hooks",
    "ide",
    "install-github-app",
    "keybindings",
    "login",
    "logout",
    "mcp",
    "memory",
    "mobile",
    "model",
    "output-style",
    "permissions",
    "plan",
    "plugin",
    "privacy-settings",
    "quit",
    "rate-limit-options",
    "release-notes",
    "reload-plugins",
    "remote-control",
    "rename",
    "resume",
    "rewind",
    "sandbox",
    "skills",
    "stats",
    "status",
    "statusline",
    "tasks",
    "terminal-setup",
    "theme",
    "todos",
    "upgrade",
    "usage",
    "vim",
];

/// Local commands whose arguments are meant for the model.
const COMMANDS_WITH_PROMPT: &[&str] = &["compact", "plan"];

/// Whose words a recorded command holds, if it is one.
pub(super) fn sort_command(text: &str) -> Option<Vec<SortedText<'_>>> {
    if !text.starts_with("<command-name>") && !text.starts_with("<command-message>") {
        return None;
    }
    let name = text_between(text, "<command-name>", "</command-name>")?.trim().trim_start_matches('/');
    let args = text_between(text, "<command-args>", "</command-args>").unwrap_or_default().trim();
    if is_local(name, args) {
        return Some(vec![SortedText::Harness(text)]);
    }
    let mut sorted = vec![SortedText::User(Cow::Owned(format!("/{name} {args}").trim_end().to_owned()))];
    // The first clients keep what a command expands to beside it, later ones in a record of its own.
    let expanded = text_between(text, "<command-contents>", "</command-contents>").map(str::trim);
    sorted.extend(expanded.filter(|text| !text.is_empty()).map(|text| SortedText::Hook(Cow::Borrowed(text))));
    Some(sorted)
}

/// Whether a line is a command for the client alone.
pub(super) fn is_local_line(line: &str) -> bool {
    let Some(command) = line.trim().strip_prefix('/') else { return false };
    let (name, args) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    is_local(name, args.trim())
}

fn is_local(name: &str, args: &str) -> bool {
    LOCAL_COMMANDS.contains(&name) && (args.is_empty() || !COMMANDS_WITH_PROMPT.contains(&name))
}
