//! Prefixes that tools put before each line when they show a file: its number, its path, a sign.

/// How many bytes at the beginning of a line were put there by a tool.
pub(super) fn count_bytes(line: &str) -> usize {
    let numbered = number_prefix_bytes(line);
    if numbered > 0 {
        return numbered + sign_bytes(&line[numbered..]);
    }
    sign_bytes(line)
}

/// `12→`, `  12\t`, `12|`, `12:`, `L12:`, `.env:12:`, `src/a.rs-12-`.
fn number_prefix_bytes(line: &str) -> usize {
    let indent = line.len() - line.trim_start_matches([' ', '│', '|']).len();
    let rest = &line[indent..];
    let rest = rest.strip_prefix('L').unwrap_or(rest);
    let start = line.len() - rest.len();
    if let Some(end) = number_bytes(rest) {
        return start + end;
    }
    // A path has no blanks, and a number between two marks of the same kind follows it.
    let word = line.split([' ', '\t', '\n', '"', '\'', '=']).next().unwrap_or_default();
    for mark in [':', '-'] {
        for (at, _) in word.match_indices(mark).take(8) {
            let digits = word[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
            let end = at + 1 + digits;
            let is_path = word[..at].contains(|next: char| next.is_ascii_alphabetic());
            if is_path && (1..=7).contains(&digits) && word[end..].starts_with(mark) {
                return end + 1;
            }
        }
    }
    0
}

/// A number and the mark that ends it.
fn number_bytes(text: &str) -> Option<usize> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=7).contains(&digits) {
        return None;
    }
    let rest = &text[digits..];
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let rest = &rest[blanks..];
    let mark = ["→", "\t", "│", "|", ":", "┃"].iter().find(|mark| rest.starts_with(**mark))?;
    let end = digits + blanks + mark.len();
    // Times and addresses have colons, too.
    let goes_on = *mark == ":" && text[end..].starts_with(|next: char| next.is_ascii_digit());
    // One blank belongs to the mark.
    let blank = matches!(*mark, "|" | "│" | "┃" | ":") && text[end..].starts_with(' ');
    (!goes_on).then_some(end + usize::from(blank))
}

/// The sign of a diff, a quotation or a comment.
fn sign_bytes(line: &str) -> usize {
    let Some(sign @ ('+' | '-' | '>' | '#')) = line.chars().next() else { return 0 };
    let rest = &line[1..];
    if rest.starts_with(sign) {
        return 0;
    }
    1 + usize::from(matches!(sign, '>' | '#') && rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tools_put_before_lines_is_known() {
        for (line, want) in [
            ("     1→A=1", "A=1"),
            ("    12\tA=1", "A=1"),
            ("12|A=1", "A=1"),
            ("3: A=1", "A=1"),
            (".env:3:A=1", "A=1"),
            ("config/.env.local-3-A=1", "A=1"),
            ("│ 7 │ A=1", "A=1"),
            ("L7: A=1", "A=1"),
            ("+A=1", "A=1"),
            ("> A=1", "A=1"),
            ("# A=1", "A=1"),
            ("12:30:45 started", "12:30:45 started"),
            ("-----BEGIN", "-----BEGIN"),
            ("| a | b |", "| a | b |"),
            ("  A=1", "  A=1"),
            ("2026-11-16 A", "2026-11-16 A"),
        ] {
            let cut = count_bytes(line);
            assert_eq!(&line[cut..], want, "{line}");
        }
    }
}
