//! A resume as listings of what can be taken back show it.

use std::path::PathBuf;

use carryover_core::time::Timestamp;

use crate::handoff::blocks;
use crate::write::journal::Journal;
use crate::write::undo_files::KeptFiles;

/// A resume that can be taken back, for listings.
#[derive(Debug, Clone)]
pub struct Undoable {
    pub id: String,
    pub source: String,
    pub target: String,
    pub session: String,
    pub title: Option<String>,
    pub at: Timestamp,
    pub project: PathBuf,
    /// Files that it would remove.
    pub files: Vec<PathBuf>,
    /// Files of others that it would take our part out of.
    pub shared: Vec<PathBuf>,
    /// Files in a folder that it leaves unless they are asked for.
    pub workspace: Option<KeptFiles>,
}

impl From<Journal> for Undoable {
    fn from(journal: Journal) -> Self {
        let lines = journal.lines.into_iter().map(|lines| lines.file);
        let rows = journal.rows.into_iter().map(|rows| rows.database);
        let (made, blocks): (Vec<_>, Vec<_>) = journal.blocks.into_iter().partition(blocks::goes_with_file);
        let [made, blocks] = [made, blocks].map(|blocks| blocks.into_iter().map(|block| block.file));
        let ignored = journal.ignored.into_iter().map(|line| line.file);
        let replaced: Vec<PathBuf> = journal.replaced.into_iter().map(|before| before.path).collect();
        let files = journal.files.into_iter().map(|file| file.path).filter(|path| !replaced.contains(path));
        let files = files.chain(made).collect();
        let mut shared: Vec<PathBuf> = lines.chain(rows).chain(blocks).chain(ignored).chain(replaced).collect();
        // One database may have several of its rows.
        shared.dedup();
        Self {
            id: journal.id,
            source: journal.source.agent,
            target: journal.target.agent,
            session: journal.target.session.0,
            title: journal.title,
            at: journal.at,
            project: journal.project,
            files,
            workspace: None,
            shared,
        }
    }
}
