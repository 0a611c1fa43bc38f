//! Which rows fit what was typed.

use nucleo_matcher::chars;

use super::model::Row;

/// The bytes of a text that are looked at.
const MAX_FIELD_BYTES: usize = 2_000;

/// The fields of a row that are looked at, the title first.
const N_FIELDS: usize = 7;

/// The fields of a row in small letters without accents. Folding takes longer than looking.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoldedFields([Box<str>; N_FIELDS]);

impl FoldedFields {
    pub(super) fn from_row(row: &Row) -> Self {
        Self(field_texts(row).map(fold_letters))
    }
}

fn fold_letters(text: &str) -> Box<str> {
    if text.is_ascii() {
        return text.to_ascii_lowercase().into();
    }
    text.chars().map(|letter| chars::to_lower_case(chars::normalize(letter))).collect()
}

/// A word that was typed, and the rows that fit it and all words before it, with the number of words in their titles.
struct Word {
    typed: String,
    fitting: Vec<(usize, u32)>,
}

/// Finds rows by words, each of which must stand somewhere in a row as it was typed, whatever its case and accents. What
/// was found for the first words is kept while the last one is typed.
#[derive(Default)]
pub(super) struct Filter {
    words: Vec<Word>,
}

impl Filter {
    /// Forgets what was found, as the rows have changed.
    pub(super) fn forget(&mut self) {
        self.words.clear();
    }

    /// The rows that fit, with the number of words that are in their titles: more is better.
    pub(super) fn find_rows(&mut self, typed: &str, rows: &[Row]) -> Vec<(usize, u32)> {
        let wanted: Vec<&str> = typed.split_whitespace().collect();
        let known = self.words.iter().zip(&wanted).take_while(|(word, wanted)| word.typed == **wanted).count();
        self.words.truncate(known);
        for word in &wanted[known..] {
            let folded = fold_letters(word);
            let before = self
                .words
                .last()
                .map_or_else(|| (0..rows.len()).map(|row| (row, 0)).collect(), |last| last.fitting.clone());
            let fitting = before
                .into_iter()
                .filter_map(|(row, in_title)| Some((row, in_title + find_word(&rows[row], &folded)?)))
                .collect();
            self.words.push(Word { typed: (*word).to_owned(), fitting });
        }
        self.words.last().map_or_else(Vec::new, |last| last.fitting.clone())
    }
}

/// Looks for a word in a row: 1 where it is in the title, 0 where it is elsewhere.
fn find_word(row: &Row, word: &str) -> Option<u32> {
    let fields = row.folded.get_or_init(|| FoldedFields::from_row(row));
    let found_in = fields.0.iter().position(|text| text.contains(word))?;
    Some(u32::from(found_in == 0))
}

/// The texts of a row; one that says what another one says already is left out.
fn field_texts(row: &Row) -> [&str; N_FIELDS] {
    let cut = |text: &'_ Option<String>| text.as_deref().map_or(0, |text| text.floor_char_boundary(MAX_FIELD_BYTES));
    // Where there is no title, the first prompt is shown in its place.
    let shown = if row.title.is_some() { &row.title } else { &row.first_prompt };
    let title = &shown.as_deref().unwrap_or_default()[..cut(shown)];
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
        for typed in ["", "login", "gin bug", "shop oauth", "codex parser", "prufen", "01a1", "LOGIN bug"] {
            assert!(fits(typed), "{typed}");
        }
        for typed in ["zzz", "login zzz", "xqlogin", "lgin", "ftlb"] {
            assert!(!fits(typed), "{typed}");
        }
    }

    #[test]
    fn letters_that_lie_scattered_make_no_match() {
        let scattered = row("codex", "1", "The total in cart.py is wrong");
        let mut asked = row("codex", "2", "other");
        asked.last_prompt = Some("write a Factorial".to_owned());
        assert_eq!(Filter::default().find_rows("fact", &[scattered, asked]), [(1, 0)]);
    }

    #[test]
    fn a_long_prompt_is_looked_at_to_its_end() {
        let mut row = row("codex", "1", "other");
        row.last_prompt = Some(format!("{} discount", "and then ".repeat(100)));
        assert_eq!(Filter::default().find_rows("discount", &[row]), [(0, 0)]);
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
