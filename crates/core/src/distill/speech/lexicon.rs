//! What a word can be in a sentence that chooses: looked up once per word, so that the rest is tests of bits.

use std::sync::LazyLock;

use super::needs::{CUE, NEEDS, SAYING};
use super::vocabulary::list;
use super::{cues, sayings, vocabulary, wording};

/// What a word can be.
pub(in crate::distill) type Class = u64;

/// The one who speaks, alone or with others.
pub(in crate::distill) const SPEAKER: Class = 1;
/// Others who may settle something.
pub(in crate::distill) const PEOPLE: Class = 1 << 1;
/// May stand between who acts and the verb.
pub(in crate::distill) const BETWEEN: Class = 1 << 2;
/// A verb that is an act of choosing by itself.
pub(in crate::distill) const FIRM: Class = 1 << 3;
/// A verb that is one where it is explained, or set against something else.
pub(in crate::distill) const WEAK: Class = 1 << 4;
/// The verb's form: `choose`.
pub(in crate::distill) const BASE: Class = 1 << 5;
/// `chose`, `chosen`.
pub(in crate::distill) const PAST: Class = 1 << 6;
/// `choosing`.
pub(in crate::distill) const GOING: Class = 1 << 7;
/// `chooses`.
pub(in crate::distill) const THIRD: Class = 1 << 8;
/// A noun that names what was settled.
pub(in crate::distill) const SETTLED: Class = 1 << 9;
/// A verb or a pronoun of a sentence that tells; what is picked by its name alone has none.
pub(in crate::distill) const TELLS: Class = 1 << 10;
/// A verb of perceiving, trying, wondering: what follows is told and not chosen.
pub(in crate::distill) const PERCEIVES: Class = 1 << 11;
/// What is open, wrong or only thought of.
pub(in crate::distill) const UNSETTLED: Class = 1 << 12;
/// Where things are settled.
pub(in crate::distill) const MEETING: Class = 1 << 13;

/// What a conclusion begins with.
pub(in crate::distill) const THEREFORE: Class = 1 << 14;
/// The same, where it may as well go on.
pub(in crate::distill) const SO: Class = 1 << 20;
/// What is said of a thing that was put to the test, or in place.
pub(in crate::distill) const SUITS: Class = 1 << 21;
/// What is said of a thing that holds: `the default`, `mandatory`.
pub(in crate::distill) const STATES: Class = 1 << 15;
/// `stays`, `survives`.
pub(in crate::distill) const STAYS: Class = 1 << 16;
/// What a program or a document does: `the service now relies on …`.
pub(in crate::distill) const DOES: Class = 1 << 17;
/// Verbs that make one thing another: `converted to …`.
pub(in crate::distill) const SHAPES: Class = 1 << 18;
/// What may stand before a colon, behind which the choice is named.
pub(in crate::distill) const LABEL: Class = 1 << 19;

/// Verbs of choosing that need no reason.
const FIRM_VERBS: &str = "\
    choose pick select settle opt adopt commit standardise standardize decide agree approve ratify endorse vote \
    elect prefer favour favor stick retain mandate insist veto reject ban forbid prohibit overrule rule finalise \
    finalize land greenlight go stay lock converge outlaw disallow overturn override take say declare designate \
    nominate crown specify side live";

/// Verbs that choose where there is a reason.
const WEAK_VERBS: &str = "\
    use have keep leave drop skip avoid store put base treat revert switch move return replace swap accept allow \
    permit defer postpone delay hold want demand request ditch scrap discard abandon exclude include limit cap pin \
    reuse rely target default support require enforce model represent build implement make remove rule give resort \
    fall lean turn write design structure split embed inline isolate hardcode freeze shelve restrict tie accept \
    restore preserve reinstate maintain";

/// Irregular forms in the past.
const IRREGULAR: &str = "\
    say=said choose=chose choose=chosen stick=stuck go=went go=gone keep=kept take=took take=taken leave=left \
    put=put hold=held make=made build=built forbid=forbade forbid=forbidden give=gave fall=fell write=wrote \
    split=split override=overrode opt=opted commit=committed permit=permitted ban=banned drop=dropped skip=skipped \
    cap=capped pin=pinned swap=swapped scrap=scrapped greenlight=greenlit prefer=preferred defer=deferred";

