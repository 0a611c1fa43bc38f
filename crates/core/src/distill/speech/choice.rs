//! How a choice is built as a sentence: who commits to what, what is judged the better, what is picked or ruled.
//!
//! Phrases alone miss most of how people say it. Here the parts of a sentence are looked at: a speaker and a verb of
//! choosing, a judgement and its noun, a passive, an order with what it replaces.

pub(in crate::distill) mod act;
mod hearsay;
mod label;
mod particle;
pub(in crate::distill) mod pick;
pub(in crate::distill) mod state;
pub(in crate::distill) mod swap;
mod thing;
pub(in crate::distill) mod verdict;

use super::cues::{Cue, CueSet};
use super::marks::{Mark, Marks};
use super::sayings::Saying;
use super::vocabulary::{List, NO_WORD, Word, is_in, list};
use super::wording::{Wording, spelt};
use super::{
    Voice, cues, decisions, letters, lexicon, marks, needs, prose, questions, request, sayings, vocabulary, wording,
};

/// How many words a choice may have, and how many bytes.
pub(in crate::distill) const LONGEST: usize = 90;
const LONGEST_TEXT: usize = 800;

/// Verbs by which something is chosen or kept, in the form behind `will` or `let's`.
const VERBS: &str = "\
    use keep have take adopt pick choose store put leave drop skip avoid go stick stay standardise standardize \
    prefer favour favor want rely build base run treat name call cap limit defer postpone hold write model \
    represent support target default switch move opt settle select retain reuse pin ship accept allow require \
    enforce assume serve expose encode cache split embed delegate ban forbid reject exclude include vote proceed";

/// Verbs that are a choice whoever says them, without a reason.
const FIRM: &str = "\
    standardise standardize prefer favour favor adopt choose pick opt settle stick retain default go vote take \
    took doing going sticking staying keeping adopting choosing picking taking";

/// Verbs with which an order chooses how, and not what, is done.
const ORDERS: &str = "\
    use keep stick prefer leave skip drop avoid stay pick choose take adopt defer name call treat favour favor store \
    reuse retain pin default reject assume presume";

/// Words that may stand between a speaker and the verb.
const BETWEEN: &str = "\
    will would shall should must are am is going to 'll just only simply therefore now then still always never not \
    also instead really strongly definitely clearly rather hence thus do both all finally deliberately explicitly \
    consistently hereby so";

/// Words that may stand before an order.
const BEFORE: &str = "\
    please just ok okay and then so actually yes no but also right well fine sure hmm hm alright agreed good instead \
    therefore always simply let's lets";

/// What is good about the better one.
pub(in crate::distill) const GOOD: &str = "\
    right best better correct proper sane sensible safer safest simpler simplest cleaner cleanest obvious final \
    preferred preferable chosen agreed wiser smarter cheapest cheaper clear stronger strongest reasonable \
    pragmatic honest robust lighter natural idiomatic leaner superior cleanest sturdier sounder saner winning \
    ideal optimal";

/// What the better one is.
pub(in crate::distill) const KINDS: &str = "\
    call choice answer option pick decision fit trade-off tradeoff approach tool solution bet direction compromise \
    candidate default way route design alternative variant strategy winner fix remedy path move setup";

/// Nouns that name what was settled.
pub(in crate::distill) const SETTLED: &str = "\
    decision choice approach strategy convention rule policy verdict conclusion consensus agreement call pick \
    preference outcome resolution direction constraint requirement principle";

/// Participles of what was settled.
pub(in crate::distill) const CHOSEN: &str = "\
    chosen decided agreed settled selected preferred adopted rejected postponed deferred retained picked approved \
    standardised standardized favoured favored mandated forbidden banned excluded";

/// Participles that are a choice where they are said of what is to be.
pub(in crate::distill) const MADE: &str = "\
    kept used dropped replaced stored left done handled built written served based capped limited put named treated \
    avoided skipped pinned reused moved required allowed enforced";

