//! Questions that nobody answered, and what was left as TODO in the code.

use super::changes::Touch;
use super::cues::{Cue, CueSet};
use super::digest::{Digest, Said};
use super::heading::Section;
use super::progress::dedup;
use super::request::{self, Kind};
use super::sayings::Saying;
use super::vocabulary::{NO_WORD, is_in};
use super::wording::{Wording, spelt};
use super::{Item, decisions, todos};

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
fn asked_by_agent(digest: &Digest<'_>, index: usize, said: &Said<'_>, found: &mut Vec<Item>) {
    let after = digest.said.get(index + 1..).unwrap_or_default();
    let ends_turn = ends_turn(digest, said, after);
    let answer = after.iter().find(|next| ends_turn && next.is_user() && !next.text.is_empty());
    let asked = asked(said, ends_turn, answer.is_none());
    for (number, (text, whole)) in asked.iter().enumerate() {
        let is_last = number + 1 == asked.len();
        let is_answered = answer.is_some_and(|answer| answers(answer, text, is_last, asked.len()));
        if !is_answered && !digest.is_settled_later(said.step, whole) {
            found.push(said.item(whole));
        }
    }
}

/// What a reply asks, and the same with what it is about.
fn asked<'a>(said: &'a Said<'_>, ends_turn: bool, is_pending: bool) -> Vec<(&'a str, String)> {
    let mut asked: Vec<(&str, String)> = Vec::new();
    for line in said.lines.iter().filter(|line| line.section != Section::Done) {
        let mut last: Option<&str> = None;
        for (text, cues) in line.said() {
            let before = last.replace(text);
            let is_listed = line.section == Section::Questions && request::count(text) > 2;
            let is_put = ends_turn && is_question(text, cues, is_pending, before.is_some());
            let is_told = !text.ends_with('?')
                && (is_listed || !said.is_summary && is_open(text, cues, line.section, before.is_some(), ends_turn));
            if !(is_put || is_told || is_listed && text.ends_with('?')) {
                continue;
            }
            match asked.last_mut().filter(|(known, _)| before == Some(*known) && is_thin(text, cues)) {
                Some((_, whole)) => *whole = format!("{whole} {text}"),
                None => asked.push((text, with_subject(before, text, cues))),
            }
        }
    }
    asked
}

/// `Which one is right?` is told with the sentence that says of what.
pub(super) fn with_subject(before: Option<&str>, text: &str, cues: CueSet) -> String {
    match before.filter(|before| is_thin(text, cues) && !before.ends_with('?')) {
        Some(before) => format!("{before} {text}"),
        None => text.to_owned(),
    }
}

/// Whether a question or a remark leaves open what it is about.
fn is_thin(text: &str, cues: CueSet) -> bool {
    const OFFERS: &str = "shall should want would do let feel happy anything sounds ready hope any need just how";
    let n_words = request::count(text);
    let points = || request::words(text).any(|word| is_in!("that's it's they're this's", &word));
    let names_nothing = request::points_back(text) || points() || request::stems(text).len() <= 1;
    let first = request::words(text).next().unwrap_or(NO_WORD.clone());
    let is_offer = cues.has(Cue::Courtesy) && is_in!(OFFERS, &first);
    let is_short = n_words <= 8 || n_words <= 16 && request::points_back(text) && request::stems(text).len() <= 2;
    is_short && names_nothing && (!is_offer || cues.any(&[Cue::Open, Cue::Asks]))
}

