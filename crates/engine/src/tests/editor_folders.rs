//! What sessions in an editor share: it comes with the first of them, and goes with the last.

use serde_json::{Value, json};

use super::editor::{TABS, read_value, resume, world_with_tabs, write_value};
use super::fake::{BETA, EDITOR_FOLDER};
use super::world::{World, undo_fake};
use crate::carry::resume::Options;
use crate::write::disk::RealDisk;
use crate::write::undo::UndoError;

fn resume_elsewhere(world: &mut World) -> crate::carry::resume::Report {
    let folder = world.path("elsewhere");
    fs_err::create_dir_all(&folder).unwrap();
    // In another folder: it takes nobody's place.
    let options = Options { into_editor: true, project: Some(folder), ..World::resume_options(&BETA) };
    world.try_resume(&mut RealDisk, "aaaa1111", &options).unwrap()
}

fn folders(world: &World) -> Option<Value> {
    read_value(world, "folders").map(|text| serde_json::from_str(&text).unwrap())
}

#[test]
fn it_stays_for_as_long_as_one_session_is_in_it_whichever_goes_first() {
    for first_goes_first in [true, false] {
        let (mut world, _) = world_with_tabs(TABS);
        fs_err::create_dir_all(world.path("elsewhere")).unwrap();
        let before = world.read_tree();
        let (one, other) = (resume(&mut world).unwrap(), resume_elsewhere(&mut world));
        let ours = json!([{ "id": EDITOR_FOLDER, "title": "Work" }]);
        assert_eq!(folders(&world), Some(ours.clone()), "once");
        let (sooner, later) = if first_goes_first { (&one, &other) } else { (&other, &one) };
        undo_fake(&world.context, sooner.undo_id.as_deref(), false).unwrap();
        assert_eq!(folders(&world), Some(ours));
        let inside = json!({ later.session.0.clone(): EDITOR_FOLDER }).to_string();
        assert_eq!(read_value(&world, "in_folder"), Some(inside));
        undo_fake(&world.context, later.undo_id.as_deref(), false).unwrap();
        assert_eq!(world.read_tree(), before, "rows that were begun for both are gone, too");
    }
}

#[test]
fn a_copy_that_takes_anothers_place_keeps_it() {
    let (mut world, before) = world_with_tabs(TABS);
    resume(&mut world).unwrap();
    let second = resume(&mut world).unwrap();
    assert!(second.superseded.is_some());
    assert_eq!(folders(&world), Some(json!([{ "id": EDITOR_FOLDER, "title": "Work" }])));
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn it_stays_where_the_editor_has_put_a_session_of_its_own_into_it() {
    let (mut world, _) = world_with_tabs(TABS);
    let id = resume(&mut world).unwrap().session.0;
    write_value(&world, "in_folder", &json!({ "new": EDITOR_FOLDER, id: EDITOR_FOLDER }).to_string());
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(folders(&world), Some(json!([{ "id": EDITOR_FOLDER, "title": "Work" }])));
    assert_eq!(read_value(&world, "in_folder"), Some(json!({ "new": EDITOR_FOLDER }).to_string()));
}

#[test]
fn it_stays_where_the_session_is_not_in_it_any_more() {
    let (mut world, _) = world_with_tabs(TABS);
    resume(&mut world).unwrap();
    write_value(&world, "in_folder", "{}");
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(folders(&world), Some(json!([{ "id": EDITOR_FOLDER, "title": "Work" }])), "nothing tells whose it is");
}

#[test]
fn a_journal_cannot_have_anothers_taken_out() {
    let (mut world, _) = world_with_tabs(TABS);
    let theirs = r#"[{"id":"theirs"}]"#;
    write_value(&world, "folders", theirs);
    let report = resume(&mut world).unwrap();
    let journal = world.path("ours/resumes").join(format!("{}.json", report.undo_id.unwrap()));
    let written: Value = serde_json::from_slice(&fs_err::read(&journal).unwrap()).unwrap();
    let rows = written["rows"].as_array().unwrap();
    let shared = rows.iter().position(|rows| rows["value"] == "folders").unwrap();
    let write = |told: &Value| world.write_file(&journal.display().to_string(), &told.to_string());
    let mut told = written.clone();
    told["rows"][shared]["member"]["referrer"]["name"] = json!("theirs");
    write(&told);
    assert!(matches!(undo_fake(&world.context, None, true), Err(UndoError::OutOfReach { .. })));
    let mut told = written;
    told["rows"][shared]["member"]["name"] = json!("theirs");
    write(&told);
    undo_fake(&world.context, None, true).unwrap();
    assert!(folders(&world).unwrap().as_array().unwrap().contains(&json!({ "id": "theirs" })));
}
