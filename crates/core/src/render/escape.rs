//! Other people's text put into ours: on one line, quoted, fenced, cut; never able to end its own quoting.

use crate::distill::{Item, Voice};
use crate::plain::strip_hidden;
use crate::time::Timestamp;
use crate::tokens::estimate_within;

/// Stands for the end of a line where several are written on one.
const LINE_END: &str = " ⏎ ";

/// A text on one line, at most `width` characters: as it was written, but for a mark where a line ends.
pub(super) fn flatten_text(text: &str, width: usize) -> String {
    // A far longer text is cut before it is cleaned.
    let enough = text.floor_char_boundary(width.saturating_mul(8).saturating_add(256));
    let text = defuse_comments(&strip_hidden(&text[..enough]));
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    clip_chars(&lines.join(LINE_END).replace('\t', " "), width)
}

/// Somebody's words on one line, between quotation marks.
pub(super) fn quote_inline(text: &str, width: usize) -> String {
    format!("\"{}\"", flatten_text(text, width))
}

/// One line of ours: no controls, no comments, no markers, no heading.
pub(super) fn safe_line(text: &str, width: usize) -> String {
    let text = flatten_text(text, width);
    match text.chars().next() {
        // These would make the line a heading, a quotation, a list, a table or a fence.
        Some('#' | '>' | '-' | '+' | '*' | '=' | '|' | '`' | '~' | '<' | '[') => format!("\\{text}"),
        _ => text,
    }
}

/// One line as inline code: the delimiter is longer than every run of backticks inside.
pub(super) fn inline_code(text: &str, width: usize) -> String {
    let text = flatten_text(text, width);
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    if text.is_empty() || text.starts_with('`') || text.ends_with('`') {
        return format!("{ticks} {text} {ticks}");
    }
    format!("{ticks}{text}{ticks}")
}

/// An item on one line: the user's and the agent's words between quotation marks, everything else labelled as what it is.
pub(super) fn format_item(item: &Item, width: usize) -> String {
    match item.voice {
        Voice::User | Voice::Agent => quote_inline(&item.text, width),
        Voice::Tool => label_tool_output(&item.text, width),
        Voice::Service => label_service_words(&item.text, width),
        Voice::Workspace => format!("seen in the project: {}", inline_code(&item.text, width)),
    }
}

/// The words of a tool, on one line.
pub(super) fn label_tool_output(text: &str, width: usize) -> String {
    format!("tool output: {}", inline_code(text, width))
}

/// The words of the service behind an agent, on one line.
pub(super) fn label_service_words(text: &str, width: usize) -> String {
    format!("the service's words: {}", inline_code(text, width))
}

/// A path as inline code; of a long one, the end.
pub(super) fn inline_path(text: &str, width: usize) -> String {
    let n = text.chars().count();
    if n <= width {
        return inline_code(text, width);
    }
    let tail: String = text.chars().skip(n - width + 1).collect();
    inline_code(&format!("…{tail}"), width)
}

/// A time to the minute, as people say it; the year stands in the head of what is handed over.
pub(super) fn format_time(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{}Z", text.get(5..16).unwrap_or(&text).replace('T', " "))
}

/// The same behind words that it belongs to, where it is known.
pub(super) fn time_suffix(at: Option<Timestamp>) -> String {
    at.map(|at| format!(", {}", format_time(at))).unwrap_or_default()
}

