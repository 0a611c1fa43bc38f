//! What was settled, and why: in the user's and the agent's words, and the user's picks among options.

use std::collections::BTreeMap;

use super::beginning::are_alone;
use super::cues::{self, Cue, CueSet};
use super::digest::{Digest, Said, short};
use super::heading::Section;
use super::prose::Line;
use super::vocabulary::{self, Word, is_in};
use super::wording::{gist, spelt};
use super::{Decision, Voice, questions, request, turn, verdict};
use super::{act, answer, choice};

/// Decisions that are told, the newest of them.
const MANY: usize = 60;

/// All that was settled, in order, the prompts that gave a task being known.
pub(super) fn decisions(digest: &Digest<'_>, given: &[&Said<'_>]) -> Vec<Decision> {
    let mut found: Vec<(usize, Decision)> = Vec::new();
    let mut before: Option<&Said<'_>> = None;
    for said in &digest.said {
        let answer = before.filter(|_| said.is_user()).and_then(|reply| answer::picked(reply, said));
        if let Some(answer) = answer {
            found.push((said.step, answer));
        } else {
            let is_task = given.binary_search_by_key(&said.step, |task| task.step).is_ok();
            for index in 0..said.lines.len() {
                in_line(said, is_task, index, |decision| found.push((said.step, decision)));
            }
        }
        before = (!said.is_user() && !said.is_summary).then_some(said).or(before.filter(|_| !said.is_user()));
    }
    found.extend(answer::answered(digest));
    found.sort_by_key(|(step, _)| *step);
    let mut decisions: Vec<Decision> = found.into_iter().map(|(_, decision)| decision).collect();
    decisions.dedup_by(explains);
    dedup(&mut decisions);
    decisions
}

/// The decisions that are told.
pub(super) fn newest(mut decisions: Vec<Decision>) -> Vec<Decision> {
    let extra = decisions.len().saturating_sub(MANY);
    decisions.drain(..extra);
    decisions
}

