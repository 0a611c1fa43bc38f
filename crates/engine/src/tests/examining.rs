use super::fake::{ALPHA, BETA, BOTH};
use super::world::{SAMPLE_RECORDS, World};
use crate::doctor::{Finding, Severity, examine_among};

fn messages_at(world: &World, severity: Severity) -> Vec<String> {
    let wanted = |finding: &Finding| finding.severity == severity;
    examine_among(BOTH, &world.context).into_iter().filter(wanted).map(|finding| finding.message).collect()
}

#[test]
fn a_sound_world_has_nothing_to_tell() {
    let mut world = World::new();
    world.write_sample();
    world.resume("aaaa1111", &BETA);
    let before = world.read_tree();
    assert!(messages_at(&world, Severity::Warning).is_empty() && messages_at(&world, Severity::Error).is_empty());
    assert_eq!(messages_at(&world, Severity::Fine).len(), 2);
    assert_eq!(world.read_tree(), before, "looking changes nothing");
}

#[test]
fn what_is_wrong_is_told() {
    let world = World::new();
    world.write_session(&ALPHA, "aaaa1111", r#","drifted":true"#, &["not JSON", SAMPLE_RECORDS[0]]);
    world.write_session(&BETA, "bbbb1111", "", &[]);
    world.write_file("home/.beta/broken", "");
    world.write_file("ours/config.toml", "tokns = 5");
    world.write_file("ours/resumes/abc.json", "{}");
    let warnings = messages_at(&world, Severity::Warning);
    assert!(warnings[0].ends_with("abc.json cannot be read"), "{warnings:?}");
    assert!(warnings[1].starts_with("the format has changed: 1 session in "), "{warnings:?}");
    assert!(warnings[1].ends_with(".alpha holds nothing that carryover knows (seen: 1 × not JSON)"), "{warnings:?}");
    assert!(warnings[2].starts_with("session aaaa1111: 1 record could not be read: at byte 96 of "), "{warnings:?}");
    let errors = messages_at(&world, Severity::Error);
    assert!(errors[0].ends_with("unknown key `tokns`"), "{errors:?}");
    assert!(errors[1].starts_with("its sessions could not be read"));
}

#[cfg(unix)]
#[test]
fn a_folder_of_ours_that_others_can_open_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    world.write_file("ours/config.toml", "");
    fs_err::set_permissions(world.path("ours"), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(messages_at(&world, Severity::Warning)[0].ends_with("can be read by others"));
}
