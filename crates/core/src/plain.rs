//! Text made safe to show: transcripts hold other people's bytes.

use std::borrow::Cow;
use std::str::Chars;

/// Removes terminal escapes and control characters; tabs and line feeds stay.
pub fn plain(text: &str) -> Cow<'_, str> {
    if is_plain(text.as_bytes()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
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
    Cow::Owned(out)
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

/// Whether nothing has to go, as in most text: it is looked at in stretches, which the compiler compares at once.
fn is_plain(bytes: &[u8]) -> bool {
    // Nearly all stretches have no byte that another one could make a sign of.
    let has_none = |from: usize| {
        let stretch = &bytes[from..(from + STRETCH).min(bytes.len())];
        !stretch.iter().fold(false, |any, byte| any | may_go(*byte))
    };
    let is_clean = |from: usize| {
        let stretch = &bytes[from..(from + STRETCH + 2).min(bytes.len())];
        let threes = stretch.iter().zip(&stretch[1..]).zip(&stretch[2..]);
        !threes.fold(false, |any, ((byte, next), third)| any | goes(*byte, *next, *third))
    };
    let last = bytes.len().saturating_sub(2);
    let is_end_clean = match &bytes[last..] {
        [one, two] => !goes(*one, *two, 0) && !goes(*two, 0, 0),
        [one] => !goes(*one, 0, 0),
        _ => true,
    };
    is_end_clean && (0..last).step_by(STRETCH).all(|from| has_none(from) || is_clean(from))
}

/// Whether the character that a byte begins may have to go.
#[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes are compared at once")]
fn may_go(byte: u8) -> bool {
    (byte < 0x20) & (byte != b'\t') & (byte != b'\n')
        | (byte == 0x7f)
        | (byte == 0xc2)
        | (byte == 0xe2)
        | (byte == 0xef)
}

const STRETCH: usize = 64;

/// Whether the character that three bytes begin with has to go.
#[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes are compared at once")]
fn goes(byte: u8, next: u8, third: u8) -> bool {
    (byte < 0x20) & (byte != b'\t') & (byte != b'\n')
        | (byte == 0x7f)
        // U+0080 to U+009F, U+202A to U+202E, U+2066 to U+2069, U+FEFF
        | (byte == 0xc2) & (next < 0xa0)
        | (byte == 0xe2) & (next == 0x80) & (0xaa..=0xae).contains(&third)
        | (byte == 0xe2) & (next == 0x81) & (0xa6..=0xa9).contains(&third)
        | (byte == 0xef) & (next == 0xbb) & (third == 0xbf)
}

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

/// What stands between white space, as `str::split_whitespace` gives it: messages and commands are nearly all ASCII.
pub(crate) fn fields(text: &str) -> impl Iterator<Item = &str> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    std::iter::from_fn(move || {
        while let length @ 1.. = space(text, at) {
            at += length;
        }
        let start = at;
        while bytes.get(at).is_some_and(|byte| IS_INK[usize::from(*byte)]) || at < bytes.len() && space(text, at) == 0 {
            at += 1;
        }
        (at > start).then(|| &text[start..at])
    })
}

/// Words with a space between them, as many at once as there are, so that not each is copied for itself. The text may
/// have no two spaces in a row.
fn stretches(text: &str) -> impl Iterator<Item = &str> {
    let (bytes, mut at) = (text.as_bytes(), 0);
    let stretches = std::iter::from_fn(move || {
        let start = at;
        while let Some(next) =
            bytes.get(at..).and_then(|rest| rest.iter().position(|byte| !IS_LINE[usize::from(*byte)]))
        {
            let (end, length) = (at + next, space(text, at + next));
            at = end + length.max(1);
            if length > 0 {
                return Some(&text[start..end]);
            }
        }
        at = bytes.len();
        (start < at).then(|| &text[start..])
    });
    stretches.map(|stretch| stretch.trim_matches(' ')).filter(|stretch| !stretch.is_empty())
}

/// Whether two spaces stand in a row. Without branches, many bytes are compared at once.
fn is_loose(text: &str) -> bool {
    let bytes = text.as_bytes();
    let pairs = bytes.iter().zip(bytes.get(1..).unwrap_or_default());
    pairs.map(|(byte, next)| (byte ^ b' ') | (next ^ b' ')).fold(u8::MAX, u8::min) == 0
}

/// Whether a byte is no white space, and begins none.
const IS_INK: [bool; 256] = {
    let (mut is_ink, mut byte) = ([true; 256], 0);
    while byte < 256 {
        is_ink[byte] = !matches!(byte, 0x09..=0x0d | 0x20 | 0xc2 | 0xe1..=0xe3);
        byte += 1;
    }
    is_ink
};

/// The same, but a space is within a line.
const IS_LINE: [bool; 256] = {
    let mut is_line = IS_INK;
    is_line[0x20] = true;
    is_line
};

/// How long the white space is that begins at a byte.
pub(crate) fn space(text: &str, at: usize) -> usize {
    match text.as_bytes().get(at) {
        Some(b'\t'..=b'\r' | b' ') => 1,
        Some(0xc2 | 0xe1..=0xe3) => {
            text[at..].chars().next().filter(|next| next.is_whitespace()).map_or(0, char::len_utf8)
        }
        _ => 0,
    }
}

/// One line of at most `width` characters, for tables and titles.
pub fn one_line(text: &str, width: usize) -> String {
    squeezed(&plain(text), width)
}

/// The same of a text that is plain already.
pub(crate) fn squeezed(text: &str, width: usize) -> String {
    // So many bytes are more characters than there is room for.
    let most = width.saturating_add(1).saturating_mul(4);
    let mut line = String::with_capacity(text.len().min(most));
    let (mut words, mut stretches) = (fields(text), stretches(text));
    let parts: &mut dyn Iterator<Item = &str> = if is_loose(text) { &mut words } else { &mut stretches };
    for part in parts {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&part[..part.floor_char_boundary(most.saturating_add(4))]);
        if line.len() > most {
            break;
        }
    }
    if line.len() > width && line.chars().nth(width).is_some() {
        let end = line.char_indices().nth(width.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
        line.truncate(line[..end].trim_end().len());
        line.push('…');
    }
    line
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
        assert_eq!(one_line("日本語テキスト", 7), "日本語テキスト");
        assert_eq!(one_line("ab cd ef", 4), "ab…");
        assert_eq!(one_line("a b \n\n c\u{3000} →\t", 20), "a b c →");
        assert_eq!(one_line(&"日本 ".repeat(9), 5), "日本 日…");
        assert_eq!(one_line(&"日本  語".repeat(9), 5), "日本 語…");
        assert_eq!((one_line("a", 0), one_line("", 0)), ("…".to_owned(), String::new()));
    }

    #[test]
    fn fields_are_those_of_the_standard_library() {
        for text in
            ["", " ", "a", " a\tb ", "é\u{a0}日本\u{3000}x", "a\u{2009}→ b\u{85}c\u{b}d", "\u{2028}", "\u{1680}ā"]
        {
            assert_eq!(fields(text).collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>(), "{text:?}");
        }
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

    #[test]
    fn lines_are_those_of_the_standard_library() {
        for text in ["", "\n", "a", "a\n", "a\r\nb", "a\rb\r", "\r\n\r\n", "é\n\n日本\r\n x", "a\n\r"] {
            assert_eq!(lines(text).collect::<Vec<_>>(), text.lines().collect::<Vec<_>>(), "{text:?}");
        }
    }
}
