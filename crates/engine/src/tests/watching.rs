//! Sessions that are written to while a watcher looks on.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use carryover_agents::{AGENTS, Agent, agent_by_name};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;
use serde::Deserialize;
use serde_json::{Value, json};

use super::importing;
use super::world::World;
use crate::watch::{Activity, Doing, Event, Limit, Observer, Options, StopHandle, Watcher};

const SESSION_ID: &str = "d3a03cdd-c689-41e6-9587-86a6223f5251";
const OTHER_ID: &str = "1392e77c-7d87-44c4-8ad6-61d4a6f4e3a1";

/// Before every fixture, so that everything in them is news.
pub(super) const LONG_AGO: &str = "2026-01-01T00:00:00Z";

/// Far above what is needed, and still an end.
const EVENT_TIMEOUT: Duration = Duration::from_mins(1);

/// A watcher at work.
pub(super) struct WatcherThread {
    events: Receiver<Event>,
    pub(super) seen: Vec<Event>,
    handle: StopHandle,
    thread: JoinHandle<()>,
}

impl WatcherThread {
    /// Begins, and waits until all stores are watched.
    fn start(world: &World, now: &str) -> Self {
        Self::start_with(world, now, AGENTS.to_vec(), 3600)
    }

    pub(super) fn start_with(world: &World, now: &str, agents: Vec<&'static dyn Agent>, interval: u64) -> Self {
        let (context, now) = (world.context.clone(), Timestamp::parse(now).unwrap());
        let (sender, events) = channel();
        let (handles, handle) = channel();
        let thread = std::thread::spawn(move || {
            let clock = move || now;
            let interval = Duration::from_secs(interval);
            let state_in = Some(context.cwd.clone());
            let options = Options { agents, interval, debounce: Duration::from_millis(100), state_in, observer: None };
            let mut watcher = Watcher::open(&context, options, &clock);
            handles.send(watcher.stop_handle()).unwrap();
            let told = watcher.run(&mut |event| {
                // Whoever does not listen any more has seen enough.
                if sender.send(event).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            told.unwrap();
        });
        let handle = handle.recv().unwrap();
        let mut watching = Self { events, seen: Vec::new(), handle, thread };
        watching.wait_for(|event| matches!(event, Event::Watching { .. }));
        watching
    }

    pub(super) fn wait_for(&mut self, wanted: impl Fn(&Event) -> bool) -> Event {
        let deadline = Instant::now() + EVENT_TIMEOUT;
        loop {
            match self.events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(event) => {
                    self.seen.push(event.clone());
                    if wanted(&event) {
                        return event;
                    }
                }
                Err(RecvTimeoutError::Timeout) => panic!("it did not happen, but {:?}", self.seen),
                Err(RecvTimeoutError::Disconnected) => panic!("the watcher ended"),
            }
        }
    }

    fn wait_for_limit(&mut self) -> Limit {
        let Event::Limit(limit) = self.wait_for(|event| matches!(event, Event::Limit(_))) else { unreachable!() };
        limit
    }

    pub(super) fn wait_for_active(&mut self, id: &str) -> Activity {
        let is_it = |event: &Event| matches!(event, Event::Active(activity) if activity.session.0 == id);
        let Event::Active(activity) = self.wait_for(is_it) else { unreachable!() };
        activity
    }

    /// The last that was told of a session.
    fn last_activity(&self, id: &SessionId) -> &Activity {
        let told = self.seen.iter().rev().find_map(|event| match event {
            Event::Active(activity) if activity.session == *id => Some(activity),
            _ => None,
        });
        told.unwrap()
    }

    /// Ends it, and gives every limit that was told.
    pub(super) fn finish(mut self) -> Vec<Limit> {
        self.handle.stop();
        self.thread.join().unwrap();
        self.seen.extend(self.events.try_iter());
        assert!(!self.seen.iter().any(|event| matches!(event, Event::Trouble { .. })), "{:?}", self.seen);
        let limits =
            self.seen.into_iter().filter_map(|event| if let Event::Limit(it) = event { Some(it) } else { None });
        limits.collect()
    }
}

fn join_lines(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

fn append_text(path: &Path, text: &str) {
    let mut file = fs_err::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A session of one agent, and the lines with which it ends in a limit: its `limit.toml`.
#[derive(Deserialize)]
struct LimitCase {
    #[serde(skip)]
    agent: &'static str,
    /// Where the client keeps it; `{id}` stands for the session's.
    path: String,
    /// The fixture.
    session: String,
    #[serde(default)]
    is_database: bool,
    #[serde(default)]
    line: usize,
    #[serde(default)]
    resets: bool,
    #[serde(skip)]
    before: Vec<String>,
    #[serde(default)]
    limit: Vec<String>,
    #[serde(default)]
    harmless: Vec<String>,
    worded: Option<Worded>,
    again: Option<Again>,
}

/// A limit that only words tell of.
#[derive(Deserialize)]
struct Worded {
    record: String,
    message: String,
}

/// How a turn is begun again: the line of its prompt, and the time in it.
#[derive(Deserialize)]
struct Again {
    prompt: usize,
    at: String,
}

impl LimitCase {
    fn load(agent: &dyn Agent) -> Option<Self> {
        let id = agent.facts().id;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/src").join(id.replace('-', "_"));
        let text = fs_err::read_to_string(folder.join("limit.toml")).ok()?;
        let mut case: Self = toml_edit::de::from_str(&text).unwrap();
        let session = fs_err::read_to_string(folder.join("fixtures").join(&case.session)).unwrap();
        case.before = session.lines().map(str::to_owned).collect();
        case.agent = id;
        if !case.is_database {
            let limit = case.before.split_off(case.line);
            case.limit = if case.limit.is_empty() { limit } else { case.limit };
        }
        Some(case)
    }

    /// Where a session is kept.
    fn path_for(&self, id: &str) -> String {
        self.path.replace("{id}", id)
    }
}

fn all_cases() -> Vec<LimitCase> {
    AGENTS.iter().filter_map(|agent| LimitCase::load(*agent)).collect()
}

fn file_cases() -> Vec<LimitCase> {
    all_cases().into_iter().filter(|case| !case.is_database).collect()
}

/// One whose fixture the tests below are made for.
fn worded_case() -> LimitCase {
    file_cases().into_iter().find(|case| case.worded.is_some()).unwrap()
}

/// One whose client tries again by itself.
fn retrying_case() -> LimitCase {
    file_cases().into_iter().find(|case| case.again.is_some()).unwrap()
}

#[test]
fn the_limit_of_every_agent_is_told_once_and_in_time() {
    assert!(file_cases().len() >= 7, "a case is missing");
    let mut percents = Vec::new();
    for case in file_cases() {
        let world = World::new();
        let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
        let mut watching = WatcherThread::start(&world, LONG_AGO);
        append_text(&path, &join_lines(&case.limit));
        let limit = watching.wait_for_limit();
        assert_eq!(limit.agent, case.agent);
        assert_eq!(limit.resets_at.is_some(), case.resets, "{limit:?}");
        assert!(!limit.message.is_empty());
        let Activity { doing, usage, .. } = watching.last_activity(&limit.session);
        percents.extend(usage.limits.iter().map(|limit| limit.used_percent));
        assert!(matches!(doing, Doing::AtLimit { resets_at, .. } if *resets_at == limit.resets_at), "{doing:?}");
        assert_eq!(watching.finish().len(), 1, "{}", case.agent);
    }
    assert!(percents.contains(&100.0), "where a client records how far a limit is used up, that is told: {percents:?}");
}

/// A watcher looks at one file, a listing at all of them; they must not tell different things.
#[test]
fn one_file_is_listed_as_the_whole_store_is() {
    for case in file_cases() {
        let world = World::new();
        let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
        let agent = agent_by_name(case.agent).unwrap();
        let store = agent.stores(&world.context.env).remove(0);
        let mut listed = Vec::new();
        let told = agent.list_sessions(&store, &mut |found| {
            listed.push(found);
            ControlFlow::Continue(())
        });
        told.unwrap();
        assert_eq!(agent.sessions_in(&store, &path).unwrap(), listed, "{}", case.agent);
        assert_eq!(listed.len(), 1);
    }
}

#[test]
fn a_limit_in_a_database_is_told_once() {
    let world = World::new();
    let case = all_cases().into_iter().find(|case| case.is_database).unwrap();
    let agent = agent_by_name(case.agent).unwrap();
    let database = world.path(&case.path);
    let owner = importing::open_database(&database, importing::MESSAGE_TABLES);
    owner.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)).unwrap();
    let export: Value = serde_json::from_str(&join_lines(&case.before)).unwrap();
    let insert = |message: &Value| {
        let at = message["info"]["time"]["created"].as_i64();
        let data = message["info"].to_string();
        let sql = "INSERT INTO message VALUES (?1, 'ses_1', ?2, ?2, ?3)";
        owner.execute(sql, rusqlite::params![message["info"]["id"].as_str(), at, data]).unwrap();
    };
    owner
        .execute("INSERT INTO session VALUES ('ses_1', NULL, '/p', 'Title', '1', 1794705370000, 1794705370000)", [])
        .unwrap();
    insert(&export["messages"][0]);
    let mut watching = WatcherThread::start_with(&world, LONG_AGO, vec![agent], 3600);
    watching.wait_for_active("ses_1");
    // The client bothers to say that a session changed at the beginning of a turn only.
    insert(&export["messages"][1]);
    let limit = watching.wait_for_limit();
    assert_eq!((limit.agent, &*limit.session.0), (case.agent, "ses_1"));
    assert_eq!(limit.resets_at.is_some(), case.resets);
    owner.execute("UPDATE message SET time_updated = time_updated + 1", []).unwrap();
    watching.wait_for_active("ses_1");
    assert_eq!(watching.finish().len(), 1);
    let files = fs_err::read_dir(database.parent().unwrap()).unwrap();
    let mut names: Vec<String> = files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let name = database.file_name().unwrap().to_string_lossy();
    assert_eq!(names, ["", "-shm", "-wal"].map(|end| format!("{name}{end}")));
}

#[test]
fn words_about_limits_in_prompts_replies_and_outputs_do_not_alarm() {
    let world = World::new();
    let case = worded_case();
    let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
    let mut watching = WatcherThread::start(&world, LONG_AGO);
    assert_eq!(case.harmless.len(), 4);
    for line in &case.harmless {
        append_text(&path, &join_lines(std::slice::from_ref(line)));
    }
    watching.wait_for_active(SESSION_ID);
    world.write_file(&case.path_for(OTHER_ID), &join_lines(&case.before).replace(SESSION_ID, OTHER_ID));
    watching.wait_for_active(OTHER_ID);
    assert_eq!(watching.finish(), []);
}

#[test]
fn an_error_that_only_words_tell_of_is_told() {
    let world = World::new();
    let case = worded_case();
    let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
    let mut watching = WatcherThread::start(&world, LONG_AGO);
    let worded = case.worded.unwrap();
    append_text(&path, &join_lines(&[worded.record]));
    assert_eq!(watching.wait_for_limit().message, worded.message);
    watching.finish();
}

#[test]
fn a_burst_of_retries_gives_one_alert_and_the_next_turn_another() {
    let world = World::new();
    let case = retrying_case();
    let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
    let mut watching = WatcherThread::start(&world, LONG_AGO);
    append_text(&path, &join_lines(&case.limit[..1]));
    let first = watching.wait_for_limit();
    for line in &case.limit[1..] {
        append_text(&path, &join_lines(std::slice::from_ref(line)));
        watching.wait_for_active(&first.session.0);
    }
    // The user tries again, which comes to nothing, too.
    let again = case.again.unwrap();
    let turn = [case.before[again.prompt].clone(), case.limit[0].clone()];
    append_text(&path, &join_lines(&turn).replace(&again.at, "01:40:00"));
    let second = watching.wait_for_limit();
    assert_eq!(second.session, first.session);
    assert_eq!(watching.finish().len(), 2);
}

#[test]
fn a_line_that_is_cut_off_counts_when_it_is_whole() {
    let world = World::new();
    let case = worded_case();
    let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
    let mut watching = WatcherThread::start(&world, LONG_AGO);
    watching.wait_for_active(SESSION_ID);
    let (head, tail) = case.limit[0].split_at(900);
    append_text(&path, head);
    watching.wait_for_active(SESSION_ID);
    assert!(!watching.seen.iter().any(|event| matches!(event, Event::Limit(_))));
    append_text(&path, &format!("{tail}\n"));
    watching.wait_for_limit();
    assert_eq!(watching.finish().len(), 1);
}

#[test]
fn a_file_that_is_replaced_is_read_anew() {
    let world = World::new();
    let case = worded_case();
    let whole = [case.before.clone(), case.limit.clone()].concat();
    world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before[11..]));
    let mut watching = WatcherThread::start(&world, LONG_AGO);
    watching.wait_for_active(SESSION_ID);
    world.write_file(&case.path_for(SESSION_ID), &join_lines(&whole));
    watching.wait_for_limit();
    // The same end once more is no news.
    world.write_file(&case.path_for(SESSION_ID), &join_lines(&whole[1..]));
    watching.wait_for_active(SESSION_ID);
    assert_eq!(watching.finish().len(), 1);
}