/// Whether a sentence that is no question leaves something open.
fn is_open(text: &str, cues: CueSet, section: Section, has_before: bool, ends_turn: bool) -> bool {
    const EMPTY: &[&str] =
        &["anything", "any question", "any concern", "any issue", "changes", "further help", "else i can", "adjust"];
    let may_ask = cues.any(&[Cue::Open, Cue::Asks]) || ends_turn && cues.has(Cue::Courtesy);
    if !may_ask || section == Section::Next {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    if spelt(text, is_closed) || lower.contains("your call was") {
        return false;
    }
    let is_empty = lower.contains("let me know") && EMPTY.iter().any(|empty| lower.contains(empty));
    let is_long = request::count(text) > 2 || has_before && is_thin(text, cues);
    (cues.has(Cue::Open) || ends_turn && (cues.has(Cue::Asks) || is_request_to_know(&lower))) && is_long && !is_empty
}

/// What is said of a question that is over, and of what.
pub(super) const ANSWERED: &str = "is closed|is answered|is settled|is resolved|are closed|are answered";
pub(super) const ASKED: &str = "question|questions|point|points|issue|issues";

/// `Open question 1 is closed: …`
pub(super) fn is_closed(words: Wording<'_>) -> bool {
    words.says(Saying::Answered) && words.says(Saying::Asked)
}

/// `Let me know if the limit may stay`: asks for something, and not whether all is well.
fn is_request_to_know(lower: &str) -> bool {
    let Some((_, asked)) = lower.split_once("let me know ") else { return false };
    let mut words = request::words(asked);
    let is_asked = words.next().is_some_and(|word| is_in!("if whether which what how where when who", &word));
    let subject = words.next().unwrap_or(NO_WORD.clone());
    let is_empty =
        is_in!("you anything something there any it that this it's that's everything i we more further", &subject);
    is_asked && !is_empty && words.count() >= 2
}

fn ends_turn(digest: &Digest<'_>, said: &Said<'_>, after: &[Said<'_>]) -> bool {
    let next = after.first().map_or(usize::MAX, |next| if next.is_user() { next.step } else { said.step });
    !said.is_summary && !digest.calls_between(said.step, next) && next > said.step
}

fn is_question(text: &str, cues: CueSet, is_pending: bool, has_before: bool) -> bool {
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
    if !text.trim_end_matches(['"', '\'', ')', '*', '_']).ends_with(['?', '？']) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let is_long = request::count(text) > 2 - usize::from(!text.is_ascii());
    (is_long || has_before && is_thin(text, cues))
        && !(request::count(text) <= 9 && EMPTY.iter().any(|empty| lower.contains(empty)))
        // An offer is a question while it is pending; later it is over.
        && (is_pending || !cues.has(Cue::Courtesy))
}

/// Whether a prompt answers a question.
fn answers(prompt: &Said<'_>, question: &str, is_last: bool, n_questions: usize) -> bool {
    let is_choice = request::is_choice(&prompt.text);
    if request::is_nod(&prompt.text) {
        // A nod says neither where nor how.
        return (is_last || n_questions == 1) && (is_choice || !asks_which(question));
    }
    let shares = !request::stems(question).is_disjoint(&request::stems(&prompt.text));
    let n_said: usize = prompt.lines.iter().map(|line| line.sentences.len()).sum();
    let is_reply = begins_answer(&prompt.text)
        || !matches!(prompt.kind, Kind::Turn | Kind::Veer | Kind::Work) && !is_order(&prompt.text);
    shares || (is_reply && (n_questions == 1 || n_said >= n_questions))
}

/// `Yes, …`, `no, …`, `doesn't matter`.
pub(super) fn begins_answer(text: &str) -> bool {
    let first = request::words(text).next().unwrap_or(NO_WORD.clone());
    let starts = "yes no yep nope yeah nah yup sure correct exactly right wrong neither both either whatever doesn't don't \
        not confirmed ja nein oui non sí sim да нет";
    !text.ends_with('?') && starts.split(' ').any(|start| first == start)
}

pub(super) fn asks_which(question: &str) -> bool {
    const WORDS: &[&str] = &["which", "what", "how", "when", "where", "who", "whose", "why"];
    request::words(question).take(3).any(|word| WORDS.contains(&word.as_str()))
}

/// Whether a prompt goes on with something else: an order, or a question in return.
pub(super) fn is_order(text: &str) -> bool {
    let orders = "run show commit push open check look read list print rerun test lint explain tell try continue fix \
        rename revert undo format delete please can could now also add update remove clean start stop merge rebase";
    let first = request::words(text).next().unwrap_or(NO_WORD.clone());
    text.ends_with('?') || orders.split(' ').any(|order| first == order)
}

/// What asks the agent to do something.
pub(super) const BEGGED: &str = "if you could|if you can|whether you could|whether you can";

/// Questions of the user: those that no reply followed, and what the user called open.
fn asked_by_user(digest: &Digest<'_>, index: usize, said: &Said<'_>, found: &mut Vec<Item>) {
    let next = digest.said.get(index + 1);
    let until = next.map_or(usize::MAX, |next| next.step);
    let is_ignored = next.is_none_or(Said::is_user) && !digest.calls_between(said.step, until);
    for line in &said.lines {
        for (text, cues) in line.said() {
            let asks = text.ends_with(['?', '？'])
                && decisions::without_tag(text).ends_with(['?', '？'])
                && request::count(text) > 2;
            let is_listed = cues.has(Cue::Open) || line.section == Section::Questions;
            let is_request = || spelt(text, |words| is_closed(words) || words.says(Saying::Begged));
            let is_open = if asks { is_ignored } else { is_listed };
            if is_open && !is_request() && (is_ignored || !digest.is_settled_later(said.step, text)) {
                found.push(said.item(text));
            }
        }
    }
}
