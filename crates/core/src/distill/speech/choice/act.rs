//! Acts of choosing: who settles, by which verb, in which form; and what takes such a sentence back.
//!
//! The verbs are many and known; the subject makes the act. So a verb in any form counts where the one who speaks, or
//! people who may, do it, in whichever clause, and where nothing says that it is only told, thought of or asked.

use super::hearsay::{self, is_supposed};
use super::lexicon::{
    BASE, BETWEEN, Class, FIRM, GOING, MEETING, PAST, PEOPLE, PERCEIVES, SETTLED, SPEAKER, TELLS, THEREFORE, THIRD,
    UNSETTLED, WEAK,
};
use super::marks::{Mark, Marks};
use super::particle::goes_on;
use super::vocabulary::{List, NO_WORD, Word, is_in, list};
use super::wording::Wording;
use super::{Voice, label, marks, needs, state};

/// A sentence, its words and what these can be.
struct Clause<'a> {
    text: &'a str,
    words: Wording<'a>,
    is_explained: bool,
    /// What a user says of how it is done is how it shall be.
    is_user: bool,
}

/// Whether a sentence, said by whom it may be, is an act of choosing.
pub(in crate::distill) fn settles(voice: Voice, words: Wording<'_>, is_explained: bool) -> bool {
    let text = words.text;
    let is_explained = is_explained || voice != Voice::User && is_led_by_reason(&words);
    let clause = Clause { text, words, is_explained, is_user: voice == Voice::User };
    let any = words.iter().fold(0, |any, word| any | word.class());
    // `B) a trie, because …` is one of several.
    let is_option = text.as_bytes().get(1) == Some(&b')') || text.starts_with('(');
    if is_option || is_supposed(words) {
        return false;
    }
    let is_act = any & (FIRM | WEAK | SETTLED | MEETING | PEOPLE | THEREFORE) != 0
        || is_explained
        || clause.is_user
        || marks::find(text, ": ", 0).is_some()
        || clause.standing().is_some();
    if is_act && clause.speaker_acts() {
        return true;
    }
    if clause.perceives() || words.iter().any(|word| word == "whether") {
        return false;
    }
    is_act && clause.acts()
        || state::holds(words, any, clause.is_user, is_explained)
        || label::leads(words, clause.is_user)
}

