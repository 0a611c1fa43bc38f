//! Plans, byte for byte, and what our own reader makes of them.

use std::path::Path;

use carryover_core::transcript::{Action, Body, Origin, Part};

use super::QwenCode;
use crate::foreign::{self, PIXEL, bytes, carried, env, session};
use crate::{Carried, WritePlan};

fn plan(entries: &[Carried]) -> WritePlan {
    foreign::plan(&QwenCode, &env(), ".qwen", None, entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = session();
    let plan = plan(&entries);
    let file = plan.file.to_string_lossy().replace('\\', "/");
    assert!(file.starts_with("/home/u/.qwen/projects/-home-u-my-repo/chats/"), "{file}");
    insta::assert_snapshot!(String::from_utf8_lossy(bytes(&plan)).replace(PIXEL, "PIXEL"));
    insta::assert_debug_snapshot!(plan.losses);
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
        assert!(start == 0 || bytes(&plan)[start - 1] == b'\n');
    }
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/qwen_code/fixtures/0.24.4-compact.jsonl");
    let text = fs_err::read_to_string(path).unwrap();
    let spoken = |line: &&str| line.contains("chat_compression") || line.contains("\"message\":");
    let lines = text.lines().skip_while(|line| !line.contains("chat_compression")).filter(spoken);
    let lines: Vec<&str> = lines.collect();
    let mut entries = Vec::new();
    for (n, line) in (1..).zip(&lines) {
        let body = Body::Reply(vec![Part::Text(n.to_string())]);
        let native = Some((*line).to_owned());
        entries.push(Carried { native, agent: "qwen-code", ..carried(n, Origin::Agent, body, Action::Other) });
    }
    let plan = plan(&entries);
    let written = String::from_utf8(bytes(&plan).to_vec()).unwrap();
    let again: Vec<serde_json::Value> = written.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (line, again) in lines.iter().zip(&again).take(entries.len()) {
        let original: serde_json::Value = serde_json::from_str(line).unwrap();
        for field in ["uuid", "timestamp", "type", "systemPayload", "message"] {
            assert_eq!(original[field], again[field], "{field}");
        }
        assert_eq!(again["cwd"], "/home/u/my_repo");
    }
}
