//! Adds to entries what costs much to have, once it is known which of them fit.

use carryover_agents::{Agent, CarriedEntry, Loss};
use carryover_core::transcript::{Body, EntryKey};

use super::assemble::SourceSession;
use super::blob::{self, Losses};
use crate::write::journal;

/// Adds images and files, and the target's own records. What gave way to a window needs neither.
pub(super) fn complete_entries(
    carried: &mut [CarriedEntry],
    origins: &[journal::Origin],
    sources: &[SourceSession],
    target: &dyn Agent,
) -> Vec<Loss> {
    let mut losses = Losses::default();
    let mut natives = NativeRecords { sources, target: target.facts().id, last: None };
    for (carried, origin) in carried.iter_mut().zip(origins) {
        blob::load_all(&mut carried.entry.body, &sources[origin.from].header, &mut losses);
        if origin.answer.is_none() {
            carried.native = natives.read_record(origin.from, origin.key);
        }
        let agent = sources[origin.from].agent;
        if let (Body::Outcome(outcome), None) = (&mut carried.entry.body, &origin.answer)
            && (agent.facts().id != natives.target || agent.as_captured().is_some())
        {
            agent.strip_harness_text(outcome);
        }
    }
    losses.into_vec()
}

/// Records of the target's own, as it wrote them.
struct NativeRecords<'a> {
    sources: &'a [SourceSession],
    target: &'static str,
    /// One record makes several entries that stand together.
    last: Option<((usize, u16, u64), Option<String>)>,
}

impl NativeRecords<'_> {
    fn read_record(&mut self, from: usize, key: EntryKey) -> Option<String> {
        let source = &self.sources[from];
        if source.agent.facts().id != self.target || source.agent.as_captured().is_some() {
            return None;
        }
        let place = (from, key.file, key.offset);
        match &self.last {
            Some((last, record)) if *last == place => record.clone(),
            _ => {
                // One that cannot be had is translated like a stranger's.
                let record = source.agent.read_record(&source.header, key).ok();
                self.last = Some((place, record.clone()));
                record
            }
        }
    }
}
