//! The findings of a run, and the page that shows them.

use carryover_testkit::request::{Comparison, Loss};

use super::page;

/// How the line of a pair ends that is whole.
pub(super) const WHOLE_END: &str = " ✓ |";

/// The whole matrix.
pub(crate) struct Report {
    pub(crate) rows: Vec<PairRow>,
}

/// One pair.
pub(crate) struct PairRow {
    pub(crate) from: String,
    pub(crate) session: String,
    pub(crate) to: String,
    /// The losses of the source's and the target's formats.
    pub(crate) lost: FormatLosses,
    /// The findings, or why the pair could not be run to its end.
    pub(crate) outcome: Result<PairFindings, String>,
}

/// Facts that the formats of a pair cannot hold: the target's on the way there, the source's on the way back.
#[derive(Clone, Copy, Default)]
pub(crate) struct FormatLosses {
    pub(crate) there: &'static [Loss],
    pub(crate) back: &'static [Loss],
}

/// Something that is as it should be, or why not.
pub(crate) type Check = Result<(), String>;

/// The findings of a pair.
pub(crate) struct PairFindings {
    pub(crate) there: Comparison,
    /// `None` where the target has no listing.
    pub(crate) listed: Option<Check>,
    pub(crate) back: Result<RoundTrip, String>,
    /// No session file that was there before was changed.
    pub(crate) untouched: Check,
    /// After `carryover undo` the session files are what they were.
    pub(crate) undone: Check,
    /// The losses that `carryover` itself told of.
    pub(crate) lost: Vec<String>,
}

/// The comparison of what the source client sends after the session came back to it.
pub(crate) struct RoundTrip {
    pub(crate) comparison: Comparison,
    /// Facts of the turn that was made elsewhere: how many are there, of how many.
    pub(crate) new: (usize, usize),
    /// The source's own calls have their own names and ids again.
    pub(crate) own: bool,
}

impl PairFindings {
    fn all_checks(&self) -> impl Iterator<Item = (&'static str, &Check)> {
        let listed = self.listed.iter().map(|listed| ("listed", listed));
        listed.chain([("untouched", &self.untouched), ("undo", &self.undone)])
    }
}

impl RoundTrip {
    fn is_whole(&self, lost: &[Loss]) -> bool {
        self.comparison.is_whole(lost) && self.own && self.new.0 == self.new.1
    }
}

impl PairRow {
    pub(crate) fn is_whole(&self) -> bool {
        let whole = |found: &PairFindings| {
            let back = found.back.as_ref().is_ok_and(|back| back.is_whole(self.lost.back));
            found.there.is_whole(self.lost.there) && back && found.all_checks().all(|(_, check)| check.is_ok())
        };
        self.outcome.as_ref().is_ok_and(whole)
    }

    /// Everything that is not as it should be, one line each; for people who look for the cause.
    pub(crate) fn findings(&self) -> Vec<String> {
        let found = match &self.outcome {
            Ok(found) => found,
            Err(error) => return vec![error.clone()],
        };
        let mut lines = list_differences("", &found.there);
        match &found.back {
            Ok(back) => {
                lines.extend(list_differences("back: ", &back.comparison));
                if back.new.0 < back.new.1 {
                    lines.push(format!("back: facts of the new turn: {}", format_ratio(back.new)));
                }
                if !back.own {
                    lines.push(format!("back: calls are {:?}", back.comparison.calls));
                }
            }
            Err(error) => lines.push(format!("back: {error}")),
        }
        let failed = found.all_checks().filter_map(|(name, check)| check.as_ref().err().map(|why| (name, why)));
        lines.extend(failed.map(|(name, why)| format!("{name}: {why}")));
        lines.extend(found.lost.iter().map(|loss| format!("declared as lost: {loss}")));
        lines
    }

    pub(super) fn table_line(&self) -> String {
        let whole = if self.is_whole() { WHOLE_END } else { " ✗ |" };
        format!("{}{}{whole}", self.pair_cells(), self.result_cells())
    }

    pub(super) fn pair_cells(&self) -> String {
        format!("| {} | {} | {} | ", self.from, self.session, self.to)
    }

    fn result_cells(&self) -> String {
        let Ok(found) = &self.outcome else {
            return "not run to its end | | | | | | | |".to_owned();
        };
        let Comparison { live, ghosts, images, native, .. } = &found.there;
        let structure = if found.there.unpaired == 0 {
            format_ratio(*native)
        } else {
            format!("{}, unpaired", format_ratio(*native))
        };
        let order = if found.there.disordered.is_empty() { "" } else { ", out of order" };
        let back = match &found.back {
            Ok(back) if back.is_whole(self.lost.back) => {
                format!("{} + {}", format_ratio(back.comparison.live), format_ratio(back.new))
            }
            Ok(back) => format!(
                "✗ {} + {}{}",
                format_ratio(back.comparison.live),
                format_ratio(back.new),
                if back.own { "" } else { ", not its own" }
            ),
            Err(_) => "✗".to_owned(),
        };
        format!(
            "{}{order} | {} | {} | {structure} | {} | {back} | {} | {} |",
            format_ratio(*live),
            ghosts.len(),
            format_ratio(*images),
            found.listed.as_ref().map_or("–", check_mark),
            check_mark(&found.untouched),
            check_mark(&found.undone),
        )
    }
}

