//! What stands behind a verb of choosing: the same verb without it is a verb of work, or of moving about.

use super::vocabulary::{Word, is_in};

/// What something is made, where nothing is chosen: `making this work`.
const OUTCOMES: &str = "\
    work clear possible pass more less sure simple explicit happen available safe green compile fail stable happy \
    easy fast right better robust test tests file function method code change";

/// Whether a verb of choosing has behind it what makes it one: `went with`, but not `went through`.
pub(in crate::distill) fn goes_on(verb: &Word<'_>, next: &Word<'_>, after: &Word<'_>) -> bool {
    let stem = &verb[..verb.floor_char_boundary(4)];
    match stem {
        "go" | "goes" | "goin" | "went" | "gone" => {
            is_in!("with for without w along", next)
                || *next == "all" && *after == "in"
                || *next == "back" && *after == "to" && *verb != "go" && *verb != "going"
        }
        "stay" => is_in!("with on away", next),
        "side" | "sidi" | "live" | "livi" => *next == "with",
        "stic" | "stuc" => is_in!("with to", next),
        "land" | "lean" | "conv" => is_in!("on", next),
        "swit" => is_in!("to back from over", next),
        "reve" | "retu" | "move" | "movi" | "fall" | "fell" | "reso" | "turn" => is_in!("to back", next),
        "sett" => is_in!("on for", next),
        "opt" | "opts" | "opte" | "opti" => is_in!("for to out against", next),
        "comm" => is_in!("to ourselves", next) && *after != "main" && *after != "master",
        "deci" => is_in!("on for to that against in not upon we", next) && !is_in!("look check read see", after),
        "vote" | "voti" => is_in!("for to against in", next),
        "rule" | "ruli" => is_in!("out in that against", next),
        "agre" => is_in!("on to that upon with", next) && !is_in!("you that this", after),
        "insi" => is_in!("on that", next),
        "lock" => is_in!("in down", next),
        "pick" => !is_in!("up out", next),
        "take" | "took" | "taki" => {
            !is_in!("up over care note place time long back off", next)
                && !is_in!(
                    "look break peek note glance screenshot while moment guess closer quick snapshot deeper",
                    after,
                )
        }
        "keep" | "kept" => !is_in!("going in track an you", next) && *after != "rest" && !next.ends_with("ing"),
        "use" | "used" | "usin" => *next != "to",
        "make" | "made" | "maki" => {
            is_in!("it that this the", next) && is_in!("a an the default one", after)
                || *next == "this" && !after.is_empty() && !is_in!(OUTCOMES, after) && !after.ends_with("er")
        }
        "give" | "gave" | "givi" => *next == "up",
        "impl" if is_in!("with using via as on in", next) => true,
        "writ" | "wrot" | "impl" | "desi" | "remo" => {
            is_in!("it this that", next) && is_in!("as with on in using via", after)
        }
        "say" | "says" | "said" | "sayi" => !is_in!("that hi hello so it this what nothing anything something", next),
        "have" | "havi" | "had" => {
            !is_in!("to you been a-look it them not", next)
                && !is_in!("look problem question issue", after)
                && *verb != "had"
        }
        "want" => !is_in!("to you me it", next),
        "putt" | "put" | "hold" | "held" => !is_in!("on off up back", next),
        _ => !next.is_empty(),
    }
}
