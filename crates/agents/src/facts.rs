//! Facts about an agent that are known without looking: plain data, from which help, docs and tests derive.

use std::path::{Path, PathBuf};

use crate::command_files::places;
use crate::{Cleanup, CommandFiles, Env, FindServices, HookSet, Memory, Os, Placement, ResumeCommand, RuleFiles};

/// Where a store path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathBase {
    Home,
    /// A variable that moves the whole store; where it is set, nothing else is looked at.
    Variable(&'static str),
    /// Every folder that is worked in: the agent keeps its sessions with the work.
    Project,
}

/// One place where a store may be.
#[derive(Debug, Clone, Copy)]
pub struct PathRule {
    /// On these systems only; empty means all.
    pub on: &'static [Os],
    pub base: PathBase,
    pub path: &'static [&'static str],
}

/// How many tokens a model takes, as of the table's date.
#[derive(Debug, Clone, Copy)]
pub struct ModelWindow {
    /// The beginning of the model's name; the longest that fits wins.
    pub prefix: &'static str,
    pub tokens: u64,
}

/// Where in a store sessions are written: the names of folders from its root on and, last, of the files. A `*` stands for
/// any letters. Of a database, its own name is meant.
pub type SessionPattern = &'static [&'static str];

/// How a client writes down that it ran into a rate or usage limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitForm {
    /// As such: a status, a kind or a name in the record says it, in every version that was seen.
    Recorded,
    /// Some version, or some limit, has nothing but the client's own error text.
    TextOnly,
}

/// How far it was verified that sessions are read as the client means them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// The client itself was run: it wrote what is read, and sent what was written.
    RealClient,
    /// A part of the client that its vendor publishes was run.
    VendorCode,
    /// The vendor's documentation or published source tells the format; nothing of it was run.
    Documented,
    /// Others found it out from files; the vendor says nothing.
    ReverseEngineered,
}

impl Evidence {
    /// In words, for tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RealClient => "real client",
            Self::VendorCode => "vendor's own code",
            Self::Documented => "documented",
            Self::ReverseEngineered => "reverse-engineered",
        }
    }
}

/// How a client goes on with a session that is its own.
#[derive(Debug, Clone, Copy)]
pub struct ResumeForm {
    /// The words of the command, the program first: `{id}` stands for the session's name. Empty where there is no way.
    pub argv: &'static [&'static str],
    /// Whether the client finds the session from its project only.
    pub needs_project: bool,
}

impl ResumeForm {
    /// No way at all.
    pub const NONE: Self = Self { argv: &[], needs_project: true };

    pub const fn in_project(argv: &'static [&'static str]) -> Self {
        Self { argv, needs_project: true }
    }

    pub const fn anywhere(argv: &'static [&'static str]) -> Self {
        Self { argv, needs_project: false }
    }

    /// The command for one session.
    pub fn command(&self, id: &str, project: &Path) -> ResumeCommand {
        let argv = self.argv.iter().map(|word| word.replace("{id}", id)).collect();
        ResumeCommand { argv, cwd: project.to_path_buf(), needs_cwd: self.needs_project }
    }
}

