//! Commands of ours, for agents that keep such in files: they save conversations and go on with them, by calling us.

use std::path::{Path, PathBuf};

use carryover_agents::{CommandFiles, CommandText, Facts};

use super::error::InstallError;
use super::managed_file::FileChange;
use super::own_file;
use super::record::{FileKind, InstallRecord};
use super::setup::new_record;
use crate::client;
use crate::context::Context;

/// A command, before an agent's own form.
struct OwnCommand {
    name: &'static str,
    description: &'static str,
    text: &'static str,
    /// The type of the conversation that it begins, where it begins one.
    kind: Option<&'static str>,
}

/// Said at the end of each that begins a conversation.
const SAVING: &str = include_str!("own_commands/saving.md");

const COMMANDS: [OwnCommand; 7] = [
    OwnCommand {
        name: "workspace.resume",
        description: "Go on with a conversation that is kept in this project",
        text: include_str!("own_commands/resume.md"),
        kind: None,
    },
    OwnCommand {
        name: "workspace.stop-conversation",
        description: "Save this conversation in the project, and stop",
        text: include_str!("own_commands/stop-conversation.md"),
        kind: None,
    },
    OwnCommand {
        name: "workspace.brainstorm",
        description: "Begin to brainstorm, to be saved in the project",
        text: include_str!("own_commands/brainstorm.md"),
        kind: Some("brainstorm"),
    },
    OwnCommand {
        name: "workspace.debug",
        description: "Begin to look for a cause, to be saved in the project",
        text: include_str!("own_commands/debug.md"),
        kind: Some("debug"),
    },
    OwnCommand {
        name: "workspace.plan",
        description: "Begin a plan, to be saved in the project",
        text: include_str!("own_commands/plan.md"),
        kind: Some("plan"),
    },
    OwnCommand {
        name: "workspace.learn",
        description: "Begin to learn something, to be saved in the project",
        text: include_str!("own_commands/learn.md"),
        kind: Some("learn"),
    },
    OwnCommand {
        name: "carryover.handoff",
        description: "Hand this session over to another agent",
        text: include_str!("own_commands/handoff.md"),
        kind: None,
    },
];

/// The name and the description of each.
pub fn list_commands() -> impl Iterator<Item = (&'static str, &'static str)> {
    COMMANDS.iter().map(|command| (command.name, command.description))
}

/// What is typed for each, in one agent.
pub fn typed_names(files: &CommandFiles) -> Vec<String> {
    COMMANDS.iter().map(|command| files.typed_name(command.name)).collect()
}

/// The files in which an agent's commands of ours are.
pub(super) fn file_paths(context: &Context, facts: &Facts) -> Vec<PathBuf> {
    let Some(files) = facts.commands else { return Vec::new() };
    let Some(folder) = files.own_folder(&context.env) else { return Vec::new() };
    COMMANDS.iter().map(|command| folder.join(files.file_name(command.name))).collect()
}

/// Plans to write all of them for an agent, each for itself: one that is somebody else's stays.
pub(super) fn plan_all(
    context: &Context,
    record: &InstallRecord,
    facts: &'static Facts,
) -> Vec<Result<FileChange, InstallError>> {
    let Some(files) = facts.commands else { return Vec::new() };
    let paths = file_paths(context, facts);
    let program = program_word(context, Path::new(&record.program));
    let plan = |(command, path): (&OwnCommand, PathBuf)| {
        let prompt = command.render_prompt(&program, facts.id, &files.typed_name("workspace.resume"));
        let text = files.render(command.name, CommandText { description: command.description, prompt: &prompt });
        own_file::plan_put(context, record, new_record(facts.id, FileKind::Command, &path), text, None)
    };
    COMMANDS.iter().zip(paths).map(plan).collect()
}

impl OwnCommand {
    fn render_prompt(&self, program: &str, agent: &str, resume: &str) -> String {
        let saving = if self.kind.is_some() { SAVING } else { "" };
        format!("{}{saving}", self.text)
            .replace("{type}", self.kind.unwrap_or_default())
            .replace("{carryover}", program)
            .replace("{agent}", agent)
            .replace("{resume}", resume)
    }
}

/// How a shell calls us: by name where that leads here, else by our place.
fn program_word(context: &Context, program: &Path) -> String {
    if client::find_program(context, "carryover").as_deref() == Some(program) {
        return "carryover".to_owned();
    }
    let path = program.display().to_string();
    let is_plain = path.chars().all(|c| c.is_ascii_alphanumeric() || "/._-\\:".contains(c));
    if is_plain { path } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_calls_us_and_nothing_else() {
        for command in &COMMANDS {
            let prompt = command.render_prompt("carryover", "an-agent", "$workspace-resume");
            assert!(prompt.contains("$ARGUMENTS") && !prompt.contains(['{', '}']), "{prompt}");
            let called: Vec<&str> = prompt.lines().filter(|line| line.starts_with("    ")).collect();
            assert!(called.iter().all(|line| line.starts_with("    carryover ")), "{prompt}");
            assert!(prompt.contains("carryover save --source an-agent") || command.kind.is_none(), "{prompt}");
        }
    }

    #[test]
    fn each_begins_its_own_type() {
        for command in COMMANDS.iter().filter(|command| command.kind.is_some()) {
            assert!(command.name.ends_with(command.kind.unwrap()));
            assert!(
                command.render_prompt("carryover", "a", "").contains(&format!("--type {} ", command.kind.unwrap()))
            );
        }
    }
}
