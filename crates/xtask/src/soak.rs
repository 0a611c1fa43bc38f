//! `cargo xtask soak`: a day of typical use in minutes, without a real client. Sessions of every agent begin, grow, are
//! compacted, meet limits, are rewritten and deleted, while the daemon is killed and started again and hooks are called;
//! then what it kept is held against what the stores hold. The same seed does the same again.

mod check;
mod daemon;
mod session;

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use carryover_agents::{AGENTS, HookKind};
use carryover_testkit::agents::LABS;
use carryover_testkit::lab::Lab;
use serde_json::json;

use crate::bench::corpus::Random;
use crate::bench::fixture_corpus::Fixtures;
use crate::test::StepOutcome;
use crate::write_line;
use daemon::Home;
use session::Session;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How long a day is.
#[derive(Clone, Copy)]
struct Scale {
    /// Every agent has a session in every project.
    projects: u64,
    hours: u64,
    steps_per_hour: usize,
    /// After so many hours everybody rests, and ledger and stores are compared.
    rest_every: u64,
    session_bytes: usize,
}

const LONG: Scale = Scale { projects: 34, hours: 24, steps_per_hour: 150, rest_every: 6, session_bytes: 48 << 10 };
const SHORT: Scale = Scale { projects: 6, hours: 12, steps_per_hour: 60, rest_every: 4, session_bytes: 24 << 10 };
const DEFAULT_SEED: u64 = 16;

/// One hour in so many the daemon is killed in the middle of it.
const KILLED_ONE_IN: u64 = 3;
/// One hour in so many nobody watches.
const UNWATCHED_ONE_IN: u64 = 6;

/// What happened, for the figures at the end.
#[derive(Default)]
struct Day {
    grown: u64,
    rewritten: u64,
    deleted: u64,
    hooks: u64,
    kills: u64,
}

pub(crate) fn run_with_args(root: &Path, words: &[&str]) -> Result<()> {
    let (mut scale, mut seed) = (LONG, DEFAULT_SEED);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match *word {
            "--short" => scale = SHORT,
            "--seed" => seed = words.next().ok_or("--seed needs a number")?.parse()?,
            _ => return Err(format!("{word} is no option of soak: --short, --seed N").into()),
        }
    }
    run_day(root, scale, seed)
}

/// The short day, as a step of the tests.
pub(crate) fn check_quickly(root: &Path) -> Result<StepOutcome> {
    run_day(root, SHORT, DEFAULT_SEED)?;
    Ok(StepOutcome::Passed)
}

fn run_day(root: &Path, scale: Scale, seed: u64) -> Result<()> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    if !Command::new(cargo).args(["build", "--quiet", "--package", "carryover"]).current_dir(root).status()?.success() {
        return Err("the build failed".into());
    }
    let start = Instant::now();
    let home = Home::create(&root.join("target/debug/carryover"), scale.projects)?;
    let mut sessions = make_sessions(root, &home, scale)?;
    let mut random = Random::new(seed);
    let mut day = Day::default();
    let mut daemon = home.start_daemon()?;
    for hour in 1..=scale.hours {
        let is_unwatched = random.next_index(UNWATCHED_ONE_IN) == 0;
        let is_killed = is_unwatched || random.next_index(KILLED_ONE_IN) == 0;
        let killed_at = if is_unwatched { 0 } else { random.next_index(scale.steps_per_hour as u64) };
        for step in 0..scale.steps_per_hour {
            if is_killed && step == killed_at {
                daemon.kill()?;
                day.kills += 1;
                if !is_unwatched {
                    daemon = home.start_daemon()?;
                }
            }
            let number = random.next_index(sessions.len() as u64);
            do_step(&home, &mut sessions[number], &mut random, &mut day)?;
        }
        if is_unwatched {
            daemon = home.start_daemon()?;
        }
        if hour % scale.rest_every == 0 || hour == scale.hours {
            let compared = check::compare_when_quiet(&home, &sessions)?;
            write_line(&format!("hour {hour}: {compared}, after {} s", start.elapsed().as_secs()));
        }
    }
    let handoffs = check::check_handoffs(&home, scale.projects)?;
    check::check_spool(&home)?;
    daemon.end()?;
    let Day { grown, rewritten, deleted, hooks, kills } = day;
    write_line(&format!(
        "{} sessions of {} agents grew {grown} times, {rewritten} were rewritten and {deleted} deleted; {hooks} hooks were called, \
         and the daemon was killed {kills} times: the ledger equals the stores, and {handoffs} projects have a handoff of their own",
        sessions.len(),
        LABS.len(),
    ));
    Ok(())
}

fn make_sessions(root: &Path, home: &Home, scale: Scale) -> Result<Vec<Session>> {
    let mut sessions = Vec::new();
    for lab in LABS {
        let fixtures = Fixtures::load(root, lab.id)?;
        for number in 0..scale.projects {
            sessions.push(Session::prepare(home, lab, &fixtures, number, scale.session_bytes)?);
        }
    }
    Ok(sessions)
}

/// Something that a client does.
fn do_step(home: &Home, session: &mut Session, random: &mut Random, day: &mut Day) -> Result<()> {
    match random.next_index(40) {
        0 => day.deleted += u64::from(session.delete()?),
        1 | 2 => day.rewritten += u64::from(session.rewrite()?),
        3..7 => day.hooks += u64::from(call_hook(home, session, random)?),
        _ => day.grown += u64::from(session.grow(1 + random.next_index(6))?),
    }
    Ok(())
}

/// Calls one of the agent's hooks, where it has some, with what most agents tell.
fn call_hook(home: &Home, session: &Session, random: &mut Random) -> Result<bool> {
    let Some(events) = hook_events(session.lab) else { return Ok(false) };
    let (event, kind) = events[random.next_index(events.len() as u64)];
    let payload = json!({
        "session_id": session.id, "sessionId": session.id, "cwd": home.project(session.number), "hook_event_name": event,
        "transcript_path": session.path, "source": "startup", "reason": "other",
    });
    let words = home.call_hook(session.lab.id, event, &payload.to_string())?;
    if kind != HookKind::SessionStart && !words.is_empty() {
        return Err(format!("the hook of {} said something at {event}", session.lab.id).into());
    }
    check::check_words(&words, session.number)?;
    Ok(true)
}

fn hook_events(lab: &Lab) -> Option<Vec<(&'static str, HookKind)>> {
    let facts = AGENTS.iter().find(|agent| agent.facts().id == lab.id)?.facts();
    let events = facts.hooks?.resolve(facts, None).events;
    (!events.is_empty()).then(|| events.iter().map(|binding| (binding.event, binding.kind)).collect())
}
