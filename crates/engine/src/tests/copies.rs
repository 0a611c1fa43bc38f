use super::fake::{ALPHA, BETA};
use super::world::{SAMPLE_RECORDS, World};
use crate::carry::earlier::EarlierCopy;
use crate::carry::own::{is_own, own_command};
use crate::carry::resume::Options;
use crate::sessions::copies::{CarriedCopy, Copies, CopyState};
use crate::write::disk::RealDisk;
use crate::write::undo::undo_among;

use carryover_core::transcript::SessionId;

fn id(text: &str) -> SessionId {
    SessionId(text.to_owned())
}

#[test]
fn a_copy_knows_where_it_came_from_and_a_session_where_it_went() {
    let mut world = World::new();
    world.write_sample();
    let report = world.resume("aaaa1111", &BETA);
    let copies = Copies::load(&world.context);
    let copy = copies.origin_of("beta", &report.session).unwrap();
    assert_eq!((copy.source.agent.as_str(), &copy.source.session), ("alpha", &id("aaaa1111")));
    assert_eq!(Some(&copy.undo_id), report.undo_id.as_ref());
    let made: Vec<&SessionId> = copies.copies_of("alpha", &id("aaaa1111")).map(|copy| &copy.target.session).collect();
    assert_eq!(made, [&report.session]);
    assert!(copies.origin_of("alpha", &id("aaaa1111")).is_none());
    assert!(copies.origin_of("alpha", &report.session).is_none(), "an id of another agent is another session");
    assert_eq!(copies.copies_of("beta", &report.session).count(), 0);
}

#[test]
fn a_copy_is_unused_gone_on_with_or_gone() {
    let mut world = World::new();
    world.write_sample();
    let report = world.resume("aaaa1111", &BETA);
    let state =
        |world: &World| Copies::load(&world.context).origin_of("beta", &report.session).map(CarriedCopy::look_up_state);
    assert_eq!(state(&world), Some(CopyState::Unused));
    World::append_lines(&report.files[0], &[r#"{"t":"prompt","s":"used"}"#]);
    assert_eq!(state(&world), Some(CopyState::GoneOnWith));
    fs_err::remove_file(&report.files[0]).unwrap();
    assert_eq!(state(&world), Some(CopyState::Gone));
}

#[test]
fn what_was_taken_back_is_no_copy_any_more() {
    let mut world = World::new();
    world.write_sample();
    let report = world.resume("aaaa1111", &BETA);
    undo_among(&[&ALPHA, &BETA], &world.context, None, false).unwrap();
    let copies = Copies::load(&world.context);
    assert!(copies.origin_of("beta", &report.session).is_none());
    assert_eq!(copies.copies_of("alpha", &id("aaaa1111")).count(), 0);
}

#[test]
fn carrying_again_names_the_copy_that_was_gone_on_with() {
    let mut world = World::new();
    world.write_sample();
    let first = world.resume("aaaa1111", &BETA);
    assert!(first.earlier.is_none());
    World::append_lines(&first.files[0], &[r#"{"t":"prompt","s":"used"}"#]);
    let second = world.resume("aaaa1111", &BETA);
    let earlier = second.earlier.unwrap();
    assert_eq!((&earlier.copy.target.session, earlier.state), (&first.session, CopyState::GoneOnWith));
    assert_eq!(earlier.command.unwrap(), first.command);
    // The newer one was not used: the one in which there is work is named.
    let session = world.select_session("aaaa1111");
    let find = |world: &World| EarlierCopy::find(&world.context, &Copies::load(&world.context), &session, &BETA);
    assert_eq!(find(&world).unwrap().copy.target.session, first.session);
    fs_err::remove_file(&first.files[0]).unwrap();
    let left = find(&world).unwrap();
    assert_eq!((left.copy.target.session, left.state), (second.session, CopyState::Unused));
    let other = EarlierCopy::find(&world.context, &Copies::load(&world.context), &session, &ALPHA);
    assert!(other.is_none(), "a copy elsewhere is none here");
}

#[test]
fn a_dry_run_names_the_earlier_copy_too() {
    let mut world = World::new();
    world.write_sample();
    let first = world.resume("aaaa1111", &BETA);
    let options = Options { dry_run: true, ..World::resume_options(&BETA) };
    let planned = world.try_resume(&mut RealDisk, "aaaa1111", &options).unwrap();
    assert_eq!(planned.earlier.unwrap().copy.target.session, first.session);
    assert_eq!(planned.superseded, Some(first.session.0));
}

#[test]
fn a_session_in_its_clients_store_is_its_own() {
    let world = World::new();
    world.write_sample();
    let session = world.select_session("aaaa1111");
    let command = own_command(&world.context, &session, &ALPHA).unwrap();
    assert_eq!((command.argv, command.cwd), (vec!["fake-client".into(), "aaaa1111".into()], world.path("project")));
    assert!(own_command(&world.context, &session, &BETA).is_none());
}

#[test]
fn a_file_elsewhere_is_nobodys_own() {
    let mut world = World::new();
    let path = world.write_sample();
    let loose = world.write_file("in/loose.jsonl", &fs_err::read_to_string(&path).unwrap());
    let session = world.select_session(&loose.display().to_string());
    assert!(!is_own(&world.context, &session, &ALPHA));
    // Our configuration names it, and the client does not know.
    fs_err::create_dir_all(world.path("backup/sessions")).unwrap();
    fs_err::rename(path, world.path("backup/sessions/aaaa1111.alpha.jsonl")).unwrap();
    world.context.env.stores.insert("alpha".into(), vec![world.path("backup")]);
    let session = world.select_session("aaaa1111");
    assert!(!is_own(&world.context, &session, &ALPHA));
}

#[test]
fn a_client_that_needs_the_folder_has_no_command_once_it_is_gone() {
    let world = World::new();
    let gone = format!(r#","project":"{}""#, world.path("gone").display());
    world.write_session(&ALPHA, "aaaa2222", &gone, SAMPLE_RECORDS);
    let session = world.select_session("aaaa2222");
    assert!(is_own(&world.context, &session, &ALPHA));
    assert!(own_command(&world.context, &session, &ALPHA).is_none());
}
