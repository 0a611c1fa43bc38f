//! Plans, byte for byte, and what our own reader makes of them.

use std::path::Path;

use carryover_core::transcript::{Action, Body, CallForm, Origin, Part, Status};

use super::CopilotCli;
use crate::write_fixtures::{
    self, PIXEL, assert_entries_found, call_body, carried_entry, full_session, image_part, outcome_body, records, said,
    sample_env, shown, text_parts,
};
use crate::{CarriedEntry, Reader, Version, WriteOp, WritePlan};

fn plan(entries: &[CarriedEntry], version: Version) -> WritePlan {
    write_fixtures::plan_in_home(&CopilotCli, &sample_env(), ".copilot", Some(version), entries).unwrap()
}
#[test]
fn a_foreign_session_in_this_clients_shape() {
    let entries = full_session();
    let plan = plan(&entries, Version(1, 0, 102));
    let file = plan.file.to_string_lossy().into_owned();
    assert!(file.starts_with("/home/u/.copilot/session-state/") && file.ends_with("/events.jsonl"), "{file}");
    insta::assert_snapshot!("events", shown(&plan));
    let WriteOp::Create { bytes: table, .. } = &plan.ops[1] else { panic!("then the table") };
    insta::assert_snapshot!("workspace", String::from_utf8_lossy(table));
    insta::assert_debug_snapshot!("losses", plan.losses);
}

#[test]
fn every_entry_is_found_again_where_the_plan_says() {
    let entries = full_session();
    assert_entries_found(&plan(&entries, Version(1, 0, 102)), &entries, &[]);
}

fn kinds(plan: &WritePlan) -> Vec<String> {
    records(plan).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_compaction_never_takes_away_what_stands_before_it() {
    let prompt = |n, parts| carried_entry(n, Origin::User, Body::Prompt(parts), Action::Other);
    let summary = || said(3, Body::Summary(text_parts("so far")));
    let check = |entries: &[CarriedEntry], expected: &[&str]| {
        assert_eq!(kinds(&plan(entries, Version(1, 0, 102)))[1..], *expected);
    };
    check(&[prompt(1, text_parts("a")), summary()], &["user.message", "session.compaction_complete"]);
    check(&[prompt(1, vec![image_part()]), summary()], &["user.message", "user.message"]);
    check(&[said(1, Body::Reply(text_parts("a"))), summary()], &["assistant.message", "user.message"]);
}

#[test]
fn an_outcome_that_comes_late_stays_with_its_message() {
    let ask = |n, id| said(n, call_body(id, "x", "{}", CallForm::Function));
    let done = |n, id| said(n, outcome_body(id, Status::Done, None, text_parts(id)));
    let entries = [
        ask(1, "a"),
        ask(2, "b"),
        done(3, "a"),
        ask(4, "c"),
        said(5, Body::Reply(text_parts("hm"))),
        done(6, "b"),
        done(7, "c"),
    ];
    let plan = plan(&entries, Version(1, 0, 102));
    let (message, start, complete) = ("assistant.message", "tool.execution_start", "tool.execution_complete");
    assert_eq!(kinds(&plan)[1..], [message, start, start, complete, complete, message, start, complete]);
}

#[test]
fn its_own_records_come_back_as_they_were() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/copilot_cli/fixtures/1.0.102-tools.jsonl");
    let source = crate::Source { path, key: None };
    let mut builder = carryover_core::transcript::TranscriptBuilder::new("copilot-cli");
    CopilotCli.read_session(&source, &crate::Bookmark::Start, &mut builder).unwrap();
    let transcript = builder.finish();
    let mut entries = Vec::new();
    let mut originals: Vec<serde_json::Value> = Vec::new();
    for index in carryover_core::live::context_order(&transcript) {
        let mut entry = transcript.entries[index].clone();
        let native = CopilotCli.read_record(&transcript.header, entry.key).unwrap();
        if let Body::Prompt(parts) = &mut entry.body {
            parts.retain(|part| matches!(part, Part::Text(_)));
            parts.push(image_part());
        }
        let value: serde_json::Value = serde_json::from_str(&native).unwrap();
        if originals.last() != Some(&value) {
            originals.push(value);
        }
        entries.push(CarriedEntry {
            entry,
            agent: "copilot-cli",
            action: Action::Other,
            native: Some(native),
            clipped: false,
        });
    }
    let plan = plan(&entries, Version(1, 0, 102));
    assert_eq!(plan.origins.len(), entries.len());
    let (assets, again): (Vec<_>, Vec<_>) = records(&plan)
        .into_iter()
        .filter(|event| event["type"] != "session.start" && event["type"] != "tool.execution_start")
        .partition(|event| event["type"] == "session.binary_asset");
    assert_eq!(assets.iter().filter(|asset| asset["data"]["data"] == PIXEL).count(), 1);
    assert_eq!(again.len(), originals.len());
    for (original, again) in originals.iter().zip(&again) {
        for field in ["id", "timestamp", "type", "data"] {
            assert_eq!(original[field], again[field], "{field}");
        }
    }
}
