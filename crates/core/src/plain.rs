//! Text made safe to show: transcripts hold other people's bytes.

use std::str::Chars;

/// Removes terminal escapes and control characters; tabs and line feeds stay.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Most text has nothing to remove: it is copied in stretches.
    while let Some(at) = rest.bytes().position(is_suspect) {
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

/// Whether a character that begins with this byte may have to go.
fn is_suspect(byte: u8) -> bool {
    match byte {
        b'\n' | b'\t' => false,
        // The later control characters, and the blocks in which the invisible ones are.
        0..0x20 | 0x7f | 0xc2 | 0xe2 | 0xef => true,
        _ => false,
    }
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
}
