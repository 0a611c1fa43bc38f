//! Reading what was written through the target's own reader, and comparing it with what was meant.

use std::collections::BTreeMap;

use carryover_agents::{Agent, Bookmark, CarriedEntry, NOT_CONVERSATION, Source, WritePlan};
use carryover_core::live::{self, LiveItem};
use carryover_core::transcript::{Body, Entry, Part, TranscriptBuilder};

use crate::carry::assemble::fingerprint_entry;
use crate::own::fingerprint::Fingerprint;

const KINDS: usize = 5;
const MISSING_MESSAGES: [&str; KINDS] =
    ["prompts are missing", "replies are missing", "calls are missing", "outcomes are missing", "images are missing"];

/// How many of each kind a context holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts([usize; KINDS]);

impl Counts {
    fn add(&mut self, entry: &Entry) {
        let kind = match &entry.body {
            Body::Prompt(_) => 0,
            Body::Reply(_) => 1,
            Body::Call(_) => 2,
            Body::Outcome(_) => 3,
            _ => return,
        };
        self.0[kind] += 1;
        let is_image = |part: &&Part| matches!(part, Part::Blob(blob) if blob.is_image());
        self.0[4] += entry.body.parts().iter().filter(is_image).count();
    }
}

/// The live records of a session by where they begin, with digests of what they say.
pub(crate) type LiveRecords = BTreeMap<u64, Fingerprint>;

/// Reads the session and compares it with what the plan says that it holds. Answers its live records: what stands there
/// for display only is not part of the context.
pub(crate) fn verify_written(
    agent: &dyn Agent,
    plan: &WritePlan,
    carried: &[CarriedEntry],
) -> Result<LiveRecords, &'static str> {
    let meant = count_planned(plan, carried);
    let (found, live) = count_written(agent, plan)?;
    // A call that the target cannot hold may have become text: then it is missing here, one too many there, and named
    // among the losses.
    let of_what_was_said = plan.losses.iter().filter(|loss| loss.reason != NOT_CONVERSATION);
    let allowed: usize = of_what_was_said.map(|loss| loss.count).sum();
    let lacking = |kind: usize| meant.0[kind].saturating_sub(found.0[kind]);
    if (0..KINDS).map(lacking).sum::<usize>() > allowed {
        let kind = (0..KINDS).find(|kind| lacking(*kind) > 0).unwrap_or(0);
        return Err(MISSING_MESSAGES[kind]);
    }
    let more: usize = (0..KINDS).map(|kind| found.0[kind].saturating_sub(meant.0[kind])).sum();
    // An outline may be read as a prompt.
    if more > allowed + 1 { Err("it holds more than was written") } else { Ok(live) }
}

/// Adds what an entry says to its record.
pub(crate) fn add_digest(records: &mut LiveRecords, entry: &Entry) {
    let said = fingerprint_entry(entry);
    let digest = records.get(&entry.key.offset).map_or(said, |others| others.combine_unordered(said));
    records.insert(entry.key.offset, digest);
}

/// Counts the entries that the plan's origins name; a plan without origins holds everything.
fn count_planned(plan: &WritePlan, carried: &[CarriedEntry]) -> Counts {
    let mut written = vec![plan.origins.is_empty(); carried.len()];
    for origin in &plan.origins {
        if let Some(written) = written.get_mut(origin.entry) {
            *written = true;
        }
    }
    let mut counts = Counts::default();
    for (carried, _) in carried.iter().zip(written).filter(|(_, written)| *written) {
        counts.add(&carried.entry);
    }
    counts
}

fn count_written(agent: &dyn Agent, plan: &WritePlan) -> Result<(Counts, LiveRecords), &'static str> {
    let source = Source { path: plan.file.clone(), key: plan.key.clone() };
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    agent.read_session(&source, &Bookmark::Start, &mut builder).map_err(|_| "it cannot be read")?;
    let transcript = builder.finish();
    if !transcript.rejected.is_empty() {
        return Err("it holds records that cannot be read");
    }
    if transcript.header.session != plan.session {
        return Err("it has another id");
    }
    let mut counts = Counts::default();
    let mut live = LiveRecords::new();
    for alive in live::resolve_context(&transcript) {
        if let LiveItem::Entry(index) = alive {
            counts.add(&transcript.entries[index]);
            add_digest(&mut live, &transcript.entries[index]);
        }
    }
    Ok((counts, live))
}
