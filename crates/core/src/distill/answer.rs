//! What the user answered: a pick among options, a short reply to a question, an answer that a tool brought.

use super::cues::{Cue, CueSet};
use super::digest::{Digest, Said, short};
use super::prose::{Line, Mark};
use super::vocabulary::{Word, is_in};
use super::wording::spelt;
use super::{Decision, Item, Voice, decisions, questions, request, vocabulary};

/// An answer to a question that the agent asked at the end of its reply.
pub(super) fn picked(reply: &Said<'_>, prompt: &Said<'_>) -> Option<Decision> {
    let (question, cues, whole) = reply.lines.iter().rev().find_map(put)?;
    let mut options = reply.lines.iter().filter(|line| is_option(line));
    let chosen = option_of(&prompt.text).and_then(|index| options.nth(index));
    let text = match chosen {
        Some(option) => format!("{} ({whole})", option.text),
        None if settles((question, cues), prompt) => format!("{whole} — {}", short(&prompt.text, 120)),
        None => return None,
    };
    let item = Item { cites: vec![reply.key, prompt.key], ..prompt.item(&text) };
    Some(Decision { what: item, reason: None })
}

/// The last thing that a line asks, and the same with what it is about.
fn put(line: &Line) -> Option<(&str, CueSet, String)> {
    let mut said = line.said().rev();
    let (text, cues) = said.find(|(text, cues)| text.ends_with('?') || cues.any(&[Cue::Open, Cue::Asks]))?;
    let before = said.next().map(|(text, _)| text);
    Some((text, cues, questions::with_subject(before, text, cues)))
}

/// Whether a short answer settles a question and says nothing without it.
fn settles((question, cues): (&str, CueSet), prompt: &Said<'_>) -> bool {
    let n_words = request::count(&prompt.text);
    // `Shall I go on?` is answered and over; what is offered by name is settled by the answer.
    let is_offer = cues.has(Cue::Courtesy) && !cues.any(&[Cue::Open, Cue::Asks]) && request::stems(question).len() < 4;
    let asks_which = questions::asks_which(question);
    if is_verdict(&prompt.text) {
        return !is_offer && !asks_which;
    }
    if prompt.lines.len() == 1 && n_words <= 12 && names_one(question, &prompt.text) {
        return true;
    }
    if prompt.lines.len() != 1 || !(2..=12).contains(&n_words) {
        return false;
    }
    let leans = request::points_back(&prompt.text) || option_of(&prompt.text).is_some();
    leans && prompt.lines[0].said().any(|(text, cues)| decisions::is_decision(prompt, false, text, cues))
        || !is_offer && questions::begins_answer(&prompt.text) && (leans || n_words <= 6)
        || asks_which && is_named(prompt)
}

/// Whether an answer to `a or b?` names one of them: `b, that's that`.
fn names_one(question: &str, answer: &str) -> bool {
    const COMMON: &str = "the and for with that this you should shall use want would not one but please";
    let is_asked = |word: &Word<'_>| request::words(question).any(|asked| asked.as_str() == word.as_str());
    vocabulary::split(question).any(|word| word.eq_ignore_ascii_case("or"))
        && !answer.ends_with('?')
        && request::words(answer).any(|word| word.len() > 2 && !is_in!(COMMON, &word) && is_asked(&word))
}

/// Whether an answer to `which?` names something: `the second region, please`.
fn is_named(prompt: &Said<'_>) -> bool {
    const TELLS: &str =
        "i i'm i'll you it's what why how no not don't dunno idea sure whatever wait hm hmm thanks ok okay";
    let text = &prompt.text;
    !text.ends_with('?')
        && !questions::is_order(text)
        && !request::is_nod(text)
        && !spelt(text, request::is_order)
        && !request::words(text).take(3).any(|word| is_in!(TELLS, &word))
}

fn is_option(line: &Line) -> bool {
    let lettered = line.text.len() > 2
        && line.text.as_bytes()[0].is_ascii_alphabetic()
        && matches!(line.text.as_bytes()[1], b')' | b'.' | b':');
    let is_named = || line.text.as_bytes().get(..7).is_some_and(|start| start.eq_ignore_ascii_case(b"option "));
    matches!(line.mark, Mark::Numbered) || lettered || is_named()
}

/// How options are named, and which they are.
const ORDER: &str = "first=0 second=1 third=2 fourth=3 1st=0 2nd=1 3rd=2 1=0 2=1 3=2 4=3 5=4 a=0 b=1 c=2 d=3";

/// Which of the options a short answer names.
fn option_of(text: &str) -> Option<usize> {
    if request::count(text) > 8 {
        return None;
    }
    let words: Vec<Word<'_>> = request::words(text).collect();
    let named = |word: &Word<'_>| {
        let known = ORDER.split(' ').filter_map(|pair| pair.split_once('='));
        known.filter(|(name, _)| word == name).find_map(|(_, index)| index.parse().ok())
    };
    let is_bare = request::is_choice(text);
    let is_named = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "option" | "approach" | "one" | "number" | "choice" | "go" | "pick" | "take" | "variant" | "the"
        )
    });
    // `a` is an article unless it stands alone or behind `option`.
    let telling: Vec<&Word<'_>> = words
        .iter()
        .filter(|word| is_bare || word.as_str() != "a" || words.iter().any(|word| word == "option"))
        .collect();
    (is_bare || is_named).then(|| telling.into_iter().find_map(named)).flatten()
}

/// `Yes` and `no`, with a word or two.
fn is_verdict(text: &str) -> bool {
    let words: Vec<Word<'_>> = request::words(text).collect();
    words.len() <= 4
        && words.first().is_some_and(|word| {
            matches!(
                word.as_str(),
                "yes" | "no" | "yep" | "nope" | "yeah" | "ja" | "nein" | "oui" | "non" | "sí" | "sim" | "да" | "нет"
            )
        })
}

/// Answers that a tool brought which asks the user: `"Which store?"="Postgres"`.
pub(super) fn answered(digest: &Digest<'_>) -> Vec<(usize, Decision)> {
    let mut found = Vec::new();
    for call in &digest.calls {
        let Some(ended) = call.ended.filter(|_| asks(call.tool) && !call.failed) else { continue };
        let bounded = &ended.text[..ended.text.floor_char_boundary(4000)];
        for (question, answer) in pairs(bounded) {
            let item = Item {
                text: short(&format!("{question} — {answer}"), 300),
                voice: Voice::User,
                at: ended.at,
                cites: call.cites(),
            };
            found.push((call.step, Decision { what: item, reason: None }));
        }
    }
    found
}

/// Whether a tool asks the user.
fn asks(tool: &str) -> bool {
    // Nearly every tool has a name without these letters.
    tool.bytes().any(|byte| matches!(byte, b'k' | b'K' | b'q' | b'Q')) && {
        let name = tool.to_ascii_lowercase();
        name.contains("question") || name.contains("ask") && name.contains("user")
    }
}

fn pairs(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let parts: Vec<&str> = text.split('"').collect();
    for window in parts.windows(4) {
        if window[2].trim() == "=" && !window[1].is_empty() {
            found.push((window[1], window[3]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::asks;

    #[test]
    fn tools_that_ask_the_user_are_known_by_name() {
        assert!(["AskUserQuestion", "question", "QUESTIONS", "ask_user"].into_iter().all(asks));
        assert!(!["Bash", "Task", "read_file", "request_user_input"].into_iter().any(asks));
    }
}
