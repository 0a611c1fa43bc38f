//! Prompts that a person keeps in files and calls by a name with a slash. Where they are and how they are written is data
//! in each agent's folder.

mod sent_prompt;

use std::path::PathBuf;

use toml_edit::DocumentMut;

use crate::facts::candidate_paths;
use crate::{Env, PathBase, PathRule};

pub use self::sent_prompt::CalledCommand;

/// How an agent keeps commands.
#[derive(Debug)]
pub struct CommandFiles {
    /// Where they are looked for, the nearest first.
    pub folders: &'static [PathRule],
    /// Where those go that are for all projects.
    pub own_folders: &'static [PathRule],
    pub form: CommandForm,
    /// What was typed for a command is in the session: a prompt without that was typed as it stands there.
    pub are_calls_written_down: bool,
}

/// How a command is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandForm {
    /// A prompt with a head between two lines of hyphens; `$ARGUMENTS` stands for what was typed.
    Markdown,
    /// The keys `description` and `prompt`; `{{args}}` stands for what was typed.
    Toml,
    /// `SKILL.md` in a folder of its own, with a head as above. It is called with a dollar sign, and nothing in it stands for
    /// what was typed: its reader sees that anyway.
    Skill,
}

/// A command in words, before an agent's own form.
#[derive(Debug, Clone, Copy)]
pub struct CommandText<'a> {
    pub description: &'a str,
    /// The prompt; `$ARGUMENTS` stands for what was typed.
    pub prompt: &'a str,
}

const MARKDOWN_ARGUMENTS: &str = "$ARGUMENTS";
const TOML_ARGUMENTS: &str = "{{args}}";

impl CommandFiles {
    /// The folders in which commands are looked for, in these surroundings.
    pub fn folders_in(&self, env: &Env) -> Vec<PathBuf> {
        places(self.folders, env)
    }

    /// The folder for those of all projects.
    pub fn own_folder(&self, env: &Env) -> Option<PathBuf> {
        places(self.own_folders, env).into_iter().next()
    }

    /// The file of a command below one of the folders. A family within a name is a folder.
    pub fn file_name(&self, command: &str) -> PathBuf {
        let name = command.trim_start_matches('/');
        match self.form {
            CommandForm::Skill => PathBuf::from(skill_name(name)).join("SKILL.md"),
            CommandForm::Markdown | CommandForm::Toml => file_of_family(name, self.form.extension()),
        }
    }

    /// What is typed for a command.
    pub fn typed_name(&self, name: &str) -> String {
        match self.form {
            CommandForm::Skill => format!("${}", skill_name(name)),
            CommandForm::Markdown | CommandForm::Toml => format!("/{name}"),
        }
    }

    /// A command as its file.
    pub fn render(&self, name: &str, command: CommandText<'_>) -> String {
        let CommandText { description, prompt } = command;
        match self.form {
            CommandForm::Markdown => format!("---\ndescription: {description}\n---\n\n{prompt}"),
            CommandForm::Skill => {
                let prompt = prompt.replace(MARKDOWN_ARGUMENTS, "what was written beside the name of this skill");
                format!("---\nname: {}\ndescription: {description}\n---\n\n{prompt}", skill_name(name))
            }
            CommandForm::Toml => {
                let mut document = DocumentMut::new();
                document["description"] = toml_edit::value(description);
                document["prompt"] = toml_edit::value(prompt.replace(MARKDOWN_ARGUMENTS, TOML_ARGUMENTS));
                document.to_string()
            }
        }
    }
}

/// A point in a name is no beginning of an end.
fn file_of_family(name: &str, extension: &str) -> PathBuf {
    let mut path: PathBuf = name.split(':').collect();
    let last = path.file_name().map(|last| last.to_string_lossy().into_owned()).unwrap_or_default();
    path.set_file_name(format!("{last}.{extension}"));
    path
}

/// A name of letters and hyphens, for a skill has no other.
fn skill_name(name: &str) -> String {
    name.replace([':', '.'], "-")
}

