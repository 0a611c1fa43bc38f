//! Text that the client writes in the user's or the model's place, and what it puts around outcomes.

use carryover_core::transcript::{Outcome, Part, Status};

/// Whose words a text in the user's place are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sorted<'a> {
    User(&'a str),
    /// Out of a hook of the user's.
    Hook(&'a str),
    /// The client's own, with what the user said behind it.
    Harness(Option<&'a str>),
}

/// How the client begins what it says in the user's place.
const OWN_WORDS: &[&str] = &[
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
];

/// What the client says in the model's place.
const OWN_REPLIES: &[&str] = &[
    "[The previous response was interrupted before it completed.]",
    "Binary content received. Proceeding with analysis.",
    "Got it. Thanks for the context!",
];

/// How the model is made to take note of a summary.
pub(super) const ACKNOWLEDGED: &str = "Got it. Thanks for the additional context!";

/// The client forgets user texts that begin with these when it resumes.
const FORGOTTEN: &[&str] = &["/", "?", "<session_context>", "<hook_context>"];

/// Stands before such a text: it is no white space, so it is not trimmed, and it is not seen.
const GUARD: char = '\u{200b}';

/// Sorts a text that stands in the user's place.
pub(super) fn sort(text: &str) -> Sorted<'_> {
    let trimmed = text.trim_start();
    if let Some(rest) = trimmed.trim_start_matches(GUARD).strip_prefix("<hook_context>")
        && let Some(end) = rest.rfind("</hook_context>")
    {
        let behind = rest[end + "</hook_context>".len()..].trim_start();
        // A hook at the start of a session speaks again wherever it goes on; its words stand before the first prompt.
        return if behind.is_empty() { Sorted::Hook(rest[..end].trim()) } else { Sorted::Harness(Some(behind)) };
    }
    if OWN_WORDS.iter().any(|words| trimmed.starts_with(words)) {
        return Sorted::Harness(None);
    }
    Sorted::User(text.strip_prefix(GUARD).unwrap_or(text))
}

pub(super) fn is_own_reply(text: &str) -> bool {
    OWN_REPLIES.contains(&text.trim())
}

/// A user's text in a form that the client does not forget.
pub(super) fn guarded(text: &str) -> String {
    let trimmed = text.trim_start();
    if FORGOTTEN.iter().any(|beginning| trimmed.starts_with(beginning)) {
        return format!("{GUARD}{text}");
    }
    text.to_owned()
}

/// The working directory that the client tells the model at the start.
pub(super) fn workspace(text: &str) -> Option<&str> {
    let after = ["- **Workspace Directories:**\n  - ", "I'm currently working in the directory: "]
        .iter()
        .find_map(|words| text.split_once(words))?
        .1;
    after.lines().next().map(str::trim).filter(|path| !path.is_empty())
}

/// How a call ended, by what is told of it.
pub(super) fn ending(tool: &str, text: &str, failed: bool) -> (Status, Option<i32>) {
    let cancelled = || memchr::memmem::find(text.as_bytes(), b"Command was cancelled by user before").is_some();
    if text.starts_with("[Operation Cancelled]") || cancelled() {
        return (Status::Interrupted, None);
    }
    let exit_code = if tool == "run_shell_command" { Shell::of(text).and_then(|shell| shell.exit_code) } else { None };
    match exit_code {
        Some(code) if code != 0 => (Status::Failed, exit_code),
        _ if failed => (Status::Failed, exit_code),
        _ => (Status::Done, exit_code),
    }
}

/// Takes off the tags around an outcome and the lines that tell how a command ended.
pub(super) fn strip(outcome: &mut Outcome) {
    for part in &mut outcome.parts {
        let Part::Text(text) = part else { continue };
        if let Some(shell) = Shell::of(text) {
            *text = shell.output;
        } else if let Some(inner) = unwrapped(text) {
            *text = inner.replace("&lt;/untrusted_context&gt;", "</untrusted_context>");
        }
    }
}

fn unwrapped(text: &str) -> Option<&str> {
    text.strip_prefix("<untrusted_context>\n")?.strip_suffix("\n</untrusted_context>")
}

/// What a shell command gave back, taken apart.
struct Shell {
    output: String,
    exit_code: Option<i32>,
}

impl Shell {
    /// The last lines tell how it ended; the process group is always among them, and where it is not, a code is.
    fn of(text: &str) -> Option<Self> {
        let mut rest = unwrapped(text).unwrap_or(text).strip_prefix("Output: ")?;
        let mut shell = Self { output: String::new(), exit_code: None };
        let mut kept = Vec::new();
        let mut known = false;
        while let Some((before, line)) = rest.rsplit_once('\n') {
            if let Some(code) = line.strip_prefix("Exit Code: ").filter(|_| shell.exit_code.is_none()) {
                shell.exit_code = Some(code.parse().ok()?);
            } else if line.starts_with("Background PIDs: ") || line.starts_with("Signal: ") {
                kept.push(line);
            } else if !line.starts_with("Process Group PGID: ") {
                break;
            }
            known = true;
            rest = before;
        }
        if !known {
            return None;
        }
        kept.push(if rest == "(empty)" { "" } else { rest });
        kept.reverse();
        shell.output = kept.join("\n").replace("&lt;/untrusted_context&gt;", "</untrusted_context>");
        Some(shell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_words_are_told_from_the_clients() {
        assert_eq!(sort("fix it"), Sorted::User("fix it"));
        assert_eq!(sort("<session_context>\nx\n</session_context>"), Sorted::Harness(None));
        assert_eq!(sort("<hook_context>be brief</hook_context>"), Sorted::Hook("be brief"));
        assert_eq!(sort("<hook_context>a</hook_context>\n\n/lab:hand"), Sorted::Harness(Some("/lab:hand")));
        assert_eq!(sort(&guarded("/srv is full")), Sorted::User("/srv is full"));
        assert_eq!(guarded("a / b"), "a / b");
    }

    #[test]
    fn a_shell_outcome_is_taken_apart() {
        let text = "<untrusted_context>\nOutput: a\nb\nExit Code: 3\nBackground PIDs: 7\nProcess Group PGID: 12\n</untrusted_context>";
        assert_eq!(ending("run_shell_command", text, false), (Status::Failed, Some(3)));
        assert_eq!(Shell::of(text).unwrap().output, "a\nb\nBackground PIDs: 7");
        assert_eq!(Shell::of("Output: (empty)\nProcess Group PGID: 1").unwrap().output, "");
        assert!(Shell::of("Output: of a program\nand more").is_none());
        assert_eq!(ending("read_file", "Output: x\nExit Code: 3", false), (Status::Done, None));
    }

    #[test]
    fn the_workspace_is_found() {
        let text = "<session_context>\n- **Workspace Directories:**\n  - /home/u/repo\n- **Directory";
        assert_eq!(workspace(text), Some("/home/u/repo"));
    }
}
