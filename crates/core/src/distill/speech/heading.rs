//! Headings and labels by which people and agents sort what they say.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};

use super::vocabulary;

/// What a heading announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::distill) enum Section {
    #[default]
    Other,
    Goal,
    Done,
    Doing,
    Remaining,
    Next,
    Decisions,
    Constraints,
    Failed,
    Blockers,
    Questions,
    Actions,
}

/// Words that decide, the more telling first: `Open questions` are questions, whatever else stands there.
const WORDS: &[(&str, Section)] = &[
    ("question", Section::Questions),
    ("unclear", Section::Questions),
    ("unknowns", Section::Questions),
    ("to clarify", Section::Questions),
    ("to be decided", Section::Questions),
    ("undecided", Section::Questions),
    ("need your input", Section::Questions),
    ("input needed", Section::Questions),
    ("decision needed", Section::Questions),
    ("decisions needed", Section::Questions),
    ("pending decision", Section::Questions),
    ("open decision", Section::Questions),
    ("tbd", Section::Questions),
    ("blocker", Section::Blockers),
    ("blocked", Section::Blockers),
    ("blocking", Section::Blockers),
    ("still failing", Section::Blockers),
    ("known issue", Section::Blockers),
    ("open issue", Section::Blockers),
    ("didn't work", Section::Failed),
    ("did not work", Section::Failed),
    ("doesn't work", Section::Failed),
    ("tried", Section::Failed),
    ("failed attempt", Section::Failed),
    ("failed approach", Section::Failed),
    ("dead end", Section::Failed),
    ("ruled out", Section::Failed),
    ("decision", Section::Decisions),
    ("decided", Section::Decisions),
    ("choices", Section::Decisions),
    ("agreed", Section::Decisions),
    ("agreement", Section::Decisions),
    ("resolved to", Section::Decisions),
    ("chosen", Section::Decisions),
    ("what we settled", Section::Decisions),
    ("settled", Section::Decisions),
    ("conclusions", Section::Decisions),
    ("constraint", Section::Constraints),
    ("requirement", Section::Constraints),
    ("ground rule", Section::Constraints),
    ("rules", Section::Constraints),
    ("must have", Section::Constraints),
    ("non-negotiable", Section::Constraints),
    ("next", Section::Next),
    ("up next", Section::Next),
    ("where to pick up", Section::Next),
    ("picking up", Section::Next),
    ("to resume", Section::Next),
    ("action item", Section::Actions),
    ("action point", Section::Actions),
    ("follow-up", Section::Actions),
    ("follow up", Section::Actions),
    ("followup", Section::Actions),
    ("assignment", Section::Actions),
    ("remaining", Section::Remaining),
    ("remains", Section::Remaining),
    ("still to do", Section::Remaining),
    ("still open", Section::Remaining),
    ("to do", Section::Remaining),
    ("to-do", Section::Remaining),
    ("todo", Section::Remaining),
    ("pending", Section::Remaining),
    ("outstanding", Section::Remaining),
    ("not done", Section::Remaining),
    ("not yet", Section::Remaining),
    ("what's left", Section::Remaining),
    ("left to do", Section::Remaining),
    ("in progress", Section::Doing),
    ("in-progress", Section::Doing),
    ("underway", Section::Doing),
    ("current work", Section::Doing),
    ("currently", Section::Doing),
    ("done", Section::Done),
    ("completed", Section::Done),
    ("finished", Section::Done),
    ("what i did", Section::Done),
    ("what i changed", Section::Done),
    ("what changed", Section::Done),
    ("changes made", Section::Done),
    ("accomplished", Section::Done),
    ("summary of changes", Section::Done),
    ("so far", Section::Done),
    ("primary request", Section::Goal),
    ("goal", Section::Goal),
    ("objective", Section::Goal),
    ("overall task", Section::Goal),
    ("user request", Section::Goal),
    ("user's request", Section::Goal),
    ("intent", Section::Goal),
    ("the task", Section::Goal),
    ("plan", Section::Next),
];