const CLASSES: &[(Class, &str)] = &[
    (SPEAKER, "i we i'll we'll i'm we're i've we've let's lets im ive ill"),
    (
        PEOPLE,
        "management team lead boss manager customer customers client clients product board architect architects \
        cto ceo \
        everyone everybody reviewers reviewer stakeholders committee group ops legal security finance owner owners \
        maintainers maintainer sponsor director pm qa dba auditors compliance marketing leadership department \
        designers \
        designer council they users you us folks artists engineers developers devs admins backend frontend \
        platform infra sre \
        operations procurement purchasing support sales auditor regulator regulators dpo ciso coo cfo founder \
        founders chief \
        chair squad guild committee's investors publisher vendor principal supervisor professor advisor editors \
        steering",
    ),
    (
        BETWEEN,
        "will shall must should are am have had has been going to just only simply therefore now then still \
        always never \
        not also instead really strongly definitely clearly rather hence thus do both all finally deliberately \
        explicitly \
        consistently hereby so already unanimously intentionally consciously ultimately eventually basically \
        personally \
        initially jointly gonna quickly gladly happily reluctantly officially formally even did be ended up \
        purposely purposefully knowingly provisionally \
        thereby wisely quietly willingly specifically conservatively",
    ),
    (
        SETTLED,
        "decision decisions choice pick verdict conclusion outcome consensus ruling resolution rule policy \
        convention answer \
        agreement approach strategy preference call direction constraint requirement principle guideline \
        selection winner deal",
    ),
    (
        TELLS,
        "is are was were be been am isn't aren't wasn't has have had hasn't haven't do does did don't doesn't \
        didn't will \
        would can can't could should must may might won't i i'm i'll i've i'd you you're you've we we're we'll \
        we've they \
        they're he she it it's that's there there's here here's what what's why how when where who which fails \
        failed fail \
        crashes crashed works worked look looks seems sounds got get gets goes went see saw think know mean means \
        says said \
        need needs want wants makes made run runs ran thanks thank thx passes passed calls called uses reads \
        found takes \
        took recommends suggests let let's please breaks broke shows displays prints returns contains throws \
        complains appears \
        happens exists lacks stopped froze died renders hangs leaks sends receives prevents causes triggers \
        produces expects depends belongs \
        consists leads needed shown compiles compile confuses couldn't wouldn't shouldn't",
    ),
    (
        PERCEIVES,
        "wonder wondering thinking torn remember recall forgot saw see seen read heard noticed tried thought \
        guess hate \
        looking looked curious unsure hope hoping fear doubt considering evaluating testing comparing found \
        watched asked \
        suspect benchmarked tested interrupted reading tell wish understood understand misread loathe dread love \
        dislike miss",
    ),
    (THEREFORE, "hence therefore thus consequently ergo gonna won wins prevails prevailed"),
    (SO, "so then"),
    (
        SUITS,
        "enough sufficient plenty adequate intentional deliberate confirmed proved proves turned turns came \
        seemed looked put built wired baked carried introduced implemented \
        merged instituted rolled part",
    ),
    (
        STATES,
        "default standard mandatory permanent official policy obligatory compulsory binding canonical enforced \
        norm baseline \
        frozen law rule non-negotiable definitive required",
    ),
    (
        STAYS,
        "stays remains survives ships suffices stay remain survive suffice persists replaces replace supersedes supersede",
    ),
    (
        DOES,
        "uses relies has does goes go runs run enforces requires stores sits builds depends rests keeps expects \
        assumes \
        states says lists reads specifies consists contains defaults follows handles takes rely use enforce store \
        depend keep demands mandates prescribes shares share exposes expose employs employ adopts adopt \
        implements wraps \
        delegates delegate inherits embeds leverages leverage talks speaks routes flows lives live sit forms \
        serves constitutes",
    ),
    (
        SHAPES,
        "switched migrated converted changed reworked moved narrowed rewrote refactored ported restricted reduced \
        turned \
        switching moving migrating converting changing reworking rewriting refactoring porting narrowing cut \
        limited transitioned \
        transitioning pivoted reverted downgraded upgraded swapped trimmed scoped consolidated simplified unified \
        pared collapsed \
        condensed folded flattened streamlined slimmed rolled consolidating simplifying unifying",
    ),
    (
        LABEL,
        "trade-off tradeoff assumption deviation deviations replacement compromise clarifies clarified recorded \
        noted saved \
        documented applied honoured honored yagni kiss simplest cheapest safest cleanest least smallest sanest \
        negotiable \
        answered answer answering reply onwards onward effective correction amendment upshot gist takeaway lesson \
        remedy \
        settles resolves decides discuss debate argue place approach resolution favourite favorite instead boring \
        dry \
        choice middle substitute successor bet now intent intention stance guideline ground-rule simplification \
        style keeping \
        accordance accepted respected preference unchanged architecture solution rationale elimination minimal \
        stack simplified spirit being adopted aligned consequently promised locked confirm",
    ),
    (
        UNSETTLED,
        "whether yet open pending undecided unclear possible proposed suggested someday error errors problem \
        problems issue \
        bug question questions todo missing failing warning typo failure crash mistake output log trace cause result \
        inconclusive speculation pros cons pro con draft proposal maybe perhaps might needed unresolved still \
        example context note",
    ),
    (
        MEETING,
        "meeting discussion review standup sync retro poll board vote spike workshop thread tl dr meetings planning \
        minutes retrospective convinced mind minds official rule policy final record agreed non-negotiable \
        mandatory settled done clear simple easy obvious decisive \
        short line constraint requirement law",
    ),
];

