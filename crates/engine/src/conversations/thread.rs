//! One conversation that was gone on with several times, in one agent or in several, and its saves.

use std::collections::BTreeSet;

use carryover_agents::agent_by_name;
use carryover_core::distill::{Event, History};

use super::folder::{Conversation, FOLDER};
use crate::context::Context;
use crate::sessions::copies::{Copies, SessionRef};

/// How far back sessions are followed.
const MAX_STEPS: usize = 100;
/// Who answers where several agents did.
const ANY_SPEAKER: &str = "Assistant";
/// So many of a session's first events may tell what it was begun with.
const FIRST_EVENTS: usize = 6;

/// The save of a session. One that went on from what is kept is named by the file.
pub(super) fn find_save<'a>(conversations: &'a [Conversation], session: &SessionRef) -> Option<&'a Conversation> {
    conversations.iter().find(|conversation| {
        let saved = &conversation.saved;
        let is_itself = !saved.session_id.is_empty() && saved.agent == session.agent;
        (is_itself && saved.session_id == session.session.0)
            || conversation.messages_file().as_os_str() == session.session.0.as_str()
    })
}

/// The save that a session goes on from: that of a session which it was carried from, or the one that its first prompt
/// names.
pub(super) fn find_predecessor<'a>(
    context: &Context,
    conversations: &'a [Conversation],
    session: &SessionRef,
    history: &History,
) -> Option<&'a Conversation> {
    find_carried_save(context, conversations, session).or_else(|| find_named_save(conversations, history))
}

/// The save of the session that one was carried from, however often.
fn find_carried_save<'a>(
    context: &Context,
    conversations: &'a [Conversation],
    session: &SessionRef,
) -> Option<&'a Conversation> {
    let copies = Copies::load(context);
    let mut at = session.clone();
    for _ in 0..MAX_STEPS {
        at = copies.origin_of(&at.agent, &at.session)?.source.clone();
        if let Some(save) = find_save(conversations, &at) {
            return Some(save);
        }
    }
    None
}

/// Who answers in a session, as it is told. In a copy of another agent's session, both do, and which of them said what is
/// not known line by line.
pub fn name_speaker(context: &Context, session: &SessionRef) -> &'static str {
    let copies = Copies::load(context);
    let mut at = session;
    for _ in 0..MAX_STEPS {
        let Some(origin) = copies.origin_of(&at.agent, &at.session) else { break };
        if origin.source.agent != session.agent {
            return ANY_SPEAKER;
        }
        at = &origin.source;
    }
    agent_by_name(&session.agent).map_or("The agent", |agent| agent.facts().name)
}

/// Whether a session is the one that was saved, or a copy of it.
pub fn is_of_conversation(context: &Context, conversation: &Conversation, session: &SessionRef) -> bool {
    let one = std::slice::from_ref(conversation);
    find_save(one, session).or_else(|| find_carried_save(context, one, session)).is_some()
}

/// The save that a resumed conversation's prompt names.
fn find_named_save<'a>(conversations: &'a [Conversation], history: &History) -> Option<&'a Conversation> {
    let texts = history.steps.iter().take(FIRST_EVENTS).filter_map(|step| match &step.event {
        Event::Prompt { text, .. } | Event::Attached { text } => Some(text.as_str()),
        Event::Call(call) => call.end.as_ref().map(|end| end.text.as_str()),
        _ => None,
    });
    let mut names = texts.filter_map(|text| text.split_once(super::opening::RESUMED_FROM)).map(|(_, rest)| rest);
    let place = names.find_map(|rest| rest.lines().next())?.trim().trim_end_matches('.');
    let name = place.strip_prefix(FOLDER)?.trim_start_matches('/');
    conversations.iter().find(|conversation| conversation.name() == name)
}

/// The saves of the conversation that one of them belongs to, in the order in which they were begun.
pub fn list_saves<'a>(conversations: &'a [Conversation], one: &Conversation) -> Vec<&'a Conversation> {
    let root = thread_name(one);
    let mut saves: Vec<&Conversation> = conversations.iter().filter(|other| thread_name(other) == root).collect();
    saves.sort_by_key(|save| (depth(conversations, save), save.name()));
    saves
}

/// The name of the first save of a conversation.
pub fn thread_name(conversation: &Conversation) -> String {
    conversation.saved.thread.clone().unwrap_or_else(|| conversation.name())
}

/// How many saves there are before one.
fn depth(conversations: &[Conversation], save: &Conversation) -> usize {
    let mut seen = BTreeSet::from([save.name()]);
    let mut at = save.saved.continues.clone();
    while let Some(name) = at.take().filter(|name| seen.insert(name.clone())) {
        at = conversations.iter().find(|other| other.name() == name).and_then(|other| other.saved.continues.clone());
    }
    seen.len() - 1
}

/// One save for each conversation, the one that was used last.
pub fn latest_saves(conversations: &[Conversation]) -> Vec<&Conversation> {
    let mut seen = BTreeSet::new();
    conversations.iter().filter(|conversation| seen.insert(thread_name(conversation))).collect()
}
