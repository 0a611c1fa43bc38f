//! Shell commands, as far as they can be read without a shell.

use std::borrow::Cow;

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
    let first = part.split_whitespace().next().unwrap_or_default();
    part.is_empty() || matches!(first, "cd" | "export" | "set" | "source" | "." | "pushd" | "popd" | "clear" | "sleep")
}

/// Adds a pipe without the stages that only shorten what it says; whether something is left of it.
fn push_without_tail(part: &str, essence: &mut String) -> bool {
    let mut end = part.len();
    let is_pipe = memchr::memchr(b'|', part.as_bytes()).is_some();
    let mut stages = if is_pipe { split(part, &["|"]) } else { Vec::new() };
    while stages.len() > 1 {
        let first = stages.last().and_then(|stage| stage.split_whitespace().next()).unwrap_or_default();
        if !matches!(first, "tail" | "head" | "cat" | "less" | "more" | "tee" | "grep" | "rg" | "sed" | "awk" | "sort")
        {
            break;
        }
        end -= stages.pop().map_or(0, |stage| stage.len() + 1);
    }
    let text = without_environment(part[..end].trim());
    let mut is_begun = false;
    for word in text.split_whitespace().filter(|word| !is_redirection(word)) {
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
        let word = rest.split_whitespace().next().unwrap_or_default();
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

/// Splits outside of quotes, at the longest separator that fits.
fn split<'a>(text: &'a str, separators: &[&str]) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut start, mut quote) = (0, None);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let next = bytes[at];
        at += 1;
        match quote {
            Some(open) if next == open => quote = None,
            Some(_) => {}
            None => match next {
                b'\'' | b'"' | b'`' => quote = Some(next),
                b'\\' => at += 1,
                b'&' | b'|' | b';' | b'\n' => {
                    let rest = &bytes[at - 1..];
                    let Some(found) = separators.iter().find(|mark| rest.starts_with(mark.as_bytes())) else {
                        continue;
                    };
                    if at <= start || (*found == "|" && rest.starts_with(b"||")) {
                        continue;
                    }
                    parts.push(&text[start..at - 1]);
                    start = at - 1 + found.len();
                }
                _ => {}
            },
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// The words of a simple command, quotes taken off.
pub(super) fn words(text: &str) -> Command<'_> {
    if memchr::memchr2(b'\'', b'"', text.as_bytes()).is_none() {
        return text.split_whitespace().map(Cow::Borrowed).collect();
    }
    let mut words = Vec::new();
    let (mut word, mut is_open, mut quote) = (String::new(), false, None);
    for next in text.chars() {
        match quote {
            Some(open) if next == open => quote = None,
            Some(_) => word.push(next),
            None if matches!(next, '\'' | '"') => {
                quote = Some(next);
                is_open = true;
            }
            None if next.is_whitespace() => {
                if is_open {
                    words.push(Cow::Owned(std::mem::take(&mut word)));
                    is_open = false;
                }
            }
            None => {
                word.push(next);
                is_open = true;
            }
        }
    }
    if is_open {
        words.push(Cow::Owned(word));
    }
    words
}
