//! What a call is for: to look, to change, to check, or to do something.

use std::borrow::Cow;

use super::shell::Command;
use super::{shell, testrun};
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

/// What a call is for; where it runs commands, by these.
pub(super) fn of(action: &Action, commands: &[Command<'_>]) -> Role {
    match action {
        Action::Read { .. }
        | Action::View { .. }
        | Action::Grep { .. }
        | Action::Glob { .. }
        | Action::Plan(_)
        | Action::Step(_) => Role::Look,
        Action::Write { .. } | Action::Edit(_) => Role::Change,
        Action::Fetch { .. } | Action::Delegate { .. } | Action::Other => Role::Do,
        Action::Run { .. } => of_commands(commands),
    }
}

fn of_commands(commands: &[Command<'_>]) -> Role {
    if is_check(commands) {
        Role::Check
    } else if !commands.is_empty() && commands.iter().all(|words| is_look(words)) {
        Role::Look
    } else {
        Role::Do
    }
}

fn is_look(words: &[Cow<'_, str>]) -> bool {
    let program = words[0].rsplit('/').next().unwrap_or_default();
    match program {
        "ls" | "cat" | "head" | "tail" | "find" | "grep" | "rg" | "which" | "pwd" | "wc" | "stat" | "file" | "tree"
        | "echo" | "cd" | "fd" | "less" | "diff" | "test" | "[" | "sleep" | "type" | "true" | "printenv" | "env"
        | "ps" | "pgrep" | "df" | "du" | "date" | "whoami" | "sort" | "uniq" | "nl" => true,
        "sed" => !words.iter().any(|word| word.starts_with("-i")),
        "git" => words.get(1).is_some_and(|sub| {
            matches!(
                sub.as_ref(),
                "status" | "log" | "show" | "diff" | "branch" | "blame" | "rev-parse" | "ls-files" | "remote" | "grep"
            )
        }),
        _ => {
            words.get(1).is_some_and(|flag| matches!(flag.as_ref(), "--version" | "--help" | "-V" | "-h"))
                && words.len() == 2
        }
    }
}

fn is_check(commands: &[Command<'_>]) -> bool {
    testrun::is_run(commands) || commands.iter().any(|words| builds(words) || lints(words))
}

/// Which kind of check a command is.
pub(super) fn check_kind(command: &str) -> CheckKind {
    if testrun::is_test(command) {
        return CheckKind::Test;
    }
    let lints = shell::commands(command).iter().any(|words| lints(words));
    if lints { CheckKind::Lint } else { CheckKind::Build }
}

fn builds(words: &[Cow<'_, str>]) -> bool {
    let program = words[0].rsplit('/').next().unwrap_or_default();
    let has = |wanted: &[&str]| words.iter().skip(1).any(|word| wanted.contains(&word.as_ref()));
    match program {
        "cargo" => has(&["build", "check", "b", "c", "doc"]),
        "go" => has(&["build", "vet", "install"]),
        "npm" | "pnpm" | "yarn" | "bun" => words
            .iter()
            .skip(1)
            .any(|word| word.contains("build") || word.contains("typecheck") || word.contains("type-check")),
        "tsc" | "make" | "ninja" | "gcc" | "g++" | "clang" | "javac" | "rustc" | "swiftc" | "webpack" | "vite"
        | "next" | "mvn" | "gradle" | "gradlew" | "mvnw" | "bazel" | "dotnet" | "xcodebuild" => true,
        "cmake" => has(&["--build"]),
        "docker" => has(&["build"]),
        "npx" => words.get(1).is_some_and(|tool| matches!(tool.as_ref(), "tsc" | "webpack" | "vite")),
        _ => false,
    }
}

fn lints(words: &[Cow<'_, str>]) -> bool {
    let program = words[0].rsplit('/').next().unwrap_or_default();
    match program {
        "eslint" | "ruff" | "mypy" | "flake8" | "pylint" | "pyright" | "prettier" | "biome" | "golangci-lint"
        | "rubocop" | "shellcheck" | "black" | "clippy" => true,
        "cargo" => words.iter().any(|word| word == "clippy" || word == "fmt"),
        "npm" | "pnpm" | "yarn" | "npx" | "bun" => {
            words.iter().skip(1).any(|word| word.contains("lint") || word == "prettier")
        }
        _ => false,
    }
}

/// The program of a check with its subcommand, and what it was run on.
pub(super) fn family(command: &str) -> (String, Vec<String>) {
    let commands = shell::commands(command);
    let is_one = |words: &&Command<'_>| is_check(std::slice::from_ref(*words));
    let Some(words) = commands.iter().find(is_one).or_else(|| commands.first()) else { return Default::default() };
    let plain: Vec<&Cow<'_, str>> =
        words.iter().skip(1).filter(|word| !word.starts_with('-') && !word.contains('>')).collect();
    let has_subcommand = !matches!(
        words[0].as_ref(),
        "pytest" | "jest" | "vitest" | "mocha" | "eslint" | "ruff" | "mypy" | "tsc" | "make" | "rspec" | "phpunit"
    );
    let program = words[0].rsplit('/').next().unwrap_or_default();
    let (sub, targets) = match plain.split_first() {
        Some((sub, targets)) if has_subcommand => (sub.as_ref(), targets),
        _ => ("", plain.as_slice()),
    };
    (format!("{program} {sub}"), targets.iter().map(ToString::to_string).collect())
}
