//! What came out, and the page that shows it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use carryover_testkit::client::Agent;
use carryover_testkit::request::{Comparison, Loss, losses, reason};
use carryover_testkit::scenario::{Abilities, SOURCES};

/// The whole matrix.
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
}

/// One pair.
pub(crate) struct Row {
    pub(crate) from: String,
    pub(crate) session: String,
    pub(crate) to: String,
    /// What the source and the target cannot hold.
    pub(crate) lost: Lost,
    /// What was found, or why the pair could not be run to its end.
    pub(crate) outcome: Result<Found, String>,
}

/// What the formats of a pair cannot hold: the target's on the way there, the source's on the way back.
#[derive(Clone, Copy, Default)]
pub(crate) struct Lost {
    pub(crate) there: &'static [Loss],
    pub(crate) back: &'static [Loss],
}

/// Something that is as it should be, or why not.
pub(crate) type Check = Result<(), String>;

/// What was found in a pair.
pub(crate) struct Found {
    pub(crate) there: Comparison,
    /// `None` where the target has no listing.
    pub(crate) listed: Option<Check>,
    pub(crate) back: Result<RoundTrip, String>,
    /// No session file that was there before was changed.
    pub(crate) untouched: Check,
    /// After `carryover undo` the session files are what they were.
    pub(crate) undone: Check,
    /// What `carryover` itself said that the target cannot hold.
    pub(crate) lost: Vec<String>,
}

/// What the source client sends after the session came back to it.
pub(crate) struct RoundTrip {
    pub(crate) comparison: Comparison,
    /// Facts of the turn that was made elsewhere: how many are there, of how many.
    pub(crate) new: (usize, usize),
    /// The source's own calls have their own names and ids again.
    pub(crate) own: bool,
}

impl Found {
    fn checks(&self) -> impl Iterator<Item = (&'static str, &Check)> {
        let listed = self.listed.iter().map(|listed| ("listed", listed));
        listed.chain([("untouched", &self.untouched), ("undo", &self.undone)])
    }
}

impl RoundTrip {
    fn is_whole(&self, lost: &[Loss]) -> bool {
        self.comparison.is_whole(lost) && self.own && self.new.0 == self.new.1
    }
}

impl Row {
    pub(crate) fn is_whole(&self) -> bool {
        let whole = |found: &Found| {
            let back = found.back.as_ref().is_ok_and(|back| back.is_whole(self.lost.back));
            found.there.is_whole(self.lost.there) && back && found.checks().all(|(_, check)| check.is_ok())
        };
        self.outcome.as_ref().is_ok_and(whole)
    }

    /// Everything that is not as it should be, one line each; for people who look for the cause.
    pub(crate) fn findings(&self) -> Vec<String> {
        let found = match &self.outcome {
            Ok(found) => found,
            Err(error) => return vec![error.clone()],
        };
        let mut lines = differences("", &found.there);
        match &found.back {
            Ok(back) => {
                lines.extend(differences("back: ", &back.comparison));
                if back.new.0 < back.new.1 {
                    lines.push(format!("back: facts of the new turn: {}", ratio(back.new)));
                }
                if !back.own {
                    lines.push(format!("back: calls are {:?}", back.comparison.calls));
                }
            }
            Err(error) => lines.push(format!("back: {error}")),
        }
        let failed = found.checks().filter_map(|(name, check)| check.as_ref().err().map(|why| (name, why)));
        lines.extend(failed.map(|(name, why)| format!("{name}: {why}")));
        lines.extend(found.lost.iter().map(|loss| format!("declared as lost: {loss}")));
        lines
    }

    fn line(&self) -> String {
        format!("{}{}", self.pair(), self.cells())
    }

    fn pair(&self) -> String {
        format!("| {} | {} | {} | ", self.from, self.session, self.to)
    }

