use super::fake::BETA;
use super::world::{World, undo_fake};
use crate::write::undo::{UndoError, list_undoable, list_unfinished};

#[test]
fn undo_takes_back_exactly_what_was_added() {
    let mut world = World::new();
    world.write_sample();
    let before = world.read_tree();
    let report = world.resume("aaaa1111", &BETA);
    assert_ne!(world.read_tree(), before);
    let undone = undo_fake(&world.context, None, false).unwrap();
    assert_eq!(world.read_tree(), before);
    assert_eq!(Some(undone.id), report.undo_id);
    assert_eq!(undone.session, report.session.0);
    assert!(undone.removed.contains(&report.files[0]) && undone.warnings.is_empty());
    assert!(matches!(undo_fake(&world.context, None, false), Err(UndoError::Nothing)));
}

#[cfg(unix)]
#[test]
fn what_the_client_added_to_its_index_is_taken_out_again() {
    let mut world = World::new();
    world.write_sample();
    let before = world.read_tree();
    let script = "echo 1.2.3\n: > \"$HOME/.beta/index.lock\"\necho \"$2\" >> \"$HOME/.beta/index\"";
    super::world::write_program(&world.path("bin/fake-client"), script);
    world.resume("aaaa1111", &BETA);
    undo_fake(&world.context, None, false).unwrap();
    assert!(!world.path("home/.beta/index").exists() && !world.path("home/.beta/index.lock").exists());
    assert_eq!(world.read_tree(), before);
    let index = world.write_file("home/.beta/index", "theirs\n");
    world.resume("aaaa1111", &BETA);
    World::append_lines(&index, &["theirs too"]);
    // This one supersedes the one before, whose line goes as well.
    let report = world.resume("aaaa1111", &BETA);
    assert_eq!(World::read_lines(&index), ["theirs", "theirs too", &report.files[0].display().to_string()]);
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(World::read_lines(&index), ["theirs", "theirs too"]);
    assert!(!world.path("home/.beta/index.lock").exists());
}

#[cfg(unix)]
#[test]
fn a_client_is_not_started_in_a_project_unless_it_has_to_be() {
    let mut world = World::new();
    world.write_sample();
    super::world::write_program(&world.path("bin/fake-client"), "echo 1.2.3\npwd > \"$HOME/where\"");
    world.resume("aaaa1111", &BETA);
    assert_eq!(World::read_lines(&world.path("home/where")), [world.path("home").display().to_string()]);
}

