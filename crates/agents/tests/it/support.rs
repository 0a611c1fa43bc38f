//! Reading made-up files.

use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent, Bookmark, Source};
use carryover_core::transcript::{Transcript, TranscriptBuilder};
use carryover_testkit::agents::LABS;
use carryover_testkit::lab::{Lab, StoreForm};

/// Every agent with its lab.
pub(crate) fn agents_and_labs() -> impl Iterator<Item = (&'static dyn Agent, &'static Lab)> {
    AGENTS.iter().copied().zip(LABS.iter().copied())
}

/// Every form in which agents keep sessions, with a name for it.
pub(crate) fn agents_and_forms() -> impl Iterator<Item = (&'static dyn Agent, StoreForm, String)> {
    agents_and_labs().flat_map(|(agent, lab)| {
        lab.forms().map(move |form| (agent, form, format!("{} {}", lab.id, form.name).trim_end().to_owned()))
    })
}

/// A store with one session of these records.
pub(crate) struct Made {
    pub path: PathBuf,
    /// Removed with this.
    _folder: tempfile::TempDir,
}

pub(crate) fn store(form: StoreForm, records: &[&[u8]]) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let path = form.write_records(folder.path(), records).unwrap();
    Made { path, _folder: folder }
}

pub(crate) fn read(agent: &dyn Agent, path: &Path) -> Transcript {
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    let source = Source { path: path.to_path_buf(), key: None };
    agent.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    builder.finish()
}
