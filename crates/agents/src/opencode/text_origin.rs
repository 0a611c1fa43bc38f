//! The user's words, told from what the client says in the user's name.

use std::borrow::Cow;

use super::commands;
use super::wire::WireMarks;

/// Whose words a text is.
pub(super) enum TextOrigin<'a> {
    User(Cow<'a, str>),
    /// A text of the client's, for a command, with what the user typed behind its name.
    Command(&'a str),
    /// A file or a resource that the user named.
    Injected(&'a str),
    /// A summary of ours.
    Summary(&'a str),
    Harness,
}

/// How our summaries are marked where they are not told in the client's own way.
pub(super) const SUMMARY_MARK: &str = "summary";
/// How prompts of ours that others brought along are marked.
pub(super) const INJECTED_MARK: &str = "brought";

/// The beginnings of what the client says by itself.
const HARNESS_STARTS: &[&str] = &[
    "<system-reminder>",
    "Continue if you have next steps",
    // The image itself stands beside this.
    "Image read successfully",
    "PDF read successfully",
];

/// The client tells the model this, in the user's place, of a task that a command gave to a sub-agent.
pub(super) const TASK_EXECUTED: &str = "The following tool was executed by the user";

/// How the client tells of a file that the user named, before its text.
pub(super) const READ_TOOL_CALLED: &str = "Called the Read tool with the following input:";

pub(super) fn sort_text<'a>(text: &'a str, synthetic: bool, marks: &WireMarks) -> TextOrigin<'a> {
    match marks.carryover.as_deref() {
        Some(SUMMARY_MARK) => return TextOrigin::Summary(text),
        Some(INJECTED_MARK) => return TextOrigin::Injected(text),
        _ => {}
    }
    if marks.compaction_continue == Some(true) {
        return TextOrigin::Harness;
    }
    if !synthetic {
        return commands::find_typed(text)
            .map_or_else(|| TextOrigin::User(unquote_argument(text)), TextOrigin::Command);
    }
    if HARNESS_STARTS.iter().any(|beginning| text.starts_with(beginning)) {
        TextOrigin::Harness
    } else {
        TextOrigin::Injected(text)
    }
}

/// Arguments of the command line are kept in quotes where they hold a space, with their own quotes escaped.
fn unquote_argument(text: &str) -> Cow<'_, str> {
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
        assert_eq!(unquote_argument("\"fix it\""), "fix it");
        assert_eq!(unquote_argument("\"say \\\"hi\\\" twice\""), "say \"hi\" twice");
        for kept in ["\"word\"", "\"a b\" and \"c d\"", "fix \"it\"", "\"", "\"\""] {
            assert_eq!(unquote_argument(kept), kept);
        }
    }
}
