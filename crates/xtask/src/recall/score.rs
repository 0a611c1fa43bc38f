//! Recall and precision, per kind of fact and per rendering.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::distill::{Brief, Item};

use super::corpus::Half;
use super::noise;
use super::session::{Planted, Session};

/// Found, of how many.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    found: usize,
    of: usize,
}

impl Count {
    fn add(&mut self, found: bool) {
        self.of += 1;
        self.found += usize::from(found);
    }

    fn percent(self) -> f64 {
        let as_number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        if self.of == 0 { 100.0 } else { 100.0 * as_number(self.found) / as_number(self.of) }
    }
}

/// Everything that was counted on one half of the wordings.
pub(super) struct Table {
    half: Half,
    /// By rendering and kind.
    recall: BTreeMap<(String, &'static str), Count>,
    precision: BTreeMap<&'static str, Count>,
    boilerplate: usize,
    /// What was said and not found where it must be, for those who mend it; never of what is held out.
    pub(super) misses: BTreeSet<String>,
}

/// Which share of a kind must be in which rendering.
const TARGETS: &[(&str, &str, f64)] = &[
    ("handoff.md", "task", 100.0),
    ("handoff.md", "files", 100.0),
    ("handoff.md", "unresolved failures", 100.0),
    ("handoff.md", "next step", 100.0),
    ("RESUME.md 8k", "decisions", 95.0),
    ("RESUME.md 8k", "questions", 95.0),
];

/// The handoff shows this many files, the newest.
const FILES_SHOWN: usize = 10;

impl Table {
    pub(super) fn new(half: Half) -> Self {
        Self { half, recall: BTreeMap::new(), precision: BTreeMap::new(), boilerplate: 0, misses: BTreeSet::new() }
    }

    /// Looks for what was planted in one rendering.
    pub(super) fn rendered(&mut self, what: &str, session: &Session, text: &str) {
        let planted = &session.planted;
        let newest = planted.files.len().saturating_sub(FILES_SHOWN);
        let kinds: [(&'static str, Vec<&String>); 6] = [
            ("task", vec![&planted.task]),
            ("files", planted.files[newest..].iter().collect()),
            ("unresolved failures", planted.unresolved.iter().collect()),
            ("next step", vec![&planted.next]),
            ("decisions", planted.decisions.iter().collect()),
            ("questions", planted.questions.iter().collect()),
        ];
        // What was said is in the history as well; only what stands before it was found.
        let history = ["\n## Earlier conversation", "\n## Recent conversation"];
        let end = history.iter().filter_map(|heading| text.find(heading)).min().unwrap_or(text.len());
        let found = &text[..end];
        let mut anywhere: Vec<(&'static str, bool)> = Vec::new();
        for (kind, words) in kinds {
            let count = self.recall.entry((what.to_owned(), kind)).or_default();
            let is_target = TARGETS.iter().any(|(place, of, _)| *place == what && *of == kind);
            for word in words {
                let is_found = found.contains(word.as_str());
                count.add(is_found);
                if end < text.len() {
                    anywhere.push((kind, text.contains(word.as_str())));
                }
                if !is_found && is_target && self.half == Half::Open {
                    self.misses.extend(session.saying(word).map(|said| format!("{kind}: {said:?}")));
                }
            }
        }
        for (kind, is_there) in anywhere {
            self.recall.entry((format!("{what}, with the conversation"), kind)).or_default().add(is_there);
        }
        self.boilerplate += noise::MARKS.iter().filter(|mark| text.contains(**mark)).count();
    }

    /// Looks at every finding: is it one that was planted?
    ///
    /// A question that the user answered is settled, and rightly told as a decision.
    pub(super) fn brief(&mut self, planted: &Planted, brief: &Brief) {
        let is_in = |item: &Item, words: &[String]| words.iter().any(|word| item.text.contains(word.as_str()));
        let task = [planted.task.clone()];
        let next = [planted.next.clone()];
        let precision = &mut self.precision;
        let mut count = |kind, right: bool| precision.entry(kind).or_default().add(right);
        brief.task.iter().for_each(|item| count("task", is_in(item, &task)));
        brief.next.iter().for_each(|item| count("next step", is_in(item, &next)));
        for decision in &planted.decisions {
            let told = brief.decisions.iter().any(|one| one.what.text.contains(decision.as_str()));
            self.recall.entry(("the brief".to_owned(), "decisions")).or_default().add(told);
        }
        let settled = [planted.decisions.as_slice(), &planted.answered].concat();
        let told = brief.decisions.iter().filter(|one| !is_condition(&one.what, planted));
        told.for_each(|one| count("decisions", is_in(&one.what, &settled)));
        brief.questions.iter().for_each(|item| count("questions", is_in(item, &planted.questions)));
        let failed = brief.failed.iter().map(|one| &one.what).chain(&brief.blockers);
        failed.for_each(|item| count("unresolved failures", is_in(item, &planted.unresolved)));
        let changed = brief.files.iter().filter(|file| file.change != carryover_core::distill::FileChange::Read);
        changed.for_each(|file| count("files", planted.files.contains(&file.path)));
    }

    /// How many targets are missed.
    pub(super) fn missed(&self) -> usize {
        let misses = |(what, kind, least): &&(&str, &'static str, f64)| {
            self.recall.get(&((*what).to_owned(), *kind)).is_none_or(|count| count.percent() < *least)
        };
        TARGETS.iter().filter(misses).count() + usize::from(self.boilerplate > 0)
    }

    /// The table for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("recall, {}", self.half.name())];
        for ((what, kind), count) in &self.recall {
            let target = TARGETS.iter().find(|(in_what, of, _)| in_what == what && of == kind);
            let verdict = match target {
                Some((.., least)) if count.percent() < *least => format!("  MISSED, at least {least} %"),
                Some(_) => "  holds".to_owned(),
                None => String::new(),
            };
            lines.push(format!("  {what:<37} {kind:<20} {:>5.1} %  of {:>4}{verdict}", count.percent(), count.of));
        }
        lines.push(format!("precision, {}", self.half.name()));
        for (kind, count) in &self.precision {
            lines.push(format!("  {kind:<58} {:>5.1} %  of {:>4}", count.percent(), count.of));
        }
        let verdict = if self.boilerplate == 0 { "holds" } else { "MISSED, none is allowed" };
        lines.push(format!("  injected boilerplate: {}  {verdict}", self.boilerplate));
        lines
    }
}

/// Whether a finding is what a request says beside its task: a condition of the work, neither planted nor imagined.
fn is_condition(item: &Item, planted: &Planted) -> bool {
    let names_task = item.text.contains(&planted.task)
        || planted.old_task.as_ref().is_some_and(|task| item.text.contains(task.as_str()));
    !names_task && planted.requests.iter().any(|request| request.contains(&item.text))
}
