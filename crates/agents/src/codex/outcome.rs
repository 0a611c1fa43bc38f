//! The texts that Codex puts around what a tool printed, and what they tell: exit codes, failures, interruptions.

use std::borrow::Cow;

use carryover_core::transcript::{Outcome, Part, Status};
use serde::Deserialize;

/// How a call ended, from the text of its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallEnding {
    pub(super) status: Status,
    pub(super) exit_code: Option<i32>,
}

/// How the outputs begin by which Codex refuses or fails a call without running it.
const FAILURE_STARTS: &[&str] = &[
    "apply_patch verification failed",
    "apply_patch handler received",
    // The first versions say so of a patch that does not fit; what a command prints never stands bare.
    "error: ",
    "unsupported call",
    "unsupported custom tool call",
    "failed to parse ",
    "failed in sandbox",
    "failed to read ",
    "failed to create goal",
    "failed to update goal",
    "retry failed",
    "exec_command failed",
    "write_stdin failed",
    "execution error",
    "command timed out after ",
    "patch rejected",
    "command rejected",
    "exec command rejected",
    "rejected by ",
    "approval policy is ",
    "tool call error",
    "tool call failed",
    "user rejected MCP tool call",
    "user cancelled MCP tool call",
    "collab tool failed",
    "collab spawn failed",
    "agent with id ",
    "resources/list failed",
    "resources/read failed",
    "resources/templates/list failed",
    "unable to locate image",
    "unable to read image",
    "unable to process image",
    "request_user_input is unavailable",
    "request_user_input can only",
    "Script failed",
];

/// How the first versions tell of a command that ended badly and may have been kept from something.
const SANDBOX_FAILURE_START: &str = "failed in sandbox";

/// The outcome of a question that the user did not answer.
const CANCELLED_QUESTION: &str = "request_user_input was cancelled before receiving a response";

/// The output of a command in the versions up to 0.98: text and exit code in one JSON string.
#[derive(Deserialize)]
struct WireWrapped {
    output: String,
    metadata: WireWrappedMetadata,
}

#[derive(Deserialize)]
struct WireWrappedMetadata {
    #[serde(default)]
    exit_code: Option<i32>,
}

/// The form in which a script of code mode shows a command that it ran.
#[derive(Deserialize)]
struct WireRan {
    #[serde(default)]
    exit_code: Option<i32>,
    output: String,
}

impl CallEnding {
    /// The first text tells; of a script's only command, the second does.
    pub(super) fn from_parts(parts: &[Part]) -> Self {
        let mut texts = parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            Part::Blob(_) => None,
        });
        let first = texts.next().unwrap_or_default();
        let ending = Self::from_text(first);
        match (texts.next().and_then(parse_command_result), texts.next()) {
            (Some(WireRan { exit_code: Some(code), .. }), None) if first.starts_with("Script completed") => {
                let status = if code == 0 { ending.status } else { Status::Failed };
                Self { status, exit_code: Some(code) }
            }
            _ => ending,
        }
    }

    pub(super) fn from_text(text: &str) -> Self {
        if is_aborted(text) {
            return Self { status: Status::Interrupted, exit_code: None };
        }
        let exit_code = find_exit_code(text);
        let failed =
            exit_code.is_some_and(|code| code != 0) || FAILURE_STARTS.iter().any(|start| text.starts_with(start));
        Self { status: if failed { Status::Failed } else { Status::Done }, exit_code }
    }
}

/// The tool's own output, without the lines that Codex puts before it.
pub(super) fn plain_output(text: &str) -> Cow<'_, str> {
    if let Some(wrapped) = parse_wrapped(text) {
        return wrapped.output.into();
    }
    let Some((header, output)) = split_header(text) else { return text.into() };
    // A process that still runs is news, not wrapping.
    match header.lines().find(|line| line.starts_with("Process running with session ID ")) {
        Some(running) => format!("{running}\n{output}").into(),
        None => output.into(),
    }
}

/// Takes the lines of Codex's own off the first text.
pub(super) fn strip_header(outcome: &mut Outcome) {
    let parts = &mut outcome.parts;
    if let Some(Part::Text(first)) = parts.first_mut() {
        *first = plain_output(first).into_owned();
        if first.is_empty() && parts.len() > 1 {
            parts.remove(0);
        }
    }
    if let [Part::Text(only)] = parts.as_mut_slice()
        && let Some(ran) = parse_command_result(only)
    {
        *only = ran.output;
    }
}

fn is_aborted(text: &str) -> bool {
    let told = match text.split_once('\n') {
        Some((time, rest)) if time.starts_with("Wall time: ") => rest,
        _ => text,
    };
    let told = told.trim_end();
    // Tools that are no commands say how long they had been at it.
    let timed = told.strip_prefix("aborted by user after ").and_then(|time| time.strip_suffix('s'));
    matches!(told, "aborted by user" | "aborted" | CANCELLED_QUESTION)
        || timed.is_some_and(|time| time.parse::<f64>().is_ok())
}

fn find_exit_code(text: &str) -> Option<i32> {
    if let Some(wrapped) = parse_wrapped(text) {
        return wrapped.metadata.exit_code;
    }
    if text.starts_with(SANDBOX_FAILURE_START) {
        let code = text.split_once("exit code: ")?.1.split(',').next()?;
        return code.trim().parse().ok();
    }
    let (header, _) = split_header(text)?;
    header.lines().find_map(|line| {
        let code = line.strip_prefix("Process exited with code ").or_else(|| line.strip_prefix("Exit code: "))?;
        code.trim().parse().ok()
    })
}

