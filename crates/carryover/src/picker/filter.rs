//! Which rows fit what was typed.

use nucleo_matcher::{Config, Matcher, Utf32Str, Utf32String, chars};

use super::model::Row;

/// The least score of a letter that was typed: letters that lie scattered over a text do not make a match.
const MIN_SCORE_PER_LETTER: u32 = 14;

/// The advantage of a field over the next one.
const FIELD_STEP: u32 = 6;

/// The letters of a text that are looked at.
const MAX_FIELD_BYTES: usize = 300;

/// The fields of a row that are looked at, the most telling first.
const N_FIELDS: usize = 7;

/// The fields of a row that are more than ASCII, in small letters without accents. Folding takes longer than looking.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoldedFields([Option<Box<[char]>>; N_FIELDS]);

impl FoldedFields {
    pub(super) fn from_row(row: &Row) -> Self {
        Self(field_texts(row).map(|text| (!text.is_ascii()).then(|| fold_letters(text))))
    }
}

fn fold_letters(text: &str) -> Box<[char]> {
    text.chars().map(|letter| chars::to_lower_case(chars::normalize(letter))).collect()
}

/// A word that was typed, and the rows that fit it and all words before it, with their scores.
struct Word {
    typed: String,
    fitting: Vec<(usize, u32)>,
}

/// Finds rows by words, each of which must fit somewhere in a row. What was found for the first words is kept while the
/// last one is typed.
pub(super) struct Filter {
    words: Vec<Word>,
    ascii: Matcher,
    folded: Matcher,
}

impl Default for Filter {
    fn default() -> Self {
        let mut exact = Config::DEFAULT;
        (exact.ignore_case, exact.normalize) = (false, false);
        Self { words: Vec::new(), ascii: Matcher::new(Config::DEFAULT), folded: Matcher::new(exact) }
    }
}

impl Filter {
    /// Forgets what was found, as the rows have changed.
    pub(super) fn forget(&mut self) {
        self.words.clear();
    }

    /// The rows that fit, with their scores: more is better.
    pub(super) fn find_rows(&mut self, typed: &str, rows: &[Row]) -> Vec<(usize, u32)> {
        let wanted: Vec<&str> = typed.split_whitespace().collect();
        let known = self.words.iter().zip(&wanted).take_while(|(word, wanted)| word.typed == **wanted).count();
        self.words.truncate(known);
        for word in &wanted[known..] {
            let letters = fold_letters(word);
            let is_ascii = letters.iter().all(char::is_ascii);
            let text = || letters.iter().collect::<String>().into_boxed_str();
            let needle = if is_ascii { Utf32String::Ascii(text()) } else { Utf32String::Unicode(letters.clone()) };
            let before = self
                .words
                .last()
                .map_or_else(|| (0..rows.len()).map(|row| (row, 0)).collect(), |last| last.fitting.clone());
            let fitting =
                before.into_iter().filter_map(|(row, score)| Some((row, score + self.score(&rows[row], &needle)?)));
            let fitting = fitting.collect();
            self.words.push(Word { typed: (*word).to_owned(), fitting });
        }
        self.words.last().map_or_else(Vec::new, |last| last.fitting.clone())
    }

    /// How well a word fits a row.
    fn score(&mut self, row: &Row, needle: &Utf32String) -> Option<u32> {
        let least = u32::try_from(needle.len()).unwrap_or(u32::MAX).saturating_mul(MIN_SCORE_PER_LETTER);
        let folded = row.folded.get_or_init(|| FoldedFields::from_row(row));
        field_texts(row).into_iter().zip(&folded.0).enumerate().find_map(|(index, (text, folded))| {
            let score = match folded {
                Some(letters) => score_text(&mut self.folded, Utf32Str::Unicode(letters), needle),
                None => score_text(&mut self.ascii, Utf32Str::Ascii(text.as_bytes()), needle),
            }?;
            let bonus = u32::try_from(N_FIELDS - index).unwrap_or(0) * FIELD_STEP;
            (score >= least).then_some(score + bonus)
        })
    }
}

/// How well a word fits a text. Both ways take as long as the text is; finding the very best way for the letters to lie in
/// it takes many times that.
fn score_text(matcher: &mut Matcher, text: Utf32Str<'_>, needle: &Utf32String) -> Option<u32> {
    let whole = matcher.substring_match(text, needle.slice(..));
    whole.or_else(|| matcher.fuzzy_match_greedy(text, needle.slice(..))).map(u32::from)
}

/// The texts of a row; one that says what another one says already is left out.
fn field_texts(row: &Row) -> [&str; N_FIELDS] {
    let cut = |text: &'_ Option<String>| text.as_deref().map_or(0, |text| text.floor_char_boundary(MAX_FIELD_BYTES));
    let title = &row.title.as_deref().unwrap_or_default()[..cut(&row.title)];
    let first = &row.first_prompt.as_deref().unwrap_or_default()[..cut(&row.first_prompt)];
    let last = &row.last_prompt.as_deref().unwrap_or_default()[..cut(&row.last_prompt)];
    let is_new = |text: &str, known: &str| !known.starts_with(text.trim_end_matches('…'));
    [
        title,
        row.project.as_deref().unwrap_or_default(),
        row.branch.as_deref().unwrap_or_default(),
        row.key.agent,
        if is_new(first, title) { first } else { "" },
        if is_new(last, first) && is_new(last, title) { last } else { "" },
        &row.key.id,
    ]
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample::row;
    use super::*;

    fn fits(typed: &str) -> bool {
        let mut row = row("codex", "01a1dcb4", "fix the login bug");
        row.branch = Some("feature/oauth".to_owned());
        row.project = Some("~/work/Shop".to_owned());
        row.first_prompt = Some("Please make the tests of the parser pass, and do not touch anything else".to_owned());
        row.last_prompt = Some("und jetzt Größe prüfen".to_owned());
        typed.is_empty() || !Filter::default().find_rows(typed, &[row]).is_empty()
    }

    #[test]
    fn every_word_fits_somewhere() {
        for typed in ["", "login", "lgin bug", "ftlb", "shop oauth", "codex parser", "prufen", "01a1", "LOGIN bug"] {
            assert!(fits(typed), "{typed}");
        }
        for typed in ["zzz", "login zzz", "xqlogin"] {
            assert!(!fits(typed), "{typed}");
        }
    }

    #[test]
    fn letters_that_lie_scattered_make_no_match() {
        // P-l-ease ma-k-e … pa-r-ser … tou-c-h … anyt-h-ing.
        assert!(!fits("lkrch"));
    }

    #[test]
    fn a_title_counts_more_than_a_prompt() {
        let titled = row("codex", "1", "parser");
        let mut asked = row("codex", "2", "other");
        asked.first_prompt = Some("parser".to_owned());
        let found = Filter::default().find_rows("parser", &[asked, titled]);
        assert!(found[1].1 > found[0].1, "{found:?}");
    }

    #[test]
    fn what_is_found_word_by_word_is_what_is_found_at_once() {
        let rows =
            [row("codex", "1", "fix the login bug"), row("pi", "2", "Größe der Login-Seite"), row("pi", "3", "x")];
        let mut filter = Filter::default();
        for typed in
            ["l", "login", "login b", "login bu", "login", "login grosse", "login größe", "pi login", "", "login"]
        {
            let at_once = Filter::default().find_rows(typed, &rows);
            assert_eq!(filter.find_rows(typed, &rows), at_once, "{typed}");
        }
        filter.forget();
        assert_eq!(filter.find_rows("login", &rows[2..]), []);
    }
}
