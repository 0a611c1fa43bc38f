//! Turns as they are shown: when a message was said and how a command ended, which the messages themselves do not tell.

use std::collections::{BTreeMap, VecDeque};

use carryover_core::time::Timestamp;
use rusqlite::Connection;
use serde_json::Value;

use super::proto::{self, FieldValue};
use super::store::{read_blob, to_hex};
use super::user_text::split_user_text;
use crate::cursor::session::{CallRun, RecordHead, time_from_millis};

/// Of a turn: the agent's.
const AGENT_TURN: u64 = 1;
/// Of the agent's turn.
const USER_MESSAGE: u64 = 1;
const STEPS: u64 = 2;
/// Of a message of the user's.
const USER_TEXT: u64 = 1;
const USER_STARTED: u64 = 25;
/// Of a step: what the agent said, or a call.
const SAID: u64 = 1;
const CALLED: u64 = 2;
/// Of what the agent said.
const SAID_TEXT: u64 = 1;
const SAID_STARTED: u64 = 2;
/// Of a call: which tool, in fields of their own; its id and times.
const SHELL_CALL: u64 = 1;
const CALL_ID: u64 = 57;
const CALL_STARTED: u64 = 59;
const CALL_COMPLETED: u64 = 60;
/// Of a tool: what came of it, of that success or failure, and of both the exit code of a command.
const TOOL_RESULT: u64 = 2;
const SHELL_SUCCESS: u64 = 1;
const SHELL_FAILURE: u64 = 2;
const EXIT_CODE: u64 = 3;

/// What is shown, by what was said.
#[derive(Default)]
pub(super) struct ShownTurns {
    prompts: TimesByText,
    replies: TimesByText,
    calls: BTreeMap<String, CallRun>,
}

type TimesByText = BTreeMap<String, VecDeque<Timestamp>>;

impl ShownTurns {
    pub(super) fn read(connection: &Connection, turns: &[Vec<u8>]) -> rusqlite::Result<Self> {
        let mut shown = Self::default();
        for turn in turns.iter().filter_map(|turn| proto::find_bytes(turn, AGENT_TURN)) {
            if let Some(blob) = proto::find_bytes(turn, USER_MESSAGE)
                && let Ok(message) = read_blob(connection, &to_hex(blob))?
            {
                add_time(&mut shown.prompts, &message, USER_TEXT, USER_STARTED);
            }
            for step in proto::list_bytes(turn, STEPS) {
                if let Ok(step) = read_blob(connection, &to_hex(step))? {
                    shown.add_step(&step);
                }
            }
        }
        Ok(shown)
    }

    fn add_step(&mut self, step: &[u8]) {
        if let Some(said) = proto::find_bytes(step, SAID) {
            add_time(&mut self.replies, said, SAID_TEXT, SAID_STARTED);
        }
        let Some(call) = proto::find_bytes(step, CALLED) else { return };
        let Some(id) = proto::find_text(call, CALL_ID) else { return };
        let run = CallRun {
            started: find_time(call, CALL_STARTED),
            completed: find_time(call, CALL_COMPLETED),
            exit_code: find_exit_code(call),
        };
        self.calls.insert(id.to_owned(), run);
    }

    /// Completes a message by what is shown of it.
    pub(super) fn complete_head(&mut self, head: &mut RecordHead, message: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Value>(message) else { return };
        let content = &message["content"];
        let parts: Vec<&Value> = content.as_array().map_or_else(|| vec![content], |parts| parts.iter().collect());
        for part in parts {
            let text = part.as_str().or_else(|| part["text"].as_str());
            let at = match (message["role"].as_str(), text) {
                (Some("user"), Some(text)) => {
                    let typed = split_user_text(text).into_iter().find(|piece| piece.is_users);
                    typed.and_then(|piece| take_time(&mut self.prompts, piece.text))
                }
                (Some("assistant"), Some(text)) => take_time(&mut self.replies, text),
                _ => None,
            };
            head.at = head.at.or(at);
            if let Some((id, run)) = part["toolCallId"].as_str().and_then(|id| self.calls.get_key_value(id)) {
                head.calls.insert(id.clone(), *run);
            }
        }
    }
}

fn add_time(times: &mut TimesByText, message: &[u8], text: u64, time: u64) {
    if let (Some(text), Some(at)) = (proto::find_text(message, text), find_time(message, time)) {
        times.entry(text.trim().to_owned()).or_default().push_back(at);
    }
}

fn take_time(times: &mut TimesByText, text: &str) -> Option<Timestamp> {
    times.get_mut(text.trim())?.pop_front()
}

fn find_time(message: &[u8], number: u64) -> Option<Timestamp> {
    time_from_millis(proto::find_number(message, number)?.try_into().ok()?)
}

/// The exit code of a command; one that is not written is none, and not zero: only what failed is sure to have one.
fn find_exit_code(call: &[u8]) -> Option<i32> {
    let result = proto::find_bytes(proto::find_bytes(call, SHELL_CALL)?, TOOL_RESULT)?;
    proto::fields(result).find_map(|(number, value)| match (number, value) {
        (SHELL_SUCCESS | SHELL_FAILURE, FieldValue::Bytes(ending)) => {
            // Negative ones are written as 64 bits.
            proto::find_number(ending, EXIT_CODE).and_then(|code| i32::try_from(code.cast_signed()).ok())
        }
        _ => None,
    })
}
