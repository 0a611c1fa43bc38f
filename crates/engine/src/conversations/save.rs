//! A session, saved as a conversation of its project.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::agent_by_name;
use carryover_agents::saved::{SEALED_FILE, SESSION_FOLDER};
use carryover_core::distill::{Brief, Event, Quoting};
use carryover_core::plain::one_line;
use carryover_core::render::saved::{
    AgentConfig, DocumentOptions, LeftOut, SAVED_SCHEMA, SAVED_VERSION, SavedDocument, SavedMessage, SavedMessages,
    SavedSession, SavedStatus, SealedHead, append_messages, quotes_any, render_document, render_sealed_document,
    save_messages, slugify,
};
use carryover_core::time::Timestamp;

use super::command::{find_called, find_current, split_command};
use super::folder::{Conversation, FOLDER, conversation_root, list_conversations, number_of};
use super::kind::{is_own_without_type, type_from_command};
use super::sealing::{LockBefore, NewLock, SealError, Sealed, Unsealed};
use super::store::{FileChanges, has_sealed_session, hash_text, messages_content, session_content, write_files};
use super::thread::{find_predecessor, find_save, list_saves, name_speaker, thread_name};
use crate::capsule::masks::{MaskCounts, add_masks, subtract_masks};
use crate::carry::canonical::build_canonical;
use crate::carry::resume::ResumeError;
use crate::context::Context;
use crate::handoff::{DistilledSession, Options, distil_session};
use crate::sessions::copies::SessionRef;
use crate::sessions::list::ListedSession;

const SUMMARY_CHARS: usize = 300;
const MAX_TITLE_CHARS: usize = 200;
const MAX_TYPED_CHARS: usize = 300;

/// How a session is saved.
#[derive(Debug, Clone, Copy)]
pub struct SaveOptions<'a> {
    /// Whose conversation it is to be; by default the session's own project.
    pub project: Option<&'a Path>,
    pub kind: Option<&'a str>,
    pub topic: Option<&'a str>,
    /// How it stands; where nothing is said, paused, or as it stood where nothing new was said either.
    pub status: Option<SavedStatus>,
    pub redact: bool,
    /// Seals the messages; those of a conversation that is sealed are so without it.
    pub encrypt: bool,
}

/// A save that is decided and not yet written.
pub struct SavePlan {
    /// The project.
    pub root: PathBuf,
    pub conversation: Conversation,
    /// It was not saved before.
    pub is_new: bool,
    /// Messages that were not saved before.
    pub added: usize,
    /// Somebody has written in the document: it only gets what is new, at its end.
    pub keeps_document: bool,
    /// Secrets that are masked, by kind.
    pub masked: BTreeMap<String, usize>,
    pub left_out: LeftOut,
    pub warnings: Vec<String>,
    changes: FileChanges,
    /// Messages that are written in no other form than sealed.
    unsealed: Option<Unsealed>,
}

/// What is to be done about the messages of a sealed conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sealing<'a> {
    /// What is in the file is what would be written: it stays as it is, byte for byte.
    Unchanged,
    Needed {
        before: Option<&'a LockBefore>,
    },
}

impl SavePlan {
    /// How the messages are sealed; none where they are in the open.
    pub fn sealing(&self) -> Option<Sealing<'_>> {
        let unsealed = self.unsealed.as_ref()?;
        let needed = Sealing::Needed { before: unsealed.before.as_ref() };
        Some(if unsealed.is_unchanged { Sealing::Unchanged } else { needed })
    }

    /// The files that would be written, in the order in which they are told.
    pub fn list_changed(&self) -> Vec<PathBuf> {
        let sealed = matches!(self.sealing(), Some(Sealing::Needed { .. })).then(|| self.conversation.sealed_file());
        let mut changed: Vec<PathBuf> = self.changes.list_changed().into_iter().map(|(path, _)| path.clone()).collect();
        changed.extend(sealed.filter(|sealed| !changed.contains(sealed)));
        changed
    }

    /// Seals the messages; until that is done, they are not among what is written.
    pub fn seal(&mut self, new: &NewLock) -> Result<(), SealError> {
        let path = self.conversation.sealed_file();
        let Some(unsealed) = &mut self.unsealed else { return Ok(()) };
        match unsealed.seal(&path, new)? {
            Sealed::Unchanged => unsealed.is_unchanged = true,
            Sealed::Written { bytes, note } => {
                self.changes.contents.insert(0, (path, bytes));
                self.changes.sealed = Some(note);
            }
        }
        Ok(())
    }
}

/// A save that was written.
pub struct Saved {
    /// By which `undo` knows it; none where nothing had changed.
    pub undo_id: Option<String>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    pub warnings: Vec<String>,
}

