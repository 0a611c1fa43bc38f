//! Listing sessions from the editor's indexes, the notes of the command line client, the index of the SDK, and the ends of
//! transcripts. A conversation that is in several of them is told once, by the richest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::cli::{self, ChatFolder};
use super::copies::Weight;
use super::ide::{self, SessionScope};
use super::places::{DATABASE_NAME, Places};
use super::{Cursor, export, merge, transcript};
use crate::formats::sqlite;
use crate::formats::unopened::UnopenedFiles;
use crate::{AgentError, Discovery, FoundCallback, FoundSession, Store, UnreadableSessions};

/// How many of the stores that changed last are looked into, to see that their form is known.
const STORES_CHECKED: usize = 3;

impl Discovery for Cursor {
    fn recognises(&self, path: &Path, head: &[u8]) -> bool {
        if sqlite::is_database(head) {
            let has = |text: &str| memchr::memmem::find(head, text.as_bytes()).is_some();
            // The table of conversations, or the two of a store.
            let is_store = has("TABLE blobs") && has("TABLE meta");
            return has("cursorDiskKV") || is_store || path.file_name().is_some_and(|name| name == DATABASE_NAME);
        }
        export::is_export(head) || transcript::is_transcript(head)
    }

    fn list_sessions(&self, store: &Store, found: FoundCallback<'_>) -> Result<(), AgentError> {
        let mut unopened = UnopenedFiles::default();
        let lister = Lister::new(&store.root);
        let mut all = ide::list_sessions(&store.root, SessionScope::All, &mut unopened);
        lister.leave_out_poorer(&mut all);
        merge::complete_found(&mut all, &lister.places);
        lister.add_client_sessions(&mut all, &mut unopened);
        for session in all {
            if found(session).is_break() {
                return Ok(());
            }
        }
        unopened.into_result()
    }

    fn sessions_in(&self, store: &Store, file: &Path) -> Result<Vec<FoundSession>, AgentError> {
        let mut unopened = UnopenedFiles::default();
        let lister = Lister::new(&store.root);
        let mut all = Vec::new();
        if file.file_name().is_some_and(|name| name == DATABASE_NAME) {
            all = ide::list_sessions(&store.root, SessionScope::RecentIn(file), &mut unopened);
            lister.leave_out_poorer(&mut all);
            merge::complete_found(&mut all, &lister.places);
        } else {
            lister.add_client_sessions(&mut all, &mut unopened);
            all.retain(|session| session.source.path == file);
        }
        // Other files that could not be opened are not its fault.
        if all.is_empty() {
            unopened.into_result()?;
        }
        Ok(all)
    }
}

/// Lists what the command line client and the SDK keep.
struct Lister<'a> {
    root: &'a Path,
    places: Places,
}

impl<'a> Lister<'a> {
    fn new(root: &'a Path) -> Self {
        Self { root, places: Places::around(root) }
    }

    /// Leaves out conversations of the editor's of which the command line client has more.
    fn leave_out_poorer(&self, all: &mut Vec<FoundSession>) {
        let (Some(client), Some(database)) = (&self.places.client, self.places.global_database()) else { return };
        let listed: BTreeSet<&str> = all.iter().map(|found| found.id.0.as_str()).collect();
        let mut folders = cli::list_chat_folders(client);
        folders.retain(|folder| listed.contains(folder.id.as_str()));
        let ids: BTreeSet<&str> = folders.iter().map(|folder| folder.id.as_str()).collect();
        if ids.is_empty() {
            return;
        }
        let held = ide::find_held(&database, &ids);
        let is_richer = |folder: &&ChatFolder| {
            held.get(folder.id.as_str()).is_some_and(|editor| is_clearly_richer(&folder.store(), editor))
        };
        let richer: BTreeSet<&str> = folders.iter().filter(is_richer).map(|folder| folder.id.as_str()).collect();
        all.retain(|found| found.source.path != database || !richer.contains(found.id.0.as_str()));
    }

