//! Reading a session whole.

use carryover_agents::{AgentError, Bookmark, Source};
use carryover_core::transcript::{Transcript, TranscriptBuilder};

use crate::session::Listed;

/// Reads a session; entries that are not live are reduced to their positions unless everything is to be kept.
pub fn transcript(listed: &Listed, keep_everything: bool) -> Result<Transcript, AgentError> {
    of_source(listed.agent, &listed.found.source, keep_everything)
}

pub(crate) fn of_source(
    agent: &dyn carryover_agents::Agent,
    source: &Source,
    keep_everything: bool,
) -> Result<Transcript, AgentError> {
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    if keep_everything {
        builder = builder.keeping_everything();
    }
    agent.read(source, &Bookmark::Start, &mut builder)?;
    Ok(builder.finish())
}