/// How options are called.
pub(in crate::distill) const OPTIONS: &str = "\
    option variant approach alternative plan choice number version proposal candidate";

/// What makes more sense.
pub(in crate::distill) const SENSIBLE: &str = "\
    fits best|fit best|suits us best|suits best|is worth it|are worth it|takes over from|the only option that|\
    the only candidate that|the only approach that|the only variant that|the only solution that|\
    the only one that works|the only one that meets|the only one that fits|the only one that satisfies|\
    the only one that supports|the only one that handles|was better|were better|does the job|do the job|\
    is all we need|be all we need|is all that is needed|all that's needed|covers our needs|covers all our needs|\
    strikes the right balance|strikes a good balance|best of both worlds|felt right|feels right|nothing beats|\
    no need for more than|no point in anything|remains in place|remain in place|serves us well|fits the bill|\
    does the trick|meets our needs|ticks all the boxes|checks all the boxes|will serve as|will act as|\
    makes more sense|makes the most sense|make more sense|is better than|wins over|better off with|will do|\
    is better here|is better for|is better since|is better because|is the better|is preferable";

/// Whether a sentence is built as a choice of the one who speaks.
pub(in crate::distill) fn by(voice: Voice, sentence: Wording<'_>, cues: CueSet) -> bool {
    judged(voice, sentence, cues).has(Cue::Built)
}

/// The turns of phrase of a sentence, with what shows in how it is built.
pub(in crate::distill) fn judged(voice: Voice, sentence: Wording<'_>, cues: CueSet) -> CueSet {
    let told = if voice == Voice::User { without_tag(sentence) } else { sentence };
    // What is longer is no sentence, whatever it is.
    if sentence.len() > LONGEST || sentence.text.len() > LONGEST_TEXT || told.text.ends_with('?') {
        return cues;
    }
    let is_explained = cues.any(&[Cue::Reason, Cue::Contrast]) || is_explained(told);
    let cues = if is_explained { cues.with(Cue::Explains) } else { cues };
    let is_choice = match voice {
        Voice::User => orders(told) || by_user(told, cues) || pieces(told).any(|piece| pick::is_piece(piece, told)),
        _ => by_agent(told, cues),
    };
    if is_choice { cues.with(Cue::Built) } else { cues }
}

