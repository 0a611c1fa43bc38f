//! Text made safe to show: transcripts hold other people's bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::str::Chars;

/// Removes terminal escapes and control characters; tabs and line feeds stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for_each_kept(text, |kept| out.push_str(&text[kept]));
    Cow::Owned(out)
}

/// Names what `plain` leaves of a text, piece by piece and in order.
pub(crate) fn for_each_kept(text: &str, mut keep: impl FnMut(Range<usize>)) {
    let mut at = 0;
    while let Some(found) = text.as_bytes()[at..].iter().position(|byte| SUSPECT[usize::from(*byte)]) {
        keep(at..at + found);
        let start = at + found;
        let mut chars = text[start..].chars();
        let next = chars.next();
        match next {
            Some('\u{1b}') => skip_escape(&mut chars),
            Some('\u{9b}') => skip_control_sequence(&mut chars),
            _ => {}
        }
        at = text.len() - chars.as_str().len();
        if next.is_some_and(|next| !is_hidden(next)) {
            keep(start..at);
        }
    }
    keep(at..text.len());
}

/// Whether nothing has to go, as in most text.
pub(crate) fn is_plain(text: &str) -> bool {
    !text.bytes().any(|byte| SUSPECT[usize::from(byte)]) || !text.chars().any(is_hidden)
}

/// Whether a character that begins with a byte may have to go.
const SUSPECT: [bool; 256] = {
    let (mut suspect, mut byte) = ([false; 256], 0);
    while byte < 256 {
        // The control characters, and the blocks in which the later ones and the invisible ones are.
        suspect[byte] = matches!(byte, 0..0x20 | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef) && !matches!(byte, 0x09 | 0x0a);
        byte += 1;
    }
    suspect
};

/// Whether a character is not seen, and can change how others are: one that a terminal obeys, or one that reorders
/// a line.
pub fn is_hidden(next: char) -> bool {
    next.is_control() && !matches!(next, '\t' | '\n') || is_invisible(next)
}

/// JSON that is the same value and shows what it holds: it leaves most of the characters that a terminal obeys, or that
/// reorder a line, as they are.
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for next in text.chars() {
        if is_hidden(next) {
            let mut units = [0; 2];
            out.extend(next.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(next);
        }
    }
    Cow::Owned(out)
}

/// One line of at most `width` characters, for tables and titles.
pub fn one_line(text: &str, width: usize) -> String {
    // So many bytes are more characters than there is room for.
    let most = width.saturating_add(1).saturating_mul(4);
    let mut line = String::new();
    for word in plain(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word[..word.floor_char_boundary(most.saturating_add(4))]);
        if line.len() > most {
            break;
        }
    }
    if line.chars().nth(width).is_some() {
        let end = line.char_indices().nth(width.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
        line.truncate(line[..end].trim_end().len());
        line.push('…');
    }
    line
}

/// Bidirectional controls can make a command read as another one; noncharacters are for use inside a program.
fn is_invisible(next: char) -> bool {
    matches!(
        next,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fdd0}'..='\u{fdef}' | '\u{feff}'
    )
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
    fn json_stays_the_same_value_without_hidden_characters() {
        let value = "a\u{9b}31m\u{7f}é\u{202e}b\u{2066}\u{200f}\u{61c}\u{fdd0}\u{feff}\n\t";
        let text = serde_json::to_string_pretty(&[value]).unwrap();
        let escaped = escaped_json(&text);
        assert_eq!(escaped, "[\n  \"a\\u009b31m\\u007fé\\u202eb\\u2066\\u200f\\u061c\\ufdd0\\ufeff\\n\\t\"\n]");
        assert_eq!(serde_json::from_str::<[String; 1]>(&escaped).unwrap(), [value]);
    }

    #[test]
    fn one_line_cuts_by_characters() {
        assert_eq!(one_line("  fix\n the  add ", 20), "fix the add");
        assert_eq!(one_line("日本語テキスト", 4), "日本語…");
        assert_eq!(one_line("日本語テキスト", 7), "日本語テキスト");
        assert_eq!(one_line("ab cd ef", 4), "ab…");
        assert_eq!(one_line("a b \n\n c\u{3000} →\t", 20), "a b c →");
        assert_eq!(one_line(&"日本 ".repeat(9), 5), "日本 日…");
        assert_eq!(one_line(&"日本  語".repeat(9), 5), "日本 語…");
        assert_eq!((one_line("a", 0), one_line("", 0)), ("…".to_owned(), String::new()));
    }

    #[test]
    fn what_has_to_go_is_found_wherever_it_stands() {
        for mark in
            ('\0'..=char::MAX).filter(|mark| is_invisible(*mark) || mark.is_control() && !matches!(mark, '\t' | '\n'))
        {
            for before in [0, 1, 2, 61, 62, 63, 64, 65, 66, 127, 128, 129, 130] {
                let text = format!("{}{mark}", "→".repeat(before / 3) + &"x".repeat(before % 3));
                assert!(!plain(&text).contains(mark), "{text:?}");
                assert!(!plain(&format!("{text}é→x")).contains(mark), "{text:?}");
            }
        }
    }
}
