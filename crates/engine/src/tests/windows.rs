use super::fake::{ALPHA, BETA};
use super::world::{SAMPLE_RECORDS, World};

use carryover_agents::Agent;

fn used(tokens: u64) -> String {
    format!(r#"{{"t":"usage","input":{tokens}}}"#)
}

/// A session of a model that took so much.
fn write_used(world: &World, agent: &dyn Agent, id: &str, model: &str, tokens: u64) {
    let usage = used(tokens);
    let records: Vec<&str> = SAMPLE_RECORDS.iter().copied().chain([usage.as_str()]).collect();
    world.write_session(agent, id, &format!(r#","model":"{model}","at":5"#), &records);
}

#[test]
fn a_session_that_took_more_than_the_table_says_proves_a_larger_window() {
    let mut world = World::new();
    world.write_sample();
    assert_eq!(world.resume("aaaa1111", &BETA).window, 100_000, "the default");
    write_used(&world, &BETA, "bbbb1111", "mid-1", 150_000);
    assert_eq!(world.resume("aaaa1111", &BETA).window, 200_000, "the table, for the model that was run last");
    write_used(&world, &BETA, "bbbb1111", "mid-1", 340_000);
    assert_eq!(world.resume("aaaa1111", &BETA).window, 400_000, "what was taken");
    world.write_file("home/.beta/tiny", "");
    write_used(&world, &BETA, "bbbb2222", "tiny-1", 1);
    let options = crate::carry::resume::Options { tokens: None, ..World::resume_options(&BETA) };
    let error = world.try_resume(&mut crate::write::disk::RealDisk, "aaaa1111", &options).unwrap_err();
    assert!(error.to_string().contains("and 40 are allowed"), "what another model took proves nothing: {error}");
}

#[test]
fn what_the_session_itself_took_counts_where_its_agent_is_the_target() {
    let mut world = World::new();
    write_used(&world, &ALPHA, "aaaa1111", "mid-1", 1_500_000);
    assert_eq!(world.resume("aaaa1111", &ALPHA).window, 2_000_000);
    assert_eq!(world.resume("aaaa1111", &BETA).window, 100_000, "of another agent's model nothing is proven");
}

#[test]
fn what_we_wrote_ourselves_proves_nothing() {
    let mut world = World::new();
    world.write_sample();
    let copy = world.resume("aaaa1111", &BETA);
    World::append_lines(&copy.files[0], &[&used(900_000)]);
    assert_eq!(world.resume("aaaa1111", &BETA).window, 100_000);
}

#[test]
fn settings_count_before_everything() {
    let mut world = World::new();
    world.write_sample();
    write_used(&world, &BETA, "bbbb1111", "mid-1", 340_000);
    world.write_file("home/.beta/window", "77000");
    assert_eq!(world.resume("aaaa1111", &BETA).window, 77_000);
}

#[test]
fn a_short_name_means_the_model_that_was_run_under_it() {
    let mut world = World::new();
    world.write_sample();
    world.write_file("home/.beta/model", "id-1");
    assert_eq!(world.resume("aaaa1111", &BETA).window, 100_000);
    write_used(&world, &BETA, "bbbb1111", "mid-1", 5);
    assert_eq!(world.resume("aaaa1111", &BETA).window, 200_000);
    world.write_file("home/.beta/model", "other[1m]");
    assert_eq!(world.resume("aaaa1111", &BETA).window, 1_000_000);
}
