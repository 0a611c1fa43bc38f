//! What is to be done next: an unanswered prompt, what the agent announced, the step of the plan, the running call.

use super::cues::Cue;
use super::digest::{Digest, Said};
use super::heading::Section;
use super::progress::{self, Progress};
use super::prose::{Line, Mark};
use super::sayings::Saying;
use super::wording::spelt;
use super::{Item, decisions, request};

/// The next action.
pub(super) fn next(digest: &Digest<'_>, progress: &Progress) -> Option<Item> {
    if let Some(prompt) = unanswered(digest) {
        return Some(prompt);
    }
    let announced = announced(digest);
    let is_final = digest.replies().next_back().is_some_and(|reply| reply.step == digest.last);
    if is_final && announced.is_some() {
        return announced;
    }
    progress
        .in_progress
        .first()
        .cloned()
        .or(announced)
        .or_else(|| progress::running(digest))
        .or_else(|| progress.remaining.first().cloned())
        .or_else(|| agreed(digest))
        .or_else(|| offered(digest))
        .or_else(|| cut_short(digest))
        .or_else(|| last_words(digest))
}

/// A prompt that nothing answered. A nod stands for what was announced before it.
fn unanswered(digest: &Digest<'_>) -> Option<Item> {
    let prompt = digest.last_prompt().filter(|prompt| prompt.step == digest.last)?;
    if !request::is_nod(&prompt.text) {
        return Some(prompt.item(&prompt.text));
    }
    let reply = digest.replies().rfind(|reply| reply.step < prompt.step)?;
    let mut item = in_reply(reply).or_else(|| offer_of(reply))?;
    item.cites.push(prompt.key);
    Some(item)
}

/// The prompt of a turn that ended without a reply.
fn cut_short(digest: &Digest<'_>) -> Option<Item> {
    let prompt = digest.last_prompt().filter(|prompt| !request::is_nod(&prompt.text))?;
    let is_answered = digest.replies().next_back().is_some_and(|reply| reply.step == digest.last);
    (!is_answered).then(|| prompt.item(&prompt.text))
}

/// What the agent said, in its last turn, that it would do.
fn announced(digest: &Digest<'_>) -> Option<Item> {
    // What an earlier reply of the turn announced was done before this one.
    digest.last_turn().next_back().and_then(in_reply)
}

fn in_reply(reply: &Said<'_>) -> Option<Item> {
    let under_heading = reply.lines.iter().find(|line| line.section == Section::Next);
    if let Some(line) = under_heading {
        let text =
            if line.mark.is_item() { line.text.as_str() } else { line.said().next().map_or("", |(text, _)| text) };
        return Some(reply.item(text));
    }
    let remaining = reply.lines.iter().find(|line| line.section == Section::Remaining);
    let remaining = remaining.map(|line| reply.item(&line.text));
    // A box that is not ticked, unless it is a question.
    let boxed = reply
        .lines
        .iter()
        .find(|line| line.mark == Mark::Unchecked && line.section != Section::Questions && !line.text.ends_with('?'));
    best(reply, &[Cue::Next], |_| true)
        .or_else(|| boxed.map(|line| reply.item(&line.text)))
        .or_else(|| best(reply, &[Cue::Announces], |text| !looks(text)))
        .or_else(|| best(reply, &[Cue::Left], |_| true))
        .or(remaining)
        .or_else(|| best(reply, &[Cue::Announces], |text| looks(text) && is_last(reply, text)))
}

/// The last sentence with one of these turns of phrase that is neither a question nor a courtesy.
fn best(reply: &Said<'_>, cues: &[Cue], fits: impl Fn(&str) -> bool) -> Option<Item> {
    let is_open = |line: &&Line| !matches!(line.section, Section::Done | Section::Decisions | Section::Failed);
    let mut said = reply.lines.iter().rev().filter(is_open).flat_map(|line| line.said().rev());
    let sentence = said.find(|(text, found)| {
        // What is asked is not yet to be done.
        let is_asked = found.any(&[Cue::Open, Cue::Asks]) && !found.has(Cue::Next);
        found.any(cues)
            && !is_asked
            && fits(text)
            && !text.ends_with('?')
            && !found.has(Cue::Courtesy)
            && !is_conditional(text)
    });
    sentence.map(|(text, _)| reply.item(text))
}