pub(super) fn list_differences(prefix: &str, comparison: &Comparison) -> Vec<String> {
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
    lines.extend(wrong.map(|(what, count, _)| format!("{prefix}{what}: {}", format_ratio(count))));
    if comparison.unpaired > 0 {
        lines.push(format!("{prefix}unpaired calls or outcomes: {}", comparison.unpaired));
    }
    if comparison.repeated.0 > comparison.repeated.1 {
        lines.push(format!("{prefix}outcomes that come twice: {}", comparison.repeated.0));
    }
    lines
}

pub(super) fn format_ratio((there, of): (usize, usize)) -> String {
    format!("{there}/{of}")
}

fn check_mark(check: &Check) -> &'static str {
    if check.is_ok() { "✓" } else { "✗" }
}

impl Report {
    /// The page; the same for the same findings.
    pub(crate) fn render_page(&self) -> String {
        page::render_lines(&self.rows.iter().map(PairRow::table_line).collect::<Vec<_>>())
    }

    /// The rows that a page does not have, or that are worse than it says. How many facts a whole session has may
    /// differ: a client that is killed has written down more or less of its last turn.
    pub(crate) fn rows_not_in(&self, page: &str) -> Vec<String> {
        let known: Vec<&str> = page.lines().collect();
        let is_in = |row: &&PairRow| {
            let (pair, line) = (row.pair_cells(), row.table_line());
            known.iter().any(|known| *known == line || (row.is_whole() && known.starts_with(&pair)))
        };
        self.rows.iter().filter(|row| !is_in(row)).map(PairRow::table_line).collect()
    }

    /// The lines of a page that a run of everything would not write: other words, pairs that are no longer run.
    pub(crate) fn stale_lines(&self, page: &str) -> Vec<String> {
        let now = self.render_page();
        let now: Vec<&str> = now.lines().collect();
        let pairs: Vec<String> = self.rows.iter().map(PairRow::pair_cells).collect();
        let is_known = |line: &&str| now.contains(line) || pairs.iter().any(|pair| line.starts_with(pair));
        page.lines().filter(|line| !is_known(line)).map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use carryover_testkit::request::Comparison;

    use super::{FormatLosses, PairFindings, PairRow, Report, RoundTrip};

    fn sample_row(there: Comparison) -> PairRow {
        let whole = Comparison { live: (4, 4), native: (2, 2), ..Comparison::default() };
        let back = Ok(RoundTrip { comparison: whole, new: (5, 5), own: true });
        let found =
            PairFindings { there, listed: Some(Ok(())), back, untouched: Ok(()), undone: Ok(()), lost: Vec::new() };
        PairRow {
            from: "A 1".into(),
            session: "whole".into(),
            to: "B 2".into(),
            lost: FormatLosses::default(),
            outcome: Ok(found),
        }
    }

    #[test]
    fn whole_and_broken_rows_are_told_apart() {
        let whole = sample_row(Comparison { live: (4, 4), native: (2, 2), ..Comparison::default() });
        let ghost = vec!["Fact001Word (prompt)".to_owned()];
        let haunted = sample_row(Comparison { live: (3, 4), ghosts: ghost, ..Comparison::default() });
        assert!(whole.is_whole() && !haunted.is_whole());
        assert_eq!(haunted.findings(), ["ghost: Fact001Word (prompt)"]);
        let page = Report { rows: vec![whole, haunted] }.render_page();
        assert!(page.contains("| A 1 | whole | B 2 | 4/4 | 0 | 0/0 | 2/2 | ✓ | 4/4 + 5/5 | ✓ | ✓ | ✓ |\n"));
        assert!(page.contains("| A 1 | whole | B 2 | 3/4 | 1 |"));
        assert!(page.ends_with("1 of 2 pairs are whole.\n"));
    }

    #[test]
    fn page_is_held_to_its_pairs_and_not_to_the_number_of_their_facts() {
        let few = || sample_row(Comparison { live: (4, 4), native: (2, 2), ..Comparison::default() });
        let more = sample_row(Comparison { live: (5, 5), native: (3, 3), ..Comparison::default() });
        let worse =
            sample_row(Comparison { live: (3, 4), native: (2, 2), missing: vec!["a".into()], ..Comparison::default() });
        let page = Report { rows: vec![few()] }.render_page();
        let other = PairRow { to: "C 3".into(), ..few() };
        let missing = Report { rows: vec![few(), more, worse, other] }.rows_not_in(&page);
        assert_eq!(missing.len(), 2, "{missing:?}");
        assert!(missing[0].contains("3/4") && missing[1].contains("C 3"));
        let both = Report { rows: vec![few(), PairRow { to: "C 3".into(), ..few() }] }.render_page();
        let stale = Report { rows: vec![few()] }.stale_lines(&both);
        assert!(stale.len() == 2 && stale[0].contains("C 3") && stale[1].contains("2 of 2"), "{stale:?}");
    }

    #[test]
    fn pair_that_could_not_be_run_says_why() {
        let row = PairRow {
            from: "A 1".into(),
            session: "whole".into(),
            to: "B 2".into(),
            lost: FormatLosses::default(),
            outcome: Err("no".into()),
        };
        assert_eq!((row.is_whole(), row.findings()), (false, vec!["no".to_owned()]));
    }
}
