//! The command line client's store, which the SDK and the client's ACP server write as well: one database for each session,
//! with content-addressed blobs. A root blob names the messages that the model is sent, and the turns that are shown.

mod drift;
mod folders;
mod message;
mod proto;
mod runs;
mod sdk;
mod state;
mod store;
mod turns;
mod user_text;
mod weight;

pub(super) use drift::has_drifted;
pub(super) use folders::{ChatFolder, chat_id, list_chat_folders, read_chat};
pub(super) use message::read_message;
pub(super) use proto::FieldWriter;
pub(super) use runs::read_run;
pub(super) use sdk::list_agents;
pub(super) use state::MessageNames;
#[cfg(test)]
pub(super) use store::from_hex;
pub(super) use store::{BLOB_TABLE_SQL, META_KEY, META_TABLE_SQL, blob_name, open_store, to_hex};
pub(super) use user_text::{is_query, split_user_text, wrap_query};
pub(super) use weight::weigh_store;
