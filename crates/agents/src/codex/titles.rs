//! The names that users gave to sessions: `session_index.jsonl`, where the last line for a session counts.

use std::collections::BTreeMap;
use std::path::Path;

use carryover_core::time::Timestamp;
use serde::Deserialize;
use serde_json::json;

use crate::SessionLines;
use crate::formats::file::{self, MAX_INDEX_BYTES};

#[derive(Deserialize)]
struct WireTitle {
    id: String,
    #[serde(default)]
    thread_name: Option<String>,
}

const INDEX_FILE: &str = "session_index.jsonl";

/// The lines about one session, and the lock that the client holds while it adds one.
pub(super) fn session_lines(root: &Path, session: &str) -> SessionLines {
    let file = root.join(INDEX_FILE);
    let lock = Some(file.with_extension("jsonl.lock"));
    SessionLines { file, marker: format!("\"id\":\"{session}\""), lock }
}

/// A line that gives a session its name, as the client writes it.
pub(super) fn format_line(session: &str, name: &str, now: Timestamp) -> String {
    json!({ "id": session, "thread_name": name, "updated_at": now.to_string() }).to_string()
}

/// All names of a store. A store without names, or with names that cannot be read, has none.
pub(super) fn read_all(root: &Path) -> BTreeMap<String, String> {
    let mut titles = BTreeMap::new();
    let Ok(bytes) = file::read_bytes(&root.join(INDEX_FILE), MAX_INDEX_BYTES) else { return titles };
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(title) = serde_json::from_slice::<WireTitle>(line) else { continue };
        match title.thread_name.filter(|name| !name.trim().is_empty()) {
            Some(name) => titles.insert(title.id, name),
            None => titles.remove(&title.id),
        };
    }
    titles
}
