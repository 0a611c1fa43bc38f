//! Whether a call failed, and in which words its outcome says why.

use std::sync::LazyLock;

use aho_corasick::packed::Searcher;

use super::digest::short;
use super::shell::Line;
use super::testrun::Report;
use super::{Ended, dump};
use crate::plain::lines;
use crate::transcript::{Action, Status};

/// How many bytes of an outcome's ends are looked at.
const ENDS: usize = 6 * 1024;
/// Where a crash would be told.
const LAST: usize = 1500;

/// Whether a call failed, also where its agent does not say so.
pub(super) fn has_failed(action: &Action, ended: &Ended, report: Option<&Report>) -> bool {
    let Action::Run { command, .. } = action else { return ended.status != Status::Done };
    send_for(&ended.text);
    let code = ended.exit_code.or_else(|| told_code(&ended.text));
    if let Some(code) = code {
        if code != 0 {
            return !(code == 1 && is_answer(command, &ended.text));
        }
    } else if ended.status != Status::Done {
        return true;
    }
    // A pipe hides the exit code of what it cuts short.
    if let Some(report) = report {
        return report.failed > 0;
    }
    (code.is_none() || memchr::memchr(b'|', command.as_bytes()).is_some()) && last_words(&ended.text)
}

/// Has the ends of an output come from where they are in memory, which is far away, all at once and not one after the other.
fn send_for(text: &str) {
    let (head, tail) = (text.as_bytes().iter().take(1), last(text, LAST).as_bytes().iter().step_by(64));
    std::hint::black_box(head.chain(tail).fold(0, |all, byte| all ^ byte));
}

/// What an exit code is told with.
const CODES: [&str; 5] =
    ["exit code", "exited with code", "process exited with code", "exit status", "command exited with code"];

/// The exit code, where an agent tells it in words only.
pub(super) fn told_code(text: &str) -> Option<i32> {
    let head = &text[..text.floor_char_boundary(200)];
    code_in(lines(head).next().unwrap_or_default()).or_else(|| code_in(last_line(last(text, 200))))
}

/// So many bytes at the end of a text.
fn last(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// The exit code that a line tells.
fn code_in(line: &str) -> Option<i32> {
    let line = line.trim_start().trim_start_matches(['<', '>', '[', ']', '(', ')']);
    // Nearly every output begins and ends with other words.
    if !matches!(line.as_bytes().first(), Some(b'c' | b'C' | b'e' | b'E' | b'p' | b'P')) {
        return None;
    }
    let rest = CODES.iter().find_map(|start| without_start(line, start))?;
    rest.trim_start_matches([':', ' ', '=']).split(|c: char| !c.is_ascii_digit() && c != '-').next()?.parse().ok()
}

fn last_line(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    &text[memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |end| end + 1)..]
}

/// What follows a beginning, in whichever case it is written.
fn without_start<'a>(line: &'a str, start: &str) -> Option<&'a str> {
    let (head, rest) = line.split_at_checked(start.len())?;
    head.eq_ignore_ascii_case(start).then_some(rest)
}

/// Exit code 1 of programs that say "no" with it.
fn is_answer(command: &str, text: &str) -> bool {
    let Some(mut last) = Line::of(command).commands().last() else { return false };
    match last.name() {
        "grep" | "rg" | "egrep" | "fgrep" | "diff" | "cmp" | "test" | "[" | "which" | "pgrep" | "ag" => true,
        "git" => last.arguments.next().is_some_and(|sub| sub == "diff" || sub == "grep"),
        "ls" | "cat" | "find" => text.trim().is_empty(),
        _ => false,
    }
}

/// What the last lines of a crash begin with, and what they end with.
const CRASHES: [&str; 6] =
    ["Traceback (most recent call last)", "error: could not compile", "npm ERR!", "fatal: ", "make: ***", "panic: "];
const NOT_FOUND: &str = "command not found";

/// What finds a part of each of them anywhere, on processors that compare many bytes at once: such parts as begin with
/// letters that outputs of all kinds seldom have.
static SIGNS: LazyLock<Option<Searcher>> = LazyLock::new(|| {
    Searcher::new(["Traceback (", "could not compile", "npm ERR!", "fatal: ", "make: ***", "panic: ", NOT_FOUND])
});

/// Whether the last lines of an output are the end of a crash.
fn last_words(text: &str) -> bool {
    let tail = last(text, LAST);
    // Nearly every output has none of the signs, and need not be split into lines.
    let has_sign = SIGNS.as_ref().is_none_or(|signs| signs.find(tail).is_some());
    let is_end = |line: &str| CRASHES.iter().any(|start| line.starts_with(start)) || line.ends_with(NOT_FOUND);
    has_sign && tail.lines().any(|line| is_end(line.trim()))
}

