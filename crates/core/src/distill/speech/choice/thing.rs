//! The name of a thing in a sentence: what is chosen is most often named by a noun with what belongs to it, and no verb.

use super::lexicon::{PEOPLE, TELLS, THIRD, UNSETTLED};
use super::marks::{self, Marks};
use super::vocabulary::{Word, is_in};
use super::wording::Wording;

/// What a name ends before.
const MARKS: Marks<7> = Marks::and_dashes(*b",;(:!?\"");

/// The longest name, in words.
const LONGEST: usize = 16;

/// What does not begin a name.
const NOT_FIRST: &str = "\
    but and or if because since until unless after before while with without not as for to from by in on at go do \
    try never always too very so also great good nice cool perfect awesome now next same another still maybe first \
    running looking reading checking let nothing something anything everything this these those your my";

/// What a name ends before: what is said of it, or why.
const BEHIND: &str = "\
    because since as given so and but which who whose instead then here now throughout everywhere only too than \
    though although while when where until unless if this bc cuz due hence therefore thus again still anyway";

/// Whether words name a thing and tell nothing of it: `a queue for the importer`.
pub(in crate::distill) fn is_thing(words: &[Word<'_>]) -> bool {
    (2..=LONGEST).contains(&words.len())
        && !is_in!(NOT_FIRST, &words[0])
        && !words.iter().any(|word| word.is(TELLS | UNSETTLED | THIRD) || is_in!("currently tomorrow later next", word))
        // `Then add the file`
        && !is_in!("add create write implement fix remove update change replace make get find move convert link edit", &words[0])
        && !tells(words)
}

/// Whether a verb that is not known shows by what stands around it: `customers complain about …`, `the page confuses me`.
pub(in crate::distill) fn tells(words: &[Word<'_>]) -> bool {
    words.windows(2).any(|pair| is_verb(&pair[0], &pair[1]))
        || words.first().is_some_and(|word| word.is(PEOPLE) && word.ends_with('s'))
}

/// `dropped two rows`, but not `a shared cache`.
fn is_verb(word: &Word<'_>, next: &Word<'_>) -> bool {
    is_in!("me us", next)
        || is_in!("him them you", next) && word.ends_with('s')
        || word.is(PEOPLE) && next.len() > 3 && next.ends_with('s') && !next.is(PEOPLE)
        || word.len() > 4
            && word.ends_with("ed")
            && is_in!("a an the two three four some all no it them this that these those its again twice working", next)
}

/// How many words at the beginning name a thing.
pub(in crate::distill) fn begins(words: Wording<'_>) -> Option<usize> {
    let end = MARKS.first(words.text).unwrap_or(words.text.len());
    let end = marks::find(&words.text[..end], ". ", 0).unwrap_or(end);
    let mut count = words.count_until(end).min(LONGEST + 1);
    if let Some(behind) = words[..count].iter().position(|word| is_in!(BEHIND, word)) {
        count = behind;
    }
    is_thing(&words[..count]).then_some(count)
}

/// Whether words begin with the name of a thing that nobody could take for a clause whose verb is not known.
pub(in crate::distill) fn is_named(words: Wording<'_>) -> bool {
    let Some(count) = begins(words) else { return false };
    let has_article = is_in!("a an the one plain two three our no only", &words[0]);
    let is_joined =
        words[1..count].iter().any(|word| is_in!("in of for per between on with from at by via without to", word));
    count >= 3 && (has_article || is_joined)
}
