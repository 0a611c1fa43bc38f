//! Questions that nobody answered, and what was left as TODO in the code.

use super::changes::Touch;
use super::cues::{Cue, CueSet};
use super::digest::{Digest, Said};
use super::heading::Section;
use super::progress::dedup;
use super::request::{self, Kind};
use super::{Item, todos};

/// Questions that are told, the newest of them.
const MANY: usize = 40;

pub(super) fn questions(digest: &Digest<'_>, touches: &[Touch<'_>]) -> Vec<Item> {
    let mut found = Vec::new();
    for (index, said) in digest.said.iter().enumerate() {
        if said.is_user() {
            asked_by_user(digest, index, said, &mut found);
        } else {
            asked_by_agent(digest, index, said, &mut found);
        }
    }
    found.extend(todos::todos(digest, touches));
    dedup(&mut found);
    let extra = found.len().saturating_sub(MANY);
    found.drain(..extra);
    found
}

/// Questions of the agent. Only what ends a turn is put to the user; before that it asks itself.
fn asked_by_agent(digest: &Digest<'_>, index: usize, said: &Said, found: &mut Vec<Item>) {
    let after = digest.said.get(index + 1..).unwrap_or_default();
    let ends_turn = ends_turn(digest, said, after);
    let answer = after.iter().find(|next| next.is_user() && !next.text.is_empty());
    let asked: Vec<&str> = said
        .lines
        .iter()
        .flat_map(|line| line.said().map(move |(text, cues)| (line, text, cues)))
        .filter(|(line, text, cues)| {
            ends_turn && is_question(text, *cues, answer.is_none()) && line.section != Section::Done
        })
        .map(|(_, text, _)| text)
        .collect();
    for (number, text) in asked.iter().enumerate() {
        let is_last = number + 1 == asked.len();
        let is_answered = answer.is_some_and(|answer| answers(answer, text, is_last, asked.len()));
        if !is_answered && !digest.is_settled_later(said.step, text) {
            found.push(said.item(text));
        }
    }
    for line in &said.lines {
        let under_heading = line.section == Section::Questions;
        let open = line
            .said()
            .filter(|(text, cues)| !text.ends_with('?') && (under_heading || !said.is_summary && cues.has(Cue::Open)));
        for (text, _) in open {
            if !digest.is_settled_later(said.step, text) && request::words(text).count() > 2 {
                found.push(said.item(text));
            }
        }
        if under_heading && !ends_turn {
            let asked =
                line.said().filter(|(text, _)| text.ends_with('?') && !digest.is_settled_later(said.step, text));
            found.extend(asked.map(|(text, _)| said.item(text)));
        }
    }
}

fn ends_turn(digest: &Digest<'_>, said: &Said, after: &[Said]) -> bool {
    let next = after.first().map_or(usize::MAX, |next| if next.is_user() { next.step } else { said.step });
    !said.is_summary && !digest.calls_between(said.step, next) && next > said.step
}

fn is_question(text: &str, cues: CueSet, is_pending: bool) -> bool {
    const EMPTY: &[&str] = &[
        "anything else",
        "make sense",
        "how can i help",
        "what would you like",
        "how does that sound",
        "sound good",
        "what's next",
        "what next",
        "any questions",
    ];
    let lower = text.to_ascii_lowercase();
    let ends = text.trim_end_matches(['"', '\'', ')', '*', '_']).ends_with(['?', '？']);
    ends && request::words(text).count() > 2 - usize::from(!text.is_ascii())
        && !EMPTY.iter().any(|empty| lower.contains(empty))
        // An offer is a question while it is pending; later it is over.
        && (is_pending || !cues.has(Cue::Courtesy))
}

/// Whether a prompt answers a question.
fn answers(prompt: &Said, question: &str, is_last: bool, n_questions: usize) -> bool {
    let is_choice = request::is_choice(&prompt.text);
    if request::is_nod(&prompt.text) {
        // A nod says neither where nor how.
        return (is_last || n_questions == 1) && (is_choice || !asks_which(question));
    }
    let shares = !request::stems(question).is_disjoint(&request::stems(&prompt.text));
    let n_said: usize = prompt.lines.iter().map(|line| line.sentences.len()).sum();
    let is_reply = !matches!(prompt.kind, Kind::Turn | Kind::Veer | Kind::Work) && !is_order(&prompt.text);
    shares || (is_reply && (n_questions == 1 || n_said >= n_questions))
}

pub(super) fn asks_which(question: &str) -> bool {
    const WORDS: &[&str] = &["which", "what", "how", "when", "where", "who", "whose", "why"];
    request::words(question).take(3).any(|word| WORDS.contains(&word.as_str()))
}

/// Whether a prompt goes on with something else: an order, or a question in return.
fn is_order(text: &str) -> bool {
    let orders = "run show commit push open check look read list print rerun test lint explain tell try continue fix \
        rename revert undo format delete please can could now also add update remove clean start stop merge rebase";
    let first = request::words(text).next().unwrap_or_default();
    text.ends_with('?') || orders.split(' ').any(|order| order == first)
}

/// Questions of the user: those that no reply followed, and what the user called open.
fn asked_by_user(digest: &Digest<'_>, index: usize, said: &Said, found: &mut Vec<Item>) {
    let next = digest.said.get(index + 1);
    let until = next.map_or(usize::MAX, |next| next.step);
    let is_ignored = next.is_none_or(Said::is_user) && !digest.calls_between(said.step, until);
    for line in &said.lines {
        for (text, cues) in line.said() {
            let asks = text.ends_with(['?', '？']) && request::words(text).count() > 2;
            let is_open =
                (asks && is_ignored) || (!asks && (cues.has(Cue::Open) || line.section == Section::Questions));
            if is_open && (is_ignored || !digest.is_settled_later(said.step, text)) {
                found.push(said.item(text));
            }
        }
    }
}
