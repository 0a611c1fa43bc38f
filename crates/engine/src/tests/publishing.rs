//! Handoffs and their pointers in projects, published and taken back.

use std::path::PathBuf;

use carryover_agents::POINTER_FILES;

use super::world::World;
use crate::handoff::context_file::{ContextFile, write_context_file};
use crate::handoff::publish::{Publication, PublishError, PublishOptions, is_unpublished, publish_session};
use crate::handoff::published::{Published, read_project_handoff};
use crate::handoff::standing_pointers::remove_all;
use crate::write::undo::{list_undoable, undo_resume};
use carryover_agents::Target;

/// The common file of instructions, and the one that can import it.
fn instruction_files() -> (&'static str, &'static str) {
    (POINTER_FILES[0].name, POINTER_FILES[1].name)
}

fn try_publish(world: &World) -> Result<Option<Publication>, PublishError> {
    let options = PublishOptions { show_command: |session, _| format!("show {session}") };
    publish_session(&world.context, &world.select_session("aaaa1111"), &options)
}

fn publish(world: &World) -> Publication {
    try_publish(world).unwrap().unwrap()
}

fn world() -> World {
    let mut world = World::new();
    world.write_sample();
    world.context.seed += 1 << 96;
    world
}

fn text(world: &World, name: &str) -> Option<String> {
    fs_err::read_to_string(world.path("project").join(name)).ok()
}

#[test]
fn a_handoff_stands_in_the_project_hidden_from_git_and_pointed_to() {
    let world = world();
    world.write_file("project/.gitignore", "target\n");
    let publication = publish(&world);
    let (common, importing) = instruction_files();
    assert_eq!(text(&world, ".carryover/handoff.md").as_ref(), Some(&publication.text));
    assert_eq!(text(&world, ".carryover/.gitignore").as_deref(), Some("*\n"));
    assert!(text(&world, common).unwrap().contains(".carryover/handoff.md"));
    assert!(text(&world, importing).unwrap().contains(&format!("@{common}")));
    assert_eq!(fs_err::read_to_string(world.context.home.join("handoff.md")).unwrap(), publication.text);
    assert_eq!(read_project_handoff(&world.context, &world.path("project")), Some(publication.text));
    assert_eq!(list_undoable(&world.context).len(), 0, "nobody takes the pointers back who means a resume");
}

#[test]
fn what_was_there_before_comes_back_to_the_byte() {
    let (common, importing) = instruction_files();
    for files in [&[][..], &[common], &[importing], &[common, importing]] {
        let world = world();
        for file in files {
            world.write_file(&format!("project/{file}"), "# Rules\r\n\r\n- be kind");
        }
        let before = world.read_tree();
        publish(&world);
        assert_ne!(world.read_tree(), before);
        fs_err::remove_file(world.path("project/.carryover/handoff.md")).unwrap();
        let removed = remove_all(&world.context).unwrap();
        assert!(removed.iter().all(|project| project.result.is_ok()), "{files:?}");
        let mut after = world.read_tree();
        // What a user may still want is in it.
        after.retain(|path, _| !path.starts_with(world.path("project/.carryover")));
        assert_eq!(after, before, "{files:?}");
    }
}

#[test]
fn no_agent_reads_less_because_of_us() {
    let (common, importing) = instruction_files();
    let world = world();
    world.write_file(&format!("project/{importing}"), "# Rules\n");
    publish(&world);
    assert_eq!(text(&world, common), None, "some agents would pass over the other");
    assert!(text(&world, importing).unwrap().contains(".carryover/handoff.md"));
}

#[test]
fn what_a_user_takes_out_stays_out() {
    let (common, importing) = instruction_files();
    let world = world();
    publish(&world);
    fs_err::remove_file(world.path("project").join(importing)).unwrap();
    world.write_file(&format!("project/{common}"), "mine alone\n");
    publish(&world);
    assert_eq!((text(&world, common).as_deref(), text(&world, importing)), (Some("mine alone\n"), None));
}

