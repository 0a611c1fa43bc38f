//! Words that a rule cannot do without: a sentence that has none of them is not put to the rule.

use super::lexicon::Class;
use super::{choice, pick, state, swap, turn, verdict};

/// What is judged the better, and what the better one is.
pub(super) const GOOD: Class = 1 << 22;
pub(super) const KIND: Class = 1 << 23;
/// `What we keep`, `why we keep`.
pub(super) const WHAT: Class = 1 << 24;
pub(super) const WHY: Class = 1 << 25;
/// A noun of what was settled.
pub(super) const NAMED: Class = 1 << 26;
/// An option, by its place or by its name, or the `it` of `a queue it is`.
pub(super) const OPTION: Class = 1 << 27;
/// What was chosen, or made.
pub(super) const CHOSEN: Class = 1 << 28;
/// `Must`, and what must be so.
pub(super) const MUST: Class = 1 << 29;
pub(super) const STAYS: Class = 1 << 30;
/// A word of a clause that closes the matter.
pub(super) const CLOSES: Class = 1 << 31;
/// A way of doing it.
pub(super) const IDEA: Class = 1 << 32;
/// `Route`, `way`.
pub(super) const ROUTE: Class = 1 << 33;
/// What was done in the past.
pub(super) const DID: Class = 1 << 34;
/// What others did who may choose.
pub(super) const CHOSE: Class = 1 << 35;
/// `Over`, `not`, `than`.
pub(super) const THAN: Class = 1 << 36;
/// `Then`, `make`, and what else leads to a pick of an agent.
pub(super) const LEADS: Class = 1 << 37;
/// Who is said to want it.
pub(super) const SAYER: Class = 1 << 38;
/// One who speaks and may commit.
pub(super) const COMMITS: Class = 1 << 39;
/// `Only`, `nothing`.
pub(super) const ONLY: Class = 1 << 40;
/// What tasks are called.
pub(super) const TASK: Class = 1 << 41;
/// What stands of what was before.
pub(super) const OLD: Class = 1 << 42;
/// What puts a task away.
pub(super) const AWAY: Class = 1 << 43;
/// `Changed`, `shifted`.
pub(super) const CHANGED: Class = 1 << 44;
/// `Now`, `next`, `instead`.
pub(super) const NOW: Class = 1 << 45;
/// A first word of what leaves a task, and of what takes one up.
pub(super) const LEAVES: Class = 1 << 46;
pub(super) const TAKES: Class = 1 << 47;

/// Signs that a prompt turns to another task.
pub(super) const NAMED_TASK: Class = 1 << 48;
pub(super) const OVER: Class = 1 << 49;
pub(super) const WHEN: Class = 1 << 50;
pub(super) const TAKEN: Class = 1 << 51;

/// The first word of a turn of phrase, and of what rules ask for.
pub(super) const CUE: Class = 1 << 52;
pub(super) const SAYING: Class = 1 << 53;

/// `Now`, and what else says that something was not so before.
pub(super) const ANEW: Class = 1 << 54;
/// What was built or assumed.
pub(super) const BUILT: Class = 1 << 55;
/// What a specification does.
pub(super) const DEMANDS: Class = 1 << 56;
/// Where something holds, or for what.
pub(super) const HERE: Class = 1 << 57;
/// What was made of a proposal.
pub(super) const CONFIRMED: Class = 1 << 58;
/// `Leaving`.
pub(super) const LEAVING: Class = 1 << 59;
/// `Not`, in any of its forms.
pub(super) const NOT: Class = 1 << 60;
/// A word of a sentence that states what shall be.
pub(super) const STATED: Class = 1 << 61;
/// The first word of what only supposes.
pub(super) const SUPPOSES: Class = 1 << 62;
/// One thing for another, and the reason for it.
pub(super) const SWAPS: Class = 1 << 63;