/// Labels that are whole: `Why:` within a sentence is no heading, `Next:` is.
const LABELS: &[(&str, Section)] = &[
    ("next", Section::Next),
    ("next step", Section::Next),
    ("next steps", Section::Next),
    ("next up", Section::Next),
    ("up next", Section::Next),
    ("next action", Section::Next),
    ("immediate next step", Section::Next),
    ("decision", Section::Decisions),
    ("decided", Section::Decisions),
    ("decision made", Section::Decisions),
    ("final decision", Section::Decisions),
    ("design decision", Section::Decisions),
    ("agreed", Section::Decisions),
    ("resolution", Section::Decisions),
    ("chosen", Section::Decisions),
    ("chosen approach", Section::Decisions),
    ("selected", Section::Decisions),
    ("picked", Section::Decisions),
    ("settled", Section::Decisions),
    ("going with", Section::Decisions),
    ("we go with", Section::Decisions),
    ("we use", Section::Decisions),
    ("locked in", Section::Decisions),
    ("final choice", Section::Decisions),
    ("final answer", Section::Decisions),
    ("final call", Section::Decisions),
    ("final pick", Section::Decisions),
    ("choice", Section::Decisions),
    ("our choice", Section::Decisions),
    ("my choice", Section::Decisions),
    ("my pick", Section::Decisions),
    ("our pick", Section::Decisions),
    ("pick", Section::Decisions),
    ("verdict", Section::Decisions),
    ("constraint", Section::Constraints),
    ("hard constraint", Section::Constraints),
    ("requirement", Section::Constraints),
    ("rule", Section::Constraints),
    ("open question", Section::Questions),
    ("question", Section::Questions),
    ("questions", Section::Questions),
    ("question for you", Section::Questions),
    ("questions for you", Section::Questions),
    ("question for the team", Section::Questions),
    ("question to you", Section::Questions),
    ("one question", Section::Questions),
    ("quick question", Section::Questions),
    ("q", Section::Questions),
    ("to clarify", Section::Questions),
    ("to be clarified", Section::Questions),
    ("to be confirmed", Section::Questions),
    ("to confirm", Section::Questions),
    ("tbc", Section::Questions),
    ("to decide", Section::Questions),
    ("to be decided", Section::Questions),
    ("for you to decide", Section::Questions),
    ("your call", Section::Questions),
    ("up to you", Section::Questions),
    ("needs input", Section::Questions),
    ("needs your input", Section::Questions),
    ("need your input", Section::Questions),
    ("input needed", Section::Questions),
    ("decision needed", Section::Questions),
    ("needs a decision", Section::Questions),
    ("needs decision", Section::Questions),
    ("needs your decision", Section::Questions),
    ("decision pending", Section::Questions),
    ("pending decision", Section::Questions),
    ("open decision", Section::Questions),
    ("needs clarification", Section::Questions),
    ("needs confirmation", Section::Questions),
    ("please confirm", Section::Questions),
    ("unclear", Section::Questions),
    ("undecided", Section::Questions),
    ("unknown", Section::Questions),
    ("open point", Section::Questions),
    ("waiting for your answer", Section::Questions),
    ("unresolved", Section::Questions),
    ("tbd", Section::Questions),
    ("blocker", Section::Blockers),
    ("blocked", Section::Blockers),
    ("blocked on", Section::Blockers),
    ("todo", Section::Actions),
    ("to do", Section::Actions),
    ("to-do", Section::Actions),
    ("action item", Section::Actions),
    ("action items", Section::Actions),
    ("action", Section::Actions),
    ("follow-up", Section::Actions),
    ("follow up", Section::Actions),
    ("remaining", Section::Remaining),
    ("remaining work", Section::Remaining),
    ("open", Section::Remaining),
    ("still to do", Section::Remaining),
    ("still pending", Section::Remaining),
    ("still missing", Section::Remaining),
    ("pending", Section::Remaining),
    ("missing", Section::Remaining),
    ("outstanding", Section::Remaining),
    ("not done", Section::Remaining),
    ("not done yet", Section::Remaining),
    ("not yet done", Section::Remaining),
    ("not started", Section::Remaining),
    ("left to do", Section::Remaining),
    ("what's left", Section::Remaining),
    ("what's missing", Section::Remaining),
    ("upcoming", Section::Next),
    ("coming up", Section::Next),
    ("on deck", Section::Next),
    ("tomorrow", Section::Next),
    ("next time", Section::Next),
    ("next session", Section::Next),
    ("continue here", Section::Next),
    ("resume here", Section::Next),
    ("pick up here", Section::Next),
    ("done", Section::Done),
    ("completed", Section::Done),
    ("in progress", Section::Doing),
    ("dead end", Section::Failed),
    ("didn't work", Section::Failed),
    ("tried", Section::Failed),
    ("failed approach", Section::Failed),
    ("goal", Section::Goal),
    ("task", Section::Goal),
    ("objective", Section::Goal),
];

