//! One of several forms in which an agent's clients keep sessions.

use std::path::{Path, PathBuf};

use super::sample::{Sample, SampleError};

/// A form with what belongs to it besides the session.
#[derive(Clone, Copy)]
pub struct StoreForm {
    /// What it is, where an agent has several.
    pub name: &'static str,
    pub sample: &'static Sample,
    /// Writes what stands beside the session in its store, such as a list of sessions.
    pub write_beside: fn(&Path) -> Result<(), SampleError>,
    /// The file is of one session, and there once something was said in it.
    pub is_of_one_session: bool,
    /// All records are in one value of a row.
    pub is_one_value: bool,
}

impl StoreForm {
    /// A form that is a session alone.
    pub(crate) const fn of(sample: &'static Sample) -> Self {
        Self { name: "", sample, write_beside: |_| Ok(()), is_of_one_session: false, is_one_value: false }
    }

    /// Makes a session of these records in a store, and tells where it is.
    pub fn write_records(&self, root: &Path, records: &[&[u8]]) -> Result<PathBuf, SampleError> {
        let path = self.sample.write_records(root, records)?;
        (self.write_beside)(root)?;
        Ok(path)
    }

    /// Makes a store of a made-up future version; false where none was made up.
    pub fn write_future_version(&self, root: &Path) -> Result<bool, SampleError> {
        if !self.sample.has_future() {
            return Ok(false);
        }
        self.sample.write_future_version(root)?;
        (self.write_beside)(root)?;
        Ok(true)
    }
}
