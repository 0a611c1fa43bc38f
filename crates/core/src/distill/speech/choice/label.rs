//! A lead and, behind a colon or an arrow, what is chosen by its name: `replacement: a queue`, `as I keep saying: a queue`.

use super::letters;
use super::lexicon::{LABEL, TELLS, UNSETTLED};
use super::vocabulary::{NO_WORD, Word, is_in};
use super::wording::Wording;
use super::{marks, request, thing};

/// The longest lead, in words.
const LONGEST: usize = 13;

/// What makes a lead one of something that is open, later, wrong or another's.
const OPEN: &str = "\
    options option ideas idea alternatives alternative candidates candidate possible potential proposed suggested \
    suggestion future later someday hypothesis finding findings current existing old previous rough risk risks \
    caveat warning if maybe steps step remaining pros cons drawback drawbacks difference ways evaluate compare \
    investigate check file files line function class method symptom reason because why assuming suppose open tbd \
    tbc brainstorming could might would should ask asked wonder thinking fyi nice-to-have wish wishlist backlog";

/// What a user writes before something else than a choice.
const SHOWS: &str = "\
    see look looks here attached screenshot paste pasted trace backtrace stacktrace command result results link \
    url title subject error errors log logs output get gets got says said prints shows found fire blocker urgent \
    today task topic job goal story ticket status background context example e.g todo done explain describe show \
    tell list give find review test tests summary about called named looking contains input http https ps nb cc \
    related also cf ref refs version os expected actual observed reproduce";

/// What stands between a lead and what it leads to, the first of them in a text.
fn mark_in(text: &str) -> Option<(usize, &'static str)> {
    const MARKS: [&str; 6] = [" = ", " => ", " -> ", " → ", " — ", " – "];
    let bytes = text.as_bytes();
    let is_mark = |at: usize| match bytes[at] {
        b':' => bytes[at..].starts_with(b": ").then_some(": "),
        _ => MARKS.into_iter().find(|mark| bytes[at..].starts_with(mark.as_bytes())),
    };
    // All but the first have a space before what they are known by.
    letters::places(bytes, letters::one_of([b':', b'=', b'-', 0xe2])).find_map(|at| {
        let at = if bytes[at] == b':' { at } else { at.checked_sub(1)? };
        is_mark(at).map(|mark| (at, mark))
    })
}

/// Whether a lead settles what is named behind it.
pub(in crate::distill) fn leads(words: Wording<'_>, is_user: bool) -> bool {
    let text = words.text;
    if text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("tl;dr")) {
        return is_chosen(words.skip(2), is_user);
    }
    if memchr::memchr3(b':', b'>', 0xe2, text.as_bytes()).is_none()
        && !(is_user && marks::find(text, " = ", 1).is_some())
    {
        return false;
    }
    let Some((at, mark)) = mark_in(text) else { return false };
    // The lead is what stands last before the mark: `fair enough. the rule here: …`.
    let begin = text[..at].rfind(". ").map_or(0, |begin| begin + 2);
    let lead = words.until(at).from(begin);
    let rest = words.from(at + mark.len());
    (1..=LONGEST).contains(&lead.len())
        && !lead.text.contains('?')
        && (is_lead(lead, mark.len() <= 2 || mark == " = ", is_user) || is_arrow(mark) && follows(&lead))
        && is_chosen(rest, is_user)
}

fn is_arrow(mark: &str) -> bool {
    mark.contains(['→', '>'])
}