impl Section {
    pub(in crate::distill) fn of(title: &str) -> Self {
        let Some(words) = &*TITLES else { return Self::Other };
        let is_begun = |at: usize| !title[..at].ends_with(|c: char| c.is_alphanumeric());
        let found = words.find_overlapping_iter(title).filter(|found| is_begun(found.start()));
        // The first of the list decides, wherever it stands.
        found.map(|found| found.pattern().as_usize()).min().map_or(Self::Other, |first| WORDS[first].1)
    }

    pub(in crate::distill) fn of_label(label: &str) -> Self {
        // `Step 3 (pending)` says what it is in brackets.
        let inner = label.starts_with("Step").then(|| label.split_once('(')).flatten();
        let label = inner.map_or(label, |(_, inner)| inner);
        let label = label.trim_matches(|c: char| !c.is_alphanumeric());
        if label.len() > LONGEST || !label.is_ascii() {
            return Self::Other;
        }
        let print = vocabulary::print_of(label);
        let found = KNOWN.binary_search_by_key(&print, |(known, _)| *known);
        found.map_or(Self::Other, |at| KNOWN[at].1)
    }
}

/// No label is longer.
const LONGEST: usize = {
    let (mut longest, mut at) = (0, 0);
    while at < LABELS.len() {
        let length = LABELS[at].0.len();
        longest = if length > longest { length } else { longest };
        at += 1;
    }
    longest
};

/// The labels by their prints.
static KNOWN: LazyLock<Vec<(u64, Section)>> = LazyLock::new(|| {
    let print = |label: &str| vocabulary::print(label.as_bytes());
    let mut known: Vec<(u64, Section)> = LABELS.iter().map(|(label, section)| (print(label), *section)).collect();
    known.sort_unstable_by_key(|(print, _)| *print);
    known
});

/// The words that decide, ready to be searched for.
static TITLES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    // Titles are short and few: what is quick to build is quicker in all.
    let kind = Some(AhoCorasickKind::NoncontiguousNFA);
    AhoCorasickBuilder::new().ascii_case_insensitive(true).kind(kind).build(WORDS.iter().map(|(word, _)| word)).ok()
});

/// A row of a table whose first cell is a label, as a line: `| Decision | Redis | it is there |`.
pub(in crate::distill) fn labelled_row(row: &str) -> Option<String> {
    let mut cells = cells(row);
    let label = cells
        .next()
        .filter(|label| !matches!(Section::of_label(label), Section::Other | Section::Done | Section::Goal))?;
    let rest: Vec<&str> = cells.collect();
    // The head of a table has labels only.
    let is_head = rest.iter().all(|cell| cell.split_whitespace().count() <= 1);
    (!is_head).then(|| format!("{label}: {}", rest.join(" — ")))
}

/// The cells of a row that say something.
pub(in crate::distill) fn cells(row: &str) -> impl Iterator<Item = &str> {
    row.trim().trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('*')).filter(|cell| !cell.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{LABELS, Section};

    #[test]
    fn every_label_is_known_in_any_case() {
        for (label, section) in LABELS {
            assert_eq!(Section::of_label(&format!("[{}]", label.to_uppercase())), *section, "{label}");
        }
    }
}
