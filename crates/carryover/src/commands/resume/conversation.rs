//! Going on with a conversation that is kept in a project: the command that it was begun with, as it is now, then where it
//! stands, then its history.

use std::cell::RefCell;
use std::path::PathBuf;

use carryover_agents::{Facts, Target, agent_by_name};
use carryover_core::plain::one_line;
use carryover_core::render::ResumePrompt;
use carryover_core::render::saved::{HistoryBudget, SavedMessage, SavedStatus, render_history, save_messages};
use carryover_core::tokens::estimate;
use carryover_core::transcript::SessionId;
use carryover_engine::carry::canonical::build_canonical;
use carryover_engine::context::Context;
use carryover_engine::conversations::command::{CurrentCommand, describe_change, find_current, missing_servers};
use carryover_engine::conversations::find::{Named, find_by_id, find_by_words};
use carryover_engine::conversations::opening::{render_opening, render_short_opening};
use carryover_engine::conversations::sealing::{OpenedConversation, is_sealed_by_passphrase, open_sealed};
use carryover_engine::conversations::status::{StatusNote, note_status, restore_status, set_status};
use carryover_engine::conversations::thread::{is_of_conversation, name_speaker};
use carryover_engine::conversations::{Conversation, list_conversations, read_messages};
use carryover_engine::sessions::copies::SessionRef;
use carryover_engine::sessions::list::ListedSession;
use carryover_engine::sessions::select::{self, Query, session_in_file};
use carryover_engine::sessions::unread::Unread;

use super::ResumeArgs;
use crate::commands::conversations::{ambiguous_conversations, project_root};
use crate::delivery::{Delivery, Prompt};
use crate::error::{CommandError, ErrorKind};
use crate::process_env::resolve_path;
use crate::ui::{DIM, Ui};

/// A conversation that is gone on with.
pub(super) struct ResumedConversation {
    root: PathBuf,
    /// As it stands in the project.
    kept: Conversation,
    /// With all that is known of it, which is more where it was sealed and opened.
    conversation: Conversation,
    command: Option<CurrentCommand>,
    /// The session that it was, or what is kept of it; none where there is nothing but the document.
    pub(super) session: Option<ListedSession>,
    /// How it stood before it went on.
    status_before: RefCell<Option<StatusNote>>,
    /// Holds what was opened for as long as it is read.
    _opened: Option<OpenedConversation>,
}

/// The conversation with the id that the command line names.
pub(super) fn find_named(context: &Context, args: &ResumeArgs) -> Result<Option<ResumedConversation>, CommandError> {
    find_conversation(context, args, find_by_id)
}

/// The conversation that the words fit; the session that fits them, if there is one, must be its own or a copy of that.
pub(super) fn find_fitting(
    context: &Context,
    args: &ResumeArgs,
    session: Option<&ListedSession>,
) -> Result<Option<ResumedConversation>, CommandError> {
    let is_own = |one: &&Conversation| {
        session.is_none_or(|session| {
            let agent = session.agent.facts().id.to_owned();
            is_of_conversation(context, one, &SessionRef { agent, session: session.found.id.clone() })
        })
    };
    find_conversation(context, args, |all, words| match find_by_words(all, words) {
        Named::One(one) if is_own(&one) => Named::One(one),
        Named::Several(several) if session.is_some() => {
            several.into_iter().find(is_own).map_or(Named::Nothing, Named::One)
        }
        Named::Several(several) => Named::Several(several),
        _ => Named::Nothing,
    })
}

fn find_conversation(
    context: &Context,
    args: &ResumeArgs,
    find: impl for<'a> Fn(&'a [Conversation], &str) -> Named<'a>,
) -> Result<Option<ResumedConversation>, CommandError> {
    let Some(words) = args.session.session_words().filter(|_| args.file.is_none()) else { return Ok(None) };
    let root = project_root(context, args.project.as_deref());
    let listing = list_conversations(&root);
    let kept = match find(&listing.conversations, &words) {
        Named::Nothing => return Ok(None),
        Named::Several(several) => return Err(ambiguous_conversations(&words, &several)),
        Named::One(one) => one.clone(),
    };
    let at_home = find_at_home(context, &kept);
    let opened = if at_home.is_none() { open_kept(context, args, &kept)? } else { None };
    let conversation = opened.as_ref().map_or_else(|| kept.clone(), |opened| opened.conversation.clone());
    let saved = &conversation.saved;
    let command = find_current(context, &root, &saved.agent, &saved.agent_config);
    let session = match at_home {
        Some(session) => Some(session),
        None => find_messages(context, &kept, &conversation)?,
    };
    let status_before = RefCell::default();
    Ok(Some(ResumedConversation { root, kept, conversation, command, session, status_before, _opened: opened }))
}

