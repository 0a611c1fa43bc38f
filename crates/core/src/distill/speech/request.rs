//! What a prompt is to the task: the task itself, another one, a remark on it, or a nod.

use std::collections::BTreeSet;

use super::cues::{self, Cue, CueSet};
use super::prose::{self, Line};
use super::vocabulary::{self, Word, is_in};
use super::wording::{Wording, spelt};
use super::{Voice, leave, sentences, turn, verdict};

/// Words of nods, greetings and thanks, in the languages that are most spoken to agents.
const NODS: &str = "\
    yes y yep yeah yup ya sure ok okay k kk fine good great nice perfect cool thanks thank you thx ty please pls \
    go ahead on continue proceed do it that this lgtm looks sounds right correct agreed exactly awesome now then \
    keep going carry resume approved no nope alright absolutely definitely of course and so hi hello hallo hola \
    bonjour moin hey there again try retry all well done love wow hmm ah oh got i see the with for me a am back \
    much very work job works ja nein weiter bitte danke genau passt mach oui non merci vas-y continuez d'accord sí \
    si vale gracias dale sigue continúa да нет ок давай продолжай спасибо sim não obrigado continua 好 好的 是 是的 继续 \
    谢谢 可以 はい 続けて お願いします ありがとう 네 계속 좋아";

/// Verbs with which a piece of work is ordered.
const GOALS: &str = "\
    implement build create write design refactor migrate port add investigate debug research draft plan prepare \
    convert replace optimize optimise introduce develop rewrite analyze analyse review fix set make improve extend \
    upgrade integrate automate document translate summarize summarise compare evaluate audit find figure reduce \
    speed deploy configure split extract generate produce outline get support wire hook help move clean remove \
    update change switch turn";

/// Words that lead to the verb.
const LEADS: &str = "\
    please can could would you i we want need to let's lets let us now next then ok okay so actually instead hey \
    hi hello just like i'd we'd i'm we're going should the task is goal your job first kindly help me new trying \
    have must today";

/// Words that point back: what they are said of is already there.
const BACK: &str = "\
    it that this these those them there same above its again your they one ones both too also";

const STOP: &str = "\
    with from into that this have will would could should when where what which your they them then than there \
    these those about please want need make some like just also only does doing been were being using after before \
    code file files instead actually let's add work good great start right away thanks okay session today task \
    next topic time done now thing";

/// As many bytes of a prompt tell what it is to the task.
const ENOUGH: usize = 1600;

/// How a prompt stands to the task so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::distill) enum Kind {
    /// Says nothing of its own.
    Nod,
    /// Is about the task in force.
    Remark,
    /// Could stand alone as a piece of work.
    Work,
    /// Says that something else is to be done now.
    Turn,
    /// Says so in a way that may also be meant of a part of the task.
    Veer,
}

/// A prompt says what it is about in so many lines and sentences.
const EARLY_LINES: usize = 3;
pub(super) const EARLY: usize = 4;

/// The lines of a prompt, and what it is by its own words.
pub(in crate::distill) fn understood(text: &str) -> (Vec<Line>, Kind) {
    if text.len() <= ENOUGH {
        return spelt(text, |words| {
            let lines = prose::lines_in(words, Voice::User);
            let kind = kind(text, Some(words), &lines);
            (lines, kind)
        });
    }
    let lines = prose::lines(text, Voice::User);
    let kind = kind(text, None, &lines);
    (lines, kind)
}

fn kind(text: &str, words: Option<Wording<'_>>, lines: &[Line]) -> Kind {
    if is_nod(text) {
        return Kind::Nod;
    }
    let turns = lines.iter().take(3).flat_map(|line| line.said().take(3)).any(|(_, cues)| cues.has(Cue::Turns));
    let early = |wanted: Cue| lines.iter().take(EARLY_LINES).flat_map(Line::said).any(|(_, cues)| cues.has(wanted));
    if early(Cue::AboutHow) && !orders_anywhere(lines) {
        return Kind::Remark;
    }
    let judge = |whole: Wording<'_>| {
        let is_work = is_work(whole);
        match (turns, is_work) {
            _ if whole.len() >= 4 && early(Cue::NamesTask) => Kind::Turn,
            (true, _) if whole.len() >= 4 && (is_work || is_strong_turn(text)) => Kind::Turn,
            _ if veers(whole, text.ends_with('?'), early(Cue::TurnsAway), lines) => Kind::Veer,
            (_, true) => Kind::Work,
            _ => Kind::Remark,
        }
    };
    // What a long prompt is shows at its beginning.
    words.map_or_else(|| spelt(&text[..text.floor_char_boundary(ENOUGH)], judge), judge)
}

