//! Databases whose owner is at work in them at this moment.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use carryover_agents::formats::sqlite::{DatabaseTrouble, MAGIC};
use carryover_agents::{Agent, AgentError, Store};
use rusqlite::Connection;

use crate::support::agents_and_forms;

/// The databases below a folder.
fn databases(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_database = |path: &PathBuf| fs_err::read(path).unwrap().starts_with(MAGIC);
    files.into_iter().filter(is_database).chain(folders.iter().flat_map(|folder| databases(folder))).collect()
}

fn count_listed(agent: &dyn Agent, root: &Path) -> (usize, Result<(), AgentError>) {
    let mut count = 0;
    let told = agent.list_sessions(&Store { root: root.to_owned() }, &mut |_| {
        count += 1;
        ControlFlow::Continue(())
    });
    (count, told)
}

/// Each store with a database, and the databases in it.
fn for_each_store(look: impl Fn(&dyn Agent, &str, &Path, &[PathBuf])) {
    for (agent, form, name) in agents_and_forms() {
        let folder = tempfile::tempdir().unwrap();
        form.write_records(folder.path(), &[form.sample.prompt_record("still here").as_bytes()]).unwrap();
        let databases = databases(folder.path());
        if !databases.is_empty() {
            look(agent, &name, folder.path(), &databases);
        }
    }
}

#[test]
fn a_database_that_its_owner_keeps_to_itself_is_said_to_be_in_use() {
    for_each_store(|agent, name, root, databases| {
        let owners: Vec<Connection> = databases.iter().map(|path| Connection::open(path).unwrap()).collect();
        for owner in &owners {
            let lock = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE more AS SELECT 1;";
            owner.execute_batch(lock).unwrap();
        }
        let begun = Instant::now();
        let error = count_listed(agent, root).1.unwrap_err();
        assert_eq!(error.database_trouble(), Some(DatabaseTrouble::InUse), "{name}: {error}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{name}: {error}");
        for owner in &owners {
            owner.execute_batch("ROLLBACK").unwrap();
        }
    });
}

#[test]
fn nothing_is_lost_while_owners_write() {
    for mode in ["DELETE", "WAL"] {
        for_each_store(|agent, name, root, databases| {
            let stop = Arc::new(AtomicBool::new(false));
            let owners = databases.iter().map(|path| {
                let (owner, stop) = (Connection::open(path).unwrap(), Arc::clone(&stop));
                let begin = "PRAGMA synchronous = OFF; CREATE TABLE more (x); INSERT INTO more VALUES (1);";
                owner.execute_batch(&format!("PRAGMA journal_mode = {mode}; {begin}")).unwrap();
                std::thread::spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        // It may have to wait for us, and does not.
                        owner.execute_batch("UPDATE more SET x = x + 1").ok();
                    }
                })
            });
            let owners: Vec<_> = owners.collect();
            for time in 0..10 {
                let (count, told) = count_listed(agent, root);
                assert!(told.is_ok(), "{name}, {mode}, {time}: {told:?}");
                assert_eq!(count, 1, "{name}, {mode}, {time}");
            }
            stop.store(true, Ordering::Relaxed);
            for owner in owners {
                owner.join().unwrap();
            }
        });
    }
}
