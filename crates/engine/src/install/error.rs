//! Why something could not be set up or taken back.

use std::io;
use std::path::PathBuf;

use super::json_text::JsonTextError;
use super::read_list::ReadListError;

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("{} was left alone", path.display())]
    Json {
        path: PathBuf,
        #[source]
        source: JsonTextError,
    },
    #[error("{} was left alone", path.display())]
    ReadList {
        path: PathBuf,
        #[source]
        source: ReadListError,
    },
    #[error("{} is there already and is not carryover's", .0.display())]
    NotOurs(PathBuf),
    #[error("{} is read-only", .0.display())]
    ReadOnly(PathBuf),
    #[error("{} is a link that leads nowhere", .0.display())]
    BrokenLink(PathBuf),
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    #[error("{} is not text", .0.display())]
    NotText(PathBuf),
    #[error("{} was changed by somebody else in this moment", .0.display())]
    Changed(PathBuf),
    #[error("there is no place for its hooks on this system")]
    NoPlace,
    #[error("{} is not a record of an installation that this version understands", path.display())]
    Record {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("the program is called {0}, and hooks of carryover are known by its own name")]
    ProgramName(String),
    #[error("{} belongs to another user", .0.display())]
    ForeignHome(PathBuf),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl InstallError {
    /// The file that it is about, where there is one that a person can mend.
    pub fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Json { path, .. }
            | Self::ReadList { path, .. }
            | Self::Record { path, .. }
            | Self::NotOurs(path)
            | Self::ReadOnly(path)
            | Self::BrokenLink(path)
            | Self::NotAFile(path)
            | Self::NotText(path)
            | Self::Changed(path)
            | Self::ForeignHome(path) => Some(path),
            Self::NoPlace | Self::ProgramName(_) | Self::Io(_) => None,
        }
    }
}