/// An agent as data.
#[derive(Debug)]
pub struct Facts {
    pub id: &'static str,
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// The programs that start it.
    pub binaries: &'static [&'static str],
    /// How a person starts it on something: `{prompt}` stands for the first words to it, `{file}` for a file to read.
    pub start: &'static [&'static str],
    /// How a person goes on with a session in it.
    pub resume: ResumeForm,
    /// Packages whose manifest tells the version of an installed client.
    pub packages: &'static [&'static str],
    pub stores: &'static [PathRule],
    /// Files to watch in a store.
    pub session_patterns: &'static [SessionPattern],
    /// Folders of a store besides those, in which sessions have folders of their own that are named by their ids.
    pub session_folders: &'static [&'static str],
    pub limits: LimitForm,
    /// A session that is written says that only plans are to be made, where that held before.
    pub keeps_plan_mode: bool,
    /// Files in a store that hold settings which we read.
    pub settings: &'static [&'static str],
    /// Files that tell its model something.
    pub memory: Memory,
    /// Where a brief is put for it; where nothing is said, into the first of its instruction files.
    pub placement: Option<Placement>,
    /// How far what is known of it was verified.
    pub evidence: Evidence,
    /// The client versions that were read in the laboratory, oldest and newest.
    pub versions_seen: (&'static str, &'static str),
    /// Windows by model, with the day on which they were looked up.
    pub windows: &'static [ModelWindow],
    pub windows_checked_on: &'static str,
    /// Where the model is not in the table.
    pub default_window: u64,
    /// The tokens that a resume prompt may have where nobody says otherwise.
    pub resume_budget: u64,
    /// How it gets all of a long file that git ignores, in words for its prompt.
    pub reading_advice: &'static str,
    /// How it calls us, where it has hooks.
    pub hooks: Option<&'static HookSet>,
    /// How it deletes sessions by itself, where it does.
    pub cleanup: Option<Cleanup>,
    /// The list of files that it reads at every start, where it has one and no hooks.
    pub read_list: Option<&'static ReadList>,
    /// The model services that it talks to, where it can be led to other addresses for one run.
    pub recording: Option<FindServices>,
    /// Prompts that a person keeps in files and calls by name, where it has such.
    pub commands: Option<&'static CommandFiles>,
    /// Files in which servers of tools are named.
    pub tool_servers: &'static [PathRule],
    /// Variables in which its shell calls get the id of the session that they are made in, the surest first.
    pub session_variables: &'static [&'static str],
    /// What its client calls the modes that it begins in.
    pub usual_modes: &'static [&'static str],
    /// Files in which rules of permission are kept.
    pub permission_rules: &'static [RuleFiles],
}

/// A list of files in an agent's settings (YAML), each of which it reads at the start of every session.
#[derive(Debug)]
pub struct ReadList {
    pub file: &'static [PathRule],
    pub key: &'static str,
}

impl ReadList {
    /// The file that holds the list, in these surroundings.
    pub fn file_path(&self, env: &Env) -> Option<PathBuf> {
        candidate_paths(self.file, env).into_iter().next()
    }
}

/// Tokens of a resume prompt where the agent that will read it is not known: the smallest windows in use, less what
/// clients fill themselves.
pub const UNKNOWN_RESUME_BUDGET: u64 = 32_000;

/// Some agents' own tools for reading refuse what git ignores; their shells do not.
pub const USUAL_READING_ADVICE: &str = "with a shell command if need be: git ignores it";

/// Agents whose tools give back a long file in part only, and do not always say so.
pub const PORTIONS_READING_ADVICE: &str = "to its end, in portions: your tools cut what is long";

impl Facts {
    /// What is so with most agents: each tells only what is otherwise with it.
    pub const USUAL: Self = Self {
        id: "",
        name: "",
        aliases: &[],
        binaries: &[],
        start: &[],
        resume: ResumeForm::NONE,
        packages: &[],
        stores: &[],
        session_patterns: &[],
        session_folders: &[],
        limits: LimitForm::TextOnly,
        keeps_plan_mode: false,
        settings: &[],
        memory: Memory::NONE,
        placement: None,
        evidence: Evidence::RealClient,
        versions_seen: ("", ""),
        windows: &[],
        windows_checked_on: "",
        default_window: 128_000,
        resume_budget: UNKNOWN_RESUME_BUDGET,
        reading_advice: USUAL_READING_ADVICE,
        hooks: None,
        read_list: None,
        cleanup: None,
        recording: None,
        commands: None,
        tool_servers: &[],
        session_variables: &[],
        usual_modes: &["default"],
        permission_rules: &[],
    };

    /// The folders where this agent's store may be, the first that exists being the one in use.
    pub fn store_candidates(&self, env: &Env) -> Vec<PathBuf> {
        let mut found = candidate_paths(self.stores, env);
        found.extend(env.stores.get(self.id).into_iter().flatten().cloned());
        found
    }

    /// The files in which its servers of tools are named, in these surroundings.
    pub fn tool_server_files(&self, env: &Env) -> Vec<PathBuf> {
        places(self.tool_servers, env)
    }

