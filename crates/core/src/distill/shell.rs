//! Shell commands, as far as they can be read without a shell.

use std::borrow::Cow;

use crate::plain::{fields, space};

/// How many bytes are read for the commands of a line, and how many for its essence.
const READ: usize = 8192;
const ESSENTIAL: usize = 4096;

/// What a shell is given to run, split once for all who ask what it does.
pub(super) struct Line<'a> {
    whole: &'a str,
    text: &'a str,
    parts: Vec<Part>,
}

/// What stands between two separators. Small, as a line may have as many as letters.
struct Part {
    all: Span,
    /// The simple command that it is.
    command: Span,
    /// Whether `|` or `||` stands behind it.
    is_piped: bool,
}

/// Where something begins and ends; what is read is short enough.
#[derive(Clone, Copy)]
struct Span {
    start: u16,
    end: u16,
}

/// A simple command.
pub(super) struct Command<'a> {
    /// As it is called, so perhaps with its folder.
    pub(super) program: Cow<'a, str>,
    /// Where its name begins.
    folder: usize,
    pub(super) arguments: Words<'a>,
}

/// The words of a text, quotes taken off. Most who ask look at the first ones only.
#[derive(Clone)]
pub(super) struct Words<'a>(&'a str);

impl<'a> Line<'a> {
    pub(super) fn of(command: &'a str) -> Self {
        Self::within(command, READ)
    }

    fn within(command: &'a str, length: usize) -> Self {
        let bounded = &command[..command.floor_char_boundary(length)];
        // Behind the first line of a here-document is what the command reads.
        let reads = memchr::memchr(b'<', bounded.as_bytes()).is_some_and(|at| bounded[at..].contains("<<"));
        let text = if reads { bounded.lines().next().unwrap_or_default() } else { bounded };
        Self { whole: command, text, parts: parts(text) }
    }

    /// The simple commands, in order.
    pub(super) fn commands(&self) -> impl Iterator<Item = Command<'a>> {
        self.parts.iter().filter_map(|part| Command::of(part.command.of(self.text)))
    }

    /// Whether a program of some may be run; one whose name is quoted may be any.
    pub(super) fn may_run(&self, is_one: impl Fn(&str) -> bool) -> bool {
        let mut programs = self.parts.iter().filter_map(|part| fields(part.command.of(self.text)).next());
        programs.any(|program| is_one(program) || program.bytes().any(|byte| matches!(byte, b'\'' | b'"')))
    }

    /// What is done: without changes of folder, environment, and what only shortens output.
    pub(super) fn essence(&self) -> Cow<'a, str> {
        if self.whole.len() > ESSENTIAL { Self::within(self.whole, ESSENTIAL).told() } else { self.told() }
    }

    fn told(&self) -> Cow<'a, str> {
        let is_set_only = self.pipes().all(|pipe| is_setting(self.in_pipe(pipe)));
        let kept = self.pipes().filter(|pipe| is_set_only || !is_setting(self.in_pipe(pipe)));
        let mut told = kept.map(|pipe| self.without_tail(pipe)).filter(|text| !text.is_empty());
        let (first, second) = (told.next().unwrap_or_default(), told.next());
        if second.is_none() && is_tidy(first) {
            return Cow::Borrowed(first);
        }
        let mut essence = String::with_capacity(self.text.len() + AND.len() * self.parts.len());
        for text in [first].into_iter().chain(second).chain(told) {
            push_words(text, &mut essence);
        }
        Cow::Owned(essence)
    }

    fn pipes(&self) -> impl Iterator<Item = &[Part]> {
        self.parts.chunk_by(|part, _| part.is_piped)
    }

    fn in_pipe(&self, pipe: &[Part]) -> &'a str {
        whole(pipe).of(self.text)
    }

    /// A pipe without the stages that only shorten what it says.
    fn without_tail(&self, pipe: &[Part]) -> &'a str {
        if let [part] = pipe {
            return without_redirections(part.command.of(self.text));
        }
        let Span { start, mut end } = whole(pipe);
        for Part { all: stage, is_piped, .. } in pipe.iter().skip(1).rev() {
            // Between the marks of `|||` is no stage.
            if stage.start == stage.end && *is_piped {
                continue;
            }
            if !shortens(fields(Span { start: stage.start, end }.of(self.text)).next().unwrap_or_default()) {
                break;
            }
            end = stage.start - 1;
        }
        without_redirections(without_environment(Span { start, end }.of(self.text).trim()))
    }
}