fn in_line(said: &Said<'_>, is_task: bool, index: usize, mut take: impl FnMut(Decision)) {
    let line = &said.lines[index];
    match line.section {
        Section::Decisions | Section::Constraints if !line.text.ends_with('?') => {
            take(listed(said, line));
        }
        Section::Questions | Section::Failed | Section::Done if !said.is_user() => {}
        _ if said.is_summary => {}
        _ => {
            let is_closed = line.said().any(|(_, cues)| cues.has(Cue::Closes));
            let made = line.said().filter(|(text, cues)| {
                is_decision(said, is_task, text, *cues)
                    || is_closed && (cues.has(Cue::Closes) && closes(line, text) || opened(line, text))
                    || said.is_user() && !is_task && follows_answer(line, text)
            });
            made.map(|(text, cues)| with_what_it_means(said, is_task, index, (text, cues))).for_each(take);
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
fn listed(said: &Said<'_>, line: &Line) -> Decision {
    let first = line.said().next().map_or("", |(text, _)| text);
    let rest = line.text.get(first.len()..).map_or("", str::trim);
    if line.mark.is_item() || rest.is_empty() || !line.text.starts_with(first) || request::count(first) < 3 {
        return decision(said, &line.text);
    }
    let (what, reason) = split_reason(first);
    Decision { what: said.item(what), reason: Some(short(reason.unwrap_or(strip_because(rest)), 300)) }
}

/// A decision in its own words; `let's do that` is told with the sentence that says what.
fn with_what_it_means(said: &Said<'_>, is_task: bool, index: usize, (text, cues): (&str, CueSet)) -> Decision {
    match before(said, index, text).filter(|_| !is_task && is_bare(text)) {
        Some(meant) => decision(said, &format!("{meant} {text}")),
        None if cues.has(Cue::Reason) => decision(said, text),
        None => Decision { what: said.item(text), reason: None },
    }
}

/// Whether a sentence points back, or closes what was said before it, and names nothing itself.
fn is_bare(text: &str) -> bool {
    let n_words = request::count(text);
    spelt(text, verdict::closes)
        || n_words <= 10 && request::stems(text).len() <= 1 && (request::points_back(text) || n_words <= 4)
}

/// `Nope. A queue, please.`
fn follows_answer(line: &Line, text: &str) -> bool {
    let mut said = line.said().map(|(text, _)| text);
    let answer = said.next();
    said.next() == Some(text)
        && answer
            .filter(|first| request::count(first) <= 2 && questions::begins_answer(first))
            .is_some_and(|answer| choice::names(&format!("{answer} {text}")))
}

/// What stands behind `Decision made.`
fn opened(line: &Line, text: &str) -> bool {
    let mut said = line.said();
    said.next().is_some_and(|(_, cues)| cues.has(Cue::Closes))
        && said.next().is_some_and(|(second, _)| second == text)
        && !text.ends_with('?')
}

/// `Decided.`, behind what was.
fn closes(line: &Line, text: &str) -> bool {
    line.said().next().is_some_and(|(first, _)| first != text && !first.ends_with('?'))
}

/// The sentence before one.
fn before<'a>(said: &'a Said<'_>, index: usize, text: &str) -> Option<&'a str> {
    let line = &said.lines[index];
    let at = line.said().position(|(one, _)| one == text)?;
    let in_line = at.checked_sub(1).and_then(|at| line.said().nth(at));
    let above = || index.checked_sub(1).and_then(|above| said.lines[above].said().next_back());
    in_line.or_else(above).map(|(text, _)| text)
}

/// A sentence without any of these settles nothing.
const SETTLING: &[Cue] =
    &[Cue::Decided, Cue::Chooses, Cue::Contrast, Cue::Firm, Cue::Built, Cue::Forbids, Cue::Demands];

pub(super) fn is_decision(said: &Said<'_>, is_task: bool, text: &str, cues: CueSet) -> bool {
    if !cues.any(SETTLING) {
        return false;
    }
    let whole = text;
    let text = if said.is_user() { without_tag(text) } else { text };
    let words = request::count(text);
    if text.ends_with('?') || !(2..=choice::LONGEST).contains(&words) || words == 2 && !cues.has(Cue::Firm) {
        return false;
    }
    // What may be is no doubt about the choice where it is said in the reason.
    let is_all_known = text == whole && !cues.has(Cue::Reason);
    let chosen = || if is_all_known { cues } else { cues::in_text(split_reason(text).0) };
    if said.is_user() {
        // A request of one sentence is the task, with its conditions.
        let is_alone = said.lines.len() == 1 && said.lines[0].sentences.len() == 1;
        if is_task && (is_alone || spelt(text, |words| request::is_order(words) || is_of_task(&words))) {
            return false;
        }
        // In a request, one thing in place of another is the task itself.
        let settles = if is_task {
            cues.has(Cue::Decided) || cues.has(Cue::Built) && spelt(text, choice::orders)
        } else {
            cues.any(&[Cue::Decided, Cue::Chooses, Cue::Contrast, Cue::Firm, Cue::Built])
        };
        return (is_rule(text, cues) || settles && !chosen().has(Cue::Hedge)) && !spelt(text, act::is_told);
    }
    claims(text, cues) && {
        let chosen = chosen();
        !chosen.has(Cue::Hedge)
            && (!chosen.any(&[Cue::Open, Cue::Asks]) || is_decided(text, cues) || spelt(text, questions::is_closed))
            && !is_report(text)
            && !spelt(text, act::is_told)
    }
}

/// Whether a sentence of a request leaves the task before it or takes up its own.
fn is_of_task(words: &[Word<'_>]) -> bool {
    // `We have to do something about …`
    let must = words.windows(3).position(|part| {
        is_in!("we i you", &part[0]) && (part[1] == "must" || is_in!("have need want has", &part[1]) && part[2] == "to")
    });
    let verb = must.and_then(|at| words[at + 2..].iter().find(|word| *word != "to"));
    if verb
        .is_some_and(|verb| !is_in!("keep stay use support remain stick avoid not never only be always preserve", verb))
    {
        return true;
    }
    turn::leaves(words) || turn::takes(words)
}

/// Whether the agent speaks as one who chose.
fn claims(text: &str, cues: CueSet) -> bool {
    if cues.has(Cue::Built) || cues.has(Cue::Firm) && !is_conditional(text) {
        return true;
    }
    if !cues.any(&[Cue::Decided, Cue::Chooses, Cue::Contrast]) {
        return false;
    }
    let is_own = is_own(text);
    cues.has(Cue::Decided) && (is_own || cues.any(&[Cue::Reason, Cue::Contrast]) || starts_settled(text))
        || cues.has(Cue::Chooses) && is_own && (cues.any(&[Cue::Reason, Cue::Contrast]) || concludes(text))
        || cues.has(Cue::Chooses) && chooses_itself(text)
        || cues.has(Cue::Contrast) && (is_own && cues.any(&[Cue::Reason, Cue::Decided]) || begins_choice(text))
}

/// A sentence without the `ok?` that asks for no more than a nod.
pub(super) fn without_tag(text: &str) -> &str {
    const TAGS: &[&str] =
        &["ok", "okay", "alright", "all right", "deal", "yes", "yeah", "please", "pls", "fine", "agreed"];
    let Some(asked) = text.strip_suffix('?') else { return text };
    let Some((said, tag)) = asked.trim_end().rsplit_once([',', '.', ';']) else { return text };
    if TAGS.contains(&tag.trim().to_ascii_lowercase().as_str()) { said } else { text }
}

/// `The README says …`: what is written somewhere, and settled by nobody here.
fn is_report(text: &str) -> bool {
    const WRITTEN: &str = "readme docs doc documentation comment comments changelog log logs file manual guide page code commit \
        message docstring header spec output error warning test config script";
    let words: Vec<Word<'_>> = request::words(text).take(7).collect();
    words.first().is_some_and(|word| word == "according")
        || words.iter().any(|word| is_in!("says say said reads states mentions suggests recommends", word))
            && words.iter().any(|word| is_in!(WRITTEN, word))
}

fn is_conditional(text: &str) -> bool {
    request::words(text).take(3).any(|word| matches!(word.as_str(), "if" | "whether" | "unless" | "assuming"))
}

/// `Therefore we use …`.
fn concludes(text: &str) -> bool {
    request::words(text).take(4).any(|word| matches!(word.as_str(), "therefore" | "hence" | "thus" | "consequently"))
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
    // What the reason demands is the reason.
    let told = reason_in(text).map(|(start, _)| &text[..start]).filter(|told| vocabulary::split(told).nth(2).is_some());
    if told.is_some_and(|told| !cues::in_text(told).any(&[Cue::Forbids, Cue::Demands])) {
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
    request::words(text).next().is_some_and(|word| first.split(' ').any(|known| word == known))
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
        "go for",
        "going for",
        "i'd rather",
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

fn decision(said: &Said<'_>, text: &str) -> Decision {
    let (what, reason) = split_reason(text);
    Decision { what: said.item(what), reason: reason.map(|reason| short(reason, 300)) }
}

/// A sentence split before the word that begins its reason.
fn split_reason(text: &str) -> (&str, Option<&str>) {
    let Some((start, end)) = reason_in(text) else { return (text, None) };
    let cut = |text: &'_ str| text.trim().trim_end_matches([',', ';', '—', '–', '-', '(', ':', '.']).trim().len();
    let what = &text[..start];
    let what = &what[..what.trim_start().len().min(what.len())];
    let reason = text[start..].trim().trim_end_matches(['.', ')']);
    let kept = cut(what);
    // A sentence that begins with its reason stays whole.
    // So does one whose choice is told behind it, and `as it is` is no reason.
    // `Option 2, so a queue` says with its reason what it is.
    // So does `polling is out, so a queue`, where the choice is what follows from it.
    // And `it is late, so we take a queue`.
    let is_so = text[start..end].to_ascii_lowercase().starts_with("so ");
    let follows = is_so && (rejects(what) || tells_choice(&text[start + 3..]));
    let is_bare = follows
        || request::count(what) < 3
        || request::words(&text[end..]).next().is_none()
        || request::stems(what).iter().all(|stem| matches!(stem.as_str(), "option" | "second" | "first" | "third"));
    if is_bare || request::count(reason) < 4 || !tells_choice(what) && tells_choice(&text[end..]) {
        return (text, None);
    }
    (what.trim_start().get(..kept).unwrap_or(what), Some(strip_because(reason)))
}

/// Whether a clause says what is not taken.
fn rejects(clause: &str) -> bool {
    const REJECTING: &str =
        "not can't cannot won't don't no out rejected dropped never against isn't aren't without refused";
    request::words(clause).any(|word| is_in!(REJECTING, &word))
}

/// Where the first phrase that begins a reason stands.
fn reason_in(text: &str) -> Option<(usize, usize)> {
    let (start, end) = cues::first(text, Cue::Reason)?;
    if text[start..end].eq_ignore_ascii_case("as the")
        && !spelt(text[end..].split([',', ';']).next().unwrap_or_default(), |clause| has_verb(&clause))
    {
        return cues::first(&text[end..], Cue::Reason).map(|(from, until)| (end + from, end + until));
    }
    Some((start, end))
}

/// Whether a clause tells: `as the old one broke`, but not `as the format of the file`.
pub(super) fn has_verb(clause: &[Word<'_>]) -> bool {
    const VERBS: &str = "is are was were has have had does do did will would can could must should needs need keeps makes does \
        doesn't isn't don't can't won't didn't insist insists supports support allows allow works work costs avoids broke \
        requires require wants want breaks expects expect";
    clause.iter().take(5).any(|word| is_in!(VERBS, word) || word.len() > 4 && word.ends_with("ed"))
}

fn tells_choice(text: &str) -> bool {
    let cues = cues::in_text(text);
    cues.any(&[Cue::Decided, Cue::Chooses, Cue::Contrast, Cue::Forbids, Cue::Demands])
        || spelt(text, |words| choice::by(Voice::User, words, cues))
}

fn strip_because(reason: &str) -> &str {
    const STARTS: &[&str] = &[
        "because of ",
        "because ",
        "bc ",
        "since ",
        "as ",
        "given that ",
        "given how ",
        "on the grounds that ",
        "reason: ",
        "rationale: ",
        "motivation: ",
        "why: ",
        "due to ",
        "reason being that ",
        "reason being ",
        "apparently ",
        "context: ",
        "i know it's ",
        "after all, ",
        "reason? ",
        "why? ",
        "background: ",
        "pro: ",
        "otherwise ",
    ];
    let lower = reason.to_ascii_lowercase();
    let start = STARTS.iter().find(|start| lower.starts_with(**start)).map(|start| start.len());
    reason[start.or_else(|| told_reason(&lower)).unwrap_or(0)..].trim()
}

/// Where the reason begins behind `the argument was that `.
fn told_reason(lower: &str) -> Option<usize> {
    const NAMES: &str = "reason rationale argument point motivation thinking idea logic reasoning grounds justification factor deciding main";
    let mut at = 0;
    let mut is_named = false;
    for word in lower.split_inclusive(' ').take(7) {
        let name = &Word::of(word.trim_end_matches([' ', ':', ',']));
        is_named |= is_in!(NAMES, name) && !is_in!("main deciding", name);
        let is_part =
            is_in!("the my our main only was is being were that here for behind it this", name) || is_in!(NAMES, name);
        if !is_part {
            break;
        }
        at += word.len();
        if is_named && (*name == "that" || word.ends_with(": ")) {
            return Some(at);
        }
    }
    (is_named && lower[..at].split(' ').any(|word| matches!(word, "is" | "was" | "being"))).then_some(at)
}

/// The same decision said again is one, with all its places.
fn dedup(decisions: &mut Vec<Decision>) {
    let are_alone = are_alone(decisions.iter().map(|decision| decision.what.text.as_str()));
    let mut known: BTreeMap<Option<u64>, usize> = BTreeMap::new();
    let mut kept: Vec<Decision> = Vec::new();
    for (decision, is_alone) in decisions.drain(..).zip(are_alone) {
        if is_alone {
            kept.push(decision);
            continue;
        }
        let key = gist(&decision.what.text);
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
