//! The client's own commands, which put a text of the client's in the place of what the user typed.
//!
//! A command of the user's own is expanded without a mark, and cannot be told from what was typed.

/// How a command's text begins, and what stands around what the user typed behind its name.
const COMMAND_TEXTS: [(&str, &str, &str); 3] = [
    (
        "Create or update `AGENTS.md` for this repository.",
        "User-provided focus or constraints (honor these):\n",
        "\n\n## How to investigate",
    ),
    ("Please analyze this codebase and create an AGENTS.md file", "", ""),
    ("You are a code reviewer. Your job is to review code changes", "\nInput:", "\n\n---"),
];

/// The words that the user typed behind the name of a command, maybe none; `None` where a text is no command's.
pub(super) fn find_typed(text: &str) -> Option<&str> {
    let (_, before, after) = COMMAND_TEXTS.iter().find(|(beginning, ..)| text.starts_with(beginning))?;
    if before.is_empty() {
        return Some(last_paragraph(text));
    }
    let words = text.split_once(before).and_then(|(_, rest)| rest.split_once(after)).map(|(words, _)| words.trim());
    Some(words.unwrap_or_default())
}

/// The text before and behind the typed words, which are a part of it.
pub(super) fn split_around<'t>(text: &'t str, typed: &str) -> (&'t str, &'t str) {
    // By its place: the same words may stand elsewhere, too.
    let at = typed.as_ptr().addr().checked_sub(text.as_ptr().addr());
    let at = at.filter(|at| text.get(*at..at + typed.len()) == Some(typed));
    at.map_or((text, ""), |at| (&text[..at], &text[at + typed.len()..]))
}

/// The words behind the last sentence of the older text, which names the file.
fn last_paragraph(text: &str) -> &str {
    let behind = text.rsplit_once("improve it if it's located in ").map(|(_, rest)| rest);
    behind.and_then(|rest| rest.split_once('\n')).map_or("", |(_, words)| words.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_behind_a_command_is_found() {
        let init = |words: &str| {
            format!(
                "Create or update `AGENTS.md` for this repository.\n\nBe short.\n\nUser-provided focus or constraints \
                     (honor these):\n{words}\n\n## How to investigate\n\nRead."
            )
        };
        assert_eq!(find_typed(&init("only the tests")), Some("only the tests"));
        assert_eq!(find_typed(&init("")), Some(""));
        let older = "Please analyze this codebase and create an AGENTS.md file containing:\n1. x\n\nIf there's already an \
                     AGENTS.md, improve it if it's located in /p\n\nin German";
        assert_eq!(find_typed(older), Some("in German"));
        assert_eq!(find_typed(older.trim_end_matches("\n\nin German")), Some(""));
        let review =
            "You are a code reviewer. Your job is to review code changes and so on.\n\n---\n\nInput: 12\n\n---\n";
        assert_eq!(find_typed(review), Some("12"));
        assert_eq!(find_typed("Create a file"), None);
        let short = init("or");
        let (before, after) = split_around(&short, find_typed(&short).unwrap());
        assert_eq!([before, after].concat(), init(""));
    }
}
