//! Messages in the user's place, taken apart: the words that were typed, and what the client put beside them.

use carryover_core::transcript::{Body, Origin, Part};

use crate::formats::user_message::UserMessage;

/// How the client begins what it sends of its own; it is never the user's words.
const BOILERPLATE_STARTS: &[&str] = &["<system-reminder>", "This is the Qwen Code. We are setting up the context"];

/// How it begins what it tells its model of this session: a hook's words, what was run besides, templates of its own.
const REPORT_STARTS: &[&str] = &[
    "<qwen:user-prompt-submit-context>",
    "<task-notification>",
    "I ran the following shell command:\n```sh\n",
    "You are Qwen Code, an interactive CLI agent. Analyze the current directory and generate a comprehensive QWEN.md",
];

/// A message of the user's in the course of being read.
pub(super) fn begin() -> UserMessage {
    UserMessage::new(sort_words)
}

fn sort_words(message: &mut UserMessage, text: &str) {
    let part = Part::Text(text.to_owned());
    let origin = match text.trim_start() {
        words if is_boilerplate(words) => Origin::Harness,
        words if REPORT_STARTS.iter().any(|start| words.starts_with(start)) || is_template(words) => Origin::Hook,
        _ => return message.typed.push(part),
    };
    message.added.push((origin, Body::Prompt(vec![part])));
}

/// Whether a text would be read as typed, and all of it.
pub(super) fn is_typed(text: &str) -> bool {
    let mut message = begin();
    message.add_text(text);
    message.end_files();
    message.added.is_empty()
}

pub(super) fn is_boilerplate(text: &str) -> bool {
    BOILERPLATE_STARTS.iter().any(|beginning| text.trim_start().starts_with(beginning))
}

/// A command of the user's own is sent with the head of its file; what was typed is in a record of its own.
fn is_template(text: &str) -> bool {
    let head = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---"));
    head.is_some_and(|(head, _)| head.trim_start().starts_with("description:"))
}

/// The client's own commands, which its model does not hear of.
const LOCAL_COMMANDS: &[&str] = &[
    "about",
    "agents",
    "approval-mode",
    "arena",
    "auth",
    "bug",
    "chat",
    "clear",
    "compress",
    "context",
    "copy",
    "corgi",
    "cost",
    "delete",
    "directory",
    "dir",
    "docs",
    "doctor",
    "editor",
    "effort",
    "exit",
    "export",
    "extensions",
    "goal",
    "help",
    "history",
    "hooks",
    "ide",
    "init",
    "insight",
    "language",
    "lsp",
    "mcp",
    "memory",
    "model",
    "new",
    "permissions",
    "plan",
    "quit",
    "recap",
    "rename",
    "reset",
    "restore",
    "resume",
    "rewind",
    "settings",
    "setup-github",
    "skills",
    "stats",
    "status",
    "statusline",
    "summary",
    "tasks",
    "terminal-setup",
    "theme",
    "tools",
    "trust",
    "vim",
    "voice",
];

/// The typed text of a command that went to the model. Former versions do not say whether it did: then it is one that
/// is not the client's own, with words behind its name.
pub(super) fn typed_command(command: &str, sent: Option<bool>) -> Option<&str> {
    let command = command.trim();
    let (name, words) = command.strip_prefix('/')?.split_once(char::is_whitespace)?;
    let is_sent = sent.unwrap_or(!LOCAL_COMMANDS.contains(&name));
    (is_sent && !words.trim().is_empty()).then_some(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Vec<(Origin, String)> {
        let mut message = begin();
        for text in texts {
            message.add_text(text);
        }
        message.end_files();
        message.texts_by_origin()
    }

    #[test]
    fn files_that_a_prompt_names_are_not_its_words() {
        let block = "\n--- Content from referenced files ---";
        let parts = ["explain @a.rs", block, "\nContent from a.rs:\n", "fn a() {}", "\n--- End of content ---"];
        let read = read(&parts);
        assert_eq!(read[0], (Origin::User, "explain @a.rs".to_owned()));
        assert!(read[1].0 == Origin::Hook && read[1].1.contains("fn a() {}"), "{read:?}");
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn templates_and_reminders_are_not_typed() {
        let template = "---\ndescription: Plan the work.\n---\n\nPlan: a clock";
        let hook = "<qwen:user-prompt-submit-context>be brief</qwen:user-prompt-submit-context>";
        let reminder = "<system-reminder>plan mode</system-reminder>";
        let expected = [(Origin::Hook, template), (Origin::Hook, hook), (Origin::Harness, reminder)];
        assert_eq!(read(&[template, hook, reminder]), expected.map(|(origin, text)| (origin, text.to_owned())));
    }

    #[test]
    fn a_command_that_went_to_the_model_was_typed() {
        assert_eq!(typed_command("/plan.it a clock", None), Some("/plan.it a clock"));
        assert_eq!(typed_command("/model big", None), None);
        assert_eq!(typed_command("/goal a clock", Some(true)), Some("/goal a clock"));
        assert_eq!(typed_command("/plan.it a clock", Some(false)), None);
        assert_eq!(typed_command("/plan.it", None), None);
    }
}
