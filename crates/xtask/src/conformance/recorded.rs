//! Recordings with the real clients: through the proxy a client asks its model the same as without it, the recording
//! holds what was asked and no key, and in another home the session goes on with the same requests.

mod normalise;

use std::path::{Path, PathBuf};

use carryover_agents::{Agent, agent_by_name};
use carryover_engine::recording::{RecordedBoundary, Recording};
use carryover_testkit::client::{Client, ClientError, Launch, PromptRequest, Sandbox, SessionChoice};
use carryover_testkit::model::{LoggedRequest, ModelServer, RequestKind};
use carryover_testkit::scenario::{FurtherTurn, Source};
use fs_err as fs;
use serde_json::Value;

use super::carryover::Carryover;
use super::plan::{self, Options};
use super::{ConformanceError, tier, walk};
use normalise::{Places, first_difference};

/// The id of new sessions, where a client lets others choose it.
const SESSION_ID: &str = "5f0c1e6a-2b7d-4c3e-9a41-0d6b8e2f7c15";

/// How many turns are gone on for in both homes.
const N_FURTHER_TURNS: usize = 3;

/// A key that is shorter is a word that occurs in texts as well.
const MIN_KEY_LETTERS: usize = 6;

/// Records a session of each client, and says what went wrong.
pub(super) fn run_walks(options: &Options) -> Result<(), ConformanceError> {
    let clients = list_clients(options);
    if clients.is_empty() {
        return Err(ConformanceError::NothingToRun);
    }
    let rows = walk::run_rows(options, "record", &clients, plan::client_name, |source| record_once(options, source));
    walk::check_rows(&rows)
}

/// The newest client of each agent that can be recorded in the laboratory.
fn list_clients(options: &Options) -> Vec<Source> {
    let is_recordable = |client: &Source| {
        let facts = agent_by_name(client.lab.id).map(Agent::facts);
        facts.is_some_and(|facts| facts.recording.is_some()) && client.lab.is_recordable()
    };
    let mut clients = tier::Tier::new(false).list_newest();
    clients.retain(|client| is_recordable(client) && plan::matches_filter(options.from.as_ref(), &client.label()));
    clients
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

fn record_once(options: &Options, source: &Source) -> Result<Vec<String>, ConformanceError> {
    let client = plan::install_client(source, options)?;
    let runs = options.cache.join("runs");
    fs::create_dir_all(&runs)?;
    let mut scratch = tempfile::Builder::new().prefix("record-").tempdir_in(fs::canonicalize(runs)?)?;
    scratch.disable_cleanup(options.keep);
    let stage = Stage { options, source, client, folder: scratch.path().to_owned() };
    let direct = stage.run_session("direct", false)?;
    let recorded = stage.run_session("recorded", true)?;
    let mut findings = compare_runs(&direct, &recorded);
    findings.extend(stage.check_recording(&recorded)?);
    findings.extend(stage.compare_further_turns(&recorded.sandbox)?);
    Ok(findings)
}

impl Stage<'_> {
    /// Makes a session of one turn in a home of its own, through the proxy or without it.
    fn run_session(&self, name: &str, is_recorded: bool) -> Result<Run, ConformanceError> {
        let sandbox =
            Sandbox { home: self.folder.join(name).join("home"), project: self.folder.join(name).join("project") };
        fs::create_dir_all(&sandbox.home)?;
        walk::make_repository(&sandbox)?;
        let server = ModelServer::start()?;
        let turn = FurtherTurn::new(self.source, &sandbox.project);
        server.script_replies(RequestKind::Main, turn.turns);
        let ask = PromptRequest { session: SessionChoice::New(SESSION_ID), prompt: &turn.prompt, image: None };
        let setup = self.source.setup();
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
        let launch = run.sandbox.prepared_launch(&self.client, &self.source.setup(), run.port);
        let is_key = |(name, value): &(String, String)| name.contains("KEY") && value.len() >= MIN_KEY_LETTERS;
        launch.env.into_iter().filter(is_key).map(|(_, value)| value).collect()
    }

    /// Goes on in the home where the session was made and in another: each turn must ask the same.
    fn compare_further_turns(&self, original: &Sandbox) -> Result<Vec<String>, ConformanceError> {
        let session_id = self.session_id(original)?;
        let other = self.bring_session(original)?;
        let mut findings = Vec::new();
        for number in 1..=N_FURTHER_TURNS {
            let turn = FurtherTurn::new(self.source, &original.project);
            let prompt = format!("{} This is turn {number}.", turn.prompt);
            let setup = self.source.setup();
            let ask = |sandbox: &Sandbox| self.client.resume(sandbox, &setup, &session_id, &prompt, turn.turns.clone());
            let (here, there) = (ask(original)?, ask(&other)?);
            // Clients write paths of their home into sessions, which stay there wherever the session goes.
            let places = Places::new(&[original, &other]);
            let pairs = here.requests.iter().zip(&there.requests);
            let differences =
                pairs.filter_map(|(here, there)| first_difference(&places.normalise(here), &places.normalise(there)));
            findings.extend(differences.map(|difference| format!("turn {number}: {difference}")));
            if here.requests.len() != there.requests.len() {
                let counts = (here.requests.len(), there.requests.len());
                findings.push(format!("turn {number}: {} requests here, {} there", counts.0, counts.1));
            }
        }
        Ok(findings)
    }

    /// Brings the session into a fresh home. A copy does until an export and an import take its place here.
    fn bring_session(&self, original: &Sandbox) -> Result<Sandbox, ClientError> {
        let fresh = original.copy_sessions(self.source.lab, &self.folder.join("fresh"))?;
        // Where a session names another home than its own, a client tells its model anew what it finds there.
        rename_home(&fresh.home, &original.home.display().to_string(), &fresh.home.display().to_string())?;
        Ok(fresh)
    }

    /// By what the client is told to resume; a client that keeps its session with the work needs no name.
    fn session_id(&self, sandbox: &Sandbox) -> Result<String, ClientError> {
        if self.source.lab.conformance.sessions.is_in_project() {
            return Ok(String::new());
        }
        let carryover = Carryover { program: &self.options.carryover, sandbox };
        carryover.only_session(&self.client, &self.client)
    }
}

/// Puts one home's path in the place of another's in all files of text below a folder.
fn rename_home(folder: &Path, old: &str, new: &str) -> Result<(), ClientError> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            rename_home(&path, old, new)?;
        } else if let Ok(text) = fs::read_to_string(&path)
            && text.contains(old)
        {
            let modified = fs::metadata(&path)?.modified()?;
            fs::write(&path, text.replace(old, new))?;
            // Clients sort by it.
            fs::File::options().write(true).open(&path)?.set_modified(modified)?;
        }
    }
    Ok(())
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
