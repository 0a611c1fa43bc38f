//! Sentences that conclude: a lead that sums up, a label, a report of whose choice it was, a state that is final.

use super::cues::{Cue, CueSet};
use super::words::is_in;

/// Leads behind which a conclusion stands.
const LEADS: &str = "\
    in the end|on balance|all things considered|bottom line|after weighing|after comparing|after some discussion|\
    after discussing|after some thought|after some back and forth|after much|from now on|from here on|going forward|\
    as of now|henceforth|by convention|as a rule|as agreed|as discussed|as decided|until further notice";

/// Labels of conclusions; those that make a section are known before a sentence is looked at.
const LABELS: &str = "\
    choice pick verdict conclusion outcome resolution resolved confirmed final approved agreed settled policy rule \
    convention principle constraint consensus preference call";

/// Verbs in the past by which something was chosen.
const PAST: &str = "\
    used kept left stored put replaced switched swapped dropped avoided skipped adopted picked chose selected based \
    capped limited pinned named deferred postponed preferred modelled modeled reused retained rejected";

/// The same, where only what it took the place of makes it a choice.
const WORK: &str = "made built wrote implemented moved added changed removed returned did";

/// What is said of a matter that is closed.
const CLOSED: &str = "\
    is final|are final|is frozen|are frozen|is non-negotiable|are non-negotiable|is mandatory|are mandatory|\
    off the table|set in stone|a no-go|is a must|are a must|out of the question|is a given|is locked in|\
    not up for debate|not up for discussion";

/// What holds for users and agents alike.
pub(super) fn by_anyone(text: &str, words: &[String], cues: CueSet) -> bool {
    let said = words.join(" ");
    LEADS.split('|').any(|lead| said.starts_with(lead))
        || CLOSED.split('|').any(|closed| said.contains(closed))
        || is_labelled(text)
        || looks_back(words, cues)
        || is_anothers(words)
        || is_why(words)
        || prefers(words, cues)
}

/// `Final pick: …`.
fn is_labelled(text: &str) -> bool {
    let Some((label, rest)) =
        [": ", " — ", " – "].iter().filter_map(|mark| text.split_once(mark)).min_by_key(|(label, _)| label.len())
    else {
        return false;
    };
    let label = label.to_ascii_lowercase();
    let is_short = label.split_whitespace().count() <= 4;
    let last = label.split_whitespace().next_back().unwrap_or_default();
    is_short && is_in(LABELS, last) && !rest.ends_with('?')
}

/// `I replaced X by Y because …`, `we moved it to Z instead`.
fn looks_back(words: &[String], cues: CueSet) -> bool {
    words.windows(3).take(8).any(|part| {
        let verb = if is_in("have just only deliberately therefore then also simply now", &part[1]) {
            &part[2]
        } else {
            &part[1]
        };
        matches!(part[0].as_str(), "i" | "we" | "i've" | "we've")
            && (is_in(PAST, verb) && cues.any(&[Cue::Reason, Cue::Contrast])
                || is_in(WORK, verb) && cues.has(Cue::Contrast))
    })
}

/// `The team prefers …`, `you insisted on …`: the agent tells whose choice it was.
fn is_anothers(words: &[String]) -> bool {
    let chose = "prefers insists insisted chose decided prefer opted vetoed";
    words.iter().take(7).skip(1).any(|word| is_in(chose, word))
        && words
            .first()
            .is_some_and(|word| is_in("the you they our everybody everyone management legal security ops he she", word))
}

/// `That's why we keep …`.
fn is_why(words: &[String]) -> bool {
    let kept =
        "use keep used kept went go chose picked store stored stay stayed stick stuck need want have prefer avoid";
    words.windows(3).any(|part| {
        part[0] == "why"
            && matches!(part[1].as_str(), "we" | "i" | "we'll" | "i'll" | "we're" | "i'm")
            && is_in(kept, &part[2])
    }) && words
        .first()
        .is_some_and(|word| matches!(word.as_str(), "that" | "that's" | "this" | "which" | "so" | "and" | "hence"))
}

/// `Better a queue than a cron job`, `Redis over Memcached, because …`.
fn prefers(words: &[String], cues: CueSet) -> bool {
    let first = words.first().map_or("", String::as_str);
    if matches!(first, "better" | "rather") && words.iter().any(|word| word == "than") {
        return true;
    }
    let Some(over) = words.iter().take(9).position(|word| word == "over") else { return false };
    let verbs = "is are was were it i we this that they has loops loop iterates iterate iterating looping goes go going \
        hand take carry run runs all left moved move spread";
    over > 0 && cues.has(Cue::Reason) && !words[..over].iter().any(|word| is_in(verbs, word))
}