/// The turns of phrase of one of the first sentences of a prompt, with what it is to the task.
pub(super) fn early(sentence: Wording<'_>, cues: CueSet) -> CueSet {
    let is_long = sentence.text.len() > ENOUGH;
    let sentence = if is_long { sentence.until(sentence.text.floor_char_boundary(ENOUGH)) } else { sentence };
    let told = [
        (Cue::AboutHow, is_about_how(sentence, cues)),
        (Cue::NamesTask, turn::names_task(sentence)),
        (Cue::TurnsAway, !sentence.text.ends_with('?') && turn::turns(sentence)),
    ];
    told.into_iter().filter(|(_, is)| *is).fold(cues, |cues, (cue, _)| cues.with(cue))
}

/// Whether a sentence changes how the task is done: it drops a way of doing it, or settles on one.
fn is_about_how(all: Wording<'_>, cues: CueSet) -> bool {
    let words = all.at_most(10);
    let mind = words.windows(2).any(|pair| pair[0] == "my" && pair[1] == "mind");
    // `Forget what I said about …`
    let said = words.windows(3).any(|part| part[0] == "what" && part[1] == "i" && is_in!("said wrote told", &part[2]));
    let forgets = said && words.iter().any(|word| is_in!("forget ignore scratch scrap disregard", word));
    // `Scrap that, we're doing … because …`
    let explains = cues.has(Cue::Built)
        && cues.has(Cue::Reason)
        && all.iter().skip(1).any(|word| is_in!("because since given bc", word));
    verdict::replaces_idea(&words) || forgets || explains || mind && !orders(&all) || takes_back(&all)
}

/// Whether a prompt orders a piece of work in one of its sentences.
fn orders_anywhere(lines: &[Line]) -> bool {
    let mut said = lines.iter().flat_map(Line::said);
    said.any(|(text, _)| spelt(text, |words| orders(&words) || turn::names_task(words)))
}

