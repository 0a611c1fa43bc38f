//! Makes a scenario's session in a real client, once, and keeps it.
//!
//! A made session is a folder with the home, the project, the facts and the truth: the request that
//! the client itself sends when it resumes the session. Whoever uses it works on a copy of the home.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use fs_err as fs;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::dialect::{Answers, Dialect};
use super::project::{MCP_SCRIPT, STOP_FILE, write_project};
use super::{Action, Expect, Fact, Prompt, Scenario, Source, Step};
use crate::client::{Client, ClientError, RUN_LIMIT, Sandbox, Setup};
use crate::lab::Compaction;
use crate::model::{Hold, ModelServer, RequestKind, Turn};
use crate::request;

/// The prompt to resume a session with when only its history is of interest.
pub const PROBE: &str = "Probe: what was the last thing you did?";

/// Raised when sessions are made in another way than their digest shows, so that none from before is used.
const MAKING_VERSION: u32 = 4;

/// How long a made session is used.
const MAX_AGE: Duration = Duration::from_hours(7 * 24);

/// One way to drive a client through the steps of a scenario.
pub(crate) trait Driver {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError>;
    /// A turn that the model's service refuses.
    fn run_refused_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.run_turn(prompt)
    }
    fn compact(&mut self) -> Result<(), ClientError>;
    /// Takes the latest turn back.
    fn rewind(&mut self) -> Result<(), ClientError>;
    /// Interrupts the turn once the file `runs` shows that its command runs.
    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError>;
    /// Ends the client by force once the file `runs` shows that its command runs.
    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError>;
    /// Ends the client and returns the session's id.
    fn finish(self: Box<Self>) -> Result<String, ClientError>;
}

/// A session that a real client wrote.
#[derive(Clone, Debug)]
pub struct MadeSession {
    pub source: Source,
    pub scenario: &'static str,
    /// Not to be changed: copy the home first.
    pub sandbox: Sandbox,
    pub setup: Setup,
    pub session_id: String,
    /// Those of the scenario that this client could plant.
    pub facts: Vec<Fact>,
    /// The request that the client itself sends when it resumes the session with [`PROBE`].
    pub truth: Value,
}

/// The id and the facts of a made session, kept beside the home.
#[derive(Serialize, Deserialize)]
struct SessionRecord {
    session_id: String,
    facts: Vec<Fact>,
}

/// Takes the session from `root`, or makes it there.
pub fn load_or_make(
    client: &Client,
    source: &Source,
    scenario: &Scenario,
    root: &Path,
) -> Result<MadeSession, ClientError> {
    let name = format!("{}-{}", scenario.name, digest_scenario(source, scenario));
    let folder = root.join(source.label()).join(name);
    fs::create_dir_all(&folder)?;
    let folder = fs::canonicalize(folder)?;
    let lock = fs::File::create(folder.join("lock"))?;
    lock.file().lock()?;
    let sandbox = Sandbox { home: folder.join("home"), project: folder.join("project") };
    let setup = source.setup();
    let record_path = folder.join("facts.json");
    if !is_fresh(&record_path) {
        let once = || make_and_check(client, source, scenario, &sandbox, &folder);
        let record = match once() {
            // Now and then a client loses what a command says that ends at once. Nothing of ours has run yet.
            Err(ClientError::Unexpected { .. }) => once()?,
            made => made?,
        };
        fs::write(&record_path, serde_json::to_vec_pretty(&record)?)?;
    }
    let record: SessionRecord = serde_json::from_slice(&fs::read(&record_path)?)?;
    let truth = serde_json::from_slice(&fs::read(folder.join("truth.json"))?)?;
    let SessionRecord { session_id, facts } = record;
    Ok(MadeSession { source: *source, scenario: scenario.name, sandbox, setup, session_id, facts, truth })
}

/// Makes the session, and looks whether the client did what the scenario says.
fn make_and_check(
    client: &Client,
    source: &Source,
    scenario: &Scenario,
    sandbox: &Sandbox,
    folder: &Path,
) -> Result<SessionRecord, ClientError> {
    let record = make_session(client, source, scenario, sandbox);
    // Also after a failure: no endless command may outlive the run.
    fs::write(sandbox.project.join(STOP_FILE), "")?;
    let record = record?;
    let truth = capture_truth(client, sandbox, &source.setup(), &record.session_id, folder)?;
    fs::write(folder.join("truth.json"), serde_json::to_vec_pretty(&truth)?)?;
    check_facts(&record.facts, &truth, folder)?;
    Ok(record)
}

