//! Results of test runs, read from the last lines of the common runners.

use super::shell::{Command, CommandLine};
use crate::plain::one_line;

/// The counts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TestReport {
    pub(super) passed: u64,
    pub(super) failed: u64,
    pub(super) skipped: u64,
    /// Names of tests that failed, a few.
    pub(super) names: Vec<String>,
}

/// Names in a summary.
const MAX_NAMES: usize = 3;

impl TestReport {
    /// One line: `12 passed, 1 failed (parses_nothing)`.
    pub(super) fn format_counts(&self) -> String {
        let skipped = if self.skipped > 0 { format!(", {} skipped", self.skipped) } else { String::new() };
        let names = if self.names.is_empty() { String::new() } else { format!(" ({})", self.names.join(", ")) };
        format!("{} passed, {} failed{skipped}{names}", self.passed, self.failed)
    }
}

/// The result of a run of tests; nothing where a line runs none, or where the output tells no result.
pub(super) fn read_report(line: &CommandLine<'_>, output: &str) -> Option<TestReport> {
    if !has_test_command(line) {
        return None;
    }
    let tail = &output[output.ceil_char_boundary(output.len().saturating_sub(16 * 1024))..];
    let tail = crate::plain::strip_hidden(tail);
    let lines: Vec<&str> = tail.lines().map(str::trim).collect();
    let mut report = read_counts(&lines).filter(|report| report.passed + report.failed + report.skipped > 0)?;
    report.names = failed_names(&lines);
    Some(report)
}

/// Whether one of the commands of a line runs tests.
pub(super) fn has_test_command(line: &CommandLine<'_>) -> bool {
    line.commands().any(runs_tests)
}

/// Whether a command runs tests.
pub(super) fn runs_tests(command: &Command<'_>) -> bool {
    runs_as_tests(command.name(), &command.arguments().collect::<Vec<_>>())
}

/// Whether a program runs tests when it is given these words.
fn runs_as_tests(program: &str, words: &[&str]) -> bool {
    let has = |wanted: &[&str]| words.iter().take(6).any(|word| wanted.contains(word));
    let names = |part: &str| words.iter().any(|word| word.to_ascii_lowercase().contains(part));
    match program {
        "pytest" | "py.test" | "jest" | "vitest" | "mocha" | "ava" | "tap" | "ctest" | "rspec" | "phpunit" | "tox"
        | "nox" | "gotestsum" | "nosetests" | "playwright" | "cypress" => true,
        "cargo" => has(&["test", "nextest", "t"]),
        "go" | "bun" | "deno" | "dotnet" | "swift" | "zig" | "mix" | "flutter" | "dart" | "sbt" | "lein" => {
            has(&["test"])
        }
        "npm" | "pnpm" | "yarn" => has(&["test", "t", "jest", "vitest", "mocha", "tst"]) || names("test"),
        "npx" | "bunx" | "pnpx" | "poetry" | "uv" | "pipenv" | "hatch" | "rye" | "pdm" | "bundle" | "rtk" => {
            let started = usize::from(matches!(words.first(), Some(&("run" | "exec"))));
            let program = words.get(started).and_then(|program| program.rsplit('/').next());
            program.is_some_and(|program| runs_as_tests(program, &words[started + 1..]))
        }
        "node" => names("test"),
        "mvn" | "mvnw" | "gradle" | "gradlew" => {
            let is_skipped = words.windows(2).any(|pair| pair == ["-x", "test"]) || names("skiptests");
            !is_skipped && (has(&["test", "verify", "check"]) || names("test"))
        }
        "make" | "just" | "task" | "rake" | "ninja" | "bazel" | "meson" => names("test") || has(&["check"]),
        "java" => names("junit"),
        "vendor/bin/phpunit" | "php" => names("phpunit") || names("test"),
        _ if program.starts_with("python") => has(&["pytest", "unittest", "nose"]) || names("test"),
        _ => program.len() > 4 && program.contains("test") && program != "testparm",
    }
}

