//! Sentences that conclude: a lead that sums up, a label, a report of whose choice it was, a state that is final.

use super::cues::{Cue, CueSet};
use super::marks::Marks;
use super::needs;
use super::sayings::Saying;
use super::thing;
use super::vocabulary::{NO_WORD, Word, is_in, is_one_of};
use super::wording::Wording;

/// Leads behind which a conclusion stands.
pub(in crate::distill) const LEADS: &str = "\
    in the end|on balance|all things considered|bottom line|after weighing|after comparing|after some discussion|\
    after discussing|after some thought|after some back and forth|after much|from now on|from here on|\
    going forward|as of now|as of today|starting today|from today|henceforth|by convention|as a rule|as agreed|\
    as decided|until further notice|at the end of the day|when all is said and done|long story short|after a long|\
    after a lot of|after talking|after thinking|after looking at both|after trying both|after the meeting|\
    after today's|after a vote|as you asked|as you requested|as you wanted|as you decided|as you suggested|\
    as you prefer|with your ok|with your approval|with your confirmation|with your blessing|with your go-ahead|\
    with your consent|as requested|as discussed|as instructed|as you said|per your|on reflection|upon reflection|\
    on second thought|thinking about it|having thought|having looked|having slept|in hindsight|per our discussion|\
    per our call|per the meeting|per yesterday's|as agreed|long discussion short|for the record|\
    just so it's written down|to be clear we|to make it official|it's official|as confirmed|at your request|\
    on your advice|on your request|by elimination|by process of elimination|as a matter of principle|\
    as a matter of policy|on principle|as planned|as instructed|as promised|as ordered|as desired";

/// Labels of conclusions; those that make a section are known before a sentence is looked at.
const LABELS: &str = "\
    choice pick verdict conclusion outcome resolution resolved confirmed final approved agreed settled policy rule \
    convention principle constraint consensus preference call decided decision chosen picked selected settled \
    winner vote agreement ruling accepted requirement approach strategy decisions choices non-negotiable mandatory \
    decree intentional deliberate";

/// Labels that may stand anywhere in a longer one: `our decision stands: …`.
const FIRM_LABELS: &str =
    "decision decided agreed agreement verdict consensus ruling resolution chosen settled policy convention";

/// What makes a label one of something that is open.
const UNDECIDED: &str = "\
    open pending no needed need needs required missing outstanding your possible proposed suggested next current \
    existing old previous today's former alternative";

/// Verbs in the past by which something was chosen.
pub(in crate::distill) const PAST: &str = "\
    used kept left stored put replaced switched swapped moved dropped avoided skipped adopted picked chose \
    selected based took went capped limited pinned named deferred postponed preferred modelled modeled reused \
    retained rejected";

/// The same, where only what it took the place of makes it a choice.
pub(in crate::distill) const WORK: &str = "made built wrote implemented moved added changed removed returned did";

/// The same of how something was built.
pub(in crate::distill) const BUILT: &str = "\
    built based wrote implemented modelled modeled structured designed did made solved";

/// Ways of doing something.
pub(in crate::distill) const IDEAS: &str =
    "approach idea approaches ideas option options proposal way solution variant design alternative";

/// What others did who may choose.
pub(in crate::distill) const CHOSE: &str = "\
    prefers insists insisted chose decided prefer opted vetoed approved accepted wants voted picked agreed requires \
    demanded demands signed selected settled ruled rejected want require insist";

/// One of these is in every clause that closes a matter.
pub(in crate::distill) const CLOSING: &str = "\
    decided settled agreed final deal period stop story closed that's discussion debate exceptions nothing \
    approved decision mind enough non-negotiable locked accepted policy rule plan choice call verdict standard \
    convention be topic basta done go do ship like make job buts signed more";

/// What is said of a matter that is closed.
pub(in crate::distill) const CLOSED: &str = "\
    is final|are final|is frozen|are frozen|is non-negotiable|are non-negotiable|is mandatory|are mandatory|\
    off the table|set in stone|a no-go|is a must|are a must|out of the question|is a given|is locked in|\
    not up for debate|not up for discussion";

/// What holds for users and agents alike.
pub(in crate::distill) fn by_anyone(words: Wording<'_>, cues: CueSet) -> bool {
    words.says(Saying::Lead)
        || words.says(Saying::Closed)
        || is_labelled(words)
        || words.has(needs::ONLY) && words.clauses(MARKS).any(|clause| admits(&clause))
        || words.has(needs::CLOSES) && is_closed(words)
        || words.has(needs::IDEA) && replaces_idea(&words)
        || words.has(needs::ROUTE) && goes_route(&words)
        || words.has(needs::DID) && (builds_on(&words, cues) || looks_back(&words, cues))
        || words.has(needs::CHOSE) && is_anothers(&words)
        || words.has(needs::WHY) && is_why(&words)
        || words.has(needs::THAN) && prefers(words, cues)
        || starts_from(&words)
        || is_liked(words)
        || words.has(needs::KIND) && is_most(&words)
        || is_written(&words)
        || is_reworked(&words, cues)
}