    /// Adds those that no richer store has.
    fn add_client_sessions(&self, all: &mut Vec<FoundSession>, unopened: &mut UnopenedFiles) {
        let folders = cli::list_chat_folders(self.root);
        let chats = folders.iter().filter_map(|folder| unopened.ok_or_note(cli::read_chat(folder)).flatten());
        let mut found = keep_richest(chats.collect());
        found.extend(cli::list_agents(self.root, unopened));
        let transcripts = transcript::list_transcripts(self.root);
        let ids = found.iter().map(|found| found.id.0.as_str());
        let ids: BTreeSet<&str> = ids.chain(transcripts.iter().filter_map(|path| path.file_stem()?.to_str())).collect();
        let held = self.places.global_database().map(|database| ide::find_held(&database, &ids)).unwrap_or_default();
        // A conversation of the editor's is told where the editor is, unless more of it is here.
        let is_poorer = |found: &FoundSession| {
            held.get(found.id.0.as_str()).is_some_and(|editor| !is_clearly_richer(&found.source.path, editor))
        };
        let mut known: BTreeSet<String> =
            all.iter().map(|found| found.id.0.as_str()).chain(held.keys().copied()).map(str::to_owned).collect();
        let richer: BTreeSet<String> =
            found.iter().filter(|found| !is_poorer(found)).map(|found| found.id.0.clone()).collect();
        let is_new = |id: &str, known: &mut BTreeSet<String>| known.insert(id.to_owned());
        found.retain(|found| richer.contains(&found.id.0));
        found.retain(|found| !all.iter().any(|other| other.id == found.id));
        known.extend(richer);
        look_into_newest(&mut found, unopened);
        all.extend(found);
        let id = |path: &PathBuf| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let left: Vec<&PathBuf> = transcripts.iter().filter(|path| is_new(&id(path), &mut known)).collect();
        let projects = if left.is_empty() { BTreeMap::new() } else { merge::list_projects(&self.places) };
        for path in left {
            if !unopened.can_read(path) {
                continue;
            }
            let Some(mut session) = unopened.ok_or_note(transcript::scan_transcript(path)).flatten() else { continue };
            session.project = transcript::project_folder(path).and_then(|folder| projects.get(folder)).cloned();
            all.push(session);
        }
    }
}

/// Keeps of several stores of one session the richest.
fn keep_richest(found: Vec<FoundSession>) -> Vec<FoundSession> {
    let mut by_id: BTreeMap<String, Vec<FoundSession>> = BTreeMap::new();
    for session in found {
        by_id.entry(session.id.0.clone()).or_default().push(session);
    }
    let weigh = |found: &FoundSession| {
        let weight = cli::weigh_store(&found.source.path);
        Weight { updated: found.updated_at.or(weight.updated), ..weight }
    };
    let richest = |mut copies: Vec<FoundSession>| {
        if copies.len() > 1 {
            let mut weighed: Vec<(Weight, FoundSession)> =
                copies.drain(..).map(|found| (weigh(&found), found)).collect();
            weighed.sort_by(|(one, _), (other, _)| one.compare(other));
            copies.extend(weighed.into_iter().map(|(_, found)| found));
        }
        copies.pop()
    };
    by_id.into_values().filter_map(richest).collect()
}

/// Whether a store of the command line client has clearly more of a conversation than the editor.
fn is_clearly_richer(store: &Path, editor: &Weight) -> bool {
    cli::weigh_store(store).is_clearly_more(editor)
}

/// Sees that the form of the stores that changed last is known.
fn look_into_newest(found: &mut [FoundSession], unopened: &mut UnopenedFiles) {
    found.sort_by_key(|found| std::cmp::Reverse(found.updated_at));
    for newest in found.iter_mut().filter(|found| !found.drifted).take(STORES_CHECKED) {
        newest.drifted = unopened.ok_or_note(cli::has_drifted(&newest.source.path)).unwrap_or(false);
    }
}

/// Transcripts in plain text, in which nobody can tell the words of one from those of another, and which no other store has.
pub(super) fn count_plain_transcripts(root: &Path) -> Option<UnreadableSessions> {
    let files = transcript::list_plain_transcripts(root);
    if files.is_empty() {
        return None;
    }
    let lister = Lister::new(root);
    let mut told = Vec::new();
    lister.add_client_sessions(&mut told, &mut UnopenedFiles::default());
    let ids: BTreeSet<&str> = files.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    let held = lister.places.global_database().map(|database| ide::find_held(&database, &ids)).unwrap_or_default();
    let is_told = |id: &str| held.contains_key(id) || told.iter().any(|found| found.id.0 == id);
    let count = ids.iter().filter(|id| !is_told(id)).count();
    (count > 0).then_some(UnreadableSessions {
        count,
        reason: "transcripts in plain text, as older clients wrote them, in which nothing tells who speaks",
    })
}
