//! What holds now: sentences that tell no act of choosing, but the state that one left.
//!
//! `The service now relies on a queue`, `a queue becomes the default`, `…, so a queue`, `leaving only a queue`.

use super::lexicon::{BASE, BETWEEN, Class, DOES, PAST, PEOPLE, SHAPES, SO, SPEAKER, STATES, STAYS, SUITS, THEREFORE};
use super::marks::Marks;
use super::vocabulary::{NO_WORD, Word, is_in};
use super::wording::Wording;
use super::{needs, thing};

/// Whether a sentence, of whose words some are of `any`, says what holds now.
pub(in crate::distill) fn holds(words: Wording<'_>, any: Class, is_user: bool, is_explained: bool) -> bool {
    any & STATES != 0 && is_in_force(words, is_user, is_explained)
        || any & STAYS != 0 && stays(words, is_user, is_explained)
        || !is_user
            && (words.has(needs::ANEW) && does_now(words)
                || any & DOES != 0 && does_throughout(words)
                || words.has(needs::BUILT) && builds(&words, is_explained))
        || any & SHAPES != 0 && !is_user && reshapes(words)
        || any & (THEREFORE | SO) != 0 && concludes(words, is_user)
        || any & SPEAKER != 0 && is_bound(&words)
        || is_explained
            && !is_user
            && (words.has(needs::NOT) && omits(&words) || words.has(needs::BUILT) && assumes(&words))
        || any & PEOPLE != 0 && (is_confirmed(&words) || !is_user && is_wanted(words))
        || !is_user && words.has(needs::DEMANDS) && obeys(words)
        || is_user && words.has(needs::HERE) && (is_local(words) || is_for_all(words))
        || any & SUITS != 0 && suffices(words, is_user, is_explained)
        || words.has(needs::CONFIRMED) && is_given(words)
        || words.has(needs::WHAT) && is_what(&words)
        || words.has(needs::LEAVING) && is_left(words)
        || is_only(words)
        || is_commit(words)
        || is_because(words)
        || words.has(needs::ANEW) && is_it_now(words)
}

/// `A queue is now the default`, `made the queue mandatory`.
fn is_in_force(words: Wording<'_>, is_user: bool, is_explained: bool) -> bool {
    (1..words.len()).filter(|at| words[*at].is(STATES)).any(|at| {
        let is_filler =
            |word: &Word<'_>| is_in!("the our a an hard now hereby officially henceforth new project only", word);
        let Some(verb) = (at.saturating_sub(5)..at).rfind(|at| !is_filler(&words[*at])) else { return false };
        // `Default` alone is said of a setting.
        let is_set = verb + 1 < at || !is_in!("default standard policy law norm rule baseline", &words[at]);
        let is_timed = words[verb..at].iter().any(|word| is_in!("now hereby officially henceforth", word));
        let is_open = words[..verb].iter().any(|word| is_in!("if whether when not until once unless should", word));
        if is_open {
            return false;
        }
        match words[verb].as_str() {
            "becomes" | "become" | "became" => is_set,
            "is" | "are" | "remains" | "stays" => {
                let is_ruled = is_user && is_in!("mandatory obligatory compulsory binding non-negotiable", &words[at]);
                is_timed && is_set || is_set && is_user && is_explained && verb >= 2 || is_ruled
            }
            _ => is_set && is_made(&words[..=verb]),
        }
    }) || is_explained && is_default(words)
}

