//! Failures of calls, and what became of them: overcome, given up, or still in the way.

use std::collections::BTreeMap;

use super::aim::Aim;
use super::digest::{Call, Digest, short};
use super::role::{self, Role};
use super::shell::Command;
use super::{ErrorSeen, FailedApproach, Item, Voice, outcome};
use crate::transcript::{Action, Change, EntryKey, Status};

/// One thing that failed at least once.
pub(super) struct Attempt {
    /// The calls that failed, in order.
    pub(super) tries: Vec<usize>,
    pub(super) fate: Fate,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The same thing succeeded later, in this call.
    Overcome(usize),
    /// Work went on in another way.
    GivenUp,
    /// Nothing came after it that would have solved it.
    InTheWay,
}

/// Everything that failed and says something, in the order of the last failure.
pub(super) fn attempts(digest: &Digest<'_>) -> Vec<Attempt> {
    let mut tries: BTreeMap<&Aim<'_>, Vec<usize>> = BTreeMap::new();
    for (index, call) in digest.calls.iter().enumerate() {
        if call.failed && is_telling(call) {
            tries.entry(&call.aim).or_default().push(index);
        }
    }
    if tries.is_empty() {
        return Vec::new();
    }
    let solved = Solved::of(digest);
    let mut attempts: Vec<Attempt> = tries
        .into_values()
        .map(|tries| {
            let last = tries.last().copied().unwrap_or_default();
            Attempt { fate: fate(digest, last, &solved), tries }
        })
        .collect();
    attempts.sort_by_key(|attempt| attempt.tries.last().copied());
    attempts
}

/// Failures that are the harness's or a mere look are no attempts.
fn is_telling(call: &Call<'_>) -> bool {
    let Some(ended) = call.ended else { return false };
    let head = ended.text[..ended.text.floor_char_boundary(400)].to_ascii_lowercase();
    let unknown =
        ["no such tool", "unknown tool", "tool not found", "unsupported call", "is not available in this session"];
    call.role != Role::Look
        && ended.status != Status::Interrupted
        && !unknown.iter().any(|notice| head.contains(notice))
}

/// Successes, so that whether something was overcome is not searched anew for each failure.
struct Solved<'a> {
    /// The last success of the same thing.
    same: BTreeMap<Aim<'a>, usize>,
    /// The last successes of checks, by program and by what they were run on.
    checks: BTreeMap<String, BTreeMap<Vec<String>, usize>>,
    last_work: Option<usize>,
    /// The last success of each program that checks, with its kind.
    last_check: BTreeMap<String, (role::CheckKind, usize)>,
}

impl<'a> Solved<'a> {
    fn of(digest: &'a Digest<'_>) -> Self {
        let mut solved =
            Self { same: BTreeMap::new(), checks: BTreeMap::new(), last_work: None, last_check: BTreeMap::new() };
        for (index, call) in digest.calls.iter().enumerate().filter(|(_, call)| call.succeeded()) {
            solved.same.insert(call.aim.borrowed(), index);
            for path in changed(call.action) {
                solved.same.insert(Aim::change(path), index);
            }
            let role = call.role;
            if role != Role::Look {
                solved.last_work = Some(index);
            }
            if let (Role::Check, Some(line)) = (role, &call.line) {
                let (family, targets) = role::family(line);
                solved.checks.entry(family.clone()).or_default().insert(targets, index);
                solved.last_check.insert(family, (role::check_kind(line), index));
            }
        }
        solved
    }
}

fn changed(action: &Action) -> Vec<&str> {
    match action {
        Action::Write { path, .. } => vec![path],
        Action::Edit(changes) => changes.iter().map(Change::path).collect(),
        _ => Vec::new(),
    }
}

fn fate(digest: &Digest<'_>, last: usize, solved: &Solved<'_>) -> Fate {
    let call = &digest.calls[last];
    if let Some(index) = solved.same.get(&call.aim).copied().filter(|index| *index > last) {
        return Fate::Overcome(index);
    }
    let given_up = |is_later: bool| if is_later { Fate::GivenUp } else { Fate::InTheWay };
    let Some(line) = &call.line else {
        return given_up(solved.last_work.is_some_and(|index| index > last));
    };
    if call.role != Role::Check {
        return given_up(solved.last_work.is_some_and(|index| index > last));
    }
    let (family, targets) = role::family(line);
    // A later run of as much or more that passes is the proof.
    let is_proof = |on: &[String], index: usize| index > last && on.iter().all(|target| targets.contains(target));
    let proof = solved.checks.get(&family).and_then(|runs| {
        let mut runs = runs.iter().map(|(on, index)| (on.as_slice(), *index));
        runs.find(|(on, index)| is_proof(on, *index))
    });
    if let Some((_, index)) = proof {
        return Fate::Overcome(index);
    }
    let kind = role::check_kind(line);
    let mut others = solved.last_check.iter().filter(|(other, _)| **other != family);
    given_up(others.any(|(_, (known, index))| *known == kind && *index > last))
}

impl Attempt {
    fn last<'d, 'a>(&self, digest: &'d Digest<'a>) -> Option<&'d Call<'a>> {
        digest.calls.get(*self.tries.last()?)
    }

    fn cites(&self, digest: &Digest<'_>) -> Vec<EntryKey> {
        let mut cites: Vec<EntryKey> =
            self.tries.iter().rev().take(3).flat_map(|index| digest.calls[*index].cites()).collect();
        cites.sort_unstable();
        cites
    }

