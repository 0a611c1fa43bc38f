//! Plans, byte for byte, and what our own reader makes of them.

use std::path::Path;

use carryover_core::transcript::{Action, Body, Origin, Part};

use super::ClaudeCode;
use crate::foreign::{self, PIXEL, bytes, carried, env, session, text};
use crate::{Carried, Version, WritePlan};

fn plan(entries: &[Carried], version: Version) -> WritePlan {
    foreign::plan(&ClaudeCode, &env(), ".claude", Some(version), entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = session();
    let plan = plan(&entries, Version(2, 1, 325));
    let file = plan.file.to_string_lossy().into_owned();
    assert!(file.starts_with("/home/u/.claude/projects/-home-u-my-repo/"), "{file}");
    insta::assert_snapshot!(String::from_utf8_lossy(bytes(&plan)).replace(PIXEL, "PIXEL"));
    insta::assert_debug_snapshot!(plan.losses);
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = session();
    let plan = plan(&entries, Version(2, 1, 325));
    let found: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    assert_eq!(found, (0..entries.len()).collect::<Vec<_>>());
    for written in &plan.origins {
        let start = usize::try_from(written.offset).unwrap();
        assert!(start == 0 || bytes(&plan)[start - 1] == b'\n');
    }
}

#[test]
fn old_clients_get_no_foreign_thinking() {
    let plan = plan(&session(), Version(2, 0, 77));
    assert!(!String::from_utf8_lossy(bytes(&plan)).contains("thinking"));
    assert_eq!(plan.losses.iter().map(|loss| loss.what).collect::<Vec<_>>(), ["reasoning"]);
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/claude_code/fixtures/hand-best.jsonl");
    let text = fs_err::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("\"message\"")).collect();
    let mut entries = Vec::new();
    for (n, line) in lines.iter().enumerate() {
        let n = n as u64 + 1;
        entries.push(Carried {
            native: Some((*line).to_owned()),
            agent: "claude-code",
            ..carried(n, Origin::Agent, Body::Reply(text_of_line(n)), Action::Other)
        });
    }
    let plan = plan(&entries, Version(2, 1, 325));
    let written = String::from_utf8(bytes(&plan).to_vec()).unwrap();
    let again: Vec<serde_json::Value> = written
        .lines()
        .filter(|line| line.contains("\"message\""))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (line, again) in lines.iter().zip(&again) {
        let original: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["uuid", "timestamp", "toolUseResult", "type", "requestId"] {
            assert_eq!(original[field], again[field], "{field}");
        }
        assert_eq!(original["message"]["content"], again["message"]["content"]);
        assert_eq!(again["cwd"], "/home/u/my_repo");
    }
}

fn text_of_line(n: u64) -> Vec<Part> {
    text(&n.to_string())
}
