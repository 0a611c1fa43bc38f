//! The front door with the real clients: `carryover` alone in a terminal, two returns, and the next client is there with
//! the session; a turn is typed into it, and the same way leads back.

use std::thread;
use std::time::{Duration, Instant};

use carryover_testkit::client::{Client, ClientError, Launch, Sandbox, Terminal};
use carryover_testkit::model::{ModelServer, RequestKind};
use carryover_testkit::request::{Truth, compare_with_truth, flat_text};
use carryover_testkit::scenario::{FurtherTurn, MadeSession, Source};
use fs_err as fs;
use serde_json::Value;

use super::plan::{self, Options};
use super::{ConformanceError, tier, walk};

/// How long the model's server waits for the request that a typed prompt leads to.
const REQUEST_LIMIT: Duration = Duration::from_mins(2);

/// How long an interface that shows nothing new may still be loading.
const SETTLE_TIME: Duration = Duration::from_secs(3);

/// The prompt on the way back; a question mark is a key of its own in some interfaces.
const BACK_PROMPT: &str = "Tell me the last thing that you did.";

/// What the picker asks for.
const PICKER_TEXT: &str = "type to filter";

/// What the second screen says of the first target.
const STARTS: &str = "starts";

/// Walks from each client whose interface is known to its neighbour, and back; says what went wrong.
pub(super) fn run_walks(options: &Options) -> Result<(), ConformanceError> {
    // One after the other: an interface misses keys where several are drawn at once.
    let options = &Options { jobs: 1, ..options.clone() };
    let name = |(from, to): &(Source, Source)| format!("{} ⇄ {}", plan::client_name(from), plan::client_name(to));
    let rows =
        walk::run_rows(options, "front door", &list_walks(), name, |(from, to)| walk_both_ways(options, from, to));
    walk::check_rows(&rows)
}

/// The newest clients whose interface can be driven, in pairs.
fn list_walks() -> Vec<(Source, Source)> {
    let clients: Vec<Source> = tier::Tier::new(false).newest_with_interface();
    clients.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

/// One way through the door.
struct Walk<'a> {
    options: &'a Options,
    sandbox: &'a Sandbox,
    from: &'a Client,
    to: &'a Client,
    /// The client that the door leads to.
    kind: &'a Source,
}

fn walk_both_ways(options: &Options, from: &Source, to: &Source) -> Result<Vec<String>, ConformanceError> {
    let source = plan::install_client(from, options)?;
    let target = plan::install_client(to, options)?;
    let made = plan::make_whole_session(&source, from, options)?;
    let runs = options.cache.join("runs");
    fs::create_dir_all(&runs)?;
    let mut scratch = tempfile::Builder::new().prefix("door-").tempdir_in(fs::canonicalize(runs)?)?;
    scratch.disable_cleanup(options.keep);
    let sandbox = made.sandbox.copy_sessions(from.lab, scratch.path())?;
    let further = FurtherTurn::in_words();
    let there = Walk { options, sandbox: &sandbox, from: &source, to: &target, kind: to };
    let request = there.go_through(&further.prompt, &further)?;
    let mut findings = compare_with_session(&request, &made, "there");
    let back = Walk { options, sandbox: &sandbox, from: &target, to: &source, kind: from };
    let request = back.go_through(BACK_PROMPT, &further)?;
    findings.extend(compare_with_session(&request, &made, "back"));
    let text = flat_text(&request);
    let missing = further.facts.iter().filter(|fact| !text.contains(&fact.word));
    findings.extend(missing.map(|fact| format!("back: {} is missing", fact.about)));
    Ok(findings)
}

/// Everything live must be in the request, and no ghost.
fn compare_with_session(request: &Value, made: &MadeSession, way: &str) -> Vec<String> {
    let truth = Truth::new(&made.truth, &made.facts);
    let comparison = compare_with_truth(request, &truth);
    let missing = comparison.missing.iter().map(|fact| format!("{way}: {fact} is missing"));
    let ghosts = comparison.ghosts.iter().map(|fact| format!("{way}: {fact} is a ghost"));
    missing.chain(ghosts).collect()
}

impl Walk<'_> {
    /// Opens the door, takes what it offers first, and types a prompt; the first request shows what the client loaded.
    fn go_through(&self, prompt: &str, further: &FurtherTurn) -> Result<Value, ClientError> {
        let server = ModelServer::start()?;
        server.script_replies(RequestKind::Main, further.turns.clone());
        let ready = self.kind.lab.interface_ready_text().unwrap_or_default();
        let mut terminal = Terminal::start(&self.launch(server.port())?)?;
        terminal.wait_for(PICKER_TEXT)?;
        // What is remembered is shown first, and then what is there now.
        terminal.wait_until_quiet();
        terminal.press("\r")?;
        terminal.wait_for(&format!("{STARTS} {}", self.to.lab.name))?;
        terminal.wait_until_quiet();
        terminal.press("\r")?;
        terminal.wait_for(ready)?;
        // The session is loaded behind the interface; before it is there, keys are lost.
        terminal.wait_until_quiet();
        thread::sleep(SETTLE_TIME);
        terminal.enter_line(prompt)?;
        let request = await_request(&server, self.to)?;
        await_turn(&server);
        terminal.wait_until_quiet();
        Ok(request)
    }

    /// `carryover` with nothing behind it, and both clients where they are looked for.
    fn launch(&self, port: u16) -> Result<Launch, ClientError> {
        let setup = self.kind.setup();
        let env = self.sandbox.interface_env(self.to, &setup, port)?;
        let program = Launch::new(&self.options.carryover, &self.sandbox.project);
        Ok(program.env(self.sandbox.base_env(&[self.to, self.from])).env(env))
    }
}

fn await_request(server: &ModelServer, client: &Client) -> Result<Value, ClientError> {
    let deadline = Instant::now() + REQUEST_LIMIT;
    loop {
        if let Some(first) = server.requests(RequestKind::Main).into_iter().next() {
            return Ok(first);
        }
        if Instant::now() > deadline {
            return Err(ClientError::NoRequest { program: client.label() });
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Waits until the model has said all that it is to say.
fn await_turn(server: &ModelServer) {
    let deadline = Instant::now() + REQUEST_LIMIT;
    while server.count_unused() > 0 && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(100));
    }
}
