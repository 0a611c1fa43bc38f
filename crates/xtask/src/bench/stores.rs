//! A home with a store of every agent, for measuring: one big session and some small ones each.
//!
//! Who adds an agent adds an arm to `place`.

use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Source};
use rusqlite::{Connection, params};
use serde_json::Value;

use super::Result;
use super::events;
use super::grown::{Fixtures, Grower};

/// The size of each agent's big session, in bytes.
const BIG: usize = 32 << 20;

/// The size of a small one, and how many there are beside the big one.
const SMALL: usize = 64 << 10;
const SMALL_ONES: u64 = 20;

/// Counts up when the corpus is grown in another way.
const GENERATION: u64 = 4;

/// How a session is kept, and where below the home.
pub(super) enum Place {
    Lines(String),
    /// A history in Markdown, in a project's folder.
    Markdown(String),
    /// A database that holds all sessions, as messages and their parts.
    Rows(&'static str),
    /// A database that holds all sessions, as events.
    Events(&'static str),
}

/// Where a session of an agent is; `None` where nobody has said so.
pub(super) fn place(agent: &str, n: u64) -> Option<Place> {
    let id = uuid(n);
    Some(match agent {
        "claude-code" => Place::Lines(format!(".claude/projects/-home-dev-project/{id}.jsonl")),
        "codex" => Place::Lines(format!(".codex/sessions/2026/11/15/rollout-2026-11-15T00-00-00-{id}.jsonl")),
        "gemini-cli" => Place::Lines(format!(".gemini/tmp/project/chats/session-2026-11-15T00-00-{n:08x}.jsonl")),
        "qwen-code" => Place::Lines(format!(".qwen/projects/-home-dev-project/chats/{id}.jsonl")),
        "pi" => Place::Lines(format!(".pi/agent/sessions/--home-dev-project--/2026-11-15T00-00-00-000Z_{id}.jsonl")),
        "copilot-cli" => Place::Lines(format!(".copilot/session-state/{id}/events.jsonl")),
        "aider" => Place::Markdown(format!("project-{n}/.aider.chat.history.md")),
        "opencode" => Place::Rows(".local/share/opencode/opencode.db"),
        "openclaw" => Place::Events(".openclaw/agents/main/agent/openclaw-agent.sqlite"),
        _ => return None,
    })
}

fn uuid(n: u64) -> String {
    format!("00000000-0000-4000-8000-{n:012x}")
}

/// The big session of an agent.
pub(super) fn big(home: &Path, agent: &str) -> Result<(Place, Source)> {
    let place = place(agent, 0).ok_or_else(|| format!("{agent} has no place in bench/stores.rs"))?;
    let source = match &place {
        Place::Lines(path) | Place::Markdown(path) => Source { path: home.join(path), key: None },
        Place::Rows(path) => Source { path: home.join(path), key: Some(session_id(0)) },
        Place::Events(path) => Source { path: home.join(path), key: Some(uuid(0)) },
    };
    Ok((place, source))
}

fn session_id(n: u64) -> String {
    format!("ses_{n}")
}

/// Makes the home, or takes the one of an earlier run that was made from the same.
pub(super) fn home(root: &Path, folder: &Path) -> Result<PathBuf> {
    let home = folder.join("agents");
    for agent in AGENTS {
        let id = agent.facts().id;
        let fixtures = Fixtures::of(root, id)?;
        let mark = home.join(format!("{id}.made"));
        let made_of = format!("{GENERATION} {BIG} {SMALL} {SMALL_ONES} {}", fixtures.digest());
        if fs_err::read_to_string(&mark).is_ok_and(|text| text == made_of) {
            continue;
        }
        for n in 0..=SMALL_ONES {
            let size = if n == 0 { BIG } else { SMALL };
            let grower = Grower::new(&fixtures, uuid(n), n + 1, size);
            match place(id, n).ok_or_else(|| format!("{id} has no place in bench/stores.rs"))? {
                Place::Lines(path) => grower.write_lines(&made(&home, &path)?)?,
                Place::Markdown(path) => grower.write_markdown(&made(&home, &path)?)?,
                Place::Rows(path) => write_rows(&made(&home, path)?, n, grower)?,
                Place::Events(path) => events::write(&made(&home, path)?, &uuid(n), n == 0, grower)?,
            }
        }
        fs_err::write(&mark, made_of)?;
    }
    Ok(home)
}

/// A path below the home whose folder is there.
fn made(home: &Path, path: &str) -> Result<PathBuf> {
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
fn write_rows(path: &Path, n: u64, grower: Grower<'_>) -> Result<()> {
    if n == 0 && path.exists() {
        fs_err::remove_file(path)?;
    }
    let mut connection = Connection::open(path)?;
    if n == 0 {
        connection.execute_batch(TABLES)?;
    }
    let transaction = connection.transaction()?;
    let session = session_id(n);
    let mut count = 0;
    grower.each_message(&mut |mut message| {
        count += 1;
        let id = row_id(&message["info"], n);
        let parts = message["parts"].take();
        let info = without(message["info"].take());
        transaction.execute(
            "INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)",
            params![id, session, count, info.to_string()],
        )?;
        for part in parts.as_array().into_iter().flatten() {
            transaction.execute(
                "INSERT INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)",
                params![row_id(part, n), id, session, count, without(part.clone()).to_string()],
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

/// What stands in columns does not stand in the data.
fn without(mut value: Value) -> Value {
    if let Some(fields) = value.as_object_mut() {
        for name in ["id", "sessionID", "messageID"] {
            fields.remove(name);
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_place() {
        for agent in AGENTS {
            assert!(place(agent.facts().id, 0).is_some(), "{} has no arm in `place`", agent.facts().id);
        }
    }
}
