//! One thing in place of another: what was replaced by what, what is left when the others are out, and why it is there.

use super::cues::{Cue, CueSet};
use super::lexicon::{FIRM, PAST, SHAPES, WEAK};
use super::vocabulary::{NO_WORD, Word, is_in};
use super::wording::Wording;
use super::{needs, thing};

/// What is done to one thing for another.
pub(in crate::distill) const SWAPPED: &str = "replaced superseded swapped exchanged traded substituted displaced";

/// What a reason is called.
pub(in crate::distill) const REASONS: &str = "reason rationale motivation justification reasoning argument";

/// What the better one does.
pub(in crate::distill) const BEATS: &str =
    "outperformed outperforms beat beats outclassed outdid outclasses trounced edged surpassed";

/// Whether a sentence tells what took the place of what, or why something is there.
pub(in crate::distill) fn settles(words: Wording<'_>, cues: CueSet, is_user: bool) -> bool {
    let is_explained = cues.any(&[Cue::Reason, Cue::Contrast]);
    let is_swap = || {
        swaps(words, is_user, is_explained)
            || is_alone(words)
            || is_justified(words)
            || !is_user && (is_yours(words) || beats(&words))
    };
    words.has(needs::SWAPS) && is_swap()
        || !is_user && (is_used_instead(words, cues) || does_then(words))
        || is_user && (is_deal(&words) || is_backed(words))
}

