//! Words that a rule cannot do without: a sentence that has none of them is not put to the rule.

use super::lexicon::Class;
use super::{choice, pick, state, swap, turn, verdict};

/// What is judged the better, and what the better one is.
pub(in crate::distill) const GOOD: Class = 1 << 22;
pub(in crate::distill) const KIND: Class = 1 << 23;
/// `What we keep`, `why we keep`.
pub(in crate::distill) const WHAT: Class = 1 << 24;
pub(in crate::distill) const WHY: Class = 1 << 25;
/// A noun of what was settled.
pub(in crate::distill) const NAMED: Class = 1 << 26;
/// An option, by its place or by its name, or the `it` of `a queue it is`.
pub(in crate::distill) const OPTION: Class = 1 << 27;
/// What was chosen, or made.
pub(in crate::distill) const CHOSEN: Class = 1 << 28;
/// `Must`, and what must be so.
pub(in crate::distill) const MUST: Class = 1 << 29;
pub(in crate::distill) const STAYS: Class = 1 << 30;
/// A word of a clause that closes the matter.
pub(in crate::distill) const CLOSES: Class = 1 << 31;
/// A way of doing it.
pub(in crate::distill) const IDEA: Class = 1 << 32;
/// `Route`, `way`.
pub(in crate::distill) const ROUTE: Class = 1 << 33;
/// What was done in the past.
pub(in crate::distill) const DID: Class = 1 << 34;
/// What others did who may choose.
pub(in crate::distill) const CHOSE: Class = 1 << 35;
/// `Over`, `not`, `than`.
pub(in crate::distill) const THAN: Class = 1 << 36;
/// `Then`, `make`, and what else leads to a pick of an agent.
pub(in crate::distill) const LEADS: Class = 1 << 37;
/// Who is said to want it.
pub(in crate::distill) const SAYER: Class = 1 << 38;
/// One who speaks and may commit.
pub(in crate::distill) const COMMITS: Class = 1 << 39;
/// `Only`, `nothing`.
pub(in crate::distill) const ONLY: Class = 1 << 40;
/// What tasks are called.
pub(in crate::distill) const TASK: Class = 1 << 41;
/// What stands of what was before.
pub(in crate::distill) const OLD: Class = 1 << 42;
/// What puts a task away.
pub(in crate::distill) const AWAY: Class = 1 << 43;
/// `Changed`, `shifted`.
pub(in crate::distill) const CHANGED: Class = 1 << 44;
/// `Now`, `next`, `instead`.
pub(in crate::distill) const NOW: Class = 1 << 45;
/// A first word of what leaves a task, and of what takes one up.
pub(in crate::distill) const LEAVES: Class = 1 << 46;
pub(in crate::distill) const TAKES: Class = 1 << 47;

/// Signs that a prompt turns to another task.
pub(in crate::distill) const NAMED_TASK: Class = 1 << 48;
pub(in crate::distill) const OVER: Class = 1 << 49;
pub(in crate::distill) const WHEN: Class = 1 << 50;
pub(in crate::distill) const TAKEN: Class = 1 << 51;

/// The first word of a turn of phrase, and of what rules ask for.
pub(in crate::distill) const CUE: Class = 1 << 52;
pub(in crate::distill) const SAYING: Class = 1 << 53;

/// `Now`, and what else says that something was not so before.
pub(in crate::distill) const ANEW: Class = 1 << 54;
/// What was built or assumed.
pub(in crate::distill) const BUILT: Class = 1 << 55;
/// What a specification does.
pub(in crate::distill) const DEMANDS: Class = 1 << 56;
/// Where something holds, or for what.
pub(in crate::distill) const HERE: Class = 1 << 57;
/// What was made of a proposal.
pub(in crate::distill) const CONFIRMED: Class = 1 << 58;
/// `Leaving`.
pub(in crate::distill) const LEAVING: Class = 1 << 59;
/// `Not`, in any of its forms.
pub(in crate::distill) const NOT: Class = 1 << 60;
/// A word of a sentence that states what shall be.
pub(in crate::distill) const STATED: Class = 1 << 61;
/// The first word of what only supposes.
pub(in crate::distill) const SUPPOSES: Class = 1 << 62;
/// One thing for another, and the reason for it.
pub(in crate::distill) const SWAPS: Class = 1 << 63;

pub(in crate::distill) const NEEDS: &[(Class, &str)] = &[
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
    (LEADS, pick::AGREEING),
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
    (LEAVES, turn::PAST_TASK),
    (
        LEAVES,
        "no not what out off won't don't commit push care rabbit happy done finished through satisfied good fine call",
    ),
    (LEAVES, "calling consider next another"),
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
    use crate::distill::speech::wording::spelt;

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
        for phrase in crate::distill::speech::sayings::phrases() {
            assert!(spelt(phrase, |words| words[0].is(SAYING)), "{phrase}");
        }
    }
}
