//! The conversations of a project, as their folders tell them.

use std::path::{Path, PathBuf};

use carryover_agents::formats::file::read_text;
use carryover_agents::saved::{MESSAGES_FILE, SEALED_FILE, SESSION_FILE, SESSION_FOLDER, read_session_file};
use carryover_core::render::saved::{SavedSession, read_document_head};
use carryover_core::time::Timestamp;
use carryover_core::transcript::SessionId;

use crate::context::Context;
use crate::sessions::copies::SessionRef;
use crate::sessions::project::{published_project, resolve_path};

/// The folder in a project.
pub const FOLDER: &str = "conversations";

/// A project with more has them from somebody who means no good.
const MAX_CONVERSATIONS: usize = 20_000;
const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// A conversation.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// `…/conversations/<date>/<id>`.
    pub folder: PathBuf,
    /// As the folder above it is named.
    pub date: String,
    pub id: String,
    /// What is known of it; where there is no `session.json`, what its folder and its document tell.
    pub saved: SavedSession,
    pub has_session: bool,
    /// Why there is a `session.json`, or a place for it, and nothing could be taken from it; for the user.
    pub damage: Option<String>,
    /// In the open.
    pub has_messages: bool,
    /// Encrypted, which is what counts where both are there.
    pub has_sealed: bool,
}

/// The conversations of a project, the last used first.
#[derive(Debug, Default)]
pub struct Listing {
    pub conversations: Vec<Conversation>,
    /// Files that could not be read.
    pub warnings: Vec<String>,
}

impl Conversation {
    /// The name by which it is known in its project, whatever the others are called.
    pub fn name(&self) -> String {
        format!("{}/{}", self.date, self.id)
    }

    /// The session that it was saved from.
    pub fn session_ref(&self) -> SessionRef {
        SessionRef { agent: self.saved.agent.clone(), session: SessionId(self.saved.session_id.clone()) }
    }

    pub fn session_file(&self) -> PathBuf {
        self.folder.join(SESSION_FOLDER).join(SESSION_FILE)
    }

    /// Whether a path is where a conversation of a project has its `session.json`, and really there.
    pub(super) fn is_session_file(project: &Path, file: &Path) -> bool {
        let all = project.join(FOLDER);
        let inside = file.strip_prefix(&all).ok().and_then(Path::to_str).unwrap_or_default().replace('\\', "/");
        let parts: Vec<&str> = inside.split('/').collect();
        let [date, id, SESSION_FOLDER, SESSION_FILE] = parts.as_slice() else { return false };
        is_date(date) && is_id(id) && is_inside(&all, file)
    }

    pub fn messages_file(&self) -> PathBuf {
        self.folder.join(SESSION_FOLDER).join(MESSAGES_FILE)
    }

    pub fn sealed_file(&self) -> PathBuf {
        self.folder.join(SESSION_FOLDER).join(SEALED_FILE)
    }

    pub fn document_file(&self) -> PathBuf {
        self.folder.join(format!("{}.md", self.saved.conversation_type))
    }

    /// The document; none where it is not there, or no text.
    pub fn read_document(&self) -> Option<String> {
        let path = self.document_file();
        read_text(&path, MAX_DOCUMENT_BYTES).ok().filter(|_| is_inside(&self.folder, &path))
    }

    pub fn last_active(&self) -> Option<Timestamp> {
        Timestamp::parse(&self.saved.last_active)
    }

    /// A conversation in a folder. One whose `session.json` is damaged or missing is what its document tells.
    fn open(folder: &Path, date: &str, id: &str) -> Self {
        let [session, messages, sealed] =
            [SESSION_FILE, MESSAGES_FILE, SEALED_FILE].map(|name| folder.join(SESSION_FOLDER).join(name));
        let is_here = is_inside(folder, &session);
        let told = if is_here { read_session_file(&session).map_err(|error| error.to_string()) } else { Ok(None) };
        let mut conversation = Self {
            folder: folder.to_owned(),
            date: date.to_owned(),
            id: id.to_owned(),
            saved: SavedSession::default(),
            has_session: false,
            damage: None,
            has_messages: messages.is_file() && is_inside(folder, &messages),
            has_sealed: sealed.is_file() && is_inside(folder, &sealed),
        };
        let is_left = is_here && (conversation.has_messages || conversation.has_sealed);
        match told {
            Ok(Some(saved)) if is_plain_type(&saved.conversation_type) => {
                conversation.has_session = true;
                conversation.saved = saved;
            }
            Ok(Some(_)) => conversation.damage = Some(format!("{}: its type is no word", session.display())),
            Ok(None) if is_left => conversation.damage = Some(format!("{} is missing", session.display())),
            Ok(None) => {}
            Err(damage) => conversation.damage = Some(damage),
        }
        if !conversation.has_session {
            // Lines whose agent, folder and masks nobody tells are no session.
            conversation.has_messages = false;
            conversation.guess_from_document();
        }
        id.clone_into(&mut conversation.saved.conversation_id);
        if conversation.saved.title.trim().is_empty() {
            conversation.saved.title = topic_of(id).replace('-', " ");
        }
        conversation
    }

