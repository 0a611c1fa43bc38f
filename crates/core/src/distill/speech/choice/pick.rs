//! Picks in chat: what the user wants is named, with a word before or behind it that makes it a choice and hardly a verb.
//!
//! `ok, a queue then`, `no, the second one`, `not that. a plain file`, `make it a trie`.

use super::lexicon::{PERCEIVES, SPEAKER, TELLS, THIRD, UNSETTLED};
use super::marks::Marks;
use super::sayings::Saying;
use super::vocabulary::{NO_WORD, Word, is_in};
use super::wording::{Wording, spelt};
use super::{marks, needs, questions, request, thing};

/// What stands before a pick and makes it one.
const LEADS: &str = "\
    k kk ok okay fine no nope nah yes yeah yep yup sure alright actually rather better definitely then so well \
    right just please pls simply agreed exactly of course certainly absolutely let's obviously clearly naturally \
    hence therefore thus finally sold deal understood noted roger ack convinced acknowledged";

/// What stands behind one.
const TAILS: &str = "here then instead please pls thanks thx everywhere only again though";

/// Words of sentences that tell, ask or thank: a pick has none.
const TELLING: &str = "\
    is are was were be been am isn't aren't has have had hasn't haven't do does did don't doesn't didn't will \
    would can can't could should must may might won't i i'm i'll i've i'd you you're you've we we're we'll we've \
    they they're he she it it's its that's this that these those there there's here here's what what's why how \
    when where who which fails failed fail crashes crashed works worked look looks seems sounds takes took got get \
    gets goes went see saw think know mean means says said need needs want wants makes made run runs ran thanks \
    thank thx cheers sorry idea ideas problem problems worries luck way rush hurry doubt matter clue thing things \
    stuff wait moment minute minutes back hello hi hey morning work enough sense time news your passes pass \
    matches match results hits occurrences evidence references usages";

/// What a pick does not begin with.
const OPENINGS: &str = "\
    but and or if because since until unless after before while with without not as for to from by in on at go do \
    try never always too very so also great good nice cool perfect awesome wonderful interesting weird funny \
    discuss talk think look see wait sleep leave take come give show tell list find explain compare describe check \
    test run open print search remind update commit push merge rebase deploy restart rerun install read write \
    draft summarise summarize review fix ping ask measure evaluate investigate try hold stop continue start begin \
    send put call move";

/// What reports trouble, or passes the time.
const TROUBLE: &str = "\
    error errors failure bug crash warning timeout wrong weird slow broken red missing flaky same another tomorrow \
    later today yesterday lunch meeting coffee day week still mention mentions complains line lines question \
    screenshot log";

/// What asks, doubts or cries out.
const QUESTIONS: &str = "\
    what why how who when where which if whether but hmm ugh wow btw maybe later not never can't don't didn't \
    isn't doesn't won't is are was were fails works";

/// What concedes or sums up before something is picked.
const CONCEDES: &str = "\
    win wins won point enough between two three both fair true convinced argument lol settled go ahead done agree \
    agreed sold recommendation suggestion proposal sounds good sense clarifying confirming request advice be got";

/// Orders that name what is to be taken: `make it a trie`.
const MAKE: &str =
    "make it|make that|make this|do it with|do this with|do that with|do it as|do it via|do it in|do it through";

/// Who is said to want it, at the beginning of a sentence.
pub(in crate::distill) const SAYERS: &str = "\
    marketing ceo sales guideline guidelines policy contract sla law gdpr charter boss manager customer client \
    team lead legal ops security product management architect cto";

/// Whether a short message of the user picks something by naming it.
pub(in crate::distill) fn names(words: Wording<'_>) -> bool {
    if words.len() > 60 || words.text.ends_with('?') {
        return false;
    }
    // Its full stops end nothing.
    if marks::find(words.text, "i.e.", 1).is_some() {
        spelt(&words.text.replace("i.e.", ""), is_picked)
    } else {
        is_picked(words)
    }
}

fn is_picked(words: Wording<'_>) -> bool {
    wants(&words)
        || made(words)
        || rejects(&words)
        || is_relayed(words)
        || is_ruled(&words)
        || is_accepted(words)
        || is_one_of(&words)
        || is_reasoned(words)
        || bare(words, true)
}