impl CommandForm {
    /// The prompt in a command's file, with what was typed in its place; where it has no place, behind the prompt.
    pub fn prompt_text(self, file: &str, arguments: &str) -> Option<String> {
        let text = command_text(self, file)?;
        let mark = match self {
            Self::Markdown | Self::Skill => MARKDOWN_ARGUMENTS,
            Self::Toml => TOML_ARGUMENTS,
        };
        if text.contains(mark) || arguments.is_empty() {
            return Some(text.replace(mark, arguments));
        }
        Some(format!("{}\n\n{arguments}", text.trim_end()))
    }

    /// How the names of its files end.
    fn extension(self) -> &'static str {
        match self {
            Self::Markdown | Self::Skill => "md",
            Self::Toml => "toml",
        }
    }
}

/// The prompt in a command's file, as it is.
fn command_text(form: CommandForm, file: &str) -> Option<String> {
    Some(match form {
        CommandForm::Markdown | CommandForm::Skill => without_head(file).to_owned(),
        CommandForm::Toml => {
            let document: DocumentMut = file.parse().ok()?;
            document.get("prompt")?.as_str()?.to_owned()
        }
    })
}

/// A text without the head between two lines of hyphens.
fn without_head(file: &str) -> &str {
    let text = file.trim_start_matches('\u{feff}');
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else { return text };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == "---" {
            return rest[at..].trim_start();
        }
    }
    text
}

/// The places that rules name, all of them; where a variable moves a client's home, that home's own are not looked at.
pub(crate) fn places(rules: &[PathRule], env: &Env) -> Vec<PathBuf> {
    let is_moved = rules.iter().any(|rule| match rule.base {
        PathBase::Variable(name) => env.path_var(name).is_some(),
        _ => false,
    });
    let is_read = |rule: &&PathRule| !(is_moved && rule.base == PathBase::Home);
    rules.iter().filter(is_read).flat_map(|rule| candidate_paths(std::slice::from_ref(rule), env)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn files(form: CommandForm) -> CommandFiles {
        CommandFiles { folders: &[], own_folders: &[], form, are_calls_written_down: false }
    }

    #[test]
    fn a_name_leads_to_its_file_and_to_what_is_typed() {
        for (form, name, file, typed) in [
            (CommandForm::Markdown, "workspace.plan", "workspace.plan.md", "/workspace.plan"),
            (CommandForm::Markdown, "lab:review", "lab/review.md", "/lab:review"),
            (CommandForm::Toml, "workspace.plan", "workspace.plan.toml", "/workspace.plan"),
            (CommandForm::Skill, "workspace.plan", "workspace-plan/SKILL.md", "$workspace-plan"),
        ] {
            assert_eq!(files(form).file_name(&format!("/{name}")), PathBuf::from(file));
            assert_eq!(files(form).typed_name(name), typed);
        }
    }

    #[test]
    fn what_is_written_is_read_with_its_arguments() {
        let prompt = "Think about:\n\n\"$ARGUMENTS\" '''\n";
        for form in [CommandForm::Markdown, CommandForm::Toml] {
            let file = files(form).render("think", CommandText { description: "Think", prompt });
            let read = form.prompt_text(&file, "the move").unwrap();
            assert_eq!(read, "Think about:\n\n\"the move\" '''\n", "{file}");
        }
        let skill = files(CommandForm::Skill).render("a.b", CommandText { description: "Think", prompt });
        assert!(
            skill.starts_with("---\nname: a-b\ndescription: Think\n---\n\nThink") && !skill.contains('$'),
            "{skill}"
        );
        assert_eq!(without_head("no head --- here"), "no head --- here");
        assert_eq!(without_head("---\nnever closed"), "---\nnever closed");
        assert_eq!(CommandForm::Toml.prompt_text("prompt = 3", ""), None);
    }

    #[test]
    fn what_was_typed_is_told_where_a_text_has_no_place_for_it() {
        assert_eq!(CommandForm::Skill.prompt_text("Tidy.\n", "all of it").unwrap(), "Tidy.\n\nall of it");
        assert_eq!(CommandForm::Markdown.prompt_text("Tidy.\n", "").unwrap(), "Tidy.\n");
    }
}
