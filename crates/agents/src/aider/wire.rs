//! The lines of a history file.
//!
//! The file is Markdown that the client appends to and never reads, except when it is told to restore a chat. Then
//! lines that begin with `# ` are dropped wherever they stand, `> ` is what the client said itself, `#### ` is the user,
//! and everything else is the model. The client ends each line of its own and each line of the user's with two blanks,
//! which is how they are told from a heading or a quotation in a reply.

use carryover_core::plain::one_line;

use crate::formats::jsonl::{Line, LineParser};

/// The beginning of a chat's first line; the local time follows.
pub(super) const CHAT_START: &str = "# aider chat started at ";
/// Begins the client's lines.
pub(super) const CONSOLE: &str = "> ";
/// Begins the user's lines.
pub(super) const USER: &str = "#### ";
/// Ends the client's lines and the user's.
pub(super) const END: &str = "  ";
/// How the client's own compaction begins, in the user's name.
pub(super) const SUMMARY_START: &str = "I spoke to you previously about a number of things.";
/// The model's answer to it, which the client makes up.
pub(super) const SUMMARY_REPLY: &str = "Ok.";
/// Said at the start of a chat that loaded all chats before it.
pub(super) const RESTORED_NOTICE: &str = "Restored previous conversation history.";
/// Said when the chat begins anew.
pub(super) const CLEARED_NOTICES: [&str; 2] =
    ["All chat history cleared.", "All files dropped and chat history cleared."];

/// The first words of the client's that we put into a chat that we write.
pub(super) const CARRIED_NOTICE: &str = "Carried over by carryover";
/// Begins what a hook brought along with the user's words, in a chat that we wrote.
pub(super) const HOOK_START: &str = "<hook>\n";
/// Thoughts in a chat that we wrote: shown to whoever opens the file, and never sent.
pub(super) const THOUGHTS_LINE: &str = "Thoughts:";
/// The title in a chat that we wrote.
pub(super) const TITLE_START: &str = "Title: ";

/// A line, and as much of it as the structure needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LineKind {
    /// A chat begins; the local time.
    Started(String),
    /// The beginning of what the client said.
    Console(String),
    /// The beginning of what the user said.
    User(String),
    Text,
    /// Longer than anybody's message.
    TooLong,
}

/// A line that is not blank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WireLine {
    pub(super) offset: u64,
    /// Behind its line feed.
    pub(super) end: u64,
    pub(super) kind: LineKind,
    /// It ends with two blanks.
    pub(super) ends_with_blanks: bool,
}

impl WireLine {
    /// Tells what a line is; one that is still being written does not count.
    pub(super) fn parse(line: Line<'_>) -> Option<Self> {
        if line.unterminated {
            return None;
        }
        let (offset, end) = (line.offset, line.offset + line.length + 1);
        if line.is_too_long() {
            return Some(Self { offset, end, kind: LineKind::TooLong, ends_with_blanks: false });
        }
        let bytes = line.bytes.strip_suffix(b"\r").unwrap_or(line.bytes);
        let ended = bytes.ends_with(END.as_bytes());
        if !matches!(bytes.first(), Some(b'#' | b'>')) {
            return Some(Self { offset, end, kind: LineKind::Text, ends_with_blanks: ended });
        }
        let after = |mark: &str| bytes.strip_prefix(mark.as_bytes()).map(line_start);
        let kind = if let Some(time) = after(CHAT_START).filter(|time| is_time(time)) {
            LineKind::Started(time)
        } else if let Some(text) = after(CONSOLE) {
            LineKind::Console(text)
        } else if let Some(text) = after(USER) {
            LineKind::User(text)
        } else {
            LineKind::Text
        };
        Some(Self { offset, end, kind, ends_with_blanks: ended })
    }
}

impl WireLine {
    /// The line with as much of it as tells whose words it begins.
    pub(super) fn shorten(mut self) -> Self {
        const KEPT_BYTES: usize = 128;
        if let LineKind::Console(text) | LineKind::User(text) = &mut self.kind {
            text.truncate(text.floor_char_boundary(KEPT_BYTES));
            text.shrink_to_fit();
        }
        self
    }
}

/// Parses the lines of a history; lines of the model's that follow one another come as one.
pub(super) struct HistoryParser;

impl LineParser for HistoryParser {
    type Item = WireLine;
    type Memory = Option<WireLine>;

    // Words between braces are the model's.
    fn skips_line(&self, line: &Line<'_>) -> bool {
        line.is_blank()
    }

    fn parse_line(&self, before: &mut Option<WireLine>, line: Line<'_>) -> Option<WireLine> {
        let line = WireLine::parse(line)?;
        match before {
            // Two blanks end output of the client's that goes on; what follows is another's.
            Some(before)
                if before.kind == LineKind::Text && !before.ends_with_blanks && line.kind == LineKind::Text =>
            {
                (before.end, before.ends_with_blanks) = (line.end, line.ends_with_blanks);
                None
            }
            _ => before.replace(line),
        }
    }

