//! Text that was pasted and not said: code, logs, traces, diffs, tables. Judged line by line, dropped by paragraph.

use super::heading;
use super::letters::{self, STRETCH};
use super::vocabulary::{self, list};

/// The paragraphs that somebody said. Where nothing but a dump is there, nothing is left.
pub(in crate::distill) fn without(text: &str) -> String {
    let mut kept: Vec<&str> = Vec::with_capacity(16);
    let mut paragraph: Vec<(&str, Look)> = Vec::with_capacity(16);
    let mut fence: Option<&str> = None;
    for line in crate::plain::lines(text) {
        let trimmed = line.trim_start();
        if let Some(open) = fence {
            if trimmed.starts_with(open) && trimmed.trim_end().trim_matches(['`', '~']).is_empty() {
                fence = None;
            }
            continue;
        }
        if let Some(open) = fence_of(trimmed) {
            flush(&mut paragraph, &mut kept);
            fence = Some(open);
            continue;
        }
        if trimmed.is_empty() {
            flush(&mut paragraph, &mut kept);
            kept.push("");
        } else {
            paragraph.push((line, look(line)));
        }
    }
    flush(&mut paragraph, &mut kept);
    kept.join("\n")
}

/// The marks of a fence that begins here.
pub(in crate::distill) fn fence_of(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.bytes().take_while(|byte| char::from(*byte) == mark).count();
    let is_inline = mark == '`' && line[length..].contains('`');
    (length >= 3 && !is_inline).then(|| &line[..length])
}

fn flush<'a>(paragraph: &mut Vec<(&'a str, Look)>, kept: &mut Vec<&'a str>) {
    let dumped = paragraph.iter().filter(|(_, look)| *look != Look::Said).count();
    let is_pasted = match paragraph.len() {
        0 => false,
        1 => dumped == 1,
        all => dumped * 5 >= all * 3,
    };
    if is_pasted {
        // What leads over to the dump was said.
        kept.extend(paragraph.iter().take_while(|(_, look)| *look == Look::Said).map(|(line, _)| line));
    } else {
        kept.extend(paragraph.iter().filter(|(_, look)| *look != Look::Certain).map(|(line, _)| line));
    }
    paragraph.clear();
}

/// What a line looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Said,
    Code,
    /// Nobody types that.
    Certain,
}

fn look(line: &str) -> Look {
    let text = line.trim();
    match is_certain(text) {
        true => Look::Certain,
        false if is_code(text) => Look::Code,
        false => Look::Said,
    }
}

/// Whether a line looks like the output of a program or like code.
pub(in crate::distill) fn is_dump(line: &str) -> bool {
    look(line) != Look::Said
}

/// Lines that nobody types.
fn is_certain(text: &str) -> bool {
    // Nearly every line begins with a letter that no dump begins with.
    let may_be = text.bytes().next().is_some_and(|first| IS_FIRST[usize::from(first)]);
    may_be && {
        let mut head = [0; HEAD];
        let lower = lowered(text, &mut head);
        is_frame(text, lower) || has_clock(text) || is_marked(text, lower)
    } || is_ruler(text)
        || (text.len() > 160 && !text.contains(' ') && !text.contains("://"))
}

/// As many bytes of a line tell by its beginning what it is.
const HEAD: usize = 48;

/// The beginning of a text in lower case.
fn lowered<'a>(text: &str, head: &'a mut [u8; HEAD]) -> &'a str {
    let start = &text.as_bytes()[..text.floor_char_boundary(HEAD)];
    let head = &mut head[..start.len()];
    head.copy_from_slice(start);
    head.make_ascii_lowercase();
    str::from_utf8(head).unwrap_or_default()
}

/// What the lines begin with that are told by their beginning.
const IS_FIRST: [bool; 256] = {
    let (mut is_first, mut at) = ([false; 256], 0);
    let firsts = b"aftg#c.din-+@ew[$%|(0123456789";
    while at < firsts.len() {
        is_first[firsts[at] as usize] = true;
        is_first[firsts[at].to_ascii_uppercase() as usize] = true;
        at += 1;
    }
    is_first
};

/// Whether a text has a beginning. Nearly always the first letter tells.
fn begins(text: &str, start: &str) -> bool {
    text.as_bytes().first() == start.as_bytes().first() && text.starts_with(start)
}

/// A frame of a stack, in the forms of the common runtimes.
pub(in crate::distill) fn is_frame(text: &str, lower: &str) -> bool {
    match lower.as_bytes() {
        [b'a', b't', b' ', ..] => {
            text.ends_with(')') && text.contains('(') && text.contains(':') || text.contains(".rs:")
        }
        [b'f', ..] => {
            lower.starts_with("file \"") && lower.contains("line ")
                || text.starts_with("File \"") && text.contains(" line ")
        }
        [b't', ..] => lower.starts_with("traceback (most recent"),
        [b'g', ..] => lower.starts_with("goroutine ") && text.ends_with(':'),
        [b'#', digit, ..] => digit.is_ascii_digit() && text.contains(" in "),
        [b'c', ..] => lower.starts_with("caused by: java"),
        [b'.', ..] => lower.starts_with("... ") && lower.ends_with(" more"),
        _ => false,
    }
}