/// Decides how a session is saved; nothing is written.
pub fn plan_save(
    context: &Context,
    session: &ListedSession,
    options: &SaveOptions<'_>,
) -> Result<SavePlan, ResumeError> {
    let distil_options = Options { project: options.project, redact: options.redact };
    let distilled = distil_session(context, session, distil_options)?;
    let canonical = build_canonical(session)?;
    let root = conversation_root(context, &distilled.project);
    let listing = list_conversations(&root);
    let reference = SessionRef { agent: session.agent.facts().id.to_owned(), session: distilled.brief.session.clone() };
    let earlier = find_save(&listing.conversations, &reference);
    let predecessor = match earlier {
        None => find_predecessor(context, &listing.conversations, &reference, &distilled.history),
        Some(_) => None,
    };
    let before = count_masks(&save_messages(canonical.uasf.clone()));
    let uasf = if options.redact { canonical.uasf.redacted() } else { canonical.uasf };
    let messages = save_messages(uasf);
    let mut masked = count_masks(&messages);
    subtract_masks(&mut masked, &before);
    // A file that is damaged does not tell whose conversation it is.
    let mut damaged = listing.conversations.iter().filter(|one| one.damage.is_some());
    let seals = options.encrypt
        || earlier.into_iter().chain(predecessor).any(|one| one.is_sealed(context))
        || damaged.any(|one| has_sealed_session(context, one, &reference));
    let added = messages.messages.len().saturating_sub(earlier.map_or(0, count_saved_lines));
    let stands = earlier.filter(|_| added == 0).map(|earlier| earlier.saved.status);
    let status = options.status.or(stands).unwrap_or_default();
    let speaker = name_speaker(context, &reference);
    let (distilled, messages) = (&distilled, &messages);
    let draft = Draft { context, session, options, distilled, messages, root: &root, seals, status, speaker };
    draft.refuse_open_document(earlier)?;
    let (conversation, head) = draft.make_conversation(earlier, predecessor, &listing.conversations);
    let mut plan = SavePlan {
        is_new: earlier.is_none(),
        added,
        keeps_document: false,
        masked,
        left_out: messages.left_out,
        warnings: [distilled.warnings.clone(), canonical.warnings, listing.warnings].concat(),
        changes: FileChanges::default(),
        unsealed: None,
        conversation,
        root: root.clone(),
    };
    let fill = |plan: &mut SavePlan| {
        if let Some(head) = &head {
            plan.unsealed = Some(Unsealed::new(context, head, &messages.messages, earlier, predecessor)?);
            let is_titled = options.topic.is_some();
            plan.warnings.extend(warn_open(context, &plan.conversation, earlier, is_titled, &listing.conversations));
        }
        plan.warnings.extend(earlier.into_iter().flat_map(|earlier| warn_kept(earlier, options, status)));
        draft.fill_contents(plan, earlier)
    };
    fill(&mut plan).map_err(|source| ResumeError::Write { path: root, source })?;
    Ok(plan)
}

/// Writes a save.
pub fn apply_save(context: &Context, plan: &SavePlan) -> io::Result<Saved> {
    let written = write_files(context, &plan.root, &plan.conversation, &plan.changes)?;
    Ok(Saved { undo_id: written.undo_id, files: written.files, warnings: written.warnings })
}

fn count_saved_lines(earlier: &Conversation) -> usize {
    if earlier.has_sealed || !earlier.has_messages {
        return earlier.saved.document.messages;
    }
    super::store::read_messages(earlier).ok().flatten().map_or(0, |(messages, unread)| messages.len() + unread)
}

const KEPT_NAMES: &str = "its title and the name of its folder stay as they were";

/// Warnings about what a save again leaves as it was, though something else was asked for, and about what it changes
/// unasked.
fn warn_kept(earlier: &Conversation, options: &SaveOptions<'_>, status: SavedStatus) -> Vec<String> {
    let was = &earlier.saved;
    let mut warnings = Vec::new();
    if options.kind.is_some_and(|kind| kind != was.conversation_type) {
        warnings.push(format!(
            "its type stays `{}`: a conversation keeps the type of its first save",
            was.conversation_type
        ));
    }
    if options.topic.is_some_and(|topic| !earlier.id.ends_with(&format!("-{}", slugify(topic)))) {
        warnings.push(format!("its folder keeps its name, {}: only the title is another", earlier.id));
    }
    if options.status.is_none() && was.status == SavedStatus::Completed && status != was.status {
        warnings.push(format!("it was completed, and is {} again: something new was said", status.name()));
    }
    warnings
}