    /// What the folder's name and the document tell.
    fn guess_from_document(&mut self) {
        let named = self.id.split('-').nth(1).unwrap_or_default().to_owned();
        self.saved.conversation_type = if is_plain_type(&named) { named } else { super::kind::DEFAULT_TYPE.to_owned() };
        let head = read_document_head(&self.read_document().unwrap_or_default());
        let written = |at: Option<Timestamp>| at.map(|at| at.to_string()).unwrap_or_default();
        self.saved.created_at = written(head.begun);
        self.saved.last_active = written(head.last_active);
        self.saved.message_count = head.messages.unwrap_or_default();
        self.saved.title = head.title.unwrap_or_default();
    }
}

/// Whether a file really is in a folder: a clone may bring a link to one that nobody means to show.
fn is_inside(folder: &Path, file: &Path) -> bool {
    resolve_path(file).starts_with(resolve_path(folder))
}

/// A type names a file, so it may lead nowhere else.
fn is_plain_type(word: &str) -> bool {
    carryover_core::render::saved::is_type(word)
}

/// The topic in an id: what is behind the number and the type.
fn topic_of(id: &str) -> &str {
    id.splitn(3, '-').nth(2).unwrap_or(id)
}

/// The folder that the conversations of a project are kept in: the root of its repository, else the folder itself.
pub fn conversation_root(context: &Context, folder: &Path) -> PathBuf {
    published_project(&context.env.home, folder).unwrap_or_else(|| resolve_path(folder))
}

/// The conversations of a project.
pub fn list_conversations(root: &Path) -> Listing {
    let mut listing = Listing::default();
    for (date, day) in subfolders(&root.join(FOLDER)).into_iter().filter(|(name, _)| is_date(name)) {
        for (id, folder) in subfolders(&day).into_iter().filter(|(name, _)| is_id(name)) {
            if listing.conversations.len() == MAX_CONVERSATIONS {
                listing.warnings.push(format!("only the first {MAX_CONVERSATIONS} conversations were looked at"));
                return listing;
            }
            let conversation = Conversation::open(&folder, &date, &id);
            listing.warnings.extend(conversation.damage.clone());
            listing.conversations.push(conversation);
        }
    }
    // One of which no time is known stands with those of its day.
    let day = |one: &Conversation| Timestamp::parse(&format!("{}T00:00:00Z", one.date));
    let rank = |one: &Conversation| (one.last_active().or_else(|| day(one)), one.date.clone(), one.id.clone());
    listing.conversations.sort_by_key(|one| std::cmp::Reverse(rank(one)));
    listing
}

/// The folders in a folder, by name; links are not followed.
fn subfolders(folder: &Path) -> Vec<(String, PathBuf)> {
    let Ok(entries) = fs_err::read_dir(folder) else { return Vec::new() };
    let is_folder = |entry: &fs_err::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let named = entries.flatten().filter(is_folder).filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        Some((name, entry.path()))
    });
    let mut named: Vec<(String, PathBuf)> = named.collect();
    named.sort();
    named
}

/// `2026-11-15`.
fn is_date(name: &str) -> bool {
    name.len() == 10
        && name.char_indices().all(|(at, c)| if matches!(at, 4 | 7) { c == '-' } else { c.is_ascii_digit() })
}

/// A number, a hyphen, and more.
fn is_id(name: &str) -> bool {
    number_of(name).is_some() && name.chars().count() <= 200
}

/// The number that an id begins with.
pub(super) fn number_of(id: &str) -> Option<u32> {
    let (number, rest) = id.split_once('-')?;
    let is_number = number.len() >= 3 && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !rest.is_empty()).then(|| number.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_known_by_their_names() {
        assert!(is_date("2026-11-15") && !is_date("2026-1-15") && !is_date("20261-1-15"));
        assert_eq!(
            ["001-plan-x", "0123-a", "01-a", "001-", "abc-d", "001"].map(number_of),
            [Some(1), Some(123), None, None, None, None]
        );
        assert_eq!(topic_of("001-plan-the-move"), "the-move");
    }
}