/// `X was the least risky option, so …`.
fn is_most(words: &[Word<'_>]) -> bool {
    const KINDS: &str =
        "option choice approach way solution route variant candidate path answer bet alternative fit design";
    words
        .windows(4)
        .any(|part| is_in!("the our", &part[0]) && is_in!("most least", &part[1]) && is_in!(KINDS, &part[3]))
        && words.iter().any(|word| is_in!("is was are were seemed remains", word))
        && words.iter().any(|word| is_in!("so therefore hence because since took chose used implemented", word))
        && !words.iter().any(|word| is_in!("would might could if may not", word))
}

/// `Documented the decision for …`.
fn is_written(words: &[Word<'_>]) -> bool {
    let word = |at: usize| words.get(at).unwrap_or(&NO_WORD);
    let at = usize::from(is_in!("i i've we we've", word(0)));
    // `Decision record added for …`
    if is_in!("decision adr", word(0)) && is_in!("record log entry", word(1)) {
        return is_in!("added written filed created updated", word(2));
    }
    // `I concluded that a queue is best`
    if is_in!("concluded conclude figured reckon", word(at)) {
        return words
            .iter()
            .skip(3)
            .any(|word| is_in!("best better right simplest safest enough sufficient preferable", word));
    }
    is_in!("documented recorded noted captured logged registered archived", word(at))
        && (at + 1..at + 5).any(|at| is_in!("decision choice ruling agreement verdict resolution rationale", word(at)))
        && words.iter().any(|word| is_in!("for to on against that", word))
}

/// `Solved with a queue rather than a lock`: work that names what it is in place of.
fn is_reworked(words: &[Word<'_>], cues: CueSet) -> bool {
    let is_seen = |word: &Word<'_>| {
        is_in!(
            "returned printed failed crashed showed received expected used based called logged displayed fixed stopped",
            word
        )
    };
    cues.has(Cue::Contrast)
        && words.first().is_some_and(|word| word.len() > 4 && word.ends_with("ed") && !is_seen(word))
        && words.windows(2).any(|pair| is_in!("rather instead", &pair[0]) && is_in!("than of", &pair[1]))
}

/// What parts a sentence into clauses.
const MARKS: Marks<4> = Marks::and_dashes(*b",;:(");

/// `From this release on, …`, `as of version 5 …`: what holds from a time on.
fn starts_from(words: &[Word<'_>]) -> bool {
    const TIMES: &str = "\
        commit release version sprint day point week month quarter pr change moment milestone here now today \
        tomorrow v2 v3 january february march april may june july august september october november december \
        monday phase iteration";
    match words {
        [from, ..] if *from == "from" => {
            words.iter().skip(1).take(3).any(|word| is_in!(TIMES, word))
                && words.iter().skip(2).take(4).any(|word| is_in!("on onwards onward forward", word))
        }
        [effective, ..] if *effective == "effective" => words.len() >= 4,
        [as_, of, ..] if *as_ == "as" && *of == "of" => words.iter().skip(2).take(2).any(|word| is_in!(TIMES, word)),
        _ => false,
    }
}

/// `👍 for the queue`.
fn is_liked(words: Wording<'_>) -> bool {
    words.text.starts_with(['👍', '👌', '💯', '+'])
        && (words.text.starts_with("+1") || !words.text.starts_with('+'))
        && words.iter().take(3).any(|word| is_in!("for to on", word))
        && words.len() >= 3
}

/// `Final pick: …`.
fn is_labelled(sentence: Wording<'_>) -> bool {
    let text = sentence.text;
    let tagged = text
        .strip_prefix('[')
        .and_then(|text| text.split_once(']'))
        .or_else(|| text.strip_prefix('`').and_then(|text| text.split_once('`')));
    if let Some((tag, rest)) = tagged {
        return is_in!(FIRM_LABELS, &Word::of(tag)) && rest.len() > 4 && !rest.ends_with('?');
    }
    let Some((end, _)) = super::prose::label_end(text) else { return false };
    let label = text[..end].find(['(', '[', '#']).unwrap_or(end);
    let mut words = &sentence[..sentence.count_until(label)];
    // `Approach taken: …`
    if let [before @ .., last] = words
        && !before.is_empty()
        && is_in!("taken made reached used here now", last)
    {
        words = before;
    }
    let is_last = words.len() <= 4 && words.last().is_some_and(|last| is_in!(LABELS, last));
    let is_met = words.iter().any(|word| {
        is_in!(
            "vote meeting discussion call review ops team standup sync retro poll board legal security product",
            word
        )
    });
    // `Decision on storage: …`, `final answer from the meeting: …`.
    let is_led = words.len() <= 8
        && words.iter().take(2).any(|word| is_in!(LABELS, word) || is_met && is_in!("answer result", word))
        && words.iter().skip(1).any(|word| is_in!("on for from of with by after about regarding in at as", word));
    let is_numbered = words.first().is_some_and(|word| word.starts_with("adr"));
    let is_firm = words.len() <= 6 && words.iter().any(|word| is_in!(FIRM_LABELS, word));
    (is_last || is_led || is_numbered || is_firm)
        && !text.ends_with('?')
        && !words.iter().any(|word| is_in!(UNDECIDED, word))
        && !is_in!("we i you they it what if when", words.first().unwrap_or(&NO_WORD))
}

/// `Only X is allowed here`, `nothing but X is used`.
fn admits(words: &[Word<'_>]) -> bool {
    let first = words.iter().position(|word| is_in!("only nothing", word)).filter(|at| *at <= 2);
    let is_led =
        first.is_some_and(|at| words[at] == "only" || words.get(at + 1).is_some_and(|word| is_in!("but except", word)));
    is_led
        && words.windows(2).any(|pair| {
            is_in!("is are be gets get", &pair[0])
                && is_in!(
                    "allowed permitted accepted supported used acceptable tolerated ok okay fine welcome",
                    &pair[1],
                )
        })
}

/// Clauses that close a matter.
pub(in crate::distill) const CLOSERS: &str = "\
    decided|settled|agreed|final|done deal|period|full stop|end of story|end of discussion|case closed|\
    that's final|that's that|final answer|no discussion|no debate|no exceptions|nothing else|approved|it's decided|\
    that's decided|that's settled|that's agreed|decision made|decision taken|i've decided|we've decided|\
    it's settled|my mind is made up|made up my mind|enough said|non-negotiable|and that's final|and that's that|\
    locked in|status accepted|accepted|status approved|status decided|that's the plan of record|\
    so that's the plan of record|so that's the plan|that's it then|so that's that|so be it|next topic|nothing more|\
    and nothing more|nothing less|no more no less|basta|be done with it|go|go ahead|do it|do that|so do that|\
    ship it|like it or not|make it so|final|no more debate|no further discussion|topic closed|matter closed|\
    question closed|discussion closed|job done|no buts|no ifs no buts|i signed it off|signed off";

/// `X. decided. moving on`, `X, end of story`: a clause that closes the matter, behind what it is about.
pub(in crate::distill) fn closes(words: Wording<'_>) -> bool {
    // `That's the policy now.`
    let is_called = words.len() >= 3
        && is_in!("that's this that", &words[0])
        && words
            .iter()
            .skip(1)
            .take(3)
            .any(|word| is_in!("policy rule decision plan choice call verdict standard convention deal", word))
        && words.iter().any(|word| is_in!("the our my", word));
    is_called && words.len() < 6 || words.len() < 6 && is_one_of!(CLOSERS, words.print())
}

fn is_closed(sentence: Wording<'_>) -> bool {
    let mut clauses = sentence.clauses(Marks::and_dashes(*b".,;!()")).filter(|clause| !clause.text.trim().is_empty());
    let Some(first) = clauses.next() else { return false };
    // `So be it, a queue`
    first.len() >= 2 && clauses.any(closes)
        || first.len() >= 2 && closes(first) && thing::is_named(sentence.skip(first.len()))
}

/// `I replaced X by Y because …`, `we moved it to Z instead`.
fn looks_back(words: &[Word<'_>], cues: CueSet) -> bool {
    words.windows(3).take(8).any(|part| {
        let verb = if is_in!("have just only deliberately therefore then also simply now", &part[1]) {
            &part[2]
        } else {
            &part[1]
        };
        matches!(part[0].as_str(), "i" | "we" | "i've" | "we've")
            && (is_in!(PAST, verb) && cues.any(&[Cue::Reason, Cue::Contrast])
                || is_in!(WORK, verb) && cues.has(Cue::Contrast))
    })
}

/// `Scrap the earlier idea, …`, `the old approach is out`: what is dropped is a way of doing it.
pub(in crate::distill) fn replaces_idea(words: &[Word<'_>]) -> bool {
    const DROPS: &str = "\
        longer kill bin axe bury nix killed buried axed scrap scratch drop dropped ditch discard forget abandon \
        scrapped ditched abandoned discarded";
    let at = words.iter().take(8).position(|word| is_idea(word));
    at.is_some_and(|at| {
        let behind: Vec<&str> = words[at + 1..].iter().take(3).map(Word::as_str).collect();
        let is_out = matches!(behind.as_slice(), ["is" | "are", "out" | "dead" | "gone" | "off" | "history", ..]);
        words.len() >= at + 4 && (is_out || words[..at].iter().any(|word| is_in!(DROPS, word)))
    })
}

/// Whether a word names a way of doing something and not the thing.
pub(in crate::distill) fn is_idea(word: &Word<'_>) -> bool {
    word.is(needs::IDEA)
}

/// `The team prefers …`, `you insisted on …`: the agent tells whose choice it was.
fn is_anothers(words: &[Word<'_>]) -> bool {
    const CHOSE: &str = "prefers insists insisted chose decided prefer opted vetoed";
    let is_thing = words.iter().take(4).any(|word| {
        is_in!("compiler linter parser checker tool ci server client library framework runtime browser shell it", word)
    });
    let is_asked = words.iter().take(3).any(|word| is_in!("asked ask why wonder", word));
    !is_thing
        && !is_asked
        && words.iter().take(7).skip(1).any(|word| is_in!(CHOSE, word))
        && words.first().is_some_and(|word| {
            is_in!("the you they our everybody everyone management legal security ops he she", word)
        })
        || people_chose(words)
}

/// `The customer wants …`, `management approved …`.
fn people_chose(words: &[Word<'_>]) -> bool {
    const PEOPLE: &str = "\
        management team lead boss manager customer customers client clients product board architect architects cto \
        ceo everyone everybody reviewers stakeholders committee group ops legal security finance owner owners \
        maintainers we";
    const CHOSE: &str = "\
        approved accepted wants voted picked agreed requires demanded demands chose decided signed selected \
        settled vetoed ruled rejected want require insists insisted insist prefers";
    let is_split = words.first().is_some_and(|word| is_in!("half some part most many few several", word));
    !is_split
        && words.windows(3).take(4).any(|part| {
            is_in!(PEOPLE, &part[0])
                && (is_in!(CHOSE, &part[1])
                    || is_in!("all has have unanimously finally just", &part[1]) && is_in!(CHOSE, &part[2]))
        })
}

/// `We go the queue route`.
fn goes_route(words: &[Word<'_>]) -> bool {
    let Some(at) = words.iter().take(16).position(|word| is_in!("go going went gone take taking took taken", word))
    else {
        return false;
    };
    words.get(at + 1).is_some_and(|word| is_in!("the down", word))
        && words[at + 1..].iter().take(13).skip(2).any(|word| is_in!("route path road way", word))
}

/// `I built it on a queue, since …`.
fn builds_on(words: &[Word<'_>], cues: CueSet) -> bool {
    cues.has(Cue::Reason)
        && words.windows(4).take(6).any(|part| {
            is_in!("i we i've we've", &part[0])
                && is_in!(BUILT, &part[1])
                && is_in!("it this that these them", &part[2])
                && is_in!("on with around as in using via by through", &part[3])
        })
}

/// `That's why we keep …`.
fn is_why(words: &[Word<'_>]) -> bool {
    const KEPT: &str =
        "use keep used kept went go chose picked store stored stay stayed stick stuck need want have prefer avoid";
    words.windows(3).any(|part| {
        part[0] == "why"
            && matches!(part[1].as_str(), "we" | "i" | "we'll" | "i'll" | "we're" | "i'm")
            && is_in!(KEPT, &part[2])
    }) && words
        .first()
        .is_some_and(|word| matches!(word.as_str(), "that" | "that's" | "this" | "which" | "so" | "and" | "hence"))
}

/// `Better a queue than a cron job`, `Redis over Memcached, because …`.
fn prefers(words: Wording<'_>, cues: CueSet) -> bool {
    const VERBS: &str = "\
        ideas idea later option options note is are was were it i we this that they has loops loop iterates \
        iterate iterating looping goes go going hand take carry run runs all left moved move spread does do did \
        can could should will would must may might have had";
    let first = words.first().unwrap_or(&NO_WORD);
    if matches!(first.as_str(), "better" | "rather") && words.iter().any(|word| word == "than") {
        return true;
    }
    let Some(over) = words.iter().take(14).position(|word| word == "over" || word == "not") else { return false };
    let is_set_off = || {
        words[over] == "not"
            && words.text.contains(", not ")
            && (words.text.contains(" – ") || words.text.contains(" — ") || words.text.contains("; "))
    };
    over > 0 && (cues.has(Cue::Reason) || is_set_off()) && !words[..over].iter().any(|word| is_in!(VERBS, word))
}