/// Opens a conversation that is sealed.
fn open_kept(
    context: &Context,
    args: &ResumeArgs,
    kept: &Conversation,
) -> Result<Option<OpenedConversation>, CommandError> {
    if !kept.has_sealed {
        return Ok(None);
    }
    let key = args.unseal.choose_key(context, is_sealed_by_passphrase(kept)?)?;
    Ok(Some(open_sealed(context, kept, &key)?))
}

/// The session itself, while its agent has it.
fn find_at_home(context: &Context, conversation: &Conversation) -> Option<ListedSession> {
    let saved = &conversation.saved;
    if let (Some(agent), false) = (agent_by_name(&saved.agent), saved.session_id.is_empty()) {
        let query = Query { words: Some(saved.session_id.clone()), agent: Some(agent), ..Query::default() };
        let found = select::select_session(context, &query).ok().map(|selected| selected.session);
        return found.filter(|session| session.found.id == SessionId(saved.session_id.clone()));
    }
    None
}

/// The session that the messages are, known by where they are kept.
fn find_messages(
    context: &Context,
    kept: &Conversation,
    conversation: &Conversation,
) -> Result<Option<ListedSession>, CommandError> {
    if !conversation.has_messages {
        return Ok(None);
    }
    let mut session = session_in_file(context, &conversation.messages_file())?;
    if kept.has_sealed {
        session.found.source.key = Some(kept.messages_file().display().to_string());
    }
    Ok(Some(session))
}

impl ResumedConversation {
    /// Says which one it is.
    pub(super) fn announce(&self, ui: &mut Ui) -> Result<(), CommandError> {
        let saved = &self.conversation.saved;
        let (id, title) = (one_line(&self.conversation.id, 200), one_line(&saved.title, 120));
        ui.status("the conversation:")?;
        ui.status(format_args!("{DIM}{id}  {title}{DIM:#}"))?;
        Ok(())
    }

    /// The project that what is kept of it stands in: the session was held there, or somewhere else.
    pub(super) fn kept_project(&self) -> Option<PathBuf> {
        let is_kept = self.session.as_ref().is_some_and(|session| session.agent.as_captured().is_some());
        is_kept.then(|| self.root.clone())
    }

    /// What is damaged, or has changed since it was saved, for a target that gets the text of its command.
    pub(super) fn changes(&self, context: &Context, target: &Target) -> Vec<String> {
        let saved = &self.conversation.saved;
        let command = describe_change(&saved.agent, &saved.agent_config, self.command.as_ref());
        let damage = self.kept.damage.clone();
        damage.into_iter().chain(command).chain(self.missing_servers(context, target)).collect()
    }

    /// Servers of tools that a target lacks.
    pub(super) fn missing_servers(&self, context: &Context, target: &Target) -> Option<String> {
        let facts = agent_by_name(target.id)?.facts();
        missing_servers(context, &self.root, &self.conversation.saved.agent_config.tools, facts)
    }

    /// The words that it begins with in a target.
    pub(super) fn opening(&self, context: &Context, target: &str) -> String {
        render_opening(&self.conversation, self.command_for(target).as_ref(), context.env.now)
    }

    /// The words that stand before a brief.
    pub(super) fn short_opening(&self, context: &Context, target: &str) -> String {
        render_short_opening(&self.conversation, self.command_for(target).as_ref(), context.env.now)
    }

    /// Its command, as a target is to read it.
    fn command_for(&self, target: &str) -> Option<CurrentCommand> {
        let mut command = self.command.clone()?;
        if agent_by_name(target).is_some() {
            command.address_prompt(target);
        }
        Some(command)
    }

    /// Notes that it goes on.
    pub(super) fn mark_active(&self, context: &Context) -> Result<(), CommandError> {
        let note = set_status(context, &self.root, &self.kept, SavedStatus::Active)?;
        *self.status_before.borrow_mut() = note;
        Ok(())
    }

