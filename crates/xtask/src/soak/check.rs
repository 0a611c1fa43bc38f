//! What must hold whenever everybody rests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::Result;
use super::daemon::Home;
use super::session::{Session, project_word};

/// How long the daemon may take to come to rest.
const PATIENCE: Duration = Duration::from_mins(2);

/// Sessions by agent and id, each with its entries by key.
type Kept = BTreeMap<(String, String), KeptSession>;

#[derive(Default)]
struct KeptSession {
    is_gone: bool,
    entries: BTreeSet<String>,
}

/// Waits until the daemon's ledger holds what one that is made afresh holds; told is how much that is.
pub(super) fn compare_when_quiet(home: &Home, sessions: &[Session]) -> Result<String> {
    let own = home.folder.path().join("fresh");
    if own.exists() {
        fs_err::remove_dir_all(&own)?;
    }
    let search = home.command(&["search", "anything"]).env("CARRYOVER_HOME", &own).output()?;
    if search.status.code() == Some(70) {
        return Err("the search ended in a bug".into());
    }
    let fresh = read_ledger(&own.join("ledger.sqlite"))?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let kept = read_ledger(&home.own().join("ledger.sqlite"));
        let difference = match &kept {
            Ok(kept) => find_difference(kept, &fresh, sessions),
            // It is being written.
            Err(error) => Some(error.to_string()),
        };
        let status = home.read_status()?;
        let is_quiet = status["daemon"]["handoffs_waiting"] == 0;
        match difference {
            None if is_quiet => {
                check_troubles(&status)?;
                let entries: usize = fresh.values().map(|session| session.entries.len()).sum();
                return Ok(format!("{} sessions with {entries} entries are the same", fresh.len()));
            }
            Some(difference) if Instant::now() > deadline => return Err(difference.into()),
            _ => {}
        }
        if Instant::now() > deadline {
            return Err("the daemon does not come to rest".into());
        }
        std::thread::sleep(Duration::from_millis(250));
    }
}

fn check_troubles(status: &serde_json::Value) -> Result<()> {
    match status["daemon"]["troubles"].as_array() {
        Some(troubles) if troubles.is_empty() => Ok(()),
        _ => Err(format!("the daemon tells of trouble: {}", status["daemon"]["troubles"]).into()),
    }
}

fn read_ledger(path: &Path) -> Result<Kept> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut kept = Kept::new();
    let mut query = connection.prepare("SELECT agent, session, gone_at IS NOT NULL FROM session")?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        let session = KeptSession { is_gone: row.get(2)?, entries: BTreeSet::new() };
        kept.insert((row.get(0)?, row.get(1)?), session);
    }
    let mut query = connection.prepare(
        "SELECT s.agent, s.session, format('%d/%d/%d/%d %s %d', e.file, e.offset, e.part, e.length, e.kind, e.digest)
         FROM entry AS e JOIN session AS s ON s.id = e.session WHERE e.retracted = 0",
    )?;
    let mut rows = query.query([])?;
    while let Some(row) = rows.next()? {
        kept.entry((row.get(0)?, row.get(1)?)).or_default().entries.insert(row.get(2)?);
    }
    Ok(kept)
}

/// The first thing in which the ledger differs from the stores.
fn find_difference(kept: &Kept, fresh: &Kept, sessions: &[Session]) -> Option<String> {
    for ((agent, id), session) in fresh {
        let name = format!("{agent} {id}");
        let Some(known) = kept.get(&(agent.clone(), id.clone())) else { return Some(format!("{name} is not kept")) };
        if known.is_gone {
            return Some(format!("{name} is said to be gone"));
        }
        if known.entries != session.entries {
            let missing = session.entries.difference(&known.entries).count();
            let more = known.entries.difference(&session.entries).count();
            return Some(format!("{name}: {missing} entries are missing, {more} are too many"));
        }
    }
    let not_marked = kept.iter().find(|(key, session)| !session.is_gone && !fresh.contains_key(*key));
    if let Some(((agent, id), _)) = not_marked {
        return Some(format!("{agent} {id} is deleted and not marked"));
    }
    let gone = kept.values().filter(|session| session.is_gone).count();
    let deleted = sessions.iter().filter(|session| session.is_deleted).count();
    (gone > deleted).then(|| format!("{gone} sessions are marked as gone, and {deleted} were deleted"))
}

/// No handoff holds a word of another project; the answer is how many there are.
pub(super) fn check_handoffs(home: &Home, projects: u64) -> Result<u64> {
    let mut count = 0;
    for number in 0..projects {
        let path = home.project(number).join(".carryover/handoff.md");
        if let Ok(text) = fs_err::read_to_string(path) {
            check_words(&text, number)?;
            count += 1;
        }
    }
    if count == 0 { Err("no handoff was published".into()) } else { Ok(count) }
}

pub(super) fn check_words(text: &str, number: u64) -> Result<()> {
    let own = project_word(number);
    let (mark, _) = own.split_at(own.len() - 4);
    if text.replace(&own, "").contains(mark) {
        return Err(format!("the handoff of project {number} has words of another").into());
    }
    Ok(())
}

pub(super) fn check_spool(home: &Home) -> Result<()> {
    let left = fs_err::read_dir(home.own().join("spool")).map_or(0, Iterator::count);
    if left == 0 { Ok(()) } else { Err(format!("{left} events are left in the spool").into()) }
}
