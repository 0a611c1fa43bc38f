//! Whether a sentence leaves the task for another one, told by how it is built.
//!
//! A new task is named as one (`next topic: …`), set off (`what we really need is …`), or the old one is dismissed, said
//! to be over or somebody else's, and something follows.

use super::request;
use super::words::is_in;

const NEW: &str = "new next another different updated revised real actual other";

const NAMES: &str = "\
    task topic thing goal plan request subject job item assignment problem ticket story priority focus objective \
    mission project issue point step order";

const OLD: &str = "other previous old first original earlier current last former rest";

/// What stands before the words that count.
const BEFORE: &str = "\
    please just ok okay and then so actually yes no but also right well fine sure hmm hm alright good great thanks \
    now sorry wait oh a an the here's here is there's there i have we've i've got on to let's lets move go onto hey hi \
    cool perfect nice small quick";

/// Verbs that put something away.
const DISMISS: &str = "\
    forget scrap drop skip ignore scratch leave park abandon cancel stop pause shelve ditch postpone defer discard \
    nevermind disregard halt";

/// Verbs that take something up, beside those that order work.
const TAKE_UP: &str =
    "do tackle handle start begin work focus switch turn move jump pivot take attack look continue go";

/// Words between a lead and what is taken up.
const LINKS: &str = "to with on over at into working by doing";

/// Whether a sentence, or what a prompt begins with, turns to something else.
pub(super) fn turns(sentence: &str) -> bool {
    let words: Vec<String> = request::words(sentence).collect();
    names_new(sentence, &words)
        || sets_off(&words)
        || dismisses(&words)
        || is_gone(&words)
        || has_changed(&words)
        || takes_up(&words)
        || ranks(&words)
}

/// `New task: …`, `OK, next topic.`
fn names_new(sentence: &str, words: &[String]) -> bool {
    let Some(at) = words.windows(2).take(7).position(|pair| is_in(NEW, &pair[0]) && is_in(NAMES, &pair[1])) else {
        return false;
    };
    let is_led = words[..at].iter().all(|word| is_in(BEFORE, word));
    let lower = sentence.to_lowercase();
    let behind = lower.find(words[at + 1].as_str()).map_or("", |start| &lower[start + words[at + 1].len()..]);
    let is_set_off = behind.trim_start().starts_with([':', '-', '—', '–', ',', '.', '!']) || behind.trim().is_empty();
    let is_said =
        words[at] != "other" && words.get(at + 2).is_some_and(|word| matches!(word.as_str(), "is" | "for" | "now"));
    is_led && (is_set_off || is_said)
}

/// `What I really need is …`.
fn sets_off(words: &[String]) -> bool {
    let mut rest = words.iter().map(String::as_str).skip_while(|word| *word != "what" && is_in(BEFORE, word));
    rest.next() == Some("what")
        && rest.next().is_some_and(|word| matches!(word, "i" | "we" | "matters"))
        && rest.clone().take(4).any(|word| is_in("want need wanted needed meant care now matters", word))
        && rest.take(8).any(|word| matches!(word, "is" | "are"))
}

/// `Drop that and …`, `leave this for later`.
fn dismisses(words: &[String]) -> bool {
    let skip = words.iter().take_while(|word| is_in(BEFORE, word)).count();
    let object = words.get(skip + 1).map_or("", String::as_str);
    let aside = words.iter().any(|word| word == "aside" || word == "hold");
    let verb = words.get(skip).map_or("", String::as_str);
    is_in(DISMISS, verb) && is_in("that this it everything all what about", object)
        || matches!(verb, "put" | "set" | "leave") && aside
}

/// `The other thing can wait`, `somebody else took that`.
fn is_gone(words: &[String]) -> bool {
    let old = words.windows(3).any(|part| {
        is_in(OLD, &part[0])
            && (is_in(NAMES, &part[1]) || is_in("one work idea part piece feature", &part[1]))
            && is_in("is was has can will got goes no isn't went gets", &part[2])
    });
    let said = words.join(" ");
    old || [
        "can wait",
        "to somebody else",
        "to someone else",
        "somebody else is",
        "someone else is",
        "no longer relevant",
    ]
    .iter()
    .any(|gone| said.contains(gone))
}

/// `Change of plan`, `our priorities have shifted`.
fn has_changed(words: &[String]) -> bool {
    let subject = "plan plans direction priority priorities mind scope course focus requirements";
    words.iter().take(9).enumerate().any(|(at, word)| {
        let near = &words[at.saturating_sub(3)..(at + 4).min(words.len())];
        is_in("change changes changed shifted shift", word) && near.iter().any(|word| is_in(subject, word))
    })
}

/// `Now let's do …`, `instead, I'd like you to work on …`: a lead, a verb, and an object of its own.
fn takes_up(words: &[String]) -> bool {
    let leads = |word: &str| is_in("now next instead let's lets", word);
    let Some(lead) = words.iter().take(4).position(|word| leads(word)) else { return false };
    if !words[..lead].iter().all(|word| is_in(BEFORE, word)) {
        return false;
    }
    let between = "now next instead let's lets let us i i'd we want need like would you to please can could should";
    let Some(verb) = words.iter().skip(lead).position(|word| !is_in(between, word)).map(|at| at + lead) else {
        return false;
    };
    let object: Vec<&String> = words[verb + 1..].iter().skip_while(|word| is_in(LINKS, word)).collect();
    // Without `now` it may be about how the task is done.
    let is_timed = words[..verb].iter().any(|word| matches!(word.as_str(), "now" | "next" | "instead"));
    is_timed
        && is_in(TAKE_UP, &words[verb])
        && object.len() >= 3
        && !object.iter().take(5).any(|word| request::is_back(word))
}

/// `X is more urgent`, `X comes first`.
fn ranks(words: &[String]) -> bool {
    let said = words.join(" ");
    [
        "more urgent",
        "more pressing",
        "more important",
        "comes first",
        "takes precedence",
        "top priority",
        "first priority",
    ]
    .iter()
    .any(|ranked| said.contains(ranked))
}