#[test]
fn two_sessions_at_once_are_told_apart() {
    let world = World::new();
    let case = worded_case();
    for id in [SESSION_ID, OTHER_ID] {
        world.write_file(&case.path_for(id), &join_lines(&case.before).replace(SESSION_ID, id));
    }
    let mut watching = WatcherThread::start(&world, LONG_AGO);
    for id in [SESSION_ID, OTHER_ID] {
        append_text(&world.path(&case.path_for(id)), &join_lines(&case.limit).replace(SESSION_ID, id));
    }
    let mut told = [watching.wait_for_limit().session.0, watching.wait_for_limit().session.0];
    told.sort();
    assert_eq!(told, [OTHER_ID, SESSION_ID]);
    assert_eq!(watching.finish().len(), 2);
}

#[test]
fn only_a_limit_of_the_last_moments_is_told_at_the_beginning() {
    for (now, expected) in [("2026-11-15T01:16:00Z", 1), ("2026-11-15T09:00:00Z", 0)] {
        let world = World::new();
        let case = worded_case();
        let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&[case.before, case.limit].concat()));
        let mut watching = WatcherThread::start(&world, now);
        if expected == 1 {
            watching.wait_for_limit();
        }
        // Records that are appended later bring no old limit back.
        append_text(&path, "{\"type\":\"mode\",\"mode\":\"normal\"}\n");
        watching.wait_for_active(SESSION_ID);
        assert_eq!(watching.finish().len(), expected, "{now}");
    }
}

