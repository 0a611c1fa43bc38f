//! Other people's text put into ours: on one line, quoted, fenced, cut; never able to end its own quoting.

use crate::distill::{Item, Voice};
use crate::plain::plain;
use crate::tokens::Counter;

/// One line of somebody's words, at most `width` characters: no controls, no comments, no markers, no heading.
pub(super) fn line(text: &str, width: usize) -> String {
    let text = inert(&one_line(text, width));
    match text.chars().next() {
        // What would make the line a heading, a quotation, a list, a table or a fence.
        Some('#' | '>' | '-' | '+' | '*' | '=' | '|' | '`' | '~' | '<' | '[') => format!("\\{text}"),
        _ => text,
    }
}

/// One line as inline code: the delimiter is longer than every run of backticks inside.
pub(super) fn code(text: &str, width: usize) -> String {
    let text = inert(&one_line(text, width));
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    if text.is_empty() || text.starts_with('`') || text.ends_with('`') {
        return format!("{ticks} {text} {ticks}");
    }
    format!("{ticks}{text}{ticks}")
}

/// An item on one line: the user's and the agent's words as they are, everything else quoted and labelled.
pub(super) fn item(item: &Item, width: usize) -> String {
    match item.voice {
        Voice::User | Voice::Agent => line(&item.text, width),
        Voice::Tool => from_tool(&item.text, width),
        Voice::Workspace => format!("seen in the project: {}", code(&item.text, width)),
    }
}

/// The words of a tool, on one line.
pub(super) fn from_tool(text: &str, width: usize) -> String {
    format!("tool output: {}", code(text, width))
}

/// A path as inline code; of a long one, the end.
pub(super) fn path(text: &str, width: usize) -> String {
    let n = text.chars().count();
    if n <= width {
        return code(text, width);
    }
    let tail: String = text.chars().skip(n - width + 1).collect();
    code(&format!("…{tail}"), width)
}

/// A fenced block; the fence is longer than every run of backticks inside.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let text = inert(&plain(text));
    let ticks = "`".repeat(longest_run(&text, '`').max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{ticks}{language}\n{text}{end}{ticks}\n")
}

/// Several lines as a quotation: whatever they hold, no line begins at the margin.
pub(super) fn quoted(text: &str) -> String {
    let text = inert(&plain(text));
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.trim_end().lines() {
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(line);
        out.push('\n');
    }
    out
}

/// Comments, and with them our own markers, are opened up: they would hide text or end a block.
pub(super) fn inert(text: &str) -> String {
    if text.contains("<!--") || text.contains("-->") {
        return text.replace("<!--", "<! --").replace("-->", "-- >");
    }
    text.to_owned()
}

/// The first `width` characters of a text, with a mark where something is missing.
pub(super) fn clip(text: &str, width: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(width) else { return text.to_owned() };
    let keep = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    format!("{}…", text[..keep].trim_end())
}

/// The first lines of a text within `width` characters; says how many were left out.
pub(super) fn clip_lines(text: &str, width: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(width) else { return text.to_owned() };
    let cut = text[..end].rfind('\n').map_or(end, |at| at + 1);
    let left = text[cut..].lines().count();
    let gap = if text[..cut].ends_with('\n') { "" } else { "\n" };
    format!("{}{gap}[… {left} more {}]\n", &text[..cut], if left == 1 { "line" } else { "lines" })
}

/// The longest beginning that has at most `limit` tokens, found without counting much more than that.
pub(super) fn clip_tokens(text: &str, limit: u64, counter: Counter) -> String {
    // A token of prose has about four bytes and hardly ever more than sixteen.
    let bytes = usize::try_from(limit.saturating_mul(16)).unwrap_or(usize::MAX);
    let head = &text[..text.floor_char_boundary(bytes)];
    if head.len() == text.len() && counter.count_within(text, limit).is_some() {
        return text.to_owned();
    }
    let (mut low, mut high) = (0, head.len());
    while high - low > 8 {
        let middle = low + (high - low) / 2;
        let cut = format!("{}…", &head[..head.floor_char_boundary(middle)]);
        if counter.count_within(&cut, limit).is_some() { low = middle } else { high = middle }
    }
    format!("{}…", head[..head.floor_char_boundary(low)].trim_end())
}

/// Words with single spaces between them; looks at no more of a long text than it needs.
fn one_line(text: &str, width: usize) -> String {
    // Escapes and white space go, so more than `width` characters are looked at; what is cut off may be an escape.
    let enough = text.floor_char_boundary(width.saturating_mul(8).saturating_add(256));
    let words = crate::plain::one_line(&text[..enough], usize::MAX);
    let words = if enough < text.len() && words.chars().count() <= width { words + "…" } else { clip(&words, width) };
    // Prose has four characters to a token; scripts with several tokens to a character are cut shorter.
    clip_tokens(&words, width as u64 * 3 / 5 + 4, Counter::Exact)
}

fn longest_run(text: &str, of: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for next in text.chars() {
        run = if next == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_survives_backticks() {
        assert_eq!(code("a `b` ``c`` d", 99), "```a `b` ``c`` d```");
        assert_eq!(code("`x`", 99), "`` `x` ``");
    }

    #[test]
    fn fences_survive_fences() {
        assert_eq!(fenced("a\n````\nb", "md"), "`````md\na\n````\nb\n`````\n");
    }

    #[test]
    fn a_line_is_never_a_heading_a_fence_or_a_comment() {
        assert_eq!(line("## Task\n\n```\nx", 99), "\\## Task ``` x");
        assert_eq!(line("a <!--CARRYOVER:END--> b", 99), "a <! --CARRYOVER:END-- > b");
        assert!(!line("<!-<!---->", 99).contains("<!--"));
    }

    #[test]
    fn cuts_are_by_characters_and_marked() {
        assert_eq!(clip("日本語テキスト", 4), "日本語…");
        assert_eq!(clip_lines("a\nb\nc\nd", 4), "a\nb\n[… 2 more lines]\n");
        assert_eq!(clip("abc", 3), "abc");
    }

    #[test]
    fn token_cuts_hold() {
        for text in ["word ".repeat(4000), "日本語".repeat(2000), "x".repeat(9000), "🎉\u{200d}".repeat(500)] {
            let cut = clip_tokens(&text, 50, Counter::Exact);
            let count = Counter::Exact.count(&cut);
            assert!(count <= 50, "{count}");
        }
    }
}
