//! What is only told: supposed, remembered, asked or said by others who have no say here. It settles nothing.

use std::cell::LazyCell;

use super::lexicon::{FIRM, PAST, SPEAKER, WEAK};
use super::needs;
use super::vocabulary::{NO_WORD, Word, is_in};
use super::wording::Wording;

/// Whether a sentence only supposes, asks or reports.
pub(in crate::distill) fn is_told(words: Wording<'_>) -> bool {
    let is_ignorant = words.windows(2).take(2).any(|pair| {
        is_in!("don't dunno can't cannot", &pair[0])
            && is_in!("know remember understand think see get care tell", &pair[1])
    });
    // `I don't care what they say, we …`
    let is_settled = words.get(1).is_some_and(|word| word == "don't")
        && words.get(2).is_some_and(|word| word == "care")
        && words.text.contains(", ");
    is_ignorant && !is_settled
        || is_supposed(words)
        || is_reported(&words)
        || is_asked(words)
        || is_elsewhere(&words)
        || is_put_off(&words)
        || is_guessed(&words)
}

/// `Who chose this? git blame shows nothing`: a question with something behind it.
fn is_asked(words: Wording<'_>) -> bool {
    words.first().is_some_and(|word| {
        is_in!(
            "who what why how when where which did do does is are was were could can would should has have isn't",
            word
        )
    }) && words.text.contains("? ")
        && !words.iter().any(|word| word == "because")
}

