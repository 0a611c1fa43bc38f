//! Which rows fit what was typed.

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};

use super::model::Row;

/// The least score of a letter that was typed: letters that lie scattered over a text do not make a match.
const MIN_SCORE_PER_LETTER: u32 = 14;

/// The advantage of a field over the next one.
const FIELD_STEP: u32 = 6;

/// The letters of a prompt that are looked at.
const MAX_PROMPT_BYTES: usize = 300;

/// Words that were typed, ready to be looked for. Each of them must fit somewhere in a row.
pub(super) struct Filter {
    words: Vec<(Atom, u32)>,
    matcher: Matcher,
    letters: Vec<char>,
}

impl Filter {
    pub(super) fn new(typed: &str) -> Self {
        let words = typed.split_whitespace().map(|word| {
            let atom = Atom::new(word, CaseMatching::Ignore, Normalization::Smart, AtomKind::Fuzzy, false);
            (atom, u32::try_from(word.chars().count()).unwrap_or(u32::MAX))
        });
        Self { words: words.collect(), matcher: Matcher::new(Config::DEFAULT), letters: Vec::new() }
    }

    /// How well a row fits: more is better, and nothing is not at all.
    pub(super) fn score(&mut self, row: &Row) -> Option<u32> {
        let prompt = |text: &'_ Option<String>| -> Option<usize> {
            text.as_ref().map(|text| text.floor_char_boundary(MAX_PROMPT_BYTES))
        };
        let cut = [prompt(&row.first_prompt), prompt(&row.last_prompt)];
        let fields = [
            row.title.as_deref(),
            row.project.as_deref(),
            row.branch.as_deref(),
            Some(row.key.agent),
            row.first_prompt.as_deref().zip(cut[0]).map(|(text, end)| &text[..end]),
            row.last_prompt.as_deref().zip(cut[1]).map(|(text, end)| &text[..end]),
            Some(row.key.id.as_str()),
        ];
        let Self { words, matcher, letters } = self;
        let mut total = 0;
        for (word, length) in words {
            total += fields.iter().enumerate().find_map(|(index, field)| {
                let score = u32::from(word.score(Utf32Str::new((*field)?, letters), matcher)?);
                let behind = u32::try_from(fields.len() - index).unwrap_or(0) * FIELD_STEP;
                (score >= length.saturating_mul(MIN_SCORE_PER_LETTER)).then_some(score + behind)
            })?;
        }
        Some(total)
    }
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
        Filter::new(typed).score(&row).is_some()
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
        let mut filter = Filter::new("parser");
        assert!(filter.score(&titled) > filter.score(&asked));
    }
}
