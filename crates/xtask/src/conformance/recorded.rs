//! Recordings with the real clients: through the proxy a client asks its model the same as without it, the recording
//! holds what was asked and no key, and as a capsule in another home the session goes on with the same requests.

mod brought;
mod normalise;
mod page;
mod workspace;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use carryover_agents::{Agent, agent_by_name};
use carryover_engine::recording::{RecordedBoundary, Recording};
use carryover_testkit::client::{Client, Launch, PromptRequest, Sandbox, SessionChoice, Setup};
use carryover_testkit::model::{LoggedRequest, ModelServer, RequestKind};
use carryover_testkit::scenario::{Source, WorkTurn};
use fs_err as fs;
use serde_json::Value;

use super::carryover::Carryover;
use super::plan::{self, Options};
use super::{ConformanceError, tier, walk};
use brought::BroughtOutcome;
use normalise::{Places, first_difference};

/// The id of new sessions, where a client lets others choose it.
const SESSION_ID: &str = "5f0c1e6a-2b7d-4c3e-9a41-0d6b8e2f7c15";

/// How many turns are gone on for in both homes.
const N_FURTHER_TURNS: usize = 3;

/// What the capsule of a recorded session is called.
const DETERMINISTIC: &str = "deterministic capsule";

/// A key that is shorter is a word that occurs in texts as well.
const MIN_KEY_LETTERS: usize = 6;

/// Records a session of each client, and says what went wrong.
pub(super) fn run_walks(options: &Options) -> Result<(), ConformanceError> {
    let clients = list_clients(options);
    if clients.is_empty() {
        return Err(ConformanceError::NothingToRun);
    }
    let rows = walk::run_rows(options, "record", &clients, plan::client_name, |source| record_once(options, source));
    page::PAGE.check_or_write(options, &rows)?;
    walk::check_rows(&rows)
}

/// The newest client of each agent that can be recorded; another one, unrecorded, where it is named.
fn list_clients(options: &Options) -> Vec<Source> {
    let mut clients = tier::Tier::new(false).list_newest();
    clients.retain(|client| is_recordable(client) || options.from.is_some());
    clients.retain(|client| plan::matches_filter(options.from.as_ref(), &client.label()));
    clients
}

/// Whether a client can be led through the recording proxy.
fn is_recordable(client: &Source) -> bool {
    agent_by_name(client.lab.id).map(Agent::facts).is_some_and(|facts| facts.recording.is_some())
}

/// Two homes and a client that is run in them.
struct Stage<'a> {
    options: &'a Options,
    source: &'a Source,
    client: Client,
    folder: PathBuf,
}

/// A run in a home of its own: what the client asked its model.
struct Run {
    sandbox: Sandbox,
    log: Vec<LoggedRequest>,
    port: u16,
}

impl Run {
    fn main_requests(&self) -> Vec<&Value> {
        self.log.iter().filter(|request| request.kind == RequestKind::Main).map(|request| &request.body).collect()
    }

    fn places(&self) -> Places {
        Places::new(&[&self.sandbox])
    }
}

fn record_once(options: &Options, source: &Source) -> Result<BroughtOutcome, ConformanceError> {
    let client = plan::install_client(source, options)?;
    let runs = options.cache.join("runs");
    fs::create_dir_all(&runs)?;
    let mut scratch = tempfile::Builder::new().prefix("record-").tempdir_in(fs::canonicalize(runs)?)?;
    scratch.disable_cleanup(options.keep);
    let stage = Stage { options, source, client, folder: scratch.path().to_owned() };
    stage.make_upstream()?;
    let is_recorded = is_recordable(source);
    let original = stage.run_session("recorded", is_recorded)?;
    let mut findings = Vec::new();
    if is_recorded {
        findings.extend(compare_runs(&stage.run_session("direct", false)?, &original));
        findings.extend(stage.check_recording(&original)?);
    }
    if source.lab.names_files_by_minute() {
        await_next_minute();
    }
    let mut outcome = stage.compare_further_turns(&original.sandbox)?;
    if is_recorded && outcome.kind != DETERMINISTIC {
        findings.push(format!("its capsule is no {DETERMINISTIC}: {}", outcome.kind));
    }
    outcome.findings.splice(..0, findings);
    Ok(outcome)
}

