//! The files of a project that tell any agent's model something, each once, and who reads them.

use std::path::{Path, PathBuf};

use carryover_agents::{Facts, all_facts, split_front_matter};
use carryover_core::render::block;

use crate::context::Context;
use crate::handoff::blocks;
use crate::handoff::pointer;
use crate::handoff::workspace;
use crate::memory::files::{FoundFile, Owner, find_files};
use crate::memory::ground::Ground;
use crate::memory::imports::{find_imported, find_imports, follow_imports};
use crate::memory::paragraph;
use crate::memory::privacy::{Privacy, Private};
use crate::sessions::project::{resolve_inside, resolve_path};

/// A project with its files.
pub(super) struct ProjectFiles {
    /// Resolved.
    pub(super) root: PathBuf,
    pub(super) files: Vec<ProjectFile>,
    /// There is a repository, and git does not tell what it ignores.
    pub(super) is_unasked: bool,
}

/// One of them.
#[derive(Debug, Clone)]
pub(super) struct ProjectFile {
    /// From the project on.
    pub(super) name: String,
    /// The file behind links; none where that is not in the project.
    pub(super) real: Option<PathBuf>,
    /// The error says why it is not read.
    pub(super) text: Result<String, String>,
    /// Nothing of it may get to where git sees it.
    pub(super) private: Option<Private>,
    /// One file with a name of its own, and no rule among others.
    pub(super) is_single: bool,
    /// A rule that is read at every start.
    pub(super) is_general_rule: bool,
}

/// How an agent comes to read a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// At every start.
    Always,
    /// Only then.
    When(&'static str),
    /// At every start, for this file takes it in.
    Through(String),
    /// Not at all: this file is there.
    PassedOver(String),
}

impl From<&FoundFile> for Reading {
    fn from(found: &FoundFile) -> Self {
        match (&found.hidden_by, found.when) {
            (Some(other), _) => Self::PassedOver(other.clone()),
            (None, Some(when)) => Self::When(when),
            (None, None) => Self::Always,
        }
    }
}

impl ProjectFiles {
    pub(super) fn gather(context: &Context, project: &Path) -> Self {
        let root = resolve_path(project);
        let mut files: Vec<ProjectFile> = Vec::new();
        for facts in all_facts() {
            let found = find_files(&context.env, facts, &root).into_iter();
            for found in found.filter(|found| found.owner == Owner::Project) {
                let is_general_rule = found.file.front_matter.is_some() && found.when.is_none();
                add_file(&root, &mut files, found.name, found.file.is_single(), is_general_rule);
            }
        }
        for facts in all_facts() {
            let imported = find_imported(&context.env, facts, &root).into_iter();
            for imported in imported.filter(|imported| !imported.is_users) {
                // It is named by who takes it in, and nobody looks for it by itself.
                add_file(&root, &mut files, imported.name, false, false);
            }
        }
        let privacy = Privacy::new(context, &root, files.iter().map(|file| file.name.as_str()));
        for file in &mut files {
            file.private = privacy.of(&file.name);
        }
        Self { is_unasked: privacy.is_unasked(), root, files }
    }

    pub(super) fn by_name(&self, name: &str) -> Option<&ProjectFile> {
        self.files.iter().find(|file| file.name == name)
    }

    /// The files that an agent reads here, and how; those that others take in come last.
    pub(super) fn readings(&self, context: &Context, facts: &'static Facts) -> Vec<(&ProjectFile, Reading)> {
        let mut readings: Vec<(&ProjectFile, Reading)> = Vec::new();
        let mut found = find_files(&context.env, facts, &self.root);
        found.retain(|found| found.owner == Owner::Project);
        for found in &found {
            let Some(file) = self.by_name(&found.name) else { continue };
            readings.push((file, Reading::from(found)));
        }
        if facts.memory.import.is_some() {
            found.retain(|found| found.when.is_none());
            let imported = self.imported_by(context, facts, &found);
            readings.retain(|(file, reading)| {
                *reading == Reading::Always || !imported.iter().any(|(taken, _)| taken.name == file.name)
            });
            readings.extend(imported);
        }
        readings
    }

    /// The files that those that are read at every start take in.
    fn imported_by(&self, context: &Context, facts: &Facts, always: &[FoundFile]) -> Vec<(&ProjectFile, Reading)> {
        let imported = follow_imports(&Ground::new(&context.env, &self.root), facts, always).into_iter();
        let known = imported.filter_map(|taken| {
            let file = self.files.iter().find(|file| file.real.as_ref() == Some(&taken.path))?;
            Some((file, Reading::Through(taken.through)))
        });
        known.collect()
    }

    /// The file that another one follows, by our block in it.
    pub(super) fn followed_by(&self, file: &ProjectFile) -> Option<&ProjectFile> {
        let held = pointer::memory_paragraph(file.text.as_deref().ok()?)?;
        let source = file.real.as_deref()?.parent()?.join(paragraph::parse(&held)?.source);
        let source = resolve_path(&source);
        self.files.iter().find(|other| other.real.as_ref() == Some(&source))
    }

    /// Whether git neither has what is written into a file nor could take it in; the file need not be there.
    pub(super) fn is_kept_from_git(&self, context: &Context, name: &str) -> bool {
        let Some(real) = resolve_inside(&self.root, name).ok().flatten() else { return false };
        let Some(inside) = real.strip_prefix(&self.root).ok().and_then(Path::to_str) else { return false };
        workspace::ignores_file(context, &self.root, inside) == Some(true)
            && !workspace::is_tracked(context, &self.root, &real)
    }
}

fn add_file(root: &Path, files: &mut Vec<ProjectFile>, name: String, is_single: bool, is_general_rule: bool) {
    let real = resolve_inside(root, &name).ok().flatten();
    // Of a file that is taken in, only the real name is known.
    if files.iter().any(|known| known.name == name || (!is_single && real.is_some() && known.real == real)) {
        return;
    }
    let text = match &real {
        Some(real) => read_words(real),
        None => Err("it leads out of the project".to_owned()),
    };
    files.push(ProjectFile { name, real, text, private: None, is_single, is_general_rule });
}

impl ProjectFile {
    /// The text without our block; empty where it is not read.
    pub(super) fn own_words(&self) -> String {
        let text = self.text.as_deref().unwrap_or_default();
        let own = block::remove(text).unwrap_or_else(|_| text.to_owned());
        // What a rule says about itself is for its own agent.
        let own = if self.is_general_rule { split_front_matter(&own).1 } else { &own };
        own.replace("\r\n", "\n").trim_matches('\n').trim_end().to_owned()
    }

    /// Whether it can be the source of others: somebody reads all of it at every start.
    pub(super) fn can_lead(&self) -> bool {
        self.is_single || self.is_general_rule
    }

    /// Why nothing of it may get to where git sees it; none where it may.
    pub(super) fn private_reason(&self) -> Option<&'static str> {
        self.private.map(Private::reason)
    }

    pub(super) fn is_same_file(&self, other: &Self) -> bool {
        self.real.is_some() && self.real == other.real
    }

    /// Whether its text names another file for import.
    pub(super) fn imports(&self, other: &Self) -> bool {
        let (Ok(text), Some(real), Some(taken)) = (&self.text, &self.real, &other.real) else { return false };
        real != taken && find_imports(text, real, None).contains(taken)
    }
}

fn read_words(path: &Path) -> Result<String, String> {
    let text = blocks::read_text(path).map_err(|error| error.to_string())?;
    text.ok_or_else(|| "it is gone".to_owned())
}
