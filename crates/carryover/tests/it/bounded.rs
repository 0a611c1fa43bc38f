//! Whatever stands in a file's place, and however much it claims to hold: nothing hangs, and memory has a bound.
//!
//! Every run has a limit on its memory and ends after a minute at the latest.

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use carryover_agents::AGENTS;
use carryover_testkit::agents::LABS;

use crate::stores::{all_stores, store};
use crate::support::{CLAUDE, Said, TestEnv};

/// What stands in a file's place and is none.
const SPECIAL: &[&str] = &["pipe", "socket", "device", "folder"];

/// What a link is called whose end is missing.
const LOST: &str = "link that leads nowhere";

/// Puts something special in a file's place.
fn put(what: &str, path: &Path) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    match what {
        "pipe" => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        "socket" => {
            // The path of a socket that is made must be short.
            let folder = tempfile::tempdir().unwrap();
            UnixListener::bind(folder.path().join("s")).unwrap();
            fs_err::rename(folder.path().join("s"), path).unwrap();
        }
        "device" => symlink("/dev/zero", path).unwrap(),
        LOST => symlink("nowhere", path).unwrap(),
        _ => fs_err::create_dir(path).unwrap(),
    }
}

/// Runs the program with so many megabytes of address space.
fn run(env: &TestEnv, megabytes: u64, args: &[&str]) -> Said {
    let whole = env.command(args);
    let mut limited = Command::new("/bin/sh");
    let script = format!("ulimit -v {}; exec timeout 60 \"$0\" \"$@\" </dev/null", megabytes << 10);
    limited.args(["-c", &script]).arg(whole.get_program()).args(whole.get_args()).current_dir(env.project());
    limited.env_clear().envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))));
    env.said(limited.env("PATH", "/usr/bin:/bin").output().unwrap())
}

#[test]
fn special_files_in_the_place_of_sessions_are_skipped_and_told() {
    for store in all_stores() {
        let agent = &store.name;
        for what in SPECIAL.iter().chain([&LOST]) {
            let env = TestEnv::with_sessions();
            put(what, &env.home().join(store.path()));
            store.write_beside(&env);
            let listed = run(&env, 1024, &["list", "--all"]);
            assert_eq!(listed.code, Some(0), "{agent}, {what}: {listed}");
            assert!(listed.stdout.contains(CLAUDE), "{agent}, {what}: {listed}");
            let examined = run(&env, 1024, &["doctor"]);
            assert_eq!(examined.code, Some(3), "{agent}, {what}: {examined}");
            for told in [&listed.stderr, &examined.stdout] {
                let is_told = told.contains(&format!("is a {what}, not a file"));
                assert!(
                    is_told || (store.agent == "aider" && told.contains("is a link out of its folder")),
                    "{agent}: {told}"
                );
            }
        }
    }
}

#[test]
fn special_files_that_are_named_are_refused() {
    for what in SPECIAL {
        let env = TestEnv::new();
        let path = env.project().join("session.jsonl");
        put(what, &path);
        let path = path.display().to_string();
        for args in
            [&["show", &path] as &[&str], &["capture", &path], &["resume", "--file", &path, "--target", "codex"]]
        {
            let said = run(&env, 1024, args);
            assert_eq!(said.code, Some(3), "{what}, {args:?}: {said}");
            assert!(said.stderr.contains(&format!("is a {what}, not a file")), "{what}, {args:?}: {said}");
        }
    }
}

/// Files that are read whatever the agent, below the home.
const OTHERS: &[&str] = &[
    ".carryover/cache.json",
    "calc/package.json",
    "calc/Cargo.toml",
    "calc/AGENTS.md",
    "calc/.gitignore",
    "calc/.git",
];

#[test]
fn special_files_in_the_place_of_others_are_not_waited_for() {
    for what in ["pipe", "device"] {
        let env = TestEnv::with_sessions();
        let read_beside = LABS.iter().flat_map(|lab| lab.sample.other_files);
        for other in OTHERS.iter().chain(read_beside) {
            put(what, &env.home().join(other));
        }
        for args in [&["list", "--all"] as &[&str], &["doctor"], &["brief", CLAUDE], &["info"]] {
            let said = run(&env, 1024, args);
            assert_eq!(said.code, Some(0), "{what}, {args:?}: {said}");
        }
        for target in AGENTS.iter().map(|agent| agent.facts().id).filter(|target| *target != "claude-code") {
            let said = run(&env, 1024, &["resume", CLAUDE, "--target", target, "--dry-run"]);
            assert!(said.code.is_some_and(|code| code < 100), "{what}, {target}: {said}");
        }
    }
}

