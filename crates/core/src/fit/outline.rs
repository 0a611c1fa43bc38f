//! The outline of the older part: what was said, word for word, and what was done, a line each.

use std::collections::BTreeMap;

use super::{ContextItem, cost, is_turn_start};
use crate::plain::one_line;
use crate::transcript::{Action, Body, Call, CallId, Origin, Outcome, Part, Status};

const SUBJECT_CHARS: usize = 120;

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Summary,
    Message,
    Call,
}

struct OutlineLine {
    kind: LineKind,
    /// The entry that it tells of.
    entry: usize,
    /// How many turns had begun when it was said.
    turn: usize,
    text: String,
}

/// Sums over the lines before an entry.
#[derive(Clone, Copy, Default)]
struct PrefixSums {
    /// Bytes of all lines.
    all: usize,
    /// Bytes of the lines without those of calls.
    said: usize,
    /// Turns that are over; one that goes on at this entry is not.
    turns: usize,
    /// Bytes that were said in the turn that goes on.
    unfinished: usize,
}

/// All lines that an outline could have, and how much they add up to.
pub(super) struct Outline {
    heading: String,
    show: String,
    lines: Vec<OutlineLine>,
    /// The sums before each index.
    before: Vec<PrefixSums>,
}

impl Outline {
    pub(super) fn from_items(items: &[ContextItem<'_>], show: &str) -> Self {
        let heading = format!(
            "[carryover's outline of the older part of this session, made from its records without a model. \
             `{show}` shows all of it.]\n"
        );
        let mut outline = Self { heading, show: show.to_owned(), lines: Vec::new(), before: Vec::new() };
        let outcomes = index_outcomes(items);
        let mut before = PrefixSums::default();
        let mut turn = 0;
        for (index, item) in items.iter().enumerate() {
            if is_turn_start(item.entry) {
                turn += 1;
                before = PrefixSums { turns: turn - 1, unfinished: 0, ..before };
            }
            outline.before.push(before);
            if let Some((kind, text)) = make_line(item, &outcomes) {
                before.all += text.len();
                before.said += if kind == LineKind::Call { 0 } else { text.len() };
                before.unfinished += if kind == LineKind::Call { 0 } else { text.len() };
                outline.lines.push(OutlineLine { kind, entry: index, turn, text });
            }
        }
        outline
    }

    /// The tokens of the whole outline of the entries before `cut`.
    pub(super) fn full_cost(&self, cut: usize, with_calls: bool) -> u64 {
        let PrefixSums { all, said, .. } = self.before[cut];
        cost::estimate_bytes(self.heading.len() + if with_calls { all } else { said })
    }

    pub(super) fn render_full(&self, cut: usize, with_calls: bool) -> String {
        let kept = self.lines_before(cut).filter(|line| with_calls || line.kind != LineKind::Call);
        self.render_lines(None, kept)
    }

    /// The tokens of the shortest outline: the heading, a line that says what was left out, and what was said in a turn
    /// that goes on after the cut.
    pub(super) fn least_cost(&self, cut: usize) -> u64 {
        let PrefixSums { turns, unfinished, .. } = self.before[cut];
        cost::estimate_bytes(self.heading.len() + self.missing_line(turns, true).len() + unfinished)
    }

    /// As many of the newest exchanges before `cut` as there is room for; the others are counted.
    pub(super) fn render_newest(&self, cut: usize, room: u64) -> String {
        let turns = self.before[cut].turns;
        let fits = |text: &str| cost::estimate_text(text) <= room;
        let shortest = |line: &&OutlineLine| {
            line.kind == LineKind::Summary || (line.kind == LineKind::Message && line.turn > turns)
        };
        let with_summaries =
            fits(&self.render_lines(Some(self.missing_line(turns, false)), self.lines_before(cut).filter(shortest)));
        let text = |oldest: usize| {
            let kept = self.lines_before(cut).filter(|line| match line.kind {
                LineKind::Summary => with_summaries,
                LineKind::Message => line.turn > oldest,
                LineKind::Call => false,
            });
            self.render_lines(Some(self.missing_line(oldest, !with_summaries)), kept)
        };
        // The fewer are left out, the longer it is: the first that fits is found by halving. All left out fits.
        let (mut too_few, mut enough) = (0, turns);
        while enough > too_few + 1 {
            let middle = too_few + (enough - too_few) / 2;
            if fits(&text(middle)) { enough = middle } else { too_few = middle }
        }
        if fits(&text(too_few)) { text(too_few) } else { text(enough) }
    }

    fn lines_before(&self, cut: usize) -> impl Iterator<Item = &OutlineLine> {
        self.lines.iter().take_while(move |line| line.entry < cut)
    }

    fn missing_line(&self, turns: usize, summary: bool) -> String {
        let summary = if summary { " and the summary of what was before" } else { "" };
        let what = match turns {
            0 => "The beginning".to_owned(),
            1 => "The oldest exchange".to_owned(),
            _ => format!("The {turns} oldest exchanges"),
        };
        format!("[{what}{summary}: left out; `{}` shows all.]\n", self.show)
    }

    /// Summaries stand at the top: they tell of what was before everything else.
    fn render_lines<'a>(&self, missing: Option<String>, lines: impl Iterator<Item = &'a OutlineLine>) -> String {
        let (summaries, rest): (Vec<&OutlineLine>, Vec<&OutlineLine>) =
            lines.partition(|line| line.kind == LineKind::Summary);
        let mut text = self.heading.clone();
        text.extend(summaries.iter().map(|line| line.text.as_str()));
        text.extend(missing);
        text.extend(rest.iter().map(|line| line.text.as_str()));
        text
    }
}

