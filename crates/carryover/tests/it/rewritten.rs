//! Clients that write the end of a session again when they go on with it, under new names.

use serde_json::{Value, json};

use crate::support::{CODEX, TestEnv};

fn read_records(path: &str) -> Vec<Value> {
    fs_err::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn write_records(path: &str, records: &[Value]) {
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    fs_err::write(path, lines.join("\n") + "\n").unwrap();
}

/// Attaches an image to the prompt of the bundled Codex session.
fn attach_image(env: &TestEnv) -> Vec<Value> {
    let (path, _) = env.files().into_iter().find(|(path, _)| path.to_string_lossy().contains(CODEX)).unwrap();
    let path = path.to_str().unwrap();
    let mut records = read_records(path);
    let is_prompt = |record: &&mut Value| {
        record["type"] == "response_item"
            && record["payload"]["role"] == "user"
            && !record["payload"]["content"][0]["text"].as_str().unwrap().starts_with('<')
    };
    let prompt = records.iter_mut().find(is_prompt).unwrap();
    let image = json!({ "type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=" });
    prompt["payload"]["content"].as_array_mut().unwrap().push(image);
    write_records(path, &records);
    records
}

/// Goes on in a session as Claude Code 2.0 does: the prompt of two parts is taken apart, and everything from there on
/// is written again under new names.
fn go_on_in_old_client(path: &str) {
    let mut records = read_records(path);
    let chained: Vec<Value> = records.iter().filter(|record| record["message"].is_object()).cloned().collect();
    let mut parent = chained[0]["parentUuid"].clone();
    let mut push_record = |mut record: Value, content: Value| {
        let uuid = format!("00000000-0000-4000-8000-{:012}", records.len());
        record["parentUuid"] = std::mem::replace(&mut parent, json!(uuid));
        record["uuid"] = json!(uuid);
        record["message"]["content"] = content;
        records.push(record);
    };
    for record in chained {
        match record["message"]["content"].as_array() {
            Some(blocks) => blocks.iter().for_each(|block| push_record(record.clone(), json!([block]))),
            None => push_record(record.clone(), record["message"]["content"].clone()),
        }
    }
    let prompt = json!({ "type": "user", "isSidechain": false, "timestamp": "2026-11-15T12:00:00.000Z",
        "sessionId": read_records(path)[1]["sessionId"], "message": { "role": "user" } });
    push_record(prompt, json!("go on"));
    write_records(path, &records);
}

/// The ids that a client gave to the items of its session.
fn item_ids(records: &[Value]) -> Vec<&Value> {
    let items = records.iter().filter(|record| record["type"] == "response_item");
    items.map(|record| &record["payload"]["id"]).filter(|id| id.is_string()).collect()
}

#[test]
fn what_a_client_wrote_again_under_new_names_comes_back_as_the_original() {
    let env = TestEnv::with_sessions().with_client("claude");
    env.write("bin/package.json", r#"{"name":"@anthropic-ai/claude-code","version":"2.0.77"}"#);
    let original = attach_image(&env);
    let there = env.resume_json(&["resume", CODEX, "--target", "claude"]);
    go_on_in_old_client(there["files"][0].as_str().unwrap());
    let env = env.var("CARRYOVER_SEED", "2000000");
    let back = env.resume_json(&["resume", there["session_id"].as_str().unwrap(), "--target", "codex"]);
    let records = read_records(back["files"][0].as_str().unwrap());
    let ids = item_ids(&original);
    assert!(ids.len() > 5, "{ids:?}");
    assert!(item_ids(&records).starts_with(&ids), "{:?}", item_ids(&records));
    assert_eq!(back["translated"], 0, "{back}");
    let text = serde_json::to_string(&records).unwrap();
    assert_eq!(text.matches("iVBORw0KGgo=").count(), 1, "the prompt is one again");
    assert!(text.contains("go on"), "and what came since is there, too");
}
