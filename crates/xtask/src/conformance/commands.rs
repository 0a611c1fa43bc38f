//! Commands of ours in the real clients: installed as a user installs them, typed into the client's own interface, and
//! found in the request that it sends to its model. The session is saved then, and gone on with: it must be known which
//! command it was begun with.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carryover_agents::{CommandFiles, CommandForm, all_facts};
use carryover_engine::install::own_commands::list_commands;
use carryover_testkit::client::{Client, ClientError, Launch, RUN_LIMIT, Terminal};
use carryover_testkit::model::RequestKind;
use carryover_testkit::request::flat_text;
use carryover_testkit::scenario::Source;
use serde_json::Value;

use super::hooks::stage::{Stage, wait_until};
use super::plan::{self, Options};
use super::walk::WalkOutcome;
use super::walk_page::TableCells;
use super::{ConformanceError, commands_page, tier, walk};

/// The one that the session is begun with, and the type of conversation that it stands for.
const BEGUN_WITH: &str = "workspace.brainstorm";
const TYPE: &str = "brainstorm";

/// How long the first return may take before it was a yes to a completion.
const COMPLETION_TIME: Duration = Duration::from_secs(10);

/// How long a client has to show a command that is typed.
const LISTING_TIME: Duration = Duration::from_secs(5);

/// The key that deletes what stands before the cursor.
const DELETE_LINE: &str = "\u{15}";

/// So much of a description is shown, whatever else stands in the line.
const DESCRIPTION_START_LETTERS: usize = 20;

/// What was seen of the commands in one client.
#[derive(Default)]
pub(super) struct CommandsOutcome {
    n_commands: usize,
    /// Shown by the client, with their description, while they were typed.
    n_listed: usize,
    /// Whose whole text was in the request.
    n_sent: usize,
    findings: Vec<String>,
}

impl WalkOutcome for CommandsOutcome {
    fn findings(&self) -> Vec<String> {
        self.findings.clone()
    }
}

impl TableCells for CommandsOutcome {
    const COUNT: usize = 3;

    fn cells(&self) -> String {
        let Self { n_commands, n_listed, n_sent, .. } = self;
        format!("{n_commands} | {n_listed} | {n_sent} |")
    }
}

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
    commands_page::PAGE.check_or_write(options, &rows)?;
    walk::check_rows(&rows)
}

fn find_commands(kind: &Source) -> Option<&'static CommandFiles> {
    all_facts().find(|facts| facts.id == kind.lab.id)?.commands
}

fn run_case(options: &Options, kind: &Source) -> Result<CommandsOutcome, ConformanceError> {
    let Some(files) = find_commands(kind) else { return Ok(CommandsOutcome::default()) };
    let client = plan::install_client(kind, options)?;
    let stage = Stage::prepare(options, &[(kind, &client)], &["--commands"])?;
    let carryover = Launch::new(&options.carryover, &stage.sandbox.project).env(stage.sandbox.base_env(&[&client]));
    let mut outcome = CommandsOutcome::default();
    let mut terminal = client.open_interface(&stage.sandbox, &kind.setup(), stage.server.port(), None)?;
    let (first, others): (Vec<_>, Vec<_>) = list_commands().partition(|(name, _)| *name == BEGUN_WITH);
    for (number, (name, description)) in first.into_iter().chain(others).enumerate() {
        let topic = topic_word(number);
        let typed = files.typed_name(name);
        outcome.n_commands += 1;
        let is_listed = is_listed(&mut terminal, &typed, description)?;
        outcome.n_listed += usize::from(is_listed);
        if !is_listed {
            outcome.findings.push(format!("{typed} is not shown with its description"));
        }
        let request = enter_command(&stage, &client, &mut terminal, &typed, &topic)?;
        if holds_command(&stage, files, name, &topic, &request)? {
            outcome.n_sent += 1;
        } else {
            outcome.findings.push(format!("the text of {typed} is not in its request"));
        }
    }
    drop(terminal);
    outcome.findings.extend(check_conversation(&stage, &carryover, kind, files)?);
    carryover.args(["uninstall", "--yes"]).run_to_success(RUN_LIMIT)?;
    let left = list_commands().filter_map(|(name, _)| find_file(&stage.sandbox.home, &files.file_name(name)));
    outcome.findings.extend(left.map(|left| format!("{} is still there", left.display())));
    Ok(outcome)
}

/// Nobody else says it, and no other command is given it.
fn topic_word(number: usize) -> String {
    format!("Topic{number}31Word")
}

