//! Whose session a file of a tree is: those of more than one client begin alike.

use std::path::Path;

/// A note at the beginning of a session that only a client with several agents writes.
const SEVERAL_AGENTS_MARK: &[u8] = br#""customType":"model-snapshot""#;

/// Whether a session is kept by a client that has several agents, each with a folder of its own (`agents/*/sessions`):
/// by the place of the file, or, for a loose one, by the note of the model in its first records.
pub fn has_several_agents(path: &Path, head: &[u8]) -> bool {
    let sessions = path.parent().filter(|folder| folder.file_name().is_some_and(|name| name == "sessions"));
    let agents = sessions.and_then(Path::parent).and_then(Path::parent);
    let in_place = agents.is_some_and(|folder| folder.file_name().is_some_and(|name| name == "agents"));
    in_place || memchr::memmem::find(head, SEVERAL_AGENTS_MARK).is_some()
}
