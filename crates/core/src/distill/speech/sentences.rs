//! Where the sentences of a text are.

/// Hands over where the sentences of a text are.
pub(super) fn each(text: &str, take: impl FnMut(usize, usize)) {
    let has_code = memchr::memchr(b'`', text.as_bytes()).is_some();
    let mut spans = Spans { text, take, start: 0, looked: 0, has_code, coded: 0, in_code: false };
    let marks = memchr::memchr3_iter(b'.', b'!', b'?', text.as_bytes());
    if text.is_ascii() {
        marks.for_each(|at| spans.look(at));
    } else {
        // The other marks begin with one of these bytes.
        let others = memchr::memchr3_iter(0xe2, 0xe3, 0xef, text.as_bytes());
        let mut others = others.filter(|at| text[*at..].starts_with(ends)).peekable();
        for at in marks {
            while let Some(other) = others.next_if(|other| *other < at) {
                spans.look(other);
            }
            spans.look(at);
        }
        others.for_each(|at| spans.look(at));
    }
    let start = spans.start;
    spans.give(start, text.len());
}

/// Marks that end a sentence and are not of ASCII.
fn ends(mark: char) -> bool {
    mark == '…' || is_wide(mark)
}

/// Those of scripts that leave no space behind them.
fn is_wide(mark: char) -> bool {
    matches!(mark, '。' | '！' | '？')
}

/// The sentences of a text while they are looked for.
struct Spans<'a, T> {
    text: &'a str,
    /// Takes those that are found.
    take: T,
    /// Where the next one begins.
    start: usize,
    /// Marks before this place were looked at with one before them.
    looked: usize,
    has_code: bool,
    /// Whether there is code here, which is known as far as this.
    coded: usize,
    in_code: bool,
}

impl<T: FnMut(usize, usize)> Spans<'_, T> {
    /// Looks whether the mark at a place ends a sentence.
    fn look(&mut self, at: usize) {
        let (text, bytes) = (self.text, self.text.as_bytes());
        if self.has_code {
            self.in_code ^= memchr::memchr_iter(b'`', &bytes[self.coded..at]).count() % 2 == 1;
            self.coded = at;
        }
        let Some(mark) = text[at..].chars().next().filter(|_| !self.in_code && at >= self.start.max(self.looked))
        else {
            return;
        };
        let end = at + mark.len_utf8();
        let rest = &text[end..];
        let quoted = rest.len() - rest.trim_start_matches(['"', ')', '\'', '”', '*', '.', '!', '?']).len();
        let after = &rest[quoted..];
        let is_end =
            is_wide(mark) || after.is_empty() || (after.starts_with(char::is_whitespace) && begins(after.trim_start()));
        if is_end && !(mark == '.' && is_abbreviation(&text[self.start..at])) {
            self.give(self.start, end + quoted);
            self.start = end + quoted;
        } else if mark != '…' && !is_wide(mark) {
            // A run of marks ends nothing where its last one does not.
            self.looked = end + rest[..quoted].trim_end_matches(['"', ')', '\'', '”', '*']).len();
        }
    }

    /// Hands over a part, without the space around it, where it has words.
    fn give(&mut self, start: usize, end: usize) {
        let part = &self.text[start.min(self.text.len())..end.min(self.text.len())];
        let trimmed = part.trim_start();
        let start = start + part.len() - trimmed.len();
        let trimmed = trimmed.trim_end();
        if trimmed.chars().any(char::is_alphanumeric) {
            (self.take)(start, start + trimmed.len());
        }
    }
}

fn begins(rest: &str) -> bool {
    rest.starts_with(|c: char| !c.is_lowercase() || !c.is_ascii())
}

fn is_abbreviation(before: &str) -> bool {
    const SHORT: &[&str] = &["e.g", "i.e", "etc", "vs", "cf", "approx", "no", "dr", "mr", "ms", "st", "fig", "resp"];
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let number = !word.is_empty() && word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    number || SHORT.contains(&word.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn marks_of_all_scripts_end_sentences() {
        let text = "One. Two… Three。四！Five? `a. B` six. e.g. Seven… Eight";
        let mut found = Vec::new();
        each(text, |start, end| found.push(&text[start..end]));
        assert_eq!(found, ["One.", "Two…", "Three。", "四！", "Five?", "`a. B` six. e.g. Seven…", "Eight"]);
    }
}