/// Waits until the clock shows another minute.
fn await_next_minute() {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    thread::sleep(Duration::from_secs(60 - since_epoch.as_secs() % 60));
}

impl Stage<'_> {
    /// Sessions that the client made itself stay there, whatever it usually does with them.
    fn setup(&self) -> Setup {
        let usual = self.source.setup();
        let provider = self.source.lab.recorded_provider().unwrap_or(usual.provider);
        Setup { own_sessions: true, provider, ..usual }
    }

    /// The repository that the project of every home is a clone of.
    fn upstream(&self) -> Sandbox {
        Sandbox { home: self.folder.join("upstream/home"), project: self.folder.join("upstream/project") }
    }

    fn make_upstream(&self) -> Result<(), ConformanceError> {
        let upstream = self.upstream();
        fs::create_dir_all(&upstream.home)?;
        Ok(workspace::make_upstream(&upstream, N_FURTHER_TURNS + 1)?)
    }

    /// A home in which nothing is, and a clean checkout of the project.
    fn make_sandbox(&self, name: &str) -> Result<Sandbox, ConformanceError> {
        let folder = self.folder.join(name);
        let sandbox = Sandbox { home: folder.join("home"), project: folder.join("project") };
        fs::create_dir_all(&sandbox.home)?;
        workspace::clone_upstream(&self.upstream(), &sandbox)?;
        Ok(sandbox)
    }

    /// Makes a session of one turn in a home of its own, through the proxy or without it.
    fn run_session(&self, name: &str, is_recorded: bool) -> Result<Run, ConformanceError> {
        let sandbox = self.make_sandbox(name)?;
        workspace::change_files(&sandbox)?;
        let server = ModelServer::start()?;
        let turn = WorkTurn::new(self.source, &sandbox.project, 0);
        server.script_replies(RequestKind::Main, turn.turns);
        let ask = PromptRequest { session: SessionChoice::New(SESSION_ID), prompt: &turn.prompt, image: None };
        let setup = self.setup();
        let mut launch = self.client.prompt_launch(&sandbox, &setup, server.port(), &ask)?;
        if is_recorded {
            launch = through_recorder(launch, &self.options.carryover);
        }
        launch.run_to_success(self.client.run_limit())?;
        Ok(Run { log: server.log(), port: server.port(), sandbox })
    }

    /// The recording is whole, exact and without keys, and it knows its session.
    fn check_recording(&self, run: &Run) -> Result<Vec<String>, ConformanceError> {
        let parent = run.sandbox.home.join(".carryover/recordings");
        let folders: Vec<PathBuf> = fs::read_dir(parent)?.flatten().map(|entry| entry.path()).collect();
        let [folder] = folders.as_slice() else { return Ok(vec![format!("{} recordings", folders.len())]) };
        let Some(recording) = Recording::open(folder)? else { return Ok(vec!["no recording".to_owned()]) };
        let mut findings = Vec::new();
        let mut bodies = Vec::new();
        for exchange in recording.exchanges()? {
            let bytes = recording.with_exchange(&exchange).decoded_request()?;
            bodies.push(serde_json::from_slice(&bytes).unwrap_or(Value::Null));
            findings.extend(find_keys(&self.client_keys(run), &format!("{exchange:?}")));
        }
        let sent: Vec<Value> = run.log.iter().map(|request| request.body.clone()).collect();
        if sorted_texts(&sent) != sorted_texts(&bodies) {
            findings.push(format!("{} bodies were recorded, not the {} that were sent", bodies.len(), sent.len()));
        }
        if recording.manifest.sessions.is_empty() {
            findings.push("the recording does not know its session".to_owned());
        }
        findings.extend(check_boundary(&recording, &run.main_requests())?);
        Ok(findings)
    }

    /// The keys that the client was given.
    fn client_keys(&self, run: &Run) -> Vec<String> {
        let launch = run.sandbox.prepared_launch(&self.client, &self.setup(), run.port);
        let is_key = |(name, value): &(String, String)| name.contains("KEY") && value.len() >= MIN_KEY_LETTERS;
        launch.env.into_iter().filter(is_key).map(|(_, value)| value).collect()
    }

    /// The session as `carryover` calls it.
    fn session_id(&self, sandbox: &Sandbox) -> Result<String, ConformanceError> {
        let carryover = Carryover { program: &self.options.carryover, sandbox };
        Ok(carryover.only_session(&self.client, &self.client)?)
    }

    /// By what the client is told to resume where the session was made; one that keeps it with the work needs no name.
    fn native_handle<'a>(&self, session_id: &'a str) -> &'a str {
        if self.source.lab.conformance.sessions.is_in_project() { "" } else { session_id }
    }
}

