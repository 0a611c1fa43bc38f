//! Signs that the work at hand is left, and that something else is taken up. Either alone is a remark on the task.

use super::request;
use super::vocabulary::{NO_WORD, Word, is_in};

/// What is said of work that was stopped by others.
const STOPPED: &str = "\
    cut cancelled canceled descoped dropped killed closed axed shelved postponed blocked replanned deprioritised \
    deprioritized scrapped abandoned parked frozen superseded rejected withdrawn";

/// Whether the work at hand is left: stopped, blocked, somebody else's, not worth it, or put away for later.
pub(in crate::distill) fn is_left(words: &[Word<'_>]) -> bool {
    let word = |at: usize| words.get(at).unwrap_or(&NO_WORD);
    (0..words.len()).filter(|at| is_in!(SIGNS, &words[*at])).any(|at| {
        let (one, two, three) = (word(at), word(at + 1), word(at + 2));
        is_stopped(one, two) || is_put_away(one, two, three) || at > 0 && is_given_up(word(at - 1), one)
    })
}

/// What work that is stopped or put away is told with first, or last where it is given up: few words are looked at closely.
const SIGNS: &str = "\
    was were got been is can't cannot stops stop ends halts interrupt trumps outranks preempts beats overrides on in \
    drop dropping resume resumed continue continued \
    stash save commit park push shelve shelving let can already did fixed solved done while until no finish do handle \
    take call calling that will leave skip throw toss bin need \
    interest patience end waits wait for circles nowhere anywhere time day prio priority worth with now";

/// Each word with the two behind it, of which the last have none.
fn threes<'w, 'a>(words: &'w [Word<'a>]) -> impl Iterator<Item = (&'w Word<'a>, &'w Word<'a>, &'w Word<'a>)> {
    let word = |at: usize| words.get(at).unwrap_or(&NO_WORD);
    (0..words.len()).map(move |at| (word(at), word(at + 1), word(at + 2)))
}

/// `The feature was cut`, `we can't go on`, `physics stops here`.
fn is_stopped(one: &Word<'_>, two: &Word<'_>) -> bool {
    is_in!("was were got been is", one) && is_in!(STOPPED, two)
        || is_in!("can't cannot", one) && is_in!("go continue proceed", two)
        || is_in!("stops stop ends halts", one) && *two == "here"
        || is_in!("interrupt trumps outranks preempts beats overrides", one)
            && is_in!("what this you that all everything but", two)
        || is_in!("on in", one) && is_in!("ice hold freezer fridge drawer", two)
        || is_in!("drop dropping stop", one) && *two == "everything"
        || is_in!("resume resumed continue continued", one) && is_in!("afterwards later after", two)
}

/// `I lost interest`, `we're going in circles`, `this is lower prio`.
fn is_given_up(one: &Word<'_>, two: &Word<'_>) -> bool {
    match two.as_str() {
        "interest" | "patience" => is_in!("lost losing no", one),
        "end" => *one == "dead",
        "done" => *one == "half",
        "waits" | "wait" | "stops" => *one == "else",
        "for" => *one == "enough",
        "circles" => *one == "in",
        "nowhere" | "anywhere" => is_in!("going leading leads goes", one),
        "time" | "day" => *one == "another",
        "prio" | "priority" => is_in!("lower low less", one),
        "worth" => is_in!("not isn't", one),
        "with" => *one == "bother",
        "now" => *one == "not",
        _ => false,
    }
}

/// `Stash your changes`, `let this rest`, `Kim did this yesterday`, `I'll finish that myself`.
fn is_put_away(one: &Word<'_>, two: &Word<'_>, three: &Word<'_>) -> bool {
    is_in!("stash save commit park push shelve", one) && is_in!("your what the", two) && is_in!(SAVED, three)
        || is_in!("commit stash save park shelving shelve", one) && is_in!("it this that everything", two)
        || *one == "let" && is_in!("this it that", two) && is_in!("lie rest be sit go slide", three)
        || *one == "can" && is_in!("wait rot rest sit", two)
        || is_in!("already did fixed solved done", one)
            && is_in!("this that it fixed did solved done", two)
            && is_in!("it this that yesterday already today myself herself himself", three)
        || is_in!("while until", one) && *two == "we" && is_in!("wait hear get know", three)
        || *one == "no" && *two == "longer" && is_in!("doing working building pursuing on", three)
        || is_in!("finish do handle take", one) && is_in!("this that it", two) && is_in!("myself today by", three)
        || is_in!("call calling", one) && *two == "it" && *three == "a"
        || is_in!("that will", one) && is_in!("will do", two) && is_in!("do for", three)
        || is_in!("leave skip", one) && *two == "the" && is_in!("tests rest docs cleanup refactoring polish", three)
        || *one == "in" && *two == "the" && is_in!("freezer fridge drawer", three)
        || is_in!("throw toss bin", one) && *two == "the" && is_in!("branch work patch changes", three)
        || *one == "need" && *two == "to" && is_in!("continue proceed", three)
}

