//! Plans, byte for byte, and what our own reader makes of them.

use std::path::Path;

use super::ClaudeCode;
use crate::write_fixtures::{
    self, assert_entries_found, full_session, own_entries, records, sample_env, session_bytes, shown,
};
use crate::{CarriedEntry, Version, WritePlan};

fn plan(entries: &[CarriedEntry], version: Version) -> WritePlan {
    write_fixtures::plan_in_home(&ClaudeCode, &sample_env(), ".claude", Some(version), entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = full_session();
    let plan = plan(&entries, Version(2, 1, 325));
    let file = plan.file.to_string_lossy().into_owned();
    assert!(file.starts_with("/home/u/.claude/projects/-home-u-my-repo/"), "{file}");
    insta::assert_snapshot!(shown(&plan));
    insta::assert_debug_snapshot!(plan.losses);
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = full_session();
    assert_entries_found(&plan(&entries, Version(2, 1, 325)), &entries, &[]);
}

#[test]
fn old_clients_get_no_foreign_thinking() {
    let plan = plan(&full_session(), Version(2, 0, 77));
    assert!(!String::from_utf8_lossy(session_bytes(&plan)).contains("thinking"));
    assert_eq!(plan.losses.iter().map(|loss| loss.what).collect::<Vec<_>>(), ["reasoning"]);
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/claude_code/fixtures/hand-best.jsonl");
    let text = fs_err::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("\"message\"")).collect();
    let plan = plan(&own_entries("claude-code", &lines), Version(2, 1, 325));
    let again = records(&plan).into_iter().filter(|record| record.get("message").is_some());
    for (line, again) in lines.iter().zip(again) {
        let original: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["uuid", "timestamp", "toolUseResult", "type", "requestId"] {
            assert_eq!(original[field], again[field], "{field}");
        }
        assert_eq!(original["message"]["content"], again["message"]["content"]);
        assert_eq!(again["cwd"], "/home/u/my_repo");
    }
}
