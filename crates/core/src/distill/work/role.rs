//! The purpose of a call: to look, to change, to check, or to do something.

use super::shell::{Command, CommandLine};
use super::test_run;
use crate::transcript::Action;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Reads and searches; a failure of one says little.
    Look,
    Change,
    /// Tests, builds, linters: their last result stands until they are run again.
    Check,
    Do,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckKind {
    Test,
    Build,
    Lint,
}

/// The purpose of a call; where it runs commands, by the line that it runs.
pub(super) fn of_action(action: &Action, line: Option<&CommandLine<'_>>) -> Role {
    match action {
        Action::Read { .. }
        | Action::View { .. }
        | Action::Grep { .. }
        | Action::Glob { .. }
        | Action::Plan(_)
        | Action::Step(_) => Role::Look,
        Action::Write { .. } | Action::Edit(_) => Role::Change,
        Action::Fetch { .. } | Action::Delegate { .. } | Action::Ask(_) | Action::Propose { .. } | Action::Other => {
            Role::Do
        }
        Action::Run { .. } => line.map_or(Role::Do, of_command_line),
    }
}

fn of_command_line(line: &CommandLine<'_>) -> Role {
    let mut looks = None;
    for command in line.commands() {
        if is_check(command) {
            return Role::Check;
        }
        looks = Some(looks.unwrap_or(true) && is_look(command));
    }
    if looks == Some(true) { Role::Look } else { Role::Do }
}

fn is_look(command: &Command<'_>) -> bool {
    let mut words = command.arguments();
    match command.name() {
        "ls" | "cat" | "head" | "tail" | "find" | "grep" | "rg" | "which" | "pwd" | "wc" | "stat" | "file" | "tree"
        | "echo" | "cd" | "fd" | "less" | "diff" | "test" | "[" | "sleep" | "type" | "true" | "printenv" | "env"
        | "ps" | "pgrep" | "df" | "du" | "date" | "whoami" | "sort" | "uniq" | "nl" => true,
        "sed" => !words.any(|word| word.starts_with("-i")),
        "git" => words.next().is_some_and(|sub| {
            matches!(
                sub,
                "status" | "log" | "show" | "diff" | "branch" | "blame" | "rev-parse" | "ls-files" | "remote" | "grep"
            )
        }),
        _ => {
            words.next().is_some_and(|flag| matches!(flag, "--version" | "--help" | "-V" | "-h"))
                && words.next().is_none()
        }
    }
}

fn is_check(command: &Command<'_>) -> bool {
    test_run::runs_tests(command) || is_build(command) || is_lint(command)
}

/// Which kind of check a command is.
pub(super) fn check_kind(line: &CommandLine<'_>) -> CheckKind {
    if test_run::has_test_command(line) {
        CheckKind::Test
    } else if line.commands().any(|command| is_lint(command)) {
        CheckKind::Lint
    } else {
        CheckKind::Build
    }
}

fn is_build(command: &Command<'_>) -> bool {
    let mut words = command.arguments();
    match command.name() {
        "cargo" => command.has_argument(&["build", "check", "b", "c", "doc"]),
        "go" => command.has_argument(&["build", "vet", "install"]),
        "npm" | "pnpm" | "yarn" | "bun" => {
            words.any(|word| word.contains("build") || word.contains("typecheck") || word.contains("type-check"))
        }
        "tsc" | "make" | "ninja" | "gcc" | "g++" | "clang" | "javac" | "rustc" | "swiftc" | "webpack" | "vite"
        | "next" | "mvn" | "gradle" | "gradlew" | "mvnw" | "bazel" | "dotnet" | "xcodebuild" => true,
        "cmake" => command.has_argument(&["--build"]),
        "docker" => command.has_argument(&["build"]),
        "npx" => words.next().is_some_and(|tool| matches!(tool, "tsc" | "webpack" | "vite")),
        _ => false,
    }
}

fn is_lint(command: &Command<'_>) -> bool {
    match command.name() {
        "eslint" | "ruff" | "mypy" | "flake8" | "pylint" | "pyright" | "prettier" | "biome" | "golangci-lint"
        | "rubocop" | "shellcheck" | "black" | "clippy" => true,
        "cargo" => command.has_argument(&["clippy", "fmt"]),
        "npm" | "pnpm" | "yarn" | "npx" | "bun" => {
            command.arguments().any(|word| word.contains("lint") || word == "prettier")
        }
        _ => false,
    }
}

/// The program of a check with its subcommand, and what it was run on.
pub(super) fn check_family(line: &CommandLine<'_>) -> (String, Vec<String>) {
    let check = line.commands().find(|command| is_check(command)).or_else(|| line.commands().next());
    let Some(check) = check else { return Default::default() };
    let mut targets = check.arguments().filter(|word| !word.starts_with('-') && !word.contains('>'));
    let has_subcommand = !matches!(
        check.name(),
        "pytest" | "jest" | "vitest" | "mocha" | "eslint" | "ruff" | "mypy" | "tsc" | "make" | "rspec" | "phpunit"
    );
    let subcommand = if has_subcommand { targets.next().unwrap_or_default() } else { "" };
    (format!("{} {subcommand}", check.name()), targets.map(str::to_owned).collect())
}
