//! Plans, byte for byte, and what our own reader makes of them.

use std::path::Path;

use super::QwenCode;
use crate::write_fixtures::{self, assert_entries_found, full_session, own_entries, records, sample_env, shown};
use crate::{CarriedEntry, WritePlan};

fn plan(entries: &[CarriedEntry]) -> WritePlan {
    write_fixtures::plan_in_home(&QwenCode, &sample_env(), ".qwen", None, entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = full_session();
    let plan = plan(&entries);
    let file = plan.file.to_string_lossy().replace('\\', "/");
    assert!(file.starts_with("/home/u/.qwen/projects/-home-u-my-repo/chats/"), "{file}");
    insta::assert_snapshot!(shown(&plan));
    insta::assert_debug_snapshot!(plan.losses);
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = full_session();
    // The third is reasoning, which is not written.
    assert_entries_found(&plan(&entries), &entries, &[2]);
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/qwen_code/fixtures/0.24.4-compact.jsonl");
    let text = fs_err::read_to_string(path).unwrap();
    let spoken = |line: &&str| line.contains("chat_compression") || line.contains("\"message\":");
    let lines = text.lines().skip_while(|line| !line.contains("chat_compression")).filter(spoken);
    let lines: Vec<&str> = lines.collect();
    let again = records(&plan(&own_entries("qwen-code", &lines)));
    for (line, again) in lines.iter().zip(&again) {
        let original: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["uuid", "timestamp", "type", "systemPayload", "message"] {
            assert_eq!(original[field], again[field], "{field}");
        }
        assert_eq!(again["cwd"], "/home/u/my_repo");
    }
}
