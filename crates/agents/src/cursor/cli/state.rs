//! The root of a session: `agent.v1.ConversationStateStructure`, by the numbers that its fields have in the vendor's own code.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::proto;
use super::store::{read_blob, to_hex};
use super::turns::ShownTurns;
use crate::cursor::places::path_from_uri;
use crate::cursor::session::{RecordForm, RecordHead, Session, time_from_millis};

/// Messages that the model is sent, in their order.
const MESSAGES: u64 = 1;
/// Turns as they are shown.
const TURNS: u64 = 8;
const WORKSPACE_URIS: u64 = 9;
/// What compactions took away: the last one in older roots, all of them in newer ones.
const SUMMARY_ARCHIVE: u64 = 11;
const SUMMARY_ARCHIVES: u64 = 13;
const BRANCH: u64 = 19;
const STARTED: u64 = 26;
/// Of an archive: the messages that a summary stands for.
const SUMMARIZED_MESSAGES: u64 = 1;

/// A session as its root tells it.
#[derive(Default)]
pub(super) struct State {
    pub session: Session,
    pub heads: Vec<RecordHead>,
}

impl State {
    pub(super) fn read(connection: &Connection, root: &[u8]) -> rusqlite::Result<Self> {
        let mut names = MessageNames::default();
        let mut heads = Vec::new();
        let mut archives: Vec<&[u8]> = proto::list_bytes(root, SUMMARY_ARCHIVES).collect();
        if archives.is_empty() {
            archives.extend(proto::find_bytes(root, SUMMARY_ARCHIVE));
        }
        for archive in &archives {
            let Ok(archive) = read_blob(connection, &to_hex(archive))? else { continue };
            heads.extend(proto::list_bytes(&archive, SUMMARIZED_MESSAGES).map(|blob| names.make_head(blob)));
        }
        let context = heads.len();
        heads.extend(proto::list_bytes(root, MESSAGES).map(|blob| names.make_head(blob)));
        if let Some(first) = heads.get_mut(context) {
            first.begins_context = context > 0;
        }
        let mut turns = Vec::new();
        for turn in proto::list_bytes(root, TURNS) {
            turns.extend(read_blob(connection, &to_hex(turn))?.ok());
        }
        let mut shown = ShownTurns::read(connection, &turns)?;
        for head in &mut heads {
            if let Ok(message) = read_blob(connection, head.name.split('#').next().unwrap_or_default())? {
                shown.complete_head(head, &message);
            }
        }
        let started = proto::find_number(root, STARTED).and_then(|millis| time_from_millis(millis.try_into().ok()?));
        let session = Session {
            project: proto::find_text(root, WORKSPACE_URIS).and_then(path_from_uri),
            branch: proto::find_text(root, BRANCH).filter(|branch| !branch.is_empty()).map(str::to_owned),
            started,
            ..Session::default()
        };
        Ok(Self { session, heads })
    }
}

/// Names of messages: a message that was said twice is one blob, and two records.
#[derive(Default)]
pub(in crate::cursor) struct MessageNames {
    seen: BTreeMap<String, usize>,
}

impl MessageNames {
    /// The name of the next message in this blob.
    pub(in crate::cursor) fn make_name(&mut self, blob: &str) -> String {
        let count = self.seen.entry(blob.to_owned()).or_default();
        *count += 1;
        if *count == 1 { blob.to_owned() } else { format!("{blob}#{count}") }
    }

    fn make_head(&mut self, blob: &[u8]) -> RecordHead {
        RecordHead::new(self.make_name(&to_hex(blob)), RecordForm::Message)
    }
}
