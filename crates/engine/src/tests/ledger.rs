//! The ledger, over stores as every agent's client writes them and over two made-up ones.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, AgeClock, Agent};
use carryover_core::live::{self, LiveItem};
use carryover_core::time::Timestamp;
use carryover_core::transcript::text_of;
use carryover_testkit::agents::LABS;
use carryover_testkit::lab::{Format, Lab};

use super::fake::{ALPHA, BOTH};
use super::importing::ImportingDisk;
use super::world::World;
use crate::ledger::forget::Forget;
use crate::ledger::restore::{RestoreError, Restored, restore_among};
use crate::ledger::search::{SearchRequest, SearchResults};
use crate::ledger::sync::SyncReport;
use crate::ledger::{Ingested, KeptSession, Ledger, LookupError, at_risk, file_path, gone_sessions};
use crate::own::files::Stamp;
use crate::sessions::list::{Filter, list_among};
use crate::sessions::read;
use crate::sessions::select::{Query, select_session};
use crate::write::undo::undo_resume;

const PROMPT: &str = "find the zebra_crossing bug";

pub(super) fn open_ledger(world: &World) -> Ledger {
    Ledger::open(&world.context).unwrap().ledger
}

/// Brings the ledger up to date with the stores of some agents.
pub(super) fn update(world: &World, agents: &[&'static dyn Agent]) -> SyncReport {
    let report = open_ledger(world).update_among(agents, &world.context, &mut |_| ControlFlow::Continue(())).unwrap();
    assert!(report.failures.is_empty());
    report
}

pub(super) fn search(world: &World, words: &str) -> SearchResults {
    let request = SearchRequest { words: words.to_owned(), limit: 10, ..SearchRequest::default() };
    Ledger::open_for_reading(&world.context).unwrap().unwrap().search(&request).unwrap()
}

/// How many entries are found.
pub(super) fn count_found(world: &World, words: &str) -> usize {
    search(world, words).sessions.iter().map(|found| found.n_entries).sum()
}

fn find_kept(world: &World, words: &str) -> Result<KeptSession, LookupError> {
    open_ledger(world).find_session(words, None)
}

fn restore(world: &mut World, session: &KeptSession, project: Option<&Path>) -> Result<Restored, RestoreError> {
    world.context.seed += (1 << 96) + 1;
    let ledger = open_ledger(world);
    restore_among(AGENTS, &mut ImportingDisk { is_broken: false }, &world.context, &ledger, session, project)
}

/// A world with a store of an agent, and where its session is.
fn world_with_sample(lab: &Lab, agent: &'static dyn Agent) -> (World, PathBuf) {
    let mut world = World::with_clients(&[agent]);
    let root = world.path("home").join(lab.sample.root);
    let prompt = lab.sample.prompt_record(PROMPT);
    let mut records = vec![prompt.as_bytes()];
    if let Format::Lines(lines) = &lab.sample.format {
        records.extend(lines.exchange[1..].iter().map(|record| record.as_bytes()));
    }
    let path = lab.sample.write_records(&root, &records).unwrap();
    // A store that holds nothing at all may be one that is not mounted.
    world.write_file(&format!("home/{}/settings", lab.sample.root), "{}");
    world.context.env.projects.push(root);
    (world, path)
}

/// What the model would see of a session, by its id.
fn live_texts(world: &World, id: &str) -> Vec<String> {
    let query = Query { words: Some(id.to_owned()), ..Query::default() };
    let session = select_session(&world.context, &query).unwrap().session;
    let transcript = read::full_transcript(&session, true).unwrap();
    let entry = |alive: LiveItem| match alive {
        LiveItem::Entry(index) => Some(&transcript.entries[index].body),
        LiveItem::Answer { .. } => None,
    };
    let alive = live::resolve_context(&transcript).into_iter().filter_map(entry);
    alive.map(|body| format!("{} {}", body.kind(), text_of(body.parts()))).collect()
}

#[test]
fn every_agents_session_is_found_by_its_words_and_comes_back_when_it_was_deleted() {
    for (lab, agent) in LABS.iter().zip(AGENTS) {
        let (mut world, path) = world_with_sample(lab, *agent);
        assert_eq!(update(&world, AGENTS).changed, 1, "{}", lab.id);
        let results = search(&world, "crossing zeb");
        let [found] = &results.sessions[..] else { panic!("{}: {results:?}", lab.id) };
        let kept = found.session.clone();
        assert_eq!((kept.agent.as_str(), found.n_entries), (lab.id, 1));
        let before = (live_texts(&world, &kept.id.0), world.read_tree());
        assert!(matches!(restore(&mut world, &kept, None), Err(RestoreError::StillThere { .. })), "{}", lab.id);

        fs_err::remove_file(&path).unwrap();
        assert_eq!(update(&world, AGENTS).gone, 1, "{}", lab.id);
        let gone = gone_sessions(&world.context).unwrap();
        assert_eq!(gone.iter().map(|session| &session.id).collect::<Vec<_>>(), [&kept.id], "{}", lab.id);
        assert_eq!(count_found(&world, "zebra"), 1);
        let without = world.read_tree();

        let restored = restore(&mut world, &gone[0], None).unwrap_or_else(|error| panic!("{}: {error}", lab.id));
        assert_eq!(restored.is_exact, !lab.sample.is_database(), "{}", lab.id);
        assert_eq!(live_texts(&world, &restored.session.0), before.0, "{}", lab.id);
        if restored.is_exact {
            assert_eq!((world.read_tree(), &restored.session), (before.1, &kept.id), "{}", lab.id);
            assert_eq!(update(&world, AGENTS).gone, 0);
            assert!(gone_sessions(&world.context).unwrap().is_empty(), "{}", lab.id);
            assert_eq!(count_found(&world, "zebra"), 1, "{}", lab.id);
            undo_resume(&world.context, None, false).unwrap();
            assert_eq!(world.read_tree(), without, "{}", lab.id);
        }
    }
}

#[test]
fn the_folder_of_a_session_comes_back_with_it() {
    let id = "00000000-0000-4000-8000-000000000001";
    let child =
        r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"look"},"uuid":"a","sessionId":"ID"}"#;
    let with_folder = |(lab, _): &(&&Lab, _)| !lab.sample.companions.is_empty();
    for (lab, agent) in LABS.iter().zip(AGENTS).filter(with_folder) {
        let (mut world, path) = world_with_sample(lab, *agent);
        let beside: Vec<PathBuf> =
            lab.sample.companions.iter().map(|name| path.with_file_name(name.replace("{ID}", id))).collect();
        for file in &beside {
            crate::own::files::write_private(file, child.replace("ID", id).as_bytes()).unwrap();
        }
        update(&world, AGENTS);
        let before = world.read_tree();
        beside.iter().chain([&path]).for_each(|file| fs_err::remove_file(file).unwrap());
        let without = world.read_tree();
        let kept = search(&world, "zebra").sessions[0].session.clone();
        assert!(restore(&mut world, &kept, None).unwrap().is_exact, "{}", lab.id);
        assert_eq!(world.read_tree(), before, "{}", lab.id);
        undo_resume(&world.context, None, false).unwrap();
        assert_eq!(world.read_tree(), without, "{}", lab.id);
        // What stands in the place of a file of it is not written over.
        crate::own::files::write_private(&beside[1], b"somebody's").unwrap();
        let restored = restore(&mut world, &kept, None).unwrap();
        assert!(!restored.is_exact && fs_err::read(&beside[1]).unwrap() == b"somebody's", "{}", lab.id);
    }
}

