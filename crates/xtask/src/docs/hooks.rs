//! The hooks of each agent, the same that `carryover install` writes.

use std::fmt::{self, Write};

use carryover_agents::{Facts, HookPlace, Injection, hooked_agents};

use super::agents::{code_list, describe_store};

/// The table of the page on handoffs.
pub(super) fn render_table() -> Result<String, fmt::Error> {
    let mut table = "| agent | where | events | takes the handoff at a start | what is left to you |\n\
                     |---|---|---|---|---|\n"
        .to_owned();
    for facts in hooked_agents() {
        write_row(&mut table, facts)?;
    }
    Ok(table)
}

fn write_row(table: &mut String, facts: &Facts) -> fmt::Result {
    let Some(hooks) = facts.hooks else { return Ok(()) };
    let (HookPlace::Entries { file, .. } | HookPlace::OwnFile { file, .. }) = hooks.place;
    // The last is the one that holds where no variable moves it.
    let place = file.last().map(describe_store).unwrap_or_default();
    let events: Vec<&str> = hooks.resolve(facts, None).events.iter().map(|binding| binding.event).collect();
    let takes = if hooks.injection == Injection::Nothing { "no" } else { "yes" };
    let step = hooks.user_step.unwrap_or_default();
    writeln!(table, "| {} | {place} | {} | {takes} | {step} |", facts.name, code_list(&events))
}
