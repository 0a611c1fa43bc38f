//! Whether a sentence leaves the task for another one, told by how it is built.
//!
//! A new task is named as one (`next topic: …`), set off (`what we really need is …`), or the old one is dismissed, said
//! to be over or somebody else's, and something follows.

use super::lexicon::Class;
use super::marks::Marks;
use super::needs;
use super::request;
use super::sayings::Saying;
use super::vocabulary::{NO_WORD, Word, is_in};
use super::wording::Wording;

const NEW: &str = "\
    new next another different updated revised real actual other main proper bigger urgent second third fourth \
    follow-up";

pub(in crate::distill) const NAMES: &str = "\
    task topic thing goal plan request subject job item assignment problem ticket story priority focus objective \
    mission project issue point step order";

pub(in crate::distill) const OLD: &str = "other previous old first original earlier current last former rest";

/// What stands before the words that count.
const BEFORE: &str = "\
    please just ok okay and then so actually yes no but also right well fine sure hmm hm alright good great thanks \
    now sorry wait oh a an the here's here is there's there i have we've i've got on to let's lets move go onto \
    hey hi cool perfect nice small quick your my our it's that's this you're";

/// Verbs that put something away.
pub(in crate::distill) const DISMISS: &str = "\
    forget scrap drop skip ignore scratch park abandon cancel stop pause shelve ditch postpone defer discard \
    nevermind disregard halt close wrap finish suspend freeze";

/// Verbs that take something up, beside those that order work.
const TAKE_UP: &str =
    "do tackle handle start begin work working focus switch turn move jump pivot take attack look continue go get";

/// Words between a lead and what is taken up.
const LINKS: &str = "to with on over at into working by doing";

/// Whether a sentence, or what a prompt begins with, turns to something else.
pub(in crate::distill) fn turns(words: Wording<'_>) -> bool {
    names_new(words)
        || words.has(needs::WHAT) && sets_off(&words)
        || words.has(needs::AWAY) && dismisses(&words)
        || is_gone(words)
        || words.has(needs::CHANGED) && has_changed(&words)
        || words.has(needs::NOW) && takes_up(&words)
        || words.says(Saying::Ranked)
        || sets_aside(words)
        || gives(words)
        || goes_on(words)
        || words.has(needs::TASK) && renames(&words)
}

/// Whether a sentence calls something the task.
pub(in crate::distill) fn names_task(words: Wording<'_>) -> bool {
    // What is called a step or a problem may be a part of the task.
    let is_task =
        words.iter().take(8).any(|word| is_in!("task topic goal job assignment ticket project mission", word));
    is_task && names_new(words) || gives(words)
}

/// What is said of a task that is left where it is.
pub(in crate::distill) const ASIDE: &str = "\
    come back to this|come back to that|get back to this later|back to this later|on ice|on hold|\
    on the back burner|done here|done with this|done with that|finished with this|finished with that|\
    call this finished|call this done|call it done|call that done|tick that off|tick this off|closing this|\
    close this|wrap this up|wrap that up|enough on this|enough of this|enough of that|stop here|leave it there|\
    leave it at that|something came up|cancelled this|cancelled that|canceled this|canceled that|is cancelled|\
    is canceled|was cancelled|was canceled|don't continue|do not continue|no longer need this|doesn't need this|\
    don't need this|not worth it|isn't worth it|this is shipped|that is shipped|that's shipped|this is merged|\
    that's merged|one's merged|this is done|that's done|that one's done|this one's done|this is finished|\
    that's finished|previous is finished|ticket is closed|takes it over|took it over|else takes over|\
    else took over|colleague takes over|will take it from|handed this|handed that|hand this over|been told to drop|\
    been told to stop|deprioritised|deprioritized|obsolete now|ok enough|enough now|enough for now|\
    that's it for this|that's all for this|that's it for that|that's all for now|become irrelevant|is irrelevant|\
    been cancelled|been canceled|been dropped|been shelved|been postponed|been superseded|got cancelled|\
    got canceled|have to interrupt|interrupting you|must interrupt|side quest|pulling you off|taking you off|\
    this is a wrap|sign this off|out of our hands";

/// Words with which the next thing is taken up, behind one that is left.
const TAKES: &str = "\
    now next instead switch move turn start focus work take tackle task job goal about need want please you first \
    attention on onto continue priority urgent look do main";

