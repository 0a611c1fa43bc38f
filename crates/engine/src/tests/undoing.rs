use super::fake::BETA;
use super::world::World;
use crate::undo::{UndoError, undo, undoable, unfinished};

#[test]
fn undo_takes_back_exactly_what_was_added() {
    let mut world = World::new();
    world.story();
    let before = world.tree();
    let report = world.resume("aaaa1111", &BETA);
    assert_ne!(world.tree(), before);
    let undone = undo(&world.context, None, false).unwrap();
    assert_eq!(world.tree(), before);
    assert_eq!(Some(undone.id), report.undo_id);
    assert_eq!(undone.session, report.session.0);
    assert!(undone.removed.contains(&report.files[0]) && undone.warnings.is_empty());
    assert!(matches!(undo(&world.context, None, false), Err(UndoError::Nothing)));
}

#[cfg(unix)]
#[test]
fn what_the_client_added_to_its_index_is_taken_out_again() {
    let mut world = World::new();
    world.story();
    let before = world.tree();
    let script = "echo 1.2.3\n: > \"$HOME/.beta/index.lock\"\necho \"$2\" >> \"$HOME/.beta/index\"";
    super::world::program(&world.path("bin/fake-client"), script);
    world.resume("aaaa1111", &BETA);
    undo(&world.context, None, false).unwrap();
    assert!(!world.path("home/.beta/index").exists() && !world.path("home/.beta/index.lock").exists());
    assert_eq!(world.tree(), before);
    let index = world.write("home/.beta/index", "theirs\n");
    world.resume("aaaa1111", &BETA);
    World::append(&index, &["theirs too"]);
    // This one supersedes the one before, whose line goes as well.
    let report = world.resume("aaaa1111", &BETA);
    assert_eq!(World::lines(&index), ["theirs", "theirs too", &report.files[0].display().to_string()]);
    undo(&world.context, None, false).unwrap();
    assert_eq!(World::lines(&index), ["theirs", "theirs too"]);
    assert!(!world.path("home/.beta/index.lock").exists());
}

#[test]
fn one_undo_takes_back_a_copy_that_took_anothers_place() {
    let mut world = World::new();
    world.story();
    let before = world.tree();
    world.resume("aaaa1111", &BETA);
    world.resume("aaaa1111", &BETA);
    undo(&world.context, None, false).unwrap();
    assert_eq!(world.tree(), before);
}

#[test]
fn folders_that_others_use_meanwhile_stay() {
    let mut world = World::new();
    world.story();
    world.resume("aaaa1111", &BETA);
    let theirs = world.write("home/.beta/sessions/theirs", "");
    undo(&world.context, None, false).unwrap();
    assert!(theirs.exists() && !world.path("home/.beta/extra").exists());
}

#[test]
fn a_session_that_was_used_is_taken_back_only_by_force() {
    let mut world = World::new();
    world.story();
    let before = world.tree();
    let report = world.resume("aaaa1111", &BETA);
    World::append(&report.files[0], &[r#"{"t":"prompt","s":"used"}"#]);
    let used = world.tree();
    assert!(matches!(undo(&world.context, None, false), Err(UndoError::Used(path)) if path == report.files[0]));
    assert_eq!(world.tree(), used, "nothing was taken back");
    undo(&world.context, None, true).unwrap();
    assert_eq!(world.tree(), before);
}

#[test]
fn resumes_are_named_by_the_beginning_of_their_id() {
    let mut world = World::new();
    world.story();
    let options = |world: &World, name: &str| {
        fs_err::create_dir_all(world.path(name)).unwrap();
        crate::resume::Options { project: Some(world.path(name)), ..World::options(&BETA) }
    };
    let first = options(&world, "one");
    let first = world.try_resume(&mut crate::disk::RealDisk, "aaaa1111", &first).unwrap();
    let second = options(&world, "two");
    let second = world.try_resume(&mut crate::disk::RealDisk, "aaaa1111", &second).unwrap();
    let listed: Vec<String> = undoable(&world.context).into_iter().map(|one| one.id).collect();
    assert_eq!(listed, [second.undo_id.clone().unwrap(), first.undo_id.clone().unwrap()]);
    assert!(
        matches!(undo(&world.context, Some("0"), false), Err(UndoError::Ambiguous { fitting, .. }) if fitting.len() == 2)
    );
    assert!(matches!(undo(&world.context, Some("zz"), false), Err(UndoError::NotFound(_))));
    undo(&world.context, first.undo_id.as_deref(), false).unwrap();
    assert!(matches!(undo(&world.context, first.undo_id.as_deref(), false), Err(UndoError::NotFound(_))));
    undo(&world.context, Some(&second.undo_id.unwrap()[..8]), false).unwrap();
    assert!(undoable(&world.context).is_empty());
}

#[test]
fn what_is_gone_already_is_no_error() {
    let mut world = World::new();
    world.story();
    let report = world.resume("aaaa1111", &BETA);
    fs_err::remove_file(&report.files[0]).unwrap();
    let undone = undo(&world.context, None, false).unwrap();
    assert!(undone.warnings[0].ends_with("was gone already"));
}

#[test]
fn broken_journals_are_passed_over() {
    let mut world = World::new();
    assert!(matches!(undo(&world.context, None, false), Err(UndoError::Nothing)));
    assert!(!world.path("ours").exists(), "asking leaves nothing behind");
    world.story();
    let report = world.resume("aaaa1111", &BETA);
    let id = report.undo_id.unwrap();
    let text = fs_err::read_to_string(world.path(&format!("ours/resumes/{id}.json"))).unwrap();
    let named = |name: &str| text.replace(&format!("\"id\": \"{id}\""), &format!("\"id\": \"{name}\""));
    world.write("ours/resumes/ffffffff.json", "{");
    world.write("ours/resumes/eeeeeeee.json", &text);
    world.write("ours/resumes/dddddddd.json", &named("dddddddd").replace("resume/1", "resume/9"));
    let victim = world.write("home/victim", "precious");
    let relative = named("cccccccc").replace(&report.files[0].display().to_string(), "home/victim");
    world.write("ours/resumes/cccccccc.json", &relative);
    world.write("ours/resumes/x.lineage.json", &text);
    assert_eq!(undoable(&world.context).len(), 1);
    assert!(unfinished(&world.context).is_empty());
    // One that names a file of somebody else's fails at its digest.
    let stolen = named("bbbbbbbb").replace(&report.files[0].display().to_string(), &victim.display().to_string());
    world.write("ours/resumes/bbbbbbbb.json", &stolen);
    assert!(matches!(undo(&world.context, Some("bbbbbbbb"), false), Err(UndoError::Used(_))));
    assert!(victim.exists());
}