/// `It is slow → a queue`: a clause that tells, and what follows from it.
fn follows(lead: &[Word<'_>]) -> bool {
    lead.len() >= 3
        && lead.iter().any(|word| word.is(TELLS))
        && !lead.iter().any(|word| word.is(UNSETTLED) || is_in!("if when would could might calls goes flow", word))
}

fn is_lead(lead: Wording<'_>, is_colon: bool, is_user: bool) -> bool {
    let first = lead.first().unwrap_or(&NO_WORD);
    // `To answer your second question: …`
    let answers = lead.iter().any(|word| is_in!("answer answers answered answering reply", word))
        || is_user && *first == "to" && lead.iter().any(|word| is_in!("question questions", word));
    if answers {
        return !is_in!("no not still what", first) && !lead.iter().any(|word| is_in!("if possible no pending", word));
    }
    // `The result is clear: …`
    let is_clear =
        lead.iter().any(|word| is_in!("conclusive unambiguous decisive clear clear-cut evident convincing", word));
    if is_clear && !lead.iter().any(|word| is_in!("not isn't less more make if", word)) {
        return true;
    }
    // `The least bad option: …` is one of several no more.
    let is_best = lead.iter().any(|word| is_in!("simplest cheapest safest cleanest least smallest sanest best", word));
    if is_best && !lead.iter().any(|word| word.is(UNSETTLED) || is_in!("if would might", word)) {
        return true;
    }
    let is_open = lead.iter().any(|word| word.is(UNSETTLED) || is_in!(OPEN, word));
    if is_open {
        return false;
    }
    let is_label = lead.iter().any(|word| word.is(LABEL)) || is_replacement(&lead);
    // A user who names a thing behind whichever lead has chosen it, unless the lead shows something.
    let is_told = || {
        is_user
            && is_colon
            && !lead.text.contains(['`', '/', '_', '[', '<', '*'])
            && !first.starts_with(|c: char| c.is_ascii_digit())
            && !lead.iter().any(|word| is_in!(SHOWS, word))
    };
    let is_alone = lead.len() == 1 && is_in!("now instead place", first);
    is_label && (lead.len() >= 2 || is_alone || first.is(LABEL)) && !is_in!("what which how why when", first)
        || is_told() && !is_in!("what which how why when who where", first)
        || !is_user && is_changed(&lead)
        || !is_user && is_colon && lead.len() <= 5 && is_done(&lead)
}

/// `New way: …`, `our new setup: …`.
fn is_replacement(lead: &[Word<'_>]) -> bool {
    lead.windows(2).any(|pair| {
        is_in!("new final revised chosen resulting agreed", &pair[0])
            && is_in!("way approach setup design rule arrangement scheme structure layout model default flow", &pair[1])
    })
}

/// `Updated the plan: …`, `will do: …`.
fn is_done(lead: &[Word<'_>]) -> bool {
    let is_plan = || lead.iter().any(|word| is_in!("plan design spec adr decision scope contract architecture", word));
    lead.first().is_some_and(|word| is_in!("updated amended revised adjusted changed corrected", word)) && is_plan()
        || matches!(lead, [will, do_] if *will == "will" && *do_ == "do")
}

/// `What changed: a queue throughout`.
fn is_changed(lead: &[Word<'_>]) -> bool {
    matches!(lead, [what, how] if *what == "what" && is_in!("changed changes stays remains", how))
        || matches!(lead, [what, who, did, ..] if *what == "what"
            && is_in!("i we", who)
            && is_in!("did chose used built picked took settled went kept", did))
}

/// Whether what stands behind the mark names a thing and says no more of it in its clause.
fn is_chosen(rest: Wording<'_>, is_user: bool) -> bool {
    let quoted = rest.text.len() - rest.text.trim_start_matches(['"', '“', '`', '~']).len();
    let rest = rest.from(quoted);
    let Some(count) = thing::begins(rest) else { return false };
    let is_enough = count >= 3 || count == 2 && is_in!("a an the", &rest[0]);
    // `Linux: add the header` is work.
    let is_work = request::is_goal(&rest[0]) || is_in!("correct increase rename enables support supports", &rest[0]);
    is_enough
        && !is_work
        && !rest.text.contains("://")
        && (is_user || thing::is_named(rest))
        && !rest.text.ends_with('?')
}