fn read_counts(lines: &[&str]) -> Option<TestReport> {
    read_cargo(lines)
        .or_else(|| {
            read_last_line(
                lines,
                |line| line.starts_with("Summary [") || line.contains(" tests run: "),
                read_word_counts,
            )
        })
        .or_else(|| read_unittest(lines))
        .or_else(|| read_maven(lines))
        .or_else(|| read_phpunit(lines))
        .or_else(|| {
            read_last_line(lines, |line| line.starts_with("Tests:") || line.starts_with("Tests "), read_word_counts)
        })
        .or_else(|| read_ctest(lines))
        .or_else(|| {
            read_last_line(lines, |line| line.contains(" examples, ") || line.contains(" example, "), read_rspec)
        })
        .or_else(|| read_last_line(lines, |line| line.contains("tests completed"), read_completed))
        .or_else(|| read_last_line(lines, is_pytest, read_word_counts))
        .or_else(|| read_listed(lines))
        .or_else(|| read_go(lines))
}

fn read_last_line(
    lines: &[&str],
    is_it: impl Fn(&str) -> bool,
    read: impl Fn(&str) -> TestReport,
) -> Option<TestReport> {
    lines.iter().rev().find(|line| is_it(line)).map(|line| read(line))
}

/// Sums of `test result: ok. 3 passed; 0 failed; …`.
fn read_cargo(lines: &[&str]) -> Option<TestReport> {
    let mut sum: Option<TestReport> = None;
    for line in lines.iter().filter(|line| line.starts_with("test result:")) {
        let one = read_word_counts(line);
        let sum = sum.get_or_insert_with(TestReport::default);
        sum.passed += one.passed;
        sum.failed += one.failed;
        sum.skipped += one.skipped;
    }
    sum
}

fn is_pytest(line: &str) -> bool {
    let has_counts = [" passed", " failed", " error", " skipped"].iter().any(|word| line.contains(word));
    has_counts && line.contains(" in ") && line.trim_end_matches(['=', ' ']).ends_with([')', 's'])
}

/// Counts in front of words: `1 failed, 2 passed | 3 skipped`.
fn read_word_counts(line: &str) -> TestReport {
    let mut report = TestReport::default();
    let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    for pair in words.windows(2) {
        let Ok(count) = pair[0].parse::<u64>() else { continue };
        match pair[1].to_ascii_lowercase().as_str() {
            "passed" | "pass" | "passing" | "successful" => report.passed = count,
            "failed" | "fail" | "failing" | "failures" | "failure" | "error" | "errors" => report.failed += count,
            "skipped" | "ignored" | "pending" | "todo" | "xfailed" | "deselected" => report.skipped += count,
            _ => {}
        }
    }
    report
}