#[test]
fn settings_of_an_agent_that_cannot_be_read_are_told() {
    let settings = |env: &TestEnv| env.home().join(".codex/config.toml");
    for what in SPECIAL {
        let env = TestEnv::with_sessions();
        put(what, &settings(&env));
        let said = run(&env, 1024, &["doctor"]);
        assert!(said.stdout.contains(&format!("config.toml is a {what}, not a file")), "{said}");
    }
    let env = TestEnv::with_sessions();
    fs_err::write(settings(&env), "a".repeat((1 << 20) + 1)).unwrap();
    let said = run(&env, 1024, &["doctor"]);
    assert!(said.stdout.contains("config.toml is longer than 1 MB and is not read"), "{said}");
}

#[test]
fn instructions_that_are_not_read_are_told() {
    for (what, told) in [("pipe", "CLAUDE.md is a pipe, not a file"), ("folder", "CLAUDE.md is a folder, not a file")] {
        let env = TestEnv::with_sessions();
        put(what, &env.project().join("CLAUDE.md"));
        let said = run(&env, 1024, &["brief", CLAUDE]);
        assert!(said.code == Some(0) && said.stderr.contains(told), "{said}");
    }
    let env = TestEnv::with_sessions();
    fs_err::write(env.project().join("CLAUDE.md"), "a".repeat((256 << 10) + 1)).unwrap();
    let said = run(&env, 1024, &["brief", CLAUDE]);
    assert!(said.stderr.contains("CLAUDE.md is longer than "), "{said}");
}

#[test]
fn special_settings_of_ours_are_told() {
    for what in SPECIAL {
        let env = TestEnv::with_sessions();
        put(what, &env.home().join(".carryover/config.toml"));
        let said = run(&env, 1024, &["list", "--all"]);
        assert!(said.stderr.contains(&format!("is a {what}, not a file")), "{said}");
    }
}

/// Runs every command that reads a session, by its path.
fn read_all_ways(env: &TestEnv, megabytes: u64, path: &str) -> Vec<Said> {
    let path = env.home().join(path).display().to_string();
    let commands =
        [&["list", "--all"] as &[&str], &["doctor"], &["show", &path], &["capture", &path], &["brief", &path]];
    let said = commands.map(|args| run(env, megabytes, args));
    for (args, said) in commands.iter().zip(&said) {
        assert!(matches!(said.code, Some(0 | 2 | 3)), "{args:?}: {said}");
    }
    said.into()
}

#[test]
fn millions_of_empty_records_cost_no_memory() {
    for agent in AGENTS.iter().map(|agent| agent.facts().id) {
        let store = store(agent);
        if store.is_database() {
            continue;
        }
        let env = TestEnv::new();
        env.write(&store.path(), &"{}\n".repeat(2_000_000));
        let said = run(&env, 400, &["doctor"]);
        assert_eq!(said.code, Some(0), "{agent}: {said}");
    }
}

#[test]
fn lines_that_are_no_records_cost_little_memory() {
    for agent in AGENTS.iter().map(|agent| agent.facts().id) {
        let store = store(agent);
        if store.is_database() || Path::new(&store.path()).extension().is_none_or(|end| end != "jsonl") {
            continue;
        }
        let (_, env) = store.sound().swap_remove(0);
        let path = env.home().join(store.path());
        let mut file = fs_err::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all("1\n".repeat(250_000).as_bytes()).unwrap();
        let said = run(&env, 220, &["brief", &path.display().to_string()]);
        assert_eq!(said.code, Some(0), "{agent}: {said}");
        assert!(said.stderr.contains("more than 100000 records could not be read"), "{agent}: {said}");
    }
}

