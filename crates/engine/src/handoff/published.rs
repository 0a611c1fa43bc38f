//! What was published last in a project, or in our own folder for all of them: whose session, how far it had come, and the
//! text.
//!
//! A `handoff.md` that says anything else is not ours, wherever it came from, and is given to nobody unasked.

use std::io;
use std::path::{Path, PathBuf};

use carryover_core::render::{Protocol, protocol_heading};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::handoff::injection::NotGiven;
use crate::handoff::project_dir;
use crate::handoff::project_dir::HANDOFF_FILE;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::project::published_project;

const SCHEMA: &str = "carryover.published/1";
const FOLDER: &str = "published";
const MAX_BYTES: u64 = 64 << 10;
/// A handoff has eight thousand characters at most.
const MAX_HANDOFF_BYTES: u64 = 64 << 10;

/// One project's record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    schema: String,
    pub project: PathBuf,
    pub agent: String,
    pub session: SessionId,
    /// The session's last change that is in it.
    pub updated_at: Option<Timestamp>,
    pub published_at: Timestamp,
    text: String,
}

impl Published {
    pub(super) fn new(
        project: &Path,
        agent: &str,
        session: &SessionId,
        updated_at: Option<Timestamp>,
        now: Timestamp,
        text: &str,
    ) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            project: project.to_owned(),
            agent: agent.to_owned(),
            session: session.clone(),
            updated_at,
            published_at: now,
            text: text.to_owned(),
        }
    }

    /// The record of a project; none where nothing was published, or where it cannot be read.
    pub fn load(context: &Context, project: &Path) -> Option<Self> {
        load_record(&record_path(context, project)).filter(|record| record.project == project)
    }

    pub(super) fn save(&self, context: &Context) -> io::Result<()> {
        files::write_cached(&record_path(context, &self.project), &serde_json::to_vec(self)?)
    }

    /// Whether the next agent would open with it in that way.
    pub(super) fn opens_with(&self, protocol: Protocol) -> bool {
        self.text.lines().any(|line| line == protocol_heading(protocol))
    }

    /// Takes the handoff away and the record of it. One that somebody has changed since stays, unless that is asked for, too.
    pub(crate) fn withdraw(&self, context: &Context, also_changed: bool) -> io::Result<()> {
        if also_changed {
            let file = file_path(context, &self.project);
            files::remove_if_there(&file)?;
            project_dir::remove_kept_copies(&file)?;
        } else {
            remove_if(context, &self.project, |bytes| bytes == self.text.as_bytes())?;
        }
        files::remove_if_there(&record_path(context, &self.project))
    }

    /// The text of the handoff, where the file is still what was published.
    pub(super) fn read_unchanged(&self, context: &Context) -> Result<String, NotGiven> {
        let bytes = read_handoff(&file_path(context, &self.project)).ok_or(NotGiven::Nothing)?;
        if bytes == self.text.as_bytes() { Ok(self.text.clone()) } else { Err(NotGiven::Changed) }
    }

    /// Every record.
    pub fn load_all(context: &Context) -> Vec<Self> {
        let Ok(listing) = fs_err::read_dir(context.home.join(FOLDER)) else { return Vec::new() };
        listing.filter_map(Result::ok).filter_map(|entry| load_record(&entry.path())).collect()
    }
}

/// The file that holds a project's handoff; that of all projects is in our own folder.
fn file_path(context: &Context, project: &Path) -> PathBuf {
    if project == context.home {
        return context.home.join(HANDOFF_FILE);
    }
    project.join(project_dir::FOLDER).join(HANDOFF_FILE)
}

fn read_handoff(file: &Path) -> Option<Vec<u8>> {
    files::read_bounded(file, MAX_HANDOFF_BYTES).ok().flatten()
}

/// Removes a project's handoff where it says what is meant; whether it did.
fn remove_if(context: &Context, project: &Path, is_meant: impl Fn(&[u8]) -> bool) -> io::Result<bool> {
    let file = file_path(context, project);
    let is_there = read_handoff(&file).is_some_and(|bytes| is_meant(&bytes));
    if is_there {
        files::remove_if_there(&file)?;
    }
    Ok(is_there)
}

/// Takes away what a handoff of a project said, there and in our own folder, with the records that say the same. Whose it
/// was, the caller knows.
pub(crate) fn remove_text(context: &Context, project: &Path, is_meant: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    for place in [project, &context.home] {
        if remove_if(context, place, &is_meant)? {
            files::remove_if_there(&record_path(context, place))?;
        }
    }
    Ok(())
}

fn load_record(path: &Path) -> Option<Published> {
    let bytes = files::read_bounded(path, MAX_BYTES).ok()??;
    let record: Published = serde_json::from_slice(&bytes).ok()?;
    (record.schema == SCHEMA).then_some(record)
}

fn record_path(context: &Context, project: &Path) -> PathBuf {
    let name = Fingerprint::from_bytes(project.as_os_str().as_encoded_bytes());
    context.home.join(FOLDER).join(format!("{name}.json"))
}

/// The handoff that was published for a folder's project; none where it is not there, or not ours.
pub fn read_project_handoff(context: &Context, folder: &Path) -> Option<String> {
    let project = published_project(&context.env.home, folder)?;
    let record = Published::load(context, &project)?;
    record.read_unchanged(context).ok()
}

/// Takes all published handoffs away that nobody has changed; how many.
pub fn withdraw_all(context: &Context) -> io::Result<usize> {
    let records = Published::load_all(context);
    records.iter().try_for_each(|record| record.withdraw(context, false))?;
    Ok(records.len())
}
