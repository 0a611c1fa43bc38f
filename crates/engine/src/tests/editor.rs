//! Sessions that go into an editor's own database: one entry in a list that is the editor's, and a row.

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use super::crash::FailingDisk;
use super::fake::{BETA, EDITOR_DATABASE, EDITOR_LOCK, EMPTY_LIST};
use super::world::{FileTree, World, undo_fake};
use crate::carry::resume::{Options, Report, ResumeError};
use crate::write::closed::NotClosed;
use crate::write::disk::RealDisk;
use crate::write::new_rows::AddRowsError;
use crate::write::undo::{UndoError, list_undoable, list_unfinished};

/// A world with an editor whose list is this, and the world as it is before anything is carried.
fn world_with_list(list: Option<&str>) -> (World, FileTree) {
    let world = World::new();
    world.write_sample();
    let owner = open_database(&world);
    owner
        .execute_batch(
            "CREATE TABLE Item (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB, at);
             INSERT INTO Item VALUES ('other', x'00ff', 1.5), ('state:theirs', 'open', 3);",
        )
        .unwrap();
    if let Some(list) = list {
        owner.execute("INSERT INTO Item VALUES ('list', ?1, NULL)", [list]).unwrap();
    }
    owner.close().unwrap();
    let before = world.read_tree();
    (world, before)
}

fn open_database(world: &World) -> Connection {
    fs_err::create_dir_all(world.path("home/.beta")).unwrap();
    let path = world.path("home/.beta").join(EDITOR_DATABASE);
    Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE).unwrap()
}

fn editor_options() -> Options {
    Options { into_editor: true, ..World::resume_options(&BETA) }
}

pub(super) fn resume(world: &mut World) -> Result<Report, ResumeError> {
    world.try_resume(&mut RealDisk, "aaaa1111", &editor_options())
}

fn read_list(world: &World) -> String {
    open_database(world).query_row("SELECT value FROM Item WHERE key = 'list'", [], |row| row.get(0)).unwrap()
}

fn write_list(world: &World, list: &str) {
    open_database(world).execute("UPDATE Item SET value = ?1 WHERE key = 'list'", [list]).unwrap();
}

fn long_list() -> String {
    let entries: Vec<String> =
        (0..400).map(|n| format!("\"{n:032x}\" : {{\"title\":\"T{n}\", \"unknown\":[{n},{{}}]}}")).collect();
    format!("{{\"v\":1,\"entries\":{{{}}},\"more\":\"\u{fc}\"}}", entries.join(", "))
}