/// A fenced block; the fence is longer than every run of backticks inside.
pub(super) fn fence_block(text: &str, language: &str) -> String {
    let text = defuse_comments(&strip_hidden(text));
    let ticks = "`".repeat(longest_run(&text, '`').max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{ticks}{language}\n{text}{end}{ticks}\n")
}

/// Several lines as a quotation: whatever they hold, no line begins at the margin.
pub(super) fn quote_block(text: &str) -> String {
    let mut out = quote_lines(text).join("\n");
    out.push('\n');
    out
}

/// The lines of a quotation.
pub(super) fn quote_lines(text: &str) -> Vec<String> {
    let text = defuse_comments(&strip_hidden(text));
    text.trim_end().lines().map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") }).collect()
}

/// Comments, and with them our own markers, are opened up: they would hide text or end a block.
pub(super) fn defuse_comments(text: &str) -> String {
    if text.contains("<!--") || text.contains("-->") {
        return text.replace("<!--", "<! --").replace("-->", "-- >");
    }
    text.to_owned()
}

/// The first `width` characters of a text, with a mark where something is missing.
pub(super) fn clip_chars(text: &str, width: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(width) else { return text.to_owned() };
    let keep = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    format!("{}…", text[..keep].trim_end())
}

/// So many characters of a text's end, from the beginning of a line where one is near.
pub(super) fn text_end(text: &str, width: usize) -> &str {
    let n_chars = text.chars().count();
    let start = text.char_indices().nth(n_chars.saturating_sub(width)).map_or(0, |(at, _)| at);
    match text[start..].find('\n').filter(|at| start > 0 && *at < width / 2) {
        Some(at) => &text[start + at + 1..],
        None => &text[start..],
    }
}

/// The first lines of a text within `width` characters; says how many were left out.
pub(super) fn clip_lines(text: &str, width: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(width) else { return text.to_owned() };
    let cut = text[..end].rfind('\n').map_or(end, |at| at + 1);
    let left = text[cut..].lines().count();
    let gap = if text[..cut].ends_with('\n') { "" } else { "\n" };
    format!("{}{gap}[… {left} more {}]\n", &text[..cut], if left == 1 { "line" } else { "lines" })
}

/// The longest beginning that has at most `limit` tokens.
pub(super) fn clip_tokens(text: &str, limit: u64) -> String {
    if estimate_within(text, limit).is_some() {
        return text.to_owned();
    }
    let (mut low, mut high) = (0, text.len());
    while high - low > 8 {
        let middle = low + (high - low) / 2;
        let cut = format!("{}…", &text[..text.floor_char_boundary(middle)]);
        if estimate_within(&cut, limit).is_some() { low = middle } else { high = middle }
    }
    format!("{}…", text[..text.floor_char_boundary(low)].trim_end())
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
    use crate::tokens::estimate;

    #[test]
    fn code_survives_backticks() {
        assert_eq!(inline_code("a `b` ``c`` d", 99), "```a `b` ``c`` d```");
        assert_eq!(inline_code("`x`", 99), "`` `x` ``");
    }

    #[test]
    fn fences_survive_fences() {
        assert_eq!(fence_block("a\n````\nb", "md"), "`````md\na\n````\nb\n`````\n");
    }

    #[test]
    fn a_line_is_never_a_heading_a_fence_or_a_comment() {
        assert_eq!(safe_line("## Task\n\n```\nx", 99), "\\## Task ⏎ ``` ⏎ x");
        assert_eq!(safe_line("a <!--CARRYOVER:END--> b", 99), "a <! --CARRYOVER:END-- > b");
        assert!(!safe_line("<!-<!---->", 99).contains("<!--"));
    }

    #[test]
    fn a_command_stays_as_it_ran() {
        assert_eq!(inline_code("cd a; make  x | tail -3\nls", 99), "`cd a; make  x | tail -3 ⏎ ls`");
    }

    #[test]
    fn cuts_are_by_characters_and_marked() {
        assert_eq!(clip_chars("日本語テキスト", 4), "日本語…");
        assert_eq!(clip_lines("a\nb\nc\nd", 4), "a\nb\n[… 2 more lines]\n");
        assert_eq!(clip_chars("abc", 3), "abc");
    }

    #[test]
    fn token_cuts_hold() {
        for text in ["word ".repeat(4000), "日本語".repeat(2000), "x".repeat(9000), "🎉\u{200d}".repeat(500)] {
            let count = estimate(&clip_tokens(&text, 50));
            assert!(count <= 50, "{count}");
        }
    }
}