#[test]
fn new_folders_and_new_stores_are_noticed() {
    let world = World::new();
    let case = worded_case();
    let store = agent_by_name(case.agent).unwrap().facts().store_candidates(&world.context.env).remove(0);
    fs_err::create_dir_all(store).unwrap();
    let mut watching = WatcherThread::start_with(&world, LONG_AGO, AGENTS.to_vec(), 1);
    world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
    watching.wait_for_active(SESSION_ID);
    append_text(&world.path(&case.path_for(SESSION_ID)), &join_lines(&case.limit));
    watching.wait_for_limit();
    // Another agent is started for the first time.
    let later = retrying_case();
    let path = world.write_file(&later.path_for(SESSION_ID), &join_lines(&later.before));
    watching.wait_for(|event| matches!(event, Event::Watching { agents } if agents.contains(&later.agent)));
    append_text(&path, &join_lines(&later.limit));
    assert_eq!(watching.wait_for_limit().agent, later.agent);
    // A folder that comes again is another folder.
    let folders = world.path(&case.path_for(SESSION_ID)).ancestors().nth(2).unwrap().to_owned();
    fs_err::remove_dir_all(folders).unwrap();
    watching.wait_for(|event| matches!(event, Event::Ended { session, .. } if session.0 == SESSION_ID));
    world.write_file(&case.path_for(OTHER_ID), &join_lines(&case.before).replace(SESSION_ID, OTHER_ID));
    watching.wait_for_active(OTHER_ID);
    append_text(&world.path(&case.path_for(OTHER_ID)), &join_lines(&case.limit).replace(SESSION_ID, OTHER_ID));
    assert_eq!(watching.wait_for_limit().session.0, OTHER_ID);
    watching.finish();
}

