//! The outline of the older part: what was said, word for word, and what was done, a line each.

use std::collections::BTreeMap;

use super::{Item, cost, is_turn_start};
use crate::plain::one_line;
use crate::transcript::{Action, Body, Call, CallId, Origin, Outcome, Part, Status};

const SUBJECT_WIDTH: usize = 120;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Summary,
    Said,
    Done,
}

struct Line {
    kind: Kind,
    /// The entry that it tells of.
    entry: usize,
    /// How many turns had begun when it was said.
    turn: usize,
    text: String,
}

/// What stands before an entry.
#[derive(Clone, Copy, Default)]
struct Before {
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
    lines: Vec<Line>,
    /// What stands before each index.
    before: Vec<Before>,
}

impl Outline {
    pub(super) fn of(items: &[Item<'_>], show: &str) -> Self {
        let heading = format!(
            "[carryover's outline of the older part of this session, made from its records without a model. \
             `{show}` shows all of it.]\n"
        );
        let mut outline = Self { heading, show: show.to_owned(), lines: Vec::new(), before: Vec::new() };
        let outcomes = outcomes(items);
        let mut before = Before::default();
        let mut turn = 0;
        for (index, item) in items.iter().enumerate() {
            if is_turn_start(item.entry) {
                turn += 1;
                before = Before { turns: turn - 1, unfinished: 0, ..before };
            }
            outline.before.push(before);
            if let Some((kind, text)) = line(item, &outcomes) {
                before.all += text.len();
                before.said += if kind == Kind::Done { 0 } else { text.len() };
                before.unfinished += if kind == Kind::Done { 0 } else { text.len() };
                outline.lines.push(Line { kind, entry: index, turn, text });
            }
        }
        outline
    }

    /// What the whole outline of the entries before `cut` costs.
    pub(super) fn tokens(&self, cut: usize, with_calls: bool) -> u64 {
        let Before { all, said, .. } = self.before[cut];
        cost::of_bytes(self.heading.len() + if with_calls { all } else { said })
    }

    pub(super) fn whole(&self, cut: usize, with_calls: bool) -> String {
        let kept = self.until(cut).filter(|line| with_calls || line.kind != Kind::Done);
        self.render(None, kept)
    }

    /// What the shortest outline costs: the heading, a line that says what was left out, and what was said in a turn
    /// that goes on after the cut.
    pub(super) fn least(&self, cut: usize) -> u64 {
        let Before { turns, unfinished, .. } = self.before[cut];
        cost::of_bytes(self.heading.len() + self.missing(turns, true).len() + unfinished)
    }

    /// As many of the newest exchanges before `cut` as there is room for; the others are counted.
    pub(super) fn newest(&self, cut: usize, room: u64) -> String {
        let turns = self.before[cut].turns;
        let fits = |text: &str| cost::of_text(text) <= room;
        let shortest = |line: &&Line| line.kind == Kind::Summary || (line.kind == Kind::Said && line.turn > turns);
        let with_summaries = fits(&self.render(Some(self.missing(turns, false)), self.until(cut).filter(shortest)));
        let text = |oldest: usize| {
            let kept = self.until(cut).filter(|line| match line.kind {
                Kind::Summary => with_summaries,
                Kind::Said => line.turn > oldest,
                Kind::Done => false,
            });
            self.render(Some(self.missing(oldest, !with_summaries)), kept)
        };
        // The fewer are left out, the longer it is: the first that fits is found by halving. All left out fits.
        let (mut too_few, mut enough) = (0, turns);
        while enough > too_few + 1 {
            let middle = too_few + (enough - too_few) / 2;
            if fits(&text(middle)) { enough = middle } else { too_few = middle }
        }
        if fits(&text(too_few)) { text(too_few) } else { text(enough) }
    }

    fn until(&self, cut: usize) -> impl Iterator<Item = &Line> {
        self.lines.iter().take_while(move |line| line.entry < cut)
    }

    fn missing(&self, turns: usize, summary: bool) -> String {
        let summary = if summary { " and the summary of what was before" } else { "" };
        let what = match turns {
            0 => "The beginning".to_owned(),
            1 => "The oldest exchange".to_owned(),
            _ => format!("The {turns} oldest exchanges"),
        };
        format!("[{what}{summary}: left out; `{}` shows all.]\n", self.show)
    }

    /// Summaries stand at the top: they tell of what was before everything else.
    fn render<'a>(&self, missing: Option<String>, lines: impl Iterator<Item = &'a Line>) -> String {
        let (summaries, rest): (Vec<&Line>, Vec<&Line>) = lines.partition(|line| line.kind == Kind::Summary);
        let mut text = self.heading.clone();
        text.extend(summaries.iter().map(|line| line.text.as_str()));
        text.extend(missing);
        text.extend(rest.iter().map(|line| line.text.as_str()));
        text
    }
}

fn outcomes<'a>(items: &'a [Item<'_>]) -> BTreeMap<&'a CallId, &'a Outcome> {
    let mut outcomes = BTreeMap::new();
    for item in items {
        if let Body::Outcome(outcome) = &item.entry.body {
            outcomes.entry(&outcome.call).or_insert(&**outcome);
        }
    }
    outcomes
}

fn line(item: &Item<'_>, outcomes: &BTreeMap<&CallId, &Outcome>) -> Option<(Kind, String)> {
    match &item.entry.body {
        Body::Prompt(parts) if item.entry.origin == Origin::User => Some((Kind::Said, said("User", parts))),
        Body::Prompt(parts) => Some((Kind::Said, said("Hook", parts))),
        Body::Reply(parts) => Some((Kind::Said, said("Agent", parts))),
        Body::Summary(parts) if !parts.is_empty() => Some((Kind::Summary, format!("\n{}\n", words(parts)))),
        Body::Call(call) => Some((Kind::Done, done(call, item.action, outcomes.get(&call.id).copied()))),
        _ => None,
    }
}

fn said(who: &str, parts: &[Part]) -> String {
    format!("\n{who}: {}\n", words(parts))
}

/// The text of some parts; of an image or a file, that there was one.
fn words(parts: &[Part]) -> String {
    let words: Vec<String> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Blob(blob) => {
                format!("[{}]", one_line(blob.name.as_deref().unwrap_or(&blob.media_type), SUBJECT_WIDTH))
            }
        })
        .collect();
    words.join("\n\n")
}

fn done(call: &Call, action: &Action, outcome: Option<&Outcome>) -> String {
    let subject = one_line(&action.subject(), SUBJECT_WIDTH);
    let what = match action {
        Action::Other | Action::Step(_) => one_line(&call.tool, SUBJECT_WIDTH),
        _ => format!("{}: {subject}", action.kind()),
    };
    let how = match outcome.map(|outcome| (outcome.status, outcome.exit_code)) {
        Some((Status::Done, _)) => "ok".to_owned(),
        Some((Status::Failed, Some(code))) => format!("failed (exit {code})"),
        Some((Status::Failed, None)) => "failed".to_owned(),
        Some((Status::Interrupted, _)) | None => "interrupted".to_owned(),
    };
    format!("- {what} → {how}\n")
}