/// The line of an outcome that says why, in one line of bounded length.
pub(super) fn reason(text: &str) -> Option<String> {
    let line = telling(text).map(|(_, line)| line).or_else(|| plain_line(text))?;
    Some(short(strip_wrapping(&line), 240))
}

/// The line that names the cause, where one does: a summary of a test run is none.
pub(super) fn cause(text: &str) -> Option<String> {
    telling(text).filter(|(weight, _)| *weight >= 60).map(|(_, line)| short(strip_wrapping(&line), 240))
}

/// The line that tells most, and how much it tells.
fn telling(text: &str) -> Option<(i32, String)> {
    let head = &text[..text.floor_char_boundary(ENDS.min(text.len()))];
    let tail = last(text, ENDS);
    let mut best: Option<(i32, String)> = None;
    let lines = if text.len() <= ENDS { head.lines().chain("".lines()) } else { head.lines().chain(tail.lines()) };
    for (index, line) in lines.take(2000).enumerate() {
        let line = crate::plain::plain(&line[..line.floor_char_boundary(600)]);
        let line = line.trim();
        let score = weight(line);
        // The first of equals, but the last where a trace ends in its cause.
        let is_last_word = score >= 80;
        if score > 0 && best.as_ref().is_none_or(|(most, _)| score > *most || (is_last_word && score == *most)) {
            best = Some((score, line.to_owned()));
        }
        if index > 400 && best.as_ref().is_some_and(|(most, _)| *most >= 90) {
            break;
        }
    }
    best
}

fn plain_line(text: &str) -> Option<String> {
    // What went wrong is said last.
    let bounded = last(text, 2000);
    let is_telling = |line: &&str| line.chars().any(char::is_alphabetic) && told_code(line).is_none();
    bounded.lines().map(str::trim).rfind(is_telling).map(str::to_owned)
}

fn strip_wrapping(line: &str) -> &str {
    let line = line.strip_prefix("<tool_use_error>").unwrap_or(line);
    line.strip_suffix("</tool_use_error>").unwrap_or(line).trim()
}

/// How well a line says why something failed.
fn weight(line: &str) -> i32 {
    if line.len() < 4 || !line.chars().any(char::is_alphabetic) {
        return 0;
    }
    let lower = line.to_ascii_lowercase();
    if dump::is_frame(line, &lower) || is_noise(&lower) {
        return 0;
    }
    let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let starts = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    if starts(&["e   ", "e       "]) && has(&["error", "assert"]) {
        return 95;
    }
    if is_exception(line) {
        return 90;
    }
    if starts(&["error[", "error:", "error ts", "fatal:", "fatal error", "panic:", "caused by:"])
        || has(&[" panicked at", ": error:", ": error ts", "error: "])
    {
        return if has(&["could not compile", "test failed", "aborting due to", "process completed", "exit code"]) {
            20
        } else {
            85
        };
    }
    if starts(&["assertion", "assertionerror", "failed:", "npm err! code", "denied"])
        || has(&[
            "assertion failed",
            "assertion `",
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
        ])
    {
        return 70;
    }
    if has(&["error", "exception", "failure"]) {
        return 40;
    }
    if has(&["failed", "fail", "cannot", "can't", "unable", "missing", "denied", "refused", "mismatch"]) {
        return 35;
    }
    0
}

/// `SomethingError: message`, as runtimes print it.
fn is_exception(line: &str) -> bool {
    let Some((name, rest)) = line.split_once(':') else {
        return line.ends_with("Error") && !line.contains(' ');
    };
    let last = name.rsplit(['.', ' ', ':']).next().unwrap_or_default();
    !rest.trim().is_empty()
        && name.len() < 90
        && last.starts_with(|c: char| c.is_uppercase())
        && (last.ends_with("Error") || last.ends_with("Exception") || last.ends_with("Failure"))
}

fn is_noise(lower: &str) -> bool {
    const NOISE: &[&str] = &[
        "0 errors",
        "0 failed",
        "no errors",
        "for more information about this error",
        "run with `rust_backtrace",
        "try `rustc --explain",
        "a complete log of this run",
        "error-free",
        "passed, 0 failed",
        "note: ",
        "warning:",
    ];
    NOISE.iter().any(|noise| lower.contains(noise))
        || lower.starts_with("test ") && (lower.ends_with("ok") || lower.ends_with("failed"))
}

#[cfg(test)]
mod tests {
    use super::told_code;

    #[test]
    fn codes_are_told_by_the_first_line_or_the_last() {
        for (text, code) in [
            ("Exit code 2\nx", Some(2)),
            ("x\n[exit status: 1]\n", Some(1)),
            ("x\n <Process exited with code -9>\r\n", Some(-9)),
            ("Command exited with code 3", Some(3)),
            ("x\nexited with code=4", Some(4)),
            ("\nexit code 5\n\n", None),
            ("exit code\n5", None),
            ("no exit code 6", None),
        ] {
            assert_eq!(told_code(text), code, "{text:?}");
        }
    }
}