#[test]
fn what_was_added_is_all_that_is_taken_back() {
    let long = long_list();
    for list in [None, Some(EMPTY_LIST), Some(r#"{"v":1,"entries":{"theirs":{"title":"x"}}}"#), Some(&long)] {
        let (mut world, before) = world_with_list(list);
        let report = resume(&mut world).unwrap();
        let entry = json!({ "title": "Fix the parser" });
        let told: Value = serde_json::from_str(&read_list(&world)).unwrap();
        assert_eq!(told["entries"][&report.session.0], entry);
        let state = format!("state:{}", report.session.0);
        let query = "SELECT value || at FROM Item WHERE key = ?1";
        let row: String = open_database(&world).query_row(query, [&state], |row| row.get(0)).unwrap();
        assert_eq!(row, "open7");
        assert!(world.path("ours/backups").is_dir() == list.is_some());
        undo_fake(&world.context, None, false).unwrap();
        assert_eq!(world.read_tree(), before);
        assert!(list.is_none() || fs_err::read_dir(world.path("ours/backups")).unwrap().next().is_none());
    }
}

#[test]
fn every_other_byte_of_a_long_list_stays() {
    let long = long_list();
    let (mut world, _) = world_with_list(Some(&long));
    let report = resume(&mut world).unwrap();
    let added = format!(r#","{}":{{"title":"Fix the parser"}}"#, report.session.0);
    assert_eq!(read_list(&world).replace(&added, ""), long);
    let copies: Vec<_> =
        fs_err::read_dir(world.path("ours/backups")).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(fs_err::read_to_string(&copies[0]).unwrap(), long, "the list as it was");
}

#[test]
fn a_list_that_is_kept_as_bytes_stays_so() {
    let (mut world, _) = world_with_list(Some(EMPTY_LIST));
    open_database(&world).execute("UPDATE Item SET value = CAST(value AS BLOB) WHERE key = 'list'", []).unwrap();
    let before = world.read_tree();
    resume(&mut world).unwrap();
    let query = "SELECT typeof(value) FROM Item WHERE key = 'list'";
    let kind: String = open_database(&world).query_row(query, [], |row| row.get(0)).unwrap();
    assert_eq!(kind, "blob");
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn what_the_editor_has_added_since_stays() {
    let (mut world, _) = world_with_list(Some(EMPTY_LIST));
    let report = resume(&mut world).unwrap();
    // It writes its list anew, in an order of its own, and knows more of the session by now.
    let list =
        format!(r#"{{"v":2,"entries":{{"{}":{{"title":"Fix","seen":true}},"new":{{"a":[1]}}}}}}"#, report.session.0);
    write_list(&world, &list);
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(read_list(&world), r#"{"v":2,"entries":{"new":{"a":[1]}}}"#);
}

#[test]
fn a_row_that_was_begun_for_the_session_stays_once_others_are_in_it() {
    let (mut world, _) = world_with_list(None);
    let report = resume(&mut world).unwrap();
    write_list(&world, &read_list(&world).replace("{\"v\":1,\"entries\":{", "{\"v\":1,\"entries\":{\"new\":{},"));
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(read_list(&world), r#"{"v":1,"entries":{"new":{}}}"#);
    assert!(!read_list(&world).contains(&report.session.0));
}

#[test]
fn while_the_editor_runs_nothing_is_written() {
    let (mut world, _) = world_with_list(Some(EMPTY_LIST));
    let process = std::process::id();
    world.write_file(&format!("home/.beta/{EDITOR_LOCK}"), &process.to_string());
    let before = world.read_tree();
    let error = resume(&mut world).unwrap_err();
    assert!(
        matches!(&error, ResumeError::EditorOpen { editor: "Beta", reason: NotClosed::Running { process: at } } if *at == process)
    );
    assert_eq!(
        error.to_string(),
        format!(
            "Beta: the editor is running (process {process}), and would write over what is added; nothing was added"
        )
    );
    assert_eq!(world.read_tree(), before);
    assert!(list_undoable(&world.context).is_empty() && list_unfinished(&world.context).is_empty());
    let options = Options { dry_run: true, ..editor_options() };
    let report = world.try_resume(&mut RealDisk, "aaaa1111", &options).unwrap();
    assert!(report.warnings.iter().any(|warning| warning == &error.to_string()), "{:?}", report.warnings);
    world.resume("aaaa1111", &BETA);
}

#[test]
fn while_the_editor_runs_nothing_is_taken_back() {
    let (mut world, before) = world_with_list(Some(EMPTY_LIST));
    resume(&mut world).unwrap();
    let lock = world.write_file(&format!("home/.beta/{EDITOR_LOCK}"), &std::process::id().to_string());
    let carried = world.read_tree();
    for force in [false, true] {
        let told = undo_fake(&world.context, None, force);
        assert!(matches!(told, Err(UndoError::EditorOpen { .. })), "{told:?}");
        assert_eq!(world.read_tree(), carried);
    }
    fs_err::remove_file(lock).unwrap();
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn a_database_that_is_held_is_told_and_left_as_it_is() {
    let (mut world, before) = world_with_list(Some(EMPTY_LIST));
    let owner = open_database(&world);
    owner.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let told = resume(&mut world);
    assert!(matches!(told, Err(ResumeError::Rows(AddRowsError::Locked(_)))), "{told:?}");
    owner.execute_batch("COMMIT; BEGIN IMMEDIATE").unwrap();
    let told = resume(&mut world);
    assert!(matches!(told, Err(ResumeError::Rows(AddRowsError::Locked(_)))), "{told:?}");
    owner.execute_batch("COMMIT").unwrap();
    assert_eq!(world.read_tree(), before);
    assert!(list_undoable(&world.context).is_empty());
}

#[test]
fn a_database_that_is_held_keeps_an_undo_whole() {
    let (mut world, before) = world_with_list(Some(EMPTY_LIST));
    resume(&mut world).unwrap();
    let carried = world.read_tree();
    let owner = open_database(&world);
    owner.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(undo_fake(&world.context, None, false), Err(UndoError::Rows(_))));
    owner.execute_batch("COMMIT").unwrap();
    drop(owner);
    assert_eq!(world.read_tree(), carried);
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn a_list_that_is_not_what_it_was_is_left_alone() {
    let hostile = [
        "",
        "[]",
        "null",
        r#"{"v":1}"#,
        r#"{"v":1,"entries":[]}"#,
        r#"{"v":1,"entries":{"#,
        r#"{"entries":{},"entries":{}}"#,
        "{\"entries\":{}} trailing",
    ];
    for list in hostile {
        let (mut world, before) = world_with_list(Some(list));
        let told = resume(&mut world);
        assert!(matches!(told, Err(ResumeError::Rows(AddRowsError::BadValue { .. }))), "{list}: {told:?}");
        assert_eq!(world.read_tree(), before, "{list}");
        assert!(list_undoable(&world.context).is_empty());
    }
    let (mut world, _) = world_with_list(Some(EMPTY_LIST));
    open_database(&world).execute("UPDATE Item SET value = 7 WHERE key = 'list'", []).unwrap();
    assert!(matches!(resume(&mut world), Err(ResumeError::Rows(AddRowsError::BadValue { .. }))));
}

#[test]
fn a_list_that_broke_since_is_left_alone_unless_the_rest_is_to_go() {
    let (mut world, _) = world_with_list(Some(EMPTY_LIST));
    let report = resume(&mut world).unwrap();
    write_list(&world, "{broken");
    assert!(matches!(undo_fake(&world.context, None, false), Err(UndoError::Rows(_))));
    assert!(report.files[0].exists());
    let undone = undo_fake(&world.context, None, true).unwrap();
    assert_eq!(undone.warnings.len(), 1, "{:?}", undone.warnings);
    assert!(!report.files[0].exists());
    assert_eq!(read_list(&world), "{broken");
}

#[test]
fn a_database_without_the_table_or_none_at_all_is_told() {
    let mut world = World::new();
    world.write_sample();
    assert!(matches!(resume(&mut world), Err(ResumeError::Rows(AddRowsError::NoDatabase(_)))));
    open_database(&world).execute_batch("CREATE TABLE Item (key, text)").unwrap();
    let told = resume(&mut world);
    assert!(
        matches!(&told, Err(ResumeError::Rows(AddRowsError::Drifted { column, .. })) if column == "value"),
        "{told:?}"
    );
}

#[test]
fn a_stop_at_any_step_leaves_the_database_as_it_was_or_can_be_put_right() {
    for for_good in [false, true] {
        let mut steps = 0;
        loop {
            let (mut world, before) = world_with_list(Some(EMPTY_LIST));
            let mut disk = FailingDisk { steps_left: steps, for_good, stopped: false };
            if world.try_resume(&mut disk, "aaaa1111", &editor_options()).is_ok() {
                break;
            }
            if !list_unfinished(&world.context).is_empty() {
                undo_fake(&world.context, None, false).unwrap();
            }
            assert_eq!(world.read_tree(), before, "after {steps} steps, for good: {for_good}");
            assert!(list_undoable(&world.context).is_empty());
            steps += 1;
        }
        assert!(steps > 9, "{steps}");
    }
}

#[test]
fn a_copy_that_nobody_used_gives_way_to_the_next() {
    let (mut world, before) = world_with_list(Some(EMPTY_LIST));
    let first = resume(&mut world).unwrap();
    let second = resume(&mut world).unwrap();
    assert_eq!(second.superseded, Some(first.session.0));
    assert_eq!(
        read_list(&world),
        format!(r#"{{"v":1,"entries":{{"{}":{{"title":"Fix the parser"}}}}}}"#, second.session.0)
    );
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn a_session_that_was_gone_on_with_stays_with_its_entry() {
    let (mut world, _) = world_with_list(Some(EMPTY_LIST));
    let report = resume(&mut world).unwrap();
    World::append_lines(&report.files[0], &[r#"{"t":"prompt","s":"used"}"#]);
    let used = world.read_tree();
    assert!(matches!(undo_fake(&world.context, None, false), Err(UndoError::Used { .. })));
    assert_eq!(world.read_tree(), used);
}

#[test]
fn a_journal_cannot_have_another_entry_taken_out() {
    let (mut world, _) = world_with_list(Some(r#"{"v":1,"entries":{"theirs":{"title":"x"}}}"#));
    let report = resume(&mut world).unwrap();
    let journal = world.path("ours/resumes").join(format!("{}.json", report.undo_id.unwrap()));
    let mut told: Value = serde_json::from_slice(&fs_err::read(&journal).unwrap()).unwrap();
    told["rows"][0]["member"]["name"] = json!("theirs");
    world.write_file(&journal.display().to_string(), &told.to_string());
    let before = world.read_tree();
    assert!(matches!(undo_fake(&world.context, None, true), Err(UndoError::OutOfReach { .. })));
    assert_eq!(world.read_tree(), before);
}

/// A world whose editor keeps arrays of sessions, and each session in parts.
pub(super) fn world_with_tabs(tabs: &str) -> (World, FileTree) {
    let (world, _) = world_with_list(Some(EMPTY_LIST));
    let owner = open_database(&world);
    owner.execute("INSERT INTO Item VALUES ('tabs', ?1, NULL), ('part:theirs:1', 'x', NULL)", [tabs]).unwrap();
    owner.close().unwrap();
    let before = world.read_tree();
    (world, before)
}

pub(super) const TABS: &str = r#"{ "all":[ {"id":"theirs","n":[1]} ], "open":["theirs"], "shown":"theirs" }"#;

pub(super) fn read_value(world: &World, key: &str) -> Option<String> {
    let query = "SELECT value FROM Item WHERE key = ?1";
    open_database(world).query_row(query, [key], |row| row.get(0)).ok()
}

pub(super) fn write_value(world: &World, key: &str, value: &str) {
    open_database(world).execute("INSERT OR REPLACE INTO Item VALUES (?1, ?2, NULL)", [key, value]).unwrap();
}

#[test]
fn elements_of_arrays_and_parts_of_a_session_go_in_and_out_again() {
    for tabs in [TABS, r#"{"all":[],"open":[]}"#] {
        let (mut world, before) = world_with_tabs(tabs);
        let id = resume(&mut world).unwrap().session.0;
        let told: Value = serde_json::from_str(&read_value(&world, "tabs").unwrap()).unwrap();
        assert_eq!(told["all"].as_array().unwrap().last(), Some(&json!({ "id": id, "open": true })));
        assert_eq!(told["open"].as_array().unwrap().last(), Some(&json!(id)));
        assert_eq!(read_value(&world, &format!("part:{id}:2")).as_deref(), Some("part 2"));
        let copies = fs_err::read_dir(world.path("ours/backups")).unwrap().count();
        assert_eq!(copies, 2, "each value once");
        undo_fake(&world.context, None, false).unwrap();
        assert_eq!(world.read_tree(), before);
    }
}

#[test]
fn what_the_editor_has_put_around_our_elements_stays() {
    let (mut world, _) = world_with_tabs(TABS);
    let id = resume(&mut world).unwrap().session.0;
    write_value(&world, "tabs", &format!(r#"{{"open":["{id}","new"],"all":[{{"x":1,"id":"{id}"}},{{"id":"new"}}]}}"#));
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(read_value(&world, "tabs").as_deref(), Some(r#"{"open":["new"],"all":[{"id":"new"}]}"#));
}

#[test]
fn a_session_whose_parts_became_more_stays_unless_it_is_to_go() {
    let (mut world, before) = world_with_tabs(TABS);
    let id = resume(&mut world).unwrap().session.0;
    write_value(&world, &format!("part:{id}:3"), "gone on with");
    let used = world.read_tree();
    assert!(matches!(undo_fake(&world.context, None, false), Err(UndoError::Used { .. })));
    assert_eq!(world.read_tree(), used);
    undo_fake(&world.context, None, true).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn a_broken_array_keeps_all_the_rest_unless_that_is_to_go() {
    let (mut world, _) = world_with_tabs(TABS);
    let id = resume(&mut world).unwrap().session.0;
    let broken = r#"{"all":{},"open":["x"]}"#;
    write_value(&world, "tabs", broken);
    let carried = world.read_tree();
    assert!(matches!(undo_fake(&world.context, None, false), Err(UndoError::Rows(_))));
    assert_eq!(world.read_tree(), carried);
    let undone = undo_fake(&world.context, None, true).unwrap();
    assert_eq!(undone.warnings.len(), 1, "{:?}", undone.warnings);
    assert_eq!(read_value(&world, "tabs").as_deref(), Some(broken));
    assert_eq!(read_value(&world, &format!("part:{id}:1")), None);
    assert_eq!(read_value(&world, "part:theirs:1").as_deref(), Some("x"));
}

#[test]
fn a_journal_cannot_have_all_parts_taken_that_begin_with_a_letter() {
    let (mut world, _) = world_with_tabs(TABS);
    let report = resume(&mut world).unwrap();
    let journal = world.path("ours/resumes").join(format!("{}.json", report.undo_id.unwrap()));
    let mut told: Value = serde_json::from_slice(&fs_err::read(&journal).unwrap()).unwrap();
    let rows = told["rows"].as_array().unwrap();
    let parts = rows.iter().position(|rows| rows["is_prefix"] == true).unwrap();
    for value in ["part:", &format!("part:{}", report.session.0)] {
        told["rows"][parts]["value"] = json!(value);
        world.write_file(&journal.display().to_string(), &told.to_string());
        let before = world.read_tree();
        assert!(matches!(undo_fake(&world.context, None, true), Err(UndoError::OutOfReach { .. })));
        assert_eq!(world.read_tree(), before);
    }
}
