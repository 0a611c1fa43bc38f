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
    /// The files that tell the session's model something.
    pub memory: Vec<MemoryText>,
    /// The files that the session touched, as they are now.
    pub files: Vec<CurrentFile>,
}

/// A file that tells a model something, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryText {
    /// From the project on; of a user's own file, all of it.
    pub path: String,
    /// Of the whole file. None where something in the text was masked: together they would tell what a short secret is.
    pub sha256: Option<String>,
    pub bytes: u64,
    /// A person's own, which is not the project's.
    pub is_private: bool,
    /// When it is read, where that is not always so: nobody knows whether it was.
    pub when: Option<&'static str>,
    /// Its beginning, where it is long.
    pub text: String,
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
