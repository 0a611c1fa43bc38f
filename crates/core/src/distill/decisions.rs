//! What was settled, and why: in the user's and the agent's words, and the user's picks among options.

use std::collections::BTreeMap;

use super::choice;
use super::cues::{self, Cue, CueSet};
use super::digest::{Digest, Said, short};
use super::heading::Section;
use super::prose::{Line, Mark};
use super::{Decision, Item, Voice, questions, request, task};

/// Decisions that are told, the newest of them.
const MANY: usize = 60;

pub(super) fn decisions(digest: &Digest<'_>) -> Vec<Decision> {
    let mut found: Vec<(usize, Decision)> = Vec::new();
    let mut before: Option<&Said> = None;
    let tasks = task::given(digest);
    for said in &digest.said {
        let answer = before.filter(|_| said.is_user()).and_then(|reply| picked(reply, said));
        if let Some(answer) = answer {
            found.push((said.step, answer));
        } else {
            for index in 0..said.lines.len() {
                let made = in_line(said, tasks.contains(&said.step), index);
                found.extend(made.into_iter().map(|decision| (said.step, decision)));
            }
        }
        before = (!said.is_user() && !said.is_summary).then_some(said).or(before.filter(|_| !said.is_user()));
    }
    found.extend(answered(digest));
    found.sort_by_key(|(step, _)| *step);
    let mut decisions: Vec<Decision> = found.into_iter().map(|(_, decision)| decision).collect();
    decisions.dedup_by(explains);
    dedup(&mut decisions);
    let extra = decisions.len().saturating_sub(MANY);
    decisions.drain(..extra);
    decisions
}

fn in_line(said: &Said, is_task: bool, index: usize) -> Vec<Decision> {
    let line = &said.lines[index];
    match line.section {
        Section::Decisions | Section::Constraints if !line.text.ends_with('?') => vec![listed(said, line)],
        Section::Questions | Section::Failed | Section::Done if !said.is_user() => Vec::new(),
        _ if said.is_summary => Vec::new(),
        _ => {
            let made = line.said().filter(|(text, cues)| is_decision(said, is_task, text, *cues));
            made.map(|(text, _)| with_what_it_means(said, is_task, index, text)).collect()
        }
    }
}

/// Whether what was found is but the reason of the decision before it, which then has it.
fn explains(reason: &mut Decision, decision: &mut Decision) -> bool {
    let text = &reason.what.text;
    let is_reason = reason.what.cites == decision.what.cites && strip_because(text).len() < text.len();
    if is_reason {
        decision.reason.get_or_insert_with(|| short(strip_because(text), 300));
    }
    is_reason
}

/// A line below a heading of decisions. In a paragraph the first sentence decides and the others explain.
fn listed(said: &Said, line: &Line) -> Decision {
    let first = line.said().next().map_or("", |(text, _)| text);
    let rest = line.text.get(first.len()..).map_or("", str::trim);
    if line.mark.is_item() || rest.is_empty() || !line.text.starts_with(first) || request::words(first).count() < 3 {
        return decision(said, &line.text);
    }
    let (what, reason) = split_reason(first);
    Decision { what: said.item(what), reason: Some(short(reason.unwrap_or(strip_because(rest)), 300)) }
}

/// A decision in its own words; `let's do that` is told with the sentence that says what.
fn with_what_it_means(said: &Said, is_task: bool, index: usize, text: &str) -> Decision {
    match before(said, index, text).filter(|_| !is_task && is_bare(text)) {
        Some(meant) => decision(said, &format!("{meant} {text}")),
        None => decision(said, text),
    }
}

/// Whether a sentence points back and names nothing itself.
fn is_bare(text: &str) -> bool {
    request::points_back(text) && request::words(text).count() <= 10 && request::stems(text).len() <= 1
}

/// The sentence before one.
fn before<'a>(said: &'a Said, index: usize, text: &str) -> Option<&'a str> {
    let line = &said.lines[index];
    let at = line.said().position(|(one, _)| one == text)?;
    let in_line = at.checked_sub(1).and_then(|at| line.said().nth(at));
    let above = || index.checked_sub(1).and_then(|above| said.lines[above].said().next_back());
    in_line.or_else(above).map(|(text, _)| text)
}

fn is_decision(said: &Said, is_task: bool, text: &str, cues: CueSet) -> bool {
    let words = request::words(text).count();
    if text.ends_with('?') || !(3..=90).contains(&words) {
        return false;
    }
    // What may be is no doubt about the choice where it is said in the reason.
    let chosen = cues::of(split_reason(text).0);
    if said.is_user() {
        if is_task && request::is_order(text) {
            return false;
        }
        // In a request, one thing in place of another is the task itself.
        let settles = cues.has(Cue::Decided)
            || choice::orders(text)
            || !is_task && (cues.any(&[Cue::Chooses, Cue::Contrast]) || choice::by_user(text, cues));
        return is_rule(text, cues) || (settles && !chosen.has(Cue::Hedge));
    }
    if chosen.has(Cue::Hedge) || chosen.has(Cue::Open) && !is_decided(text, cues) {
        return false;
    }
    let is_own = is_own(text);
    cues.has(Cue::Decided) && (is_own || cues.any(&[Cue::Reason, Cue::Contrast]) || starts_settled(text))
        || cues.has(Cue::Chooses) && is_own && cues.any(&[Cue::Reason, Cue::Contrast])
        || cues.has(Cue::Chooses) && chooses_itself(text)
        || cues.has(Cue::Contrast) && (is_own && cues.any(&[Cue::Reason, Cue::Decided]) || begins_choice(text))
        || choice::by_agent(text, cues)
}

