//! Text made safe to show: transcripts hold other people's bytes.

use std::borrow::Cow;
use std::ops::Range;
use std::str::Chars;

/// Removes terminal escapes, control characters and what nobody sees; tabs and line feeds stay.
pub fn strip_hidden(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for_each_kept(text, |kept| out.push_str(&text[kept]));
    Cow::Owned(out)
}

/// Names what `strip_hidden` leaves of a text, piece by piece and in order.
pub(crate) fn for_each_kept(text: &str, mut keep: impl FnMut(Range<usize>)) {
    let mut at = 0;
    while let Some(found) = text.as_bytes()[at..].iter().position(|byte| SUSPECT_BYTES[usize::from(*byte)]) {
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
        if next.is_some_and(|next| !is_hidden(next, &text[..start])) {
            keep(start..at);
        }
    }
    keep(at..text.len());
}

/// Whether nothing has to go, as in most text.
pub(crate) fn is_plain(text: &str) -> bool {
    let mut suspects = text.bytes().enumerate().filter(|(_, byte)| SUSPECT_BYTES[usize::from(*byte)]);
    !suspects.any(|(at, _)| text[at..].chars().next().is_some_and(|next| is_hidden(next, &text[..at])))
}

/// Whether a character that begins with a byte may have to go.
const SUSPECT_BYTES: [bool; 256] = {
    let (mut suspect, mut byte) = ([false; 256], 0);
    while byte < 256 {
        // The control characters, and the blocks in which the later ones and the invisible ones are.
        suspect[byte] = matches!(byte, 0..0x20 | 0x7f | 0xc2 | 0xcd | 0xd8 | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3)
            && !matches!(byte, 0x09 | 0x0a);
        byte += 1;
    }
    suspect
};

/// Whether a character is not seen where it stands, and can change how others are read: one that a terminal obeys, one
/// that reorders a line, one that is hidden between others.
fn is_hidden(next: char, before: &str) -> bool {
    match next {
        '\t' | '\n' => false,
        // Parts of an emoji or of a letter; elsewhere they hide something.
        '\u{200c}' | '\u{200d}' => !before.chars().next_back().is_some_and(is_joined),
        '\u{fe00}'..='\u{fe0f}' => !before.chars().next_back().is_some_and(has_variants),
        '\u{e0100}'..='\u{e01ef}' => !before.chars().next_back().is_some_and(is_ideograph),
        _ => next.is_control() || is_invisible(next),
    }
}

/// Whether a character may be joined to the next, or kept from it: emoji, and the letters of scripts that do so.
fn is_joined(before: char) -> bool {
    before >= '\u{590}' && !is_invisible(before) && !matches!(before, '\u{2000}'..='\u{206f}') || before == '\u{fe0f}'
}

/// Whether a character may have another form: emoji, digits of keys, signs, the letters of some scripts.
fn has_variants(before: char) -> bool {
    matches!(before, '0'..='9' | '#' | '*' | '©' | '®')
        || before >= '\u{1000}'
            && !is_invisible(before)
            && !matches!(before, '\u{2000}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character is one of those that are written in many forms.
fn is_ideograph(before: char) -> bool {
    matches!(before, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// JSON that is the same value and shows what it holds: it leaves most of the characters that a terminal obeys, that
/// reorder a line or that nobody sees as they are.
pub fn escaped_json(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, next) in text.char_indices() {
        if is_hidden(next, &text[..at]) {
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
    for word in strip_hidden(text).split_whitespace() {
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

/// Bidirectional controls can make a command read as another one; fillers, joiners of words and tags hide sentences;
/// noncharacters are for use inside a program.
fn is_invisible(next: char) -> bool {
    matches!(
        next,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
            | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fdd0}'..='\u{fdef}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}'
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
        assert_eq!(strip_hidden("a\u{1b}[31mred\u{1b}[0m b"), "ared b");
        assert_eq!(strip_hidden("x\u{1b}]0;title\u{7}y\u{1b}]52;c;AAAA\u{1b}\\z"), "xyz");
        assert_eq!(strip_hidden("cr\rlf\nnul\0"), "crlf\nnul");
        assert_eq!(strip_hidden("a\u{202e}b"), "ab");
        assert_eq!(strip_hidden("é → ü\u{85}\u{a0}\u{feff}日本"), "é → ü\u{a0}日本");
        assert_eq!(strip_hidden("a\u{1b}[31"), "a");
        assert_eq!(strip_hidden("a\u{1b}"), "a");
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
    fn nothing_is_hidden_between_characters() {
        let smuggled: String = "obey".bytes().map(|byte| char::from_u32(0xe0000 + u32::from(byte)).unwrap()).collect();
        assert_eq!(strip_hidden(&format!("fix{smuggled} it")), "fix it");
        let between = "a\u{200b}b\u{ad}c\u{2060}d\u{3164}e\u{115f}f\u{1160}g\u{2028}h\u{2029}i\u{feff}j\u{34f}k";
        assert_eq!(strip_hidden(between), "abcdefghijk");
        assert_eq!(strip_hidden("a\u{200d}b\u{200c}c\u{fe0f}d\u{fe01}\u{fe02}e"), "abcde");
        assert_eq!(strip_hidden("😀\u{fe01}\u{e0141}\u{fe03}x"), "😀\u{fe01}x");
        assert_eq!(escaped_json("\"\u{e0041}\u{200b}\""), "\"\\udb40\\udc41\\u200b\"");
    }

    #[test]
    fn parts_of_letters_and_emoji_stay() {
        for text in [
            "👩\u{200d}💻",
            "❤\u{fe0f}\u{200d}🔥",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "葛\u{e0100}",
            "👍🏽",
        ] {
            assert_eq!(strip_hidden(text), text);
            assert_eq!(escaped_json(text), text);
        }
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
                assert!(!strip_hidden(&text).contains(mark), "{text:?}");
                assert!(!strip_hidden(&format!("{text}é→x")).contains(mark), "{text:?}");
            }
        }
    }
}
