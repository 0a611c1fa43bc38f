//! Turns of phrase that tell what a sentence is, found in one pass over it.

use std::cell::OnceCell;
use std::ops::Range;
use std::sync::LazyLock;

use super::needs;
use super::phrasebook::Phrasebook;
use super::wording::{Wording, spelt};

/// What a turn of phrase hints at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::distill) enum Cue {
    /// Somebody settled something.
    Decided,
    /// A choice, if the one who speaks is the one who chooses.
    Chooses,
    /// The user forbids.
    Forbids,
    /// The user demands.
    Demands,
    /// One thing in place of another.
    Contrast,
    Reason,
    /// What comes next, said as such.
    Next,
    /// What the speaker is about to do.
    Announces,
    /// What is left.
    Left,
    Finished,
    /// Something that did not work.
    Failed,
    Tried,
    Blocked,
    /// Something not known yet.
    Open,
    /// An offer or a courtesy at the end of a reply.
    Courtesy,
    /// To be done by somebody, sometime.
    Task,
    /// Another task than before.
    Turns,
    /// It might be so: no decision.
    Hedge,
    /// It is solved.
    Solved,
    /// Settled, whoever says it.
    Firm,
    /// Put to the one who is spoken to.
    Asks,
    /// No phrase, but how a sentence is built: its speaker chooses by it.
    Built,
    /// Nor this: it does no more than close a matter.
    Closes,
    /// It has its reason, or what it is set against, beside it.
    Explains,
    /// At the beginning of a prompt: it changes how the task is done.
    AboutHow,
    /// There: it calls something the task.
    NamesTask,
    /// There: it turns to something else.
    TurnsAway,
}

/// The turns of phrase of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::distill) struct CueSet(u32);

impl CueSet {
    pub(in crate::distill) fn has(self, cue: Cue) -> bool {
        self.0 & (1 << cue as u8) != 0
    }

    pub(in crate::distill) fn with(self, cue: Cue) -> Self {
        Self(self.0 | 1 << cue as u8)
    }

    pub(in crate::distill) fn any(self, cues: &[Cue]) -> bool {
        cues.iter().any(|cue| self.has(*cue))
    }
}

static TABLE: &[(Cue, &str)] = &[
    (Cue::Decided, super::phrases::DECIDED),
    (Cue::Chooses, super::phrases::CHOOSES),
    (Cue::Forbids, super::phrases::FORBIDS),
    (Cue::Demands, super::phrases::DEMANDS),
    (Cue::Contrast, super::phrases::CONTRAST),
    (Cue::Reason, super::phrases::REASON),
    (Cue::Next, super::phrases::NEXT),
    (Cue::Announces, super::phrases::ANNOUNCES),
    (Cue::Left, super::phrases::LEFT),
    (Cue::Finished, super::phrases::FINISHED),
    (Cue::Failed, super::phrases::FAILED),
    (Cue::Tried, super::phrases::TRIED),
    (Cue::Blocked, super::phrases::BLOCKED),
    (Cue::Open, super::phrases::OPEN),
    (Cue::Courtesy, super::phrases::COURTESY),
    (Cue::Task, super::phrases::TASK),
    (Cue::Turns, super::phrases::TURNS),
    (Cue::Hedge, super::phrases::HEDGE),
    (Cue::Solved, super::phrases::SOLVED),
    (Cue::Firm, super::phrases::FIRM),
    (Cue::Asks, super::phrases::ASKS),
];

static PHRASES: LazyLock<Phrasebook<Cue>> = LazyLock::new(|| Phrasebook::of(known()));

fn known() -> impl Iterator<Item = (&'static str, Cue)> {
    TABLE.iter().flat_map(|(cue, phrases)| phrases.split('|').map(|phrase| (phrase.trim(), *cue)))
}

/// Every turn of phrase.
pub(in crate::distill) fn phrases() -> impl Iterator<Item = &'static str> {
    known().map(|(phrase, _)| phrase)
}

/// What is in a sentence.
pub(in crate::distill) fn of(sentence: Wording<'_>) -> CueSet {
    let mut set = 0;
    each(sentence, |cue, _, _| set |= 1 << cue as u8);
    CueSet(set)
}

/// What is in a text that is not split yet.
pub(in crate::distill) fn in_text(text: &str) -> CueSet {
    spelt(text, of)
}

/// Where the first phrase of a kind begins and ends.
pub(in crate::distill) fn first(sentence: &str, wanted: Cue) -> Option<(usize, usize)> {
    let mut first: Option<(usize, usize)> = None;
    spelt(sentence, |words| {
        each(words, |cue, start, end| {
            if cue == wanted && first.is_none_or(|first| (start, end) < first) {
                first = Some((start, end));
            }
        });
    });
    first
}

/// Hands over the phrases of a sentence, and where they are; what it quotes has none.
fn each(sentence: Wording<'_>, mut take: impl FnMut(Cue, usize, usize)) {
    let (text, phrases) = (sentence.text, &*PHRASES);
    let quotations = OnceCell::new();
    for at in (0..sentence.len()).filter(|at| sentence[*at].is(needs::CUE)) {
        for (phrase, cue) in phrases.beginning(&sentence[at], sentence.get(at + 1)) {
            let start = sentence.begins(at);
            let end = start + phrase.len();
            let is_said = text.get(start..end).is_some_and(|said| said.eq_ignore_ascii_case(phrase));
            let is_quoted = || is_within(quotations.get_or_init(|| quotations_in(text)), start);
            if is_said && is_ended(text, end) && !is_quoted() {
                take(cue, start, end);
            }
        }
    }
}

/// Whether a place is in one of some parts, which are in order.
fn is_within(parts: &[Range<usize>], at: usize) -> bool {
    let before = parts.partition_point(|part| part.start <= at);
    before.checked_sub(1).is_some_and(|last| at < parts[last].end)
}

/// What a text quotes: others said that, or it is code. In order, and none of the parts in another.
fn quotations_in(text: &str) -> Vec<Range<usize>> {
    let mut quotations = Vec::new();
    for (open, close) in [('"', '"'), ('`', '`'), ('“', '”')] {
        let mut from = 0;
        while let Some((start, end)) = quotation(text, from, open, close) {
            quotations.push(start..end);
            from = end + close.len_utf8();
        }
    }
    quotations.sort_unstable_by_key(|part: &Range<usize>| part.start);
    quotations.dedup_by(|part, before| {
        let is_joined = part.start <= before.end;
        if is_joined {
            before.end = before.end.max(part.end);
        }
        is_joined
    });
    quotations
}

/// What stands between the next pair of quotation marks.
fn quotation(text: &str, from: usize, open: char, close: char) -> Option<(usize, usize)> {
    let start = from + text.get(from..)?.find(open)? + open.len_utf8();
    let end = start + text[start..].find(close)?;
    Some((start, end))
}

/// A phrase counts as words, not as a part of them.
fn is_ended(text: &str, end: usize) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '_';
    !(text[end..].starts_with(letter) && text[..end].ends_with(letter))
}

#[cfg(test)]
mod tests {
    use super::{in_text, known};

    #[test]
    fn every_phrase_is_found_in_itself_and_not_in_a_quotation() {
        for (phrase, cue) in known() {
            assert!(in_text(phrase).has(cue), "{phrase}");
            assert!(in_text(&format!("well, {}", phrase.to_uppercase())).has(cue), "{phrase}");
            assert!(!in_text(&format!("\"{phrase}\"")).has(cue), "{phrase}");
            // One quotation may reach into another.
            assert!(!in_text(&format!("\"x ` y\" z {phrase} z ` x")).has(cue), "{phrase}");
        }
    }
}
