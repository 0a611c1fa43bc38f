//! Whether a call failed, and in which lines its output says why.

use super::shell::CommandLine;
use super::test_run::TestReport;
use crate::distill::{CallEnd, Quoting};
use crate::plain::strip_hidden;
use crate::transcript::Action;

/// How many bytes of an output's ends are looked at.
const END_BYTES: usize = 6 * 1024;
/// Where a crash would be told.
const CRASH_BYTES: usize = 1_500;
/// The longest line that is quoted, in characters.
const LINE_CHARS: usize = 240;

/// Whether a call failed, also where its agent does not say so.
pub(super) fn has_failed(
    action: &Action,
    line: Option<&CommandLine<'_>>,
    end: &CallEnd,
    report: Option<&TestReport>,
    is_check: bool,
) -> bool {
    let Action::Run { command, .. } = action else { return end.status.is_failure() };
    let code = end.exit_code.or_else(|| exit_code_in_text(&end.text));
    match code {
        Some(0) => {}
        Some(1) if line.is_some_and(|line| says_no_with_one(line, &end.text)) => return false,
        Some(_) => return true,
        None if end.status.is_failure() => return true,
        None => {}
    }
    // A pipe hides the exit code of what it cuts short.
    if let Some(report) = report {
        return report.failed > 0;
    }
    (code.is_none() || command.contains('|')) && (ends_in_crash(&end.text) || is_check && has_error_marks(&end.text))
}

/// Marks of errors in the output of compilers and builds.
const ERROR_MARKS: &[&str] =
    &["error TS", "): error ", "error[E", ": error:", "BUILD FAILED", "npm error", "Build failed"];

/// Whether the end of a check's output has such lines.
fn has_error_marks(text: &str) -> bool {
    text_tail(text, CRASH_BYTES).lines().any(|line| ERROR_MARKS.iter().any(|mark| line.contains(mark)))
}

/// Words before an exit code.
const EXIT_CODE_WORDS: [&str; 5] =
    ["exit code", "exited with code", "process exited with code", "exit status", "command exited with code"];

/// The exit code, where an agent tells it in words only: in the first line or the last.
pub(super) fn exit_code_in_text(text: &str) -> Option<i32> {
    let first = text.lines().next().unwrap_or_default();
    let last = text_tail(text, 200).trim_end_matches('\n').lines().next_back().unwrap_or_default();
    exit_code_in_line(first).or_else(|| exit_code_in_line(last))
}

fn exit_code_in_line(line: &str) -> Option<i32> {
    let line = line.trim_start().trim_start_matches(['<', '>', '[', ']', '(', ')']);
    let rest = EXIT_CODE_WORDS.iter().find_map(|start| {
        let (head, rest) = line.split_at_checked(start.len())?;
        head.eq_ignore_ascii_case(start).then_some(rest)
    })?;
    rest.trim_start_matches([':', ' ', '=']).split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse().ok()
}

/// So many bytes at the end of a text.
fn text_tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// Exit code 1 of programs that say "no" with it.
fn says_no_with_one(line: &CommandLine<'_>, output: &str) -> bool {
    let Some(last) = line.commands().last() else { return false };
    match last.name() {
        "grep" | "rg" | "egrep" | "fgrep" | "diff" | "cmp" | "test" | "[" | "which" | "pgrep" | "ag" => true,
        "git" => last.arguments().next().is_some_and(|sub| matches!(sub, "diff" | "grep")),
        "ls" | "cat" | "find" => output.trim().is_empty(),
        _ => false,
    }
}

/// The end of a line that names a missing program.
const MISSING_COMMAND: &str = "command not found";

/// Beginnings of the last lines of a crash.
const CRASH_STARTS: [&str; 7] = [
    "error: ",
    "Traceback (most recent call last)",
    "error: could not compile",
    "npm ERR!",
    "fatal: ",
    "make: ***",
    "panic: ",
];

/// Whether the last lines of an output are the end of a crash.
fn ends_in_crash(text: &str) -> bool {
    let is_crash =
        |line: &str| CRASH_STARTS.iter().any(|start| line.starts_with(start)) || line.ends_with(MISSING_COMMAND);
    text_tail(text, CRASH_BYTES).lines().map(str::trim).any(is_crash)
}

/// The lines of an output that tell the error, as they stand and in their order; the last line where none tells more.
pub(in crate::distill) fn error_lines(text: &str, most: usize, quoting: Quoting) -> Vec<String> {
    let text = join_ends(text);
    let text = strip_hidden(&text);
    let masked = quoting.mask(&text);
    let lines: Vec<&str> = masked.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let mut ranked: Vec<(u32, usize)> =
        lines.iter().enumerate().map(|(at, line)| (error_weight(line), at)).filter(|(weight, _)| *weight > 0).collect();
    // The end of a trace is its cause, so the last of equals comes first.
    ranked.sort_by_key(|(weight, at)| std::cmp::Reverse((*weight, *at)));
    let mut places: Vec<usize> = ranked.into_iter().take(most).map(|(_, at)| at).collect();
    places.sort_unstable();
    let said = |line: &&&str| line.chars().any(char::is_alphabetic) && exit_code_in_line(line).is_none();
    if places.is_empty() {
        return lines.iter().rev().find(said).map(|line| clip_line(line)).into_iter().collect();
    }
    let mut found: Vec<String> = places.into_iter().map(|at| clip_line(lines[at])).collect();
    found.dedup();
    found
}