#[test]
fn one_line_of_ten_thousands_of_tasks_costs_little_memory() {
    let env = TestEnv::new();
    let prompt = "TODO: mend it, ".repeat(17_000);
    let line = serde_json::json!({
        "parentUuid": null, "type": "user", "uuid": "u1", "sessionId": "s1", "timestamp": "2026-11-15T00:00:00.000Z", "cwd": "/p",
        "message": {"role": "user", "content": prompt},
    });
    let path = ".claude/projects/-p/00000000-0000-4000-8000-000000000001.jsonl";
    env.write(path, &format!("{line}\n"));
    let path = env.home().join(path).display().to_string();
    for command in ["brief", "handoff", "capture"] {
        let said = run(&env, 500, &[command, &path]);
        assert_eq!(said.code, Some(0), "{command}: {said}");
    }
}

#[test]
fn a_compressed_log_is_unpacked_as_far_as_its_size_explains() {
    let env = TestEnv::new();
    let path = ".codex/sessions/2026/11/15/rollout-2026-11-15T00-00-00-00000000-0000-4000-8000-000000000001.jsonl.zst";
    env.write(path, "");
    let meta = r#"{"timestamp":"2026-11-15T00:00:00.000Z","type":"session_meta","payload":{"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p","originator":"x","cli_version":"0.166.0"}}"#;
    let packed = fs_err::File::create(env.home().join(path)).unwrap();
    let mut encoder = zstd::stream::write::Encoder::new(packed, 1).unwrap();
    writeln!(encoder, "{meta}").unwrap();
    std::io::copy(&mut std::io::repeat(b' ').take(1 << 27), &mut encoder).unwrap();
    encoder.finish().unwrap();
    let said = read_all_ways(&env, 700, path);
    assert!(said[2].stderr.contains("unpacks to more than 256 times its size"), "{}", said[2]);
}

#[test]
fn garbage_beside_a_database_is_not_waited_for() {
    let garbage = |path: &Path| fs_err::write(path, vec![7; 40_000]).unwrap();
    for agent in AGENTS.iter().map(|agent| agent.facts().id) {
        let store = store(agent);
        if !store.is_database() {
            continue;
        }
        for what in ["garbage", "pipe", "folder"] {
            let (_, env) = store.sound().swap_remove(0);
            let beside = |ending: &str| env.home().join(format!("{}{ending}", store.path()));
            garbage(&beside("-wal"));
            if what == "garbage" {
                garbage(&beside("-shm"));
            } else {
                put(what, &beside("-shm"));
            }
            let said = run(&env, 1024, &["list", "--all"]);
            // Without a word of shared memory, the database is read as if nobody had it open.
            assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{agent}, {what}: {said}");
        }
    }
}

/// The databases below a folder.
fn databases(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_database = |path: &PathBuf| fs_err::read(path).unwrap().starts_with(b"SQLite format 3\0");
    files.into_iter().filter(is_database).chain(folders.iter().flat_map(|folder| databases(folder))).collect()
}

/// Puts a view with the same columns in the place of each table, in which there is always one more row.
fn make_endless(database: &Path) {
    let connection = rusqlite::Connection::open(database).unwrap();
    let query = "SELECT s.name, group_concat('x AS \"' || c.name || '\"') FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
                 WHERE s.type = 'table' AND s.name NOT LIKE 'sqlite_%' GROUP BY s.name";
    let tables: Vec<(String, String)> = connection
        .prepare(query)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    for (table, columns) in tables {
        let sql = format!(
            "ALTER TABLE \"{table}\" RENAME TO \"old_{table}\";
             CREATE VIEW \"{table}\" AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT {columns} FROM n;"
        );
        connection.execute_batch(&sql).unwrap();
    }
}

#[test]
fn a_view_without_an_end_in_the_place_of_a_table_is_not_waited_for() {
    for store in all_stores() {
        let (_, env) = store.sound().swap_remove(0);
        let databases = databases(&env.home());
        for database in &databases {
            make_endless(database);
        }
        if databases.is_empty() {
            continue;
        }
        for args in [&["list", "--all"] as &[&str], &["show", "@last"], &["doctor"]] {
            let said = run(&env, 1024, args);
            let name = &store.name;
            assert!(matches!(said.code, Some(0..=3)), "{name}, {args:?}: {said}");
            // A list of another editor's may be without a word of its own: its sessions are listed all the same.
            let is_told =
                said.stderr.contains("it holds a view") || said.stdout.contains("it holds a view") || args[0] == "show";
            assert!(is_told, "{name}, {args:?}: {said}");
        }
    }
}