/// Changes with everything that the model is to answer and the client is asked.
fn digest_scenario(source: &Source, scenario: &Scenario) -> String {
    let dialect = Dialect { source, project: Path::new("/project") };
    let mut hasher = DefaultHasher::new();
    MAKING_VERSION.hash(&mut hasher);
    for step in &scenario.steps {
        format!("{step:?}").hash(&mut hasher);
        if let Step::Turn { answers, .. } = step {
            let answers: Vec<Answers> =
                dialect.group_by_request(answers).iter().map(|actions| dialect.script_answers(actions)).collect();
            format!("{answers:?}").hash(&mut hasher);
        }
    }
    format!("{:08x}", hasher.finish() & 0xffff_ffff)
}

/// Clients delete sessions that were not touched for a month, so old ones are made again.
fn is_fresh(record: &Path) -> bool {
    let age = fs::metadata(record).and_then(|record| record.modified()).map(|at| at.elapsed());
    matches!(age, Ok(Ok(age)) if age < MAX_AGE)
}

fn make_session(
    client: &Client,
    source: &Source,
    scenario: &Scenario,
    sandbox: &Sandbox,
) -> Result<SessionRecord, ClientError> {
    for folder in [&sandbox.home, &sandbox.project] {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
    }
    write_project(scenario, &sandbox.project)?;
    let server = ModelServer::start()?;
    let mcp = Some(sandbox.project.join(MCP_SCRIPT));
    let setup = Setup { mcp, ..source.setup() };
    let driver = (source.lab.client.start_driver)(client, sandbox, &setup, server.port())?;
    let dialect = Dialect { source, project: &sandbox.project };
    let played = play_steps(scenario, driver, &dialect, &server, sandbox);
    if played.is_err() {
        write_request_log(&server, sandbox)?;
    }
    Ok(SessionRecord { session_id: played?, facts: known_facts(scenario, &dialect) })
}

/// Plays all steps and returns the session's id.
fn play_steps(
    scenario: &Scenario,
    mut driver: Box<dyn Driver + '_>,
    dialect: &Dialect<'_>,
    server: &ModelServer,
    sandbox: &Sandbox,
) -> Result<String, ClientError> {
    for step in &scenario.steps {
        play_step(step, driver.as_mut(), dialect, server, sandbox)?;
    }
    let session_id = driver.finish()?;
    if server.count_unused() > 0 {
        let message = format!("{} scripted answers were not asked for", server.count_unused());
        return Err(ClientError::Unexpected { path: sandbox.project.clone(), message });
    }
    Ok(session_id)
}

/// Leaves what the client asked its model beside its home, for whoever looks for the cause of a failure.
fn write_request_log(server: &ModelServer, sandbox: &Sandbox) -> Result<(), ClientError> {
    let mut lines = String::new();
    for logged in server.log() {
        let kind = format!("{:?}", logged.kind);
        let line = json!({"kind": kind, "path": logged.path, "headers": logged.headers, "body": logged.body});
        lines.extend([line.to_string().as_str(), "\n"]);
    }
    fs::write(sandbox.home.with_file_name("requests.jsonl"), lines)?;
    Ok(())
}

fn play_step(
    step: &Step,
    driver: &mut dyn Driver,
    dialect: &Dialect<'_>,
    server: &ModelServer,
    sandbox: &Sandbox,
) -> Result<(), ClientError> {
    match step {
        Step::Turn { prompt, answers } => {
            for actions in dialect.group_by_request(answers) {
                let Answers { main, sub } = dialect.script_answers(&actions);
                server.script_replies(RequestKind::Main, main);
                server.script_replies(RequestKind::SubAgent, sub);
            }
            driver.run_turn(prompt)
        }
        Step::Compact { summary } => {
            let Compaction { element, requests } = dialect.source.lab.client.compaction;
            let text = format!("<analysis>It went well.</analysis>\n<{element}>\nSo far: {summary}\n</{element}>");
            server.script_replies(RequestKind::Compaction, vec![Turn::from_text(text); requests]);
            driver.compact()
        }
        Step::Rewind => driver.rewind(),
        Step::Interrupt { prompt, action } => {
            let sign = sandbox.project.join(action.file_path());
            act_while_busy(action, dialect, server, &sign, || driver.interrupt(prompt, &sign))
        }
        Step::Crash { prompt, action } => {
            let sign = sandbox.project.join(action.file_path());
            act_while_busy(action, dialect, server, &sign, || driver.crash(prompt, &sign))
        }
        Step::Limit { prompt } => {
            let code = dialect.source.lab.client.limit_code;
            server.script_replies(RequestKind::Main, [Turn::from_failure(429, code, "the limit is reached").lasting()]);
            driver.run_refused_turn(prompt)
        }
    }
}

