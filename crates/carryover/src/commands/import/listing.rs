//! `carryover import` alone: what can be gone on with, and what can be done with each.

mod menu;

use std::path::Path;

use carryover_core::plain::one_line;
use carryover_core::redact::redact_title;
use carryover_core::time::Timestamp;
use carryover_engine::capsule::recorded::list_recorded;
use carryover_engine::capsule::shelf::{ShelvedCapsule, client_version, list_capsules};
use carryover_engine::context::Context;
use carryover_engine::sessions::list::{Filter, ListedSession, list_sessions};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::args::Globals;
use crate::commands::capsule::name_fidelity;
use crate::error::{CommandError, ErrorKind, NO_AGENT_HINTS};
use crate::relative_time::format_when;
use crate::session_row::{abbreviate_home, cut_to_width};
use crate::short_id::ShortIds;
use crate::ui::{BOLD, DIM, Ui};

/// So many sessions are listed; `carryover list` knows them all.
const MAX_SESSIONS: usize = 20;

/// What the kinds mean.
const KINDS: &str = "a deterministic capsule goes on as its session would have where it was; best-effort is what an agent kept; \
                     `capsule export --raw` makes the first of a recorded session";

/// The listing, as `--json` tells it.
#[derive(Serialize)]
struct ListDocument {
    schema: &'static str,
    items: Vec<Item>,
    /// How many sessions there are, listed or not.
    sessions_total: usize,
}

/// A capsule or a session.
#[derive(Serialize)]
struct Item {
    /// `deterministic capsule`, `best-effort capsule`, `recorded session` or `best-effort`.
    kind: &'static str,
    /// What a capsule lacks to be deterministic; none for sessions.
    lacks: Option<Vec<String>>,
    id: String,
    agent: String,
    client_version: Option<String>,
    updated_at: Option<String>,
    folder: Option<String>,
    model: Option<String>,
    title: Option<String>,
    path: Option<String>,
    actions: Actions,
}

/// The command of each action, as words after `carryover`; none where there is nothing to do.
#[derive(Serialize)]
struct Actions {
    #[serde(rename = "continue")]
    go_on: Vec<String>,
    fork: Vec<String>,
    details: Vec<String>,
    export: Option<Vec<String>>,
}

/// Lists, and asks where somebody is there.
pub(super) fn list_importable(ui: &mut Ui, context: &Context, globals: Globals) -> Result<(), CommandError> {
    let listing = list_sessions(context, &Filter::default());
    let sessions_total = listing.sessions.len();
    let mut items: Vec<Item> = list_capsules(context).iter().map(capsule_item).collect();
    let sessions = &listing.sessions[..listing.sessions.len().min(MAX_SESSIONS)];
    let recorded = list_recorded(context, sessions);
    items.extend(sessions.iter().zip(recorded).map(|(session, is_recorded)| session_item(session, is_recorded)));
    if ui.is_json() {
        return Ok(ui.write_json(&ListDocument { schema: "carryover.import-list/1", items, sessions_total })?);
    }
    if items.is_empty() {
        let error = CommandError::new(ErrorKind::NoAgent, "no capsule and no session was found");
        return Err(NO_AGENT_HINTS.into_iter().fold(error, CommandError::with_hint));
    }
    let mut ids = ShortIds::from_sessions(&listing.sessions);
    for item in &items {
        ids.add(&item.id);
    }
    if ui.is_interactive() && !globals.yes {
        return menu::choose_item(ui, context, globals, &items, &ids, sessions_total.saturating_sub(MAX_SESSIONS));
    }
    for item in &items {
        write_lines(ui, &item_lines(ui, context, "", item, &ids))?;
    }
    if sessions_total > MAX_SESSIONS {
        ui.status(format_args!("{} more sessions: `carryover list`", sessions_total - MAX_SESSIONS))?;
    }
    ui.status(KINDS)?;
    ui.hint(
        "`carryover import ID` goes on with one, `--fork` with a copy; `carryover capsule export ID` packs a session",
    )?;
    Ok(())
}