/// `We can come back to this. …`: the old is left, in one of many words, and something is taken up.
fn sets_aside(words: Wording<'_>) -> bool {
    if !words.says(Saying::Aside) {
        return false;
    }
    let said = words.said();
    let Some(end) = ASIDE.split('|').filter_map(|aside| said.find(aside).map(|at| at + aside.len())).max() else {
        return false;
    };
    // What follows may stand in the next sentence.
    let rest: Vec<&str> = said[end..].split_whitespace().collect();
    rest.len() < 3
        || said.contains("came up")
        || said.contains("interrupt")
        || rest.iter().take(8).any(|word| is_in!(TAKES, &Word::of(word)))
}

/// What gives a task by its phrase.
pub(in crate::distill) const GIVEN: &str = "\
    as your task|as the task|as your job|your task is|your job is|your new task|your new job|is the job now|\
    is the task now|is what matters now|rest of the session|rest of the day|rest of today|rest of this session|\
    now turn to|we turn to|switch context|bigger problems|bigger fish|it's all about|it is all about|need you on|\
    want you on|you're on the|reassigning you to|moving you to|putting you on|you're now on|you're now working|\
    you are now working|from now on you work|from now on you're|focus is now on|focus is on|you are on the|\
    the session is about|this session is about|in the meantime";

/// `Your job is now …`, `treat that as your task`, `for the rest of the day …`, `it's all about …`.
fn gives(words: Wording<'_>) -> bool {
    let is_yours = || {
        words.iter().take(4).position(|word| word == "your").is_some_and(|at| {
            words[at + 1..].iter().take(2).any(|word| is_in!("task job assignment focus mission priority", word))
                && words.iter().any(|word| is_in!("now new next", word))
        })
    };
    let is_for_you = || {
        words.windows(4).any(|part| {
            is_in!("new another different next", &part[0])
                && (is_in!(NAMES, &part[1]) || part[1] == "one")
                && part[2] == "for"
                && part[3] == "you"
        })
    };
    words.says(Saying::Given) || words.has(needs::TASK) && (is_yours() || is_for_you())
}

/// Verbs that put something away, in the forms in which they are said of a task.
pub(in crate::distill) const LEAVING: &str = "\
    forget scrap drop skip ignore park abandon cancel stop pause shelve ditch postpone defer discard disregard \
    halt suspend freeze leave scratch revert undo abandoning dropping parking shelving pausing stopping cancelling \
    canceling postponing ditching scrapping leaving abandoned dropped parked shelved paused stopped cancelled \
    canceled postponed ditched scrapped delay close closing mothball bin kill killing finish stash";

/// What is said of a task that is over.
pub(in crate::distill) const PAST_TASK: &str = "\
    backlog anymore merged shipped unnecessary finished reassigned deprioritised deprioritized moot obsolete superseded";

