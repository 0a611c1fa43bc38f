//! Sessions that are written to while a watcher looks on.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use carryover_agents::{AGENTS, Agent, by_name};
use carryover_core::time::Timestamp;
use serde_json::{Value, json};

use super::importing;
use super::world::World;
use crate::watch::{Event, Handle, Limit, Options, Watcher};

const ID: &str = "d3a03cdd-c689-41e6-9587-86a6223f5251";
const OTHER: &str = "1392e77c-7d87-44c4-8ad6-61d4a6f4e3a1";

/// Before every fixture, so that everything in them is news.
const LONG_AGO: &str = "2026-01-01T00:00:00Z";

/// Far above what is needed, and still an end.
const PATIENCE: Duration = Duration::from_mins(1);

/// A watcher at work.
struct Watching {
    events: Receiver<Event>,
    seen: Vec<Event>,
    handle: Handle,
    thread: JoinHandle<()>,
}

impl Watching {
    /// Begins, and waits until all stores are watched.
    fn start(world: &World, now: &str) -> Self {
        Self::start_with(world, now, AGENTS.to_vec(), 3600)
    }

    fn start_with(world: &World, now: &str, agents: Vec<&'static dyn Agent>, interval: u64) -> Self {
        let (context, now) = (world.context.clone(), Timestamp::parse(now).unwrap());
        let (sender, events) = channel();
        let (handles, handle) = channel();
        let thread = std::thread::spawn(move || {
            let clock = move || now;
            let interval = Duration::from_secs(interval);
            let state_in = Some(context.cwd.clone());
            let options = Options { agents, interval, debounce: Duration::from_millis(100), state_in };
            let mut watcher = Watcher::open(&context, options, &clock);
            handles.send(watcher.handle()).unwrap();
            let told = watcher.run(&mut |event| {
                // Whoever does not listen any more has seen enough.
                if sender.send(event).is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            told.unwrap();
        });
        let handle = handle.recv().unwrap();
        let mut watching = Self { events, seen: Vec::new(), handle, thread };
        watching.until(|event| matches!(event, Event::Watching { .. }));
        watching
    }

    fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> Event {
        let deadline = Instant::now() + PATIENCE;
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

    fn limit(&mut self) -> Limit {
        let Event::Limit(limit) = self.until(|event| matches!(event, Event::Limit(_))) else { unreachable!() };
        limit
    }

    fn active(&mut self, id: &str) {
        self.until(|event| matches!(event, Event::Active(activity) if activity.session.0 == id));
    }

    /// Ends it, and gives every limit that was told.
    fn finish(mut self) -> Vec<Limit> {
        self.handle.stop();
        self.thread.join().unwrap();
        self.seen.extend(self.events.try_iter());
        assert!(!self.seen.iter().any(|event| matches!(event, Event::Trouble { .. })), "{:?}", self.seen);
        let limits =
            self.seen.into_iter().filter_map(|event| if let Event::Limit(it) = event { Some(it) } else { None });
        limits.collect()
    }
}

fn fixture(agent: &str, name: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/src").join(agent).join("fixtures");
    fs_err::read_to_string(folder.join(name)).unwrap().lines().map(str::to_owned).collect()
}

fn text(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

fn append(path: &Path, text: &str) {
    let mut file = fs_err::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// A session of one agent, and the lines with which it ends in a limit.
struct Case {
    agent: &'static str,
    path: &'static str,
    before: Vec<String>,
    limit: Vec<String>,
    resets: bool,
}

fn cut(agent: &'static str, path: &'static str, folder: &str, name: &str, at: usize) -> Case {
    let mut before = fixture(folder, name);
    let limit = before.split_off(at);
    Case { agent, path, before, limit, resets: false }
}

fn claude() -> Case {
    let path = "home/.claude/projects/-p/d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl";
    Case { resets: true, ..cut("claude-code", path, "claude_code", "2.1.325-limit.jsonl", 26) }
}

fn pi() -> Case {
    let path = "home/.pi/agent/sessions/--p--/2026-11-15T01-22-39-790Z_d3a03cdd-c689-41e6-9587-86a6223f5251.jsonl";
    cut("pi", path, "pi", "0.73.1-limit.jsonl", 12)
}

fn cases() -> Vec<Case> {
    let uuid = "d3a03cdd-c689-41e6-9587-86a6223f5251";
    let leak = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let codex = format!("home/.codex/sessions/2026/11/15/rollout-2026-11-15T01-09-52-{uuid}.jsonl");
    let qwen = format!("home/.qwen/projects/-p/chats/{uuid}.jsonl");
    let copilot = format!("home/.copilot/session-state/{uuid}/events.jsonl");
    let gemini = "home/.gemini/tmp/p/chats/session-2026-11-15T04-39-feb9ca7b.jsonl";
    let quota = r#"{"id":"d","timestamp":"2026-11-15T04:41:00.000Z","type":"error","content":"Your quota will reset after 1h."}"#;
    let mut said = cut("gemini-cli", gemini, "gemini_cli", "0.61.0-limit.jsonl", 14);
    said.limit = vec![quota.to_owned()];
    said.resets = true;
    let codex = cut("codex", leak(codex), "codex", "0.166.0-usage-limit.jsonl", 16);
    vec![
        claude(),
        Case { resets: true, ..codex },
        said,
        cut("qwen-code", leak(qwen), "qwen_code", "0.24.4-limit.jsonl", 2),
        pi(),
        cut("copilot-cli", leak(copilot), "copilot_cli", "1.0.102-limit.jsonl", 4),
        cut(
            "aider",
            "project/.aider.chat.history.md",
            "aider",
            "0.86.2-limit.md",
            fixture("aider", "0.86.2-limit.md").len() - 3,
        ),
    ]
}

#[test]
fn the_limit_of_every_agent_is_told_once_and_in_time() {
    for case in cases() {
        let world = World::new();
        let path = world.write(case.path, &text(&case.before));
        let mut watching = Watching::start(&world, LONG_AGO);
        append(&path, &text(&case.limit));
        let limit = watching.limit();
        assert_eq!(limit.agent, case.agent);
        assert_eq!(limit.resets_at.is_some(), case.resets, "{limit:?}");
        assert!(!limit.message.is_empty());
        assert_eq!(watching.finish().len(), 1, "{}", case.agent);
    }
}

/// A watcher looks at one file, a listing at all of them; they must not tell different things.
#[test]
fn one_file_is_listed_as_the_whole_store_is() {
    for case in cases() {
        let world = World::new();
        let path = world.write(case.path, &text(&case.before));
        let agent = by_name(case.agent).unwrap();
        let store = agent.stores(&world.context.env).remove(0);
        let mut listed = Vec::new();
        let told = agent.discover(&store, &mut |found| {
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
    let agent = by_name("opencode").unwrap();
    let database = world.path("home/.local/share/opencode/opencode.db");
    let owner = importing::open(&database, importing::TABLES);
    owner.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0)).unwrap();
    let export: Value = serde_json::from_str(&fixture("opencode", "limit.json").join("\n")).unwrap();
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
    let mut watching = Watching::start_with(&world, LONG_AGO, vec![agent], 3600);
    watching.active("ses_1");
    // The client bothers to say that a session changed at the beginning of a turn only.
    insert(&export["messages"][1]);
    let limit = watching.limit();
    assert_eq!((limit.agent, &*limit.session.0), ("opencode", "ses_1"));
    assert!(limit.resets_at.is_some());
    owner.execute("UPDATE message SET time_updated = time_updated + 1", []).unwrap();
    watching.active("ses_1");
    assert_eq!(watching.finish().len(), 1);
    let mut names: Vec<_> =
        fs_err::read_dir(database.parent().unwrap()).unwrap().map(|it| it.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["opencode.db", "opencode.db-shm", "opencode.db-wal"]);
}

fn claude_path(world: &World, id: &str) -> PathBuf {
    world.path(&format!("home/.claude/projects/-p/{id}.jsonl"))
}

/// A record of a client that has many fields, with some words in one place.
fn claude_record(id: &str, number: u32, body: &Value) -> String {
    let mut record = json!({ "parentUuid": null, "isSidechain": false, "sessionId": id, "cwd": "/p", "version": "2.1.325",
        "uuid": format!("00000000-0000-4000-8000-{number:012}"), "timestamp": format!("2026-11-15T02:00:{number:02}.000Z") });
    record.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    format!("{record}\n")
}

#[test]
fn words_about_limits_in_prompts_replies_and_outputs_do_not_alarm() {
    let world = World::new();
    let path = world.write(claude().path, &text(&claude().before));
    let mut watching = Watching::start(&world, LONG_AGO);
    let words = "HTTP 429 Too Many Requests: rate limit exceeded, usage limit reached, quota exceeded, overloaded";
    let said = |kind: &str, role: &str, content: Value| json!({ "type": kind, "message": { "role": role, "content": content } });
    append(&path, &claude_record(ID, 1, &said("user", "user", json!(words))));
    append(
        &path,
        &claude_record(
            ID,
            2,
            &said(
                "assistant",
                "assistant",
                json!([{ "type": "text", "text": words },
        { "type": "tool_use", "id": "t1", "name": "Bash", "input": { "command": words } }]),
            ),
        ),
    );
    append(
        &path,
        &claude_record(
            ID,
            3,
            &said(
                "user",
                "user",
                json!([{ "type": "tool_result", "tool_use_id": "t1",
        "is_error": true, "content": words }]),
            ),
        ),
    );
    append(&path, &claude_record(ID, 4, &json!({ "type": "system", "subtype": "local_command", "content": words })));
    watching.active(ID);
    world.write(&format!("home/.claude/projects/-p/{OTHER}.jsonl"), &text(&claude().before).replace(ID, OTHER));
    watching.active(OTHER);
    assert_eq!(watching.finish(), []);
}

/// Older clients keep no kind of error, but their own words.
#[test]
fn an_error_that_only_words_tell_of_is_told() {
    let world = World::new();
    let path = world.write(claude().path, &text(&claude().before));
    let mut watching = Watching::start(&world, LONG_AGO);
    let said = "API Error: 429 {\"type\":\"error\"}";
    let message = json!({ "model": "<synthetic>", "role": "assistant", "content": [{ "type": "text", "text": said }] });
    append(
        &path,
        &claude_record(ID, 1, &json!({ "type": "assistant", "isApiErrorMessage": true, "message": message })),
    );
    assert_eq!(watching.limit().message, said);
    watching.finish();
}

#[test]
fn a_burst_of_retries_gives_one_alert_and_the_next_turn_another() {
    let world = World::new();
    let case = pi();
    let path = world.write(case.path, &text(&case.before));
    let mut watching = Watching::start(&world, LONG_AGO);
    append(&path, &text(&case.limit[..1]));
    let first = watching.limit();
    for line in &case.limit[1..] {
        append(&path, &text(std::slice::from_ref(line)));
        watching.active(&first.session.0);
    }
    // The user tries again, which comes to nothing, too.
    append(&path, &text(&[case.before[11].clone(), case.limit[0].clone()]).replace("01:22:49", "01:40:00"));
    let second = watching.limit();
    assert_eq!(second.session, first.session);
    assert_eq!(watching.finish().len(), 2);
}

#[test]
fn a_line_that_is_cut_off_counts_when_it_is_whole() {
    let world = World::new();
    let case = claude();
    let path = world.write(case.path, &text(&case.before));
    let mut watching = Watching::start(&world, LONG_AGO);
    watching.active(ID);
    let (head, tail) = case.limit[0].split_at(900);
    append(&path, head);
    watching.active(ID);
    assert!(!watching.seen.iter().any(|event| matches!(event, Event::Limit(_))));
    append(&path, &format!("{tail}\n"));
    watching.limit();
    assert_eq!(watching.finish().len(), 1);
}

#[test]
fn a_file_that_is_replaced_is_read_anew() {
    let world = World::new();
    let case = claude();
    let whole = [case.before.clone(), case.limit.clone()].concat();
    world.write(case.path, &text(&case.before[11..]));
    let mut watching = Watching::start(&world, LONG_AGO);
    watching.active(ID);
    world.write(case.path, &text(&whole));
    watching.limit();
    // The same end once more is no news.
    world.write(case.path, &text(&whole[1..]));
    watching.active(ID);
    assert_eq!(watching.finish().len(), 1);
}

#[test]
fn two_sessions_at_once_are_told_apart() {
    let world = World::new();
    let case = claude();
    for id in [ID, OTHER] {
        world.write(&format!("home/.claude/projects/-p/{id}.jsonl"), &text(&case.before).replace(ID, id));
    }
    let mut watching = Watching::start(&world, LONG_AGO);
    for id in [ID, OTHER] {
        append(&claude_path(&world, id), &text(&case.limit).replace(ID, id));
    }
    let mut told = [watching.limit().session.0, watching.limit().session.0];
    told.sort();
    assert_eq!(told, [OTHER, ID]);
    assert_eq!(watching.finish().len(), 2);
}

#[test]
fn only_a_limit_of_the_last_moments_is_told_at_the_beginning() {
    for (now, expected) in [("2026-11-15T01:16:00Z", 1), ("2026-11-15T09:00:00Z", 0)] {
        let world = World::new();
        let case = claude();
        let path = world.write(case.path, &text(&[case.before, case.limit].concat()));
        let mut watching = Watching::start(&world, now);
        if expected == 1 {
            watching.limit();
        }
        // What is appended later brings no old limit back.
        append(&path, "{\"type\":\"mode\",\"mode\":\"normal\"}\n");
        watching.active(ID);
        assert_eq!(watching.finish().len(), expected, "{now}");
    }
}

#[test]
fn new_folders_and_new_stores_are_noticed() {
    let world = World::new();
    let case = claude();
    world.write("home/.claude/settings.json", "{}");
    let mut watching = Watching::start_with(&world, LONG_AGO, AGENTS.to_vec(), 1);
    world.write(case.path, &text(&case.before));
    watching.active(ID);
    append(&claude_path(&world, ID), &text(&case.limit));
    watching.limit();
    // Another agent is started for the first time.
    let later = pi();
    let path = world.write(later.path, &text(&later.before));
    watching.until(|event| matches!(event, Event::Watching { agents } if agents.contains(&"pi")));
    append(&path, &text(&later.limit));
    assert_eq!(watching.limit().agent, "pi");
    // A folder that comes again is another folder.
    fs_err::remove_dir_all(world.path("home/.claude/projects")).unwrap();
    watching.until(|event| matches!(event, Event::Ended { session, .. } if session.0 == ID));
    world.write(&format!("home/.claude/projects/-p/{OTHER}.jsonl"), &text(&case.before).replace(ID, OTHER));
    watching.active(OTHER);
    append(&claude_path(&world, OTHER), &text(&case.limit).replace(ID, OTHER));
    assert_eq!(watching.limit().session.0, OTHER);
    watching.finish();
}

#[test]
fn the_state_names_what_is_in_use_and_nothing_is_left_behind() {
    let world = World::new();
    let case = claude();
    let path = world.write(case.path, &text(&case.before));
    let quiet =
        world.write(&format!("home/.claude/projects/-q/{OTHER}.jsonl"), &text(&case.before[..7]).replace(ID, OTHER));
    let before = threads();
    let mut watching = Watching::start(&world, "2026-11-15T01:15:00Z");
    watching.active(ID);
    watching.finish();
    let state = fs_err::read_to_string(world.path("project/.carryover/watcher-state.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    assert_eq!(state["agents"], json!(["claude-code"]));
    assert!(state["activeSessions"][path.display().to_string()].as_i64().unwrap() > 1_600_000_000_000);
    assert_eq!(state["activeSessions"][quiet.display().to_string()], Value::Null);
    let deadline = Instant::now() + PATIENCE;
    while threads() > before {
        assert!(Instant::now() < deadline, "a thread is left behind");
        std::thread::yield_now();
    }
}

/// How many threads watch; other tests have theirs.
fn threads() -> usize {
    if std::env::args().any(|argument| argument == "--exact") {
        fs_err::read_dir("/proc/self/task").map_or(0, Iterator::count)
    } else {
        0
    }
}