/// `Scratch that, a queue instead`, `revert that, I want the queue back`: a step is taken back, and not the task.
fn takes_back(words: &[Word<'_>]) -> bool {
    let lead = words.iter().take(3).position(|word| is_in!("scratch revert undo", word));
    lead.is_some_and(|lead| words.get(lead + 1).is_some_and(|word| is_in!("that it this", word)))
        && !words.iter().any(|word| {
            is_in!(TAKEN_UP, word) || is_in!("everything all session task work do handle look start begin now", word)
        })
}

/// What is said of a task that is taken up.
const TAKEN_UP: &str = "next urgent need focus tackle switch move turn priority topic ticket first";

/// Whether one of the first sentences turns to something that the rest, or it, tells.
fn veers(whole: Wording<'_>, asks: bool, turns: bool, lines: &[Line]) -> bool {
    let is_choice =
        || lines.iter().flat_map(Line::said).any(|(_, cues)| cues.any(&[Cue::Built, Cue::Decided, Cue::Firm]));
    // `That's done, now run the tests.`
    let is_order = |lines: &[Line]| {
        let mut said = lines.iter().flat_map(Line::said).flat_map(|(text, _)| text.split([',', ';']));
        said.any(|clause| {
            let first = words(clause).find(|word| !is_in!("now then and please ok okay next so", word));
            first.is_some_and(|word| is_in!("run rerun show push check test lint merge rebase explain", &word))
        })
    };
    let all = whole.at_most(80);
    // What is no longer so in the reason is no task that is left.
    let reason = all.iter().position(|word| is_in!("because since", word)).filter(|at| *at > 3);
    let all = &all[..reason.unwrap_or(all.len())];
    all.len() >= 5
        && (turns
            || all.len() >= 8
                && (!asks || is_polite(all))
                && ((turn::leaves(all) || leave::is_left(all)) && (turn::takes(all) || leave::is_taken(all))
                    || turn::shows_turn(all, is_choice())))
        && !is_order(lines)
}

/// `Could you please begin with …?` asks for work.
fn is_polite(words: &[Word<'_>]) -> bool {
    words.windows(2).any(|pair| is_in!("can could would will", &pair[0]) && is_in!("you we", &pair[1]))
}

/// Whether a prompt asks for nothing new.
pub(in crate::distill) fn is_nod(text: &str) -> bool {
    let mut count = 0;
    for word in words(text) {
        count += 1;
        if count > 8 || !is_in!(NODS, &word) {
            return is_choice(text);
        }
    }
    true
}

/// `2`, `b)`: an answer to a question with options.
pub(in crate::distill) fn is_choice(text: &str) -> bool {
    let text = text.trim().trim_matches(['.', ')', '(', '!', '#']);
    text.len() <= 2 && !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Turns that need no verb behind them to be meant.
fn is_strong_turn(text: &str) -> bool {
    const STRONG: &[&str] = &[
        "new task",
        "different task",
        "another task",
        "change of plan",
        "change of direction",
        "plans changed",
        "priorities",
        "switch gears",
        "switching gears",
        "shift gears",
        "scrap ",
        "drop everything",
        "drop that",
        "drop this",
        "never mind",
        "nevermind",
        "forget ",
        "pivot",
        "put that aside",
        "put this aside",
        "on second thought",
        "the goal is now",
        "the task is now",
        "new goal",
        "something else",
        "unrelated to",
        "unrelated:",
        "unrelated,",
        "different topic",
        "separate topic",
        "new topic",
        "on hold",
        "stop working on",
        "more urgent",
        "start over",
        "shelve",
        "let's focus on",
        "what i really want",
        "what i actually",
        "no longer need",
    ];
    let head = text[..text.floor_char_boundary(240)].to_ascii_lowercase();
    STRONG.iter().any(|turn| head.contains(turn))
}

/// Whether a prompt orders a piece of work that can be understood without what was said before.
fn is_work(whole: Wording<'_>) -> bool {
    // The sentence that orders need not be the first.
    whole.text.len() > 400 || {
        let (mut count, mut is_ordered) = (0, false);
        sentences::each(whole.text, |start, end| {
            is_ordered |= count < 6 && !is_ordered && orders(&whole.from(start).until(end - start));
            count += 1;
        });
        is_ordered
    }
}

/// Whether a sentence orders a piece of work or turns to one.
pub(in crate::distill) fn is_order(sentence: Wording<'_>) -> bool {
    orders(&sentence) || turn::turns(sentence) || cues::of(sentence).has(Cue::Turns)
}

/// Whether a sentence speaks of what was said before it.
pub(in crate::distill) fn points_back(sentence: &str) -> bool {
    words(sentence).any(|word| is_back(&word))
}

/// Whether a word orders a piece of work.
pub(in crate::distill) fn is_goal(word: &Word<'_>) -> bool {
    is_in!(GOALS, word)
}

pub(in crate::distill) fn is_back(word: &Word<'_>) -> bool {
    is_in!(BACK, word)
}

fn orders(all: &[Word<'_>]) -> bool {
    let Some(verb) = all.iter().take(12).position(|word| !is_in!(LEADS, word)) else { return false };
    let verb = if is_in!(GOALS, &all[verb]) {
        verb
    } else {
        // `help` and the like are leads as well as verbs.
        let Some(at) = all.iter().take(verb).position(|word| is_in!(GOALS, word)) else { return false };
        at
    };
    let object = &all[verb + 1..];
    // `The plan is …`, `I'm set on …`, `design note: …`: no verb there.
    let is_noun = verb > 0 && is_in!("the a an my our your", &all[verb - 1])
        || object.first().is_some_and(|word| is_in!("of on is was note notes decision choice rationale", word))
            && is_in!("set plan design review change document support research draft", &all[verb]);
    !is_noun && object.len() >= 2 && !object.iter().take(6).any(|word| is_in!(BACK, word))
}

/// Whether two texts speak of different things.
pub(in crate::distill) fn is_apart(one: &str, other: &str) -> bool {
    let (one, other) = (stems(one), stems(other));
    one.intersection(&other).count() < 2.min(other.len().max(1))
}

/// The beginnings of the words that carry the meaning.
pub(in crate::distill) fn stems(text: &str) -> BTreeSet<String> {
    let bounded = &text[..text.floor_char_boundary(4000)];
    let telling = |word: &Word<'_>| word.chars().count() > 3 && !is_in!(STOP, word);
    words(bounded).filter(telling).map(|word| word.chars().take(6).collect()).collect()
}

/// How many words a text has.
pub(in crate::distill) fn count(text: &str) -> usize {
    vocabulary::split(text).count()
}

/// Lower-case words.
pub(in crate::distill) fn words(text: &str) -> impl Iterator<Item = Word<'_>> {
    vocabulary::split(text).map(Word::of)
}
