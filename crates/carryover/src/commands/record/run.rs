//! Runs an agent through the recording proxy.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use carryover_agents::{AGENTS, Agent, LaunchChanges, LaunchView, ModelService, SettingsView, Store, agent_by_name};
use carryover_core::plain::one_line;
use carryover_engine::client;
use carryover_engine::context::Context;
use carryover_engine::own::private;
use carryover_engine::recording::{Manifest, Recorder, RecorderSummary, Recording, Service, strip_arguments};

use super::child::{self, Ended};
use super::count_exchanges;
use crate::error::{CommandError, ErrorKind};
use crate::process_env;
use crate::proxy::{Proxy, Route, Surroundings, Upstream};
use crate::ui::{COMMAND, Ui};

const MAX_FAILURE_WIDTH: usize = 300;

/// A client that is to be run.
struct Client {
    agent: &'static dyn Agent,
    program: PathBuf,
}

pub(super) fn record_agent(ui: &mut Ui, context: &Context, words: &[String]) -> Result<(), CommandError> {
    let Some((name, args)) = words.split_first() else { return Err(CommandError::usage("an agent is missing")) };
    let client = find_client(context, name)?;
    let services = find_services(context, client.agent, args)?;
    let routes = services.iter().map(make_route).collect::<Result<_, _>>()?;
    let clock = Arc::new(process_env::make_clock(context));
    let recorder = Recorder::start(context, client.agent.facts().id, clock, |manifest| {
        manifest.project.clone_from(&context.cwd);
        manifest.argv = strip_arguments(words);
        let service =
            |service: &ModelService| Service { name: service.name.clone(), upstream: service.upstream.clone() };
        manifest.services = services.iter().map(service).collect();
    })?;
    let surroundings = Surroundings::new(&context.env);
    let proxy = Proxy::start(routes, process_env::random_token(), recorder.handle(), surroundings)?;
    let led = services.iter().enumerate().map(|(index, service)| (service, proxy.address(index)));
    let changes = LaunchChanges::new(led, &context.env);
    ui.flush()?;
    let ended = run_led(&client, args, &changes, recorder.folder());
    // What is still under way ends now, so that the recording has it.
    drop(proxy);
    let code = ended.as_ref().ok().and_then(|ended| match ended {
        Ended::Code(code) => Some(i32::from(*code)),
        Ended::Signal(_) => None,
    });
    let folder = recorder.folder().to_owned();
    let (manifest, summary) = recorder.finish(code)?;
    let told = settle(ui, context, &client, &folder, &manifest, &summary);
    let ended = ended.map_err(|error| {
        CommandError::new(ErrorKind::Io, error).with_details([format!("could not run {}", client.program.display())])
    })?;
    told?;
    match ended.exit_code() {
        0 => Ok(()),
        code => Err(CommandError::new(ErrorKind::Client(code), "the client has ended so")),
    }
}

/// The client that a word means: an agent's name, its program's, or the path of its program.
fn find_client(context: &Context, word: &str) -> Result<Client, CommandError> {
    let name = Path::new(word).file_stem().and_then(|name| name.to_str()).unwrap_or(word);
    let by_program = || AGENTS.iter().copied().find(|agent| agent.facts().binaries.contains(&name));
    let unknown = || {
        CommandError::usage(format!("`{word}` is no agent that carryover knows"))
            .with_hint("its name comes first, then its own arguments: `carryover record claude --continue`")
    };
    let agent = agent_by_name(name).or_else(by_program).ok_or_else(unknown)?;
    if agent.facts().recording.is_none() {
        return Err(refuse(agent.facts().name, "it cannot be led through a proxy for one run"));
    }
    let is_path = word.contains(std::path::MAIN_SEPARATOR);
    let program = if is_path { Some(PathBuf::from(word)) } else { client::find_agent_program(context, agent.facts()) };
    let missing = || {
        CommandError::new(ErrorKind::NoAgent, format!("{} is not installed", agent.facts().name))
            .with_hint("`carryover record PATH` runs one that is not on the PATH")
    };
    Ok(Client { agent, program: program.ok_or_else(missing)? })
}