/// Counts behind words: `Tests run: 5, Failures: 1`.
fn number_after(line: &str, word: &str) -> u64 {
    let Some(at) = line.find(word) else { return 0 };
    let rest = line[at + word.len()..].trim_start_matches([':', ' ', '=']);
    rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn read_unittest(lines: &[&str]) -> Option<TestReport> {
    let at = lines.iter().rposition(|line| line.starts_with("Ran ") && line.contains(" test"))?;
    let ran = number_after(lines[at], "Ran");
    let verdict = lines[at..].iter().find(|line| line.starts_with("OK") || line.starts_with("FAILED"))?;
    let failed = number_after(verdict, "failures") + number_after(verdict, "errors");
    let skipped = number_after(verdict, "skipped");
    Some(TestReport { passed: ran.saturating_sub(failed + skipped), failed, skipped, names: Vec::new() })
}

fn read_maven(lines: &[&str]) -> Option<TestReport> {
    let line = lines.iter().rev().find(|line| line.contains("Tests run:"))?;
    let (ran, skipped) = (number_after(line, "Tests run"), number_after(line, "Skipped"));
    let failed = number_after(line, "Failures") + number_after(line, "Errors");
    Some(TestReport { passed: ran.saturating_sub(failed + skipped), failed, skipped, names: Vec::new() })
}

fn read_phpunit(lines: &[&str]) -> Option<TestReport> {
    if let Some(line) = lines.iter().rev().find(|line| line.starts_with("OK (") && line.contains("assertion")) {
        return Some(TestReport { passed: number_after(line, "OK ("), ..TestReport::default() });
    }
    let line = lines.iter().rev().find(|line| line.starts_with("Tests: ") && line.contains("Assertions: "))?;
    let (ran, skipped) = (number_after(line, "Tests"), number_after(line, "Skipped"));
    let failed = number_after(line, "Failures") + number_after(line, "Errors");
    Some(TestReport { passed: ran.saturating_sub(failed + skipped), failed, skipped, names: Vec::new() })
}

fn read_ctest(lines: &[&str]) -> Option<TestReport> {
    let line = lines.iter().rev().find(|line| line.contains("% tests passed,"))?;
    let rest = line.split_once("tests passed,").map_or("", |(_, rest)| rest).trim();
    let failed = rest.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
    Some(TestReport { passed: number_after(line, "out of").saturating_sub(failed), failed, ..TestReport::default() })
}

fn read_rspec(line: &str) -> TestReport {
    let ran = line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    let report = read_word_counts(line);
    TestReport { passed: ran.saturating_sub(report.failed + report.skipped), ..report }
}

fn read_completed(line: &str) -> TestReport {
    let ran = line.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    let report = read_word_counts(line);
    TestReport { passed: ran.saturating_sub(report.failed + report.skipped), ..report }
}

/// Counts on lines of their own: `5 passing`, `# pass 4`, `[ 3 tests successful ]`.
fn read_listed(lines: &[&str]) -> Option<TestReport> {
    let mut report = TestReport::default();
    let mut seen = false;
    for line in lines {
        let line = line.trim_start_matches(['#', 'ℹ', '[', ' ', '✔', '✖']).trim_end_matches([']', ' ']);
        let words: Vec<&str> = line.split_whitespace().collect();
        let (count, word) = match words.as_slice() {
            [count, "tests", word] => (count.parse::<u64>(), *word),
            [first, second, ..] if first.bytes().all(|byte| byte.is_ascii_digit()) => (first.parse(), *second),
            [word, count] => (count.parse(), *word),
            _ => continue,
        };
        let Ok(count) = count else { continue };
        match word {
            "passing" | "pass" | "successful" => report.passed = count,
            "failing" | "fail" | "failed" => report.failed = count,
            "pending" | "skipped" | "todo" => report.skipped += count,
            _ => continue,
        }
        seen = true;
    }
    seen.then_some(report)
}

/// Tests where they are told one by one, else packages.
fn read_go(lines: &[&str]) -> Option<TestReport> {
    let count = |start: &str| lines.iter().filter(|line| line.starts_with(start)).count() as u64;
    let (passed, failed, skipped) = (count("--- PASS:"), count("--- FAIL:"), count("--- SKIP:"));
    if passed + failed > 0 {
        return Some(TestReport { passed, failed, skipped, names: Vec::new() });
    }
    let (ok, not_ok) = (count("ok  \t") + count("ok \t"), count("FAIL\t"));
    (ok + not_ok > 0).then(|| TestReport { passed: ok, failed: not_ok, ..TestReport::default() })
}

/// The names of tests that failed, as runners list them.
fn failed_names(lines: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in lines {
        let name = line
            .strip_prefix("test ")
            .and_then(|rest| rest.strip_suffix("... FAILED"))
            .or_else(|| {
                line.strip_prefix("FAILED ")
                    .filter(|rest| rest.contains("::"))
                    .map(|rest| rest.split(" - ").next().unwrap_or(rest))
            })
            .or_else(|| line.strip_prefix("--- FAIL: ").map(|rest| rest.split(" (").next().unwrap_or(rest)))
            .or_else(|| line.strip_prefix("● "))
            .or_else(|| line.strip_prefix("not ok ").and_then(|rest| rest.split_once(" - ")).map(|(_, name)| name))
            .or_else(|| line.strip_prefix("rspec ").map(|rest| rest.split(" # ").next().unwrap_or(rest)))
            .or_else(|| line.strip_prefix("FAIL: ").map(|rest| rest.split(" (").next().unwrap_or(rest)))
            .or_else(|| line.strip_prefix("FAIL  "))
            .or_else(|| line.strip_prefix("FAIL [").and_then(|rest| rest.split_once("] ")).map(|(_, name)| name));
        let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) else { continue };
        let name = one_line(name, 80);
        if !names.contains(&name) {
            names.push(name);
        }
        if names.len() == MAX_NAMES {
            break;
        }
    }
    names
}
