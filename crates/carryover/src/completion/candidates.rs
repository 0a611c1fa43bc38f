//! The words that could come next: sessions, resumes to take back, settings and their values.

use std::ffi::OsStr;

use carryover_agents::{AGENTS, Agent, Facts, Liveness, all_facts};
use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::conversations::{Conversation, conversation_root, list_conversations};
use carryover_engine::own::config::{self, ValueKind};
use carryover_engine::sessions::list::ListedSession;
use carryover_engine::sessions::recent::recent_sessions;
use carryover_engine::write::undo;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter};

use crate::bucket::hide_secrets;
use crate::process_env;
use crate::relative_time::format_ago;
use crate::short_id::ShortIds;

/// Who looks for an older one types some of its id, or asks `list`.
const MAX_SESSIONS: usize = 50;
/// A shorter word is not taken for an id.
const MIN_ID_BYTES: usize = 4;
/// Descriptions stand beside the words, most often in a narrow column.
const MAX_TITLE_CHARS: usize = 60;

/// Completes a session, by its id or a file.
pub(super) struct SessionCompleter {
    pub(super) agent: Option<&'static dyn Agent>,
    /// A conversation that is kept in the project will do, too.
    pub(super) has_conversations: bool,
    /// The words so far.
    pub(super) words: Vec<String>,
}

impl ValueCompleter for SessionCompleter {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        let Some(typed) = current.to_str() else { return Vec::new() };
        if typed.starts_with(['/', '.', '~']) {
            return PathCompleter::any().complete(current);
        }
        if typed.starts_with('@') {
            return vec![described("@last", "the newest session of all")];
        }
        let Ok(context) = process_env::open_context() else { return Vec::new() };
        let sessions = recent_sessions(&context, self.agent, MAX_SESSIONS);
        // One is enough: what follows it is no session.
        let is_named = |session: &ListedSession| self.is_named(&session.found.id.0, typed);
        if sessions.iter().any(is_named) {
            return Vec::new();
        }
        let mut candidates = session_candidates(&context, &sessions, typed);
        if self.has_conversations && self.agent.is_none() {
            candidates.extend(kept_conversations(&context, typed));
        }
        candidates
    }
}

impl SessionCompleter {
    /// Whether one of the other words is this session.
    fn is_named(&self, id: &str, typed: &str) -> bool {
        self.words.iter().any(|word| word != typed && word.len() >= MIN_ID_BYTES && id.starts_with(word.as_str()))
    }
}

fn session_candidates(context: &Context, sessions: &[ListedSession], typed: &str) -> Vec<CompletionCandidate> {
    let ids = ShortIds::from_sessions(sessions);
    let candidate = |session: &ListedSession| {
        let id = &session.found.id.0;
        let fitting = [ids.shorten(id), id].into_iter().find(|id| id.starts_with(typed) && is_plain_word(id))?;
        Some(described(fitting, &describe_session(context, session)))
    };
    sessions.iter().filter_map(candidate).collect()
}

/// Conversations of this project, by their ids.
pub(super) fn conversation_candidates() -> Vec<CompletionCandidate> {
    process_env::open_context().map(|context| kept_conversations(&context, "")).unwrap_or_default()
}

fn kept_conversations(context: &Context, typed: &str) -> Vec<CompletionCandidate> {
    let kept = list_conversations(&conversation_root(context, &context.cwd)).conversations;
    let fitting = kept.iter().filter(|one| one.id.starts_with(typed) && is_plain_word(&one.id)).take(MAX_SESSIONS);
    let describe = |one: &Conversation| {
        let (status, title) = (one.saved.status.name(), one_line(&one.saved.title, MAX_TITLE_CHARS));
        described(&one.id, &format!("{}, {status}: {title}", one.saved.conversation_type))
    };
    fitting.map(describe).collect()
}

/// The types that most conversations are of.
pub(super) fn type_candidates() -> Vec<CompletionCandidate> {
    ["brainstorm", "debug", "plan", "learn", "conversation"].map(CompletionCandidate::new).into()
}

/// As `codex, 2 h ago: fix the parser`.
fn describe_session(context: &Context, session: &ListedSession) -> String {
    let age = match (session.found.live, session.found.updated_at) {
        (Liveness::Live, _) => "open now".to_owned(),
        (_, Some(at)) => format_ago(at, context.env.now),
        (_, None) => "–".to_owned(),
    };
    let title = one_line(session.found.title.as_deref().unwrap_or("(no title)"), MAX_TITLE_CHARS);
    format!("{}, {age}: {title}", session.agent.facts().id)
}

