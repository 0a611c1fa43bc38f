//! Plans, byte for byte, and what our own reader makes of them.

use std::collections::BTreeMap;
use std::path::Path;

use super::Pi;
use crate::write_fixtures::{self, assert_entries_found, full_session, own_entries, records, sample_env, shown};
use crate::{CarriedEntry, Env, WritePlan};

fn plan(entries: &[CarriedEntry]) -> WritePlan {
    plan_in(&sample_env(), entries)
}

fn plan_in(env: &Env, entries: &[CarriedEntry]) -> WritePlan {
    write_fixtures::plan_in_home(&Pi, env, ".pi/agent", None, entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = full_session();
    let plan = plan(&entries);
    let file = plan.file.to_string_lossy().replace('\\', "/");
    assert!(file.starts_with("/home/u/.pi/agent/sessions/--home-u-my_repo--/2026-11-15T00-56-22-031Z_"), "{file}");
    insta::assert_snapshot!(shown(&plan));
    insta::assert_debug_snapshot!(plan.losses);
}

#[test]
fn a_folder_that_the_user_named_holds_the_sessions_of_all_projects() {
    let vars = BTreeMap::from([("PI_CODING_AGENT_SESSION_DIR".to_owned(), "~/all".to_owned())]);
    let plan = plan_in(&Env { vars, ..sample_env() }, &full_session());
    assert_eq!(plan.file.parent(), Some(Path::new("/home/u/all")));
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = full_session();
    let plan = plan(&entries);
    // The third is reasoning, which is not written.
    assert_entries_found(&plan, &entries, &[2]);
    assert!(plan.origins.iter().all(|written| written.offset > 0), "the first line is the session's");
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pi/fixtures/0.87.1-compact.jsonl");
    let text = fs_err::read_to_string(path).unwrap();
    let lines = text.lines().skip_while(|line| !line.contains(r#""compaction""#));
    let lines: Vec<&str> = lines.filter(|line| !line.contains("session_info")).collect();
    let again = &records(&plan(&own_entries("pi", &lines)))[1..];
    for (line, again) in lines.iter().zip(again) {
        let original: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["id", "timestamp", "type", "summary"] {
            assert_eq!(original[field], again[field], "{field}");
        }
        assert_eq!(original["message"]["content"], again["message"]["content"]);
    }
    assert_eq!(again[0]["firstKeptEntryId"], again[0]["id"]);
    assert!(again[0].get("systemMessage").is_none());
}