/// Whether a prompt leaves what was worked on: puts it away, or says that it is over, later or not wanted.
pub(in crate::distill) fn leaves(words: &[Word<'_>]) -> bool {
    let is_work =
        |word: &Word<'_>| is_in!(OLD, word) || is_in!(NAMES, word) || is_in!("whole entire work feature branch", word);
    words.windows(3).filter(|part| part[0].is(needs::LEAVES)).any(|part| {
        let [verb, object, next] = part else { return false };
        is_in!(LEAVING, verb)
            && (is_in!("it this that everything all", object)
                || is_in!("the our my your", object) && is_work(next)
                || object == "what" && is_in!("you you're we we're i", next))
            || is_in!("no not", verb)
                && is_in!("longer", object)
                && is_in!("what need needed needs relevant the matters necessary a want wanted important", next)
            || verb == "what" && object == "i" && is_in!("told asked gave", next)
            || *verb == "off" && *object == "my" && *next == "plate"
            || is_in!("won't don't not", verb) && is_in!("need be", object) && is_in!("it this that needing", next)
            || is_in!(OLD, verb) && is_in!(NAMES, object) && is_in!("turned was is got has", next)
            || is_in!("commit push", verb) && is_in!("what this it that", object)
            || verb == "not" && object == "to" && is_in!("go continue proceed pursue", next)
            || verb == "care" && object == "about" && is_in!("the this that it", next)
            || verb == "rabbit" && object == "hole"
            || is_in!("happy done finished through satisfied good fine", verb)
                && object == "with"
                && is_in!("this that it the what", next)
            || is_in!("call calling consider", verb)
                && is_in!("it this that", object)
                && is_in!("done a finished good", next)
            || is_in!("next another", verb) && is_in!("week month sprint quarter time day", object)
    }) || words.iter().any(|word| word.is(needs::LEAVES) && is_in!(PAST_TASK, word))
}

/// Whether a prompt takes something up, or says what matters now.
pub(in crate::distill) fn takes(words: &[Word<'_>]) -> bool {
    let is_own = |word: &Word<'_>| !request::is_back(word) && !is_in!("how why what if", word);
    words.windows(3).filter(|part| part[0].is(needs::TAKES)).any(|part| {
        let [one, two, three] = part else { return false };
        is_in!("work working start starting focus begin concentrate get going carry", one)
            && is_in!("on with", two)
            && is_own(three)
            || is_in!("turn switch move shift pivot jump over go change back attention", one)
                && two == "to"
                && is_own(three)
            || one == "from" && is_in!("here now", two) && three == "on"
            || is_in!("takes take taking", one) && is_in!("its", two) && three == "place"
            || is_in!("all what thing", one) && is_in!("that matters which", two)
            || is_in!("goal task objective mission focus priority job assignment", one)
                && is_in!("is becomes", two)
                && !is_in!("done fine clear not no still good too", three)
            || is_in!("take deal look", one) && is_in!("care with after at into", two) && is_own(three)
            || is_in!("i we", one) && is_in!("need want", two) && is_own(three) && three != "to"
            || is_in!("tackle handle", one) && is_own(two)
            || is_in!("part step phase item number", one)
                && is_in!("two three four 2 3 4 b next", two)
                && is_in!("is", three)
            || one == "reassigned" && two == "to"
            || is_in!("dealt taken", one) && is_in!("with care", two)
            || one == "the" && is_in!("main only", two) && is_in!("thing task goal job", three)
            || one == "the" && two == "time" && is_in!("for on to", three)
    }) || words.iter().any(|word| is_in!("instead urgent pressing", word))
}

/// What tasks are called.
pub(in crate::distill) const TASKS: &str =
    "task topic goal job assignment ticket project mission objective priority emergency request agenda chapter";

/// What is said of one that is over or left.
pub(in crate::distill) const OVER: &str = "\
    done finished closed closes closing shipped merged wrap wrapped enough stop drop scrap forget stash pause park \
    anymore wrong warm-up postpone wait aside door over handed later cancelled canceled abandoned dropped shelved \
    complete completed";

/// When the other one is to be done.
pub(in crate::distill) const WHEN: &str =
    "now next first instead right immediately remainder rest today tonight onwards henceforth";

/// How it is taken up.
pub(in crate::distill) const TAKEN: &str = "\
    work working concentrate focus start started begin turn switch switching move moving tackle devote handle \
    shift pivot jump attention dedicate proceed";

/// Whether signs of several kinds together make a prompt one that turns to another task.
pub(in crate::distill) fn shows_turn(words: &[Word<'_>], is_choice: bool) -> bool {
    let classes = words.iter().fold(0, |classes, word| classes | word.class());
    let has = |class: Class| classes & class != 0;
    // `The nightly job instead of …`
    let is_thing = || {
        words.windows(2).any(|pair| {
            is_in!("job task", &pair[1])
                && is_in!("cron batch nightly background ci build scheduled hourly daily", &pair[0])
        })
    };
    let (task, over, when, taken) = (has(needs::NAMED_TASK), has(needs::OVER), has(needs::WHEN), has(needs::TAKEN));
    let task = task && !is_thing();
    let signs = [task, over, when, taken].into_iter().filter(|sign| *sign).count();
    // A choice may speak of the time and of what is over.
    (task || over) && signs >= if is_choice { 3 } else { 2 } + usize::from(!task && !taken)
}

/// `Our objective is now …`: the task is named anew.
fn renames(words: &[Word<'_>]) -> bool {
    words.windows(4).any(|part| {
        is_in!("the our my your", &part[0])
            && is_in!("goal task objective mission focus priority job assignment target", &part[1])
            && is_in!("is becomes", &part[2])
            && (part[3] == "now" || part[3] == "no")
    })
}

/// `Moving on: …`, `on to the importer`.
fn goes_on(words: Wording<'_>) -> bool {
    let said = words.iter().skip_while(|word| is_in!("ok okay so now and then great good right", word));
    // No more of them are looked at.
    let mut rest = [""; 5];
    let count = rest.iter_mut().zip(said).map(|(room, word)| *room = word.as_str()).count();
    let is_set_off = |lead: &str| words.text.to_ascii_lowercase().contains(&format!("{lead}:"));
    match &rest[..count] {
        ["moving", "on" | "over", "to", next, _, ..] | ["on", "to", next, _, ..] => !request::is_back(&Word::of(next)),
        ["moving", "on", _, ..] => is_set_off("moving on"),
        ["next" | "new", "one", _, ..] => is_set_off("one"),
        ["next", "please", _, ..] => is_set_off("please"),
        ["next", "on", "the", "list" | "agenda" | "board", ..] | ["next", "on", "my" | "our", ..] => true,
        ["to", next, _, ..] | ["back", "to", next, _, ..] => {
            words.first().is_some_and(|word| is_in!("now ok okay so back", word))
                && matches!(*next, "the" | "a" | "an" | "our")
        }
        ["please" | "let's" | "lets" | "can" | "could" | "you" | "do" | "the" | "work", ..] => does_now(&words),
        _ => false,
    }
}

/// So many clauses of a sentence are asked whether they name a task.
const CLAUSES: usize = 24;

/// `New task: …`, `OK, next topic.`
fn names_new(words: Wording<'_>) -> bool {
    // It may stand behind what is said of the old one: `merged, next task: …`.
    words.has(needs::TASK) && calls_any_task(words) || is_turned(words)
}

fn calls_any_task(words: Wording<'_>) -> bool {
    calls_task(words)
        || Marks::of(*b",.;!").all(words.text).take(CLAUSES).any(|mark| {
            let clause = words.from(mark.end());
            clause.len() >= 3 && (calls_task(clause) || sets_task(&clause))
        })
        || sets_task(&words)
}

/// `Okay, pivot: …`.
fn is_turned(sentence: Wording<'_>) -> bool {
    let Some((lead, rest)) = sentence.split_once(": ") else { return false };
    lead.len() <= 3
        && lead.last().is_some_and(|last| {
            is_in!("pivot switch next change update reset reprioritise reprioritised reprioritized reassigned", last)
        })
        && rest.len() >= 2
}

/// `The only item is …`, `the next thing I want from you is …`, `our new target is …`.
fn sets_task(words: &[Word<'_>]) -> bool {
    let Some(at) = words
        .iter()
        .take(6)
        .position(|word| is_in!("thing item target task job goal objective focus priority mission", word))
    else {
        return false;
    };
    let is_new = words[..at].iter().any(|word| is_in!("new next only one other real", word));
    let is_led = words[..at]
        .iter()
        .all(|word| is_in!(BEFORE, word) || is_in!(NEW, word) || is_in!("only one your our my", word));
    let is = words[at + 1..].iter().take(7).position(|word| word == "is").map(|is| at + 1 + is);
    let is_asked = |is: usize| {
        words[at + 1..is].iter().any(|word| is_in!("want need you work do left", word)) && words[at + 1..is].len() <= 6
    };
    is_led
        && is.is_some_and(|is| {
            (is_new && is <= at + 5 || is_asked(is))
                && words.len() >= is + 3
                && !is_in!("not that how why what when too it this", &words[is + 1])
        })
}

fn calls_task(words: Wording<'_>) -> bool {
    let Some(at) = words.windows(2).take(7).position(|pair| is_in!(NEW, &pair[0]) && is_in!(NAMES, &pair[1])) else {
        return false;
    };
    let is_led = words[..at].iter().all(|word| is_in!(BEFORE, word));
    let name = words.begins(at + 1);
    let behind = words.text.get(name + words[at + 1].len()..).unwrap_or_default();
    let is_set_off = behind.trim_start().starts_with([':', '-', '—', '–', ',', '.', '!']) || behind.trim().is_empty();
    let is_said = words[at] != "other"
        && !is_in!("problem issue point step", &words[at + 1])
        && words.get(at + 2).is_some_and(|word| matches!(word.as_str(), "is" | "for" | "now"));
    is_led && (is_set_off || is_said)
}

/// `What I really need is …`.
fn sets_off(words: &[Word<'_>]) -> bool {
    let mut rest = words.iter().skip_while(|word| **word != "what" && is_in!(BEFORE, word));
    rest.next().is_some_and(|word| word == "what")
        && rest.next().is_some_and(|word| matches!(word.as_str(), "i" | "we" | "they" | "matters"))
        && rest.clone().take(4).any(|word| is_in!("want need wanted needed meant care now matters", word))
        && rest.take(8).any(|word| matches!(word.as_str(), "is" | "are"))
}

/// `Drop that and …`, `leave this for later`.
fn dismisses(words: &[Word<'_>]) -> bool {
    let skip = words.iter().take_while(|word| is_in!(BEFORE, word)).count();
    let object = words.get(skip + 1).unwrap_or(&NO_WORD);
    let aside = words.iter().any(|word| word == "aside" || word == "hold");
    let verb = words.get(skip).unwrap_or(&NO_WORD);
    // `Drop it` alone is about a part of the task.
    let is_alone = is_in!("pause park shelve abandon cancel postpone", verb) && words.len() == skip + 2;
    is_in!(DISMISS, verb)
        && is_in!("that this it everything all what about", object)
        && (words.len() > skip + 3 || is_alone)
        || matches!(verb.as_str(), "put" | "set" | "leave") && aside
}

/// What is said of a task that waits or that others have.
pub(in crate::distill) const GONE: &str = "\
    can wait|to somebody else|to someone else|somebody else is|someone else is|somebody else takes|\
    someone else takes|somebody else took|someone else took|somebody else will|someone else will|\
    no longer relevant";

/// `The other thing can wait`, `somebody else took that`.
fn is_gone(words: Wording<'_>) -> bool {
    let old = || {
        words.windows(3).any(|part| {
        is_in!(OLD, &part[0])
            && (is_in!(NAMES, &part[1]) || is_in!("one work idea part piece feature", &part[1]))
            && is_in!("can will got goes no isn't went gets", &part[2])
    }) || words.windows(4).any(|part| {
        is_in!(OLD, &part[0])
            && (is_in!(NAMES, &part[1]) || is_in!("one work idea part piece feature", &part[1]))
            && is_in!("is was has", &part[2])
            && is_in!(
                "done over gone finished not no off dead cancelled canceled obsolete moot merged shipped closed been",
                &part[3],
            )
    })
    };
    words.says(Saying::Gone) || words.has(needs::OLD) && old()
}

/// `Change of plan`, `our priorities have shifted`.
fn has_changed(words: &[Word<'_>]) -> bool {
    const SUBJECT: &str = "\
        plan plans direction priority priorities scope course focus requirements goal goals task topic assignment \
        objective";
    words.iter().take(30).enumerate().any(|(at, word)| {
        let near = &words[at.saturating_sub(3)..(at + 4).min(words.len())];
        is_in!("change changes changed shifted shift", word) && near.iter().any(|word| is_in!(SUBJECT, word))
    })
}

/// `Now let's do …`, `instead, I'd like you to work on …`: a lead, a verb, and an object of its own.
fn takes_up(words: &[Word<'_>]) -> bool {
    const BETWEEN: &str =
        "now next instead let's lets let us i i'd we want need like would you to please can could should";
    let leads = |word: &Word<'_>| is_in!("now next instead let's lets", word);
    let Some(lead) = words.iter().take(4).position(leads) else { return false };
    if !words[..lead].iter().all(|word| is_in!(BEFORE, word)) {
        return false;
    }
    let Some(verb) = words.iter().skip(lead).position(|word| !is_in!(BETWEEN, word)).map(|at| at + lead) else {
        return false;
    };
    let object: Vec<&Word<'_>> = words[verb + 1..].iter().skip_while(|word| is_in!(LINKS, word)).collect();
    // Without `now` it may be about how the task is done.
    let is_timed = words[..verb].iter().any(|word| matches!(word.as_str(), "now" | "next" | "instead"));
    is_timed
        && is_in!(TAKE_UP, &words[verb])
        && object.len() >= 3
        && !object.iter().take(5).any(|word| request::is_back(word))
}

/// `X is more urgent`, `X comes first`.
pub(in crate::distill) const RANKED: &str =
    "more urgent|more pressing|more important|comes first|takes precedence|top priority|first priority";

/// `Please do the importer now`, `can you now work on the importer`, `the importer now, please`.
fn does_now(words: &[Word<'_>]) -> bool {
    const TELLS: &str = "\
        is are was were works fails passes looks has have does seems it that this fail pass break breaks crash \
        crashes work run runs look don't doesn't can't won't still again";
    const LEAD: &str = "please let's lets can could you we now go over to just then and ok okay would";
    let Some(now) = words.iter().position(|word| word == "now") else { return false };
    let rest: Vec<&Word<'_>> = words.iter().filter(|word| !is_in!("now please pls", word)).collect();
    let Some(at) = rest.iter().position(|word| !is_in!(LEAD, word)) else { return false };
    let is_verb = is_in!(TAKE_UP, rest[at]);
    let object = &rest[at + usize::from(is_verb)..];
    let is_late = now + 2 >= words.len();
    (is_verb || is_late && rest[at] == "the")
        && (2..=14).contains(&object.len())
        && !object.iter().any(|word| is_in!(TELLS, word) || request::is_back(word))
}