/// Warnings about what of a sealed conversation can be read all the same.
fn warn_open(
    context: &Context,
    conversation: &Conversation,
    earlier: Option<&Conversation>,
    is_titled: bool,
    all: &[Conversation],
) -> Vec<String> {
    let mut warnings = Vec::new();
    if earlier.is_some_and(|earlier| earlier.has_messages && !earlier.is_sealed(context)) {
        let stays = if is_titled { "the name of its folder stays as it was" } else { KEPT_NAMES };
        let committed = "what git has committed stays in its history";
        warnings.push(format!("its messages were in the open until now: {stays}, and {committed}"));
    }
    let is_other =
        |other: &&Conversation| other.name() != conversation.name() && other.has_messages && !other.has_sealed;
    for other in list_saves(all, conversation).into_iter().filter(is_other) {
        warnings.push(format!("an earlier save of it is in the open: {}", other.name()));
    }
    warnings
}

fn count_masks(messages: &SavedMessages) -> MaskCounts {
    let mut counts = MaskCounts::new();
    for line in messages.messages.iter().filter_map(SavedMessage::to_line) {
        add_masks(&mut counts, &line);
    }
    counts
}

/// Everything that a save is made of.
struct Draft<'a> {
    context: &'a Context,
    session: &'a ListedSession,
    options: &'a SaveOptions<'a>,
    distilled: &'a DistilledSession,
    messages: &'a SavedMessages,
    root: &'a Path,
    /// Nothing of what was said may be in the open.
    seals: bool,
    status: SavedStatus,
    /// Who answers in the document.
    speaker: &'static str,
}