#[test]
fn an_agent_that_comes_into_use_later_gets_its_pointer_then_and_once() {
    let world = world();
    publish(&world);
    assert_eq!(text(&world, "GEMINI.md"), None, "nobody would read it");
    fs_err::create_dir_all(world.path("home/.gemini/tmp")).unwrap();
    publish(&world);
    assert!(text(&world, "GEMINI.md").unwrap().contains(".carryover/handoff.md"));
    let removed = remove_all(&world.context).unwrap();
    assert_eq!(removed.iter().map(|project| project.n_files).collect::<Vec<_>>(), [3], "one project is told once");
    assert_eq!(text(&world, "GEMINI.md"), None);
    publish(&world);
    fs_err::remove_file(world.path("project/GEMINI.md")).unwrap();
    publish(&world);
    assert_eq!(text(&world, "GEMINI.md"), None, "what a user takes out stays out");
}

#[test]
fn a_file_that_was_there_before_its_agent_is_decided_about_once() {
    let (common, _) = instruction_files();
    let world = world();
    publish(&world);
    let block = text(&world, common).unwrap();
    remove_all(&world.context).unwrap();
    world.write_file("project/GEMINI.md", &block);
    publish(&world);
    world.write_file("project/GEMINI.md", "mine alone\n");
    fs_err::create_dir_all(world.path("home/.gemini/tmp")).unwrap();
    publish(&world);
    assert_eq!(
        text(&world, "GEMINI.md").as_deref(),
        Some("mine alone\n"),
        "a clone brought it, and a user took it out"
    );
}

#[cfg(unix)]
#[test]
fn one_real_file_gets_one_block_and_nothing_outside_is_touched() {
    let (common, importing) = instruction_files();
    let world = world();
    let outside = world.write_file("home/rules.md", "not yours\n");
    world.write_file(&format!("project/{common}"), "# Rules\n");
    std::os::unix::fs::symlink(common, world.path("project").join(importing)).unwrap();
    std::os::unix::fs::symlink(&outside, world.path("project/GEMINI.md")).unwrap();
    publish(&world);
    assert_eq!(text(&world, common).unwrap().matches("CARRYOVER:START").count(), 1);
    assert_eq!(fs_err::read_to_string(outside).unwrap(), "not yours\n");
}

#[test]
fn a_brief_that_a_user_left_and_the_handoff_share_a_block_and_go_one_by_one() {
    let world = world();
    publish(&world);
    let session = world.select_session("aaaa1111");
    let target = Target::all().find(|target| target.id == "codex").unwrap();
    let before = world.read_tree();
    let leaving = ContextFile {
        target: &target,
        project: &world.path("project"),
        agent: session.agent.facts().id,
        session: &session.found.id,
        title: None,
        text: "the brief",
        dry_run: false,
    };
    let mut later = world.context.clone();
    later.seed += 1 << 100;
    let left = write_context_file(&later, &leaving).unwrap();
    let file = fs_err::read_to_string(left.file.unwrap()).unwrap();
    assert!(file.contains(".carryover/context.md") && file.contains(".carryover/handoff.md"), "{file}");
    assert_eq!(file.matches("CARRYOVER:START").count(), 1);
    undo_resume(&later, left.undo_id.as_deref(), false).unwrap();
    assert_eq!(world.read_tree(), before);
}

#[test]
fn a_project_can_narrow_what_is_published_and_a_mistake_in_that_is_told() {
    let world = world();
    world.write_file("project/.carryover.toml", "ignore = true\n");
    assert!(try_publish(&world).unwrap().is_none());
    assert!(!world.path("project/.carryover").exists());
    world.write_file("project/.carryover.toml", "publish = [\"handoff\"]\n");
    publish(&world);
    assert_eq!(text(&world, instruction_files().0), None);
    world.write_file("project/.carryover.toml", "ignroe = true\n");
    assert!(matches!(try_publish(&world), Err(PublishError::Settings(_))));
}