#[test]
fn one_undo_takes_back_a_copy_that_took_anothers_place() {
    let mut world = World::new();
    world.write_sample();
    let before = world.read_tree();
    world.resume("aaaa1111", &BETA);
    world.resume("aaaa1111", &BETA);
    undo_fake(&world.context, None, false).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn folders_that_others_use_meanwhile_stay() {
    let mut world = World::new();
    world.write_sample();
    world.resume("aaaa1111", &BETA);
    let theirs = world.write_file("home/.beta/sessions/theirs", "");
    undo_fake(&world.context, None, false).unwrap();
    assert!(theirs.exists() && !world.path("home/.beta/extra").exists());
}

#[test]
fn a_session_that_was_used_is_taken_back_only_by_force() {
    let mut world = World::new();
    world.write_sample();
    let before = world.read_tree();
    let report = world.resume("aaaa1111", &BETA);
    World::append_lines(&report.files[0], &[r#"{"t":"prompt","s":"used"}"#]);
    let used = world.read_tree();
    assert!(
        matches!(undo_fake(&world.context, None, false), Err(UndoError::Used { path, .. }) if path == report.files[0])
    );
    assert_eq!(world.read_tree(), used, "nothing was taken back");
    undo_fake(&world.context, None, true).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn resumes_are_named_by_the_beginning_of_their_id() {
    let mut world = World::new();
    world.write_sample();
    let options = |world: &World, name: &str| {
        fs_err::create_dir_all(world.path(name)).unwrap();
        crate::carry::resume::Options { project: Some(world.path(name)), ..World::resume_options(&BETA) }
    };
    let first = options(&world, "one");
    let first = world.try_resume(&mut crate::write::disk::RealDisk, "aaaa1111", &first).unwrap();
    let second = options(&world, "two");
    let second = world.try_resume(&mut crate::write::disk::RealDisk, "aaaa1111", &second).unwrap();
    let listed: Vec<String> = list_undoable(&world.context).into_iter().map(|one| one.id).collect();
    assert_eq!(listed, [second.undo_id.clone().unwrap(), first.undo_id.clone().unwrap()]);
    assert!(
        matches!(undo_fake(&world.context, Some("0"), false), Err(UndoError::Ambiguous { fitting, .. }) if fitting.len() == 2)
    );
    assert!(matches!(undo_fake(&world.context, Some("zz"), false), Err(UndoError::NotFound(_))));
    undo_fake(&world.context, first.undo_id.as_deref(), false).unwrap();
    assert!(matches!(undo_fake(&world.context, first.undo_id.as_deref(), false), Err(UndoError::NotFound(_))));
    undo_fake(&world.context, Some(&second.undo_id.unwrap()[..8]), false).unwrap();
    assert!(list_undoable(&world.context).is_empty());
}

#[test]
fn what_is_gone_already_is_no_error() {
    let mut world = World::new();
    world.write_sample();
    let report = world.resume("aaaa1111", &BETA);
    fs_err::remove_file(&report.files[0]).unwrap();
    let undone = undo_fake(&world.context, None, false).unwrap();
    assert!(undone.warnings[0].ends_with("was gone already"));
}

#[test]
fn journals_of_the_first_releases_are_undone() {
    let mut world = World::new();
    world.write_sample();
    let report = world.resume("aaaa1111", &BETA);
    let id = report.undo_id.unwrap();
    let journal = format!("ours/resumes/{id}.json");
    let text = fs_err::read_to_string(world.path(&journal)).unwrap();
    world.write_file(&journal, &text.replace("carryover.journal/1", "carryover.resume/1"));
    undo_fake(&world.context, Some(&id), false).unwrap();
    assert!(!report.files[0].exists());
}

#[test]
fn broken_journals_are_passed_over() {
    let mut world = World::new();
    assert!(matches!(undo_fake(&world.context, None, false), Err(UndoError::Nothing)));
    assert!(!world.path("ours").exists(), "asking leaves nothing behind");
    world.write_sample();
    let report = world.resume("aaaa1111", &BETA);
    let id = report.undo_id.unwrap();
    let text = fs_err::read_to_string(world.path(&format!("ours/resumes/{id}.json"))).unwrap();
    let named = |name: &str| text.replace(&format!("\"id\": \"{id}\""), &format!("\"id\": \"{name}\""));
    world.write_file("ours/resumes/ffffffff.json", "{");
    world.write_file("ours/resumes/eeeeeeee.json", &text);
    world.write_file("ours/resumes/dddddddd.json", &named("dddddddd").replace("journal/1", "journal/9"));
    let victim = world.write_file("home/victim", "precious");
    let relative = named("cccccccc").replace(&report.files[0].display().to_string(), "home/victim");
    world.write_file("ours/resumes/cccccccc.json", &relative);
    world.write_file("ours/resumes/x.lineage.json", &text);
    assert_eq!(list_undoable(&world.context).len(), 1);
    assert!(list_unfinished(&world.context).is_empty());
    // One that names a file of somebody else's is not believed.
    let stolen = named("bbbbbbbb").replace(&report.files[0].display().to_string(), &victim.display().to_string());
    world.write_file("ours/resumes/bbbbbbbb.json", &stolen);
    assert!(matches!(undo_fake(&world.context, Some("bbbbbbbb"), false), Err(UndoError::OutOfReach { .. })));
    assert!(victim.exists());
}

/// A store may be on a larger disk, and be gone when it is looked for.
#[cfg(unix)]
#[test]
fn a_store_behind_links_of_the_users_own_is_still_the_agents() {
    for link in ["home/.beta", "home/.beta/sessions"] {
        let mut world = World::new();
        world.write_sample();
        fs_err::create_dir_all(world.path("disk/there")).unwrap();
        fs_err::create_dir_all(world.path(link).parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(world.path("disk/there"), world.path(link)).unwrap();
        let before = world.read_tree();
        world.resume("aaaa1111", &BETA);
        undo_fake(&world.context, None, false).unwrap();
        assert_eq!(world.read_tree(), before, "{link}");
        world.resume("aaaa1111", &BETA);
        fs_err::remove_dir_all(world.path("disk")).unwrap();
        fs_err::remove_file(world.path(link)).unwrap();
        assert!(!undo_fake(&world.context, None, false).unwrap().warnings.is_empty());
    }
}

/// A journal is a file like any other, and somebody may have written into it.
#[cfg(unix)]
#[test]
fn a_journal_that_names_what_is_not_ours_takes_nothing_back() {
    type Tampering = fn(&mut serde_json::Value, &World);
    let tamperings: &[(&str, Tampering)] = &[
        ("a file elsewhere", |journal, world| journal["files"][0]["path"] = path_value(world, "home/precious")),
        ("a file of the agent's that is no session", |journal, world| {
            journal["files"][0]["path"] = path_value(world, "home/.beta/settings.json");
        }),
        ("a way back up", |journal, world| {
            journal["files"][0]["path"] = path_value(world, "home/.beta/sessions/../../precious.jsonl");
        }),
        ("a link out", |journal, world| {
            journal["files"][0]["path"] = path_value(world, "home/.beta/sessions/out/precious.jsonl");
        }),
        ("another's store", |journal, world| {
            journal["files"][0]["path"] = path_value(world, "home/.alpha/sessions/aaaa1111.alpha.jsonl");
        }),
        ("an agent that nobody knows", |journal, _| journal["target"]["agent"] = "nobody".into()),
        ("another project's list", |journal, world| {
            journal["ignored"] = serde_json::json!({ "file": path_value(world, "home/precious"), "added": "words" });
        }),
        ("more than our line", |journal, world| {
            journal["ignored"] =
                serde_json::json!({ "file": path_value(world, "project/.gitignore"), "added": "target\n" });
        }),
        ("a block elsewhere", |journal, world| {
            journal["blocks"] =
                serde_json::json!([{ "file": path_value(world, "home/precious"), "left": "1", "rest": "1" }]);
        }),
        ("a folder for nothing", |journal, world| journal["folders"][0] = path_value(world, "home/empty")),
        ("lines elsewhere", |journal, world| journal["lines"][0]["file"] = path_value(world, "home/precious")),
        ("every line", |journal, _| journal["lines"][0]["containing"] = "e".into()),
        ("a lock that is none", |journal, world| {
            journal["lines"][0]["lock"] = path_value(world, "home/.beta/settings.json");
            journal["lines"][0]["is_lock_new"] = true.into();
        }),
        ("a database elsewhere", |journal, world| {
            let database = path_value(world, "home/precious");
            journal["rows"] = serde_json::json!([{ "database": database, "table": "t", "column": "c", "value": "v" }]);
        }),
    ];
    for (what, tamper) in tamperings {
        let mut world = World::new();
        world.write_sample();
        for file in ["precious", "elsewhere/precious.jsonl", "precious.jsonl", ".beta/settings.json", ".beta/index"] {
            world.write_file(&format!("home/{file}"), "precious words\n");
        }
        world.write_file("project/.gitignore", "words\ntarget\n");
        fs_err::create_dir(world.path("home/empty")).unwrap();
        fs_err::create_dir_all(world.path("home/.beta/sessions")).unwrap();
        std::os::unix::fs::symlink(world.path("home/elsewhere"), world.path("home/.beta/sessions/out")).unwrap();
        super::world::write_program(&world.path("bin/fake-client"), "echo 1.2.3\n: > \"$HOME/.beta/index.lock\"");
        let id = world.resume("aaaa1111", &BETA).undo_id.unwrap();
        let file = world.path(&format!("ours/resumes/{id}.json"));
        let mut journal: serde_json::Value = serde_json::from_slice(&fs_err::read(&file).unwrap()).unwrap();
        tamper(&mut journal, &world);
        world.write_file(&format!("ours/resumes/{id}.json"), &journal.to_string());
        let before = world.read_tree();
        for force in [false, true] {
            let result = undo_fake(&world.context, None, force);
            assert!(
                matches!(&result, Err(UndoError::OutOfReach { journal, .. }) if *journal == file),
                "{what}: {result:?}"
            );
            assert_eq!(world.read_tree(), before, "{what}");
        }
    }
}

fn path_value(world: &World, path: &str) -> serde_json::Value {
    world.path(path).display().to_string().into()
}
