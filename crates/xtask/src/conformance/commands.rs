//! Commands of ours in the real clients: installed as a user installs them, typed into the client's own interface, and
//! found in the request that it sends to its model. The session is saved then, and gone on with: it must be known which
//! command it was begun with.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carryover_agents::{CommandFiles, all_facts};
use carryover_testkit::client::{Client, ClientError, Launch, RUN_LIMIT};
use carryover_testkit::model::RequestKind;
use carryover_testkit::request::flat_text;
use carryover_testkit::scenario::Source;
use serde_json::Value;

use super::hooks::stage::{Stage, wait_until};
use super::plan::{self, Options};
use super::{ConformanceError, tier, walk};

/// A command, and words of its text that nobody else says.
const COMMANDS: [(&str, &str); 2] = [
    ("workspace.brainstorm", "Open the field before you narrow it"),
    ("workspace.stop-conversation", "Tell the user what it wrote and what it masked"),
];

/// What is typed behind a command; nobody else says it.
const TOPIC: &str = "Topic731Word";

/// How long the first return may take before it was a yes to a completion.
const COMPLETION_TIME: Duration = Duration::from_secs(10);

/// Runs every client that keeps commands in files and whose interface can be driven.
pub(super) fn run_walks(options: &Options) -> Result<(), ConformanceError> {
    // One after the other: an interface misses keys where several are drawn at once.
    let options = &Options { jobs: 1, ..options.clone() };
    let clients = tier::Tier::new(false).list_newest();
    let is_meant = |client: &Source| {
        let has_commands = find_commands(client).is_some() && client.lab.interface_ready_text().is_some();
        let is_named = |filter: &Option<String>| plan::matches_filter(filter.as_ref(), &client.label());
        has_commands && is_named(&options.from) && is_named(&options.to)
    };
    let clients: Vec<Source> = clients.into_iter().filter(is_meant).collect();
    if clients.is_empty() {
        return Err(ConformanceError::NothingToRun);
    }
    let rows = walk::run_rows(options, "commands", &clients, plan::client_name, |kind| run_case(options, kind));
    walk::check_rows(&rows)
}

fn find_commands(kind: &Source) -> Option<&'static CommandFiles> {
    all_facts().find(|facts| facts.id == kind.lab.id)?.commands
}

fn run_case(options: &Options, kind: &Source) -> Result<Vec<String>, ConformanceError> {
    let Some(files) = find_commands(kind) else { return Ok(Vec::new()) };
    let client = plan::install_client(kind, options)?;
    let stage = Stage::prepare(options, &[(kind, &client)], &["--commands"])?;
    let carryover = Launch::new(&options.carryover, &stage.sandbox.project).env(stage.sandbox.base_env(&[&client]));
    let mut findings = Vec::new();
    for (name, words) in COMMANDS {
        let typed = files.typed_name(name);
        let request = type_command(&stage, kind, &client, &format!("{typed} {TOPIC}"))?;
        let text = flat_text(&request);
        if !text.contains(words) {
            findings.push(format!("{}: the text of {typed} is not in its request", client.label()));
        } else if !text.contains(&format!("save --source {}", kind.lab.id)) {
            findings.push(format!("{}: {typed} does not say how to save", client.label()));
        }
        if name == COMMANDS[0].0 {
            findings.extend(check_conversation(&stage, &carryover, kind, (files, name, words))?);
        }
    }
    carryover.args(["uninstall", "--yes"]).run_to_success(RUN_LIMIT)?;
    let own = files.file_name(COMMANDS[0].0);
    if let Some(left) = find_file(&stage.sandbox.home, &own) {
        findings.push(format!("{}: {} is still there", client.label(), left.display()));
    }
    Ok(findings)
}

/// Saves the session that was begun with a command, goes on with it, and tells what is not known of the command.
fn check_conversation(
    stage: &Stage<'_>,
    carryover: &Launch,
    kind: &Source,
    (files, name, words): (&CommandFiles, &str, &str),
) -> Result<Vec<String>, ConformanceError> {
    let agent = kind.lab.id;
    let run = |args: &[&str]| carryover.clone().args(args.iter().copied()).run_to_success(RUN_LIMIT);
    let saved: Value =
        serde_json::from_str(&run(&["save", "--source", agent, "--json"])?.stdout).map_err(ClientError::from)?;
    let text_of = |field: &str| saved[field].as_str().unwrap_or_default();
    let kept = fs_err::read_to_string(Path::new(text_of("folder")).join(".session/session.json"))?;
    let kept: Value = serde_json::from_str(&kept).map_err(ClientError::from)?;
    let config = &kept["agent_config"];
    let mut findings = Vec::new();
    let typed = files.typed_name(name);
    let known = config["command"].as_str().map(|command| files.typed_name(command.trim_start_matches('/')));
    if known.as_ref() != Some(&typed) || config["arguments"] != TOPIC || config["system_prompt_hash"].is_null() {
        findings.push(format!("{}: saved as begun with {config}, and not with {typed} {TOPIC}", kind.label()));
    }
    if Some(text_of("conversation_type")) != name.rsplit('.').next() {
        findings.push(format!("{}: saved as of type {}", kind.label(), text_of("conversation_type")));
    }
    run(&["resume", text_of("conversation_id"), "--target", agent, "--prompt", "--print"])?;
    let prompt = fs_err::read_to_string(stage.sandbox.project.join(".carryover/RESUME.md"))?;
    let places = [words, "[RESUMED CONVERSATION]", "[END RESUMED CONTEXT]"].map(|words| prompt.find(words));
    if places.contains(&None) || !places.is_sorted() {
        findings.push(format!("{}: the text of {typed} is not where it goes on", kind.label()));
    }
    Ok(findings)
}

/// A file below a folder whose path ends so.
fn find_file(folder: &Path, end: &Path) -> Option<PathBuf> {
    let entries = fs_err::read_dir(folder).ok()?.flatten();
    entries.into_iter().find_map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => find_file(&entry.path(), end),
        Ok(_) => entry.path().ends_with(end).then(|| entry.path()),
        Err(_) => None,
    })
}

/// The first request that holds what was typed behind the command.
fn type_command(stage: &Stage<'_>, kind: &Source, client: &Client, line: &str) -> Result<Value, ClientError> {
    let n_before = stage.server.requests(RequestKind::Main).len();
    let find = || {
        let later = stage.server.requests(RequestKind::Main).into_iter().skip(n_before);
        later.into_iter().find(|request| flat_text(request).contains(TOPIC))
    };
    let mut terminal = client.open_interface(&stage.sandbox, &kind.setup(), stage.server.port(), None)?;
    terminal.enter_line(line)?;
    let deadline = Instant::now() + COMPLETION_TIME;
    while find().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    if find().is_none() {
        terminal.press("\r")?;
    }
    wait_until(|| find().is_some());
    terminal.wait_until_quiet();
    find().ok_or_else(|| ClientError::NoRequest { program: client.label() })
}