#[test]
fn the_state_names_what_is_in_use_and_nothing_is_left_behind() {
    let world = World::new();
    let case = worded_case();
    let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
    let quiet = world.write_file(
        &case.path_for(OTHER_ID).replace("/-p/", "/-q/"),
        &join_lines(&case.before[..7]).replace(SESSION_ID, OTHER_ID),
    );
    let before = count_threads();
    let mut watching = WatcherThread::start(&world, "2026-11-15T01:15:00Z");
    watching.wait_for_active(SESSION_ID);
    watching.finish();
    let state = fs_err::read_to_string(world.path("project/.carryover/watcher-state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["agents"], json!([case.agent]));
    assert!(state["activeSessions"][path.display().to_string()].as_i64().unwrap() > 1_600_000_000_000);
    assert_eq!(state["activeSessions"][quiet.display().to_string()], Value::Null);
    let deadline = Instant::now() + EVENT_TIMEOUT;
    while count_threads() > before {
        assert!(Instant::now() < deadline, "a thread is left behind");
        std::thread::yield_now();
    }
}

/// How many threads watch; other tests have theirs.
fn count_threads() -> usize {
    if std::env::args().any(|argument| argument == "--exact") {
        fs_err::read_dir("/proc/self/task").map_or(0, Iterator::count)
    } else {
        0
    }
}

#[test]
fn a_panic_costs_one_look_and_is_told_without_its_words() {
    let case = file_cases().remove(0);
    let world = World::new();
    let path = world.write_file(&case.path_for(SESSION_ID), &join_lines(&case.before));
    let mut has_panicked = false;
    let observer: Observer = Box::new(move |_| {
        assert!(std::mem::replace(&mut has_panicked, true), "words of a session");
    });
    let now = Timestamp::parse(LONG_AGO).unwrap();
    let clock = move || now;
    let options = Options {
        agents: vec![agent_by_name(case.agent).unwrap()],
        interval: Duration::from_hours(1),
        debounce: Duration::from_millis(1),
        state_in: None,
        observer: Some(observer),
    };
    let mut watcher = Watcher::open(&world.context, options, &clock);
    let mut told = None;
    let told_all = watcher.run(&mut |event| match event {
        Event::Trouble { agent, message } => {
            told = Some((agent, message));
            append_text(&path, &join_lines(&case.limit));
            ControlFlow::Continue(())
        }
        Event::Active(_) if told.is_some() => ControlFlow::Break(()),
        _ => {
            append_text(&path, "\n");
            ControlFlow::Continue(())
        }
    });
    told_all.unwrap();
    assert_eq!(told, Some((Some(case.agent), "a bug of carryover's".to_owned())));
}
