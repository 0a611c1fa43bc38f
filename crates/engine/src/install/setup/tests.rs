use carryover_agents::{AGENTS, Agent, hooked_agents};

use super::*;
use crate::tests::world::World;

/// Somebody who has entries among those of others: the first is as good as any.
fn hooked() -> &'static Facts {
    let has_entries = |facts: &&Facts| matches!(facts.hooks.unwrap().place, HookPlace::Entries { .. });
    hooked_agents().find(has_entries).unwrap()
}

fn agent(facts: &Facts) -> &'static dyn Agent {
    *AGENTS.iter().find(|agent| agent.facts().id == facts.id).unwrap()
}

fn world() -> World {
    World::with_clients(&[agent(hooked())])
}

fn choose(agents: &[&'static Facts]) -> Choice {
    Choice {
        agents: agents.to_vec(),
        uses_read_lists: false,
        uses_commands: false,
        protocol: None,
        uses_service: false,
    }
}

fn place(world: &World, facts: &Facts) -> PathBuf {
    facts.hooks.unwrap().place.file_path(&world.context.env).unwrap()
}

fn set_up_for(world: &World, program: &str, agents: &[&'static Facts]) -> Vec<AgentReport> {
    set_up(&world.context, program.as_ref(), &choose(agents), false).unwrap()
}

fn outcome(reports: &[AgentReport]) -> &Outcome {
    assert_eq!(reports.len(), 1, "{reports:?}");
    &reports[0].outcome
}

fn take_all_out(world: &World) -> Vec<AgentReport> {
    take_out(&world.context, false).unwrap()
}

#[test]
fn what_is_set_up_twice_is_set_up_once_and_goes_without_a_trace() {
    let world = world();
    let before = world.read_tree();
    assert!(matches!(outcome(&set_up_for(&world, "/bin/carryover", &[hooked()])), Outcome::Written));
    let first = world.read_tree();
    assert!(matches!(outcome(&set_up_for(&world, "/bin/carryover", &[hooked()])), Outcome::Unchanged));
    assert_eq!(world.read_tree(), first);
    assert!(matches!(outcome(&take_all_out(&world)), Outcome::Removed));
    assert_eq!(world.read_tree(), before, "the folder that was made is gone, too");
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = world();
    let before = world.read_tree();
    let reports = set_up(&world.context, "/bin/carryover".as_ref(), &choose(&[hooked()]), true).unwrap();
    assert!(matches!(outcome(&reports), Outcome::Written));
    assert_eq!(world.read_tree(), before);
    assert!(!world.context.home.join("install.json").exists());
}

#[test]
fn edits_of_the_user_survive_a_refresh_and_the_end() {
    let world = world();
    let path = place(&world, hooked());
    let original = "{\n  // mine\n  \"model\": \"x\",\n}\n";
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    crate::own::files::write_private(&path, original.as_bytes()).unwrap();
    set_up_for(&world, "/old/carryover", &[hooked()]);
    let edited = fs_err::read_to_string(&path).unwrap().replace("\"x\"", "\"y\"");
    crate::own::files::write_private(&path, edited.as_bytes()).unwrap();
    let reports = set_up_for(&world, "/new/carryover", &[hooked()]);
    assert!(matches!(outcome(&reports), Outcome::Written) && reports[0].was_edited);
    assert!(!fs_err::read_to_string(&path).unwrap().contains("/old/"));
    assert!(!take_all_out(&world)[0].was_edited, "what was edited before the refresh is known");
    assert_eq!(fs_err::read_to_string(&path).unwrap(), original.replace("\"x\"", "\"y\""));
}

#[test]
fn who_is_not_chosen_any_more_loses_the_hooks() {
    let world = world();
    let before = world.read_tree();
    set_up_for(&world, "/bin/carryover", &[hooked()]);
    assert!(matches!(outcome(&set_up_for(&world, "/bin/carryover", &[])), Outcome::Removed));
    assert_eq!(world.read_tree(), before);
}

#[test]
fn who_is_not_here_is_told_and_not_written_for() {
    let world = World::new();
    let before = world.read_tree();
    assert!(matches!(outcome(&set_up_for(&world, "/bin/carryover", &[hooked()])), Outcome::NotDetected));
    assert_eq!(world.read_tree(), before);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_stays_a_link() {
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    let real = world.write_file("dotfiles/settings.json", "{}\n");
    fs_err::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    let path = place(&world, hooked());
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::os::unix::fs::symlink(&real, &path).unwrap();
    set_up_for(&world, "/bin/carryover", &[hooked()]);
    assert!(fs_err::symlink_metadata(&path).unwrap().is_symlink());
    assert!(fs_err::read_to_string(&real).unwrap().contains("/bin/carryover hook"));
    assert_eq!(fs_err::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    take_all_out(&world);
    assert_eq!(fs_err::read_to_string(&real).unwrap(), "{}\n");
}

#[test]
fn a_file_of_our_own_is_written_and_goes_but_never_one_of_others() {
    let world = World::new();
    let draft = || new_record("alpha", FileKind::OwnFile, &world.path("home/.alpha/hooks.json"));
    let mut record = InstallRecord::default();
    let put = |record: &mut InstallRecord, text: &str| {
        let change = own_file::plan_put(&world.context, record, draft(), text.to_owned(), None)?;
        change.apply(&world.context, record, &mut RealDisk)
    };
    let before = world.read_tree();
    put(&mut record, "one").unwrap();
    put(&mut record, "two").unwrap();
    let file = record.find_file("alpha", FileKind::OwnFile).unwrap().clone();
    FileChange::give_back(&world.context, &file, |text| Ok(text.to_owned()))
        .unwrap()
        .apply(&world.context, &mut record, &mut RealDisk)
        .unwrap();
    assert_eq!(world.read_tree(), before);
    world.write_file("home/.alpha/hooks.json", "somebody's");
    assert!(matches!(put(&mut record, "three"), Err(InstallError::NotOurs(_))));
}

#[test]
fn an_installation_that_was_interrupted_is_taken_back() {
    let world = world();
    let path = place(&world, hooked());
    crate::own::files::write_private(&path, b"{}\n").unwrap();
    let before = world.read_tree();
    set_up_for(&world, "/bin/carryover", &[hooked()]);
    // The record stands, and the file was not reached.
    crate::own::files::write_private(&path, b"{}\n").unwrap();
    take_all_out(&world);
    assert_eq!(world.read_tree(), before);
}

#[test]
fn whoever_reads_lists_gets_the_handoff_into_them_when_asked() {
    let world = World::new();
    let facts = all_facts().find(|facts| facts.read_list.is_some()).unwrap();
    let path = facts.read_list.unwrap().file_path(&world.context.env).unwrap();
    crate::own::files::write_private(&path, b"model: x\nread: A.md # mine\n").unwrap();
    let before = world.read_tree();
    let choice = Choice { uses_read_lists: true, ..choose(&[]) };
    let reports = set_up(&world.context, "/bin/carryover".as_ref(), &choice, false).unwrap();
    assert!(matches!(outcome(&reports), Outcome::Written));
    assert_eq!(fs_err::read_to_string(&path).unwrap(), "model: x\nread: [A.md, .carryover/handoff.md] # mine\n");
    take_all_out(&world);
    assert_eq!(world.read_tree(), before);
}
