//! Where the sessions are put that readers and the listing are measured by.

use std::path::Path;

use super::sample::SampleError;

/// How a grown session is kept, and where below the home. In a path, `{ID}` stands for the session's id, `{N}` for its
/// number and `{HEX}` for the number in eight digits.
#[derive(Clone, Copy, Debug)]
pub enum BenchPlace {
    /// A file of JSON lines.
    Lines(&'static str),
    /// A history in Markdown, in a project's folder.
    Markdown(&'static str),
    /// A database that holds all sessions, as messages and their parts.
    Rows(&'static str),
    /// A database that holds all sessions, as events.
    Events(&'static str),
}

impl BenchPlace {
    /// The path of a session below the home.
    pub fn session_path(&self, number: u64, id: &str) -> String {
        let (Self::Lines(path) | Self::Markdown(path) | Self::Rows(path) | Self::Events(path)) = self;
        let number_in_hex = format!("{number:08x}");
        path.replace("{ID}", id).replace("{N}", &number.to_string()).replace("{HEX}", &number_in_hex)
    }
}

/// What an agent keeps besides the sessions of its `BenchPlace`, for measuring how a whole home is listed.
pub struct BenchStore {
    pub agent: &'static str,
    /// How many sessions, and bytes, are in it; none where it only tells of the others.
    pub n_sessions: u64,
    pub bytes: u64,
    /// Writes it into a home. The sessions are those in it, or those that it tells of.
    pub write: fn(home: &Path, sessions: &[String]) -> Result<(), SampleError>,
}
