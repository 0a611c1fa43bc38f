//! The user's words, told from what the client says in the user's name.

use std::borrow::Cow;

use super::commands;
use super::wire::WireMarks;

/// Whose words a text is.
pub(super) enum Said<'a> {
    User(Cow<'a, str>),
    /// A text of the client's, for a command, with what the user typed behind its name.
    Command(&'a str),
    /// A file or a resource that the user named.
    Brought(&'a str),
    /// A summary of ours.
    Summary(&'a str),
    Harness,
}

/// How our summaries are marked where they are not told in the client's own way.
pub(super) const SUMMARY: &str = "summary";
/// How prompts of ours that others brought along are marked.
pub(super) const BROUGHT: &str = "brought";

/// The beginnings of what the client says by itself.
const HARNESS: &[&str] = &[
    "<system-reminder>",
    "Continue if you have next steps",
    // The image itself stands beside this.
    "Image read successfully",
    "PDF read successfully",
];

/// What the client tells the model, in the user's place, of a task that a command gave to a sub-agent.
pub(super) const EXECUTED: &str = "The following tool was executed by the user";

/// How the client tells of a file that the user named, before its text.
pub(super) const CALLED_READ: &str = "Called the Read tool with the following input:";

pub(super) fn sort<'a>(text: &'a str, synthetic: bool, marks: &WireMarks) -> Said<'a> {
    match marks.carryover.as_deref() {
        Some(SUMMARY) => return Said::Summary(text),
        Some(BROUGHT) => return Said::Brought(text),
        _ => {}
    }
    if marks.compaction_continue == Some(true) {
        return Said::Harness;
    }
    if !synthetic {
        return commands::typed(text).map_or_else(|| Said::User(unquoted(text)), Said::Command);
    }
    if HARNESS.iter().any(|beginning| text.starts_with(beginning)) { Said::Harness } else { Said::Brought(text) }
}

/// What is given on the command line is kept in quotes where it holds a space, with its own quotes escaped.
fn unquoted(text: &str) -> Cow<'_, str> {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let Some(inner) = inner.filter(|inner| inner.contains(' ')) else { return Cow::Borrowed(text) };
    let mut escaped = false;
    for letter in inner.chars() {
        if letter == '"' && !escaped {
            return Cow::Borrowed(text);
        }
        escaped = letter == '\\';
    }
    if inner.contains("\\\"") { Cow::Owned(inner.replace("\\\"", "\"")) } else { Cow::Borrowed(inner) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_the_command_line_come_off() {
        assert_eq!(unquoted("\"fix it\""), "fix it");
        assert_eq!(unquoted("\"say \\\"hi\\\" twice\""), "say \"hi\" twice");
        for kept in ["\"word\"", "\"a b\" and \"c d\"", "fix \"it\"", "\"", "\"\""] {
            assert_eq!(unquoted(kept), kept);
        }
    }
}