/// Saves the session that was begun with a command, goes on with it, and tells what is not known of the command.
fn check_conversation(
    stage: &Stage<'_>,
    carryover: &Launch,
    kind: &Source,
    files: &CommandFiles,
) -> Result<Vec<String>, ConformanceError> {
    let (agent, topic, typed) = (kind.lab.id, topic_word(0), files.typed_name(BEGUN_WITH));
    let run = |args: &[&str]| carryover.clone().args(args.iter().copied()).run_to_success(RUN_LIMIT);
    let saved: Value =
        serde_json::from_str(&run(&["save", "--source", agent, "--json"])?.stdout).map_err(ClientError::from)?;
    let text_of = |field: &str| saved[field].as_str().unwrap_or_default();
    let kept = fs_err::read_to_string(Path::new(text_of("folder")).join(".session/session.json"))?;
    let kept: Value = serde_json::from_str(&kept).map_err(ClientError::from)?;
    let config = &kept["agent_config"];
    let mut findings = Vec::new();
    let known = config["command"].as_str().map(|command| files.typed_name(command.trim_start_matches('/')));
    if known.as_ref() != Some(&typed) || config["arguments"] != topic.as_str() || config["system_prompt_hash"].is_null()
    {
        findings.push(format!("saved as begun with {config}, and not with {typed} {topic}"));
    }
    if text_of("conversation_type") != TYPE {
        findings.push(format!("saved as of type {}", text_of("conversation_type")));
    }
    run(&["resume", text_of("conversation_id"), "--target", agent, "--prompt", "--print"])?;
    let prompt = fs_err::read_to_string(stage.sandbox.project.join(".carryover/RESUME.md"))?;
    let text = command_text(stage, files, BEGUN_WITH, &topic)?.unwrap_or_default();
    let first_line = text.trim().lines().next().unwrap_or(&typed);
    let places = [first_line, "[RESUMED CONVERSATION]", "[END RESUMED CONTEXT]"].map(|words| prompt.find(words));
    if places.contains(&None) || !places.is_sorted() {
        findings.push(format!("the text of {typed} is not where it goes on"));
    }
    Ok(findings)
}

/// Types a command, looks whether the client shows what it is, and takes it back.
fn is_listed(terminal: &mut Terminal, typed: &str, description: &str) -> Result<bool, ClientError> {
    let start: String = description.chars().take(DESCRIPTION_START_LETTERS).collect();
    terminal.press(typed)?;
    let is_listed = terminal.is_shown_within(&start, LISTING_TIME);
    // Typed in one go with what follows it, as what a list of completions makes of a blank differs.
    terminal.press(DELETE_LINE)?;
    terminal.wait_until_quiet();
    Ok(is_listed)
}

/// Whether a request holds all of a command's text, as the client's own form of it is installed.
fn holds_command(
    stage: &Stage<'_>,
    files: &CommandFiles,
    name: &str,
    topic: &str,
    request: &Value,
) -> Result<bool, ConformanceError> {
    let Some(prompt) = command_text(stage, files, name, topic)? else { return Ok(false) };
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(squeeze(&flat_text(request)).contains(&squeeze(&prompt)))
}

/// What a command that is installed says with something typed behind it.
fn command_text(
    stage: &Stage<'_>,
    files: &CommandFiles,
    name: &str,
    topic: &str,
) -> Result<Option<String>, ConformanceError> {
    let Some(file) = find_file(&stage.sandbox.home, &files.file_name(name)) else { return Ok(None) };
    // A skill is sent as it is, beside the line that was typed.
    let typed = if files.form == CommandForm::Skill { "" } else { topic };
    Ok(files.form.prompt_text(&fs_err::read_to_string(file)?, typed))
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

/// Enters a command with a word behind it; the answer is the first request that holds the word.
fn enter_command(
    stage: &Stage<'_>,
    client: &Client,
    terminal: &mut Terminal,
    typed: &str,
    topic: &str,
) -> Result<Value, ClientError> {
    let find =
        || stage.server.requests(RequestKind::Main).into_iter().find(|request| flat_text(request).contains(topic));
    terminal.enter_line(&format!("{typed} {topic}"))?;
    let deadline = Instant::now() + COMPLETION_TIME;
    while find().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    if find().is_none() {
        terminal.press("\r")?;
    }
    wait_until(|| find().is_some());
    // The answer is shown before the next command is typed.
    terminal.wait_until_quiet();
    find().ok_or_else(|| ClientError::NoRequest { program: client.label() })
}