/// `Let me check …`: said while working, and over by the end of the reply where that says what is left.
fn looks(text: &str) -> bool {
    const VERBS: &[&str] = &[
        "look",
        "check",
        "read",
        "see",
        "inspect",
        "explore",
        "examine",
        "search",
        "understand",
        "overview",
        "view",
        "glance",
        "peek",
        "scan",
        "grep",
        "find",
        "open",
        "gather",
        "skim",
        "browse",
        "trace",
    ];
    request::words(text).take(7).any(|word| VERBS.contains(&word.as_str()))
}

/// Whether nothing but questions and courtesies stands behind a sentence.
fn is_last(reply: &Said<'_>, text: &str) -> bool {
    let mut said = reply.lines.iter().rev().flat_map(|line| line.said().rev());
    let last = said.find(|(text, cues)| !text.ends_with('?') && !cues.has(Cue::Courtesy));
    last.is_some_and(|(last, _)| last == text)
}

/// `If you …` is up to somebody else.
fn is_conditional(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["if you ", "once you ", "when you run", "you can ", "you could ", "feel free", "thanks", "sorry"]
        .iter()
        .any(|start| lower.starts_with(start))
}

/// A reply of so many words does no more than take note.
const NOD: usize = 15;

/// Where the user said that the work goes on, and the agent only nodded.
fn agreed(digest: &Digest<'_>) -> Option<Item> {
    let prompt = digest.last_prompt()?;
    let said = digest.last_turn().flat_map(|reply| &reply.lines).flat_map(|line| request::words(&line.text));
    if said.count() > NOD {
        return None;
    }
    let mut said = prompt.lines.iter().rev().flat_map(|line| line.said().rev());
    said.find(|(text, cues)| cues.has(Cue::Next) && !text.ends_with('?')).map(|(text, _)| prompt.item(text))
}

/// How it is offered.
pub(super) const OFFERED: &str = "shall i|should i|want me to|would you like me|if you'd like i|if you want i|i can";

/// What the agent offered to do.
fn offered(digest: &Digest<'_>) -> Option<Item> {
    digest.last_turn().next_back().and_then(offer_of)
}

fn offer_of(reply: &Said<'_>) -> Option<Item> {
    let mut said = reply.lines.iter().rev().flat_map(|line| line.said().rev());
    let is_offer = |text: &str| spelt(text, |words| words.says(Saying::Offered));
    said.find(|(text, _)| is_offer(text)).map(|(text, _)| reply.item(text))
}

/// `I found …`: what is over, in words that are no report of a finished piece.
fn tells_of_itself(text: &str) -> bool {
    const PAST: &[&str] = &["found", "saw", "wrote", "ran", "made", "got", "did", "read", "have", "was", "am", "see"];
    let mut words = request::words(text);
    words.next().is_some_and(|word| word == "i")
        && words.next().is_some_and(|word| word.ends_with("ed") || PAST.contains(&word.as_str()))
}

/// Whether a sentence says that something is to be.
fn wants(text: &str) -> bool {
    let wanting = ["should", "will", "would", "can", "could", "ought", "must", "need", "needs"];
    request::words(text).any(|word| wanting.contains(&word.as_str()))
}

/// The last sentence of the last reply, where it is no report of what is over, no decision and no courtesy.
fn last_words(digest: &Digest<'_>) -> Option<Item> {
    let reply = digest.last_turn().next_back()?;
    let mut said = reply.lines.iter().rev().flat_map(|line| line.said().rev());
    let (text, cues) = said.find(|(_, cues)| !cues.has(Cue::Courtesy))?;
    // `Step 4: …` names what is to be done, whatever the verb.
    let is_step = text.contains(": ") && request::words(text).take(3).any(|word| word == "step" || word == "plan")
        || request::words(text).any(|word| word == "please");
    let is_over =
        !is_step && cues.has(Cue::Finished) && !(cues.any(&[Cue::Left, Cue::Next, Cue::Demands]) || wants(text));
    // Said outright: how a sentence is built tells a choice from a plan only as long as nobody asks what is next.
    let is_decided =
        !is_step && !wants(text) && cues.has(Cue::Decided) && decisions::is_decision(reply, false, text, cues);
    let says_more = !is_over && !tells_of_itself(text) && !text.ends_with('?') && request::count(text) > 3;
    (says_more && !is_decided).then(|| reply.item(text))
}