fn index_outcomes<'a>(items: &'a [ContextItem<'_>]) -> BTreeMap<&'a CallId, &'a Outcome> {
    let mut outcomes = BTreeMap::new();
    for item in items {
        if let Body::Outcome(outcome) = &item.entry.body {
            outcomes.entry(&outcome.call).or_insert(&**outcome);
        }
    }
    outcomes
}

fn make_line(item: &ContextItem<'_>, outcomes: &BTreeMap<&CallId, &Outcome>) -> Option<(LineKind, String)> {
    match &item.entry.body {
        Body::Prompt(parts) if item.entry.origin == Origin::User => {
            Some((LineKind::Message, format_message("User", parts)))
        }
        Body::Prompt(parts) => Some((LineKind::Message, format_message("Hook", parts))),
        Body::Reply(parts) => Some((LineKind::Message, format_message("Agent", parts))),
        Body::Summary(parts) if !parts.is_empty() => Some((LineKind::Summary, format!("\n{}\n", join_parts(parts)))),
        Body::Call(call) => Some((LineKind::Call, format_call(call, item.action, outcomes.get(&call.id).copied()))),
        _ => None,
    }
}

fn format_message(who: &str, parts: &[Part]) -> String {
    format!("\n{who}: {}\n", join_parts(parts))
}

/// The text of some parts; of an image or a file, that there was one.
fn join_parts(parts: &[Part]) -> String {
    let words: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Blob(blob) => {
                format!("[{}]", one_line(blob.name.as_deref().unwrap_or(&blob.media_type), SUBJECT_CHARS))
            }
        })
        .collect();
    words.join("\n\n")
}

fn format_call(call: &Call, action: &Action, outcome: Option<&Outcome>) -> String {
    let subject = one_line(&action.subject(), SUBJECT_CHARS);
    let what = match action {
        Action::Other | Action::Step(_) => one_line(&call.tool, SUBJECT_CHARS),
        _ => format!("{}: {subject}", action.kind()),
    };
    let how = match outcome.map(|outcome| (outcome.status, outcome.exit_code)) {
        Some((Status::Done, _)) => "ok".to_owned(),
        Some((Status::Ended, _)) => "ended".to_owned(),
        Some((Status::Failed, Some(code))) => format!("failed (exit {code})"),
        Some((Status::Failed, None)) => "failed".to_owned(),
        Some((Status::Interrupted, _)) | None => "interrupted".to_owned(),
    };
    format!("- {what} → {how}\n")
}
