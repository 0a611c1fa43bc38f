//! Taking back what a resume wrote.

use std::path::PathBuf;

use crate::context::Context;

/// What was taken back.
#[derive(Debug, Clone)]
pub struct Undone {
    pub id: String,
    pub target: String,
    pub session: String,
    pub removed: Vec<PathBuf>,
    pub warnings: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    #[error("nothing to undo")]
    Nothing,
    #[error("no resume is known by `{0}`")]
    NotFound(String),
    #[error("{} has grown since it was written: somebody has gone on there", .0.display())]
    Used(PathBuf),
    #[error("could not take back {}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

/// A resume that can be taken back, for listings.
#[derive(Debug, Clone)]
pub struct Undoable {
    pub id: String,
    pub source: String,
    pub target: String,
    pub session: String,
}

/// Takes back a resume, the last one where none is named.
pub fn undo(context: &Context, id: Option<&str>, force: bool) -> Result<Undone, UndoError> {
    let _ = (context, id, force);
    Err(UndoError::Nothing)
}

/// The resumes that can still be taken back, newest first.
pub fn undoable(context: &Context) -> Vec<Undoable> {
    let _ = context;
    Vec::new()
}