    /// The ids of the session that we are run in, as this agent tells them.
    pub fn calling_sessions<'e>(&self, env: &'e Env) -> Vec<&'e str> {
        self.session_variables.iter().filter_map(|name| env.var(name)).collect()
    }

    /// Whether sessions are kept with the work, so that projects must be known before sessions can be.
    pub fn keeps_sessions_in_projects(&self) -> bool {
        self.stores.iter().any(|rule| rule.base == PathBase::Project)
    }

    /// The window of a model in tokens: its name may tell it, else the table does.
    pub fn window(&self, model: Option<&str>) -> u64 {
        model.and_then(|model| self.known_window(model)).unwrap_or(self.default_window)
    }

    /// The same, where it is known.
    pub fn known_window(&self, model: &str) -> Option<u64> {
        let fits = |window: &&ModelWindow| model.starts_with(window.prefix);
        let best = self.windows.iter().filter(fits).max_by_key(|window| window.prefix.len());
        window_in_name(model).or(best.map(|window| window.tokens))
    }

    /// The window that is proven by so many tokens having been taken: the next one of the agent's own models, else the
    /// next size that is usual.
    pub fn proven_window(&self, used: u64) -> u64 {
        const USUAL_WINDOWS: &[u64] = &[128_000, 200_000, 272_000, 400_000, 500_000, 1_000_000, 2_000_000];
        let own = self.windows.iter().map(|window| window.tokens).filter(|tokens| *tokens >= used).min();
        own.or_else(|| USUAL_WINDOWS.iter().copied().find(|tokens| *tokens >= used)).unwrap_or(used)
    }
}

/// The places that rules name in these surroundings, in their order.
pub(crate) fn candidate_paths(rules: &[PathRule], env: &Env) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for rule in rules {
        if !rule.on.is_empty() && !rule.on.contains(&env.os) {
            continue;
        }
        let (bases, moves) = match rule.base {
            PathBase::Home => (vec![env.home.clone()], false),
            PathBase::Variable(name) => (env.path_var(name).into_iter().collect(), true),
            PathBase::Project => (env.projects.clone(), false),
        };
        let last = moves && !bases.is_empty();
        for mut path in bases {
            path.extend(rule.path);
            found.push(path);
        }
        if last {
            break;
        }
    }
    found
}

/// The window that a model's name ends with, as `[1m]` or `-128k`. Millions that are too many are those of parameters.
fn window_in_name(model: &str) -> Option<u64> {
    let last = model.trim_end_matches(']').rsplit(['[', '-', ':', '_']).next()?.to_ascii_lowercase();
    if last.len() == model.len() {
        return None;
    }
    let (digits, unit) = last.split_at_checked(last.len().checked_sub(1)?)?;
    let number: u64 = digits.parse().ok()?;
    match unit {
        "k" if (8..1_000).contains(&number) => Some(number * 1_000),
        "m" if (1..=10).contains(&number) => Some(number * 1_000_000),
        _ => None,
    }
}

/// Whether a name fits one element of a track.
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_may_tell_its_window() {
        let named = ["opus[1m]", "claude-sonnet-4-5[1M]", "qwen2.5-7b-instruct-1m", "gpt-4-32k", "a:200k"];
        assert_eq!(
            named.map(window_in_name),
            [Some(1_000_000), Some(1_000_000), Some(1_000_000), Some(32_000), Some(200_000)]
        );
        for name in
            ["", "1m", "opus", "gemma-3-270m", "smollm-135m", "claude-opus-4-6", "qwen3-30b", "x-0k", "a[]", "é-k"]
        {
            assert_eq!(window_in_name(name), None, "{name}");
        }
    }

    const FACTS: Facts = Facts {
        windows: &[ModelWindow { prefix: "a-", tokens: 200_000 }, ModelWindow { prefix: "a-9", tokens: 900_000 }],
        default_window: 100_000,
        ..Facts::USUAL
    };

    #[test]
    fn a_name_counts_before_the_table_and_that_before_the_default() {
        let windows = [None, Some("b"), Some("a-1"), Some("a-9x"), Some("a-1[1m]")].map(|model| FACTS.window(model));
        assert_eq!(windows, [100_000, 100_000, 200_000, 900_000, 1_000_000]);
    }

    #[test]
    fn what_was_taken_proves_the_next_window_that_there_is() {
        let proven = [150_000, 200_001, 900_001, 5_000_000].map(|used| FACTS.proven_window(used));
        assert_eq!(proven, [200_000, 900_000, 1_000_000, 5_000_000]);
    }

    #[test]
    fn a_star_stands_for_any_letters() {
        assert!(
            matches_pattern("*", "anything")
                && matches_pattern("a*.md", "a.md")
                && matches_pattern("a*.md", "abc.md")
                && matches_pattern("a", "a")
        );
        assert!(!matches_pattern("a*.md", "b.md") && !matches_pattern("ab*ba", "aba") && !matches_pattern("a", "ab"));
    }
}