    /// Puts that to the session that it goes on in: both are taken back together. A copy that this one has replaced has
    /// taken it back with itself.
    pub(super) fn note_active(&self, context: &Context, undo_id: &str) -> Result<(), CommandError> {
        let again = set_status(context, &self.root, &self.kept, SavedStatus::Active)?;
        if let Some(note) = again.or_else(|| self.status_before.borrow_mut().take()) {
            note_status(context, undo_id, note)?;
        }
        Ok(())
    }

    /// Notes that it did not go on after all.
    pub(super) fn restore_status(&self, context: &Context) {
        if let Some(note) = self.status_before.borrow_mut().take() {
            // The first error is the one to tell.
            restore_status(context, &note).ok();
        }
    }

    /// Goes on from a prompt.
    pub(super) fn as_prompt(
        &self,
        ui: &mut Ui,
        context: &Context,
        target: &Target,
        args: &ResumeArgs,
        mut warnings: Vec<String>,
    ) -> Result<(), CommandError> {
        let saved = &self.conversation.saved;
        let budget = args.tokens.or(context.config.handoff.tokens).unwrap_or(target.budget);
        let prompt = self.render_prompt(context, target, args, budget, &mut warnings)?;
        let launch = args.launches_target(ui, context, target);
        let delivery = Delivery {
            source: saved.agent.clone(),
            session: saved.session_id.clone(),
            project: args.project.as_deref().map_or_else(|| self.root.clone(), resolve_path),
            target: Some(*target),
            copy: !launch,
            launch,
            dry_run: args.dry_run,
            extra_files: Vec::new(),
            unread: Unread::default(),
            warnings,
        };
        delivery.deliver(ui, context, &prompt)
    }

    fn render_prompt(
        &self,
        context: &Context,
        target: &Target,
        args: &ResumeArgs,
        budget: u64,
        warnings: &mut Vec<String>,
    ) -> Result<Prompt, CommandError> {
        let opening = self.opening(context, target.id);
        let Some(left) = budget.checked_sub(estimate(&opening)) else {
            let message = format!("its command alone needs more than {budget} tokens");
            return Err(CommandError::new(ErrorKind::CannotFit, message).with_hint("allow more with `--tokens N`"));
        };
        let name = name_speaker(context, &self.conversation.session_ref());
        let history = match self.messages(args, warnings)? {
            Some(messages) => {
                let recent = context.config.conversations.n_recent();
                let (text, dropped) = render_history(&messages, name, HistoryBudget { recent, tokens: left });
                if dropped > 0 {
                    warnings.push(format!("leaves out the {dropped} oldest of {} messages to fit", messages.len()));
                }
                text
            }
            None => self.document_text(left)?,
        };
        let text = format!("{opening}\n{history}");
        let tokens = estimate(&text);
        Ok(Prompt::from_rendered(ResumePrompt { text, tokens, dropped: Vec::new() }, budget))
    }

    /// What was said, from the session or from what is kept of it.
    fn messages(
        &self,
        args: &ResumeArgs,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Vec<SavedMessage>>, CommandError> {
        let of_session = self.session.as_ref().filter(|session| session.agent.as_captured().is_none());
        if let Some(session) = of_session {
            let uasf = build_canonical(session)?.uasf;
            return Ok(Some(save_messages(if args.no_redact { uasf } else { uasf.redacted() }).messages));
        }
        let Some((messages, unread)) = read_messages(&self.conversation)? else { return Ok(None) };
        if unread > 0 {
            warnings.push(format!("{unread} lines of its messages cannot be read"));
        }
        Ok(Some(messages))
    }

    /// The document, where nothing else is left.
    fn document_text(&self, tokens: u64) -> Result<String, CommandError> {
        let Some(document) = self.kept.read_document() else {
            let message = format!("nothing is left of {}: neither messages nor a document", self.conversation.name());
            return Err(CommandError::new(ErrorKind::NotFound, message));
        };
        let text = format!("## Document\n\n{document}");
        if estimate(&text) <= tokens {
            return Ok(text);
        }
        let path = self.kept.document_file();
        let inside = path.strip_prefix(&self.root).unwrap_or(&path).display().to_string();
        Ok(format!("## Document\n\nIt is too long to stand here: read {inside}.\n"))
    }

    /// Why no session is written.
    pub(super) fn explain_prompt(&self, facts: &Facts) -> String {
        format!("only the document of {} is left, so {} gets a prompt", self.conversation.id, facts.name)
    }
}
