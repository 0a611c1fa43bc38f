//! One suggestion to save, given to an agent with the user's own prompt: when the user seems to stop, or when a session has
//! become long and was never saved. Nothing is saved by it, and a session gets one at most.

use std::path::PathBuf;

use carryover_agents::{HookEvent, HookKind, RunMode};
use carryover_core::farewell::ends_conversation;
use carryover_core::transcript::SessionId;
use serde::{Deserialize, Serialize};

use super::folder::{conversation_root, list_conversations};
use super::thread::find_save;
use crate::context::Context;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::sessions::copies::SessionRef;

/// A session with so many prompts is long.
const LONG_PROMPTS: u32 = 40;

const SCHEMA: &str = "carryover.suggestions/1";
const MAX_SESSIONS: usize = 500;
const MAX_BYTES: u64 = 1 << 20;

const AT_END: &str = "The user seems to end this conversation.";
const AT_LENGTH: &str = "This conversation has become long and was not saved.";
const OFFER: &str = "You may offer once to save it in the project with `carryover save`, which masks secrets; `carryover resume` \
                     goes on with it later. Save nothing unless the user agrees, and do not ask again.";

/// What is known of sessions whose prompts were counted, the oldest first. It holds no words.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct PromptCounts {
    schema: String,
    sessions: Vec<CountedSession>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct CountedSession {
    /// A digest of the agent and the session's name.
    key: Fingerprint,
    prompts: u32,
    is_suggested: bool,
}

/// The words for the agent, where it is time for them.
pub fn suggest_save(context: &Context, event: &HookEvent, prompt: &str) -> Option<String> {
    let is_wanted = context.config.conversations.suggest != Some(false) && event.kind == HookKind::Prompt;
    if !is_wanted || event.is_sub_agent || event.run_mode == RunMode::Headless {
        return None;
    }
    let session = event.session.as_ref()?;
    let mut counts = PromptCounts::load(context);
    let counted = counts.count_prompt(event.agent, session);
    let reason = if counted.is_suggested {
        None
    } else if ends_conversation(prompt) {
        Some(AT_END)
    } else if counted.prompts >= LONG_PROMPTS && !is_saved(context, event, session) {
        Some(AT_LENGTH)
    } else {
        None
    };
    counted.is_suggested |= reason.is_some();
    // What is not remembered would be suggested again.
    counts.save(context).ok()?;
    reason.map(|reason| format!("{reason} {OFFER}"))
}

fn is_saved(context: &Context, event: &HookEvent, session: &SessionId) -> bool {
    let Some(folder) = &event.folder else { return false };
    let saved = list_conversations(&conversation_root(context, folder)).conversations;
    find_save(&saved, &SessionRef { agent: event.agent.to_owned(), session: session.clone() }).is_some()
}

fn counts_path(context: &Context) -> PathBuf {
    context.home.join("suggestions.json")
}

impl PromptCounts {
    fn load(context: &Context) -> Self {
        let bytes = files::read_bounded(&counts_path(context), MAX_BYTES).ok().flatten();
        let counts = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        counts.filter(|counts| counts.schema == SCHEMA).unwrap_or_default()
    }

    fn save(&mut self, context: &Context) -> std::io::Result<()> {
        SCHEMA.clone_into(&mut self.schema);
        let excess = self.sessions.len().saturating_sub(MAX_SESSIONS);
        self.sessions.drain(..excess);
        files::write_cached(&counts_path(context), &serde_json::to_vec(self)?)
    }

    /// One more prompt of a session, which is the newest now.
    fn count_prompt(&mut self, agent: &str, session: &SessionId) -> &mut CountedSession {
        let key = Fingerprint::from_bytes(agent.as_bytes()).extend_with(b"\0").extend_with(session.0.as_bytes());
        let known = self.sessions.iter().position(|counted| counted.key == key).map(|at| self.sessions.remove(at));
        let mut counted = known.unwrap_or(CountedSession { key, prompts: 0, is_suggested: false });
        counted.prompts = counted.prompts.saturating_add(1);
        self.sessions.push(counted);
        let last = self.sessions.len() - 1;
        &mut self.sessions[last]
    }
}