/// `For simplicity I used …`, `dropped the other two, kept …`: the reason, or what was not taken, stands first.
fn is_led_by_reason(words: &[Word<'_>]) -> bool {
    const LEFT: &str =
        "dropped avoided rejected discarded skipped removed abandoned scrapped ditched deleted eliminated avoiding";
    const TAKEN: &str = "kept used took adopted retained using keeping";
    let first = words.first().unwrap_or(&NO_WORD);
    let is_led = is_in!("for to given per following considering due under out because since as in", first)
        && (2..words.len().min(14)).any(|at| {
            is_in!("i i've we we've", &words[at])
                && words[at + 1..].iter().take(2).any(|word| word.is(PAST) && word.is(FIRM | WEAK) && !word.is(BASE))
        })
        && !words
            .iter()
            .take(2)
            .any(|word| is_in!("see find check test verify reproduce debug understand measure run", word));
    is_led || {
        let left = words.iter().take(5).position(|word| is_in!(LEFT, word));
        left.is_some_and(|left| words[left + 1..].iter().any(|word| is_in!(TAKEN, word)))
    }
}

/// Whether a sentence only supposes, perceives or reports: what it says of choices settles nothing.
pub(in crate::distill) fn is_told(words: Wording<'_>) -> bool {
    let words = words.at_most(40);
    if hearsay::is_told(words) {
        return true;
    }
    let clause = Clause { text: words.text, words, is_explained: true, is_user: true };
    clause.perceives() && !clause.speaker_acts()
}

impl Clause<'_> {
    /// Whether it is an act of choosing, by whom it may be.
    fn acts(&self) -> bool {
        self.words.has(PEOPLE) && self.people_act()
            || self.favours()
            || self.words.has(SETTLED) && self.names_settled()
            || self.is_led()
            || self.begins_with_act()
            || self.words.has(THEREFORE) && self.concludes()
            || self.words.has(SPEAKER) && self.is_cleft()
            || self.words.has(needs::STATED) && self.is_stated()
            || self.is_named()
    }

    fn word(&self, at: usize) -> &Word<'_> {
        self.words.get(at).unwrap_or(&NO_WORD)
    }

    fn is(&self, at: usize, class: Class) -> bool {
        self.words.get(at).is_some_and(|word| word.is(class))
    }

    /// Whether the word is a verb of choosing in one of these forms, with what has to stand behind it.
    fn is_act(&self, at: usize, forms: Class) -> bool {
        self.is(at, forms)
            && (self.is(at, FIRM)
                || self.is_explained
                || self.is_user && self.is(at, BASE | GOING)
                || self.word(at + 1) == "from")
            && self.is(at, FIRM | WEAK)
            && goes_on(self.word(at), self.word(at + 1), self.word(at + 2))
    }

    /// `We will just …`, `I've therefore …`, `…, so I took …`: a verb of choosing of the one who speaks.
    fn speaker_acts(&self) -> bool {
        // `Dropped mine and adopted …`
        let mut has_speaker = self.is(0, FIRM | WEAK) && self.is(0, PAST) && !self.is(0, BASE);
        for at in 0..self.words.len() {
            let is_us = self.word(at) == "us" && at > 0 && self.word(at - 1) == "let";
            if self.is(at, SPEAKER) || is_us {
                let is_open = self.words[at.saturating_sub(3)..at]
                    .iter()
                    .any(|word| is_in!("if whether should could can would when before until once suppose", word));
                has_speaker |= !is_open;
                if !is_open && self.acts_behind(at) {
                    return true;
                }
            }
            // `…, and adopted …`
            if !has_speaker || !self.is(at, PAST) || self.is(at, BASE) {
                continue;
            }
            let is_joined = at > 1
                && (is_in!("and but so then hence therefore", self.word(at - 1))
                    || is_in!("kept took adopted retained", self.word(at))
                        && is_in!("two three others rest other", self.word(at - 1)));
            if is_joined && self.is_act(at, PAST) {
                return true;
            }
        }
        false
    }

    fn acts_behind(&self, speaker: usize) -> bool {
        let until = (speaker + 6).min(self.words.len());
        let Some(verb) = (speaker + 1..until).find(|at| !self.is(*at, BETWEEN) || self.is(*at, GOING)) else {
            return false;
        };
        let before = &self.words[speaker..verb];
        let has = |list: List| before.iter().any(|word| list.has(word));
        if has(list!("had")) && self.is(verb, PAST) || has(list!("not never")) && !self.is_explained {
            return false;
        }
        let is_being = has(list!("i'm we're am are im"));
        let is_planned = has(list!("i'll we'll will shall must should let's lets us going to"));
        // What is to be decided is not; what `we agree` on is.
        let is_later = is_planned && is_in!("decide agree vote rule approve", self.word(verb));
        // What an agent says that it will do is work, where the verb is one of work.
        let is_work = is_planned && !self.is_user && is_in!(WORK, self.word(verb));
        self.is_act(verb, PAST) && !is_planned
            || self.is_act(verb, BASE) && !is_later && !is_work
            || self.is_act(verb, GOING) && is_being
    }

    /// `The board signed off on …`, `the client explicitly asked for …`.
    fn people_act(&self) -> bool {
        // What people insist on in the reason is the reason.
        let reason = self.words.iter().position(|word| is_in!("because since bc as", word)).filter(|at| *at > 2);
        (0..reason.unwrap_or(self.words.len()).min(16)).filter(|at| self.is(*at, PEOPLE)).any(|at| {
            let mut before = self.words[at.saturating_sub(3)..at].iter();
            if before.any(|word| is_in!(NOT_ALL, word)) {
                return false;
            }
            let until = (at + 5).min(self.words.len());
            let Some(verb) = (at + 1..until).find(|at| !self.is(*at, BETWEEN)) else { return false };
            let is_pronoun = is_in!("they users you", self.word(at));
            let next = self.word(verb + 1);
            let wants = !is_pronoun
                && next != "to"
                && (is_in!("wants demands demanded requires required requested mandated prefers", self.word(verb))
                    || is_in!("asked asks called calls pushed", self.word(verb)) && next == "for")
                || self.is_user
                    && is_in!("insist insists insisted", self.word(verb))
                    && next == "on"
                    && !is_in!("it this that", self.word(verb + 2));
            let signs = is_in!("signed signs sign", self.word(verb)) && next == "off" || self.word(verb) == "ok'd";
            wants
                || signs
                || self.is(verb, FIRM)
                    && self.is_act(verb, PAST | THIRD | GOING | if self.word(at) == "us" { BASE } else { 0 })
                    && !is_in!("goes went says said saying take takes taking", self.word(verb))
        })
    }

    /// `The answer to your question is …`, `so the outcome was …`.
    fn names_settled(&self) -> bool {
        (0..self.words.len().min(14)).filter(|at| self.is(*at, SETTLED)).any(|at| {
            // `The only real decision`, `the board's verdict`.
            let owned = at == 0
                || self.word(at - 1).ends_with("'s")
                || self.words[at.saturating_sub(3)..at]
                    .iter()
                    .any(|word| is_in!("the our my final that so and this key main their his her your", word));
            if self.is_decision_for(at) {
                return true;
            }
            let until = (at + 7).min(self.words.len());
            let is = (at + 1..until).find(|at| is_in!("is was remains stays stands", self.word(*at)));
            let firm = is_in!(
                "decision decisions choice verdict conclusion consensus ruling resolution agreement selection winner deal",
                self.word(at),
            ) || at > 0
                && is_in!("call rule pick policy preference convention", self.word(at))
                && (self.word(at - 1).ends_with("'s") || is_in!("our my final house team's", self.word(at - 1)));
            owned
                && is.is_some_and(|is| {
                    let names = !is_in!(
                        "it not in still that no open pending up whether to unclear the wrong based yours mine",
                        self.word(is + 1),
                    ) || self.word(is + 1) == "the"
                        || self.word(is + 1) == "to" && firm;
                    // `The rule is applied …`
                    let is_done = self.word(is + 1).ends_with("ed") && !self.is(is + 1, FIRM);
                    let is_answer = self.is_user && is_in!("answer pick", self.word(at));
                    names && !is_done && (firm || self.is_explained || is_answer)
                })
                && !self.is_unsettled(0, at)
        })
    }

    /// `Our decision for …`, `your call was …`, `following the team's ruling, …`.
    fn is_decision_for(&self, at: usize) -> bool {
        let owner = at.checked_sub(1).map_or(&NO_WORD, |at| self.word(at));
        let next = self.word(at + 1);
        let is_owned = is_in!("our my your their his her", owner) || owner.ends_with("'s");
        let is_ours = is_in!("our my", owner) && is_in!("for against", next);
        let is_past =
            is_owned && next == "was" && is_in!("call decision choice verdict pick preference ruling", self.word(at));
        let follows = is_owned
            && is_in!("following per given honouring honoring after with under by as", self.word(0))
            && at <= 6
            && self.text.contains(", ")
            && is_in!("decision choice verdict ruling preference call policy requirement", self.word(at));
        is_ours || is_past || follows
    }

    /// `That resolves it in favour of …`.
    fn favours(&self) -> bool {
        let at = self
            .words
            .windows(3)
            .position(|part| part[0] == "in" && is_in!("favour favor", &part[1]) && part[2] == "of");
        at.is_some_and(|at| {
            !(0..at).any(|at| is_in!("argue argued argues speaks arguments argument some others voices", self.word(at)))
        })
    }

    fn is_unsettled(&self, from: usize, until: usize) -> bool {
        (from..until).any(|at| self.is(at, UNSETTLED))
    }

    /// `I'm convinced: …`, `as a general rule from today: …`: what leads to it says that it is settled.
    fn is_led(&self) -> bool {
        let Some((lead, rest)) = self.words.split_once(": ") else { return false };
        // `Re 3: …`, `as for the storage: …`
        let from = lead.len();
        let named = from + rest.count_until(Marks::of(*b",;(.").first(rest.text).unwrap_or(rest.text.len()));
        let is_named = || self.is_nominal(from, named) && named >= from + 3;
        // `Noted: …`
        if from <= 2 && is_in!("noted understood confirmed roger ack right ok okay", self.word(0)) {
            return is_named();
        }
        let is_numbered = self.word(0).starts_with('q') && self.word(0)[1..].bytes().all(|byte| byte.is_ascii_digit());
        if is_numbered && from == 1 {
            return is_named();
        }
        if from <= 5
            && (is_in!("re ad regarding concerning", self.word(0)) || self.word(0) == "as" && self.word(1) == "for")
            && from > 1
        {
            return is_named();
        }
        let n = from;
        let is_settling = (0..n).any(|at| {
            // `The call site: …` is none.
            let is_noun = !is_in!("site sites stack graph tree chain file table engine set order", self.word(at + 1));
            let is_verb = self.is(at, FIRM) && !is_in!("go going take taking say says stay live land", self.word(at));
            self.is(at, MEETING) || self.is(at, SETTLED) && is_noun || is_verb
        });
        (2..=12).contains(&n)
            && is_settling
            && !self.is_unsettled(0, n)
            && !is_in!("your what which how why when here the-following", self.word(0))
            && !self.words[..n].iter().any(|word| is_in!(SHOWN, word))
            && rest.len() >= 2
            && !self.words[n..].iter().any(|word| word == "others")
    }

    /// `Went for …`, `deliberately kept … because …`.
    fn begins_with_act(&self) -> bool {
        let Some(first) = (0..self.words.len().min(4)).find(|at| !self.is(*at, BETWEEN) || self.is(*at, GOING)) else {
            return false;
        };
        // `Rejected: …` is the label of what was not chosen.
        let is_label = || self.text.split_whitespace().nth(first).is_some_and(|word| word.ends_with(':'));
        self.is_act(first, PAST | GOING)
            && !is_label()
            && !self.is(first, BASE)
            && !self.words[..first].iter().any(|word| is_in!("to be", word))
    }

    /// `…, hence a queue`, where nothing but its name follows.
    fn concludes(&self) -> bool {
        let from = (0..self.words.len())
            .rfind(|at| self.is(*at, THEREFORE) && !is_in!("gonna won wins prevails prevailed", self.word(*at)));
        from.is_some_and(|from| from >= 3 && self.is_nominal(from + 1, self.words.len()))
    }

    /// `Where we ended up is …`, `the one I implemented is …`.
    fn is_cleft(&self) -> bool {
        (1..self.words.len().min(10)).any(|at| {
            is_in!("i we i've we've we're i'm", self.word(at))
                && is_in!("what where how one which that option design variant version", self.word(at - 1))
                && {
                    let until = self.words.len().min(at + 6);
                    let is = (at + 2..until).find(|at| is_in!("is was", self.word(*at)));
                    is.is_some_and(|is| {
                        let is_chosen = (at + 1..is).any(|at| {
                            self.is(at, FIRM | WEAK) || is_in!("ended landed implemented doing shipping", self.word(at))
                        });
                        is_chosen && !(at + 1..is).any(|at| self.is(at, PERCEIVES)) && !self.is_unsettled(is, is + 4)
                    })
                }
        })
    }

    /// `It's going to be a queue`, `…, so that's a queue now`, `… goes in`.
    fn is_stated(&self) -> bool {
        let n = self.words.len();
        let word = |at: usize| self.word(at);
        let is_new = (0..n.min(8)).any(|at| {
            is_in!("new agreed current final", word(at))
                && is_in!("one plan approach default standard rule setup design idea", word(at + 1))
                && word(at + 2) == "is"
                && self.is_nominal(at + 3, n.min(at + 6))
        });
        // `The default shall be …`
        let is_ordained = (1..n.min(12)).any(|at| {
            is_in!("shall must will", word(at))
                && word(at + 1) == "be"
                && (self.is_explained || self.is_user || word(at) == "shall")
                && !is_in!("it this that they you i we", word(at - 1))
                && (word(at - 1) != "there" || word(at) == "shall")
                && self.is_nominal(at + 2, n.min(at + 6))
        });
        // `Question 1 is closed: …`
        let is_answered = (0..n.min(6)).any(|at| {
            is_in!("question questions point issue matter topic item", word(at))
                && (at + 1..n.min(at + 4)).any(|be| {
                    is_in!("is are was", word(be)) && is_in!("closed settled resolved answered decided", word(be + 1))
                })
        }) && self.text.contains(": ");
        if is_answered {
            return true;
        }
        let is_last = is_in!("ultimately eventually finally", word(0));
        // `… won: it is smaller`
        let is_won = (2..n).any(|at| {
            (self.is_explained || self.is_user || is_last || word(at + 1) == "on")
                && is_in!("won wins prevails prevailed", word(at))
                && (at + 1 == n || is_in!("because since as it we the over out here hands by on", word(at + 1)))
                && self.is_nominal(0, at)
                && !is_in!("write writer one match rule", word(at - 1))
        });
        if is_new || is_ordained || is_won {
            return true;
        }
        let is_to_be = (0..n.min(12)).any(|at| {
            is_in!("it's it it'll", word(at))
                && (at + 1..n.min(at + 4))
                    .any(|be| word(be) == "be" && word(be - 1) != "not" && self.is_nominal(be + 1, n.min(be + 6)))
                && !is_in!("can could might may should would", word(at + 1))
        });
        let ends = n >= 5 && is_in!("then now", word(n - 1));
        let is_so = ends
            && (1..n).any(|at| {
                is_in!("that's it's this", word(at)) && word(at - 1) == "so" && self.is_nominal(at + 1, n - 1)
            });
        let is_in_or_out = n >= 5 && is_in!("in out", word(n - 1)) && is_in!("is goes stays are go", word(n - 2));
        let resolves = (0..n.min(6)).any(|at| {
            is_in!("resolves resolved boils comes", word(at))
                && (is_in!("to down", word(at + 1)) || is_in!("it this that", word(at + 1)) && word(at + 2) == "as")
        }) && (ends || self.is_explained);
        is_to_be || is_so || is_in_or_out || resolves
    }

    /// Whether words name a thing and tell nothing of it.
    fn is_nominal(&self, from: usize, until: usize) -> bool {
        let until = until.min(self.words.len());
        from + 2 <= until
            && until - from <= 16
            && !(from..until)
                .any(|at| self.is(at, TELLS | UNSETTLED | THIRD) || is_in!("currently tomorrow later", self.word(at)))
            && !is_in!(NOT_NAMES, self.word(from))
    }

    /// Whether it is said to hold from here on.
    fn standing(&self) -> Option<&'static str> {
        if !self.words.last().is_some_and(|last| is_in!(STANDING_ENDS, last)) {
            return None;
        }
        let lower = self.text.trim_end_matches(['.', '!']);
        STANDING.split('|').find(|standing| lower.ends_with(standing))
    }

    /// `A queue, because …`, `got it, a queue from now on`: named, and explained or said to hold.
    fn is_named(&self) -> bool {
        let first = self.words.iter().take_while(|word| is_in!(ACKNOWLEDGES, word)).count();
        if let Some(standing) = self.standing() {
            let until = self.words.count_until(self.text.trim_end_matches(['.', '!']).len() - standing.len());
            return self.is_nominal(first, until);
        }
        // Without the comma the verb may be one that is not known.
        is_in!("a an the plain one no only", self.word(first))
            && self.reason_set_off().is_some_and(|reason| reason >= first + 3 && self.is_nominal(first, reason))
    }

    /// How many words stand before the reason, where that is set off.
    fn reason_set_off(&self) -> Option<usize> {
        let is_reason = |mark: Mark| {
            let reason = self.words.count_until(mark.at);
            let is_spaced =
                self.text[mark.end()..].starts_with(' ') && (!mark.is_dash || self.text[..mark.at].ends_with(' '));
            let is_told = mark.is_dash || is_in!("because since given as bc", self.word(reason));
            (is_spaced && is_told).then_some(reason)
        };
        Marks::and_dashes(*b",").all(self.text).find_map(is_reason)
    }

    /// `I saw that …`, `I'm looking at …`.
    fn perceives(&self) -> bool {
        let speaker = (0..self.words.len().min(3)).find(|at| self.is(*at, SPEAKER)).unwrap_or(self.words.len());
        let verb = (speaker + 1..self.words.len().min(speaker + 5))
            .find(|at| !(self.is(*at, BETWEEN) || is_in!("can can't cannot couldn't don't didn't", self.word(*at))));
        let is_wished = self.words.windows(2).take(8).any(|pair| {
            is_in!("i we", &pair[0]) && is_in!("might could may would", &pair[1])
                || is_in!("i'd we'd", &pair[0]) && is_in!("consider have need love", &pair[1])
        });
        // `I'd have done it otherwise, but …`
        let is_conceded = self.words.iter().skip(3).any(|word| word == "but");
        is_wished && !is_conceded || verb.is_some_and(|verb| self.is(verb, PERCEIVES))
    }
}