/// The same command, given to `carryover record`.
fn through_recorder(launch: Launch, carryover: &Path) -> Launch {
    let program = launch.program.display().to_string();
    let mut args = vec!["record".to_owned(), "--".to_owned(), program];
    args.extend(launch.args);
    Launch { program: carryover.to_owned(), args, ..launch }
}

/// The same requests in the same order, and nothing else was asked for.
fn compare_runs(direct: &Run, recorded: &Run) -> Vec<String> {
    let (without, with) = (direct.main_requests(), recorded.main_requests());
    let mut findings = Vec::new();
    if without.len() != with.len() {
        findings.push(format!("{} requests without the proxy, {} with it", without.len(), with.len()));
    }
    let (direct_places, recorded_places) = (direct.places(), recorded.places());
    let pairs = without.iter().zip(&with);
    let differences =
        pairs.filter_map(|(a, b)| first_difference(&direct_places.normalise(a), &recorded_places.normalise(b)));
    findings.extend(differences.map(|difference| format!("through the proxy: {difference}")));
    let paths = |run: &Run| {
        let mut paths: Vec<String> = run.log.iter().map(|request| request.path.clone()).collect();
        paths.sort();
        paths.dedup();
        paths
    };
    if paths(direct) != paths(recorded) {
        findings.push(format!("paths {:?} without the proxy, {:?} with it", paths(direct), paths(recorded)));
    }
    findings
}

fn find_keys(keys: &[String], text: &str) -> Option<String> {
    let has_key = keys.iter().any(|key| text.contains(key.as_str()));
    has_key.then(|| "a key is in the recording".to_owned())
}

/// Bodies in an order that does not depend on who was first.
fn sorted_texts(bodies: &[Value]) -> Vec<String> {
    let mut texts: Vec<String> = bodies.iter().map(Value::to_string).collect();
    texts.sort();
    texts
}

/// The boundary is that of the last request of the session's own loop.
fn check_boundary(recording: &Recording, requests: &[&Value]) -> Result<Option<String>, ConformanceError> {
    let Some(last) = requests.last() else { return Ok(Some("no request was sent".to_owned())) };
    let Some(boundary) = RecordedBoundary::read(recording)? else { return Ok(Some("no boundary".to_owned())) };
    let sent = last.to_string();
    let holds = |text: &String| sent.contains(serde_json::json!(text).to_string().trim_matches('"'));
    let is_right = boundary.system_prompt.iter().all(holds) && !boundary.system_prompt.is_empty();
    let n_tools = |request: &Value| request["tools"].to_string().matches("\"description\":").count();
    if is_right && (boundary.tools.is_empty() == (n_tools(last) == 0)) {
        return Ok(None);
    }
    Ok(Some(format!("the boundary of exchange {} is not that of the last request", boundary.exchange)))
}
