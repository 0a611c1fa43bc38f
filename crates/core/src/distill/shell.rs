//! Shell commands, as far as they can be read without a shell.

use std::borrow::Cow;

use crate::plain::fields;

/// The words of a simple command.
pub(super) type Command<'a> = Vec<Cow<'a, str>>;

/// The part of a command that says what is done: without changes of folder, environment, and what only shortens output.
pub(super) fn essence(command: &str) -> String {
    let bounded = &command[..command.floor_char_boundary(4096)];
    let one_line = bounded.lines().next().unwrap_or_default();
    let text = if bounded.contains("<<") { one_line } else { bounded };
    let parts = split(text, &["&&", ";", "\n"]);
    let is_set_only = parts.iter().all(|part| is_setting(part));
    let mut essence = String::with_capacity(text.len());
    for part in parts.iter().filter(|part| is_set_only || !is_setting(part)) {
        let before = essence.len();
        if before > 0 {
            essence.push_str(" && ");
        }
        if !push_without_tail(part.trim(), &mut essence) {
            essence.truncate(before);
        }
    }
    essence
}

/// The simple commands of a line, each as words.
pub(super) fn commands(command: &str) -> Vec<Command<'_>> {
    let bounded = &command[..command.floor_char_boundary(8192)];
    let text = if bounded.contains("<<") { bounded.lines().next().unwrap_or_default() } else { bounded };
    let parts = split(text, &["&&", "||", ";", "|", "\n"]);
    parts.into_iter().map(|part| words(without_environment(part.trim()))).filter(|words| !words.is_empty()).collect()
}

fn is_setting(part: &str) -> bool {
    let first = fields(part).next().unwrap_or_default();
    part.is_empty() || matches!(first, "cd" | "export" | "set" | "source" | "." | "pushd" | "popd" | "clear" | "sleep")
}

/// Adds a pipe without the stages that only shorten what it says; whether something is left of it.
fn push_without_tail(part: &str, essence: &mut String) -> bool {
    let mut end = part.len();
    let is_pipe = memchr::memchr(b'|', part.as_bytes()).is_some();
    let mut stages = if is_pipe { split(part, &["|"]) } else { Vec::new() };
    while stages.len() > 1 {
        let first = stages.last().and_then(|stage| fields(stage).next()).unwrap_or_default();
        if !matches!(first, "tail" | "head" | "cat" | "less" | "more" | "tee" | "grep" | "rg" | "sed" | "awk" | "sort")
        {
            break;
        }
        end -= stages.pop().map_or(0, |stage| stage.len() + 1);
    }
    let text = without_environment(part[..end].trim());
    let mut is_begun = false;
    for word in fields(text).filter(|word| !is_redirection(word)) {
        if std::mem::replace(&mut is_begun, true) {
            essence.push(' ');
        }
        essence.push_str(word);
    }
    is_begun
}

fn is_redirection(word: &str) -> bool {
    matches!(word, "2>&1" | "2>/dev/null" | ">/dev/null" | "&>/dev/null" | "1>&2")
}

/// Without `NAME=value` and programs that only start another one.
fn without_environment(text: &str) -> &str {
    let mut rest = text;
    loop {
        let word = fields(rest).next().unwrap_or_default();
        let is_variable = word
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        if !(is_variable || matches!(word, "sudo" | "env" | "time" | "nice" | "command" | "exec")) {
            return rest;
        }
        let after = rest[word.len()..].trim_start();
        if after.is_empty() {
            return rest;
        }
        rest = after;
    }
}

/// What a split has to look at: quotes, escapes and separators.
const IS_MARK: [bool; 256] = {
    let (mut is_mark, mut at) = ([false; 256], 0);
    let marks = b"'\"`\\&|;\n";
    while at < marks.len() {
        is_mark[marks[at] as usize] = true;
        at += 1;
    }
    is_mark
};

/// Splits outside of quotes, at the longest separator that fits.
fn split<'a>(text: &'a str, separators: &[&str]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while let Some(next) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| IS_MARK[usize::from(*byte)])) {
        let rest = &bytes[at + next..];
        at += next + 1;
        match rest[0] {
            b'\\' => at += 1,
            quote @ (b'\'' | b'"' | b'`') => at += memchr::memchr(quote, &rest[1..]).map_or(rest.len(), |end| end + 1),
            _ => {
                let Some(found) = separators.iter().find(|mark| rest.starts_with(mark.as_bytes())) else { continue };
                if at <= start || (*found == "|" && rest.starts_with(b"||")) {
                    continue;
                }
                parts.push(&text[start..at - 1]);
                start = at - 1 + found.len();
            }
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// The words of a simple command, quotes taken off.
pub(super) fn words(text: &str) -> Command<'_> {
    let mut words = Vec::with_capacity(text.len() / 6 + 1);
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (end, is_quoted) = word_end(rest);
        let word = &rest[..end];
        words.push(if is_quoted { Cow::Owned(unquoted(word)) } else { Cow::Borrowed(word) });
        rest = rest[end..].trim_start();
    }
    words
}

/// Where the word ends that a text begins with, and whether something in it is quoted.
fn word_end(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let (mut at, mut is_quoted) = (0, false);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\'' | b'"' => {
                is_quoted = true;
                at += memchr::memchr(*byte, &bytes[at + 1..]).map_or(bytes.len(), |end| end + 1);
            }
            b'\t'..=b'\r' | b' ' => break,
            // Where a character begins that is not of ASCII.
            0xc0.. if text[at..].starts_with(char::is_whitespace) => break,
            _ => {}
        }
        at += 1;
    }
    (at.min(bytes.len()), is_quoted)
}

/// A word without its quotes; one that is not closed goes to its end.
fn unquoted(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut rest = word;
    while let Some(at) = memchr::memchr2(b'\'', b'"', rest.as_bytes()) {
        plain.push_str(&rest[..at]);
        let (quote, behind) = (rest.as_bytes()[at], &rest[at + 1..]);
        let end = memchr::memchr(quote, behind.as_bytes()).unwrap_or(behind.len());
        plain.push_str(&behind[..end]);
        rest = behind.get(end + 1..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::{commands, essence};

    #[test]
    fn quotes_and_escapes_part_nothing() {
        for (line, parted) in [
            (r"echo a\; b", vec![vec!["echo", r"a\;", "b"]]),
            ("echo 'a && b' | wc", vec![vec!["echo", "a && b"], vec!["wc"]]),
            ("echo \"it's; one\" && ls", vec![vec!["echo", "it's; one"], vec!["ls"]]),
            ("say 'a'\"b\"c ''", vec![vec!["say", "abc", ""]]),
            ("say 'open; end", vec![vec!["say", "open; end"]]),
            ("a\u{3000}b\u{a0}é ; c\\", vec![vec!["a", "b", "é"], vec!["c\\"]]),
        ] {
            assert_eq!(commands(line), parted, "{line}");
        }
        assert_eq!(essence("cd x && FOO=1 make 'a | tail' 2>&1 | tail -3"), "make 'a | tail'");
    }
}
