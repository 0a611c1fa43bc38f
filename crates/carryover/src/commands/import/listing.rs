//! `carryover import` alone: what can be gone on with, and what can be done with each.

use std::path::Path;

use carryover_core::plain::one_line;
use carryover_core::redact::redact_title;
use carryover_core::time::Timestamp;
use carryover_engine::capsule::shelf::{ShelvedCapsule, client_version, list_capsules};
use carryover_engine::context::Context;
use carryover_engine::sessions::list::{Filter, ListedSession, list_sessions};
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::args::Globals;
use crate::commands::front::run_words;
use crate::error::{CommandError, ErrorKind, NO_AGENT_HINTS};
use crate::relative_time::format_when;
use crate::session_row::{abbreviate_home, cut_to_width};
use crate::ui::{BOLD, DIM, Ui};

/// So many sessions are listed; `carryover list` knows them all.
const MAX_SESSIONS: usize = 20;

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
    /// `deterministic capsule` or `best-effort`.
    kind: &'static str,
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
    items.extend(listing.sessions.iter().take(MAX_SESSIONS).map(session_item));
    if ui.is_json() {
        return Ok(ui.write_json(&ListDocument { schema: "carryover.import-list/1", items, sessions_total })?);
    }
    if items.is_empty() {
        let error = CommandError::new(ErrorKind::NoAgent, "no capsule and no session was found");
        return Err(NO_AGENT_HINTS.into_iter().fold(error, CommandError::with_hint));
    }
    let is_asked = ui.is_interactive() && !globals.yes;
    for (index, item) in items.iter().enumerate() {
        let number = if is_asked { format!("{:>2}  ", index + 1) } else { String::new() };
        write_item(ui, context, &number, item)?;
    }
    if sessions_total > MAX_SESSIONS {
        ui.status(format_args!("{} more sessions: `carryover list`", sessions_total - MAX_SESSIONS))?;
    }
    if is_asked {
        return choose_item(ui, globals, &items);
    }
    ui.hint(
        "`carryover import ID` goes on with one, `--fork` with a copy; `carryover capsule export ID` packs a session",
    )?;
    Ok(())
}

fn write_item(ui: &mut Ui, context: &Context, number: &str, item: &Item) -> Result<(), CommandError> {
    let unknown = "–";
    let at = item.updated_at.as_deref().and_then(Timestamp::parse);
    let when = at.map_or_else(|| unknown.to_owned(), |at| format_when(at, &context.env, false));
    let id = item.id.get(..8).unwrap_or(&item.id);
    let room = ui.table_columns().saturating_sub(number.len() + id.len() + 2);
    let title = cut_to_width(&one_line(item.title.as_deref().unwrap_or("no title"), 80), room);
    writeln!(ui.out(), "{number}{BOLD}{id}{BOLD:#}  {title}")?;
    let version = item.client_version.as_deref().unwrap_or(unknown);
    let folder =
        item.folder.as_deref().map_or_else(|| unknown.to_owned(), |folder| abbreviate_home(context, Path::new(folder)));
    let model = item.model.as_deref().unwrap_or(unknown);
    let indent = number.len() + 2;
    let facts = [item.kind.to_owned(), format!("{} {version}", item.agent), when, folder, model.to_owned()];
    let facts = facts.map(|fact| one_line(&fact, 200));
    for line in join_facts(&facts, ui.prose_columns().map(|columns| columns.saturating_sub(indent))) {
        writeln!(ui.out(), "{:indent$}{DIM}{line}{DIM:#}", "")?;
    }
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

fn choose_item(ui: &mut Ui, globals: Globals, items: &[Item]) -> Result<(), CommandError> {
    let answer = ui.ask_choice("which one? (number, or q to leave)")?.ok_or_else(CommandError::left)?;
    let item = answer.parse::<usize>().ok().and_then(|number| items.get(number.checked_sub(1)?));
    let item = item.ok_or_else(|| CommandError::usage("that is none of the numbers"))?;
    let export = if item.actions.export.is_some() { ", (e)xport" } else { "" };
    let question = format!("(c)ontinue, (f)ork, (d)etails{export}, or (q) to leave");
    let answer = ui.ask_choice(&question)?.ok_or_else(CommandError::left)?;
    let words = match answer.to_lowercase().as_str() {
        "c" | "continue" => Some(&item.actions.go_on),
        "f" | "fork" => Some(&item.actions.fork),
        "d" | "details" => Some(&item.actions.details),
        "e" | "export" => item.actions.export.as_ref(),
        _ => None,
    };
    run_words(ui, globals, words.ok_or_else(|| CommandError::usage("that is none of the letters"))?)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn capsule_item(capsule: &ShelvedCapsule) -> Item {
    let ShelvedCapsule { path, manifest } = capsule;
    let (source, path) = (&manifest.source, path.display().to_string());
    Item {
        kind: "deterministic capsule",
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

fn session_item(session: &ListedSession) -> Item {
    let found = &session.found;
    let agent = session.agent.facts().id;
    // With its flag in one word, as an id may begin with anything.
    let (id, source) = (format!("--session={}", found.id), format!("--source={agent}"));
    let target = format!("--target={agent}");
    Item {
        kind: "best-effort",
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