    /// Why it failed the last time, in the tool's words.
    fn reason(&self, digest: &Digest<'_>) -> Option<String> {
        let call = self.last(digest)?;
        let ended = call.ended?;
        let refused = [
            "doesn't want to proceed",
            "does not want to",
            "rejected by user",
            "user rejected",
            "denied by the user",
            "user denied",
            "user declined",
            "declined by user",
            "rejected by the user",
            "was rejected",
        ];
        let head = ended.text[..ended.text.floor_char_boundary(400)].to_ascii_lowercase();
        if refused.iter().any(|words| head.contains(words)) {
            return Some("the user refused it".to_owned());
        }
        let report = call.report.as_ref().filter(|report| report.failed > 0);
        if let Some(report) = report {
            let cause = outcome::cause(&ended.text).map(|cause| format!(": {cause}")).unwrap_or_default();
            return Some(short(&format!("{}{cause}", report.told()), 300));
        }
        outcome::reason(&ended.text).or_else(|| ended.exit_code.map(|code| format!("exit code {code}")))
    }

    fn told(&self, digest: &Digest<'_>) -> Option<Item> {
        let call = self.last(digest)?;
        Some(Item { text: call.told(), voice: Voice::Agent, at: call.over_at(), cites: self.cites(digest) })
    }
}

/// The newest attempts of a fate: what is older is not told anyway.
fn newest(attempts: &[Attempt], fate: Fate) -> Vec<&Attempt> {
    let mut found: Vec<&Attempt> = attempts.iter().rev().filter(|attempt| attempt.fate == fate).take(120).collect();
    found.reverse();
    found
}

/// What was given up.
pub(super) fn given_up(digest: &Digest<'_>, attempts: &[Attempt]) -> Vec<FailedApproach> {
    let mut found: Vec<(String, FailedApproach)> = Vec::new();
    for attempt in newest(attempts, Fate::GivenUp) {
        let (Some(what), reason) = (attempt.told(digest), attempt.reason(digest)) else { continue };
        let family = attempt.last(digest).map(|call| match &call.line {
            Some(line) => line.commands().next().map(beginning).unwrap_or_default(),
            None => call.aim.to_string(),
        });
        let key = format!("{}\n{}", family.unwrap_or_default(), reason.as_deref().unwrap_or_default());
        let tries = attempt.tries.len();
        // The same failure of a slightly other command is a retry.
        match found.iter_mut().find(|(known, approach)| *known == key && approach.reason.is_some()) {
            Some((_, known)) => {
                known.tries += tries;
                known.what.cites.extend(what.cites);
            }
            None => found.push((key, FailedApproach { what, reason, tries })),
        }
    }
    found.into_iter().map(|(_, approach)| approach).collect()
}

/// The program of a command and its first argument.
fn beginning(command: Command<'_>) -> String {
    [command.program].into_iter().chain(command.arguments.take(1)).collect::<Vec<_>>().join(" ")
}

/// What is still in the way.
pub(super) fn in_the_way(digest: &Digest<'_>, attempts: &[Attempt]) -> Vec<Item> {
    newest(attempts, Fate::InTheWay).into_iter().filter_map(|attempt| line(digest, attempt)).collect()
}

/// `command: why`, quoted from the tool.
fn line(digest: &Digest<'_>, attempt: &Attempt) -> Option<Item> {
    let told = attempt.told(digest)?;
    let text = match attempt.reason(digest) {
        Some(reason) => format!("{}: {reason}", told.text),
        None => told.text,
    };
    Some(Item { text: short(&text, 400), voice: Voice::Tool, ..told })
}

/// Every failure with what made it go away.
pub(super) fn errors(digest: &Digest<'_>, attempts: &[Attempt]) -> Vec<ErrorSeen> {
    const MANY: usize = 40;
    let extra = attempts.len().saturating_sub(MANY);
    let told = attempts.iter().skip(extra).filter_map(|attempt| {
        let what = line(digest, attempt)?;
        let resolution = match attempt.fate {
            Fate::Overcome(success) => resolution(digest, attempt, success),
            _ => None,
        };
        Some(ErrorSeen { what, resolution })
    });
    told.collect()
}

/// What was changed between the last failure and the success.
fn resolution(digest: &Digest<'_>, attempt: &Attempt, success: usize) -> Option<Item> {
    let last = attempt.tries.last().copied()?;
    let roots = digest.roots();
    let mut edited: Vec<String> = Vec::new();
    for call in digest.calls.get(last + 1..success)?.iter().filter(|call| call.succeeded()) {
        for path in changed(call.action) {
            let path = roots.relative(path).to_owned();
            if !edited.contains(&path) {
                edited.push(path);
            }
        }
    }
    let call = &digest.calls[success];
    let told = call.told();
    let text = match (edited.is_empty(), edited.len() > 4) {
        (true, _) => format!("succeeded later: {told}"),
        (false, false) => format!("after changing {}: {told} succeeded", edited.join(", ")),
        (false, true) => {
            format!("after changing {} and {} more: {told} succeeded", edited[..4].join(", "), edited.len() - 4)
        }
    };
    Some(Item { text: short(&text, 300), voice: Voice::Agent, at: call.over_at(), cites: call.cites() })
}
