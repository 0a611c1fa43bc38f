//! Which sessions a recording belongs to, by facts alone: project and time, and what the requests say.

use std::collections::BTreeSet;
use std::io;

use carryover_agents::Agent;
use serde_json::Value;

use super::archive::Recording;
use super::boundary::read_request;
use super::manifest::{MatchReason, MatchedSession};
use crate::context::Context;
use crate::sessions::glance::read_glance;
use crate::sessions::list::{Filter, ListedSession, list_sessions};

/// Clocks of files are coarser than ours.
const CLOCK_SLACK_MS: i64 = 2_000;
/// So many requests are looked at from either end; those between them say no more.
const LOOKED_AT: usize = 32;
/// A text that is longer is no name of a session.
const MAX_NAME_BYTES: usize = 4096;

/// The words of a recording's requests.
#[derive(Default)]
struct Said {
    /// Outside of the conversation: headers, and short members.
    names: BTreeSet<String>,
    /// In the conversation.
    texts: Vec<String>,
}

impl Recording {
    /// Finds the sessions of its agent, its project and its time that it belongs to, and notes them.
    pub fn match_sessions(&mut self, context: &Context, agent: &'static dyn Agent) -> io::Result<()> {
        let said = self.collect_said()?;
        let filter = Filter {
            agent: Some(agent),
            project: Some(self.manifest.project.clone()),
            include_left_out: true,
            words: Vec::new(),
        };
        let since = self.manifest.started_at.plus_millis(-CLOCK_SLACK_MS);
        let listing = list_sessions(&context.with_project(Some(&self.manifest.project)), &filter);
        let in_time = |session: &&ListedSession| session.found.updated_at.is_some_and(|at| at >= since);
        let sessions = listing.sessions.iter().filter(in_time);
        self.manifest.sessions = sessions.filter_map(|session| said.match_session(session)).collect();
        self.manifest.save(&self.folder)
    }

    fn collect_said(&self) -> io::Result<Said> {
        let exchanges = self.exchanges()?;
        let mut said = Said::default();
        let last_from = exchanges.len().saturating_sub(LOOKED_AT);
        for (index, exchange) in exchanges.iter().enumerate() {
            said.names.extend(exchange.request.headers.iter().map(|(_, value)| value.clone()));
            if index >= LOOKED_AT && index < last_from {
                continue;
            }
            // A body that cannot be read says nothing.
            let Ok(Some(request)) = read_request(self, exchange) else { continue };
            request.settings.values().for_each(|value| collect_names(value, &mut said.names));
            request.messages.iter().for_each(|message| collect_texts(message, &mut said.texts));
        }
        Ok(said)
    }
}

impl Said {
    fn match_session(&self, session: &ListedSession) -> Option<MatchedSession> {
        let id = &session.found.id.0;
        let matched = |by| MatchedSession { id: id.clone(), by };
        // A short id could stand anywhere.
        if id.len() >= 8 && self.names.iter().any(|name| name.contains(id.as_str())) {
            return Some(matched(MatchReason::SessionId));
        }
        let glance = read_glance(session, &|| false).ok()??.glance;
        let prompt = glance.first_prompt.filter(|prompt| !prompt.trim().is_empty())?;
        // It is one line, and clipped.
        let prompt = prompt.trim().trim_end_matches('…');
        let is_said = self.texts.iter().any(|text| text.contains(prompt));
        is_said.then(|| matched(MatchReason::FirstPrompt))
    }
}

fn collect_names(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.len() <= MAX_NAME_BYTES => {
            names.insert(text.clone());
        }
        Value::Object(fields) => fields.values().for_each(|value| collect_names(value, names)),
        _ => {}
    }
}

fn collect_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.split_whitespace().collect::<Vec<_>>().join(" ")),
        Value::Array(items) => items.iter().for_each(|item| collect_texts(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| collect_texts(value, texts)),
        _ => {}
    }
}
