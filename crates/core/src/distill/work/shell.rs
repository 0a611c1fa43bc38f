//! Shell commands, as far as they can be read without a shell.

use std::borrow::Cow;

/// No more of a command is read.
const READ_BYTES: usize = 8 * 1024;

/// The input of a shell, split into simple commands.
pub(super) struct CommandLine<'a> {
    commands: Vec<Command<'a>>,
}

/// A simple command.
pub(super) struct Command<'a> {
    /// The program and its arguments, quotes taken off; variables before it and `sudo` and the like are left out.
    words: Vec<Cow<'a, str>>,
    /// Whether the next command reads what this one writes.
    is_piped: bool,
}

impl<'a> CommandLine<'a> {
    pub(super) fn parse(command: &'a str) -> Self {
        let bounded = unwrap_shell(&command[..command.floor_char_boundary(READ_BYTES)]);
        let mut commands = Vec::new();
        let mut lines = bounded.lines();
        while let Some(line) = lines.next() {
            split_commands(line, &mut commands);
            // Behind the program that applies it stands a patch.
            if commands.first().is_some_and(|command| matches!(command.name(), "apply_patch" | "applypatch")) {
                break;
            }
            if let Some(mark) = here_document_mark(line) {
                // Up to the mark stands what the command reads.
                lines.by_ref().find(|line| line.trim() == mark);
            }
        }
        Self { commands }
    }

    pub(super) fn commands(&self) -> impl Iterator<Item = &Command<'a>> {
        self.commands.iter()
    }

    /// A text that is the same for a command that is run again: without changes of folder, settings, redirections, and
    /// what only shortens the output. For comparing, not for showing.
    pub(super) fn comparison_key(&self) -> String {
        let pipes = || self.commands.chunk_by(|command, _| command.is_piped);
        let essence = join_pipes(pipes().filter(|pipe| !pipe[0].is_setup()));
        if essence.is_empty() { join_pipes(pipes()) } else { essence }
    }
}

/// The input of a shell within a command: `nix develop -c bash -lc 'cargo test'` runs the tests.
fn unwrap_shell(command: &str) -> &str {
    // Most commands call no shell.
    if !command.contains("sh -") {
        return command;
    }
    let trimmed = command.trim_end();
    for shell in ["bash -lc ", "bash -c ", "sh -c ", "zsh -lc ", "zsh -c "] {
        let Some(at) = command.find(shell) else { continue };
        // Behind a separator or within quotes it is a part of something else.
        let is_wrapped = !command[..at].contains(['|', ';', '&', '\'', '"', '\n']);
        let inner = &trimmed[(at + shell.len()).min(trimmed.len())..];
        let quote = inner.chars().next().filter(|quote| matches!(quote, '\'' | '"'));
        if let Some(inner) = quote.and_then(|quote| inner[1..].strip_suffix(quote)).filter(|_| is_wrapped) {
            return inner;
        }
    }
    command
}

/// The commands of pipes as one text; a pipe of which nothing is left is left out.
fn join_pipes<'p>(pipes: impl Iterator<Item = &'p [Command<'p>]>) -> String {
    let mut joined = String::new();
    for pipe in pipes {
        let n_telling = pipe.len() - pipe[1..].iter().rev().take_while(|command| command.only_shortens()).count();
        let before = joined.len();
        joined.push_str(if before > 0 { " && " } else { "" });
        let start = joined.len();
        for (index, command) in pipe[..n_telling].iter().enumerate() {
            joined.push_str(if index > 0 { " | " } else { "" });
            command.push_words(&mut joined);
        }
        if joined.len() == start {
            joined.truncate(before);
        }
    }
    joined
}

impl<'a> Command<'a> {
    fn new(text: &'a str, is_piped: bool) -> Option<Self> {
        let mut words = split_words(text);
        let n_setup = words.iter().take_while(|word| is_variable(word) || is_wrapper(word)).count();
        if n_setup < words.len() {
            words.drain(..n_setup);
        }
        (!words.is_empty()).then_some(Self { words, is_piped })
    }

    /// The program as it is called, so perhaps with its folder.
    pub(super) fn program(&self) -> &str {
        &self.words[0]
    }

    /// The program without its folder.
    pub(super) fn name(&self) -> &str {
        self.program().rsplit(['/', '\\']).next().unwrap_or_default()
    }

    pub(super) fn arguments(&self) -> impl Iterator<Item = &str> + Clone {
        self.words[1..].iter().map(AsRef::as_ref)
    }

    /// Whether one of the arguments is one of these.
    pub(super) fn has_argument(&self, wanted: &[&str]) -> bool {
        self.arguments().any(|word| wanted.contains(&word))
    }

    /// Adds its words to a text, but for redirections.
    fn push_words(&self, to: &mut String) {
        for (index, word) in self.words.iter().filter(|word| !is_redirection(word)).enumerate() {
            to.push_str(if index > 0 { " " } else { "" });
            to.push_str(word);
        }
    }

