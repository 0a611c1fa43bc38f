//! A session that moves as a whole, to another folder or another home: its client sends what it recorded, also what it sends twice.
//! What may move is named in `moved_record`.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::project::hash_name;
use super::{GeminiCli, moved_record, write};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};
use crate::formats::ids::Ids;
use crate::formats::kept_fields::replace_field;
use crate::formats::moved_log::{MovedLog, rename};
use crate::formats::relocate::Relocation;
use crate::formats::request::{own_relocations, project_text};
use crate::{AgentError, OwnSession, TargetView, WritePlan, WriteRequest, Writer};

/// How the client begins what it says of the place that it is in.
const CONTEXT_START: &str = "<session_context>";

impl Writer for GeminiCli {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan_session(request, target)
    }

    fn plan_own(
        &self,
        own: &OwnSession<'_>,
        request: &WriteRequest<'_>,
        target: &TargetView<'_>,
    ) -> Result<Option<WritePlan>, AgentError> {
        // Older clients wrote documents, which this one takes for no log.
        if own.source.path.extension().is_none_or(|end| end != "jsonl") {
            return Ok(None);
        }
        let project = project_text(request, "Gemini CLI")?;
        let session = Ids::new(request.seed).next_uuid();
        let place = SessionMove {
            old: &own.header.session.0,
            session: &session,
            project_hash: hash_name(project),
            moves: own_relocations(own, request, project, target),
        };
        let bytes = file::read_bytes(&own.source.path, MAX_DOCUMENT_BYTES)?;
        let log = MovedLog::from_lines_of_records(&bytes, find_listed_records, |record| {
            let moves = moved_record::keep_record(record);
            if moves {
                place.move_record(record);
            }
            moves
        });
        let written = log.into_written(request.entries);
        Ok(written.map(|written| write::plan_files(request, target, project, session, written)))
    }
}

/// Where the messages begin in a line that lists them.
fn find_listed_records(line: &[u8]) -> Vec<u64> {
    #[derive(Deserialize)]
    struct WireChange<'a> {
        #[serde(rename = "$set", borrow)]
        set: WireList<'a>,
    }
    #[derive(Deserialize)]
    struct WireList<'a> {
        #[serde(borrow, default)]
        messages: Vec<&'a RawValue>,
    }
    let Ok(change) = serde_json::from_slice::<WireChange<'_>>(line) else { return Vec::new() };
    let place = |raw: &&RawValue| (raw.get().as_ptr() as usize).saturating_sub(line.as_ptr() as usize) as u64;
    change.set.messages.iter().map(place).collect()
}

/// What ties records to their place.
struct SessionMove<'a> {
    old: &'a str,
    session: &'a str,
    project_hash: String,
    moves: Vec<Relocation<'a>>,
}

impl SessionMove<'_> {
    fn move_record(&self, record: &mut Value) {
        rename(record, self.old, self.session);
        replace_field(record, "projectHash", self.project_hash.as_str());
        let listed = record.pointer_mut("/$set/messages").and_then(Value::as_array_mut);
        match listed {
            Some(messages) => messages.iter_mut().for_each(|message| self.move_message(message)),
            None => self.move_message(record),
        }
    }

    fn move_message(&self, message: &mut Value) {
        for moves in &self.moves {
            if is_context(message) {
                moves.move_words(message);
            }
            for call in list_items(message, "toolCalls") {
                move_field(call, "args", *moves);
            }
            for call in list_items(message, "content").filter_map(|part| part.get_mut("functionCall")) {
                move_field(call, "args", *moves);
            }
        }
    }
}

fn list_items<'a>(value: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    value.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten()
}

fn move_field(value: &mut Value, field: &str, moves: Relocation<'_>) {
    if let Some(field) = value.get_mut(field) {
        moves.move_value(field);
    }
}