fn without_tag(sentence: Wording<'_>) -> Wording<'_> {
    let length = decisions::without_tag(sentence.text).len();
    if length < sentence.text.len() { sentence.until(length) } else { sentence }
}

/// What stands behind a full stop within a sentence: in chat many sentences begin in lower case.
fn pieces(sentence: Wording<'_>) -> impl Iterator<Item = Wording<'_>> {
    let text = sentence.text;
    let is_stop = move |at: &usize| text.as_bytes().get(at + 1) == Some(&b' ');
    let mut stops = memchr::memchr3_iter(b'.', b'!', b'?', text.as_bytes()).filter(is_stop).peekable();
    std::iter::from_fn(move || {
        let from = stops.next()? + 2;
        let end = stops.peek().map_or(text.len(), |stop| stop + 1);
        Some(sentence.until(end).from(from))
    })
}

/// Whether the agent made a choice by this sentence.
fn by_agent(words: Wording<'_>, cues: CueSet) -> bool {
    let explained = cues.has(Cue::Explains);
    let commits = commitment(words).filter(|_| !is_later(&words));
    commits.is_some_and(|verb| explained || is_in!(FIRM, verb))
        || judges(words)
        || is_what_we(words)
        || names_settled(&words) && (explained || words.len() <= 30)
        || picks_option(words)
        || passive(words, explained || cues.has(Cue::Decided) && words.text.contains("from now on"))
        || explained && (rules(&words) || order(&words).is_some() && contrasts(&words, cues))
        || (explained || words.first().is_some_and(|word| is_in!("agreed right understood true", word)))
            && makes_sense(words)
        || explained && (order(&words).is_some() || must_stay(words))
        || verdict::by_anyone(words, cues)
        || pick::answers(words)
        || pick::takes(words)
        || pick::is_relayed(words)
        || explained && cues.has(Cue::Decided)
        || cues.has(Cue::Contrast) && excludes(words)
        || act::settles(Voice::Agent, words, explained)
        || swap::settles(words, cues, false) && !hearsay::is_supposed(words)
        || pieces(words).any(|piece| pick::is_taken(piece, words))
}

/// Whether the user did.
fn by_user(words: Wording<'_>, cues: CueSet) -> bool {
    let explained = cues.has(Cue::Explains);
    commitment(words).is_some_and(|verb| (explained || is_in!(FIRM, verb)) && !is_later(&words))
        || judges(words)
        || is_what_we(words)
        || names_settled(&words)
        || picks_option(words)
        || passive(words, true)
        || makes_sense(words)
        || verdict::by_anyone(words, cues)
        || excludes(words)
        || pick::names(words)
        || act::settles(Voice::User, words, explained)
        || swap::settles(words, cues, true) && !hearsay::is_supposed(words)
}

/// `Use tabs`, `please keep the old names`: how things are to be done, not what is to be done.
pub(in crate::distill) fn orders(sentence: Wording<'_>) -> bool {
    sentence.clauses(Marks::and_dashes(*b",;:")).any(|clause| order(&clause[..clause.len().min(8)]).is_some())
}

/// The verb of an order.
fn order<'w, 'a>(words: &'w [Word<'a>]) -> Option<&'w Word<'a>> {
    let at = words.iter().position(|word| !is_in!(BEFORE, word))?;
    let verb = &words[at];
    (is_in!(ORDERS, verb) && !is_idle(verb, &words[at + 1..])).then_some(verb)
}

/// `We will just keep …`, `let us standardise on …`, `I strongly prefer …`: the verb.
fn commitment(words: Wording<'_>) -> Option<&Word<'_>> {
    if !words.has(needs::COMMITS) {
        return None;
    }
    let words = words.all();
    let begins = |index: usize| match words[index].as_str() {
        "let" if words.get(index + 1).is_some_and(|word| word == "us") => Some(index + 2),
        "we" | "i" | "we'll" | "i'll" | "we're" | "i'm" | "let's" | "lets" => Some(index + 1),
        _ => None,
    };
    // What is said late in a sentence is said about something else.
    (0..words.len().min(14)).find_map(|index| {
        let from = begins(index)?;
        let rest = words.get(from..)?;
        // `We have to use …`.
        let must = rest.windows(2).take(3).any(|pair| is_in!("have need", &pair[0]) && pair[1] == "to");
        let is_between = |word: &Word<'_>| is_in!(BETWEEN, word) || must && is_in!("have need", word);
        let at = rest.iter().take(6).position(|word| !is_between(word))?;
        // `we have` and `I use` tell how things are; `we will have` and `let's use` how they shall be.
        let shall = must
            || matches!(words[index].as_str(), "we'll" | "i'll" | "let's" | "lets" | "let")
            || rest[..at].iter().any(|word| matches!(word.as_str(), "will" | "shall" | "going" | "should" | "must"));
        let verb = &rest[at];
        let is_choice = is_in!(VERBS, verb)
            && (shall || is_in!("prefer favour favor stick choose pick take vote", verb))
            || *verb == "took"
            || *verb == "doing" && rest[..at].iter().chain([&words[index]]).any(|word| is_in!("are we're", word));
        let is_going = is_participle(verb)
            && (words[index].contains('\'') || rest[..at].iter().any(|word| is_in!("are am", word)));
        ((is_choice || is_going) && !is_idle(verb, &rest[at + 1..])).then_some(verb)
    })
}

/// `When we pick this up …`: not yet, and not how.
fn is_later(words: &[Word<'_>]) -> bool {
    words.first().is_some_and(|word| is_in!("when once whenever until if", word))
}

/// `keeping`, `using`, of a verb of choosing.
fn is_participle(verb: &str) -> bool {
    let Some(stem) = verb.strip_suffix("ing") else { return false };
    let known = |verb: &str| VERBS.split(' ').any(|known| known.strip_suffix('e').unwrap_or(known) == verb);
    // `opting`, `dropping`.
    let undoubled = stem.char_indices().next_back().filter(|(at, last)| *at > 2 && stem[..*at].ends_with(*last));
    known(stem) || undoubled.is_some_and(|(at, _)| known(&stem[..at]))
}

/// `I'll go through the code`, `let's have a look`: said while working.
fn is_idle(verb: &Word<'_>, rest: &[Word<'_>]) -> bool {
    let next = rest.first().unwrap_or(&NO_WORD);
    let has = |words: List| rest.iter().take(3).any(|word| words.has(word));
    match verb.as_str() {
        "go" | "going" => !is_in!("with for without", next),
        "took" if is_in!("a an some", next) => true,
        "have" | "take" | "took" | "keep" | "want" | "taking" => {
            is_in!("over on to you", next)
                || has(list!(
                    "look to you going looking eye working note notes care glance closer peek stock time while longer break"
                ))
        }
        "doing" | "do" => {
            next.is_empty() || is_in!("this that it so well fine what in on at", next) || has(list!("same"))
        }
        "proceed" => *next != "with",
        "pick" | "picking" => has(list!("up")),
        "run" | "write" | "build" | "move" => !has(list!("only never")),
        // `Use grep to find …`
        "use" => rest.windows(2).take(6).any(|pair| {
            pair[0] == "to"
                && is_in!("find list check see count search show look debug inspect measure profile trace", &pair[1])
        }),
        _ => false,
    }
}

/// `X is the right call`, `the best option is X`.
fn judges(words: Wording<'_>) -> bool {
    if !words.has(needs::GOOD) || !words.has(needs::KIND) {
        return false;
    }
    let is_denied = |from: usize| {
        words[from.saturating_sub(4)..from]
            .iter()
            .any(|word| matches!(word.as_str(), "not" | "isn't" | "what" | "which" | "whether" | "no"))
            || words[..from].iter().any(|word| is_in!("if whether", word))
    };
    words.windows(2).enumerate().any(|(at, pair)| {
        pair[0].is(needs::GOOD) && pair[1].is(needs::KIND) && !is_denied(at) && {
            let before = at.checked_sub(2).map(|at| words[at].as_str());
            let is_said = |word: &str| {
                matches!(
                    word,
                    "is" | "are" | "was" | "were" | "as" | "seems" | "remains" | "that's" | "it's" | "seemed" | "felt"
                )
            };
            // `seemed the more honest fix`
            let is_more = at >= 3 && words[at - 1] == "more" && is_said(&words[at - 3]);
            is_more
                || before.is_some_and(is_said)
                || at.checked_sub(1).is_some_and(|at| is_said(&words[at]))
                || words[at + 2..].iter().take(4).any(|word| word == "is" || word == "was")
        }
    })
}

/// `X is what we keep`.
fn is_what_we(words: Wording<'_>) -> bool {
    words.has(needs::WHAT)
        && words.windows(4).any(|part| {
            matches!(part[0].as_str(), "is" | "are" | "that's" | "was")
                && part[1] == "what"
                && matches!(part[2].as_str(), "we" | "i" | "we'll" | "i'll")
                && !is_in!("see found saw mean expect think know found got get heard read wonder was suspect", &part[3])
                || matches!(part[0].as_str(), "is" | "are" | "that's" | "was")
                    && part[1] == "what"
                    && is_in!("we're i'm they we'll i'll", &part[2])
                    && (is_participle(&part[3]) || is_in!("building shipping doing get going", &part[3]))
        })
}

/// `The rule is …`, `our approach: …`.
fn names_settled(words: &[Word<'_>]) -> bool {
    let start = words.iter().take(6).position(|word| word.is(needs::NAMED));
    start.is_some_and(|at| {
        let owned = at > 0
            && words[..at]
                .iter()
                .all(|word| is_in!("the our my so and a final design here then ok okay yes main key team's", word));
        let next = words.get(at + 1).map(Word::as_str);
        owned && matches!(next, Some("is" | "was" | "stays" | "remains" | "here"))
    })
}

/// `Option B, please`, `the second one it is`, `Postgres it is`.
fn picks_option(words: Wording<'_>) -> bool {
    if !words.has(needs::OPTION) {
        return false;
    }
    let said = |from: usize| {
        let rest: Vec<&str> = words.iter().skip(from).take(2).map(Word::as_str).collect();
        matches!(rest.as_slice(), ["please" | "then" | "wins" | "won", ..] | ["it", "is"] | ["for", "me"])
    };
    let skip = words.iter().take_while(|word| is_in!(BEFORE, word) || *word == "the").count();
    let named = words.get(skip).is_some_and(|word| is_in!(OPTIONS, word)) && said(skip + 2);
    let ordered = words.get(skip).is_some_and(|word| is_in!("first second third last former latter", word))
        && (said(skip + 1)
            || words.get(skip + 1).is_some_and(|word| word == "one" || is_in!(OPTIONS, word)) && said(skip + 2));
    let whole = words.text.trim_end_matches(['.', '!']).to_ascii_lowercase();
    let is_it = whole.ends_with(" it is") && !whole.ends_with(" as it is") && !whole.ends_with(" what it is")
        || whole.contains(" it is: ") && !whole.contains("as it is: ") && !whole.contains("what it is: ")
        || whole.contains(" it is, ") && !whole.contains("as it is, ") && !whole.contains("what it is, ")
        || whole.contains(" it is then")
        || [" it'll be, ", " it will be, ", " it shall be, "].iter().any(|tail| whole.contains(tail))
        || [" it'll be", " it will be", " it shall be"].iter().any(|end| whole.ends_with(end));
    named || ordered || (is_it && words.len() <= 30)
}

/// `Amounts will be kept in cents`, `Redis was chosen`.
fn passive(words: Wording<'_>, explained: bool) -> bool {
    if !words.has(needs::CHOSEN) {
        return false;
    }
    let is_to_be = |word: &str| matches!(word, "will" | "shall" | "should" | "must" | "to");
    let is_been = |word: &Word<'_>| is_in!("is are was were be been gets get being", word);
    words.windows(2).enumerate().filter(|(_, pair)| is_been(&pair[0])).any(|(at, pair)| {
        let before = words[at.saturating_sub(2)..at].iter();
        let denied = before.clone().any(|word| word == "if" || word == "whether" || word == "when");
        let shall = pair[0] == "be" && before.clone().any(|word| is_to_be(word));
        // What is chosen by a flag is chosen each time.
        let is_met =
            |word: &Word<'_>| is_in!("meeting call demo release interview workshop talk launch standup trip", word);
        let denied = denied || is_in!("postponed deferred", &pair[1]) && words[..at].iter().take(3).any(is_met);
        let denied = denied || words.get(at + 2).is_some_and(|word| word == "by");
        // `was therefore adopted`
        let is_between =
            is_in!("therefore thus hence finally eventually deliberately ultimately then now hereby already", &pair[1]);
        let later = words.get(at + 2).filter(|word| is_between && is_in!(CHOSEN, word));
        !denied && (later.is_some() || is_in!(CHOSEN, &pair[1]) || explained && shall && is_in!(MADE, &pair[1]))
    })
}

/// `Never …`, `always …`, `do not …`, `only …`: a rule for the work from now on.
fn rules(words: &[Word<'_>]) -> bool {
    let mut words = words.iter().skip_while(|word| is_in!("and so but then please ok okay", word)).map(Word::as_str);
    match (words.next(), words.next()) {
        (Some("never" | "always" | "don't" | "only"), Some(next)) => next != "worry",
        (Some("do" | "must"), Some("not")) => true,
        _ => false,
    }
}

/// Whether an order says what it is in place of.
fn contrasts(words: &[Word<'_>], cues: CueSet) -> bool {
    cues.has(Cue::Contrast) || words.iter().skip(2).any(|word| word == "over" || word == "not" || word == "instead")
}

fn makes_sense(words: Wording<'_>) -> bool {
    let is_denied = || words.iter().any(|word| matches!(word.as_str(), "not" | "isn't" | "doesn't" | "won't"));
    words.says(Saying::Sensible) && !words.text.ends_with('?') && !is_denied()
}

/// `No problem`: what is denied without being ruled out.
const NOTHING: &str = "\
    problem problems worries idea it that this i we you the wait thanks need way one matter rush doubt luck news sign trace \
    clue update updates reply answer info";

/// `No ORM in the core.`
fn excludes(words: Wording<'_>) -> bool {
    let is_noun = |word: &Word<'_>| !is_in!(NOTHING, word);
    words.text.get(..3).is_some_and(|no| no.eq_ignore_ascii_case("no "))
        && words.len() >= 3
        && words.get(1).is_some_and(is_noun)
}

/// `The format has to stay …`, `requests must never go …`: what holds for the work to come.
fn must_stay(words: Wording<'_>) -> bool {
    if !words.has(needs::MUST) || !words.has(needs::STAYS) {
        return false;
    }
    let modal = |at: usize| match words[at].as_str() {
        "must" | "shall" | "should" | "will" => Some(at + 1),
        "has" | "have" | "needs" | "need" if words.get(at + 1).is_some_and(|word| word == "to") => Some(at + 2),
        _ => None,
    };
    (0..words.len()).filter_map(modal).any(|from| {
        let verb = words[from.min(words.len())..].iter().find(|word| !is_in!("always never only still not", word));
        verb.is_some_and(|verb| is_in!("stay remain keep go use live rely", verb))
    })
}

/// Whether a second clause stands behind the first: what is added to a choice is most often its reason.
fn is_explained(words: Wording<'_>) -> bool {
    let text = words.text;
    let is_clause = |at: usize| {
        let before = words.count_until(at);
        before >= 3 && words.len() - before >= 3
    };
    let first = |at: usize| words.get(words.count_until(at)).unwrap_or(&NO_WORD);
    let spliced = |at: usize| {
        text[at..].starts_with(", ")
            && is_in!(
                "it it's we they this that the there our you everything nothing its nobody everyone everybody",
                first(at)
            )
    };
    // `…, as legal does not allow it`, `…, so I took …`.
    let is_because = |at: usize| {
        if text[at + 4..].starts_with("soon ") || text[at + 4..].starts_with("well") {
            return false;
        }
        let before = words.count_until(at);
        let behind = words.from(at + 4);
        before >= 2 && (text[..at].ends_with(',') && behind.len() >= 3 || decisions::has_verb(&behind))
    };
    let follows = |at: usize| is_in!("i we i've we've i'm we're i'll we'll let's", first(at + 4));
    // `add()` and `std::fmt` explain nothing.
    let is_spaced = |mark: &Mark| match text.as_bytes()[mark.at] {
        b'(' => text[..mark.at].ends_with(' '),
        b':' => text[mark.at + 1..].starts_with(' '),
        _ => true,
    };
    Marks::and_dashes(*b";(:").all(text).find(is_spaced).is_some_and(|mark| is_clause(mark.at))
        || words.has(needs::SUPPOSES) && text.match_indices(" as ").any(|(at, _)| is_because(at))
        || words.has(lexicon::SO) && text.match_indices(" so ").any(|(at, _)| follows(at))
        || memchr::memchr_iter(b',', text.as_bytes()).any(|at| spliced(at) && is_clause(at))
}

/// Whether what the user answers names what is picked.
pub(in crate::distill) fn names(answer: &str) -> bool {
    spelt(answer, pick::names)
}
