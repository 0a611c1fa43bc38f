//! Which agent reads which file in a project, and where the files differ.

use std::path::{Path, PathBuf};

use carryover_agents::{Facts, MemoryPlace, PathBase, all_facts};

use crate::context::Context;
use crate::install::detection::find_agent;
use crate::memory::files::{Owner, expand_pattern, find_files};
use crate::memory::ground::Ground;
use crate::memory::imports::follow_imports;
use crate::memory::project_files::ProjectFiles;
use crate::memory::relation::{self, Relation};
use crate::memory::sync_plan;
use crate::own::sha256::hex_sha256;

pub use crate::memory::project_files::Reading;

/// A project as its agents are told of it.
pub struct Overview {
    pub project: PathBuf,
    pub files: Vec<FileOverview>,
    /// Files of the user's that tell the same agents something, in every project.
    pub user_files: Vec<UserFile>,
    /// Agents that are told nothing by the project, with the file that each would read.
    pub untold: Vec<(&'static Facts, Option<&'static str>)>,
    /// The file that the others would follow.
    pub source: Option<String>,
}

/// A file of the project.
pub struct FileOverview {
    pub name: String,
    pub lines: usize,
    pub bytes: usize,
    /// None where it is not read.
    pub sha256: Option<String>,
    /// Why it is not read.
    pub problem: Option<String>,
    /// Why nothing of it is to be committed.
    pub private_reason: Option<&'static str>,
    pub readers: Vec<(&'static Facts, Reading)>,
    /// How it stands to the source.
    pub relation: Option<Relation>,
}

/// A file of the user's.
pub struct UserFile {
    pub name: String,
    /// It is above the repository, and counts for what is below it.
    pub is_above: bool,
    pub readers: Vec<(&'static Facts, Reading)>,
}

/// Looks at a project for these agents.
pub fn survey_project(context: &Context, project: &Path, agents: &[&'static Facts]) -> Overview {
    let known = ProjectFiles::gather(context, project);
    let source = sync_plan::usual_source(&known).ok();
    let readings: Vec<_> = agents.iter().map(|facts| (*facts, known.readings(context, facts))).collect();
    let mut files = Vec::new();
    for file in &known.files {
        let readers = readings.iter().filter_map(|(facts, read)| {
            read.iter().find(|(read, _)| read.name == file.name).map(|(_, reading)| (*facts, reading.clone()))
        });
        let readers = readers.collect();
        let private_reason = file.private_reason();
        let is_compared = file.can_lead() && private_reason.is_none();
        let other = source.filter(|source| is_compared && source.name != file.name);
        let relation = other.and_then(|other| relation::compare(file, other));
        let text = file.text.as_deref();
        files.push(FileOverview {
            name: file.name.clone(),
            lines: text.map_or(0, |text| text.lines().count()),
            bytes: text.map_or(0, str::len),
            sha256: text.ok().map(|text| hex_sha256(text.as_bytes())),
            problem: file.text.as_ref().err().cloned(),
            private_reason,
            readers,
            relation,
        });
    }
    let is_source = |file: &FileOverview| source.is_some_and(|source| source.name == file.name);
    // Nobody here reads it, and nobody follows it.
    files.retain(|file| !file.readers.is_empty() || is_source(file));
    files.sort_by_key(|file| !is_source(file));
    let is_told = |facts: &Facts| {
        let always = |(reader, reading): &(&'static Facts, Reading)| {
            reader.id == facts.id && matches!(reading, Reading::Always | Reading::Through(_))
        };
        files.iter().any(|file| file.readers.iter().any(always))
    };
    let untold = agents.iter().filter(|facts| !is_told(facts)).map(|facts| (*facts, facts.instruction_files().next()));
    Overview {
        project: known.root.clone(),
        user_files: find_user_files(context, &known.root, agents),
        untold: untold.collect(),
        source: source.map(|source| source.name.clone()),
        files,
    }
}

fn find_user_files(context: &Context, project: &Path, agents: &[&'static Facts]) -> Vec<UserFile> {
    let ground = Ground::new(&context.env, project);
    let mut user_files: Vec<UserFile> = Vec::new();
    let mut add = |facts: &'static Facts, name: String, is_above: bool, reading: Reading| match user_files
        .iter_mut()
        .find(|known| known.name == name)
    {
        Some(known) => known.readers.push((facts, reading)),
        None => user_files.push(UserFile { name, is_above, readers: vec![(facts, reading)] }),
    };
    for facts in agents {
        let found = find_files(&context.env, facts, project);
        let imported = follow_imports(&ground, facts, &found);
        for found in found.into_iter().filter(|found| found.owner == Owner::User) {
            let reading = Reading::from(&found);
            add(facts, found.name, found.file.place == MemoryPlace::Project, reading);
        }
        for taken in imported.into_iter().filter(|taken| taken.is_users) {
            let reading = taken.when.map_or(Reading::Through(taken.through), Reading::When);
            add(facts, taken.name, false, reading);
        }
    }
    user_files
}

/// The agents that are here: installed, or with a store, or with sessions in this project.
pub fn present_agents(context: &Context, project: &Path) -> Vec<&'static Facts> {
    all_facts().filter(|facts| find_agent(context, facts).is_present() || has_sessions_in(facts, project)).collect()
}

/// Whether an agent that keeps its sessions with the work has left some there.
fn has_sessions_in(facts: &Facts, project: &Path) -> bool {
    let is_root = |rule: &&carryover_agents::PathRule| rule.base == PathBase::Project && rule.path.is_empty();
    facts.stores.iter().any(|rule| is_root(&rule))
        && facts.session_patterns.iter().any(|pattern| !expand_pattern(project, &pattern.join("/")).is_empty())
}
