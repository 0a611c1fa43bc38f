//! Which files of a project are private: nothing of them may get to where git could see it.
//!
//! A link is its name and the file that it leads to: each of them can be private.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use carryover_agents::{MemoryPlace, all_facts, matches_pattern};

use crate::context::Context;
use crate::handoff::workspace::list_kept_from_git;
use crate::sessions::project::{resolve_inside, resolve_path};

pub(crate) const OWN: &str = "a person's own";
const IGNORED: &str = "ignored by git";
const UNASKED: &str = "git does not tell whether it ignores it";
const LEADS_TO_OWN: &str = "it leads to a person's own file";
const LEADS_TO_IGNORED: &str = "it leads to a file that git ignores";
const LEADS_TO_SETTINGS: &str = "it leads to settings, which may hold passwords";

/// Why a file is private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Private {
    /// It is so by its name.
    Itself(&'static str),
    /// The file that it leads to is.
    Behind(&'static str),
}

impl Private {
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Itself(reason) | Self::Behind(reason) => reason,
        }
    }
}

/// What is known of the files of one project.
pub(crate) struct Privacy {
    root: PathBuf,
    /// Names of files that git neither has nor could take in; none where it does not tell, though there is a repository.
    kept: Option<BTreeSet<String>>,
}

impl Privacy {
    /// Asks git about files, once for all.
    pub(crate) fn new<'a>(context: &Context, root: &Path, names: impl Iterator<Item = &'a str>) -> Self {
        let root = resolve_path(root);
        let mut asked = BTreeSet::new();
        for name in names {
            asked.extend(real_name(&root, name));
            asked.insert(name.to_owned());
        }
        let kept = list_kept_from_git(context, &root, &asked);
        Self { root, kept }
    }

    /// Whether there is a repository, and nobody can tell what it ignores. Then everything counts as private.
    pub(crate) fn is_unasked(&self) -> bool {
        self.kept.is_none()
    }

    /// Why a file is private, by its name from the project on; none where it is not.
    pub(crate) fn of(&self, name: &str) -> Option<Private> {
        let real = real_name(&self.root, name).filter(|real| real != name);
        if real.as_deref().is_some_and(is_settings) {
            return Some(Private::Behind(LEADS_TO_SETTINGS));
        }
        if is_own(name) {
            return Some(Private::Itself(OWN));
        }
        let keeps = |name: &str| self.kept.as_ref().is_some_and(|kept| kept.contains(name));
        match real {
            _ if keeps(name) => Some(Private::Itself(IGNORED)),
            Some(real) if is_own(&real) => Some(Private::Behind(LEADS_TO_OWN)),
            Some(real) if keeps(&real) => Some(Private::Behind(LEADS_TO_IGNORED)),
            _ if self.is_unasked() => Some(Private::Itself(UNASKED)),
            _ => None,
        }
    }
}

/// The name of the file behind links, from the project on.
fn real_name(root: &Path, name: &str) -> Option<String> {
    let real = resolve_inside(root, name).ok()??;
    Some(real.strip_prefix(root).ok()?.display().to_string().replace('\\', "/"))
}

/// Whether an agent takes it for a file that one person has for oneself.
fn is_own(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    let mut own = all_facts().flat_map(|facts| facts.memory.files).filter(|file| file.is_private);
    own.any(|file| {
        file.place == MemoryPlace::Project && [name, last].iter().any(|name| matches_pattern(file.path, name))
    })
}

/// Whether a name leads to a file that may be read for what it says: one of the project's, and no settings.
pub(crate) fn is_readable(project: &Path, name: &str) -> bool {
    let root = resolve_path(project);
    real_name(&root, name).is_some_and(|real| real == name || !is_settings(&real))
}

/// Whether it is git's, or one of those in which programs are told passwords: it is so in a folder without git, too.
pub(crate) fn is_settings(name: &str) -> bool {
    let is_git = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    let last = name.rsplit('/').next().unwrap_or(name).to_ascii_lowercase();
    Path::new(name).components().any(is_git) || last.starts_with(".env")
}
