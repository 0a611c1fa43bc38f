//! The root of a session: `agent.v1.ConversationStateStructure`, by the numbers that its fields have in the vendor's own code.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::proto::{self, FieldValue};
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

/// How long a digest is.
const BLOB_NAME_BYTES: usize = 32;

/// The root of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct State<'r>(pub &'r [u8]);

impl State<'_> {
    /// The session's messages, with what is shown of them.
    pub(super) fn read_heads(self, connection: &Connection) -> rusqlite::Result<Vec<RecordHead>> {
        let root = self.0;
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
        Ok(heads)
    }

    /// What it tells of the session as a whole.
    pub(super) fn read_session(self) -> Session {
        let started = proto::find_number(self.0, STARTED).and_then(|millis| time_from_millis(millis.try_into().ok()?));
        Session {
            project: proto::find_text(self.0, WORKSPACE_URIS).and_then(path_from_uri),
            branch: proto::find_text(self.0, BRANCH).filter(|branch| !branch.is_empty()).map(str::to_owned),
            started,
            ..Session::default()
        }
    }

    /// The blobs of the messages that the model is sent.
    pub(super) fn list_messages(self) -> impl DoubleEndedIterator<Item = String> {
        proto::list_bytes(self.0, MESSAGES).map(to_hex).collect::<Vec<_>>().into_iter()
    }

    /// How many turns are shown.
    pub(super) fn count_turns(self) -> usize {
        proto::list_bytes(self.0, TURNS).count()
    }

    /// Whether it names blobs of its store, and none of them as a message: then messages have another place by now.
    pub(super) fn names_no_messages(self, connection: &Connection) -> rusqlite::Result<bool> {
        if proto::find_bytes(self.0, MESSAGES).is_some() {
            return Ok(false);
        }
        for (_, value) in proto::fields(self.0) {
            if let FieldValue::Bytes(name) = value
                && name.len() == BLOB_NAME_BYTES
                && read_blob(connection, &to_hex(name))?.is_ok()
            {
                return Ok(true);
            }
        }
        Ok(false)
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