/// What is saved before something else is begun.
const SAVED: &str = "changes work notes progress you you've i've we've stuff is branch state current diff";

/// Whether something else is taken up.
pub(in crate::distill) fn is_taken(words: &[Word<'_>]) -> bool {
    threes(words).any(|(one, two, three)| is_begun(one, two, three) || is_next(one, two, three))
        || words.windows(4).any(|part| {
            // `… and analyse the crash`
            is_in!("and then please instead you to just", &part[0])
                && request::is_goal(&part[1])
                && !request::is_back(&part[2])
                && !request::is_back(&part[3])
        })
}

/// `Get going on …`, `have a go at …`, `you're free for …`.
fn is_begun(one: &Word<'_>, two: &Word<'_>, three: &Word<'_>) -> bool {
    let is_own = |word: &Word<'_>| !request::is_back(word);
    match one.as_str() {
        "jump" | "hop" | "get" | "dive" | "leap" => {
            is_in!("on onto into", two) || is_in!("going started cracking moving", two) && is_in!("on with", three)
        }
        "have" => *two == "a" && is_in!("go crack stab shot", three),
        "free" | "available" => *two == "for" && is_own(three),
        "help" => *two == "me" && is_in!("with on", three),
        "sort" | "find" | "figure" => *two == "out" && is_own(three),
        "spend" | "invest" | "use" | "put" => {
            is_in!("the your some all", two) && is_in!("time energy day afternoon effort rest hours", three)
        }
        "continue" | "carry" | "proceed" => *two == "with" && is_own(three) || *two == "on" && *three == "with",
        "today" => *two == "it's" && is_own(three),
        "deal" => *two == "with" && is_own(three),
        "attention" | "efforts" => *two == "to" && is_own(three),
        "begin" | "start" => is_in!("with on there right", two),
        "pick" | "take" => *two == "up" && is_own(three),
        "let's" | "lets" => is_in!("swap tackle take attack open", two) && is_own(three),
        "open" => *two == "another",
        "you" => is_in!("do take handle tackle", two) && is_own(three),
        _ => false,
    }
}

/// `Next up is …`, `our story is …`, `production is down`, `that goes before the cleanup`.
fn is_next(one: &Word<'_>, two: &Word<'_>, three: &Word<'_>) -> bool {
    *one == "next" && is_in!("up request one item order ask", two) && is_in!("is concerns are comes would", three)
        || is_in!("our your the", one) && is_in!("story ticket mission target assignment", two) && *three == "is"
        || *one == "at" && *two == "the" && *three == "top"
        || is_in!("production prod site server staging", one) && is_in!("is went", two) && *three == "down"
        || is_in!("only really", one) && is_in!("care cares", two) && *three == "about"
        || is_in!("goes comes go", one) && is_in!("before first", two)
        || is_in!("has have", one) && is_in!("priority precedence", two)
        || is_in!("so then and", one) && is_in!("today tonight", two) && !is_in!("i we it the", three)
        || *one == "now" && *two == "first"
        || *one == "is" && is_in!("burning urgent critical overdue due", two)
        || is_in!("escalation incident outage emergency hotfix", one)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a rule in this file.
    fn words_of(rule: &str) -> Vec<Word<'static>> {
        let source = include_str!("leave.rs");
        let from = source.find(&format!("fn {rule}(")).unwrap();
        let text = &source[from..from + source[from..].find("\n}\n").unwrap()];
        let quoted = text.split('"').skip(1).step_by(2);
        quoted.flat_map(str::split_whitespace).chain(STOPPED.split_whitespace()).map(Word::of).collect()
    }

    #[test]
    fn every_rule_begins_with_a_word_that_is_looked_for() {
        let words = words_of("is_stopped");
        for (one, two) in words.iter().flat_map(|one| words.iter().map(move |two| (one, two))) {
            assert!(is_in!(SIGNS, one) || !is_stopped(one, two), "{} {}", one.as_str(), two.as_str());
        }
        let words = words_of("is_given_up");
        for (one, two) in words.iter().flat_map(|one| words.iter().map(move |two| (one, two))) {
            assert!(is_in!(SIGNS, two) || !is_given_up(one, two), "{} {}", one.as_str(), two.as_str());
        }
        let words = words_of("is_put_away");
        for one in words.iter().filter(|one| !is_in!(SIGNS, one)) {
            for (two, three) in words.iter().flat_map(|two| words.iter().map(move |three| (two, three))) {
                assert!(!is_put_away(one, two, three), "{} {} {}", one.as_str(), two.as_str(), three.as_str());
            }
        }
    }
}
