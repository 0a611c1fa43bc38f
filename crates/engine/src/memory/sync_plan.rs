//! Decides how files of instructions come to follow another one; touches nothing.
//!
//! An agent that can import gets one line, any other a copy, both in our block of a file that it reads anyway. A file is made
//! only where no agent reads less because of it, and nothing gets from a private file to where git sees it.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{Facts, FrontMatter, MemoryFile, MemoryPlace, POINTER_FILES, Target, all_facts};

use crate::context::Context;
use crate::handoff::pointer;
use crate::memory::files::expand_pattern;
use crate::memory::imports::{find_imports, relative_path};
use crate::memory::paragraph;
use crate::memory::privacy::{OWN, Private};
use crate::memory::project_files::{ProjectFile, ProjectFiles, Reading};
use crate::memory::relation::{self, Relation};
use crate::sessions::project::{published_project, resolve_inside, resolve_path};

/// Who is to be told, and by which file.
pub struct SyncRequest<'a> {
    pub project: &'a Path,
    /// An agent's name or a file's; the usual one otherwise.
    pub from: Option<&'a str>,
    pub agents: &'a [&'static Facts],
}

/// What is to be written, and for whom.
pub struct SyncPlan {
    pub project: PathBuf,
    pub source: String,
    pub changes: Vec<FileChange>,
    /// Agents that are told already, with how.
    pub told: Vec<(&'static Facts, String)>,
    /// Agents for which nothing can be written, with the reason.
    pub left: Vec<(&'static Facts, String)>,
    pub warnings: Vec<String>,
}

/// A file that will follow the source.
pub struct FileChange {
    pub name: String,
    /// It gets a copy; an import otherwise.
    pub is_copy: bool,
    pub is_new: bool,
    pub agents: Vec<&'static Facts>,
    pub(super) path: PathBuf,
    pub(super) before: Option<String>,
    pub(super) text: String,
}

#[derive(Debug, thiserror::Error)]
pub enum SyncError {
    #[error("{} is no project of its own", .0.display())]
    NoProject(PathBuf),
    #[error("no file in {} tells any agent something that others could be told", .0.display())]
    NoFiles(PathBuf),
    #[error("several files could be the source: {}", .0.join(", "))]
    Several(Vec<String>),
    #[error("{0} is not there")]
    Missing(String),
    #[error("no agent takes all of its instructions from {0}")]
    NotRead(String),
    #[error("{0} reads no file of this project")]
    ReadsNothing(&'static str),
    #[error("{0} says nothing besides what carryover put there")]
    Empty(String),
    #[error("{name} is not read: {reason}")]
    Unreadable { name: String, reason: String },
    #[error("{name} is private ({reason}): nothing of it goes into {into}, which git could see")]
    Private { name: String, reason: &'static str, into: String },
    /// What it ignores would be taken for what it keeps.
    #[error("git does not tell what it ignores in {}: nothing of {name} goes into {into}", folder.display())]
    Unasked { folder: PathBuf, name: String, into: String },
    #[error("{} was changed in this moment: nothing was written", .0.display())]
    Busy(PathBuf),
    #[error("could not write {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// The project that a folder belongs to: a home is none, and neither is a folder that is everybody's.
pub fn find_project(context: &Context, folder: &Path) -> Result<PathBuf, SyncError> {
    published_project(&context.env.home, folder).ok_or_else(|| SyncError::NoProject(folder.to_owned()))
}

/// Decides what would be written.
pub fn plan_sync(context: &Context, request: &SyncRequest<'_>) -> Result<SyncPlan, SyncError> {
    let known = ProjectFiles::gather(context, request.project);
    let source = match request.from {
        Some(name) => named_source(context, &known, name)?,
        None => usual_source(&known)?,
    };
    refuse_unusable(source)?;
    let planner = Planner { context, known: &known, source };
    let mut plan = SyncPlan {
        project: known.root.clone(),
        source: source.name.clone(),
        changes: Vec::new(),
        told: Vec::new(),
        left: Vec::new(),
        warnings: Vec::new(),
    };
    for facts in request.agents {
        match planner.how_told(facts) {
            Some(how) => plan.told.push((facts, how)),
            None => planner.add_agent(facts, &mut plan)?,
        }
    }
    planner.add_warnings(request.agents, &mut plan);
    Ok(plan)
}

/// The file that others would follow if nothing is said: the one that they follow already, the common one, or the only one.
pub(super) fn usual_source(known: &ProjectFiles) -> Result<&ProjectFile, SyncError> {
    let mut followed = known.files.iter().filter_map(|file| known.followed_by(file));
    if let Some(first) = followed.next().filter(|first| refuse_unusable(first).is_ok())
        && followed.all(|other| other.name == first.name)
    {
        return Ok(first);
    }
    let mut candidates: Vec<&ProjectFile> = Vec::new();
    let has_single = known.files.iter().any(|file| is_candidate(known, file) && file.is_single);
    let leading = known.files.iter().filter(|file| if has_single { file.is_single } else { file.can_lead() });
    for file in leading.filter(|file| is_candidate(known, file)) {
        let is_known = candidates.iter().any(|other| other.is_same_file(file));
        if !is_known {
            candidates.push(file);
        }
    }
    let common = POINTER_FILES.first().map(|file| file.name);
    // A link is known by the file that it leads to.
    let is_common = |file: &&&ProjectFile| {
        let real = common.and_then(|name| known.by_name(name));
        real.is_some_and(|real| real.is_same_file(file))
    };
    match (candidates.iter().find(is_common), candidates.as_slice()) {
        (Some(_), _) => known.by_name(common.unwrap_or_default()).ok_or_else(|| SyncError::NoFiles(known.root.clone())),
        (None, [only]) => Ok(only),
        (None, []) => Err(SyncError::NoFiles(known.root.clone())),
        (None, several) => Err(SyncError::Several(several.iter().map(|file| file.name.clone()).collect())),
    }
}

fn is_candidate(known: &ProjectFiles, file: &ProjectFile) -> bool {
    // Where git does not tell what is private, nothing is written, and it is said why.
    refuse_unusable(file).is_ok() && (file.private.is_none() || known.is_unasked)
}

fn named_source<'a>(context: &Context, known: &'a ProjectFiles, name: &str) -> Result<&'a ProjectFile, SyncError> {
    if let Some(facts) = Target::by_name(name).and_then(|target| all_facts().find(|facts| facts.id == target.id)) {
        let readings = known.readings(context, facts);
        let mut own = readings.iter().filter(|(file, reading)| *reading == Reading::Always && file.can_lead());
        let first = own.clone().find(|(file, _)| file.private.is_none()).or_else(|| own.next());
        return first.map(|(file, _)| *file).ok_or(SyncError::ReadsNothing(facts.name));
    }
    let path = match name.strip_prefix("~/") {
        Some(rest) => context.env.home.join(rest),
        None => known.root.join(name),
    };
    // The file may be a link; the folders on the way to it are followed.
    let (folder, last) = (path.parent().unwrap_or(&known.root), path.file_name().unwrap_or_default());
    let path = resolve_path(folder).join(last);
    let inside = path.strip_prefix(&known.root).map(|path| path.display().to_string().replace('\\', "/"));
    let Ok(inside) = inside else {
        let into = "a file of the project".to_owned();
        return Err(SyncError::Private { name: name.to_owned(), reason: "not in the project", into });
    };
    match known.by_name(&inside) {
        Some(file) if file.can_lead() => Ok(file),
        _ if path.exists() => Err(SyncError::NotRead(inside)),
        _ => Err(SyncError::Missing(inside)),
    }
}

fn refuse_unusable(source: &ProjectFile) -> Result<(), SyncError> {
    if let Err(reason) = &source.text {
        return Err(SyncError::Unreadable { name: source.name.clone(), reason: reason.clone() });
    }
    if source.own_words().is_empty() { Err(SyncError::Empty(source.name.clone())) } else { Ok(()) }
}

struct Planner<'a> {
    context: &'a Context,
    known: &'a ProjectFiles,
    source: &'a ProjectFile,
}

impl Planner<'_> {
    /// How an agent is told of the source already.
    fn how_told(&self, facts: &'static Facts) -> Option<String> {
        let source = &self.source.name;
        for (file, reading) in self.known.readings(self.context, facts) {
            let relation = relation::compare(file, self.source);
            let how = match (&reading, relation) {
                (Reading::Through(through), Some(Relation::SameFile)) => format!("reads {through}, which takes it in"),
                (Reading::Always, Some(Relation::SameFile)) if file.name == *source => "reads it".to_owned(),
                (Reading::Always, Some(Relation::SameFile)) => format!("reads {}, which is the same file", file.name),
                (Reading::Always, Some(Relation::SameWords)) => format!("reads {}, which says the same", file.name),
                (Reading::Always, Some(Relation::Copies { is_current: true })) => {
                    format!("reads {}, which holds a copy", file.name)
                }
                _ => continue,
            };
            return Some(how);
        }
        None
    }

    fn add_agent(&self, facts: &'static Facts, plan: &mut SyncPlan) -> Result<(), SyncError> {
        let name = match self.choose_file(facts, &plan.changes) {
            Ok(name) => name,
            Err(reason) => {
                plan.left.push((facts, reason));
                return Ok(());
            }
        };
        if let Some(change) = plan.changes.iter_mut().find(|change| change.name == name) {
            change.agents.push(facts);
            return Ok(());
        }
        self.refuse_private(&name)?;
        match self.plan_change(&name, facts) {
            Ok(change) => plan.changes.push(change),
            Err(reason) => plan.left.push((facts, reason)),
        }
        Ok(())
    }

    /// The file through which an agent is to be told; the error says why there is none.
    fn choose_file(&self, facts: &'static Facts, planned: &[FileChange]) -> Result<String, String> {
        let mut chosen: Option<&ProjectFile> = None;
        for (file, reading) in self.known.readings(self.context, facts) {
            let is_own = |file: &ProjectFile| matches!(file.private, Some(Private::Itself(OWN) | Private::Behind(_)));
            let is_usable = reading == Reading::Always && file.is_single && !is_own(file) && file.real.is_some();
            let follows =
                |file: &ProjectFile| file.text.as_deref().is_ok_and(|text| pointer::memory_paragraph(text).is_some());
            // One that follows already goes on to.
            if is_usable && (chosen.is_none() || (follows(file) && !chosen.is_some_and(follows))) {
                chosen = Some(file);
            }
        }
        if let Some(file) = chosen {
            let takes_in = self.source.imports(file);
            let reason = || format!("{} takes {} in, and would come back to itself", self.source.name, file.name);
            return if takes_in { Err(reason()) } else { Ok(file.name.clone()) };
        }
        // One that another agent gets is read by this one anyway.
        let is_planned = |name: &&str| planned.iter().any(|change| change.name == *name);
        let name = facts.instruction_files().find(is_planned).or_else(|| facts.instruction_files().next());
        let Some(name) = name else { return Err(explain_no_file(facts)) };
        self.refuse_hiding(name)?;
        Ok(name.to_owned())
    }

    /// Nobody may read less because of a new file.
    fn refuse_hiding(&self, name: &str) -> Result<(), String> {
        for facts in all_facts() {
            let hidden = |file: &&MemoryFile| file.place == MemoryPlace::Project && file.unless.contains(&name);
            for file in facts.memory.files.iter().filter(hidden) {
                let is_hidden_already = file.unless.iter().any(|other| self.known.root.join(other).is_file());
                for other in expand_pattern(&self.known.root, file.path) {
                    let is_source = self.known.by_name(&other).is_some_and(|other| other.is_same_file(self.source));
                    let is_told = is_source && (self.needs_copy(name) || facts.memory.import.is_some());
                    if !is_hidden_already && !is_told {
                        return Err(format!("with {name} there, {} would pass over {other}", facts.name));
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether somebody who reads a file, and not the source, could not follow an import in it. It is the same for
    /// everybody who works on the project, whatever they have installed.
    fn needs_copy(&self, name: &str) -> bool {
        let reads = |facts: &Facts, name: &str| facts.instruction_files().any(|file| file == name);
        all_facts().any(|facts| reads(facts, name) && !reads(facts, &self.source.name) && facts.memory.import.is_none())
    }

    fn refuse_private(&self, into: &str) -> Result<(), SyncError> {
        let Some(reason) = self.source.private_reason() else { return Ok(()) };
        if self.known.is_unasked {
            let (folder, name) = (self.known.root.clone(), self.source.name.clone());
            return Err(SyncError::Unasked { folder, name, into: into.to_owned() });
        }
        if self.known.is_kept_from_git(self.context, into) {
            return Ok(());
        }
        Err(SyncError::Private { name: self.source.name.clone(), reason, into: into.to_owned() })
    }

    fn plan_change(&self, name: &str, facts: &'static Facts) -> Result<FileChange, String> {
        let path = resolve_inside(&self.known.root, name).ok().flatten();
        let path = path.ok_or_else(|| format!("{name} leads out of the project"))?;
        if fs_err::metadata(&path).is_ok_and(|metadata| metadata.permissions().readonly()) {
            return Err(format!("{name} is read-only"));
        }
        if let Some(Private::Behind(reason)) = self.known.by_name(name).and_then(|file| file.private) {
            return Err(format!("{name} stays as it is: {reason}"));
        }
        let before = match self.known.by_name(name) {
            Some(file) => Some(file.text.clone().map_err(|reason| format!("{name} is not read: {reason}"))?),
            None => None,
        };
        let source = self.source.real.as_deref().unwrap_or(&self.known.root);
        let told = relative_path(&self.known.root, &path, source);
        // From where a path counts in a file that is reached by a link is not known.
        let is_link = path != self.known.root.join(name);
        let import = facts.memory.import.filter(|_| !is_link && !self.needs_copy(name));
        let paragraph = match import {
            Some(prefix) => paragraph::render_import(&told, prefix),
            None => paragraph::render_copy(&told, &self.source.own_words()),
        };
        let text = pointer::insert_memory(before.as_deref().unwrap_or_default(), &paragraph);
        let text = text.map_err(|error| format!("{name} stays as it is until that is mended: {error}"))?;
        let (is_copy, is_new) = (import.is_none(), before.is_none());
        Ok(FileChange { name: name.to_owned(), is_copy, is_new, agents: vec![facts], path, before, text })
    }

    fn add_warnings(&self, agents: &[&'static Facts], plan: &mut SyncPlan) {
        let is_copied = plan.changes.iter().any(|change| change.is_copy);
        let (text, real) = (self.source.text.as_deref().unwrap_or_default(), self.source.real.as_deref());
        if is_copied && real.is_some_and(|real| !find_imports(text, real, None).is_empty()) {
            plan.warnings.push(format!("{} takes other files in: a copy only names them", self.source.name));
        }
        for change in plan.changes.iter().filter(|change| change.is_copy) {
            let reads = |facts: &Facts, name: &str| facts.instruction_files().any(|file| file == name);
            let is_twice = |facts: &&&Facts| {
                let hides = facts.memory.files.iter().any(|file| file.unless.contains(&change.name.as_str()));
                reads(facts, &change.name) && reads(facts, &self.source.name) && !hides
            };
            for facts in agents.iter().filter(is_twice) {
                plan.warnings.push(format!("{} reads both, and so is told twice", facts.name));
            }
        }
    }
}

/// Why an agent cannot be told by any file of a project.
fn explain_no_file(facts: &Facts) -> String {
    let when = |file: &MemoryFile| file.when.or_else(|| file.front_matter.map(FrontMatter::describe));
    let sometimes = facts.memory.files.iter().find(|file| file.place == MemoryPlace::Project && when(file).is_some());
    match sometimes.and_then(|file| Some((file.path, when(file)?))) {
        Some((path, when)) => format!("it reads {path} only {when}"),
        None => "it reads no file of a project".to_owned(),
    }
}
