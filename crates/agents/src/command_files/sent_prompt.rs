//! The command behind a prompt that a client sent in the place of what was typed: a skill's name with a dollar sign, or the
//! text of a command's file with what was typed in it. A file that might be meant as well as another is not taken.

use std::path::{Path, PathBuf};

use super::{CommandFiles, CommandForm, command_text, skill_name};
use crate::Env;
use crate::formats::file::read_text;

const MAX_COMMAND_BYTES: u64 = 256 << 10;
/// More commands, or folders of such, are nobody's work.
const MAX_FILES: usize = 1_000;
const MAX_DEPTH: usize = 3;
/// A text with fewer words of its own could have been typed by anybody.
const MIN_OWN_WORDS: usize = 6;

/// A command that was called, as if it had been typed with a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalledCommand {
    /// With its slash.
    pub name: String,
    /// What was typed behind it.
    pub arguments: Option<String>,
}

impl CalledCommand {
    fn new(name: &str, arguments: &str) -> Self {
        let arguments = Some(arguments.trim().to_owned()).filter(|arguments| !arguments.is_empty());
        Self { name: format!("/{name}"), arguments }
    }
}

impl CommandFiles {
    /// The command that a prompt was sent for, in these surroundings.
    pub fn find_called(&self, env: &Env, prompt: &str) -> Option<CalledCommand> {
        if self.are_calls_written_down {
            return None;
        }
        let folders = self.folders_in(env);
        match self.form {
            CommandForm::Skill => find_skill(self, &folders, prompt),
            CommandForm::Markdown | CommandForm::Toml => find_template(self.form, &folders, prompt),
        }
    }

    /// The commands in a folder whose name is the same but for how its parts are joined: not every form allows every sign.
    pub fn list_alike(&self, folder: &Path, command: &str) -> Vec<PathBuf> {
        let wanted = skill_name(command.trim_start_matches('/'));
        let named = |path: &PathBuf| path.strip_prefix(folder).ok().and_then(name_of).map(|name| skill_name(&name));
        let mut files = list_files(folder, self.form, MAX_DEPTH, &mut { MAX_FILES });
        files.retain(|path| named(path).is_some_and(|name| name == wanted));
        files
    }
}

/// The skill that a prompt begins with the name of.
fn find_skill(files: &CommandFiles, folders: &[PathBuf], prompt: &str) -> Option<CalledCommand> {
    let rest = prompt.trim().strip_prefix('$')?;
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let is_there = || folders.iter().any(|folder| folder.join(files.file_name(name)).is_file());
    (is_name && is_there()).then(|| CalledCommand::new(name, arguments))
}

/// A command whose text a prompt is.
struct Match {
    called: CalledCommand,
    /// The more of a prompt is the command's own, the surer it is that one.
    own_chars: usize,
}

/// The command that the most of a prompt is the text of. Of two with different names that fit as well, none.
fn find_template(form: CommandForm, folders: &[PathBuf], prompt: &str) -> Option<CalledCommand> {
    let prompt = unify_lines(prompt);
    let mut left = MAX_FILES;
    let mut best: Option<Match> = None;
    let mut is_unsure = false;
    for folder in folders {
        for path in list_files(folder, form, MAX_DEPTH, &mut left) {
            let Some(found) = match_file(form, folder, &path, &prompt) else { continue };
            let (before, name) = best.as_ref().map_or((0, ""), |best| (best.own_chars, &best.called.name));
            if found.own_chars == before {
                is_unsure |= found.called.name != name;
            } else if found.own_chars > before {
                is_unsure = false;
                best = Some(found);
            }
        }
    }
    best.filter(|_| !is_unsure).map(|best| best.called)
}

fn match_file(form: CommandForm, folder: &Path, path: &Path, prompt: &str) -> Option<Match> {
    let name = name_of(path.strip_prefix(folder).ok()?)?;
    let file = read_text(path, MAX_COMMAND_BYTES).ok()?;
    let template = unify_lines(&command_text(form, &file)?);
    let mark = form.arguments_mark()?;
    let own: String = template.split(mark).collect::<Vec<_>>().join(" ");
    if own.split_whitespace().count() < MIN_OWN_WORDS || form.is_filled_otherwise(&template) {
        return None;
    }
    let arguments = match_template(&template, mark, prompt, |rest| form.strip_typed(rest, &name))?;
    let own_chars = own.chars().filter(|c| !c.is_whitespace()).count();
    Some(Match { called: CalledCommand::new(&name, &arguments), own_chars })
}

/// What stands in a prompt in the place of the mark of a template that it was made of; where the template has no mark,
/// what stands behind it, as `strip_typed` knows it.
fn match_template(
    template: &str,
    mark: &str,
    prompt: &str,
    strip_typed: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let Some((before, _)) = template.split_once(mark) else {
        let rest = prompt.strip_prefix(template)?;
        return if rest.is_empty() { Some(String::new()) } else { strip_typed(rest.strip_prefix("\n\n")?) };
    };
    if template.replace(mark, "").trim() == prompt {
        return Some(String::new());
    }
    // Where it begins is known, and how long it is, however often it stands there.
    let n_marks = template.matches(mark).count();
    let filled = prompt.len().checked_sub(template.len() - n_marks * mark.len())?;
    let arguments = prompt.strip_prefix(before)?.get(..filled.checked_div(n_marks)?)?;
    (template.replace(mark, arguments) == prompt).then(|| arguments.to_owned())
}

impl CommandForm {
    /// What stands for what was typed.
    fn arguments_mark(self) -> Option<&'static str> {
        match self {
            Self::Markdown => Some(super::MARKDOWN_ARGUMENTS),
            Self::Toml => Some(super::TOML_ARGUMENTS),
            Self::Skill => None,
        }
    }

    /// Whether a text also gets what nobody typed, or single words: what was sent does not tell what these were.
    fn is_filled_otherwise(self, template: &str) -> bool {
        match self {
            Self::Markdown => template.contains("!`") || has_numbered_mark(template),
            Self::Toml => template.contains("!{") || template.contains("@{"),
            Self::Skill => false,
        }
    }

    /// What was typed, of what a client puts behind a text without a mark: that alone, or the whole line.
    fn strip_typed(self, rest: &str, name: &str) -> Option<String> {
        let rest = rest.trim();
        match self {
            Self::Toml => {
                let behind = rest.strip_prefix('/')?.strip_prefix(name)?;
                behind.starts_with(char::is_whitespace).then(|| behind.trim().to_owned())
            }
            Self::Markdown | Self::Skill => Some(rest.to_owned()),
        }
    }
}

/// Whether single words of what was typed have places: `$1`.
fn has_numbered_mark(template: &str) -> bool {
    template.split('$').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Clients trim what they send, and lines end as they may.
fn unify_lines(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}

/// The name of a command by its place below a folder; the folders between are its family.
fn name_of(inside: &Path) -> Option<String> {
    let whole = inside.with_extension("");
    let parts: Option<Vec<&str>> = whole.iter().map(|part| part.to_str()).collect();
    parts.map(|parts| parts.join(":"))
}

/// The commands in a folder and in those below, in the order of their names.
fn list_files(folder: &Path, form: CommandForm, depth: usize, left: &mut usize) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).ok().into_iter().flatten().flatten().take(*left);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    *left = left.saturating_sub(paths.len());
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            if depth > 0 {
                files.extend(list_files(&path, form, depth - 1, left));
            }
        } else if path.extension().is_some_and(|extension| extension == form.extension()) {
            files.push(path);
        }
    }
    files
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests;