/// Whether it was done long ago, and so by others.
fn is_past(words: &[Word<'_>]) -> bool {
    words.iter().any(|word| is_in!("ago years someone somebody upstream earlier once originally previously", word))
        || words.iter().any(|word| word.len() == 4 && (word.starts_with("20") || word.starts_with("19")))
}

/// `The timer has been replaced by a queue`, `traded the timer for a queue`, `swap that out for a queue`.
fn swaps(words: Wording<'_>, is_user: bool, is_explained: bool) -> bool {
    (0..words.len().min(16)).any(|at| {
        let verb = &words[at];
        let lead = at.checked_sub(1).map_or(&NO_WORD, |at| &words[at]);
        let is_done = is_in!(SWAPPED, verb)
            && (at == 0
                || is_in!("been is are was were i i've we we've have now and got gets just be therefore", lead));
        let is_ordered = is_user
            && is_in!("replace swap exchange trade substitute", verb)
            && (is_explained || words.text.contains(", "))
            && (at == 0 || is_in!("please and then just so", lead));
        (is_done || is_ordered)
            && !is_past(&words)
            && (at + 1..words.len().min(at + 9))
                .find(|at| is_in!("by with for", &words[*at]))
                .is_some_and(|by| thing::is_named(words.skip(by + 1)))
    })
}

/// `The only viable solution was a queue`, `only a queue remained`.
fn is_alone(words: Wording<'_>) -> bool {
    const KINDS: &str =
        "option choice approach way solution route variant candidate path answer alternative survivor contender";
    let Some(only) = words.iter().take(12).position(|word| is_in!("only sole", word)) else { return false };
    let lead = only.checked_sub(1).map_or(&NO_WORD, |at| &words[at]);
    let kind = words[only + 1..].iter().take(2).position(|word| is_in!(KINDS, word)).map(|at| only + 1 + at);
    let is_choice = kind.is_some_and(|kind| {
        let behind = &words[kind + 1..];
        behind.iter().take(2).any(|word| is_in!("is was left remaining that which", word))
            || only >= 2 && words[..only].iter().rev().take(3).any(|word| is_in!("is was remains were are", word))
    });
    let remains = only <= 4
        && words.iter().skip(3).take(12).any(|word| {
            is_in!(
                "remained survived qualified satisfied satisfies fit fitted fits passed met meets held sufficed worked",
                word
            )
        });
    *lead != "not"
        && (is_choice || remains)
        && !words.iter().any(|word| is_in!("if would might could failed fails failing crashes crashed", word))
}

/// `The reason for the queue is that …`, `the rationale behind the queue: …`.
fn is_justified(words: Wording<'_>) -> bool {
    const TROUBLE: &str = "\
        delay timeout slow slowness behaviour behavior leak exception regression message hang freeze difference \
        mismatch drop discrepancy panic downtime outage flakiness";
    words.windows(2).take(5).position(|pair| is_in!(REASONS, &pair[0]) && is_in!("for behind", &pair[1])).is_some_and(
        |at| {
            let rest = words.skip(at + 2);
            let end = rest.iter().position(|word| is_in!("is was", word)).unwrap_or(rest.len());
            let end = end.min(rest.count_until(rest.text.find(": ").unwrap_or(rest.text.len())));
            end < rest.len()
                && thing::is_thing(&rest[..end])
                && !rest[..end].iter().any(|word| is_in!(TROUBLE, word))
                && !words.iter().any(|word| is_in!("unclear unknown don't not", word))
        },
    )
}

/// `A queue is used instead of a timer`.
fn is_used_instead(words: Wording<'_>, cues: CueSet) -> bool {
    cues.has(Cue::Contrast)
        && words.windows(2).any(|pair| {
            // `There is now a queue instead of a timer`
            is_in!("is you'll you", &pair[0]) && is_in!("now find get have", &pair[1])
                || is_in!("is are was were", &pair[0])
                    && is_in!("used kept stored handled done built preferred implemented", &pair[1])
        })
        && words.windows(2).any(|pair| is_in!("instead rather", &pair[0]) && is_in!("of than", &pair[1]))
        && !is_past(&words)
}

/// `Following your answer, I configured a queue`, `at your request: a queue`.
fn is_yours(words: Wording<'_>) -> bool {
    const SAID: &str = "\
        answer decision choice feedback confirmation preference request input instruction instructions reply \
        approval suggestion advice guidance wish wishes message comment remark review ok go-ahead recommendation \
        ruling";
    let your = words.iter().take(6).position(|word| is_in!("your", word));
    your.is_some_and(|at| {
        at > 0 && is_in!("following per given after with on at to based considering under", &words[0])
            || at > 0 && is_in!("in by thanks as", &words[0]) && at > 1
    }) && your.is_some_and(|at| words[at + 1..].iter().take(2).any(|word| is_in!(SAID, word)))
        && (words.iter().skip(3).any(|word| {
            word.is(PAST) && word.is(FIRM | WEAK)
                || word.is(SHAPES)
                || is_in!("configured implemented built set made wrote", word)
        }) || words.split_once(": ").is_some_and(|(_, rest)| thing::is_named(rest))
            || words.split_once(", ").is_some_and(|(_, rest)| thing::is_named(rest)))
}

/// `I'll do a queue then`, `… and do a queue instead`.
fn does_then(words: Wording<'_>) -> bool {
    words.last().is_some_and(|word| is_in!("then instead", word))
        && words.iter().any(|word| is_in!("i'll i'm we'll we're i we", word))
        && words
            .iter()
            .rposition(|word| is_in!("do doing have build building make making use using", word))
            .is_some_and(|at| thing::is_named(words.skip(at + 1)))
}

/// `A queue outperformed the rest, so it's in`.
fn beats(words: &[Word<'_>]) -> bool {
    words.iter().skip(2).position(|word| is_in!(BEATS, word)).is_some_and(|at| {
        words[at + 2..].iter().any(|word| is_in!("so therefore hence thus consequently", word))
            || words.get(at + 3).is_some_and(|word| word == "out")
    })
}

/// `A queue was the deal`, `it is our policy to have a queue`.
fn is_deal(words: &[Word<'_>]) -> bool {
    const DEALS: &str =
        "deal agreement plan rule policy choice decision convention arrangement standard practice principle";
    let is_ours = || {
        words.windows(3).any(|part| {
            is_in!("our my the", &part[0])
                && is_in!("policy rule convention practice principle standard intention", &part[1])
                && is_in!("to that", &part[2])
        })
    };
    let ends = matches!(words, [_, _, .., is, the, deal]
        if is_in!("was is are were", is) && is_in!("the our", the) && is_in!(DEALS, deal));
    ends && !is_in!("what which that this", &words[0])
        || words.iter().take(3).any(|word| is_in!("it's it is", word)) && is_ours()
}

/// `I'm for a queue`, `count me in for a queue`, `we can only afford a queue`.
fn is_backed(words: Wording<'_>) -> bool {
    let mut parts = words.windows(3).enumerate().filter(|(_, part)| is_in!("i'm we're me us i we", &part[0]));
    parts.any(|(at, part)| {
        is_in!("i'm we're", &part[0]) && part[1] == "for" && thing::is_named(words.skip(at + 2))
            || is_in!("me us", &part[0]) && part[1] == "in" && part[2] == "for"
            || is_in!("i we", &part[0]) && is_in!("can may", &part[1]) && is_in!("only just", &part[2])
    })
}