/// The forms of words that are known, each by its print, at the slot of that or at one behind it.
pub(in crate::distill) struct Forms(Vec<(u64, Class)>);

impl Forms {
    /// What a word can be, which has this print.
    #[inline]
    pub(in crate::distill) fn class(&self, word: &str, print: u64) -> Class {
        let known = |print: u64| self.0[slot(&self.0, print)].1;
        // `The board's`, but not `it's`. Few words have that sign there, so it is asked for first.
        let is_owner = word.len() >= 2 && word.as_bytes()[word.len() - 2] == b'\'' && word.len() > 5;
        match word.as_bytes() {
            [owner @ .., _, b's'] if is_owner => known(print) | known(vocabulary::print(owner)),
            _ => known(print),
        }
    }
}

/// All forms; who asks for many words asks for these once.
pub(in crate::distill) fn forms() -> &'static Forms {
    &FORMS
}

static FORMS: LazyLock<Forms> = LazyLock::new(|| {
    let mut forms: Vec<(u64, Class)> = Vec::with_capacity(8192);
    for (class, words) in CLASSES.iter().chain(NEEDS) {
        forms.extend(words.split_ascii_whitespace().map(|word| (vocabulary::print_of(word), *class)));
    }
    for (strength, verbs) in [(FIRM, FIRM_VERBS), (WEAK, WEAK_VERBS)] {
        for verb in verbs.split_ascii_whitespace() {
            inflect(verb, |form, kind| forms.push((vocabulary::print_of(form), kind | strength)));
        }
    }
    for (of, form) in IRREGULAR.split_ascii_whitespace().filter_map(|pair| pair.split_once('=')) {
        let of = vocabulary::print_of(of);
        for (strength, is) in [(FIRM, list!(FIRM_VERBS).knows(of)), (WEAK, list!(WEAK_VERBS).knows(of))] {
            forms.extend(is.then_some((vocabulary::print_of(form), PAST | strength)));
        }
    }
    for (class, phrase) in
        cues::phrases().map(|phrase| (CUE, phrase)).chain(sayings::phrases().map(|phrase| (SAYING, phrase)))
    {
        forms.extend(wording::first_prints(phrase).0.map(|first| (first, class)));
    }
    let mut slots = vec![(0, 0); (forms.len() * 2).next_power_of_two()];
    for (print, class) in forms {
        let slot = slot(&slots, print);
        slots[slot] = (print, slots[slot].1 | class);
    }
    Forms(slots)
});

/// The slot that a print has, or the free one that it would get.
#[expect(clippy::needless_bitwise_bool, reason = "see below")]
fn slot(slots: &[(u64, Class)], print: u64) -> usize {
    let mut slot = vocabulary::slot(print, slots.len());
    // One branch that is hardly ever taken, where two would be a guess at each word.
    while (slots[slot].1 != 0) & (slots[slot].0 != print) {
        slot = (slot + 1) & (slots.len() - 1);
    }
    slot
}

/// Hands over the forms that a verb has by rule.
fn inflect(verb: &str, mut take: impl FnMut(&str, Class)) {
    let stem = verb.strip_suffix('e').unwrap_or(verb);
    let third = if verb.ends_with(['o', 'x', 's']) || verb.ends_with("sh") { "es" } else { "s" };
    let doubled = verb.len() - verb.chars().next_back().map_or(0, char::len_utf8);
    let mut forms = vec![
        ([verb, "", ""], BASE),
        ([verb, third, ""], THIRD),
        ([stem, "ed", ""], PAST),
        ([stem, "ing", ""], GOING),
        ([verb, &verb[doubled..], "ing"], GOING),
    ];
    if let Some(stem) = verb.strip_suffix('y') {
        forms.extend([([stem, "ied", ""], PAST), ([stem, "ies", ""], THIRD)]);
    }
    let mut form = String::with_capacity(24);
    for (parts, kind) in forms {
        form.clear();
        form.extend(parts);
        take(&form, kind);
    }
}
