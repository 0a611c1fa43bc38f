//! What must not happen to the client that starts, and that a compaction is told before it happens.

use std::time::Duration;

use carryover_testkit::client::{Client, ClientError};
use carryover_testkit::model::{Hold, RequestKind, Turn};
use carryover_testkit::request::flat_text;
use carryover_testkit::scenario::{Delegation, Source};
use fs_err as fs;
use serde_json::Value;

use super::Arrival;
use super::stage::{NEXT_PROMPT, Stage, WORDS, holds_words, wait_until};

/// What a client answers without a terminal, so that it can be found again.
const HEADLESS_PROMPT: &str = "Say something short.";

/// Nothing is injected without a terminal, in a session that goes on, or in another project.
pub(super) fn check_negatives(
    stage: &Stage<'_>,
    (from, first): (&Source, &Client),
    (kind, client): (&Source, &Client),
) -> Result<Vec<String>, ClientError> {
    let mut findings = Vec::new();
    // The handoff is the client's own by now; only another one's would be seen to be injected.
    let publish_again = || {
        stage.work_and_die(from, first)?;
        Ok::<_, ClientError>((!stage.await_handoff()).then(|| format!("{}: no handoff the next time", first.label())))
    };
    findings.extend(publish_again()?);
    let elsewhere = stage.type_prompt_in(&stage.other_project(), kind, client, None)?;
    // A pointer says nothing of any session, and the client's own may have brought it there by now.
    if holds_words(&elsewhere) {
        findings.push(format!("{}: the handoff is in another project", client.label()));
    }
    // The others read the file whenever they start.
    if Arrival::of_lab(client.lab) != Arrival::Injected {
        return Ok(findings);
    }
    let headless = prompt_headless(stage, kind, client)?;
    if headless.iter().any(holds_words) {
        findings.push(format!("{}: the handoff is injected without a terminal", client.label()));
    }
    let session_id = stage.carryover().only_session(client, client)?;
    findings.extend(publish_again()?);
    let resumed = stage.type_first_prompt(kind, client, Some(&session_id))?;
    if !flat_text(&resumed).contains(HEADLESS_PROMPT) {
        findings.push(format!("{}: another session was resumed than was meant", client.label()));
    }
    if holds_words(&resumed) {
        findings.push(format!("{}: the handoff is injected into a session that goes on", client.label()));
    }
    Ok(findings)
}

/// A session of one prompt without a terminal.
fn prompt_headless(stage: &Stage<'_>, kind: &Source, client: &Client) -> Result<Vec<Value>, ClientError> {
    let n_before = stage.server.requests(RequestKind::Main).len();
    let launch = client.prepared_prompt(&stage.sandbox, &kind.setup(), stage.server.port(), HEADLESS_PROMPT);
    launch.run_to_success(client.run_limit())?;
    Ok(stage.server.requests(RequestKind::Main).split_off(n_before))
}

/// Has the model answer the next prompt by starting a sub-agent, where the client has a tool for that.
pub(super) fn script_sub_agent(stage: &Stage<'_>, kind: &Source) -> bool {
    let Some(Delegation { main, sub }) = Delegation::new(kind, &stage.sandbox.project) else { return false };
    stage.server.script_replies(RequestKind::Main, main);
    stage.server.script_replies(RequestKind::SubAgent, sub);
    true
}

/// The sub-agent that was to be started is told nothing.
pub(super) fn check_sub_agent(stage: &Stage<'_>, client: &Client) -> Option<String> {
    // A client that asked its user has not asked for all.
    stage.server.drop_script();
    let requests = stage.server.requests(RequestKind::SubAgent);
    let finding = if requests.is_empty() {
        "no sub-agent was started"
    } else if requests.iter().any(holds_words) {
        "the handoff is in a sub-agent's request"
    } else {
        return None;
    };
    Some(format!("{}: {finding}", client.label()))
}

/// When the model is asked for a summary, the handoff holds what was asked before.
pub(super) fn check_compaction(
    stage: &Stage<'_>,
    kind: &Source,
    client: &Client,
    command: &str,
) -> Result<Vec<String>, ClientError> {
    let mut terminal = client.open_interface(&stage.sandbox, &kind.setup(), stage.server.port(), None)?;
    terminal.enter_line(&format!("{NEXT_PROMPT} Go on with {WORDS}."))?;
    let has_answered = wait_until(|| !stage.server.requests(RequestKind::Main).is_empty());
    terminal.wait_until_quiet();
    if !has_answered || !stage.await_handoff() {
        return Ok(vec![format!("{}: nothing is published before the compaction", client.label())]);
    }
    // What was published so far does not count.
    fs::remove_file(stage.handoff_path())?;
    let hold = Hold::default();
    stage
        .server
        .script_replies(RequestKind::Compaction, [Turn::from_text("<summary>So far.</summary>").held_by(&hold)]);
    terminal.enter_line(command)?;
    let is_asked = || !stage.server.requests(RequestKind::Compaction).is_empty();
    if !terminal_takes_command(is_asked) {
        // The first return may have been taken for a yes to a completion.
        terminal.press("\r")?;
    }
    let was_asked = wait_until(is_asked);
    let is_published = was_asked && stage.await_handoff();
    hold.release();
    terminal.wait_until_quiet();
    Ok(match (was_asked, is_published) {
        (false, _) => vec![format!("{} was not compacted", client.label())],
        (true, false) => vec![format!("{}: nothing is published before the compaction", client.label())],
        (true, true) => Vec::new(),
    })
}

/// How long a command may take before it is entered again.
const COMMAND_TIME: Duration = Duration::from_secs(10);

fn terminal_takes_command(is_taken: impl Fn() -> bool) -> bool {
    let deadline = std::time::Instant::now() + COMMAND_TIME;
    while std::time::Instant::now() < deadline {
        if is_taken() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    false
}