#[test]
fn a_session_comes_back_in_another_project_through_its_agents_writer() {
    for (lab, agent) in LABS.iter().zip(AGENTS).filter(|(_, agent)| agent.writer().is_some()) {
        let (mut world, path) = world_with_sample(lab, *agent);
        update(&world, AGENTS);
        let kept = search(&world, "zebra").sessions[0].session.clone();
        let before = live_texts(&world, &kept.id.0);
        fs_err::remove_file(&path).unwrap();
        let other = world.path("other");
        fs_err::create_dir(&other).unwrap();
        world.context.env.projects.push(other.clone());
        let restored = restore(&mut world, &kept, Some(&other)).unwrap_or_else(|error| panic!("{}: {error}", lab.id));
        assert!(!restored.is_exact && restored.command.is_some());
        assert_eq!(live_texts(&world, &restored.session.0), before, "{}", lab.id);
        assert!(!path.exists() || lab.sample.is_database(), "{}: it stays away from where it was", lab.id);
        assert!(fs_err::read_dir(world.context.home.join("restoring")).unwrap().next().is_none());
    }
}

#[test]
fn a_session_that_left_its_database_is_gone_and_one_that_is_not_mounted_is_not() {
    for (lab, agent) in LABS.iter().zip(AGENTS).filter(|(lab, _)| lab.sample.is_database()) {
        let (world, path) = world_with_sample(lab, *agent);
        update(&world, AGENTS);
        let aside = world.path("aside");
        let root = world.path("home").join(lab.sample.root);
        fs_err::rename(&root, &aside).unwrap();
        fs_err::create_dir(&root).unwrap();
        assert_eq!(update(&world, AGENTS).gone, 0, "{}", lab.id);
        fs_err::remove_dir(&root).unwrap();
        fs_err::rename(&aside, &root).unwrap();
        let owner = super::importing::open_database(&path, "");
        let tables = "SELECT name FROM sqlite_schema WHERE type = 'table'";
        let tables: Vec<String> =
            owner.prepare(tables).unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for table in tables {
            owner.execute(&format!("DELETE FROM {table}"), []).unwrap();
        }
        drop(owner);
        assert_eq!(update(&world, AGENTS).gone, 1, "{}", lab.id);
    }
}