pub(super) const NEEDS: &[(Class, &str)] = &[
    (GOOD, choice::GOOD),
    (KIND, choice::KINDS),
    (WHAT, "what"),
    (WHY, "why"),
    (NAMED, choice::SETTLED),
    (OPTION, choice::OPTIONS),
    (OPTION, "first second third last former latter it it'll"),
    (CHOSEN, choice::CHOSEN),
    (CHOSEN, choice::MADE),
    (MUST, "must shall should will has have needs need"),
    (STAYS, "stay remain keep go use live rely"),
    (CLOSES, verdict::CLOSING),
    (IDEA, verdict::IDEAS),
    (ROUTE, "route path road way"),
    (DID, verdict::PAST),
    (DID, verdict::WORK),
    (DID, verdict::BUILT),
    (CHOSE, verdict::CHOSE),
    (THAN, "over not than"),
    (
        LEADS,
        "ok okay no nope nah yes yeah yep fine agreed then make lol between fair so for yup sure alright let's got",
    ),
    (LEADS, "right understood noted roger acknowledged perfect great sounds thanks makes k"),
    (SAYER, pick::SAYERS),
    (COMMITS, "we i we'll i'll we're i'm let's lets let"),
    (ONLY, "only nothing"),
    (TASK, turn::NAMES),
    (TASK, "task topic goal job assignment ticket project mission target one"),
    (OLD, turn::OLD),
    (AWAY, turn::DISMISS),
    (AWAY, "put set leave"),
    (CHANGED, "change changes changed shifted shift"),
    (NOW, "now next instead let's lets"),
    (NAMED_TASK, turn::TASKS),
    (OVER, turn::OVER),
    (WHEN, turn::WHEN),
    (TAKEN, turn::TAKEN),
    (ANEW, "now back final new revised merged committed"),
    (BUILT, state::BUILT),
    (BUILT, state::ASSUMED),
    (DEMANDS, state::DEMANDS),
    (HERE, state::HERE),
    (HERE, "gets get goes receives"),
    (CONFIRMED, "confirmed decided settled approved agreed chosen"),
    (LEAVING, "leaving leaves leave left"),
    (NOT, "no not didn't won't don't"),
    (
        STATED,
        "shall must will won wins prevails prevailed it's it it'll resolves resolved boils comes closed settled answered",
    ),
    (STATED, "decided new agreed current final then now in out"),
    (
        SUPPOSES,
        "can't cannot don't do not need needs have has want going able ready until before once was would haven't",
    ),
    (SUPPOSES, "hasn't didn't never as may might could must or"),
    (SWAPS, swap::SWAPPED),
    (SWAPS, "replace swap exchange trade substitute sole only your"),
    (SWAPS, swap::REASONS),
    (SWAPS, swap::BEATS),
    (LEAVES, turn::LEAVING),
    (LEAVES, turn::OLD),
    (
        LEAVES,
        "no not what out off won't don't commit push care rabbit happy done finished through satisfied good fine call",
    ),
    (
        LEAVES,
        "calling consider next another backlog anymore merged shipped unnecessary finished reassigned deprioritised",
    ),
    (LEAVES, "deprioritized moot obsolete superseded"),
    (
        TAKES,
        "work working start starting focus begin concentrate get going carry turn switch move shift pivot jump over go",
    ),
    (
        TAKES,
        "change back attention from takes take taking all what thing goal task objective mission priority job assignment",
    ),
    (
        TAKES,
        "deal look i we tackle handle part step phase item number reassigned dealt taken the instead urgent pressing",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distill::wording::spelt;

    #[test]
    fn every_phrase_passes_the_gate_before_it() {
        for closer in verdict::CLOSERS.split('|') {
            assert!(spelt(closer, |words| words.has(CLOSES)), "{closer}");
        }
        for (class, list) in NEEDS {
            for word in list.split_whitespace() {
                assert!(spelt(word, |words| words.has(*class)), "{word}");
            }
        }
    }

    #[test]
    fn phrases_of_rules_begin_with_a_word_that_is_known_to() {
        for phrase in crate::distill::sayings::phrases() {
            assert!(spelt(phrase, |words| words[0].is(SAYING)), "{phrase}");
        }
    }
}
