//! Sentences of a text as they stand in it: nothing is joined, nothing is taken off.

/// Marks that end a sentence; in scripts without spaces, none need follow.
const SENTENCE_ENDS: [char; 3] = ['.', '!', '?'];
const WIDE_SENTENCE_ENDS: [char; 3] = ['。', '！', '？'];

/// The sentences of a text outside of code and of what is quoted or indented in it.
pub(super) fn split_sentences(text: &str) -> Vec<&str> {
    let mut fence = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fence = !fence;
        } else if !fence && !is_pasted(line) {
            split_line(without_bullet(line), &mut found);
        }
    }
    found
}

/// Quotations and indented lines are most often other people's words, or a program's.
fn is_pasted(line: &str) -> bool {
    line.starts_with(['>', '['])
        || line.starts_with('#')
        || line.starts_with('|')
        || line.starts_with("    ") && !is_bullet(line.trim_start())
        || line.starts_with('\t')
}

fn is_bullet(line: &str) -> bool {
    line.starts_with(['-', '*', '+', '•']) || line.starts_with(|first: char| first.is_ascii_digit())
}

fn without_bullet(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(['-', '*', '+', '•', '#']);
    if rest.len() < line.len() && rest.starts_with(' ') { rest.trim_start() } else { line }
}

/// Splits a line into sentences. Text between backticks is code, and ends nothing.
fn split_line<'a>(line: &'a str, found: &mut Vec<&'a str>) {
    let (mut start, mut in_code) = (0, false);
    for (at, letter) in line.char_indices() {
        in_code ^= letter == '`';
        let rest = &line[at + letter.len_utf8()..];
        if !in_code && ends_sentence(&line[start..at], letter, rest) {
            push_sentence(&line[start..at + letter.len_utf8()], found);
            start = at + letter.len_utf8();
        }
    }
    push_sentence(&line[start..], found);
}

fn ends_sentence(before: &str, letter: char, rest: &str) -> bool {
    let is_end = SENTENCE_ENDS.contains(&letter) && rest.starts_with(char::is_whitespace);
    WIDE_SENTENCE_ENDS.contains(&letter) || is_end && !(letter == '.' && is_abbreviation(before))
}

/// `e.g.`, `A.` and `1.` end nothing.
fn is_abbreviation(text: &str) -> bool {
    let last = text.rsplit(char::is_whitespace).next().unwrap_or_default().trim_start_matches('(');
    last.chars().count() < 2 || last.chars().all(|c| c.is_ascii_digit()) || last.contains('.') && last.len() < 5
}

fn push_sentence<'a>(sentence: &'a str, found: &mut Vec<&'a str>) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::split_sentences;

    #[test]
    fn sentences_stand_as_they_were_written() {
        let text = "Never touch main. Use SQLite, e.g. 3.45, not Postgres!\n- keep v1.2 as it is\n```\nnever this.\n```\n> nor this";
        assert_eq!(
            split_sentences(text),
            ["Never touch main.", "Use SQLite, e.g. 3.45, not Postgres!", "keep v1.2 as it is"]
        );
        assert_eq!(split_sentences("不要改动主分支。用SQLite吧"), ["不要改动主分支。", "用SQLite吧"]);
    }
}
