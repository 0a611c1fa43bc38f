//! The command that a conversation was begun with: its file as it is now.

use std::path::{Path, PathBuf};

use carryover_agents::formats::file::read_text;
use carryover_agents::{CalledCommand, CommandFiles, Env, Facts, all_facts};
use carryover_core::render::saved::AgentConfig;

use super::store::hash_text;
use crate::context::Context;
use crate::sessions::project::resolve_path;

const MAX_COMMAND_BYTES: u64 = 1 << 20;
const MAX_SETTINGS_BYTES: u64 = 8 << 20;

/// A command as it is now.
#[derive(Clone)]
pub struct CurrentCommand {
    /// Whose it is: most often that of the agent that the conversation was held in.
    owner: &'static Facts,
    pub path: PathBuf,
    pub hash: String,
    /// The prompt, with what was typed behind the command in its place.
    pub prompt: String,
}

impl CurrentCommand {
    /// The prompt for another agent: what a command of ours says to save is the session that goes on there.
    pub fn address_prompt(&mut self, agent: &str) {
        let saves = |agent: &str| format!(" save --source {agent} ");
        self.prompt = self.prompt.replace(&saves(self.owner.id), &saves(agent));
    }
}

/// Splits a command as it was typed into its name and what was behind it.
pub(super) fn split_command(typed: &str) -> Option<(String, Option<String>)> {
    let (name, rest) = typed.trim().split_once(char::is_whitespace).unwrap_or((typed.trim(), ""));
    let rest = Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty());
    is_command_name(name).then(|| (name.to_owned(), rest))
}

/// Whether a name can be one of a command: it leads to a file, and nowhere else.
fn is_command_name(name: &str) -> bool {
    let Some(bare) = name.strip_prefix('/') else { return false };
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    !bare.is_empty() && bare.chars().all(is_letter) && bare.split([':', '.']).all(|part| !part.is_empty())
}

/// The command that a session's first prompt was sent for, where its client does not write down what was typed.
pub(super) fn find_called(context: &Context, root: &Path, agent: &Facts, prompt: &str) -> Option<CalledCommand> {
    agent.commands?.find_called(&project_env(context, root), prompt)
}

/// The command of a conversation: its agent's own; where that has changed or is gone, another agent's of that name which is
/// as it was then, for a conversation goes on in others, and on other machines.
pub fn find_current(context: &Context, root: &Path, agent: &str, config: &AgentConfig) -> Option<CurrentCommand> {
    let name = config.command.as_deref().filter(|name| is_command_name(name))?;
    let env = project_env(context, root);
    let arguments = config.arguments.as_deref().unwrap_or_default();
    let (own, others): (Vec<_>, Vec<_>) = all_facts().partition(|facts| facts.id == agent);
    // A name without a file then was the client's own: a file of somebody else is another command.
    let others = others.into_iter().filter(|_| config.system_prompt_hash.is_some());
    let read = |facts: &'static Facts| {
        let files = facts.commands?;
        let (path, text) = find_file(files, &env, root, name)?;
        let prompt = files.form.prompt_text(&text, arguments)?.trim().to_owned();
        Some(CurrentCommand { owner: facts, path, hash: hash_text(&text), prompt })
    };
    let mut found = own.into_iter().chain(others).filter_map(read);
    let first = found.next()?;
    let is_as_then = |current: &CurrentCommand| config.system_prompt_hash.as_ref() == Some(&current.hash);
    if is_as_then(&first) {
        return Some(first);
    }
    Some(found.find(is_as_then).unwrap_or(first))
}

fn project_env(context: &Context, root: &Path) -> Env {
    Env { projects: vec![root.to_owned()], ..context.env.clone() }
}

/// The file of a command in an agent's folders, and its text.
fn find_file(files: &CommandFiles, env: &Env, root: &Path, name: &str) -> Option<(PathBuf, String)> {
    // A link out of the project would have a file read that nobody named; at home, people link what they please.
    let is_meant = |path: &Path| !path.starts_with(root) || resolve_path(path).starts_with(resolve_path(root));
    let found = files.folders_in(env).into_iter().find_map(|folder| read_command(files, &folder, name));
    found.filter(|(path, _)| is_meant(path))
}

/// A command in one of the folders, or in a folder of that: clients call it by the name of its file alone, too. Last, one
/// whose name was joined in another way.
fn read_command(files: &CommandFiles, folder: &Path, name: &str) -> Option<(PathBuf, String)> {
    let file = files.file_name(name);
    let below = || {
        let entries = fs_err::read_dir(folder).ok().into_iter().flatten().flatten();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
        folders.sort();
        folders.into_iter().map(|folder| folder.join(&file))
    };
    let alike = || files.list_alike(folder, name);
    let places = std::iter::once(folder.join(&file)).chain(std::iter::once_with(below).flatten());
    places.chain(std::iter::once_with(alike).flatten()).find_map(|path| {
        let text = read_text(&path, MAX_COMMAND_BYTES).ok()?;
        Some((path, text))
    })
}

/// What has become of the command of a conversation since it was saved, for whoever goes on with its text.
pub fn describe_change(agent: &str, config: &AgentConfig, current: Option<&CurrentCommand>) -> Option<String> {
    let name = config.command.as_ref()?;
    let Some(hash) = &config.system_prompt_hash else {
        let told = || format!("the command {name} has no file here: the conversation goes on without its text");
        return current.is_none().then(told);
    };
    match current {
        None => Some(format!("the command {name} is gone: the conversation goes on without its text")),
        Some(current) if *hash == current.hash => None,
        Some(current) if current.owner.id != agent => {
            Some(format!("the command {name} is that of {} here: its text as it is now is used", current.owner.name))
        }
        Some(_) => Some(format!("the command {name} has changed since: its text as it is now is used")),
    }
}

/// Servers whose tools a session had, and that the target's settings do not name.
pub fn missing_servers(context: &Context, root: &Path, tools: &[String], target: &Facts) -> Option<String> {
    if target.tool_servers.is_empty() {
        return None;
    }
    let env = Env { projects: vec![root.to_owned()], ..context.env.clone() };
    let files = target.tool_server_files(&env);
    let settings: Vec<String> = files.iter().filter_map(|file| read_text(file, MAX_SETTINGS_BYTES).ok()).collect();
    let server = |tool: &String| Some(tool.strip_prefix("mcp__")?.split_once("__")?.0.to_owned());
    let mut servers: Vec<String> = tools.iter().filter_map(server).collect();
    servers.sort();
    servers.dedup();
    // Plugins bring servers that no settings name.
    servers.retain(|name| !name.starts_with("plugin_") && !settings.iter().any(|text| names_server(text, name)));
    let told = || format!("{} names no server for tools that it had: {}", target.name, servers.join(", "));
    (!servers.is_empty()).then(told)
}

/// Whether a settings file names a server, in whatever form.
fn names_server(text: &str, server: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(server).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + server.len()..].chars().next());
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_a_name_and_words() {
        let words = |text: &str| Some(text.to_owned());
        assert_eq!(split_command("/workspace.plan the move "), Some(("/workspace.plan".to_owned(), words("the move"))));
        assert_eq!(split_command("/review"), Some(("/review".to_owned(), None)));
        for typed in ["", "/", "review", "/../x", "/a/b", "/a:..:b", "/a..b", "/a: b"] {
            assert_eq!(split_command(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_server_is_named_as_a_word() {
        assert!(names_server(r#"{"mcpServers":{"cortext":{}}}"#, "cortext"));
        assert!(names_server("[mcp_servers.cortext]", "cortext"));
        assert!(!names_server("cortext-old my_cortext", "cortext"));
    }
}
