//! A session that moves as a whole, to another folder or another home: its client sends what it recorded, also what it sends twice.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::project::hash_name;
use super::{GeminiCli, write};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};
use crate::formats::ids::Ids;
use crate::formats::moved_log::{MovedLog, rename};
use crate::formats::relocate::Relocation;
use crate::formats::request::{own_relocations, project_text};
use crate::formats::session_lines::WrittenFile;
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
            place.move_record(record);
            true
        });
        let origins = log.find_origins(request.entries, 0);
        let written = WrittenFile { bytes: log.into_bytes(), origins, losses: Vec::new(), translated: 0 };
        Ok(Some(write::plan_files(request, target, project, session, written)))
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
        if record.get("projectHash").is_some() {
            record["projectHash"] = json!(self.project_hash);
        }
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
            for call in message["toolCalls"].as_array_mut().into_iter().flatten() {
                move_field(call, "args", *moves);
            }
            for part in message["content"].as_array_mut().into_iter().flatten() {
                if let Some(call) = part.get_mut("functionCall") {
                    move_field(call, "args", *moves);
                }
            }
        }
    }
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
}