/// `The spec mandates a plain file`, said by a user of what is to be done.
fn is_ruled(words: &[Word<'_>]) -> bool {
    words.windows(2).take(4).any(|pair| {
        is_in!("spec regulation regulations audit auditors law contract standard policy insurance gdpr", &pair[0])
            && is_in!("says wants demands requires require mandates mandate prescribes dictates want demand", &pair[1])
    })
}

/// `A queue because it is there`, `a queue - it is there`: but the name of a thing, and why.
fn is_reasoned(words: Wording<'_>) -> bool {
    let lead = words.iter().take_while(|word| is_in!(LEADS, word)).count();
    let named = words.skip(lead);
    let is_because = || {
        let next = thing::begins(named).and_then(|count| named.get(count));
        next.is_some_and(|word| is_in!("because since bc cuz given", word))
    };
    let is_dashed = || {
        [" - ", " // "].into_iter().filter_map(|mark| marks::find(named.text, mark, 1)).any(|at| {
            let before = named.until(at);
            before.len() >= 3 && thing::is_named(before) && thing::is_thing(&before)
        })
    };
    thing::is_named(named) && is_because() || is_dashed()
}

/// Whether a part of what a user says, behind a full stop, picks: `fair, but it is slow. a plain file in the cache`.
pub(in crate::distill) fn is_piece(piece: Wording<'_>, whole: Wording<'_>) -> bool {
    let is_asked = piece.text.ends_with('?');
    !is_asked && (wants(&piece) || made(piece) || is_alone(piece) && !whole.iter().any(|word| is_in!(TROUBLE, word)))
}

/// Whether an agent, who agrees or thanks first, names what it takes: `fair point. a plain file, then`.
pub(in crate::distill) fn is_taken(piece: Wording<'_>, whole: Wording<'_>) -> bool {
    const AGREES: &str = "\
        understood agreed right thanks fair ok okay noted confirmed accepted status makes good great got sure yes \
        alright clear acknowledged perfect true sounds convinced decided settled neither none you're";
    whole.first().is_some_and(|word| is_in!(AGREES, word)) && !piece.text.ends_with('?') && is_alone(piece)
}

/// Whether it is but the name of a thing.
fn is_alone(piece: Wording<'_>) -> bool {
    let lead = piece.iter().take_while(|word| is_in!(LEADS, word)).count();
    let named = piece.skip(lead);
    named.len() >= 3
        && !is_in!(OPENINGS, &named[0])
        && !named.iter().any(|word| is_in!(TELLING, word))
        && thing::begins(named).is_some_and(|count| {
            let rest = &named[count..];
            let is_clause =
                Marks::and_dashes(*b",;(").first(named.text).is_some_and(|at| named.count_until(at) == count);
            (count >= 4 || is_in!("a an the", &named[0])) && (is_clause || rest.iter().all(|word| is_in!(TAILS, word)))
                || count >= 3 && rest.first().is_some_and(|word| is_in!("because since as given", word))
        })
}

/// `Yeah, the second one`, said by whom it may be.
pub(in crate::distill) fn answers(words: Wording<'_>) -> bool {
    let is_led =
        words.first().is_some_and(|word| is_in!("ok okay no nope nah yes yeah yep yup sure fine alright", word));
    is_led && words.len() <= 60 && (rejects(&words) || is_one_of(&words))
}

/// What an agent agrees with before it names what it takes.
pub(in crate::distill) const AGREEING: &str = "\
    ok okay no nope nah yes yeah yep fine agreed then make lol between fair so for let's got right understood \
    noted alright sure roger acknowledged perfect great sounds thanks makes k";

/// `Agreed, a queue`, `then a queue, because …`: a pick that is led to, said by whom it may be.
pub(in crate::distill) fn takes(words: Wording<'_>) -> bool {
    if !words.has(needs::LEADS) {
        return false;
    }
    let is_led = words.first().is_some_and(|word| is_in!(AGREEING, word));
    let is_then = || words.text.split([',', '.']).next().is_some_and(|first| first.ends_with(" then"));
    (is_led || is_then()) && words.len() <= 60 && (made(words) || bare(words, false))
}

/// `I want a queue`.
fn wants(words: &[Word<'_>]) -> bool {
    let mut rest = words.iter().skip_while(|word| is_in!(LEADS, word));
    if words.first().is_some_and(|word| is_in!("yes no", word)) && words.get(1).is_some_and(|word| word == "to") {
        return words.len() >= 4;
    }
    rest.next().is_some_and(|word| matches!(word.as_str(), "i" | "we"))
        && rest.next().is_some_and(|word| is_in!("want say need", word))
        && rest.next().is_some_and(|word| !is_in!("to you it this that them your more some", word))
}

/// `Make it a trie`.
fn made(words: Wording<'_>) -> bool {
    let lead = words.iter().take_while(|word| is_in!(LEADS, word)).count();
    shapes(words.skip(lead))
        || words.get(lead).is_some_and(|word| is_in!("make do", word)) && {
            let said = words.skip(lead).said();
            MAKE.split('|').any(|make| said.strip_prefix(make).is_some_and(|rest| is_noun(rest.trim_start())))
        }
}

/// `Change it to a trie`, `build that on a trie`.
fn shapes(words: Wording<'_>) -> bool {
    const VERBS: &str = "\
        change turn build base implement write solve set convert switch model design structure wire rework rewrite \
        handle store";
    words.len() >= 5 && is_in!(VERBS, &words[0]) && is_in!("it this that", &words[1]) && {
        let up = usize::from(words[2] == "up");
        is_in!("to into on with as via using around", &words[2 + up]) && thing::is_named(words.skip(3 + up))
    }
}

fn is_noun(rest: &str) -> bool {
    let first = rest.split(' ').next().unwrap_or_default();
    is_in!("a an the one two three plain", &Word::of(first)) || rest.split(' ').count() >= 3
}

/// `Not that one. A plain file.`
fn rejects(words: &[Word<'_>]) -> bool {
    let rest = &words[words.iter().take_while(|word| is_in!(LEADS, word)).count()..];
    rest.len() >= 5 && rest[0] == "not" && is_in!("that this those these the", &rest[1])
}

/// `Boss says a plain file`.
pub(in crate::distill) fn is_relayed(words: Wording<'_>) -> bool {
    const WANT: &str = "\
        says wants said wanted demands prefers requires mandates promised announced guaranteed prescribes dictates";
    words.has(needs::SAYER)
        && words.iter().take(3).any(|word| word.is(needs::SAYER))
        && words.iter().take(5).any(|word| is_in!(WANT, word))
}

/// What accepts.
pub(in crate::distill) const ACCEPTED: &str = "\
    is fine by me|is fine with me|works for me|is ok with me|is okay with me|is good enough for|\
    is fine for|i'm fine with|we're fine with|i'm happy with|we're happy with|i'm ok with|i'm okay with|\
    i'm good with|was happy with|were happy with|was fine with|were fine with|sounds good do|is good do";

/// `A queue is fine by me`, `a queue works for me`.
fn is_accepted(words: Wording<'_>) -> bool {
    let is_denied = || words.iter().any(|word| is_in!("not isn't don't doesn't never if", word));
    let likes = || {
        words.windows(2).any(|pair| pair[0] == "i" && pair[1] == "like")
            && words.iter().any(|word| is_in!("better more best most", word))
    };
    words.len() >= 5 && (words.says(Saying::Accepted) || words.has(SPEAKER) && likes()) && !is_denied()
}

/// `Yeah the second one, a queue`, `option 2 please`, `b, the queue`.
fn is_one_of(words: &[Word<'_>]) -> bool {
    let lead = words.iter().take_while(|word| is_in!(LEADS, word) || **word == "the").count();
    match &words[lead..] {
        [which, one, next, ..]
            if is_in!("first second third fourth last latter former other", which)
                && is_in!("one option variant", one) =>
        {
            !is_in!(TELLING, next)
        }
        [which, next, ..] if is_in!("latter former", which) => !is_in!(TELLING, next),
        [which, next, _, ..] if is_in!("b c d 1 2 3 4", which) => !is_in!(TELLING, next),
        [option, which, next, ..] if is_in!("option variant approach alternative number plan", option) => {
            which.len() <= 2 && !is_in!(TELLING, next)
        }
        _ => false,
    }
}

/// `OK, a queue then`: nothing but what is picked, and what makes it a pick.
fn bare(sentence: Wording<'_>, is_user: bool) -> bool {
    let is_for_now = |text: &str| text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("for now "));
    let mut is_led = false;
    for clause in sentence.clauses(Marks::and_dashes(*b",.;:(!")) {
        let clause = clause.from(clause.text.len() - clause.text.trim_start().len());
        let words = if is_for_now(clause.text) { clause.from(8) } else { clause };
        is_led |= is_for_now(sentence.text);
        let from = words.iter().take_while(|word| is_in!(LEADS, word)).count();
        is_led |= from > 0;
        if from == words.len() {
            continue;
        }
        // `You win`, `between the two`: what leads to a pick is short.
        let is_aside = words.len() <= 5 && words.iter().any(|word| is_in!(CONCEDES, word));
        if is_aside {
            is_led = true;
            continue;
        }
        // `As I said, …`, `I've heard enough. …`
        let is_prelude = is_user
            && words.len() <= 6
            && words.text.len() + 3 < sentence.text.len()
            && (is_in!("as for without against beyond no", &words[0])
                || words.iter().any(|word| word.is(TELLS) && !is_in!("please thanks thx let let's", word)))
            && !words
                .iter()
                .any(|word| is_in!(TROUBLE, word) || word.is(UNSETTLED | PERCEIVES) || is_in!(QUESTIONS, word));
        // `Ok boss, …`
        let is_address = is_user && from > 0 && words.len() == from + 1 && words.text.len() + 3 < sentence.text.len();
        if is_prelude || is_address {
            is_led = true;
            continue;
        }
        let until = words.iter().rposition(|word| !is_in!(TAILS, word)).map_or(words.len(), |last| last + 1);
        let is_tailed = words[until..].iter().any(|word| is_in!("then instead", word));
        let named = &words[from..until.max(from)];
        let is_whole = named.len() >= 3 || named.first().is_some_and(|word| is_in!("a an the", word));
        // A user who names a thing and says nothing of it has picked it.
        // Without an article or a word more it may be anything.
        let is_set = named.first().is_some_and(|word| is_in!("a an the no one", word))
            || words.text.len() + 3 < sentence.text.len();
        let is_plain = is_user && is_set && named.len() >= 4 && !named.iter().any(|word| is_in!(TROUBLE, word));
        return (is_led || is_tailed || is_plain || is_explained(sentence))
            && (2..=14).contains(&named.len())
            && is_whole
            && !named.iter().any(|word| is_in!(TELLING, word) || word.is(TELLS | THIRD))
            && (is_user || named.len() >= 4 || is_in!("a an the", &named[0]))
            && !thing::tells(named)
            && !named.first().is_some_and(|word| is_in!(OPENINGS, word) || word.ends_with("ing"))
            && !sentence.text.starts_with('(')
            && !questions::is_order(words.text)
            && !request::is_order(words);
    }
    false
}

/// `A queue, because it is there.`
fn is_explained(sentence: Wording<'_>) -> bool {
    (1..sentence.len()).any(|at| {
        let is_behind = |mark: char| sentence.text[..sentence.begins(at)].trim_end().ends_with(mark);
        let next = || sentence.get(at + 1).unwrap_or(&NO_WORD);
        is_in!("because since given as it", &sentence[at])
            && match sentence[at].as_str() {
                "because" => true,
                "since" | "given" => is_behind(','),
                "as" => is_behind(',') && is_in!("it the", next()),
                _ => is_behind(';'),
            }
    })
}

#[cfg(test)]
mod tests {
    use super::is_explained;
    use crate::distill::wording::spelt;

    #[test]
    fn what_is_picked_is_explained_by_what_stands_behind_it() {
        for text in ["a queue because of that", "a queue, since we", "a queue, as it is", "a queue; it is there"] {
            assert!(spelt(text, is_explained), "{text}");
        }
        for text in ["a queue since we", "a queue, as we", "a queue it is"] {
            assert!(!spelt(text, is_explained), "{text}");
        }
    }
}
