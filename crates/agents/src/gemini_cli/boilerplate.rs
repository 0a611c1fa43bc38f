//! Text that the client writes in the user's or the model's place, and what it puts around outcomes.

use carryover_core::transcript::{Outcome, Part, Status};

/// Whose words a text in the user's place are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SortedText<'a> {
    User(&'a str),
    /// Out of a hook of the user's.
    Hook(&'a str),
    /// The client's own, with what the user said behind it.
    Harness(Option<&'a str>),
}

/// How the client begins what it says in the user's place.
const CLIENT_STARTS: &[&str] = &[
    "<session_context>",
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
    "System: Please continue.",
];

/// How it begins what it tells its model of this session: what happened besides, and the templates of its commands.
const REPORT_STARTS: &[&str] = &[
    "Background execution update:\n<background_output>",
    "I ran the following shell command:\n```sh\n",
    "System: Potential loop detected.",
    "[System: You previously ",
    "<system_note>",
    "You are an AI agent that brings the power of Gemini directly into the terminal. Your task is to analyze",
];

/// With these the client hands over what the user typed while the agent worked, and what to make of it.
const HINT_STARTS: &[&str] = &["User steering update:\n<user_input>\n", "User hints:\n<user_input>\n"];

/// Replies that the client writes in the model's place.
const CLIENT_REPLIES: &[&str] = &[
    "[The previous response was interrupted before it completed.]",
    "Binary content received. Proceeding with analysis.",
    "Got it. Thanks for the context!",
];

/// How the model is made to take note of a summary.
pub(super) const SUMMARY_REPLY: &str = "Got it. Thanks for the additional context!";

/// The client forgets user texts that begin with these when it resumes.
const FORGOTTEN_STARTS: &[&str] = &["/", "?", "<session_context>", "<hook_context>"];

/// Stands before such a text: it is no white space, so it is not trimmed, and it is not seen.
const GUARD_CHAR: char = '\u{200b}';

/// Sorts a text that stands in the user's place.
pub(super) fn sort_text(text: &str) -> SortedText<'_> {
    let trimmed = text.trim_start();
    if let Some(rest) = trimmed.trim_start_matches(GUARD_CHAR).strip_prefix("<hook_context>")
        && let Some(end) = rest.rfind("</hook_context>")
    {
        let behind = rest[end + "</hook_context>".len()..].trim_start();
        // A hook at the start of a session speaks again wherever it goes on; its words stand before the first prompt.
        return if behind.is_empty() {
            SortedText::Hook(rest[..end].trim())
        } else {
            SortedText::Harness(Some(behind))
        };
    }
    if let Some(behind) = HINT_STARTS.iter().find_map(|start| trimmed.strip_prefix(start))
        && let Some((words, _)) = behind.split_once("\n</user_input>\n")
    {
        return SortedText::Harness(Some(words));
    }
    if REPORT_STARTS.iter().any(|start| trimmed.starts_with(start)) {
        return SortedText::Hook(text.trim());
    }
    if CLIENT_STARTS.iter().any(|words| trimmed.starts_with(words)) {
        return SortedText::Harness(None);
    }
    SortedText::User(text.strip_prefix(GUARD_CHAR).unwrap_or(text))
}

pub(super) fn is_client_reply(text: &str) -> bool {
    CLIENT_REPLIES.contains(&text.trim())
}

/// A user's text in a form that the client does not forget.
pub(super) fn guard_text(text: &str) -> String {
    let trimmed = text.trim_start();
    if FORGOTTEN_STARTS.iter().any(|beginning| trimmed.starts_with(beginning)) {
        return format!("{GUARD_CHAR}{text}");
    }
    text.to_owned()
}

/// The working directory that the client tells the model at the start.
pub(super) fn find_workspace(text: &str) -> Option<&str> {
    let after = ["- **Workspace Directories:**\n  - ", "I'm currently working in the directory: "]
        .iter()
        .find_map(|words| text.split_once(words))?
        .1;
    after.lines().next().map(str::trim).filter(|path| !path.is_empty())
}

/// How a call ended, by what is told of it.
pub(super) fn read_ending(tool: &str, text: &str, failed: bool) -> (Status, Option<i32>) {
    let cancelled = || memchr::memmem::find(text.as_bytes(), b"Command was cancelled by user before").is_some();
    if text.starts_with("[Operation Cancelled]") || cancelled() || is_dismissed(tool, text) {
        return (Status::Interrupted, None);
    }
    if tool == "exit_plan_mode" && !text.contains(APPROVAL_TEXT) {
        return (Status::Failed, None);
    }
    let exit_code = if tool == "run_shell_command" { find_exit_code(text) } else { None };
    match exit_code {
        Some(code) if code != 0 => (Status::Failed, exit_code),
        _ if failed => (Status::Failed, exit_code),
        _ => (Status::Done, exit_code),
    }
}

/// The exit code of a command; what was too long to be shown whole begins with a line on that.
fn find_exit_code(text: &str) -> Option<i32> {
    let cut = text.starts_with("Output too large. ").then(|| text.find("\nOutput: ")).flatten();
    ShellOutput::parse(cut.map_or(text, |at| &text[at + 1..]))?.exit_code
}

/// Stands in the answer to a plan that the user approved.
const APPROVAL_TEXT: &str = "The approved implementation plan is stored at: ";

/// Whether the user closed a question, or a plan, without a word.
fn is_dismissed(tool: &str, text: &str) -> bool {
    match tool {
        "ask_user" => text.starts_with("User dismissed ask_user dialog"),
        "exit_plan_mode" => text.starts_with("User cancelled the plan approval dialog"),
        _ => false,
    }
}

/// Takes off the tags around an outcome and the lines that tell how a command ended.
pub(super) fn strip_wrapping(outcome: &mut Outcome) {
    for part in &mut outcome.parts {
        let Part::Text(text) = part else { continue };
        if let Some(shell) = ShellOutput::parse(text) {
            *text = shell.output;
        } else if let Some(inner) = unwrap_context(text) {
            *text = inner.replace("&lt;/untrusted_context&gt;", "</untrusted_context>");
        }
    }
}

fn unwrap_context(text: &str) -> Option<&str> {
    text.strip_prefix("<untrusted_context>\n")?.strip_suffix("\n</untrusted_context>")
}

/// The outcome of a shell command, taken apart.
struct ShellOutput {
    output: String,
    exit_code: Option<i32>,
}

impl ShellOutput {
    /// The last lines tell how it ended; the process group is always among them, and where it is not, a code is.
    fn parse(text: &str) -> Option<Self> {
        let mut rest = unwrap_context(text).unwrap_or(text).strip_prefix("Output: ")?;
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
        assert_eq!(sort_text("fix it"), SortedText::User("fix it"));
        assert_eq!(sort_text("<session_context>\nx\n</session_context>"), SortedText::Harness(None));
        assert_eq!(sort_text("<hook_context>be brief</hook_context>"), SortedText::Hook("be brief"));
        assert_eq!(sort_text("<hook_context>a</hook_context>\n\n/lab:hand"), SortedText::Harness(Some("/lab:hand")));
        assert_eq!(sort_text(&guard_text("/srv is full")), SortedText::User("/srv is full"));
        assert_eq!(guard_text("a / b"), "a / b");
    }

    #[test]
    fn what_happened_besides_is_told_and_not_said() {
        let ran =
            "I ran the following shell command:\n```sh\nls\n```\n\nThis produced the following result:\n```\na\n```";
        assert_eq!(sort_text(ran), SortedText::Hook(ran));
        let hint = "User steering update:\n<user_input>\nleave the tests\n</user_input>\nInternal instruction: x";
        assert_eq!(sort_text(hint), SortedText::Harness(Some("leave the tests")));
    }

    #[test]
    fn a_plan_is_approved_or_not() {
        let ended = |text: &str| read_ending("exit_plan_mode", text, false).0;
        assert_eq!(ended("Go.\n\nThe approved implementation plan is stored at: /p/a.md\nRead it."), Status::Done);
        assert_eq!(ended("Plan rejected. User feedback: shorter\n\nThe plan is stored at: /p/a.md"), Status::Failed);
        assert_eq!(ended("User cancelled the plan approval dialog. The plan was not"), Status::Interrupted);
        let dismissed = "User dismissed ask_user dialog without answering.";
        assert_eq!(read_ending("ask_user", dismissed, false), (Status::Interrupted, None));
    }

    #[test]
    fn a_shell_outcome_is_taken_apart() {
        let text = "<untrusted_context>\nOutput: a\nb\nExit Code: 3\nBackground PIDs: 7\nProcess Group PGID: 12\n</untrusted_context>";
        assert_eq!(read_ending("run_shell_command", text, false), (Status::Failed, Some(3)));
        assert_eq!(ShellOutput::parse(text).unwrap().output, "a\nb\nBackground PIDs: 7");
        assert_eq!(ShellOutput::parse("Output: (empty)\nProcess Group PGID: 1").unwrap().output, "");
        assert!(ShellOutput::parse("Output: of a program\nand more").is_none());
        let cut = "Output too large. Showing first 8 and last 9 characters. For full output see: /t\nOutput: a\nExit Code: 3\nProcess Group PGID: 1";
        assert_eq!(read_ending("run_shell_command", cut, false), (Status::Failed, Some(3)));
        assert_eq!(read_ending("read_file", "Output: x\nExit Code: 3", false), (Status::Done, None));
    }

    #[test]
    fn the_workspace_is_found() {
        let text = "<session_context>\n- **Workspace Directories:**\n  - /home/u/repo\n- **Directory";
        assert_eq!(find_workspace(text), Some("/home/u/repo"));
    }
}
