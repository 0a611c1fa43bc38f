//! The facts that the engine found in the project's folder; the distiller itself looks at nothing.

use serde::Serialize;

use crate::time::{Timestamp, text};

/// The facts of a project at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workspace {
    /// The project's folder, absolute.
    pub root: String,
    /// Its name, from its manifest.
    pub name: Option<String>,
    pub git: Option<Git>,
    /// A tree of two levels, a line each.
    pub tree: Vec<String>,
    /// Instruction files with their contents: name, text.
    pub memory: Vec<(String, String)>,
    /// The files that the session touched, as they are now.
    pub files: Vec<CurrentFile>,
}

/// The repository as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Git {
    pub branch: Option<String>,
    pub head: Option<Commit>,
    /// `git status --short`, a line each.
    pub status: Vec<String>,
    /// `git diff --stat HEAD`, a line each.
    pub diff_stat: Vec<String>,
    /// The newest commits first, those since the session began among them.
    pub log: Vec<Commit>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Commit {
    pub id: String,
    #[serde(serialize_with = "text::known")]
    pub at: Timestamp,
    pub author: String,
    pub subject: String,
    /// The files that it changed, relative to the root of the repository; filled for commits since the session began.
    pub files: Vec<String>,
}

/// A file that the session touched, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentFile {
    /// As the session named it.
    pub path: String,
    pub exists: bool,
    pub modified_at: Option<Timestamp>,
    /// Its text, where it is text and small enough.
    pub text: Option<String>,
}