impl<'a> Command<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let mut arguments = Words(text);
        let program = arguments.next()?;
        let folder = program.bytes().rposition(|byte| byte == b'/').map_or(0, |at| at + 1);
        Some(Self { program, folder, arguments })
    }

    /// The program without its folder.
    pub(super) fn name(&self) -> &str {
        &self.program[self.folder..]
    }

    /// Whether one of the arguments is one of these.
    pub(super) fn has(&self, wanted: &[&str]) -> bool {
        self.arguments.clone().any(|word| wanted.contains(&word.as_ref()))
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = Cow<'a, str>;

    fn next(&mut self) -> Option<Cow<'a, str>> {
        let text = self.0.trim_start();
        let (end, is_quoted) = word_end(text);
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        let word = if is_quoted { Cow::Owned(unquoted(word)) } else { Cow::Borrowed(word) };
        (end > 0).then_some(word)
    }
}

impl Span {
    fn new(start: usize, end: usize) -> Self {
        let place = |at: usize| u16::try_from(at).unwrap_or(u16::MAX);
        Self { start: place(start), end: place(end) }
    }

    fn of(self, text: &str) -> &str {
        &text[usize::from(self.start)..usize::from(self.end)]
    }
}

/// Where a pipe begins and ends.
fn whole(pipe: &[Part]) -> Span {
    Span { start: pipe.first().map_or(0, |part| part.all.start), end: pipe.last().map_or(0, |part| part.all.end) }
}

fn is_setting(part: &str) -> bool {
    // Nearly every command begins with another letter.
    let letter = part.bytes().find(|byte| *byte != b' ');
    if letter.is_some_and(|letter| letter.is_ascii_lowercase() && !b"ceps".contains(&letter)) {
        return false;
    }
    let first = fields(part).next().unwrap_or_default();
    part.is_empty() || matches!(first, "cd" | "export" | "set" | "source" | "." | "pushd" | "popd" | "clear" | "sleep")
}

/// Whether a program only shortens what it is given.
fn shortens(program: &str) -> bool {
    matches!(program, "tail" | "head" | "cat" | "less" | "more" | "tee" | "grep" | "rg" | "sed" | "awk" | "sort")
}

/// What stands between the commands of an essence.
const AND: &str = " && ";

/// Adds the words of a command, where it has some.
fn push_words(text: &str, essence: &mut String) {
    let before = essence.len();
    if before > 0 {
        essence.push_str(AND);
    }
    let start = essence.len();
    if is_tidy(text) {
        essence.push_str(text);
    } else {
        for word in fields(text).filter(|word| !is_redirection(word)) {
            if essence.len() > start {
                essence.push(' ');
            }
            essence.push_str(word);
        }
    }
    if essence.len() == start {
        essence.truncate(before);
    }
}

/// Whether a text is its words with a space between them, and none of these is a redirection.
fn is_tidy(text: &str) -> bool {
    let (bytes, mut at) = (text.as_bytes(), 0);
    while let Some(next) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| !IS_WORD[usize::from(*byte)])) {
        at += next + 1;
        let is_tidy = match bytes[at - 1] {
            b' ' => bytes.get(at).is_some_and(|next| IS_WORD[usize::from(*next)] || space(text, at) == 0),
            b'>' => false,
            _ => space(text, at - 1) == 0,
        };
        if !is_tidy {
            return false;
        }
    }
    true
}

/// Whether a byte is of a word: it begins no white space, no redirection and nothing quoted.
const IS_WORD: [bool; 256] = {
    let (mut is_word, mut byte) = ([true; 256], 0);
    while byte < 256 {
        is_word[byte] = !matches!(byte, 0x09..=0x0d | 0x20 | 0x22 | 0x27 | 0x3e | 0xc2 | 0xe1..=0xe3);
        byte += 1;
    }
    is_word
};

/// Without the redirections at the end, where nearly all of them stand.
fn without_redirections(text: &str) -> &str {
    let mut rest = text;
    while rest.ends_with(['1', '2', 'l'])
        && let Some((before, last)) = rest.rsplit_once(' ')
        && is_redirection(last)
    {
        rest = before.trim_end();
    }
    rest
}

fn is_redirection(word: &str) -> bool {
    matches!(word, "2>&1" | "2>/dev/null" | ">/dev/null" | "&>/dev/null" | "1>&2")
}

