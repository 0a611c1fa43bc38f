//! A capsule in a remote, as it is told.

use std::path::Path;

use carryover_agents::agent_by_name;
use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::share::remote::PushedCapsule;
use serde::Serialize;

use crate::quantity::{format_bytes, format_count};
use crate::relative_time::format_when;
use crate::session_row::{abbreviate_home, cut_to_width};
use crate::ui::{BOLD, DIM};

const NO_TITLE: &str = "(no title)";

/// A capsule in a remote, as `--json` tells it.
#[derive(Serialize)]
pub(in crate::commands) struct PushedRow<'a> {
    capsule_id: &'a str,
    source: &'a str,
    session_id: &'a str,
    title: Option<&'a str>,
    project: Option<&'a str>,
    folder: Option<&'a str>,
    model: Option<&'a str>,
    started_at: Option<&'a str>,
    updated_at: Option<&'a str>,
    pushed_at: &'a str,
    messages: u64,
    files: u64,
    file_bytes: u64,
    bytes: u64,
    redacted: bool,
    raw: bool,
    prompts: &'a [String],
}

impl<'a> PushedRow<'a> {
    pub(in crate::commands) fn new(pushed: &'a PushedCapsule) -> Self {
        Self {
            capsule_id: &pushed.capsule,
            source: &pushed.agent,
            session_id: &pushed.session_id,
            title: pushed.title.as_deref(),
            project: pushed.project.as_deref(),
            folder: pushed.folder.as_deref(),
            model: pushed.model.as_deref(),
            started_at: pushed.started_at.as_deref(),
            updated_at: pushed.updated_at.as_deref(),
            pushed_at: &pushed.pushed_at,
            messages: pushed.messages,
            files: pushed.files,
            file_bytes: pushed.file_bytes,
            bytes: pushed.bytes,
            redacted: pushed.redacted,
            raw: pushed.raw,
            prompts: &pushed.prompts,
        }
    }
}

/// A capsule in two lines: what it is called, and what it is.
pub(in crate::commands) fn describe_pushed(context: &Context, pushed: &PushedCapsule, width: usize) -> [String; 2] {
    let title = one_line(pushed.title.as_deref().unwrap_or(NO_TITLE), 200);
    let title = cut_to_width(&title, width.saturating_sub(2));
    let agent = agent_by_name(&pushed.agent).map_or(pushed.agent.as_str(), |agent| agent.facts().name);
    let at = pushed.updated_at.as_deref().and_then(Timestamp::parse);
    let when = at.map_or_else(|| "–".to_owned(), |at| format_when(at, &context.env, false));
    let to_count = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    let folder = pushed.folder.as_deref().map(|folder| abbreviate_home(context, Path::new(folder)));
    let facts = [
        when,
        one_line(agent, 40),
        format_count(to_count(pushed.messages), "message", "messages"),
        folder.map_or_else(|| "no folder".to_owned(), |folder| one_line(&folder, 60)),
        format!("{}, {}", format_count(to_count(pushed.files), "file", "files"), format_bytes(pushed.bytes)),
    ];
    [format!("{BOLD}{title}{BOLD:#}"), format!("  {}  {DIM}{}{DIM:#}", pushed.capsule, facts.join(" · "))]
}

/// The same in one line, for a question and for an error.
pub(in crate::commands) fn describe_briefly(context: &Context, pushed: &PushedCapsule) -> String {
    let at = pushed.updated_at.as_deref().and_then(Timestamp::parse);
    let when = at.map_or_else(|| "–".to_owned(), |at| format_when(at, &context.env, true));
    let title = one_line(pushed.title.as_deref().unwrap_or(NO_TITLE), 80);
    format!("{}  {}  {when}  {title}", pushed.capsule, one_line(&pushed.agent, 20))
}