    fn is_setup(&self) -> bool {
        matches!(self.program(), "cd" | "export" | "set" | "source" | "." | "pushd" | "popd" | "clear" | "sleep")
    }

    fn only_shortens(&self) -> bool {
        matches!(
            self.program(),
            "tail" | "head" | "cat" | "less" | "more" | "tee" | "grep" | "rg" | "sed" | "awk" | "sort"
        )
    }
}

/// `NAME=value`.
fn is_variable(word: &str) -> bool {
    let name = word.split('=').next().unwrap_or_default();
    name.len() < word.len() && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Programs that only start another one.
fn is_wrapper(word: &str) -> bool {
    matches!(word, "sudo" | "env" | "time" | "nice" | "command" | "exec")
}

fn is_redirection(word: &str) -> bool {
    matches!(word, "2>&1" | "2>/dev/null" | ">/dev/null" | "&>/dev/null" | "1>&2")
}

/// The word that ends the document which a line opens with `<<`.
fn here_document_mark(line: &str) -> Option<&str> {
    let (_, mark) = line.split_once("<<").filter(|(_, mark)| !mark.starts_with('<'))?;
    let mark = mark.trim_start_matches('-').trim_start();
    let end = mark.find(|c: char| c.is_whitespace() || matches!(c, '|' | ';' | '&' | '>' | ')')).unwrap_or(mark.len());
    Some(mark[..end].trim_matches(['\'', '"'])).filter(|mark| !mark.is_empty())
}

/// Splits a line outside of quotes at `;`, `&&`, `||` and `|`.
fn split_commands<'a>(line: &'a str, commands: &mut Vec<Command<'a>>) {
    let bytes = line.as_bytes();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let separator = match &bytes[at..] {
            [b'\\', ..] => {
                at += 2;
                continue;
            }
            [quote @ (b'\'' | b'"' | b'`'), rest @ ..] => {
                at += memchr::memchr(*quote, rest).map_or(rest.len(), |end| end + 1) + 1;
                continue;
            }
            [b'&', b'&', ..] | [b'|', b'|', ..] => 2,
            [b'|' | b';', ..] => 1,
            _ => {
                at += 1;
                continue;
            }
        };
        commands.extend(Command::new(&line[start..at], separator == 1 && bytes[at] == b'|'));
        at += separator;
        start = at;
    }
    commands.extend(line.get(start..).and_then(|rest| Command::new(rest, false)));
}

/// The words of a simple command, quotes taken off; one that is not closed goes to its end.
fn split_words(text: &str) -> Vec<Cow<'_, str>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (word, behind) = first_word(rest);
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

fn first_word(text: &str) -> (Cow<'_, str>, &str) {
    let end = text.find(|letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"')).unwrap_or(text.len());
    if !text[end..].starts_with(['\'', '"']) {
        return (Cow::Borrowed(&text[..end]), &text[end..]);
    }
    let (mut word, mut quote) = (String::new(), None);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, _) if letter.is_whitespace() => return (Cow::Owned(word), &text[at..]),
            _ => word.push(letter),
        }
    }
    (Cow::Owned(word), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes_part_nothing() {
        for (line, parted) in [
            (r"echo a\; b", vec![vec!["echo", r"a\;", "b"]]),
            ("echo 'a && b' | wc", vec![vec!["echo", "a && b"], vec!["wc"]]),
            ("echo \"it's; one\" && ls", vec![vec!["echo", "it's; one"], vec!["ls"]]),
            ("say 'a'\"b\"c ''", vec![vec!["say", "abc", ""]]),
            ("say 'open; end", vec![vec!["say", "open; end"]]),
            ("A=1 B_2= sudo time-it x", vec![vec!["time-it", "x"]]),
            (
                "cat > a.py <<'EOF'\nrm x\nEOF\npython a.py",
                vec![vec!["cat", ">", "a.py", "<<EOF"], vec!["python", "a.py"]],
            ),
        ] {
            let line = CommandLine::parse(line);
            let words: Vec<Vec<&str>> =
                line.commands().map(|command| command.words.iter().map(AsRef::as_ref).collect()).collect();
            assert_eq!(words, parted);
        }
    }

    #[test]
    fn the_same_work_has_the_same_essence() {
        for (line, essence) in [
            ("cd x && FOO=1 make 'a | tail' 2>&1 | tail -3", "make a | tail"),
            ("make  a\n\n\tmake b", "make a && make b"),
            ("make a >/dev/null  2>&1", "make a"),
            ("cd x; cd y", "cd x && cd y"),
            ("a | tail x", "a"),
            ("nix develop -c bash -lc 'cd x && make a | tail'", "make a"),
            ("bash -c \"make a\" | tail", "bash -c make a"),
            ("a || b && tail", "a && b && tail"),
        ] {
            assert_eq!(CommandLine::parse(line).comparison_key(), essence, "{line}");
        }
    }
}
