//! The turns of a session, as the client shows them: what was asked and said, and the commands that were run.

use carryover_core::time::Timestamp;
use serde_json::Value;

use super::store::StoreWriter;
use crate::cursor::cli::{FieldWriter, split_user_text};

/// A message with its time.
pub(super) struct ShownMessage<'a> {
    pub message: &'a Value,
    pub at: Timestamp,
    /// The codes of the commands that it answers, by their calls.
    pub exit_code: Option<i32>,
}

/// A turn in the making.
#[derive(Default)]
struct Turn {
    user: Option<Vec<u8>>,
    steps: Vec<Vec<u8>>,
}

/// Writes turns, and tells their blobs.
pub(super) fn write_turns(store: &mut StoreWriter, messages: &[ShownMessage<'_>]) -> Vec<Vec<u8>> {
    let mut turns = Vec::new();
    let mut turn = Turn::default();
    for (index, shown) in messages.iter().enumerate() {
        let parts = content_parts(shown.message);
        match shown.message["role"].as_str() {
            // A summary is nobody's question.
            Some("user") if shown.message["providerOptions"]["cursor"]["isSummary"] != true => {
                let typed = parts.iter().filter_map(|part| part["text"].as_str()).flat_map(split_user_text);
                let typed: Vec<&str> = typed.filter(|piece| piece.is_users).map(|piece| piece.text).collect();
                if !typed.is_empty() {
                    turns.extend(turn.finish(store));
                    turn = Turn { user: Some(user_message(&typed.join("\n\n"), shown.at)), steps: Vec::new() };
                }
            }
            Some("assistant") => {
                for part in parts {
                    turn.steps.extend(make_step(part, shown.at, &messages[index + 1..]));
                }
            }
            _ => {}
        }
    }
    turns.extend(turn.finish(store));
    turns
}

fn content_parts(message: &Value) -> Vec<&Value> {
    message["content"].as_array().map(|parts| parts.iter().collect()).unwrap_or_default()
}

fn make_step(part: &Value, at: Timestamp, later: &[ShownMessage<'_>]) -> Option<Vec<u8>> {
    let mut step = FieldWriter::default();
    match part["type"].as_str()? {
        "text" => {
            let mut said = FieldWriter::default();
            said.write_bytes(1, part["text"].as_str()?.as_bytes());
            write_time(&mut said, 2, at);
            write_time(&mut said, 3, at);
            step.write_bytes(1, &said.bytes);
        }
        "tool-call" if part["toolName"] == "Shell" => step.write_bytes(2, &shell_call(part, at, later)?),
        _ => return None,
    }
    Some(step.bytes)
}

/// A command, with what came of it.
fn shell_call(part: &Value, at: Timestamp, later: &[ShownMessage<'_>]) -> Option<Vec<u8>> {
    let (id, command) = (part["toolCallId"].as_str()?, part["args"]["command"].as_str()?);
    let folder = part["args"]["working_directory"].as_str().unwrap_or_default();
    let answers =
        |shown: &&ShownMessage<'_>| shown.message["role"] == "tool" && shown.message["content"][0]["toolCallId"] == id;
    let answer = later.iter().find(answers);
    let mut args = FieldWriter::default();
    args.write_bytes(1, command.as_bytes());
    args.write_bytes(2, folder.as_bytes());
    args.write_bytes(4, id.as_bytes());
    let mut shell = FieldWriter::default();
    shell.write_bytes(1, &args.bytes);
    if let Some(answer) = answer {
        let result = &answer.message["content"][0];
        let code = answer.exit_code.unwrap_or(i32::from(result["isError"] == true));
        let mut ending = FieldWriter::default();
        ending.write_bytes(1, command.as_bytes());
        ending.write_bytes(2, folder.as_bytes());
        if answer.exit_code.is_some() {
            ending.write_number(3, i64::from(code).cast_unsigned());
        }
        ending.write_bytes(5, result["result"].as_str().unwrap_or_default().as_bytes());
        let mut outcome = FieldWriter::default();
        outcome.write_bytes(if code == 0 { 1 } else { 2 }, &ending.bytes);
        shell.write_bytes(2, &outcome.bytes);
    }
    let mut call = FieldWriter::default();
    call.write_bytes(1, &shell.bytes);
    call.write_bytes(57, id.as_bytes());
    write_time(&mut call, 59, at);
    if let Some(answer) = answer {
        write_time(&mut call, 60, answer.at);
    }
    Some(call.bytes)
}

fn user_message(text: &str, at: Timestamp) -> Vec<u8> {
    let mut message = FieldWriter::default();
    message.write_bytes(1, text.as_bytes());
    message.write_number(4, 1);
    write_time(&mut message, 25, at);
    write_time(&mut message, 26, at);
    message.bytes
}

pub(super) fn write_time(message: &mut FieldWriter, number: u64, at: Timestamp) {
    message.write_number(number, u64::try_from(at.millis()).unwrap_or(0));
}

impl Turn {
    /// The turn as a blob; none where nothing was asked or said.
    fn finish(self, store: &mut StoreWriter) -> Option<Vec<u8>> {
        if self.user.is_none() && self.steps.is_empty() {
            return None;
        }
        let mut turn = FieldWriter::default();
        // What was said before anything was asked has nobody's question above it.
        let user = self.user.unwrap_or_else(|| user_message("", Timestamp::EPOCH));
        turn.write_bytes(1, &store.add_blob(&user));
        for step in self.steps {
            turn.write_bytes(2, &store.add_blob(&step));
        }
        let mut whole = FieldWriter::default();
        whole.write_bytes(1, &turn.bytes);
        Some(store.add_blob(&whole.bytes))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_summary_is_shown_as_nobodys_question() {
        let mut summary = json!({ "role": "user", "content": [{ "type": "text", "text": "Files were listed." }] });
        let n_turns = |message: &Value| {
            let shown = ShownMessage { message, at: Timestamp::EPOCH, exit_code: None };
            write_turns(&mut StoreWriter::new(), &[shown]).len()
        };
        assert_eq!(n_turns(&summary), 1, "it would be one, were it not said to be a summary");
        summary["providerOptions"] = json!({ "cursor": { "isSummary": true } });
        assert_eq!(n_turns(&summary), 0);
    }
}