/// Acts on a client whose command says with the file `sign` that it runs. A client that runs no commands is acted on
/// while it waits for its model.
fn act_while_busy(
    action: &Action,
    dialect: &Dialect<'_>,
    server: &ModelServer,
    sign: &Path,
    act: impl FnOnce() -> Result<(), ClientError>,
) -> Result<(), ClientError> {
    if dialect.has_tool(action.what) {
        server.script_replies(RequestKind::Main, [dialect.endless_turn(action)]);
        return act();
    }
    let hold = Hold::default();
    let before = server.requests(RequestKind::Main).len();
    server.script_replies(RequestKind::Main, [Turn::from_text("Too late.").held_by(&hold)]);
    thread::scope(|scope| {
        scope.spawn(|| {
            let deadline = Instant::now() + RUN_LIMIT;
            while server.requests(RequestKind::Main).len() == before && Instant::now() < deadline {
                thread::sleep(Duration::from_millis(20));
            }
            // Without the file the driver gives up by itself.
            drop(fs::write(sign, ""));
        });
        let acted = act();
        hold.release();
        acted
    })
}

/// Clients write their records a moment after the command that they tell of has begun.
pub(crate) const SETTLE_TIME: Duration = Duration::from_secs(2);

/// Waits until a command that the client runs has made this file, and the client has had time to write it down.
pub(crate) fn await_file(path: &Path) -> Result<(), ClientError> {
    let deadline = Instant::now() + RUN_LIMIT;
    while !path.exists() {
        if Instant::now() > deadline {
            let program = format!("the command that makes {}", path.display());
            return Err(ClientError::TimedOut { program, limit: RUN_LIMIT });
        }
        thread::sleep(Duration::from_millis(20));
    }
    thread::sleep(SETTLE_TIME);
    Ok(())
}

/// The facts of what the client has tools for.
fn known_facts(scenario: &Scenario, dialect: &Dialect<'_>) -> Vec<Fact> {
    let unknown: Vec<&Action> = scenario.actions().filter(|action| !dialect.has_tool(action.what)).collect();
    let left_out = |fact: &&Fact| !unknown.iter().any(|action| action.words.contains(&fact.word));
    let mut facts: Vec<Fact> = scenario.facts.iter().filter(left_out).cloned().collect();
    if dialect.source.seals_compactions() {
        // Nobody else can read the summary, so it is fair to carry what it stands for.
        let open = facts.iter_mut().filter(|fact| fact.expect == Expect::AsClient);
        open.for_each(|fact| fact.expect = Expect::Tolerated);
    }
    facts
}

/// Resumes the session in a copy, so that the original stays as the client left it.
fn capture_truth(
    client: &Client,
    sandbox: &Sandbox,
    setup: &Setup,
    session_id: &str,
    folder: &Path,
) -> Result<Value, ClientError> {
    let copy = tempfile::Builder::new().prefix("truth-").tempdir_in(folder)?;
    let copied = sandbox.copy_sessions(client.lab, copy.path())?;
    let captured = client.resume(&copied, setup, session_id, PROBE, Vec::new())?;
    Ok(captured.first().clone())
}

/// The client must have done what the scenario says; otherwise nothing may be concluded from the session.
fn check_facts(facts: &[Fact], truth: &Value, folder: &Path) -> Result<(), ClientError> {
    let text = request::flat_text(truth);
    let wrong = |fact: &&Fact| {
        let present = text.contains(&fact.word);
        matches!((fact.expect, present), (Expect::Live, false) | (Expect::Ghost, true))
    };
    let wrong: Vec<String> = facts.iter().filter(wrong).map(|fact| format!("{} ({})", fact.word, fact.about)).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let message = format!("the client's own request is not as the scenario says: {}", wrong.join(", "));
    Err(ClientError::Unexpected { path: folder.to_owned(), message })
}