fn join_ends(text: &str) -> String {
    if text.len() <= END_BYTES * 2 {
        return text.to_owned();
    }
    let (head, tail) = (&text[..text.floor_char_boundary(END_BYTES)], text_tail(text, END_BYTES));
    // A line that is cut in two may hold a part of a secret, which is not known for one.
    let head = head.rfind('\n').map_or(head, |end| &head[..end]);
    let tail = tail.find('\n').map_or(tail, |end| &tail[end + 1..]);
    format!("{head}\n{tail}")
}

fn clip_line(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Words that tell a cause, which rank behind what is marked as an error.
const CAUSE_WORDS: &[&str] = &[
    "assertion",
    "cannot find",
    "can't find",
    "not found",
    "no such file",
    "permission denied",
    "undefined reference",
    "unresolved",
    "connection refused",
    "timed out",
    "timeout",
    "not permitted",
    "already exists",
    "is not defined",
    "does not exist",
    "could not resolve",
    "conflict",
    "unsupported",
    "incompatible",
    "no module named",
    "unexpected token",
    "unknown option",
    "unrecognized",
    "invalid",
];

/// Words of lines that only follow from an error in another line.
const CONSEQUENCE_WORDS: &[&str] = &[
    "could not compile",
    "test failed",
    "aborting due to",
    "process completed",
    "0 errors",
    "0 failed",
    "no errors",
    "for more information",
    "rust_backtrace",
    "rustc --explain",
    "a complete log of this run",
    "note: ",
    "warning:",
];

/// How well a line says why something failed.
fn error_weight(line: &str) -> u32 {
    let lower = line.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    if has(CONSEQUENCE_WORDS) || is_stack_frame(&lower) {
        0
    } else if is_exception(line) || starts(&["e   "]) && has(&["error", "assert"]) {
        5
    } else if starts(&["error[", "error:", "error ts", "fatal:", "fatal error", "panic:", "caused by:"])
        || has(&[" panicked at", ": error:", ": error ts", "error: "])
    {
        4
    } else if has(CAUSE_WORDS) || starts(&["failed ", "failed:", "--- fail"]) {
        3
    } else if has(&["error", "exception", "failure", "failed", "cannot", "unable", "denied", "refused", "mismatch"]) {
        2
    } else {
        0
    }
}

/// Whether a sentence reads like a program's error, which people paste.
pub(in crate::distill) fn reads_like_error(sentence: &str) -> bool {
    error_weight(sentence) > 2
}

/// A line of a stack trace names a place, not a cause.
pub(in crate::distill) fn is_stack_frame(lower: &str) -> bool {
    ["at ", "file \"", "--> ", "from /"].iter().any(|start| lower.starts_with(start))
}

/// `SomethingError: message`, as runtimes print it.
fn is_exception(line: &str) -> bool {
    let Some((name, rest)) = line.split_once(':') else { return false };
    let last = name.rsplit(['.', ' ', ':']).next().unwrap_or_default();
    let is_name = last.starts_with(|c: char| c.is_uppercase())
        && (last.ends_with("Error") || last.ends_with("Exception") || last.ends_with("Failure"));
    is_name && name.len() < 90 && !rest.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_by_the_first_line_or_the_last() {
        for (text, code) in [
            ("Exit code 2\nx", Some(2)),
            ("x\n[exit status: 1]\n", Some(1)),
            ("x\n <Process exited with code -9>\r\n", Some(-9)),
            ("Command exited with code 3", Some(3)),
            ("x\nexited with code=4", Some(4)),
            ("exit code\n5", None),
            ("no exit code 6", None),
        ] {
            assert_eq!(exit_code_in_text(text), code, "{text:?}");
        }
    }

    #[test]
    fn the_lines_that_tell_the_error_are_quoted_in_their_order() {
        let text = "compiling\nerror[E0308]: mismatched types\n --> src/a.rs:3\nerror: could not compile `a`\n";
        assert_eq!(error_lines(text, 3, Quoting::AsIs), ["error[E0308]: mismatched types"]);
        let text = "Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: no\n";
        assert_eq!(error_lines(text, 1, Quoting::AsIs), ["ValueError: no"]);
        assert_eq!(error_lines("it went\nall wrong\n", 3, Quoting::AsIs), ["all wrong"]);
    }
}
