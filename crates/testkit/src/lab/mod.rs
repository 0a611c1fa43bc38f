//! Everything that tests know of one agent: its real client and how to drive it, and its store as it is and as it might become.
//!
//! A lab is data, beside what `carryover-agents` knows: everything that tests of all agents need of one of them stands in
//! its lab, so that no test lists agents.

mod bench;
mod client;
mod conformance;
mod fixtures;
mod form;
mod sample;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::client::Provider;

pub use bench::{BenchPlace, BenchStore};
pub(crate) use client::{ClientLab, Compaction, Package, Registry};
pub use client::{PinnedVersion, Variant};
pub use conformance::{ConformanceLab, SessionPlace};
pub use fixtures::{ExpectedReading, LooseFile};
pub use form::StoreForm;
pub use sample::{DocumentFormat, Format, LineFormat, RowFormat, Sample, SampleError};

/// One agent in the laboratory.
pub struct Lab {
    /// The same as in the agent's `Facts`.
    pub id: &'static str,
    /// How the page of conformance calls it.
    pub name: &'static str,
    /// Its real client: how it is installed, run and driven.
    pub(crate) client: ClientLab,
    /// How pairs with it are run, and what they are measured by.
    pub conformance: ConformanceLab,
    /// A small store of it, sound, damaged and of a future version.
    pub sample: Sample,
    /// Other forms in which its clients keep sessions.
    pub other_forms: &'static [StoreForm],
    /// Sessions that its client wrote, with what its reader must tell of them.
    pub readings: &'static [ExpectedReading],
    /// Sessions with tools, as loose files.
    pub loose_files: &'static [LooseFile],
    /// Where the big session is put by which its reader is measured.
    pub bench: BenchPlace,
}

impl Lab {
    /// Every form in which its clients keep sessions; the first is that of the sample.
    pub fn forms(&'static self) -> impl Iterator<Item = StoreForm> {
        std::iter::once(StoreForm::of(&self.sample)).chain(self.other_forms.iter().copied())
    }

    /// The text by which its client's interface shows that it waits for a prompt; `None` where it was not tried.
    pub fn interface_ready_text(&self) -> Option<&'static str> {
        self.client.runner.ready_text()
    }

    /// The provider with which its client can be led through a recording proxy, where that is another than usual.
    pub fn recorded_provider(&self) -> Option<Provider> {
        self.client.runner.recorded_provider()
    }

    /// Whether its client names files by the minute, so that a session is gone on with in another one.
    pub fn names_files_by_minute(&self) -> bool {
        self.client.runner.names_files_by_minute()
    }

    /// Whether its client reads a handoff by itself once its user has told it to.
    pub fn reads_opted_in_handoff(&self) -> bool {
        self.client.runner.reads_opted_in_handoff()
    }

    /// The command that compacts a session in its client's interface, where that was tried.
    pub fn compact_command(&self) -> Option<&'static str> {
        self.client.runner.compact_command()
    }

    /// The versions of its client that are run, the newest first.
    pub fn pins(&self) -> &'static [PinnedVersion] {
        self.client.pins
    }
}

impl PartialEq for Lab {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Lab {}

impl PartialOrd for Lab {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Lab {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(other.id)
    }
}

impl Hash for Lab {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for Lab {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.id)
    }
}