/// Resumes that can be taken back, the last one first.
pub(super) fn undo_candidates() -> Vec<CompletionCandidate> {
    let Ok((context, _)) = process_env::context_or_defaults() else { return Vec::new() };
    let resumes = undo::list_undoable(&context).into_iter().filter(|resume| is_plain_word(&resume.id));
    let candidate = |resume: undo::Undoable| {
        let (ago, title) = (format_ago(resume.at, context.env.now), resume.title.as_deref().unwrap_or("–"));
        let title = one_line(title, MAX_TITLE_CHARS);
        let (from, to) = (one_line(&resume.source, 40), one_line(&resume.target, 40));
        described(&resume.id, &format!("{from} → {to}, {ago}: {title}"))
    };
    resumes.map(candidate).collect()
}

/// The files that others can follow, and agents, whose file is then meant.
pub(super) fn memory_candidates() -> Vec<CompletionCandidate> {
    let mut names: Vec<&str> = all_facts().flat_map(Facts::instruction_files).collect();
    names.sort_unstable();
    names.dedup();
    let files = names.into_iter().map(CompletionCandidate::new);
    files.chain(all_facts().map(|facts| described(facts.id, facts.name))).collect()
}

/// The keys of the configuration.
pub(super) fn key_candidates() -> Vec<CompletionCandidate> {
    let names = |key: &config::Key| match key.name.strip_suffix("<agent>") {
        Some(table) => AGENTS.iter().map(|agent| format!("{table}{}", agent.facts().id)).collect(),
        None if key.name.contains("<name>") => {
            remote_names().iter().map(|remote| key.name.replace("<name>", remote)).collect()
        }
        None => vec![key.name.to_owned()],
    };
    config::all_keys().iter().flat_map(|key| names(key).into_iter().map(|name| described(&name, key.doc))).collect()
}

/// The remotes that were added.
pub(super) fn remote_candidates() -> Vec<CompletionCandidate> {
    let Ok(context) = process_env::open_context() else { return Vec::new() };
    let remotes = context.config.remotes.iter();
    remotes.map(|(name, remote)| described(name, &hide_secrets(&remote.url))).collect()
}

fn remote_names() -> Vec<String> {
    process_env::open_context().map(|context| context.config.remotes.into_keys().collect()).unwrap_or_default()
}

/// The values that a key takes, where they can be named.
pub(super) fn value_candidates(dotted: &str) -> Vec<CompletionCandidate> {
    let kind = config::find_key(dotted).map(|key| key.kind);
    match kind {
        Some(ValueKind::Agent | ValueKind::Agents) => {
            AGENTS.iter().map(|agent| described(agent.facts().id, agent.facts().name)).collect()
        }
        Some(ValueKind::Protocol) => config::PROTOCOLS.map(CompletionCandidate::new).into(),
        Some(ValueKind::Notification) => config::NOTIFICATIONS.map(CompletionCandidate::new).into(),
        Some(ValueKind::Switch) => ["true", "false"].map(CompletionCandidate::new).into(),
        Some(ValueKind::Tokens) => ["32000", "100000", "200000"].map(CompletionCandidate::new).into(),
        Some(ValueKind::Count) => ["10", "20", "50"].map(CompletionCandidate::new).into(),
        Some(ValueKind::Seconds) => ["10", "30", "60"].map(CompletionCandidate::new).into(),
        Some(ValueKind::Days) => ["0", "90", "365"].map(CompletionCandidate::new).into(),
        Some(ValueKind::Port) => ["0", "47823"].map(CompletionCandidate::new).into(),
        Some(ValueKind::Address | ValueKind::Paths | ValueKind::Recipients) | None => Vec::new(),
    }
}

fn described(word: &str, description: &str) -> CompletionCandidate {
    CompletionCandidate::new(word).help(Some(description.to_owned().into()))
}

/// A word that every shell takes as it is; an id is a file's word, and may be anything.
fn is_plain_word(word: &str) -> bool {
    !word.starts_with('-') && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_read_is_not_offered() {
        assert!(is_plain_word("d3a03cdd-c689") && is_plain_word("ses_4f.2"));
        for word in ["$(id)", "a b", "--force", "*", "a:b", "a\u{1b}", "a;b", "`x`"] {
            assert!(!is_plain_word(word), "{word:?}");
        }
    }

    #[test]
    fn every_key_that_takes_one_of_some_words_offers_them() {
        for key in config::all_keys() {
            let name = key.name.replace("<agent>", "codex").replace("<name>", "origin");
            let offers = !value_candidates(&name).is_empty();
            let is_free = matches!(key.kind, ValueKind::Address | ValueKind::Paths | ValueKind::Recipients);
            assert_eq!(offers, !is_free, "{}", key.name);
        }
        assert!(value_candidates("no.such").is_empty());
    }
}
