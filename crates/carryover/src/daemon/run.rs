//! The daemon itself: it takes its lock, listens, watches, and ends when it is asked to.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use carryover_core::time::Timestamp;
use carryover_engine::capture::{Capture, CaptureHandle, CaptureNote, CaptureOptions, MakeContext};
use carryover_engine::context::Context;
use carryover_engine::sessions::list;
use carryover_engine::watch::{DEFAULT_INTERVAL, Event, Options, Watcher};
use tokio::sync::Notify;

use super::listener::serve;
use super::log::Log;
use super::place::{self, DaemonLock};
use super::status::{self, StatusDocument, TroubleRow};
use super::{client, guard, port_owner, routes};
use crate::error::{CommandError, ErrorKind};
use crate::process_env;
use crate::signals::Signals;

/// How long a file that changed is left alone: whoever waits for a handoff waits for this, too.
const DEBOUNCE: Duration = Duration::from_millis(60);

/// How long work that is under way may take to end; a little less than a signal gives us, so that we end by ourselves.
const GRACE_PERIOD: Duration = Duration::from_millis(2_500);

/// What requests and threads share.
pub(super) struct Shared {
    pub(super) capture: CaptureHandle,
    pub(super) make_context: MakeContext,
    pub(super) no_vars: BTreeMap<String, String>,
    started_at: Timestamp,
    port: Option<u16>,
    port_trouble: Option<String>,
    watching: Mutex<Vec<&'static str>>,
    end: Notify,
    /// Held by the request that goes on with a capsule.
    pub(super) importing: Arc<tokio::sync::Mutex<()>>,
    log: Arc<Log>,
}

impl Shared {
    pub(super) fn request_end(&self) {
        self.end.notify_one();
    }

    fn set_watching(&self, agents: Vec<&'static str>) {
        *self.watching.lock().unwrap_or_else(PoisonError::into_inner) = agents;
    }

    pub(super) fn status(&self) -> StatusDocument {
        let (handoffs_waiting, changes_waiting) = self.capture.n_waiting();
        let watching = self.watching.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = self.capture.tally().counts((self.make_context)().env.now);
        StatusDocument {
            schema: status::SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // Where the file was replaced since it was started, the system says so here.
            program: std::env::current_exe().ok(),
            process_id: std::process::id(),
            started_at: self.started_at.to_string(),
            port: self.port,
            port_trouble: self.port_trouble.clone(),
            watching: watching.iter().map(|agent| (*agent).to_owned()).collect(),
            handoffs_waiting,
            changes_waiting,
            events: counts.events,
            handoffs: counts.handoffs,
            last_handoff_at: counts.last_handoff_at.map(|at| at.to_string()),
            last_kept_at: counts.last_kept_at.map(|at| at.to_string()),
            ledger_sessions: counts.ledger_sessions,
            ledger_bytes: counts.ledger_bytes,
            troubles: counts.troubles.into_iter().map(TroubleRow::from).collect(),
        }
    }
}

/// Who has started the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunFor {
    /// Somebody who looks on in a terminal.
    Person,
    /// A service manager, which starts again what fails.
    Service,
    /// A command of ours, which does not look on.
    Background,
}

