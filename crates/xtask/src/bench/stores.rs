//! A home with a store of every agent, for measuring: one big session and some small ones each.

use std::path::{Path, PathBuf};

use carryover_agents::Source;
use carryover_testkit::agents::{LABS, find_lab};
use carryover_testkit::lab::{BenchPlace, Lab};
use rusqlite::{Connection, params};
use serde_json::Value;

use super::Result;
use super::events;
use super::fixture_corpus::{Fixtures, SessionGrower};

/// The size of each agent's big session, in bytes.
const BIG_SESSION_BYTES: usize = 32 << 20;

/// The size of a small one, and how many there are beside the big one.
const SMALL_SESSION_BYTES: usize = 64 << 10;
const SMALL_SESSIONS: u64 = 20;

/// Counts up when the corpus is grown in another way.
const CORPUS_VERSION: u64 = 4;

pub(crate) fn session_uuid(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012x}")
}

/// The big session of an agent.
pub(super) fn big_session(home: &Path, agent: &str) -> Result<(BenchPlace, Source)> {
    let place = find_lab(agent).ok_or_else(|| format!("{agent} has no lab"))?.bench;
    let path = home.join(place.session_path(0, &session_uuid(0)));
    let key = match place {
        BenchPlace::Lines(_) | BenchPlace::Markdown(_) => None,
        BenchPlace::Rows(_) => Some(row_session_id(0)),
        BenchPlace::Events(_) => Some(session_uuid(0)),
    };
    Ok((place, Source { path, key }))
}

fn row_session_id(n: u64) -> String {
    format!("ses_{n}")
}

/// Makes the home, or takes the one of an earlier run that was made from the same.
pub(super) fn make_home(root: &Path, folder: &Path) -> Result<PathBuf> {
    let home = folder.join("agents");
    for lab in LABS {
        let id = lab.id;
        let fixtures = Fixtures::load(root, id)?;
        let mark = home.join(format!("{id}.made"));
        let made_of = format!(
            "{CORPUS_VERSION} {BIG_SESSION_BYTES} {SMALL_SESSION_BYTES} {SMALL_SESSIONS} {}",
            fixtures.compute_digest()
        );
        if fs_err::read_to_string(&mark).is_ok_and(|text| text == made_of) {
            continue;
        }
        for n in 0..=SMALL_SESSIONS {
            let size = if n == 0 { BIG_SESSION_BYTES } else { SMALL_SESSION_BYTES };
            let grower = SessionGrower::new(&fixtures, session_uuid(n), n + 1, size);
            let path = create_parent(&home, &lab.bench.session_path(n, &session_uuid(n)))?;
            write_session(lab.bench, &path, n, n == 0, grower)?;
        }
        fs_err::write(&mark, made_of)?;
    }
    Ok(home)
}

/// Writes a session the way its client keeps it; the first one in a database makes that.
pub(super) fn write_session(
    place: BenchPlace,
    path: &Path,
    n: u64,
    is_first: bool,
    grower: SessionGrower<'_>,
) -> Result<()> {
    match place {
        BenchPlace::Lines(_) => grower.write_lines(path),
        BenchPlace::Markdown(_) => grower.write_markdown(path),
        BenchPlace::Rows(_) => write_rows(path, n, is_first, grower),
        BenchPlace::Events(_) => events::write_session(path, &session_uuid(n), is_first, grower),
    }
}

/// Writes one session of so many bytes, alone, to a path; the answer is the path below the home where its client has it.
pub(crate) fn write_alone(lab: &Lab, fixtures: &Fixtures, n: u64, size: usize, path: &Path) -> Result<String> {
    let grower = SessionGrower::new(fixtures, session_uuid(n), n + 1, size);
    write_session(lab.bench, path, n, true, grower)?;
    Ok(lab.bench.session_path(n, &session_uuid(n)))
}

/// A path below the home whose folder is there.
pub(super) fn create_parent(home: &Path, path: &str) -> Result<PathBuf> {
    let path = home.join(path);
    fs_err::create_dir_all(path.parent().unwrap_or(home))?;
    Ok(path)
}

const TABLES: &str = "
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
        directory text NOT NULL, title text NOT NULL, version text NOT NULL, revert text, model text,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
    CREATE INDEX part_message_id_id_idx ON part (message_id, id);
    CREATE INDEX part_session_idx ON part (session_id);";

/// Puts a session into the database; the first one makes it.
fn write_rows(path: &Path, n: u64, is_first: bool, grower: SessionGrower<'_>) -> Result<()> {
    if is_first && path.exists() {
        fs_err::remove_file(path)?;
    }
    let mut connection = Connection::open(path)?;
    if is_first {
        connection.execute_batch(TABLES)?;
    }
    let transaction = connection.transaction()?;
    let session = row_session_id(n);
    let mut count = 0;
    grower.for_each_message(&mut |mut message| {
        count += 1;
        let id = row_id(&message["info"], n);
        let parts = message["parts"].take();
        let info = strip_columns(message["info"].take());
        transaction.execute(
            "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
            params![id, session, count, info.to_string()],
        )?;
        for part in parts.as_array().into_iter().flatten() {
            transaction.execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                params![row_id(part, n), id, session, count, strip_columns(part.clone()).to_string()],
            )?;
        }
        Ok(())
    })?;
    let insert =
        "INSERT INTO session VALUES (?1, 'global', NULL, 's', '/home/dev/project', 't', '1.18.33', NULL, NULL, 1, ?2)";
    transaction.execute(insert, params![session, count])?;
    transaction.commit()?;
    Ok(())
}

/// The name that a record has, by which others point to it; in the small sessions it is made another one.
fn row_id(record: &Value, n: u64) -> String {
    let id = record["id"].as_str().unwrap_or_default();
    if n == 0 { id.to_owned() } else { format!("{id}+{n}") }
}

/// Values that stand in columns do not stand in the data.
fn strip_columns(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        for name in ["id", "sessionID", "messageID"] {
            fields.remove(name);
        }
    }
    value
}