/// `Make the queue …`, `I've made the queue …`.
fn is_made(words: &[Word<'_>]) -> bool {
    let made = words.iter().position(|word| is_in!("make makes made making declare declared declaring", word));
    made.is_some_and(|at| {
        let lead = at.checked_sub(1).map_or(&NO_WORD, |at| &words[at]);
        words.len() >= at + 3
            && (at == 0 || lead.is(SPEAKER) || is_in!("and please just so then will have now also therefore to", lead))
    })
}

/// `The default is a queue, because …`.
fn is_default(words: Wording<'_>) -> bool {
    words.windows(3).take(4).enumerate().any(|(at, part)| {
        is_in!("the our", &part[0]) && part[1].is(STATES) && part[2] == "is" && thing::is_named(words.skip(at + 3))
    })
}

/// What parts a sentence into clauses.
const MARKS: Marks<5> = Marks::and_dashes(*b",;:!(");

/// `So the queue stays and the timer goes`.
fn stays(words: Wording<'_>, is_user: bool, is_explained: bool) -> bool {
    words.clauses(MARKS).any(|clause| {
        let Some(verb) = clause.iter().position(|word| word.is(STAYS)) else { return false };
        let next = clause.get(verb + 1).unwrap_or(&NO_WORD);
        let is_whole = next.is_empty() || is_in!("and as because since for where so until unless after but", next);
        // `The queue replaces what we had`.
        let is_other = (is_user || is_explained) && is_in!("replaces replace supersedes supersede", &clause[verb]);
        let is_agreed = words[0].is(BETWEEN)
            || is_in!("thanks ok okay understood great right confirmed agreed good yes fine", &words[0]);
        (is_whole || is_other) && is_said_of(&clause[..verb], is_user || is_explained || is_agreed)
    })
}

/// Whether what stands before a verb ends with the name of a thing, and is meant as a conclusion.
fn is_said_of(before: &[Word<'_>], is_meant: bool) -> bool {
    let lead = before.iter().rposition(|word| is_in!("so but and then therefore that consequently", word));
    let subject = &before[lead.map_or(0, |lead| lead + 1)..];
    // `For the first release a queue …`
    let skip = usize::from(subject.first().is_some_and(|word| is_in!("for in on", word)));
    (is_meant || lead.is_some_and(|lead| is_in!("so therefore consequently", &before[lead])))
        && thing::is_thing(&subject[skip..])
}

/// `A queue is enough for the first release`, `so a queue was put in place`, `a queue proved sufficient`.
fn suffices(words: Wording<'_>, is_user: bool, is_explained: bool) -> bool {
    words.clauses(MARKS).any(|clause| {
        let verb = clause
            .iter()
            .position(|word| is_in!("is are was were proved proves turned turns came got seemed looked", word));
        verb.filter(|verb| *verb >= 2).is_some_and(|verb| {
            let word = |at: usize| clause.get(verb + at).unwrap_or(&NO_WORD);
            let is_enough = is_in!("enough sufficient plenty adequate", word(1));
            let is_best = is_in!("proved proves turned turns came seemed looked", word(0))
                && (1..5).any(|at| {
                    is_in!(
                        "fastest best simplest cheapest sufficient enough superior faster simpler ahead cleanest \
                        smallest safest \
                        adequate top cheaper safer cleaner leanest sturdiest honest",
                        word(at),
                    )
                });
            let is_put = is_in!("put built wired baked carried", word(1)) && is_in!("in into over through", word(2))
                || is_in!("introduced implemented merged instituted rolled", word(1));
            let is_meant = is_in!("intentional deliberate confirmed", word(1));
            let is_so = clause[..verb].iter().any(|word| is_in!("so therefore hence thus consequently", word));
            let is_part = word(1) == "now" && word(2) == "part" && word(3) == "of";
            (is_enough && (is_user || is_so)
                || is_best && (is_so || is_explained || is_user)
                || is_put && is_so
                || is_part
                || is_meant)
                && is_said_of(&clause[..verb], true)
        })
    })
}

/// Where the name of a thing ends that stands behind a word, with a preposition before it or none.
fn named_behind(words: Wording<'_>, at: usize) -> Option<usize> {
    let rest = words.skip(at + 1);
    let skip = rest.iter().take_while(|word| is_in!("on through with as to in by via at around", word)).count();
    thing::begins(rest.skip(skip)).filter(|count| *count >= 3).map(|count| at + 1 + skip + count)
}

/// `The service now relies on a queue`, `the final version has a queue`.
fn does_now(words: Wording<'_>) -> bool {
    const SEEN: &str = "right by until for and up test tests log logs build suite output page linter compiler run";
    (1..words.len().min(16)).any(|at| {
        let (before, verb) = (&words[at - 1], words.get(at + 1).unwrap_or(&NO_WORD));
        let is_now = words[at] == "now" && !is_in!(SEEN, before);
        let is_final = is_in!("final new revised merged committed", before)
            && is_in!("version design implementation plan solution setup architecture patch", &words[at]);
        let is_had = is_now && is_in!("we you", before) && *verb == "have";
        let does = (is_now || is_final) && verb.is(DOES) || is_had;
        (does || is_now && is_built(verb, words.get(at + 2))) && named_behind(words, at + 1).is_some()
    })
}

/// `built around`, `handled by`.
fn is_built(verb: &Word<'_>, next: Option<&Word<'_>>) -> bool {
    const BUILT: &str = "\
        built based modelled modeled backed powered driven done handled structured designed organised organized \
        centred centered arranged written shaped implemented kept stored served";
    is_in!(BUILT, verb) && next.is_some_and(|word| is_in!("on around with by as in via through using", word))
}

/// `The logic lives in a queue now`, `the design uses a queue throughout`.
fn does_throughout(words: Wording<'_>) -> bool {
    let is_lasting = words.last().is_some_and(|last| is_in!("throughout everywhere", last));
    // Most sentences end here: names are looked for word by word.
    if !is_lasting && !words.iter().any(|word| word == "now") {
        return false;
    }
    (1..words.len().min(16)).filter(|at| words[*at].is(DOES)).any(|at| {
        named_behind(words, at).is_some_and(|end| {
            let is_placed = is_in!("on through with as to in by via at around", &words[at + 1]);
            is_lasting
                || is_placed && words.get(end).is_some_and(|word| word == "now")
                || words.text.contains(" from now on")
        })
    })
}

/// Verbs of building, in the past.
pub(in crate::distill) const BUILT: &str = "\
    built based wrote implemented modelled modeled structured designed reworked rewrote rebuilt organised \
    organized solved handled addressed realised realized modeled";

/// `Reworked the module around a queue, as …`.
fn builds(words: &[Word<'_>], is_explained: bool) -> bool {
    (0..words.len().min(8)).any(|at| {
        let lead = at.checked_sub(1).map_or(&NO_WORD, |at| &words[at]);
        is_in!(BUILT, &words[at])
            && (at == 0 || lead.is(SPEAKER) || is_in!("have therefore and so just", lead))
            && words[at + 1..].iter().take(4).any(|word| is_in!("on around with as using via upon through", word))
            && (is_explained || at == 0 && words.get(1).is_some_and(|word| word == "as"))
    })
}

/// `No framework, just a queue`.
fn is_only(words: Wording<'_>) -> bool {
    words.first().is_some_and(|word| is_in!("no not", word))
        && words.clauses(MARKS).skip(1).any(|clause| {
            clause.first().is_some_and(|word| is_in!("just only simply but", word)) && thing::is_named(clause.skip(1))
        })
}

/// `Migrated to a queue`, `I've changed this to a queue`: the thing itself is another one now.
fn reshapes(words: Wording<'_>) -> bool {
    (0..words.len().min(14)).filter(|at| words[*at].is(SHAPES)).any(|verb| {
        let lead = verb.checked_sub(1).map_or(&NO_WORD, |at| &words[at]);
        let is_said = verb == 0
            || verb == 1 && is_in!("responsibility logic ownership handling everything storage config validation all", lead)
            || lead.is(SPEAKER)
            || is_in!("and have now just then therefore also so right fine", lead)
            || *lead == "been" && is_in!("everything all both", &words[0])
            || is_in!("was were been", lead)
                && words[..verb].iter().any(|word| is_in!("scope design plan approach implementation prototype task", word))
            || words.text.contains(". ");
        let to = (verb + 1..words.len().min(verb + 6)).find(|at| is_in!("to into onto on", &words[*at]));
        let is_place = |word: &Word<'_>| {
            is_in!(
                "branch main master next directory folder file files page step section root repo tab window line top bottom end",
                word,
            )
        };
        is_said
            && to.is_some_and(|to| {
                let rest = words.skip(to + 1);
                thing::is_named(rest)
                    && !rest.iter().take(2).any(is_place)
                    && !(rest[0].is(BASE) || is_in!("match align fit pass allow respect show", &rest[0]))
            })
    })
}

/// `…, so a queue`, `hence a queue.`: nothing but the name follows.
fn concludes(words: Wording<'_>, is_user: bool) -> bool {
    const FILLERS: &str = "\
        obviously clearly naturally definitely just simply yes yeah yep ok okay fine it's its it stays remains \
        still well inevitably logically only really that's";
    (0..words.len()).any(|at| {
        if !is_in!("so then hence therefore thus consequently ergo", &words[at]) {
            return false;
        }
        let skip = words[at + 1..].iter().take_while(|word| is_in!(FILLERS, word)).count();
        let rest = words.skip(at + 1 + skip);
        let Some(count) = thing::begins(rest) else { return false };
        // What an agent does `then` is what it does next.
        let is_meant = is_user || words[at] != "then" && (words[at] != "so" || at >= 3 || rest.len() == count);
        // What follows the name in its clause would say something of it.
        let is_alone = rest.len() == count
            || rest.until(Marks::and_dashes(*b",;(!").first(rest.text).unwrap_or(rest.text.len())).len() == count;
        let is_tailed = rest.get(count).is_some_and(|word| is_in!("and instead then now here this", word)) && is_user;
        is_meant && (is_alone || is_tailed) && thing::is_named(rest)
    })
}

/// `We're bound to a queue`, `I'm stuck with a queue`.
fn is_bound(words: &[Word<'_>]) -> bool {
    words.windows(4).any(|part| {
        let (verb, to) = if is_in!("are am", &part[1]) { (2, 3) } else { (1, 2) };
        is_in!("we we're i i'm", &part[0])
            && (verb == 2 || is_in!("we're i'm", &part[0]))
            && (is_in!("bound tied confined restricted committed", &part[verb]) && part[to] == "to"
                || is_in!("stuck left", &part[verb]) && part[to] == "with")
    })
}

/// `I did not remove the queue, because …`: what is left undone on purpose.
fn omits(words: &[Word<'_>]) -> bool {
    const DEEDS: &str = "\
        remove add change touch introduce generalise generalize abstract extract rename migrate refactor use \
        rewrite split make bump mock cache delete replace upgrade merge inline expose reuse wrap build import \
        depend pull support move convert";
    // `No dependency was added; …`
    let is_none = words.first().is_some_and(|word| word == "no")
        && words.windows(2).take(8).any(|pair| {
            is_in!("was were is are", &pair[0]) && is_in!("added introduced needed required used necessary", &pair[1])
        });
    is_none
        || words.windows(4).take(10).any(|part| {
            let not = if is_in!("did do will am", &part[1]) && part[2] == "not" { 3 } else { 2 };
            let is_not = not == 3 || is_in!("didn't won't don't", &part[1]);
            is_in!("i we", &part[0]) && is_not && is_in!(DEEDS, &part[not])
                || is_in!("i'm we're", &part[0])
                    && part[1] == "not"
                    && part[2].strip_suffix("ing").is_some_and(|stem| is_in!(DEEDS, &Word::of(stem)))
        })
}

/// What is done where nobody said how.
pub(in crate::distill) const ASSUMED: &str = "\
    implemented assumed applied introduced incorporated hardwired hardcoded presumed followed honoured honored \
    hard-coded hard-wired";

/// `The ticket does not say, so I assumed a queue`, `I applied a queue here, as …`.
fn assumes(words: &[Word<'_>]) -> bool {
    words.windows(3).any(|part| {
        let verb = if is_in!("have therefore just simply deliberately also thus then", &part[1]) {
            &part[2]
        } else {
            &part[1]
        };
        is_in!("i we i've we've", &part[0]) && is_in!(ASSUMED, verb)
    })
}

/// `You confirmed the queue above`.
fn is_confirmed(words: &[Word<'_>]) -> bool {
    const CONFIRMED: &str =
        "confirmed okayed ok'd blessed cleared sanctioned accepted specified dictated ordered ratified";
    words.windows(3).take(10).enumerate().any(|(at, part)| {
        (part[0] == "you" || part[0].is(PEOPLE) && !is_in!("they us users", &part[0]))
            && (is_in!(CONFIRMED, &part[1]) && !is_in!("that whether if it", &part[2])
                || is_in!("already just have has all both", &part[1]) && is_in!(CONFIRMED, &part[2]))
            && !words[..at].iter().any(|word| is_in!("if until once when unless before has", word))
    })
}

/// `You wanted the queue, so I removed the other one`.
fn is_wanted(words: Wording<'_>) -> bool {
    words.text.contains(" so ")
        && words.windows(3).take(6).any(|part| {
            part[0] == "you"
                && (is_in!("wanted want requested preferred prefer specified described chose", &part[1])
                    && !is_in!("to me", &part[2])
                    || is_in!("asked opted voted", &part[1]) && part[2] == "for")
        })
}

/// What a specification does.
pub(in crate::distill) const DEMANDS: &str = "demands requires mandates prescribes dictates forbids prohibits";

/// `As the spec demands a queue, I implemented that`.
fn obeys(words: Wording<'_>) -> bool {
    let ruled = words.iter().position(|word| is_in!(DEMANDS, word));
    ruled.is_some_and(|at| {
        words[at..].windows(2).any(|pair| {
            is_in!("i i've we we've", &pair[0]) && (pair[1].is(PAST) || is_in!("did implemented coded wrote", &pair[1]))
        })
    })
}

/// Where the one who speaks is at home.
pub(in crate::distill) const HERE: &str =
    "project repo repository codebase team company house module service app package org monorepo crate shop";

/// `In this repo we do a queue`, `in our company it's a queue`.
fn is_local(words: Wording<'_>) -> bool {
    words.windows(3).enumerate().any(|(at, part)| {
        part[0] == "in" && is_in!("this our", &part[1]) && is_in!(HERE, &part[2]) && {
            let rest = words.skip(at + 3);
            let skip =
                rest.iter().take_while(|word| is_in!("we it's it is do use have only always go with", word)).count();
            skip > 0 && thing::is_named(rest.skip(skip))
        }
    })
}

/// `Every notebook gets a queue`.
fn is_for_all(words: Wording<'_>) -> bool {
    words.iter().take(4).any(|word| is_in!("every everything all each any", word))
        && words
            .iter()
            .take(8)
            .position(|word| is_in!("gets get goes receives", word))
            .is_some_and(|at| at > 0 && thing::is_named(words.skip(at + 1)))
}

/// `With the queue confirmed, …`.
fn is_given(words: Wording<'_>) -> bool {
    let with = words.iter().take(10).position(|word| word == "with");
    with.is_some_and(|with| {
        let behind = &words[with + 1..];
        behind
            .iter()
            .take(14)
            .position(|word| is_in!("confirmed decided settled approved agreed chosen", word))
            .is_some_and(|at| at >= 2 && thing::is_thing(&behind[..at]))
    })
}

/// `A queue is what you get`, `…, and that's what is committed`.
fn is_what(words: &[Word<'_>]) -> bool {
    const DONE: &str = "\
        get gets committed implemented built merged pushed shipped ships settled picked went chose deploy \
        installed landed adopted wrote coded kept";
    words.windows(4).any(|part| {
        is_in!("is are that's was", &part[0])
            && part[1] == "what"
            && is_in!("is i i've we we've you you'll they customers users the our", &part[2])
            && (is_in!(DONE, &part[3]) || part[2] == "the")
    }) && words.iter().any(|word| is_in!(DONE, word))
}

/// What puts the others out.
const OUT: &str = "\
    constraints limits limit requirements constraint out eliminates eliminated excludes excluded disqualifies disqualified gone";

/// `That rules out the library, leaving a queue`.
fn is_left(words: Wording<'_>) -> bool {
    let at = words.iter().position(|word| is_in!("leaving leaves leave left", word)).filter(|at| *at >= 2);
    at.is_some_and(|at| {
        let skip = usize::from(words.get(at + 1).is_some_and(|word| is_in!("us only me just", word)));
        words[..at].iter().any(|word| is_in!(OUT, word)) && thing::is_named(words.skip(at + 1 + skip))
    })
}

/// `Now it's just a queue`, `it's back to a queue`.
fn is_it_now(words: Wording<'_>) -> bool {
    words.windows(2).enumerate().any(|(at, pair)| {
        let is_now = pair[0] == "now" && pair[1] == "it's" || pair[0] == "it's" && pair[1] == "now";
        let is_back = is_in!("it's we're", &pair[0]) && pair[1] == "back";
        (is_now || is_back) && {
            let rest = words.skip(at + 2);
            let skip = rest.iter().take_while(|word| is_in!("just only simply to", word)).count();
            (is_now || skip > 0) && thing::is_named(rest.skip(skip))
        }
    })
}

/// `Because it is there, a queue.`
fn is_because(words: Wording<'_>) -> bool {
    words.first().is_some_and(|word| is_in!("because since given as considering", word))
        && words.text.rfind(", ").is_some_and(|at| {
            let rest = words.from(at + 2);
            thing::is_named(rest) && thing::begins(rest) == Some(rest.len())
        })
        || words.len() >= 5
            && words[0] == "back"
            && words[1] == "to"
            && words.text.contains(": ")
            && thing::is_named(words.skip(2))
}

/// `refactor: move to a queue`, as commits are written.
fn is_commit(words: Wording<'_>) -> bool {
    const VERBS: &str = "\
        move switch introduce adopt replace drop migrate standardise standardize prefer convert default keep \
        record require enforce";
    words.first().is_some_and(|word| is_in!("feat fix refactor chore perf build style revert docs", word))
        && words.text.split_once(": ").is_some_and(|(kind, _)| {
            !kind.contains(' ') && words.get(words.count_until(kind.len())).is_some_and(|verb| is_in!(VERBS, verb))
        })
}