/// Whether what was open is told together with how it was decided.
fn is_decided(text: &str, cues: CueSet) -> bool {
    const NOT_YET: &[&str] =
        &["not", "never", "haven't", "hasn't", "didn't", "yet", "undecided", "no", "still", "isn't"];
    cues.has(Cue::Decided) && !request::words(text).any(|word| NOT_YET.contains(&word.as_str()))
}

/// What the user forbids or demands, of the work and not of this moment.
fn is_rule(text: &str, cues: CueSet) -> bool {
    if !cues.any(&[Cue::Forbids, Cue::Demands]) {
        return false;
    }
    let lower = text.to_ascii_lowercase();
    let complaint = [
        "it doesn't",
        "it does not",
        "that doesn't",
        "this doesn't",
        "i don't know",
        "i don't understand",
        "i don't see",
        "i don't think",
        "don't worry",
        "i never",
        "don't you",
        "i don't have",
        "we don't have",
        "it never",
        "i have to",
        "we don't know",
        "it has to do",
    ];
    !complaint.iter().any(|start| lower.starts_with(start) || lower.contains(&format!(" {start}")))
}

/// Whether the agent speaks of its own or of the common choice.
fn is_own(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let named = request::words(&lower).take(12).any(|word| {
        matches!(
            word.as_str(),
            "i" | "we"
                | "i'll"
                | "we'll"
                | "i've"
                | "we've"
                | "i'm"
                | "we're"
                | "let's"
                | "our"
                | "my"
                | "i'd"
                | "we'd"
        )
    });
    named || begins_choice(text)
}

/// `Keeping …`, `Chose …`: a choice told without saying whose.
fn begins_choice(text: &str) -> bool {
    let first = "keeping using going sticking staying chose decided settled opted went picked kept deferring agreed \
        switching switched adopting defaulting deliberately intentionally choosing preferring leaving used replaced dropped";
    request::words(text).next().is_some_and(|word| first.split(' ').any(|known| known == word))
}

fn starts_settled(text: &str) -> bool {
    let starts = "decided|decision|the decision|design decision|agreed|settled|final|chosen|consensus|out of scope|\
        conclusion|the choice|rejected|verdict|the verdict|policy|convention|the rule|ruled out|approved|signed off";
    let lower = text.to_ascii_lowercase();
    starts.split('|').any(|start| lower.starts_with(start))
}

/// Choices that are meant as such even without a reason.
fn chooses_itself(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    [
        "go with",
        "going with",
        "stick with",
        "sticking with",
        "stick to",
        "sticking to",
        "i'll keep",
        "i'm keeping",
        "i kept",
        "we'll keep",
        "i've gone with",
        "i've chosen",
        "i'll leave",
        "we'll use",
        "we will use",
        "let's use",
        "let's keep",
        "let's go with",
        "we won't",
        "we will not",
        "stay with",
        "staying with",
        "defaulting to",
        "switching to",
    ]
    .iter()
    .any(|choice| lower.contains(choice))
}

fn decision(said: &Said, text: &str) -> Decision {
    let (what, reason) = split_reason(text);
    Decision { what: said.item(what), reason: reason.map(|reason| short(reason, 300)) }
}