impl Draft<'_> {
    /// A document that somebody wrote in is not rewritten, so what was said would stay readable in it. One that was left in
    /// the open tells it in whatever words are there now; one that was sealed may have been given quotes.
    fn refuse_open_document(&self, earlier: Option<&Conversation>) -> Result<(), ResumeError> {
        let Some(earlier) = earlier.filter(|_| self.seals) else { return Ok(()) };
        let by_hand = earlier.read_document().filter(|now| hash_text(now) != earlier.saved.document.hash);
        let tells = |now: &String| !earlier.is_sealed(self.context) || quotes_any(now, &self.messages.messages);
        match by_hand.filter(tells) {
            Some(_) => Err(ResumeError::OpenDocument(earlier.document_file())),
            None => Ok(()),
        }
    }

    /// The conversation as it will be: in the folder that it has, or in a new one.
    fn make_conversation(
        &self,
        earlier: Option<&Conversation>,
        predecessor: Option<&Conversation>,
        all: &[Conversation],
    ) -> (Conversation, Option<SealedHead>) {
        let header = &self.distilled.history.header;
        let (saved, head) = self.make_session(earlier, predecessor);
        let (has_messages, has_sealed) = (head.is_none(), head.is_some());
        if let Some(earlier) = earlier {
            let conversation = Conversation { saved, has_session: true, has_messages, has_sealed, ..earlier.clone() };
            return (conversation, head);
        }
        let begun = header.started_at.unwrap_or(self.context.env.now).to_string();
        let date = begun.get(..10).unwrap_or(&begun).to_owned();
        let kept = self.kept_title(predecessor);
        let untold = if self.seals { kept.as_deref().unwrap_or_default() } else { &saved.title };
        let topic = slugify(self.options.topic.unwrap_or(untold));
        let topic = if topic.is_empty() { slugify(&saved.agent) } else { topic };
        let number = all.iter().filter(|other| other.date == date).filter_map(|other| number_of(&other.id)).max();
        let id = format!("{:03}-{}-{topic}", number.unwrap_or(0) + 1, saved.conversation_type);
        let folder = self.root.join(FOLDER).join(&date).join(&id);
        let saved = SavedSession { conversation_id: id.clone(), ..saved };
        let conversation =
            Conversation { folder, date, id, saved, has_session: true, damage: None, has_messages, has_sealed };
        (conversation, head)
    }

    /// What is known of it, and what of that is sealed.
    fn make_session(
        &self,
        earlier: Option<&Conversation>,
        predecessor: Option<&Conversation>,
    ) -> (SavedSession, Option<SealedHead>) {
        let (brief, header) = (&self.distilled.brief, &self.distilled.history.header);
        let known = earlier.or(predecessor).map(|known| &known.saved);
        let config_of = |save: Option<&Conversation>| save.map(|save| save.saved.agent_config.clone());
        let agent_config = self.make_config(config_of(earlier).as_ref(), config_of(predecessor).as_ref());
        let kind = self.options.kind.map(str::to_owned).filter(|_| earlier.is_none());
        let kind = kind.or_else(|| known.map(|known| known.conversation_type.clone()));
        let written = |at: Option<Timestamp>| at.unwrap_or(self.context.env.now).to_string();
        let begun = header.started_at.or(header.updated_at);
        // What is sealed has the session's own title, so that it is the same again whatever the user calls it.
        let titled = earlier.map(|earlier| earlier.saved.title.clone()).or_else(|| self.kept_title(predecessor));
        let (topic, known_title) = if self.seals { (None, None) } else { (self.options.topic, titled.clone()) };
        let saved = SavedSession {
            schema: SAVED_SCHEMA.to_owned(),
            version: SAVED_VERSION.to_owned(),
            conversation_id: earlier.map(|earlier| earlier.id.clone()).unwrap_or_default(),
            conversation_type: kind.unwrap_or_else(|| type_from_command(agent_config.command.as_deref())),
            title: self.choose_title(&agent_config, topic, known_title),
            status: self.status,
            created_at: earlier.map_or_else(|| written(begun), |earlier| earlier.saved.created_at.clone()),
            last_active: written(header.updated_at.or(begun)),
            message_count: self.distilled.history.n_messages,
            token_count: self.messages.messages.iter().map(SavedMessage::tokens).sum(),
            context_summary: summarize(brief),
            agent: self.session.agent.facts().id.to_owned(),
            session_id: brief.session.0.clone(),
            project: brief.project.clone().unwrap_or_default(),
            git_branch: header.branch.as_deref().map(|branch| self.distilled.quoting.quote_line(branch, 200)),
            thread: earlier.and_then(|one| one.saved.thread.clone()).or_else(|| predecessor.map(thread_name)),
            continues: earlier
                .and_then(|one| one.saved.continues.clone())
                .or_else(|| predecessor.map(Conversation::name)),
            compacted: self.messages.compacted.clone(),
            agent_config,
            document: SavedDocument::default(),
            sealed: self.seals,
        };
        if !self.seals {
            return (saved, None);
        }
        let title = self.open_title(&saved.conversation_type, titled);
        let (open, head) = saved.split_sealed(title);
        (open, Some(head))
    }

    /// The title of the conversation that this goes on with. In one that is sealed, that is what the user has called it:
    /// what stands for no title names the agent, and the title of one in the open may be what was said.
    fn kept_title(&self, predecessor: Option<&Conversation>) -> Option<String> {
        let before = &predecessor?.saved;
        let name = agent_by_name(&before.agent).map_or("", |agent| agent.facts().name);
        let is_untold = || before.title == SavedSession::untold_title(&before.conversation_type, name);
        let is_told = !self.seals || before.sealed && !is_untold();
        is_told.then(|| before.title.clone())
    }

    /// The topic that was given, the title that it had, else the session's own; the command in front of one is not said.
    fn choose_title(&self, config: &AgentConfig, topic: Option<&str>, known: Option<String>) -> String {
        if let Some(topic) = topic {
            return one_line(topic, MAX_TITLE_CHARS);
        }
        if let Some(known) = known {
            return known;
        }
        let brief = &self.distilled.brief;
        let request = brief.task.request.as_ref().map(|request| request.text.as_str());
        let title = brief.title.as_deref().or(request).unwrap_or("untitled");
        let bare = config.command.as_deref().and_then(|command| {
            // A title that is cut from what was sent for the command says nothing of its own.
            let is_sent = || {
                let prompt = one_line(self.first_prompt().unwrap_or_default(), MAX_TITLE_CHARS);
                let title = one_line(title, MAX_TITLE_CHARS);
                prompt.trim_end_matches('…').starts_with(title.trim_end_matches('…'))
            };
            title.strip_prefix(command).or_else(|| config.arguments.as_deref().filter(|_| is_sent())).map(str::trim)
        });
        one_line(bare.filter(|bare| !bare.is_empty()).unwrap_or(title), MAX_TITLE_CHARS)
    }

    /// The title of a sealed conversation: what the user has called it, and never what was said in it.
    fn open_title(&self, kind: &str, known: Option<String>) -> String {
        let topic = self.options.topic.map(|topic| one_line(topic, MAX_TITLE_CHARS));
        topic.or(known).unwrap_or_else(|| SavedSession::untold_title(kind, self.session.agent.facts().name))
    }

    /// What it was begun with. The first save counts: a command that has changed since is another.
    fn make_config(&self, earlier: Option<&AgentConfig>, predecessor: Option<&AgentConfig>) -> AgentConfig {
        let (header, brief) = (&self.distilled.history.header, &self.distilled.brief);
        let tools = &header.start_settings.tools;
        let is_begun = |config: &&AgentConfig| config.command.is_some();
        let own = self.find_command().map(|(command, arguments)| AgentConfig {
            command: Some(command),
            arguments,
            ..AgentConfig::default()
        });
        let begun = match (earlier.filter(is_begun).cloned(), own) {
            // What was typed behind it is sealed, and cannot be taken from there.
            (Some(earlier), Some(own)) if earlier.command == own.command => {
                Some(AgentConfig { arguments: own.arguments, ..earlier })
            }
            (Some(earlier), _) => Some(earlier),
            (None, Some(own)) => Some(own),
            // One that goes on from another was begun with what that was begun with.
            (None, None) => predecessor.filter(is_begun).cloned(),
        };
        let mut config = AgentConfig {
            model: header.model.clone(),
            tools: if tools.is_empty() { brief.tools.clone() } else { tools.clone() },
            ..begun.unwrap_or_default()
        };
        if config.system_prompt_hash.is_none() {
            let agent = self.session.agent.facts().id;
            config.system_prompt_hash =
                find_current(self.context, self.root, agent, &config).map(|current| current.hash);
        }
        config
    }

    /// The command that the session was begun with, and what was typed behind it: as its client wrote it down, else by
    /// what it sent.
    fn find_command(&self) -> Option<(String, Option<String>)> {
        let quoting = self.distilled.quoting;
        let typed = self.distilled.history.header.start_settings.command.as_deref();
        let typed = typed.map(|typed| quoting.quote_line(typed, MAX_TYPED_CHARS));
        let typed = typed.as_deref().and_then(split_command);
        let sent = || {
            let prompt = self.first_prompt()?;
            let called = find_called(self.context, self.root, self.session.agent.facts(), prompt)?;
            let arguments = called.arguments.map(|arguments| quoting.quote_line(&arguments, MAX_TYPED_CHARS));
            Some((called.name, arguments))
        };
        // Those of ours that end a conversation, or go on with one, are not what it is about.
        typed.or_else(sent).filter(|(name, _)| !is_own_without_type(name))
    }

    fn first_prompt(&self) -> Option<&str> {
        self.distilled.history.steps.iter().find_map(|step| match &step.event {
            Event::Prompt { text, .. } => Some(text.as_str()),
            _ => None,
        })
    }

    /// The files as they will be. `session.json` comes last: what it says of the others holds then.
    fn fill_contents(&self, plan: &mut SavePlan, earlier: Option<&Conversation>) -> io::Result<()> {
        let name = self.session.agent.facts().name;
        let messages = &self.messages.messages;
        let resume_command = format!("carryover resume {}", plan.conversation.id);
        let options = DocumentOptions { agent_name: name, speaker: self.speaker, resume_command: &resume_command };
        let sealed_file = format!("{SESSION_FOLDER}/{SEALED_FILE}");
        let saved = &plan.conversation.saved;
        let fresh = || {
            if self.seals {
                render_sealed_document(saved, &options, &sealed_file)
            } else {
                render_document(saved, &self.distilled.brief, messages, &options)
            }
        };
        let document = earlier.and_then(|earlier| Some((earlier.read_document()?, &earlier.saved.document)));
        let text = match document {
            Some((now, left)) if hash_text(&now) != left.hash => {
                plan.keeps_document = true;
                if self.seals && !left.hash.is_empty() {
                    plan.warnings
                        .push("its document was written in by hand and stays as it is, in the open".to_owned());
                }
                let messages = if self.seals { &[] } else { messages.as_slice() };
                let new = messages.get(left.messages..).unwrap_or_default();
                if new.is_empty() { now } else { append_messages(&now, new, self.speaker) }
            }
            _ => fresh(),
        };
        plan.conversation.saved.document = SavedDocument {
            // One that is somebody's stays so.
            hash: if plan.keeps_document { String::new() } else { hash_text(&text) },
            messages: messages.len(),
        };
        let conversation = &plan.conversation;
        let document = (conversation.document_file(), text.into_bytes());
        let session = (conversation.session_file(), session_content(&conversation.saved)?);
        if self.seals {
            plan.changes.contents = vec![document, session];
            plan.changes.dropped = vec![conversation.messages_file()];
        } else {
            let open = (conversation.messages_file(), messages_content(messages));
            plan.changes.contents = vec![open, document, session];
        }
        Ok(())
    }
}

/// The user's last request, verbatim.
fn summarize(brief: &Brief) -> String {
    let request = brief.task.request.as_ref().map(|request| request.text.as_str());
    Quoting::AsIs.quote_line(request.unwrap_or_default(), SUMMARY_CHARS)
}