#[test]
fn sessions_below_a_repository_are_published_at_its_root_and_a_home_is_no_project() {
    let project_of = |world: &World, folder: &str| -> Option<PathBuf> {
        crate::sessions::project::published_project(&world.context.env.home, &world.path(folder))
    };
    let world = world();
    for folder in ["home/work/app/src", "home/work/app/vendor/lib", "home/plain"] {
        fs_err::create_dir_all(world.path(folder)).unwrap();
    }
    for repository in ["home", "home/work/app", "home/work/app/vendor/lib"] {
        fs_err::create_dir_all(world.path(repository).join(".git")).unwrap();
    }
    assert_eq!(project_of(&world, "home/work/app/src"), Some(world.path("home/work/app")));
    assert_eq!(project_of(&world, "home/work/app/vendor/lib"), Some(world.path("home/work/app/vendor/lib")));
    assert_eq!(project_of(&world, "home/plain"), Some(world.path("home/plain")), "a home is not its repository's work");
    assert_eq!(project_of(&world, "home"), None);
    assert_eq!(project_of(&world, "home/gone"), None);
}

#[test]
fn a_forgotten_session_takes_its_handoffs_along() {
    use crate::ledger::Ledger;
    use crate::ledger::forget::Forget;
    let world = world();
    publish(&world);
    let mut ledger = Ledger::open(&world.context).unwrap().ledger;
    ledger.take_in(&world.context, &world.select_session("aaaa1111")).unwrap();
    ledger.forget(&world.context, &Forget::All).unwrap();
    assert_eq!(Published::load_all(&world.context), []);
    assert!(!world.path("project/.carryover/handoff.md").exists());
    assert!(!world.context.home.join("handoff.md").exists());
}

#[test]
fn a_forgotten_session_is_not_published_again_while_its_store_still_holds_it() {
    use crate::ledger::Ledger;
    use crate::ledger::forget::Forget;
    let world = world();
    publish(&world);
    let mut ledger = Ledger::open(&world.context).unwrap().ledger;
    ledger.take_in(&world.context, &world.select_session("aaaa1111")).unwrap();
    ledger.forget(&world.context, &Forget::All).unwrap();
    drop(ledger);
    assert!(try_publish(&world).unwrap().is_none());
    assert!(!world.path("project/.carryover/handoff.md").exists());
}

#[test]
fn words_that_somebody_wrote_into_our_block_stay() {
    let (common, _) = instruction_files();
    let world = world();
    let block = "<!--CARRYOVER:START-->\nmy own words\n<!--CARRYOVER:END-->\n";
    world.write_file(&format!("project/{common}"), block);
    publish(&world);
    assert_eq!(text(&world, common).as_deref(), Some(block));
}

#[test]
fn a_project_that_is_ignored_later_keeps_no_handoff() {
    let world = world();
    publish(&world);
    world.write_file("project/.carryover.toml", "ignore = true\n");
    assert!(try_publish(&world).unwrap().is_none());
    assert!(!world.path("project/.carryover/handoff.md").exists());
    assert_eq!(Published::load(&world.context, &world.path("project")), None);
}

#[cfg(unix)]
#[test]
fn no_pointer_goes_into_what_git_reads_and_nothing_into_a_folder_of_everybodys() {
    let (common, _) = instruction_files();
    let world = world();
    let config = world.write_file("project/.git/config", "[core]\n");
    std::os::unix::fs::symlink(&config, world.path("project").join(common)).unwrap();
    publish(&world);
    assert_eq!(fs_err::read_to_string(&config).unwrap(), "[core]\n");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs_err::set_permissions(world.path("project"), open).unwrap();
    fs_err::remove_dir_all(world.path("project/.carryover")).unwrap();
    assert_eq!(publish(&world).project, None);
    assert!(!world.path("project/.carryover").exists());
}

#[test]
fn a_session_in_which_nothing_was_said_takes_no_place_and_another_protocol_is_published_anew() {
    let mut world = world();
    let words = publish(&world).text;
    world.write_session(&super::fake::ALPHA, "bbbb2222", r#","title":"Empty""#, &[]);
    let options = PublishOptions { show_command: |session, _| format!("show {session}") };
    let empty = publish_session(&world.context, &world.select_session("bbbb2222"), &options);
    assert!(matches!(empty, Ok(None)));
    assert_eq!(text(&world, ".carryover/handoff.md"), Some(words));
    let session = world.select_session("aaaa1111");
    assert!(!is_unpublished(&world.context, &world.path("project"), &session));
    world.context.config.handoff.protocol = Some("silent".to_owned());
    assert!(is_unpublished(&world.context, &world.path("project"), &session));
}