/// Runs until it is asked to end. What goes wrong is in the log, too: mostly nobody sees the error.
pub(crate) fn run_daemon(context: &Context, run_for: RunFor) -> Result<(), CommandError> {
    let open_log = || Log::open(context, Box::new(process_env::make_clock(context)), run_for != RunFor::Background);
    let lock = DaemonLock::acquire(context).inspect_err(|error| {
        if let Ok(log) = open_log() {
            log.write_line(&error.to_string());
        }
    })?;
    // The log of a daemon that runs is left to that one.
    let _lock = match lock {
        Ok(lock) => lock,
        Err(_) if run_for == RunFor::Service => return Ok(()),
        Err(process) => return Err(already_running(context, process)),
    };
    let log = Arc::new(open_log()?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(run_locked(context, Arc::clone(&log)));
    // Work that did not end in time is not waited for.
    runtime.shutdown_background();
    ended.inspect_err(|error| log.write_line(&error.to_line()))
}

fn already_running(context: &Context, process: Option<u32>) -> CommandError {
    let process = process.map_or_else(String::new, |id| format!(" (process {id})"));
    CommandError::new(ErrorKind::Io, format!("a daemon is already at work on {}{process}", context.home.display()))
        .with_hint("`carryover daemon restart` puts a new one in its place")
}

async fn run_locked(context: &Context, log: Arc<Log>) -> Result<(), CommandError> {
    let token = place::read_or_make_token(context, process_env::random_token)?;
    let socket = bind_socket(context)?;
    let (port, port_trouble) = bind_port(context).await;
    let make_context = process_env::make_contexts(context);
    let capture = Capture::start(CaptureOptions {
        make_context: Arc::clone(&make_context),
        show_command: crate::delivery::show_command,
        report: report_to(&log),
    })?;
    let shared = Arc::new(Shared {
        capture: capture.handle(),
        make_context,
        no_vars: BTreeMap::new(),
        started_at: context.env.now,
        port: port.as_ref().and_then(|port| port.local_addr().ok()).map(|address| address.port()),
        port_trouble,
        watching: Mutex::new(Vec::new()),
        end: Notify::new(),
        importing: Arc::default(),
        log,
    });
    shared.log.write_line(&format!("started, process {}", std::process::id()));
    if let Some(trouble) = &shared.port_trouble {
        shared.log.write_line(trouble);
    }
    let watcher = start_watcher(context, Arc::clone(&shared))?;
    let ender = Arc::clone(&shared);
    let _signals = Signals::on_end(move || ender.request_end())?;
    let mut listeners = Vec::new();
    if let Some(socket) = socket {
        let routes = routes::socket_routes().with_state(Arc::clone(&shared));
        listeners.push(tokio::spawn(serve(socket, routes)));
    }
    if let Some(port) = port {
        let guarded = axum::middleware::from_fn_with_state(token, guard::check_request);
        let routes = routes::port_routes().layer(guarded).with_state(Arc::clone(&shared));
        listeners.push(tokio::spawn(serve(port, routes)));
    }
    shared.end.notified().await;
    for listener in listeners {
        listener.abort();
    }
    end_work(&shared, watcher, capture).await;
    shared.log.write_line("ended");
    fs_err::remove_file(place::socket_path(context)).ok();
    Ok(())
}

/// Ends the work, and waits for it within bounds: one session may take longer to read than anybody waits.
async fn end_work(shared: &Shared, watcher: RunningWatcher, capture: Capture) {
    watcher.stop.stop();
    let ending = tokio::task::spawn_blocking(move || {
        drop(capture);
        watcher.stop();
    });
    if tokio::time::timeout(GRACE_PERIOD, ending).await.is_err() {
        shared.capture.end_soon();
        shared.log.write_line("ended in the middle of something, which the next one takes up");
    }
}

/// Writes what was done into the log.
fn report_to(log: &Arc<Log>) -> Arc<dyn Fn(CaptureNote) + Send + Sync> {
    let log = Arc::clone(log);
    Arc::new(move |note| match note {
        CaptureNote::Published { agent, session, project } => {
            let place = project.map_or_else(String::new, |project| format!(" in {}", project.display()));
            log.write_line(&format!("published the handoff of {agent} {}{place}", session.0));
        }
        CaptureNote::Kept { sessions } => log.write_line(&format!("the ledger is up to date: {sessions} sessions")),
        CaptureNote::Trouble { about, message } => log.write_line(&format!("trouble with {about}: {message}")),
    })
}

#[cfg(unix)]
fn bind_socket(context: &Context) -> Result<Option<tokio::net::UnixListener>, CommandError> {
    let path = place::socket_path(context);
    if let Some(folder) = path.parent() {
        carryover_engine::own::private::create_folder(folder)?;
    }
    let path = place::find_socket(context)?;
    // The lock is ours, so whoever made it is gone.
    if path.exists() {
        fs_err::remove_file(&path)?;
    }
    // It is closed to others from its first moment on; nothing else runs yet that makes files.
    let mask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o177));
    let bound = std::os::unix::net::UnixListener::bind(&path);
    rustix::process::umask(mask);
    let listener =
        bound.map_err(|error| CommandError::new(ErrorKind::Io, error).with_details([format!("{}", path.display())]))?;
    listener.set_nonblocking(true)?;
    Ok(Some(tokio::net::UnixListener::from_std(listener)?))
}

#[cfg(not(unix))]
fn bind_socket(_: &Context) -> Result<Option<tokio::net::TcpListener>, CommandError> {
    Ok(None)
}

/// The port, or why there is none; everything of ours works without it.
async fn bind_port(context: &Context) -> (Option<tokio::net::TcpListener>, Option<String>) {
    let Some(port) = context.config.daemon.listening_port() else { return (None, None) };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    match tokio::net::TcpListener::bind(address).await {
        Ok(listener) => (Some(listener), None),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            let owner = if client::is_carryover_at(port) {
                "a carryover of another home".to_owned()
            } else {
                port_owner::find_port_owner(port).unwrap_or_else(|| "another program".to_owned())
            };
            (
                None,
                Some(format!("port {port} is taken by {owner}: `carryover config set daemon.port N` chooses another")),
            )
        }
        Err(error) => (None, Some(format!("port {port} cannot be opened: {error}"))),
    }
}

/// The watcher's thread, and how it is ended.
struct RunningWatcher {
    stop: carryover_engine::watch::StopHandle,
    thread: thread::JoinHandle<()>,
}

impl RunningWatcher {
    fn stop(self) {
        self.stop.stop();
        // A panic in it has been told where it happened.
        self.thread.join().ok();
    }
}

fn take_watched(shared: &Shared, event: Event) {
    match event {
        Event::Watching { agents } => {
            shared.log.write_line(&format!("watching {}", agents.join(", ")));
            shared.set_watching(agents);
        }
        Event::Trouble { agent, message } => shared.capture.note_trouble(agent.unwrap_or("the watcher"), &message),
        Event::Active(_) | Event::Limit(_) | Event::Ended { .. } => {}
    }
}

fn start_watcher(context: &Context, shared: Arc<Shared>) -> io::Result<RunningWatcher> {
    let interval = context.config.watch.interval.map_or(DEFAULT_INTERVAL, Duration::from_secs);
    let options = Options {
        agents: list::covered_agents(context),
        interval,
        debounce: DEBOUNCE,
        state_in: None,
        observer: Some(shared.capture.observer()),
    };
    let (sender, receiver) = std::sync::mpsc::channel();
    let context = context.clone();
    let thread = thread::Builder::new().name("watcher".to_owned()).spawn(move || {
        let clock = process_env::make_clock(&context);
        let mut watcher = Watcher::open(&context, options, &clock);
        sender.send(watcher.stop_handle()).ok();
        let mut report = |event: Event| {
            take_watched(&shared, event);
            ControlFlow::Continue(())
        };
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| watcher.run(&mut report)));
        let trouble = match ended {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "a bug of carryover's".to_owned(),
        };
        shared.set_watching(Vec::new());
        shared.capture.note_trouble("the watcher", &format!("nothing is watched any more: {trouble}"));
    })?;
    let stop = receiver.recv().map_err(io::Error::other)?;
    Ok(RunningWatcher { stop, thread })
}