/// A sentence split before the word that begins its reason.
fn split_reason(text: &str) -> (&str, Option<&str>) {
    let Some((start, end)) = cues::first(text, Cue::Reason) else { return (text, None) };
    let cut = |text: &'_ str| text.trim().trim_end_matches([',', ';', '—', '–', '-', '(', ':', '.']).trim().len();
    let what = &text[..start];
    let what = &what[..what.trim_start().len().min(what.len())];
    let reason = text[start..].trim().trim_end_matches(['.', ')']);
    let kept = cut(what);
    // A sentence that begins with its reason stays whole.
    // So does one whose choice is told behind it, and `as it is` is no reason.
    let is_bare = request::words(what).count() < 3 || request::words(&text[end..]).next().is_none();
    if is_bare || request::words(reason).count() < 4 || !tells_choice(what) && tells_choice(&text[end..]) {
        return (text, None);
    }
    (what.trim_start().get(..kept).unwrap_or(what), Some(strip_because(reason)))
}

fn tells_choice(text: &str) -> bool {
    let cues = cues::of(text);
    cues.any(&[Cue::Decided, Cue::Chooses, Cue::Contrast, Cue::Forbids, Cue::Demands])
        || choice::orders(text)
        || choice::by_user(text, cues)
}

fn strip_because(reason: &str) -> &str {
    const STARTS: &[&str] = &[
        "because of ",
        "because ",
        "since ",
        "as ",
        "given that ",
        "the reason is that ",
        "the reason: ",
        "reason: ",
        "rationale: ",
        "why: ",
        "due to ",
        "reason being ",
    ];
    let lower = reason.to_ascii_lowercase();
    let start = STARTS.iter().find(|start| lower.starts_with(**start)).map_or(0, |start| start.len());
    reason[start..].trim()
}

/// An answer to a question that the agent asked at the end of its reply.
fn picked(reply: &Said, prompt: &Said) -> Option<Decision> {
    let options: Vec<&Line> = reply.lines.iter().filter(|line| is_option(line)).collect();
    let question = reply.lines.iter().rev().flat_map(|line| line.said().rev()).find(|(text, _)| text.ends_with('?'));
    let chosen = option_of(&prompt.text).and_then(|index| options.get(index).copied());
    let question = question?;
    let text = match chosen {
        Some(option) => format!("{} ({})", option.text, question.0),
        None if settles(question, prompt) => format!("{} — {}", question.0, short(&prompt.text, 120)),
        None => return None,
    };
    let item = Item { cites: vec![reply.key, prompt.key], ..prompt.item(&text) };
    Some(Decision { what: item, reason: None })
}

/// Whether a short answer settles a question and says nothing without it.
fn settles((question, cues): (&str, CueSet), prompt: &Said) -> bool {
    if is_verdict(&prompt.text) {
        return !cues.has(Cue::Courtesy) && !questions::asks_which(question);
    }
    let points_back = request::points_back(&prompt.text);
    let is_short = (2..=12).contains(&request::words(&prompt.text).count()) && prompt.lines.len() == 1;
    is_short && points_back && prompt.lines[0].said().any(|(text, cues)| is_decision(prompt, false, text, cues))
}

fn is_option(line: &Line) -> bool {
    let lettered = line.text.len() > 2
        && line.text.as_bytes()[0].is_ascii_alphabetic()
        && matches!(line.text.as_bytes()[1], b')' | b'.' | b':');
    matches!(line.mark, Mark::Numbered) || lettered || line.text.to_ascii_lowercase().starts_with("option ")
}

/// How options are named, and which they are.
const ORDER: &str = "first=0 second=1 third=2 fourth=3 1st=0 2nd=1 3rd=2 1=0 2=1 3=2 4=3 5=4 a=0 b=1 c=2 d=3";

/// Which of the options a short answer names.
fn option_of(text: &str) -> Option<usize> {
    if request::words(text).count() > 8 {
        return None;
    }
    let words: Vec<String> = request::words(text).collect();
    let named = |word: &String| {
        let known = ORDER.split(' ').filter_map(|pair| pair.split_once('='));
        known.filter(|(name, _)| name == word).find_map(|(_, index)| index.parse().ok())
    };
    let is_bare = request::is_choice(text);
    let is_named = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "option" | "approach" | "one" | "number" | "choice" | "go" | "pick" | "take" | "variant" | "the"
        )
    });
    // `a` is an article unless it stands alone or behind `option`.
    let telling: Vec<&String> = words
        .iter()
        .filter(|word| is_bare || word.as_str() != "a" || words.iter().any(|word| word == "option"))
        .collect();
    (is_bare || is_named).then(|| telling.into_iter().find_map(named)).flatten()
}

/// `Yes` and `no`, with a word or two.
fn is_verdict(text: &str) -> bool {
    let words: Vec<String> = request::words(text).collect();
    words.len() <= 4
        && words.first().is_some_and(|word| {
            matches!(
                word.as_str(),
                "yes" | "no" | "yep" | "nope" | "yeah" | "ja" | "nein" | "oui" | "non" | "sí" | "sim" | "да" | "нет"
            )
        })
}

/// Answers that a tool brought which asks the user: `"Which store?"="Postgres"`.
fn answered(digest: &Digest<'_>) -> Vec<(usize, Decision)> {
    let mut found = Vec::new();
    for call in &digest.calls {
        let tool = call.tool.to_ascii_lowercase();
        let asks = tool.contains("question") || (tool.contains("ask") && tool.contains("user"));
        let Some(ended) = call.ended.filter(|_| asks && !call.failed) else { continue };
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

/// The same decision said again is one, with all its places.
fn dedup(decisions: &mut Vec<Decision>) {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut kept: Vec<Decision> = Vec::new();
    for decision in decisions.drain(..) {
        let key = request::words(&decision.what.text).collect::<Vec<_>>().join(" ");
        if let Some(same) = known.get(&key).and_then(|index| kept.get_mut(*index)) {
            same.what.cites.extend(decision.what.cites);
            same.reason = same.reason.take().or(decision.reason);
        } else {
            known.insert(key, kept.len());
            kept.push(decision);
        }
    }
    *decisions = kept;
}
