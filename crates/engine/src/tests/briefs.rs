//! The briefs of every agent's fixtures, as the next agent would get them. No vendor is named: the list is walked.

use carryover_agents::{AGENTS, AgentError};
use carryover_core::distill::{Brief, Decision, Item, Voice, Workspace, distill, distill_heard};
use carryover_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::agents::fixtures;
use super::world::World;
use crate::select::{Query, SelectError, select};
use crate::story::{Telling, telling};

fn said(item: &Item) -> String {
    let voice = match item.voice {
        Voice::User => "user",
        Voice::Agent => "agent",
        Voice::Tool => "tool",
        Voice::Workspace => "workspace",
    };
    assert!(item.voice == Voice::Workspace || !item.cites.is_empty(), "a finding without a source");
    format!("{voice}: {}", item.text)
}

fn all(items: &[Item]) -> Vec<String> {
    items.iter().map(said).collect()
}

fn settled(decision: &Decision) -> String {
    let reason = decision.reason.as_ref().map(|reason| format!(" | {reason}")).unwrap_or_default();
    format!("{}{reason}", said(&decision.what))
}

/// What a brief says, without empty parts and without what every brief has.
fn in_short(brief: &Brief) -> Value {
    let failed = brief.failed.iter().map(|failed| {
        let reason = failed.reason.as_deref().unwrap_or_default();
        format!("{} | {reason} | {}", said(&failed.what), failed.tries)
    });
    let files = brief.files.iter().map(|file| {
        let tests = file.tests.map(|tests| format!(" {tests:?}")).unwrap_or_default();
        format!("{:?} {} {:?}{tests}", file.change, file.path, file.symbols)
    });
    let commands = brief.commands.iter().map(|run| {
        let tests = run.tests.as_ref().map(|tests| format!(" {tests}")).unwrap_or_default();
        format!("{} x{} -{} {:?}{tests}", run.command, run.runs, run.failures, run.exit_code)
    });
    let errors = brief
        .errors
        .iter()
        .map(|error| format!("{} => {}", said(&error.what), error.resolution.as_ref().map(said).unwrap_or_default()));
    let whole = json!({
        "task": brief.task.as_ref().map(said),
        "requests": all(&brief.requests),
        "done": all(&brief.done),
        "in_progress": all(&brief.in_progress),
        "remaining": all(&brief.remaining),
        "next": brief.next.as_ref().map(said),
        "decisions": brief.decisions.iter().map(settled).collect::<Vec<_>>(),
        "failed": failed.collect::<Vec<_>>(),
        "blockers": all(&brief.blockers),
        "questions": all(&brief.questions),
        "files": files.collect::<Vec<_>>(),
        "commands": commands.collect::<Vec<_>>(),
        "errors": errors.collect::<Vec<_>>(),
        "references": all(&brief.references),
        "action_items": all(&brief.action_items),
        "remarks": all(&brief.remarks),
        "limit": brief.limit.as_ref().map(|limit| said(&limit.what)),
        "commits": brief.commits.iter().map(|commit| &commit.subject).collect::<Vec<_>>(),
        "drift": all(&brief.drift.files),
        "tools": brief.tools,
    });
    let Value::Object(parts) = whole else { return whole };
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    Value::Object(parts.into_iter().filter(|(_, value)| !is_empty(value)).collect::<Map<_, _>>())
}

#[test]
fn every_fixture_has_its_brief() {
    let world = World::new();
    for agent in AGENTS {
        for path in fixtures(*agent) {
            let query = Query { words: Some(path.display().to_string()), ..Query::default() };
            let session = match select(&world.context, &query) {
                Ok(selected) => selected.session,
                Err(SelectError::Agent(AgentError::MissingBase { .. })) => continue,
                Err(error) => panic!("{}: {error}", path.display()),
            };
            let Ok(Telling { story, heard }) = telling(&session, false) else { continue };
            let root = story.header.project.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
            let workspace = Workspace { root, ..Workspace::default() };
            let brief = distill_heard(&story, &heard, &workspace, Timestamp::from_millis(1_800_000_000_000));
            // What was understood beforehand is the same as what is understood afterwards.
            let again = distill(&story, &workspace, Timestamp::from_millis(1_800_000_000_000));
            assert_eq!(serde_json::to_string(&brief).unwrap(), serde_json::to_string(&again).unwrap());
            let name = format!("{}-{}", agent.facts().id, path.file_stem().unwrap().to_string_lossy());
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!(name, serde_json::to_string_pretty(&in_short(&brief)).unwrap());
            });
        }
    }
}