    fn finish_stretch(&self, before: Option<WireLine>) -> Option<WireLine> {
        before
    }
}

/// Enough of a line to know what it says.
fn line_start(bytes: &[u8]) -> String {
    const MAX_START_BYTES: usize = 2_000;
    String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_START_BYTES)]).trim_end().to_owned()
}

fn is_time(text: &str) -> bool {
    text.parse::<jiff::civil::DateTime>().is_ok()
}

/// Whether some words of the user's are for the client, not for the model. What such a command asks of the model is
/// written once more, as words of its own.
pub(super) fn is_command(text: &str) -> bool {
    text.starts_with(['/', '!']) || text == "<blank>" || is_answer(text)
}

/// A question of the client's that was answered for all files at once is written as if the user had said it.
fn is_answer(text: &str) -> bool {
    text.contains("? (Y)es/(N)o") && text.contains("]: ")
}

/// A line of the client's.
pub(super) fn console_line(text: &str) -> String {
    format!("{CONSOLE}{}{END}\n", one_line(text, 500))
}

/// Several lines of the client's, the first of which tells what they are.
pub(super) fn console_lines(first: &str, text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    mark_lines(CONSOLE, std::iter::once(first).chain(python_lines(&text)))
}

/// A text of the user's.
pub(super) fn user_lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    mark_lines(USER, python_lines(&text))
}

fn mark_lines<'a>(mark: &str, lines: impl Iterator<Item = &'a str>) -> String {
    lines.fold(String::new(), |mut out, line| {
        out.extend([mark, line.trim_end_matches(is_line_break), END, "\n"]);
        out
    })
}

/// The user's words, from their lines.
pub(super) fn user_text(block: &str) -> String {
    unmark_lines(USER, block).trim_end().to_owned()
}

/// The client's words, from their lines.
pub(super) fn console_text(block: &str) -> String {
    unmark_lines(CONSOLE, block)
}

fn unmark_lines(mark: &str, block: &str) -> String {
    let line = |line: &str| {
        let line = line.trim_end_matches(['\n', '\r']);
        let line = line.strip_prefix(mark).unwrap_or(line);
        line.strip_suffix(END).unwrap_or(line).to_owned()
    };
    block.split_inclusive('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// The text with a tab behind every mark that would make the client drop a line or take it for somebody else's, and
/// how many there were. A comment, a heading and a quotation stay what they are, and the lines begin where they began.
pub(super) fn guard_marks(text: &str) -> (String, usize) {
    let mut count = 0;
    let guarded = python_lines(text).fold(String::with_capacity(text.len()), |mut out, line| {
        match leading_mark(line) {
            Some(mark) => {
                count += 1;
                out.push_str(mark);
                out.push('\t');
                out.push_str(&line[mark.len()..]);
            }
            None => out.push_str(line),
        }
        out
    });
    (guarded, count)
}

/// The text as it was before it was guarded.
pub(super) fn unguard_marks(text: &str) -> String {
    python_lines(text).fold(String::with_capacity(text.len()), |mut out, line| {
        match leading_mark(line).and_then(|mark| Some((mark, line[mark.len()..].strip_prefix('\t')?))) {
            Some((mark, rest)) => out.extend([mark, rest]),
            None => out.push_str(line),
        }
        out
    })
}

/// The mark at the beginning of a line: `#`, `####` or `>` before a blank, with any tabs between.
fn leading_mark(line: &str) -> Option<&str> {
    let after = |mark: &str| line.strip_prefix(mark).is_some_and(|rest| rest.trim_start_matches('\t').starts_with(' '));
    ["####", "#", ">"].into_iter().find(|mark| after(mark)).map(|mark| &line[..mark.len()])
}

/// Lines as the client's language breaks them, which is at more than line feeds.
fn python_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(is_line_break)
}

fn is_line_break(letter: char) -> bool {
    matches!(
        letter,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}' | '\u{1d}' | '\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarded_lines_come_back_and_none_is_structure() {
        let text = "# a\n#\tb\n#\t c\n## d\n#### e\n> f\n>g\n\u{c}# h\u{2028}> i\n  # j\n#### \t k";
        let (guarded, count) = guard_marks(text);
        assert_eq!(unguard_marks(&guarded), text);
        assert_eq!(count, 7);
        let lines = python_lines(&guarded);
        assert!(lines.into_iter().all(|line| ["# ", "> ", "#### "].iter().all(|mark| !line.starts_with(mark))));
    }

    #[test]
    fn what_a_user_says_stays_one_text() {
        let text = "/home is full  \n\n#### not a heading\u{2028}end";
        let lines = user_lines(text);
        assert!(lines.lines().all(|line| line.starts_with(USER) && line.ends_with(END)), "{lines}");
        assert_eq!(user_text(&lines), "/home is full  \n\n#### not a heading\nend");
    }
}