    fn cells(&self) -> String {
        let Ok(found) = &self.outcome else {
            return "not run to its end | | | | | | | |".to_owned();
        };
        let Comparison { live, ghosts, images, native, .. } = &found.there;
        let structure =
            if found.there.unpaired == 0 { ratio(*native) } else { format!("{}, unpaired", ratio(*native)) };
        let order = if found.there.disordered.is_empty() { "" } else { ", out of order" };
        let back = match &found.back {
            Ok(back) if back.is_whole(self.lost.back) => {
                format!("{} + {}", ratio(back.comparison.live), ratio(back.new))
            }
            Ok(back) => format!(
                "✗ {} + {}{}",
                ratio(back.comparison.live),
                ratio(back.new),
                if back.own { "" } else { ", not its own" }
            ),
            Err(_) => "✗".to_owned(),
        };
        format!(
            "{}{order} | {} | {} | {structure} | {} | {back} | {} | {} |",
            ratio(*live),
            ghosts.len(),
            ratio(*images),
            found.listed.as_ref().map_or("–", mark),
            mark(&found.untouched),
            mark(&found.undone),
        )
    }
}

fn differences(prefix: &str, comparison: &Comparison) -> Vec<String> {
    let kinds =
        [("missing", &comparison.missing), ("ghost", &comparison.ghosts), ("out of order", &comparison.disordered)];
    let mut lines: Vec<String> = kinds
        .iter()
        .flat_map(|(kind, facts)| facts.iter().map(move |fact| format!("{prefix}{kind}: {fact}")))
        .collect();
    let counts = [
        ("images", comparison.images, comparison.images.0 != comparison.images.1),
        ("reasoning", comparison.reasoning, comparison.reasoning.0 < comparison.reasoning.1),
        ("in native calls and outcomes", comparison.native, comparison.native.0 < comparison.native.1),
    ];
    let wrong = counts.into_iter().filter(|(_, _, wrong)| *wrong);
    lines.extend(wrong.map(|(what, count, _)| format!("{prefix}{what}: {}", ratio(count))));
    if comparison.unpaired > 0 {
        lines.push(format!("{prefix}unpaired calls or outcomes: {}", comparison.unpaired));
    }
    if comparison.repeated.0 > comparison.repeated.1 {
        lines.push(format!("{prefix}outcomes that come twice: {}", comparison.repeated.0));
    }
    lines
}

fn ratio((there, of): (usize, usize)) -> String {
    format!("{there}/{of}")
}

fn mark(check: &Check) -> &'static str {
    if check.is_ok() { "✓" } else { "✗" }
}

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

The sessions: `whole` has a compaction, then every kind of call (parallel, failing, 40 KB of output, an image, an MCP tool,
an unknown tool, a sub-agent), two rewound turns and a last turn with an image; `broken-off` has an interrupted command and
ends at a usage limit; the client of `crashed` was killed while a command ran. Reasoning is sealed for the model that
made it and is not counted; with its own provider Codex seals its compactions, too.
";

impl Report {
    /// The page; the same for the same findings.
    pub(crate) fn render(&self) -> String {
        let mut page = INTRODUCTION.to_owned();
        page.push_str(&limits());
        page.push_str(
            "\n| from | session | to | live | ghosts | images | structure | listed | back | untouched | undo |\n",
        );
        page.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
        for row in &self.rows {
            page.extend([row.line().as_str(), "\n"]);
        }
        let whole = self.rows.iter().filter(|row| row.is_whole()).count();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "\n{whole} of {} pairs are whole.", self.rows.len());
        page
    }

    /// The rows that a page does not have, or that are worse than it says. How many facts a whole session has may
    /// differ: a client that is killed has written down more or less of its last turn.
    pub(crate) fn not_in(&self, page: &str) -> Vec<String> {
        let known: Vec<&str> = page.lines().collect();
        let is_in = |row: &&Row| {
            let (pair, line) = (row.pair(), row.line());
            known.iter().any(|known| *known == line || (row.is_whole() && known.starts_with(&pair)))
        };
        self.rows.iter().filter(|row| !is_in(row)).map(Row::line).collect()
    }

    /// The lines of a page that a run of everything would not write: other words, pairs that are no longer run.
    pub(crate) fn no_longer(&self, page: &str) -> Vec<String> {
        let now = self.render();
        let now: Vec<&str> = now.lines().collect();
        let pairs: Vec<String> = self.rows.iter().map(Row::pair).collect();
        let is_known = |line: &&str| now.contains(line) || pairs.iter().any(|pair| line.starts_with(pair));
        page.lines().filter(|line| !is_known(line)).map(str::to_owned).collect()
    }
}