/// `In my last job we used …`: settled, but not here.
fn is_elsewhere(words: &[Word<'_>]) -> bool {
    const PLACES: &str = "\
        job company team employer project gig startup firm workplace life client team's office shop";
    const PAST: &str = "used chose picked preferred had went liked adopted wanted ran decided";
    words.windows(4).take(3).any(|part| {
        is_in!("my our the a their", &part[0])
            && is_in!("old previous former last earlier prior", &part[1])
            && is_in!(PAST, &part[3])
    }) || words.windows(3).take(8).any(|part| {
        is_in!("my our their his her", &part[0])
            && is_in!("last previous old former other first prior earlier", &part[1])
            && is_in!(PLACES, &part[2])
    })
}

/// `Don't do anything about … yet`, `I'll ask her whether …`, `not saying that we should`.
fn is_put_off(words: &[Word<'_>]) -> bool {
    let word = |at: usize| words.get(at).unwrap_or(&NO_WORD);
    let asks = word(0).is(SPEAKER) && is_in!("ask check see find", word(1))
        || word(0).is(SPEAKER) && is_in!("will have need want", word(1)) && is_in!("ask check", word(2))
        || is_in!("ask check see find", word(0));
    let is_waited = is_in!("don't dont hold wait", word(0)) || word(0) == "do" && word(1) == "not";
    match word(0).as_str() {
        "not" if is_in!("saying sure convinced certain suggesting arguing", word(1)) => true,
        "i'm" | "we're" if word(1) == "not" && is_in!("saying sure convinced certain suggesting arguing", word(2)) => {
            true
        }
        _ => {
            is_waited && words.iter().any(|word| word == "yet")
                || asks && words.iter().any(|word| is_in!("whether if", word))
                || words.windows(2).any(|pair| pair[0] == "no" && is_in!("idea clue", &pair[1]))
                    && words.iter().any(|word| is_in!("wanted liked suggested mentioned asked planned", word))
        }
    }
}

/// `This was probably chosen …`.
fn is_guessed(words: &[Word<'_>]) -> bool {
    words
        .windows(2)
        .skip(3)
        .any(|pair| pair[0] == "it" && pair[1] == "seems" || pair[0] == "i'm" && pair[1] == "guessing")
        || words.windows(2).any(|pair| {
            is_in!(
                "probably presumably supposedly evidently seemingly allegedly reportedly possibly apparently",
                &pair[0]
            ) && pair[1].is(PAST)
                && pair[1].is(FIRM | WEAK)
        })
}

/// `Suppose we pick …`, `had we used …`, `no decision yet`.
pub(in crate::distill) fn is_supposed(sentence: Wording<'_>) -> bool {
    let word = |at: usize| sentence.get(at).unwrap_or(&NO_WORD);
    // What would be is often the reason.
    let reason = || sentence.iter().position(|word| is_in!("because since bc given", word)).filter(|at| *at > 2);
    let words = LazyCell::new(|| &sentence[..reason().unwrap_or(sentence.len())]);
    // `I could have done it otherwise, but …`, `the alternative would break it`: what was not chosen.
    let is_conceded = || words.iter().skip(3).any(|word| is_in!("but so therefore", word));
    let is_other = |at: usize| {
        at > 2
            && words[at - 2..at]
                .iter()
                .any(|word| is_in!("alternative alternatives otherwise else other others anything", word))
    };
    let is_led = match word(0).as_str() {
        "suppose" | "supposing" | "imagine" | "hypothetically" | "either" | "whether" | "assuming" => true,
        "assume" => is_in!("we i you that there it they", word(1)),
        "if" => words.iter().any(|word| is_in!("could would might may", word)),
        "had" => is_in!("we i you they", word(1)),
        "say" => is_in!("we i", word(1)),
        "let's" | "lets" => is_in!(
            "discuss talk think consider sleep compare evaluate see wait say suppose assume imagine pretend",
            word(1)
        ),
        "nobody" | "no-one" | "none" => is_in!("has have is was knows decided", word(1)),
        "consider" => words.iter().any(|word| is_in!("possibility option alternative idea whether", word)),
        "no" => is_in!("decision verdict conclusion agreement consensus", word(1)),
        _ => false,
    };
    is_led
        || sentence.has(needs::SUPPOSES) && supposing(&words, is_conceded, is_other)
        || sentence.iter().skip(2).any(|word| word == "yours")
            && words.windows(2).skip(1).any(|pair| pair[1] == "yours" && is_in!("is are", &pair[0]))
}

/// Whether three words say that something is not so, or not yet.
fn supposing(words: &[Word<'_>], is_conceded: impl Fn() -> bool, is_other: impl Fn(usize) -> bool) -> bool {
    words.windows(3).enumerate().filter(|(_, part)| part[0].is(needs::SUPPOSES)).any(|(at, part)| {
        is_in!("can't cannot don't do not", &part[0]) && is_in!("remember recall", &part[1])
            || is_in!("need needs have has want going able ready until before", &part[0])
                && part[1] == "to"
                && is_in!("decide choose", &part[2])
            || is_in!("before until once", &part[0])
                && is_in!("we i you you've we've they", &part[1])
                && is_in!("choose decide pick picked chosen decided settle commit", &part[2])
            || part[0] == "was" && part[1] == "going" && part[2] == "to"
            || part[0] == "would" && is_in!("be have mean require need make break cost", &part[1]) && !is_other(at)
            || is_in!("haven't hasn't not didn't never", &part[0])
                && (is_in!("decided chosen agreed settled picked", &part[1])
                    || is_in!("been yet we really", &part[1])
                        && is_in!("decided chosen agreed settled picked", &part[2]))
            || part[0] == "as" && part[1] == "soon" && part[2] == "as"
            || is_in!("may might could", &part[0]) && part[1] == "have" && !is_conceded()
            || part[0] == "must"
                && part[1] == "have"
                && (part[2] == "been" || part[2].is(PAST) || part[2].ends_with("ed"))
            || part[0] == "or" && part[1] == "not"
    })
}

/// `Someone on the forum recommends …`: others who have no say here.
fn is_reported(words: &[Word<'_>]) -> bool {
    const STRANGERS: &str = "\
        someone somebody people many most some projects forum blog article post reddit stackoverflow tutorial \
        author authors framework reviewer book video docs documentation upstream interesting talk competitors \
        competitor predecessor predecessors candidate applicant intern wiki rumour rumor rumours gossip consultant \
        neighbour hearsay youtube twitter newsletter podcast influencer folklore speaker";
    const SAYS: &str = "\
        recommends recommend recommended suggests suggest suggested argued argues says say said proposes proposed \
        claims claimed mention mentions mentioned describe describes choose chose picked use uses used prefer \
        prefers went wrote writes ships ship shipped swears swear likes played told";
    let is_she = words.first().is_some_and(|word| is_in!("she he they", word))
        && words.get(1).is_some_and(|word| is_in!("said says thinks told", word));
    let words = if words.first().is_some_and(|word| word.is(SPEAKER)) { &[] } else { words };
    is_she
        || words.iter().take(3).any(|word| is_in!(STRANGERS, word))
            && words.iter().take(8).any(|word| is_in!(SAYS, word))
}