/// Everything that the ledger says of the entries, and the bytes that it has.
fn dump(world: &World) -> Vec<String> {
    let connection = super::importing::open_database(&file_path(&world.context), "");
    let mut told = Vec::new();
    for query in [
        "SELECT session, file, offset, part, length, kind, origin, at, side, retracted, digest, indexed FROM entry
         ORDER BY session, file, offset, part",
        "SELECT path, role, size FROM file ORDER BY session, path",
        "SELECT file, seq, size, digest FROM chunk WHERE until IS NULL ORDER BY file, seq",
        "SELECT rowid FROM words ORDER BY rowid",
        "SELECT agent, session, bookmark FROM session",
    ] {
        let mut query = connection.prepare(query).unwrap();
        let columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<String> = (0..columns).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect();
            told.push(values.join(" "));
        }
    }
    told
}

pub(super) fn count_rows(world: &World, query: &str) -> i64 {
    let connection = super::importing::open_database(&file_path(&world.context), "");
    connection.query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn taking_in_twice_is_taking_in_once() {
    let world = World::new();
    let path = world.write_sample();
    assert_eq!(update(&world, BOTH).changed, 1);
    let once = dump(&world);
    assert_eq!(update(&world, BOTH).changed, 0);
    assert_eq!(dump(&world), once);
    // The same bytes at another time are read again, and say the same.
    let bytes = fs_err::read(&path).unwrap();
    fs_err::remove_file(&path).unwrap();
    crate::own::files::write_private(&path, &bytes).unwrap();
    let times = std::fs::FileTimes::new().set_modified(std::time::SystemTime::UNIX_EPOCH);
    fs_err::OpenOptions::new().write(true).open(&path).unwrap().into_parts().0.set_times(times).unwrap();
    assert_eq!(update(&world, BOTH).changed, 1);
    assert_eq!(dump(&world), once);
}

#[test]
fn what_is_appended_is_added_and_in_steps_it_is_the_same_as_at_once() {
    let mut world = World::new();
    let more: Vec<String> =
        (0..300).map(|n| format!(r#"{{"t":"prompt","s":"zebra number{n} {}"}}"#, "x".repeat(2_000))).collect();
    let path = world.write_sample();
    update(&world, BOTH);
    for lines in more.chunks(60) {
        World::append_lines(&path, &lines.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(update(&world, BOTH).changed, 1);
    }
    assert_eq!(count_found(&world, "number250"), 1);
    let stepwise = dump(&world);
    world.context.home = world.path("another");
    update(&world, BOTH);
    assert!(dump(&world) == stepwise);
}

#[test]
fn a_file_that_was_written_anew_or_cut_gives_a_new_revision_and_nothing_double() {
    let mut world = World::new();
    let records: Vec<String> =
        (0..400).map(|n| format!(r#"{{"t":"prompt","s":"zebra word{n}q {}"}}"#, "y".repeat(2_000))).collect();
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let path = world.write_session(&ALPHA, "aaaa1111", "", &records);
    update(&world, BOTH);
    let chunks = count_rows(&world, "SELECT count(*) FROM chunk");
    assert!(chunks > 2);
    // Cut: what stands there no longer is marked, and still found.
    world.write_session(&ALPHA, "aaaa1111", "", &records[..390]);
    update(&world, BOTH);
    assert_eq!(count_rows(&world, "SELECT count(*) FROM entry WHERE retracted"), 10);
    assert_eq!(count_rows(&world, "SELECT revision FROM file"), 1);
    assert_eq!(
        count_rows(&world, "SELECT count(*) FROM chunk"),
        chunks + 1,
        "the chunks before the cut are not kept twice"
    );
    assert_eq!((count_found(&world, "word395q"), count_found(&world, "word3q")), (1, 1));
    // Written anew in the midst.
    let mut changed = records.clone();
    changed[5] = r#"{"t":"prompt","s":"giraffe"}"#;
    world.write_session(&ALPHA, "aaaa1111", "", &changed);
    update(&world, BOTH);
    assert_eq!((count_found(&world, "giraffe"), count_found(&world, "word5q")), (1, 0));
    assert_eq!(count_rows(&world, "SELECT count(*) FROM entry WHERE NOT retracted"), count_entries(&world, "aaaa1111"));
    let kept = find_kept(&world, "aaaa1111").unwrap();
    let bytes = fs_err::read(&path).unwrap();
    fs_err::remove_file(&path).unwrap();
    world.context.seed += 1 << 96;
    let ledger = open_ledger(&world);
    let restored = restore_among(BOTH, &mut ImportingDisk { is_broken: false }, &world.context, &ledger, &kept, None);
    assert!(restored.unwrap().is_exact);
    assert_eq!(fs_err::read(&path).unwrap(), bytes);
}

fn count_entries(world: &World, words: &str) -> i64 {
    let transcript = read::full_transcript(&world.select_session(words), true).unwrap();
    i64::try_from(transcript.entries.len()).unwrap()
}

/// Lines that cannot be packed, so that they need room.
fn random_records(count: u64) -> Vec<String> {
    let mut state = 7_u64;
    let mut word = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        format!("{:x} ", state >> 20)
    };
    let text = |number: u64, words: String| format!(r#"{{"t":"prompt","s":"river{number}q {words}"}}"#);
    (0..count).map(|number| text(number, (0..200).map(|_| word()).collect())).collect()
}

/// The database has no more room, at every point where it asks for some.
#[test]
fn a_disk_that_is_full_at_any_point_leaves_nothing_missing_and_nothing_double() {
    let records = random_records(40);
    let records: Vec<&str> = records.iter().map(String::as_str).collect();
    let mut world = World::new();
    world.write_session(&ALPHA, "aaaa1111", "", &records);
    update(&world, BOTH);
    let whole = dump(&world);
    world.context.home = world.path("another");
    let pages = open_ledger(&world).page_count();
    let mut failures = 0;
    for limit in pages.. {
        let mut ledger = open_ledger(&world);
        ledger.limit_pages(limit);
        match ledger.update_among(BOTH, &world.context, &mut |_| ControlFlow::Continue(())) {
            Ok(report) => {
                assert!(report.failures.is_empty());
                break;
            }
            Err(_) => failures += 1,
        }
    }
    assert!(failures > 5, "{failures}");
    assert!(dump(&world) == whole);
    assert_eq!(count_found(&world, "river39q"), 1);
}

#[test]
fn a_broken_ledger_is_set_aside_and_a_new_one_begun() {
    let world = World::new();
    world.write_sample();
    update(&world, BOTH);
    crate::own::files::write_private(&file_path(&world.context), &[b'x'; 8_192]).unwrap();
    let opened = Ledger::open(&world.context).unwrap();
    let aside = opened.set_aside.unwrap();
    assert!(aside.file_name().unwrap().to_str().unwrap().starts_with("ledger.sqlite.broken-2023-11-14T"));
    assert_eq!(fs_err::read(&aside).unwrap(), [b'x'; 8_192]);
    drop(opened.ledger);
    assert_eq!(update(&world, BOTH).changed, 1);
    assert_eq!(count_found(&world, "done"), 1);
    // A copy that may hold what is forgotten does not outlive it.
    let forgotten = open_ledger(&world).forget(&world.context, &Forget::All).unwrap();
    assert!(!forgotten.set_aside.is_empty() && !aside.exists());
}

#[test]
fn one_writes_at_a_time_and_others_read() {
    let world = World::new();
    world.write_sample();
    update(&world, BOTH);
    let writer = open_ledger(&world);
    assert!(Ledger::try_open(&world.context).unwrap().is_none());
    assert_eq!(count_found(&world, "done"), 1);
    drop(writer);
    assert!(Ledger::try_open(&world.context).unwrap().is_some());
}

#[cfg(unix)]
#[test]
fn the_ledger_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write_sample();
    update(&world, BOTH);
    let _open = open_ledger(&world);
    let files = fs_err::read_dir(&world.context.home).unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.to_string_lossy().contains("ledger")) {
        assert_eq!(fs_err::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn what_is_older_than_the_retention_is_not_kept() {
    let mut world = World::new();
    world.write_sample();
    update(&world, BOTH);
    assert_eq!(count_found(&world, "done"), 1);
    world.context.config.ledger.retention = Some(30);
    world.context.env.now = Timestamp::from_millis(9_000_000_000_000);
    let report = update(&world, BOTH);
    assert_eq!((report.expired, report.changed), (1, 0));
    assert_eq!(count_found(&world, "done"), 0);
}

#[test]
fn one_session_that_changed_is_taken_in_from_where_it_was_read_to() {
    let mut world = World::new();
    let path = world.write_sample();
    let take_in = |world: &World| {
        let session = world.select_session("aaaa1111");
        let mut ledger = open_ledger(world);
        let taken = ledger.take_in(&world.context, &session).unwrap();
        while !ledger.index_pending().unwrap().is_done {}
        taken
    };
    assert_eq!((take_in(&world), take_in(&world)), (Ingested::Changed, Ingested::Unchanged));
    let newest = "SELECT max(id) FROM entry";
    let before = count_rows(&world, newest);
    World::append_lines(&path, &[r#"{"t":"prompt","s":"and the ocelot"}"#]);
    assert_eq!((take_in(&world), take_in(&world)), (Ingested::Changed, Ingested::Unchanged));
    assert_eq!((count_rows(&world, newest), count_found(&world, "ocelot")), (before + 1, 1));
    world.context.config.ledger.retention = Some(1);
    world.context.env.now = Timestamp::from_millis(9_000_000_000_000);
    assert_eq!(take_in(&world), Ingested::Expired);
    let kept = find_kept(&world, "aaaa1111").unwrap();
    open_ledger(&world).forget(&world.context, &Forget::Session(Box::new(kept))).unwrap();
    world.context.config.ledger.retention = None;
    assert_eq!(take_in(&world), Ingested::Forgotten);
}

#[test]
fn a_session_that_its_client_deletes_soon_is_at_risk_until_the_ledger_has_it() {
    const DAY_MS: i64 = 86_400_000;
    for (lab, agent) in LABS.iter().zip(AGENTS).filter(|(_, agent)| agent.facts().cleanup.is_some()) {
        let (mut world, path) = world_with_sample(lab, *agent);
        let days = i64::try_from(agent.facts().cleanup.unwrap().default_days).unwrap();
        let used_at = match agent.facts().cleanup.unwrap().clock {
            AgeClock::FileTime => Timestamp::from_millis(Stamp::from_path(&path).unwrap().mtime_ms),
            AgeClock::LastUse => {
                list_among(AGENTS, &world.context, &Filter::default()).sessions[0].found.updated_at.unwrap()
            }
        };
        let mut count_after = |days: i64| {
            world.context.env.now = used_at.plus_millis(days * DAY_MS);
            at_risk(&world.context).unwrap().len()
        };
        assert_eq!((count_after(days - 8), count_after(days - 6), count_after(days + 1)), (0, 1, 1), "{}", lab.id);
        update(&world, AGENTS);
        assert_eq!(at_risk(&world.context).unwrap(), [], "{}", lab.id);
        let settings = world.path("home").join(lab.sample.root).join("settings.json");
        fs_err::remove_file(file_path(&world.context)).unwrap();
        assert_eq!(at_risk(&world.context).unwrap().len(), 1, "{}", lab.id);
        let longer = r#"{"cleanupPeriodDays":99,"general":{"sessionRetention":{"maxAge":"99d"}}}"#;
        crate::own::files::write_private(&settings, longer.as_bytes()).unwrap();
        assert_eq!(at_risk(&world.context).unwrap(), [], "{}", lab.id);
    }
}

#[test]
fn conversations_of_sub_agents_in_a_database_are_kept_with_their_session() {
    let (lab, agent) = LABS.iter().zip(AGENTS).find(|(lab, _)| lab.id == "opencode").unwrap();
    let (mut world, path) = world_with_sample(lab, *agent);
    let add_child = |id: &str, parent: &str, time: i64| {
        let database = super::importing::open_database(&path, "");
        let sql = format!(
            r#"INSERT INTO session VALUES ('{id}', '{parent}', '/p', 'sub', '1', {time}, {time});
               INSERT INTO message VALUES ('msg_{id}', '{id}', {time}, {time}, '{{"role":"user","time":{{"created":{time}}}}}');
               INSERT INTO part VALUES ('prt_{id}', 'msg_{id}', '{id}', {time}, {time}, '{{"type":"text","text":"look for {id}"}}');
               UPDATE session SET time_updated = {time} WHERE id = 'ses_1';"#
        );
        database.execute_batch(&sql).unwrap();
    };
    let children = "SELECT count(*) FROM file WHERE role = 'child'";
    add_child("ses_2", "ses_1", 2);
    add_child("ses_3", "ses_2", 3);
    update(&world, AGENTS);
    assert_eq!(count_rows(&world, children), 2);
    add_child("ses_4", "ses_1", 4_000_000);
    update(&world, AGENTS);
    assert_eq!(count_rows(&world, children), 3, "one that came later");
    let kept = find_kept(&world, "ses_1").unwrap();
    fs_err::remove_file(&path).unwrap();
    let restored = restore(&mut world, &kept, None).unwrap();
    assert!(!restored.warnings.iter().any(|warning| warning.contains("sub-agent")), "{:?}", restored.warnings);
    let database = super::importing::open_database(&path, "");
    let sub_agents = || -> Vec<(String, String)> {
        let sql = "SELECT s.id, s.parent_id FROM session s JOIN part p ON p.session_id = s.id
            AND p.data LIKE '%look for ' || s.id || '%' WHERE s.parent_id IS NOT NULL ORDER BY s.id";
        let mut query = database.prepare(sql).unwrap();
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    let new = restored.session.0.as_str();
    let expected = [("ses_2", new), ("ses_3", "ses_2"), ("ses_4", new)].map(|(id, parent)| (id.into(), parent.into()));
    assert_eq!(sub_agents(), expected, "each below the session that started it");
    undo_resume(&world.context, restored.undo_id.as_deref(), false).unwrap();
    assert_eq!(sub_agents(), [], "they go with the session");
}

#[test]
fn what_is_broken_off_is_taken_up_where_it_was() {
    let mut world = World::new();
    world.write_sample();
    world.context.cwd = world.path("home");
    let mut ledger = open_ledger(&world);
    let report = ledger.update_among(BOTH, &world.context, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!((report.changed, ledger.n_sessions().unwrap()), (0, 0));
    drop(ledger);
    assert_eq!(update(&world, BOTH).changed, 1);
}