/// The lines of an item: what it is called, and what tells it from others.
fn item_lines(ui: &Ui, context: &Context, number: &str, item: &Item, ids: &ShortIds) -> Vec<String> {
    let unknown = "–";
    let at = item.updated_at.as_deref().and_then(Timestamp::parse);
    let when = at.map_or_else(|| unknown.to_owned(), |at| format_when(at, &context.env, false));
    let id = one_line(ids.shorten(&item.id), 64);
    let room = ui.table_columns().saturating_sub(number.len() + id.width() + 2);
    let title = cut_to_width(&one_line(item.title.as_deref().unwrap_or("no title"), 80), room);
    let mut lines = vec![format!("{number}{BOLD}{id}{BOLD:#}  {title}")];
    let version = item.client_version.as_deref().unwrap_or(unknown);
    let folder =
        item.folder.as_deref().map_or_else(|| unknown.to_owned(), |folder| abbreviate_home(context, Path::new(folder)));
    let model = item.model.as_deref().unwrap_or(unknown);
    let indent = number.len() + 2;
    let facts = [item.kind.to_owned(), format!("{} {version}", item.agent), when, folder, model.to_owned()];
    let facts = facts.map(|fact| one_line(&fact, 200));
    let columns = ui.prose_columns().map(|columns| columns.saturating_sub(indent));
    let mut facts = join_facts(&facts, columns);
    facts.extend(item.lacks.iter().flatten().map(|lack| one_line(lack, 200)));
    lines.extend(facts.into_iter().map(|line| format!("{:indent$}{DIM}{line}{DIM:#}", "")));
    lines
}

fn write_lines(ui: &mut Ui, lines: &[String]) -> Result<(), CommandError> {
    lines.iter().try_for_each(|line| writeln!(ui.out(), "{line}"))?;
    Ok(())
}

/// Facts in lines, none of which is wider than the columns where a fact is not.
fn join_facts(facts: &[String], columns: Option<usize>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for fact in facts {
        match lines.last_mut() {
            Some(line) if columns.is_none_or(|columns| line.width() + 3 + fact.width() <= columns) => {
                line.push_str(" · ");
                line.push_str(fact);
            }
            _ => lines.push(fact.clone()),
        }
    }
    lines
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn capsule_item(capsule: &ShelvedCapsule) -> Item {
    let ShelvedCapsule { path, manifest } = capsule;
    let (source, path) = (&manifest.source, path.display().to_string());
    let lacks = match capsule.read_fidelity() {
        Ok(fidelity) => fidelity.lacks,
        Err(error) => vec![format!("it cannot be read: {error}")],
    };
    Item {
        kind: name_fidelity(&lacks),
        lacks: Some(lacks),
        id: manifest.id.clone(),
        agent: source.agent.clone(),
        client_version: source.client_version.clone(),
        updated_at: source.updated_at.clone(),
        folder: manifest.project.clone(),
        model: manifest.model.clone(),
        title: source.title.as_deref().map(|title| redact_title(title, &[])),
        actions: Actions {
            go_on: words(&["import", "--", &path]),
            fork: words(&["import", "--fork", "--", &path]),
            details: words(&["capsule", "inspect", "--", &path]),
            export: None,
        },
        path: Some(path),
    }
}

fn session_item(session: &ListedSession, is_recorded: bool) -> Item {
    let found = &session.found;
    let agent = session.agent.facts().id;
    // With its flag in one word, as an id may begin with anything.
    let (id, source) = (format!("--session={}", found.id), format!("--source={agent}"));
    let target = format!("--target={agent}");
    Item {
        kind: if is_recorded { "recorded session" } else { "best-effort" },
        lacks: None,
        id: found.id.0.clone(),
        agent: agent.to_owned(),
        client_version: client_version(session),
        updated_at: found.updated_at.map(|at| at.to_string()),
        folder: found.project.as_ref().map(|project| project.display().to_string()),
        model: found.model.clone(),
        title: found.title.as_deref().map(|title| redact_title(title, &[])),
        path: None,
        actions: Actions {
            go_on: words(&["resume", &id, &source, &target]),
            fork: words(&["resume", &id, &source, &target, "--fork"]),
            details: words(&["show", &id, &source]),
            export: Some(words(&["capsule", "export", &id, &source])),
        },
    }
}