/// Whether the client itself says there where it is.
fn is_context(message: &Value) -> bool {
    let content = &message["content"];
    let text = content.as_str().or_else(|| content[0]["text"].as_str());
    message["type"] == "user" && text.is_some_and(|text| text.starts_with(CONTEXT_START))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::write_fixtures::{move_lines, records};

    const ID: &str = "5f0c1e6a-2b7d-4c3e-9a41-0d6b8e2f7c15";

    #[test]
    fn messages_move_also_those_in_a_list() {
        let message = |id: &str, kind: &str, content: &Value| json!({"id": id, "timestamp": "2026-11-15T00:00:01.000Z", "type": kind, "content": content});
        let words = |text: &str| json!([{"text": text}]);
        let mut called = message("c", "gemini", &json!("I look."));
        let args = json!({"file_path": "/old/a"});
        let result = json!([{"functionResponse": {"id": "f", "name": "read_file", "response": {"output": "/old/a"}}}]);
        called["toolCalls"] =
            json!([{"id": "f", "name": "read_file", "args": args, "result": result, "status": "success"}]);
        let context = "<session_context>\nFolders: /old, ~ is /home/other\n</session_context>";
        let listed = [message("a", "user", &words(context)), message("b", "user", &words("look at /old")), called];
        let lines = [
            json!({"sessionId": ID, "projectHash": hash_name("/old"), "startTime": "2026-11-15T00:00:00.000Z", "kind": "main"}),
            json!({"$set": {"messages": listed}}),
            message("d", "user", &words("and on")),
        ];
        let moved = records(&move_lines(&GeminiCli, "tmp/old/chats/session-2026-11-15T00-00-5f0c1e6a.jsonl", &lines));
        let text = json!(moved).to_string();
        assert!(!text.contains(ID) && !text.contains(&hash_name("/old")), "{text}");
        assert_eq!(moved[0]["projectHash"], hash_name("/new"));
        let list = &moved[1]["$set"]["messages"];
        assert_eq!(list[0]["content"][0]["text"], context.replace("/old", "/new").replace("/home/other", "/home/u"));
        assert_eq!(list[1]["content"][0]["text"], "look at /old");
        assert_eq!(list[2]["toolCalls"][0]["args"]["file_path"], "/new/a");
        assert_eq!(list[2]["toolCalls"][0]["result"], result);
    }

    /// What the client takes from a log beside the conversation, as 0.61.0 does.
    #[test]
    fn no_folders_move_and_records_gain_nothing() {
        let said = json!({"id": "a", "timestamp": "2026-11-15T00:00:01.000Z", "type": "user", "content": "look"});
        let answer = json!({"id": "b", "timestamp": "2026-11-15T00:00:02.000Z", "type": "gemini"});
        let mut more = answer.clone();
        more["directories"] = json!(["GRANT"]);
        let lines = [
            json!({"sessionId": ID, "projectHash": "h", "startTime": "2026-11-15T00:00:00.000Z", "kind": "main",
                "directories": ["GRANT"]}),
            said.clone(),
            more,
            json!({"$set": {"directories": ["GRANT"], "lastUpdated": "2026-11-15T00:00:03.000Z"}}),
            json!({"$set": {"messages": [said, {"type": "tools", "content": "GRANT"}, 5, answer]}, "directories": ["GRANT"]}),
            json!({"type": "tools", "content": "GRANT"}),
            json!({"anything": "GRANT"}),
        ];
        let plan = move_lines(&GeminiCli, "tmp/old/chats/session-2026-11-15T00-00-5f0c1e6a.jsonl", &lines);
        let moved = records(&plan);
        let text = json!(moved).to_string();
        assert!(!text.contains("GRANT"), "{text}");
        assert_eq!((&moved[1], &moved[2]), (&said, &answer));
        assert_eq!(moved[3], json!({"$set": {"lastUpdated": "2026-11-15T00:00:03.000Z"}}));
        assert_eq!(moved[4], json!({"$set": {"messages": [said, answer]}}));
        assert_eq!((moved.len(), plan.losses[0].count), (5, 2));
    }
}