/// What makes people ones who have no say.
const NOT_ALL: &str = "\
    no any some many most other which if your nobody none no-one why library half few part third quarter";

/// What makes a lead one of something that is shown.
const SHOWN: &str = "\
    current existing old previous options next if file line function code test tests asked why ways two three";

/// Verbs of choosing that are as well verbs of work.
const WORK: &str = "\
    replace remove write design structure split embed inline isolate implement build make move swap put switch \
    include limit turn support return have model store";

/// What acknowledges before something is named.
const ACKNOWLEDGES: &str =
    "ok okay fine yes yeah yep sure alright right understood got it agreed so noted perfect great then";

/// What holds from here on.
const STANDING: &str = "\
    from now on|everywhere|across the board|for everything|throughout|from here on|henceforth|going forward|\
    all the way|or nothing|wherever possible|hands down|no contest|for good|at all times|no exceptions|\
    without exception|nothing else|and nothing more|only";

/// The last words of these.
const STANDING_ENDS: &str = "\
    on everywhere board everything throughout henceforth forward good times exceptions exception else more only \
    way nothing possible down contest";

/// What does not begin a name.
const NOT_NAMES: &str = "\
    but and or if because since until unless after before while with without not as for to from by in on at go do \
    try never always too very so also great good nice cool perfect awesome now next same another still maybe first \
    running looking reading checking let";
