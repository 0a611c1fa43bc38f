//! `docs/conformance.md`: the matrix for people.

use std::fmt::Write as _;

use carryover_testkit::agents::LABS;
use carryover_testkit::scenario::Abilities;

use super::report::{PairRow, Report, WHOLE_END};
use super::tier::Tier;

const INTRODUCTION: &str = "# Conformance

Written by `cargo xtask conformance --full`; do not edit. Each row is a session that a real client wrote, carried by
`carryover resume` into another real client, and then compared: the request that the target sends to its model against
the request that the source itself would have sent. Both clients talk to a fake model on this machine.

- **live**: facts of the source's live context that arrived (prompts, replies, calls, outcomes, summaries), in order
- **ghosts**: facts that arrived although the source would not send them (before a compaction, rewound, inside a sub-agent)
- **structure**: facts of calls and outcomes that are in native, paired calls and outcomes
- **listed**: the target's own listing shows the session
- **back**: after one more turn in the target and a resume back, facts of the source's own part, whose calls must have their own names and ids again, and facts of the new turn
- **untouched**: no session file that was there before changed by a byte
- **undo**: after `carryover undo` the session files are what they were
- **whole**: all of this holds, as far as the target's format can hold it; a pair that is not whole is run again, three
  times in all, for some clients lose an output now and then

The sessions: `whole` has a compaction, then every kind of call (parallel, failing, 40 KB of output, an image, an MCP tool,
an unknown tool, a sub-agent), two rewound turns and a last turn with an image; `broken-off` has an interrupted command and
ends at a usage limit; the client of `crashed` was killed while a command ran. Reasoning is sealed for the model that
made it and is not counted; with its own provider Codex seals its compactions, too.
";

/// The page with these lines.
pub(super) fn render_lines(lines: &[String]) -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str(&render_limits());
    page.push_str(
        "\n| from | session | to | live | ghosts | images | structure | listed | back | untouched | undo | whole |\n",
    );
    page.push_str("|---|---|---|---|---|---|---|---|---|---|---|---|\n");
    for line in lines {
        page.extend([line.as_str(), "\n"]);
    }
    let whole = lines.iter().filter(|line| line.ends_with(WHOLE_END)).count();
    // Writing to a string cannot fail.
    let _ = writeln!(page, "\n{whole} of {} pairs are whole.", lines.len());
    page
}

/// A page with what was found now in the place of what it said of the same pairs. Pairs that the tier no longer has go,
/// and the order is that of a run of everything.
pub(super) fn update_lines(page: &str, report: &Report, tier: &Tier) -> String {
    let mut lines = Vec::new();
    for (from, session, to) in tier.list_pairs() {
        let pair = format!("| {from} | {session} | {to} | ");
        let now = report.rows.iter().find(|row| row.pair_cells() == pair).map(PairRow::table_line);
        lines.extend(now.or_else(|| page.lines().find(|line| line.starts_with(&pair)).map(str::to_owned)));
    }
    render_lines(&lines)
}

/// The limits of targets, and what is left out of sources' sessions; nothing where no agent has such limits.
fn render_limits() -> String {
    let (mut held, mut driven) = (String::new(), String::new());
    for lab in LABS {
        // Writing to a string cannot fail.
        if let Some(reason) = lab.conformance.loss_reason {
            let about: Vec<&str> = lab.conformance.losses.iter().map(|loss| loss.describe()).collect();
            let _ = writeln!(held, "- {}: {} ({reason})", lab.name, about.join(", "));
        }
        let missing = Abilities::from_lab(lab).describe_missing();
        if !missing.is_empty() {
            let _ = writeln!(driven, "- {}: no {}", lab.name, missing.join(", no "));
        }
    }
    let section = |about: &str, lines: String| if lines.is_empty() { lines } else { format!("\n{about}\n\n{lines}") };
    section("What a target cannot hold is not held against a pair, whatever the source:", held)
        + &section(
            "What a client cannot be driven to without a terminal, or has no tool for, is left out of its sessions:",
            driven,
        )
}