/// What targets cannot hold, and what is left out of sources' sessions; nothing where no agent has such limits.
fn limits() -> String {
    let known = |agent: &Agent| carryover_agents::by_name(agent.id()).is_some();
    let agents: Vec<Agent> = SOURCES.iter().filter(|source| source.is_plain()).map(|source| source.agent).collect();
    let (mut held, mut driven) = (String::new(), String::new());
    for agent in agents.into_iter().filter(known).collect::<BTreeSet<_>>() {
        // Writing to a string cannot fail.
        if let Some(reason) = reason(agent) {
            let about: Vec<&str> = losses(agent).iter().map(|loss| loss.about()).collect();
            let _ = writeln!(held, "- {}: {} ({reason})", agent.name(), about.join(", "));
        }
        let missing = Abilities::of(agent).missing();
        if !missing.is_empty() {
            let _ = writeln!(driven, "- {}: no {}", agent.name(), missing.join(", no "));
        }
    }
    let section = |about: &str, lines: String| if lines.is_empty() { lines } else { format!("\n{about}\n\n{lines}") };
    section("What a target cannot hold is not held against a pair, whatever the source:", held)
        + &section(
            "What a client cannot be driven to without a terminal, or has no tool for, is left out of its sessions:",
            driven,
        )
}

#[cfg(test)]
mod tests {
    use carryover_testkit::request::Comparison;

    use super::{Found, Lost, Report, RoundTrip, Row};

    fn row(there: Comparison) -> Row {
        let whole = Comparison { live: (4, 4), native: (2, 2), ..Comparison::default() };
        let back = Ok(RoundTrip { comparison: whole, new: (5, 5), own: true });
        let found = Found { there, listed: Some(Ok(())), back, untouched: Ok(()), undone: Ok(()), lost: Vec::new() };
        Row { from: "A 1".into(), session: "whole".into(), to: "B 2".into(), lost: Lost::default(), outcome: Ok(found) }
    }

    #[test]
    fn whole_and_broken_rows_are_told_apart() {
        let whole = row(Comparison { live: (4, 4), native: (2, 2), ..Comparison::default() });
        let ghost = vec!["Fact001Word (prompt)".to_owned()];
        let haunted = row(Comparison { live: (3, 4), ghosts: ghost, ..Comparison::default() });
        assert!(whole.is_whole() && !haunted.is_whole());
        assert_eq!(haunted.findings(), ["ghost: Fact001Word (prompt)"]);
        let page = Report { rows: vec![whole, haunted] }.render();
        assert!(page.contains("| A 1 | whole | B 2 | 4/4 | 0 | 0/0 | 2/2 | ✓ | 4/4 + 5/5 | ✓ | ✓ |\n"));
        assert!(page.contains("| A 1 | whole | B 2 | 3/4 | 1 |"));
        assert!(page.ends_with("1 of 2 pairs are whole.\n"));
    }

    #[test]
    fn page_is_held_to_its_pairs_and_not_to_the_number_of_their_facts() {
        let few = || row(Comparison { live: (4, 4), native: (2, 2), ..Comparison::default() });
        let more = row(Comparison { live: (5, 5), native: (3, 3), ..Comparison::default() });
        let worse =
            row(Comparison { live: (3, 4), native: (2, 2), missing: vec!["a".into()], ..Comparison::default() });
        let page = Report { rows: vec![few()] }.render();
        let other = Row { to: "C 3".into(), ..few() };
        let missing = Report { rows: vec![few(), more, worse, other] }.not_in(&page);
        assert_eq!(missing.len(), 2, "{missing:?}");
        assert!(missing[0].contains("3/4") && missing[1].contains("C 3"));
        let both = Report { rows: vec![few(), Row { to: "C 3".into(), ..few() }] }.render();
        let stale = Report { rows: vec![few()] }.no_longer(&both);
        assert!(stale.len() == 2 && stale[0].contains("C 3") && stale[1].contains("2 of 2"), "{stale:?}");
    }

    #[test]
    fn pair_that_could_not_be_run_says_why() {
        let row = Row {
            from: "A 1".into(),
            session: "whole".into(),
            to: "B 2".into(),
            lost: Lost::default(),
            outcome: Err("no".into()),
        };
        assert_eq!((row.is_whole(), row.findings()), (false, vec!["no".to_owned()]));
    }
}
