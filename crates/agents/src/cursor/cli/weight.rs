//! How much of a conversation a store holds, by what its root names.

use std::path::Path;

use rusqlite::Connection;

use super::message::is_prompt;
use super::state::State;
use super::store::{OpenedStore, Root, read_blob};
use crate::cursor::copies::Weight;
use crate::formats::{file, sqlite};

/// The weight of a store; nothing where it cannot be read.
pub(in crate::cursor) fn weigh_store(store: &Path) -> Weight {
    if file::check_regular(store).is_err() {
        return Weight::default();
    }
    let weight = sqlite::read_database(store, &mut |connection| weigh(connection, store));
    weight.unwrap_or_default()
}

fn weigh(connection: &Connection, store: &Path) -> rusqlite::Result<Weight> {
    let Some(OpenedStore { session, root: Root::Read(root), .. }) = OpenedStore::open(connection, store)? else {
        return Ok(Weight::default());
    };
    let state = State(&root);
    let messages: Vec<String> = state.list_messages().collect();
    // Turns are what is shown, and not written by everybody.
    let prompts = match state.count_turns() {
        0 => count_prompts(connection, &messages)?,
        turns => turns,
    };
    Ok(Weight { prompts, records: messages.len(), updated: session.updated })
}

fn count_prompts(connection: &Connection, messages: &[String]) -> rusqlite::Result<usize> {
    let mut count = 0;
    for name in messages {
        count += usize::from(read_blob(connection, name)?.is_ok_and(|message| is_prompt(&message)));
    }
    Ok(count)
}