/// Without `NAME=value` and programs that only start another one.
fn without_environment(text: &str) -> &str {
    let mut rest = text;
    loop {
        let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
        let is_variable = name > 0 && rest.as_bytes().get(name) == Some(&b'=');
        if !is_variable && !matches!(&rest[..name], "sudo" | "env" | "time" | "nice" | "command" | "exec") {
            return rest;
        }
        let word = fields(rest).next().unwrap_or_default();
        let after = rest[word.len()..].trim_start();
        // `time-it` is another program than `time`.
        if after.is_empty() || !is_variable && word.len() > name {
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
fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let part = |start: usize, end: usize, is_piped: bool| {
        // Both take from the front what they leave out, but for the white space at the end.
        let trimmed = text[start..end].trim_end();
        let until = start + trimmed.len();
        let command = Span::new(until - without_environment(trimmed.trim_start()).len(), until);
        Part { all: Span::new(start, end), command, is_piped }
    };
    let (mut start, mut at) = (0, 0);
    let bytes = text.as_bytes();
    while let Some(next) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| IS_MARK[usize::from(*byte)])) {
        let end = at + next;
        let rest = &bytes[end..];
        at = end + 1;
        let is_double = matches!(rest, [b'&', b'&', ..] | [b'|', b'|', ..]);
        match rest[0] {
            b'\\' => at += 1,
            quote @ (b'\'' | b'"' | b'`') => at += memchr::memchr(quote, &rest[1..]).map_or(rest.len(), |end| end + 1),
            b'&' if !is_double => {}
            mark => {
                parts.push(part(start, end, mark == b'|'));
                at += usize::from(is_double);
                start = at;
            }
        }
    }
    parts.push(part(start, text.len(), false));
    parts
}

/// Where the word ends that a text begins with, and whether something in it is quoted.
fn word_end(text: &str) -> (usize, bool) {
    let bytes = text.as_bytes();
    let (mut at, mut is_quoted) = (0, false);
    while let Some(next) = bytes.get(at..).and_then(|rest| rest.iter().position(|byte| !IS_WORD[usize::from(*byte)])) {
        at += next;
        match bytes[at] {
            quote @ (b'\'' | b'"') => {
                is_quoted = true;
                at += memchr::memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |end| end + 1);
            }
            _ if space(text, at) > 0 => return (at, is_quoted),
            _ => {}
        }
        at += 1;
    }
    (bytes.len(), is_quoted)
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
    use super::Line;

    #[test]
    fn quotes_and_escapes_part_nothing() {
        for (line, parted) in [
            (r"echo a\; b", vec![vec!["echo", r"a\;", "b"]]),
            ("echo 'a && b' | wc", vec![vec!["echo", "a && b"], vec!["wc"]]),
            ("echo \"it's; one\" && ls", vec![vec!["echo", "it's; one"], vec!["ls"]]),
            ("say 'a'\"b\"c ''", vec![vec!["say", "abc", ""]]),
            ("say 'open; end", vec![vec!["say", "open; end"]]),
            ("a\u{3000}b\u{a0}é ; c\\", vec![vec!["a", "b", "é"], vec!["c\\"]]),
            ("a & b &&& c ||| d\n;e", vec![vec!["a", "&", "b"], vec!["&", "c"], vec!["d"], vec!["e"]]),
            ("A=1 B_2= sudo time-it x", vec![vec!["time-it", "x"]]),
        ] {
            let line = Line::of(line);
            let words = line.commands().map(|command| [command.program].into_iter().chain(command.arguments));
            assert_eq!(words.map(Iterator::collect::<Vec<_>>).collect::<Vec<_>>(), parted);
        }
    }

    #[test]
    fn essence_is_what_is_done() {
        for (line, essence) in [
            ("cd x && FOO=1 make 'a | tail' 2>&1 | tail -3", "make 'a | tail'"),
            ("make  a\n\n\tmake\u{3000}b 2>&1 c;  ", "make a && make b c"),
            ("make a >/dev/null  2>&1", "make a"),
            ("cd x; cd y", "cd x && cd y"),
            ("export A=1;set -e; source a;. b\n pushd c && popd;clear;sleep 1; ls", "ls"),
            ("cd x; 2>&1", ""),
            ("a | tail x || head", "a"),
            ("a | tail x ||| head", "a"),
            ("a | tail|| head", "a | tail|"),
            ("a || b && tail", "a || b && tail"),
        ] {
            assert_eq!(Line::of(line).essence(), essence, "{line}");
        }
    }

    #[test]
    fn programs_may_be_quoted() {
        let is_rm = |line: &str| Line::of(line).may_run(|program| program == "rm");
        assert!(is_rm("ls | A=1 rm a") && is_rm("'r'm a") && !is_rm("ls rm; /bin/rm \"a\""));
    }

    #[test]
    fn essence_is_of_the_beginning() {
        let line = format!("make {} && ls", "x".repeat(4090));
        assert!(Line::of(&line).essence() == line[..4095]);
        assert_eq!(Line::of(&line).commands().count(), 2);
    }
}