fn parse_wrapped(text: &str) -> Option<WireWrapped> {
    text.starts_with(r#"{"output":"#).then(|| serde_json::from_str(text).ok())?
}

fn parse_command_result(text: &str) -> Option<WireRan> {
    text.starts_with(r#"{"chunk_id":"#).then(|| serde_json::from_str(text).ok())?
}

/// The lines before the output and the output, where the text begins with lines of Codex's own.
fn split_header(text: &str) -> Option<(&str, &str)> {
    const HEADER_STARTS: &[&str] = &[
        "Chunk ID: ",
        "Wall time: ",
        "Wall time ",
        "Process exited with code ",
        "Process running with session ID ",
        "Exit code: ",
        "Original token count: ",
        "Total output lines: ",
        "Script completed",
        "Script failed",
    ];
    let mut end = echo_length(text);
    for line in text[end..].split_inclusive('\n') {
        if line.trim_end() == "Output:" {
            // Without any line of its own before it, "Output:" is the tool's word.
            return (end > 0).then(|| (&text[..end], &text[end + line.len()..]));
        }
        if !HEADER_STARTS.iter().any(|start| line.starts_with(start)) {
            return None;
        }
        end += line.len();
    }
    None
}

/// How much of the text repeats the command, which may have several lines; some builds begin with it.
fn echo_length(text: &str) -> usize {
    let echoed = text.starts_with("Command: ").then(|| text.find("\nChunk ID: ")).flatten();
    echoed.map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXEC: &str = "Chunk ID: 25a17d\nWall time: 0.0516 seconds\nProcess exited with code 3\nOriginal token count: 2\nOutput:\nEC-OUT\n";

    #[test]
    fn exit_codes_of_all_versions_are_found() {
        let failed = |code| CallEnding { status: Status::Failed, exit_code: Some(code) };
        let done = CallEnding { status: Status::Done, exit_code: Some(0) };
        assert_eq!(CallEnding::from_text(EXEC), failed(3));
        assert_eq!(CallEnding::from_text("Exit code: 0\nWall time: 0 seconds\nOutput:\nSC-OUT\n"), done);
        assert_eq!(
            CallEnding::from_text(r#"{"output":"x\n","metadata":{"exit_code":2,"duration_seconds":0.0}}"#),
            failed(2)
        );
        assert_eq!(CallEnding::from_text(&format!("Command: /bin/zsh -lc \"a\nb\"\n{EXEC}")), failed(3));
        let sandboxed = "failed in sandbox LinuxSeccomp with execution error: sandbox denied exec error, exit code: 2, stdout: , stderr: no";
        assert_eq!(CallEnding::from_text(sandboxed), failed(2));
        assert_eq!(CallEnding::from_text("Plan updated"), CallEnding { status: Status::Done, exit_code: None });
    }

    #[test]
    fn refusals_and_interruptions_are_told_apart() {
        let status = |text| CallEnding::from_text(text).status;
        assert_eq!(status("unsupported call: update_plan"), Status::Failed);
        assert_eq!(status("error: Failed to find expected lines in /r/a.rs:\nx"), Status::Failed);
        assert_eq!(status("error: invalid hunk at line 2, Update file hunk for path 'a' is empty"), Status::Failed);
        assert_eq!(status("failed in sandbox MacosSeatbelt with execution error: x"), Status::Failed);
        assert_eq!(status("patch rejected by user"), Status::Failed);
        assert_eq!(status(r#"{"output":"error: bad patch\n","metadata":{"exit_code":1}}"#), Status::Failed);
        assert_eq!(status("Wall time: 3.9 seconds\naborted by user"), Status::Interrupted);
        assert_eq!(status("aborted"), Status::Interrupted);
        assert_eq!(status("aborted by user after 2.5s"), Status::Interrupted);
        assert_eq!(status("request_user_input was cancelled before receiving a response"), Status::Interrupted);
        assert_eq!(status("the build was aborted by user request"), Status::Done);
        assert_eq!(status("it printed\nExit code: 1\n"), Status::Done);
    }

    #[test]
    fn a_scripts_only_command_tells_its_exit_code() {
        let text = |text: &str| Part::Text(text.to_owned());
        let header = text("Script completed\nWall time 0.1 seconds\nOutput:\n");
        let ran = text(r#"{"chunk_id":"4","wall_time_seconds":0.1,"exit_code":2,"output":"x\n"}"#);
        let failed = CallEnding { status: Status::Failed, exit_code: Some(2) };
        assert_eq!(CallEnding::from_parts(&[header.clone(), ran.clone()]), failed);
        let done = CallEnding { status: Status::Done, exit_code: None };
        assert_eq!(CallEnding::from_parts(&[header.clone(), ran.clone(), ran.clone()]), done);
        let parts = vec![header, ran];
        let call = carryover_core::transcript::CallId("c".into());
        let mut outcome = Outcome { call, status: Status::Failed, exit_code: Some(2), parts };
        strip_header(&mut outcome);
        assert_eq!(outcome.parts, [text("x\n")]);
    }

    #[test]
    fn the_header_is_taken_off() {
        assert_eq!(plain_output(EXEC), "EC-OUT\n");
        assert_eq!(plain_output(&format!("Command: /bin/sh -c 'a\nb'\n{EXEC}")), "EC-OUT\n");
        assert_eq!(plain_output(r#"{"output":"x\n","metadata":{"exit_code":0}}"#), "x\n");
        assert_eq!(plain_output("Output:\nmine"), "Output:\nmine");
        assert_eq!(plain_output("plain\nOutput:\nmine"), "plain\nOutput:\nmine");
    }
}
