//! Plans, byte for byte, and what our own reader makes of them.

use std::collections::BTreeMap;
use std::path::Path;

use carryover_core::transcript::{Action, Body, Origin, Part};

use super::Pi;
use crate::foreign::{self, PIXEL, bytes, carried, env, session};
use crate::{Carried, Env, WritePlan};

fn plan(entries: &[Carried]) -> WritePlan {
    plan_in(&env(), entries)
}

fn plan_in(env: &Env, entries: &[Carried]) -> WritePlan {
    foreign::plan(&Pi, env, ".pi/agent", None, entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = session();
    let plan = plan(&entries);
    let file = plan.file.to_string_lossy().replace('\\', "/");
    assert!(file.starts_with("/home/u/.pi/agent/sessions/--home-u-my_repo--/2026-11-15T00-56-22-031Z_"), "{file}");
    insta::assert_snapshot!(String::from_utf8_lossy(bytes(&plan)).replace(PIXEL, "PIXEL"));
    insta::assert_debug_snapshot!(plan.losses);
}

#[test]
fn a_folder_that_the_user_named_holds_the_sessions_of_all_projects() {
    let vars = BTreeMap::from([("PI_CODING_AGENT_SESSION_DIR".to_owned(), "~/all".to_owned())]);
    let plan = plan_in(&Env { vars, ..env() }, &session());
    assert_eq!(plan.file.parent(), Some(Path::new("/home/u/all")));
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = session();
    let plan = plan(&entries);
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    // The third is reasoning, which is not written.
    assert_eq!(found, (0..entries.len()).filter(|index| *index != 2).collect::<Vec<_>>());
    for written in &plan.origins {
        let start = usize::try_from(written.offset).unwrap();
        assert!(bytes(&plan)[start - 1] == b'\n');
    }
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/pi/fixtures/0.87.1-compact.jsonl");
    let text = fs_err::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().skip_while(|line| !line.contains(r#""compaction""#)).collect();
    let mut entries = Vec::new();
    for (n, line) in (1..).zip(lines.iter().filter(|line| !line.contains("session_info"))) {
        let body = Body::Reply(vec![Part::Text(n.to_string())]);
        let native = Some((*line).to_owned());
        entries.push(Carried { native, agent: "pi", ..carried(n, Origin::Agent, body, Action::Other) });
    }
    let plan = plan(&entries);
    let written = String::from_utf8(bytes(&plan).to_vec()).unwrap();
    let again: Vec<serde_json::Value> =
        written.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
    for (line, again) in lines.iter().zip(&again).take(entries.len()) {
        let original: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["id", "timestamp", "type", "summary"] {
            assert_eq!(original[field], again[field], "{field}");
        }
        assert_eq!(original["message"]["content"], again["message"]["content"]);
    }
    assert_eq!(again[0]["firstKeptEntryId"], again[0]["id"]);
    assert!(again[0].get("systemMessage").is_none());
}
