//! Text made safe to show: transcripts hold other people's bytes.

use std::str::Chars;

/// Removes terminal escapes and control characters; tabs and line feeds stay.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Most text has nothing to remove: it is copied in stretches.
    while let Some(at) = rest.bytes().position(|byte| SUSPECT[usize::from(byte)]) {
        out.push_str(&rest[..at]);
        let mut chars = rest[at..].chars();
        match chars.next() {
            Some('\u{1b}') => skip_escape(&mut chars),
            Some('\u{9b}') => skip_control_sequence(&mut chars),
            Some(next) if !next.is_control() && !is_invisible(next) => out.push(next),
            _ => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

/// Whether a character that begins with a byte may have to go.
const SUSPECT: [bool; 256] = {
    let (mut suspect, mut byte) = ([false; 256], 0);
    while byte < 256 {
        // The control characters, and the blocks in which the later ones and the invisible ones are.
        suspect[byte] = matches!(byte, 0..0x20 | 0x7f | 0xc2 | 0xe2 | 0xef) && !matches!(byte, 0x09 | 0x0a);
        byte += 1;
    }
    suspect
};

/// The lines of a text, as `str::lines` gives them: messages are short, and so are their lines.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| (end, end + 1));
    // What stands behind the last end is a line where there is something.
    let last = (!text.is_empty() && !text.ends_with('\n')).then_some((text.len(), text.len()));
    let mut start = 0;
    ends.chain(last).map(move |(end, next)| {
        let line = &text[std::mem::replace(&mut start, next)..end];
        line.strip_suffix('\r').filter(|_| next > end).unwrap_or(line)
    })
}

/// One line of at most `width` characters, for tables and titles.
pub fn one_line(text: &str, width: usize) -> String {
    let words = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= width {
        return words;
    }
    let mut cut: String = words.chars().take(width.saturating_sub(1)).collect();
    cut.truncate(cut.trim_end().len());
    cut.push('…');
    cut
}

/// Bidirectional overrides can make a command read as another one.
fn is_invisible(next: char) -> bool {
    matches!(next, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

fn skip_escape(rest: &mut Chars<'_>) {
    match rest.next() {
        Some('[') => skip_control_sequence(rest),
        // Operating-system commands, device control and the like run to their terminator.
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(rest),
        // `ESC ( B` and its kin have one more character.
        Some(' '..='/') => {
            rest.next();
        }
        _ => {}
    }
}

fn skip_control_sequence(rest: &mut Chars<'_>) {
    let text = rest.as_str();
    let parameters = text.bytes().take_while(|byte| matches!(byte, b' '..=b'?')).count();
    let end = parameters + usize::from(matches!(text.as_bytes().get(parameters), Some(b'@'..=b'~')));
    *rest = text[end..].chars();
}

fn skip_string(rest: &mut Chars<'_>) {
    while let Some(next) = rest.next() {
        match next {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                let text = rest.as_str();
                *rest = text.strip_prefix('\\').unwrap_or(text).chars();
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_do_not_reach_the_terminal() {
        assert_eq!(plain("a\u{1b}[31mred\u{1b}[0m b"), "ared b");
        assert_eq!(plain("x\u{1b}]0;title\u{7}y\u{1b}]52;c;AAAA\u{1b}\\z"), "xyz");
        assert_eq!(plain("cr\rlf\nnul\0"), "crlf\nnul");
        assert_eq!(plain("a\u{202e}b"), "ab");
        assert_eq!(plain("é → ü\u{85}\u{a0}\u{feff}日本"), "é → ü\u{a0}日本");
        assert_eq!(plain("a\u{1b}[31"), "a");
        assert_eq!(plain("a\u{1b}"), "a");
    }

    #[test]
    fn one_line_cuts_by_characters() {
        assert_eq!(one_line("  fix\n the  add ", 20), "fix the add");
        assert_eq!(one_line("日本語テキスト", 4), "日本語…");
    }

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "a", "a\n", "a\r\nb", "a\rb\r", "\r\n\r\n", "é\n\n日本\r\n x", "a\n\r"] {
            assert_eq!(lines(text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>(), "{text:?}");
        }
    }
}