/// A time of day at the beginning, as logs have it.
fn has_clock(text: &str) -> bool {
    let text = text.trim_start_matches(['[', '(']).as_bytes();
    if !text.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let head = &text[..text.len().min(24)];
    let is_date = head.len() >= 10
        && head[..4].iter().all(u8::is_ascii_digit)
        && matches!(head[4], b'-' | b'/')
        && head[5].is_ascii_digit();
    let is_clock = |at: &[u8]| {
        at.len() >= 8
            && at[0].is_ascii_digit()
            && at[1].is_ascii_digit()
            && at[2] == b':'
            && at[3].is_ascii_digit()
            && at[5] == b':'
    };
    (is_date && head.windows(8).any(is_clock)) || is_clock(head)
}

fn is_marked(text: &str, lower: &str) -> bool {
    let starts: &[&str] = match lower.as_bytes().first() {
        Some(b'd') => &["diff --git", "debug:"],
        Some(b'-') => &["--- a/", "-->"],
        Some(b'+') => &["+++ b/"],
        Some(b'@') => &["@@ -"],
        Some(b'n') => &["npm err!", "npm warn"],
        Some(b'e') => &["error[e", "error ts", "e   "],
        Some(b'w') => &["warning: unused", "warn:"],
        Some(b'i') => &["info:"],
        Some(b't') => &["trace:"],
        Some(b'[') => &["[info]", "[debug]", "[warn", "[error]", "[trace]"],
        Some(b'$') => &["$ "],
        Some(b'%') => &["% "],
        Some(b'#') => &["#include", "#!/"],
        _ => &[],
    };
    let is_level = |start: &str| lower.starts_with(start) && (!start.ends_with(' ') || text.len() > start.len());
    let shouted = ["INFO ", "DEBUG ", "WARN ", "ERROR ", "TRACE ", "FATAL "];
    starts.iter().any(|start| is_level(start))
        || shouted.iter().any(|level| begins(text, level))
        || (begins(lower, "index ") && text.contains(".."))
        || is_table(text)
}

/// A row of a table.
pub(in crate::distill) fn is_table(text: &str) -> bool {
    text.starts_with('|') && text.ends_with('|') && text.len() > 2 && heading::labelled_row(text).is_none()
}

fn is_ruler(text: &str) -> bool {
    text.len() > 4 && text.chars().all(|c| matches!(c, '=' | '-' | '*' | '_' | '^' | '~' | ' ' | '+' | '|'))
}

/// Signs that code is full of: brackets, bars and backslashes, `;<=>`, `"` and `$`.
#[expect(clippy::needless_bitwise_bool, reason = "without branches, many bytes are compared at once")]
fn is_symbol(byte: u8) -> bool {
    // `[\]` are `{|}` but for one bit.
    (b'{'..=b'}').contains(&(byte | 0x20))
        | (b'('..=b')').contains(&byte)
        | (b';'..=b'>').contains(&byte)
        | (byte == b'"')
        | (byte == b'$')
}

/// How many bytes are of a kind.
fn count(text: &str, is: impl Fn(u8) -> bool + Copy) -> usize {
    let (stretches, rest) = text.as_bytes().as_chunks::<STRETCH>();
    let in_stretch =
        |stretch: &[u8; STRETCH]| usize::from(stretch.iter().fold(0, |sum, byte| sum + u8::from(is(*byte))));
    stretches.iter().map(in_stretch).sum::<usize>() + letters::bits_of(rest, is).count_ones() as usize
}

/// A line of code in one of the usual languages.
fn is_code(text: &str) -> bool {
    const WORDS: &str = "\
        import from def class fn pub const let var function return else package using struct enum impl async await \
        export public private static void int SELECT INSERT UPDATE";
    const LONGEST: usize = "function".len();
    const STARTS: &[&str] = &["if (", "for (", "while (", "#[", "@", "//", "/*", "* ", "<?", "</"];
    let ends = text.ends_with(['{', '}', ';', '(']) || text.ends_with("=>") || text.ends_with("},");
    if ends {
        return true;
    }
    let symbols = count(text, is_symbol);
    if symbols == 0 {
        return false;
    }
    // `Static linking (it is smaller)` is said; nobody calls a function with a space before its arguments.
    let is_remark = |at: &usize| text[..*at].ends_with(' ');
    let is_remarks = || {
        letters::places(text.as_bytes(), letters::one_of(*b"={<\";")).next().is_none()
            && symbols == 2 * memchr::memchr_iter(b'(', text.as_bytes()).filter(is_remark).count()
    };
    let is_word = || {
        let head = &text.as_bytes()[..text.len().min(LONGEST + 1)];
        let end = head.iter().position(|byte| *byte == b' ');
        end.is_some_and(|end| list!(WORDS).knows(vocabulary::print(&head[..end])))
    };
    let is_begun = || (is_word() || STARTS.iter().any(|start| begins(text, start))) && !is_remarks();
    let is_more_than = |letters: usize| symbols * 5 > letters;
    let is_dense = || {
        let letters = count(text, |byte| byte.is_ascii_alphabetic());
        is_more_than(letters) && is_more_than(letters + others(text))
    };
    symbols >= 3 && is_dense() || !text.ends_with(['.', '?', '!']) && is_begun()
}

/// How many letters are not of ASCII.
fn others(text: &str) -> usize {
    if text.is_ascii() { 0 } else { text.chars().filter(|c| !c.is_ascii() && c.is_alphabetic()).count() }
}

#[cfg(test)]
mod tests {
    use super::is_dump;

    #[test]
    fn code_is_told_by_its_first_word() {
        for start in ["import", "function", "package", "SELECT", "fn", "@", "//"] {
            assert!(is_dump(&format!("{start} a = b")), "{start}");
        }
        assert!(!is_dump("functions take a = b") && !is_dump("Static linking (it is smaller)"));
    }
}
