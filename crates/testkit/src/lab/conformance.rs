//! How pairs with an agent are run, and by what they are judged.

use crate::request::Loss;

/// The part of a lab for the matrix of real clients.
pub struct ConformanceLab {
    /// All its pairs are whole on the real clients; a new agent is proven when its own are.
    pub is_proven: bool,
    /// A turn takes most of a minute, so that only its shortest session is run every day.
    pub is_slow: bool,
    /// Things that its format cannot hold, whatever the source.
    pub losses: &'static [Loss],
    /// Why it cannot hold them.
    pub loss_reason: Option<&'static str>,
    /// Where its sessions are, to see that none is touched.
    pub sessions: SessionPlace,
}

impl ConformanceLab {
    /// An agent that holds everything, and whose pairs are all whole.
    pub(crate) const fn lossless(sessions: SessionPlace) -> Self {
        Self { is_proven: true, is_slow: false, losses: &[], loss_reason: None, sessions }
    }
}

/// Where a client keeps its sessions.
#[derive(Clone, Copy, Debug)]
pub enum SessionPlace {
    /// As files in these folders below the home.
    Folders(&'static [&'static str]),
    /// As rows: the database below the home, and its tables with how a row is named.
    Database { path: &'static str, tables: &'static [(&'static str, &'static str)] },
    /// As files of the project whose names begin so.
    Project { prefix: &'static str },
}

impl SessionPlace {
    /// Whether sessions are kept with the work.
    pub const fn is_in_project(&self) -> bool {
        matches!(self, Self::Project { .. })
    }
}