fn refuse(name: &str, reason: &str) -> CommandError {
    CommandError::usage(format!("{name} cannot be recorded here")).with_details([reason.to_owned()])
}

/// The model services that the client would talk to.
fn find_services(
    context: &Context,
    agent: &'static dyn Agent,
    args: &[String],
) -> Result<Vec<ModelService>, CommandError> {
    let facts = agent.facts();
    let refused = |reason: &str| refuse(facts.name, reason);
    let find = facts.recording.ok_or_else(|| refused("it cannot be led through a proxy for one run"))?;
    let there = agent.stores(&context.env).into_iter().next();
    let usual = || facts.store_candidates(&context.env).into_iter().next().map(|root| Store { root });
    let store = there.or_else(usual).unwrap_or_else(|| Store { root: context.cwd.clone() });
    let settings = SettingsView { env: &context.env, store: &store, project: &context.cwd };
    find(&LaunchView { settings, args }).map_err(|reason| refused(&reason))
}

fn make_route(service: &ModelService) -> Result<Route, CommandError> {
    let parse = |address: &str| {
        Upstream::parse(address).map_err(|error| {
            CommandError::usage(format!("the address of `{}` cannot be recorded: {}", service.name, error.0))
        })
    };
    let by_header = service.by_header.map(|(name, address)| Ok::<_, CommandError>((name, parse(address)?)));
    Ok(Route { upstream: parse(&service.upstream)?, by_header: by_header.transpose()? })
}

/// Runs the client, led to other addresses; the files that it loads for that are there as long as it runs.
fn run_led(client: &Client, args: &[String], changes: &LaunchChanges, folder: &Path) -> std::io::Result<Ended> {
    let mut command = Command::new(&client.program);
    let mut written = Vec::new();
    for module in &changes.modules {
        let path = folder.join(module.file);
        private::write_file(&path, module.text.as_bytes())?;
        command.arg(module.argument).arg(&path);
        written.push(path);
    }
    command.args(&changes.args).args(args).envs(&changes.vars);
    let ended = child::run_client(&mut command);
    for path in written {
        fs_err::remove_file(path).ok();
    }
    ended
}

/// Notes what is known after the end, and tells it. A recording in which nothing is, is none.
fn settle(
    ui: &mut Ui,
    context: &Context,
    client: &Client,
    folder: &Path,
    manifest: &Manifest,
    summary: &RecorderSummary,
) -> Result<(), CommandError> {
    if let Some(trouble) = &summary.trouble {
        ui.warning(format_args!("the recording is not whole: {trouble}"))?;
    }
    if let Some(failure) = &summary.failure {
        let count = count_exchanges(usize::try_from(summary.failed).unwrap_or(usize::MAX));
        ui.warning(format_args!("no answer to {count}: {}", one_line(failure, MAX_FAILURE_WIDTH)))?;
    }
    if summary.exchanges == 0 {
        fs_err::remove_dir_all(folder)?;
        let upstreams: Vec<&str> = manifest.services.iter().map(|service| service.upstream.as_str()).collect();
        let upstreams = upstreams.join(" and ");
        let name = client.agent.facts().name;
        return Ok(ui.warning(format_args!("nothing was recorded: {name} sent no request to {upstreams}"))?);
    }
    let Some(mut recording) = Recording::open(folder)? else { return Ok(()) };
    let installed = client::find_installed(context, client.agent);
    let version = installed.filter(|installed| installed.program == client.program).and_then(|it| it.version);
    recording.manifest.client_version = version.map(|version| version.to_string());
    recording.match_sessions(context, client.agent)?;
    let count = count_exchanges(usize::try_from(summary.exchanges).unwrap_or(usize::MAX));
    let gaps = if summary.with_gaps == 0 { String::new() } else { format!(", {} with gaps", summary.with_gaps) };
    let session = match recording.manifest.sessions.as_slice() {
        [] => String::new(),
        [session] => format!(" of session {}", session.id),
        sessions => format!(" of {} sessions", sessions.len()),
    };
    ui.status(format_args!("recorded {count}{session}{gaps}"))?;
    let id = &manifest.id;
    Ok(ui.hint(format_args!("{COMMAND}carryover record show {id}{COMMAND:#} tells what the model was told"))?)
}
