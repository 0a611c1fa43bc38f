//! A few words around what was found.

use std::collections::BTreeSet;
use std::ops::Range;

use carryover_core::plain::strip_hidden;
use carryover_core::redact::redact_text;
use serde::Serialize;

use super::search::Query;
use super::words::split_terms;

/// How long a snippet is, in bytes.
const SNIPPET_BYTES: usize = 180;
/// How much of that stands before the first hit.
const LEAD_BYTES: usize = 48;

/// A piece of a snippet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnippetPart {
    pub text: String,
    /// It is what was looked for.
    pub hit: bool,
}

/// Words of a text around what a query finds in it, with secrets masked; `None` where the text does not hold it after
/// all: two neighbours each say nothing of three.
pub(super) fn make_snippet(text: &str, query: &Query) -> Option<Vec<SnippetPart>> {
    if !query.unspaced_runs().all(|run| text.contains(run)) {
        return None;
    }
    let text = redact_text(text);
    let hits = find_hits(&text, query);
    Some(cut_snippet(&text, &hits))
}

/// Where terms of the query stand, and which of them.
fn find_hits(text: &str, query: &Query) -> Vec<(Range<usize>, usize)> {
    let mut hits = Vec::new();
    split_terms(text, &mut |term| {
        hits.extend(query.position_of(&term.text).map(|index| (term.range, index)));
    });
    hits.sort_by_key(|(range, _)| (range.start, range.end));
    hits
}

fn cut_snippet(text: &str, hits: &[(Range<usize>, usize)]) -> Vec<SnippetPart> {
    let start = best_start(hits);
    let from = text.floor_char_boundary(start.saturating_sub(LEAD_BYTES));
    let to = text.ceil_char_boundary((from + SNIPPET_BYTES).min(text.len()));
    let from = if from == 0 { 0 } else { from + word_end(&text[from..start.max(from)]) };
    let mut parts = Vec::new();
    let mut at = from;
    for (range, _) in hits.iter().filter(|(range, _)| range.start >= from && range.start < to) {
        if range.end <= at {
            continue;
        }
        let begin = range.start.max(at);
        push_part(&mut parts, &text[at..begin], false);
        push_part(&mut parts, &text[begin..range.end], true);
        at = range.end;
    }
    push_part(&mut parts, &text[at..to.max(at)], false);
    if from > 0 {
        parts.insert(0, SnippetPart { text: "…".to_owned(), hit: false });
    }
    if to < text.len() {
        parts.push(SnippetPart { text: "…".to_owned(), hit: false });
    }
    parts
}

/// The hit from which on the most different terms stand together.
fn best_start(hits: &[(Range<usize>, usize)]) -> usize {
    let count = |index: usize| {
        let reach = hits[index].0.start + SNIPPET_BYTES - LEAD_BYTES;
        let near = hits[index..].iter().take_while(|(range, _)| range.end <= reach);
        near.map(|(_, term)| *term).collect::<BTreeSet<_>>().len()
    };
    let best = (0..hits.len().min(1_000)).max_by_key(|index| (count(*index), std::cmp::Reverse(*index)));
    best.map_or(0, |index| hits[index].0.start)
}

/// Behind the first blank, so that no word is cut at the beginning; nothing where there is none.
fn word_end(text: &str) -> usize {
    text.find(char::is_whitespace).map_or(0, |at| at + text[at..].chars().next().map_or(0, char::len_utf8))
}

/// Adds a piece on one line.
fn push_part(parts: &mut Vec<SnippetPart>, text: &str, hit: bool) {
    let mut line = String::with_capacity(text.len());
    for c in strip_hidden(text).chars() {
        let c = if c.is_whitespace() || c.is_control() { ' ' } else { c };
        let ends_blank = |line: &str| match line.chars().next_back() {
            Some(last) => last == ' ',
            None => parts.last().is_some_and(|part| part.text.ends_with(' ')),
        };
        if c != ' ' || !ends_blank(&line) {
            line.push(c);
        }
    }
    if !line.is_empty() {
        parts.push(SnippetPart { text: line, hit });
    }
}
