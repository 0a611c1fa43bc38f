//! Every real agent's fixtures, carried to every agent and back. No vendor is named: the list of agents is walked.

use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent, AgentError};
use carryover_core::live::{self, Alive};
use carryover_core::transcript::{Body, Entry, Transcript, text_of};

use super::world::World;
use crate::resume::{Report, ResumeError, resume};
use crate::select::{Query, SelectError, select};
use crate::session::Listed;
use crate::undo::undo;
use crate::{journal, read};

fn fixtures(agent: &dyn Agent) -> Vec<PathBuf> {
    let folder = agent.facts().id.replace('-', "_");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/src").join(folder).join("fixtures");
    let files = fs_err::read_dir(path).unwrap().map(|file| file.unwrap().path());
    let is_session = |path: &PathBuf| path.extension().is_some_and(|end| end == "jsonl" || end == "md");
    let mut files: Vec<PathBuf> = files.filter(is_session).collect();
    files.sort();
    files
}

/// A copy of a fixture, as if it had been made in the world's project.
fn moved_in(world: &World, path: &Path) -> Option<PathBuf> {
    let name = path.file_name().unwrap().to_string_lossy();
    let text = fs_err::read_to_string(path).unwrap();
    let copy = world.write(&format!("in/{name}"), &text);
    let query = Query { words: Some(copy.display().to_string()), ..Query::default() };
    let project = match select(&world.context, &query) {
        Ok(selected) => selected.session.found.project,
        Err(SelectError::Agent(AgentError::MissingBase { .. })) => return None,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let Some(project) = project else { return Some(copy) };
    let here = world.path("project").display().to_string();
    Some(world.write(&format!("in/{name}"), &text.replace(&project.display().to_string(), &here)))
}

fn opened(world: &World, path: &Path) -> Listed {
    let query = Query { words: Some(path.display().to_string()), ..Query::default() };
    select(&world.context, &query).unwrap().session
}

/// Carries a session over; one with nothing in it or without its base is no matter of this test.
fn carried(world: &mut World, path: &Path, target: &'static dyn Agent) -> Option<Report> {
    world.context.seed += (1 << 96) + 1;
    let query = Query { words: Some(path.display().to_string()), ..Query::default() };
    let session = match select(&world.context, &query) {
        Ok(selected) => selected.session,
        Err(SelectError::Agent(AgentError::MissingBase { .. })) => return None,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    match resume(&world.context, &session, &World::options(target)) {
        Ok(report) => Some(report),
        Err(ResumeError::Empty | ResumeError::Agent(AgentError::MissingBase { .. })) => None,
        Err(error) => panic!("{} to {}: {error}", path.display(), target.facts().id),
    }
}

/// What the model would see, with names of calls replaced by their order.
fn context_of(world: &World, path: &Path) -> Vec<String> {
    let listed = opened(world, path);
    let transcript: Transcript = read::transcript(&listed, true).unwrap();
    let mut names: Vec<String> = Vec::new();
    let mut said = Vec::new();
    for alive in live::resolve(&transcript) {
        let (index, answer) = match alive {
            Alive::Entry(index) => (index, None),
            Alive::Answer { call, text } => (call, Some(text)),
        };
        let body = &transcript.entries[index].body;
        let mut number = |id: &str| {
            let known = names.iter().position(|name| name == id);
            known.unwrap_or_else(|| {
                names.push(id.to_owned());
                names.len() - 1
            })
        };
        if let (Body::Call(call), Some(text)) = (body, answer) {
            said.push(format!("outcome {} {text}", number(&call.id.0)));
            continue;
        }
        said.push(match body {
            Body::Call(call) => format!("call {} {} {}", number(&call.id.0), call.tool, call.input.as_str()),
            Body::Outcome(outcome) => format!("outcome {} {}", number(&outcome.call.0), text_of(&outcome.parts)),
            Body::Reasoning(reasoning) => format!("reasoning {}", reasoning.text),
            body => format!("{} {}", body.kind(), text_of(body.parts())),
        });
    }
    said
}

#[test]
fn every_fixture_goes_everywhere_and_undo_leaves_no_trace() {
    for source in AGENTS {
        for path in fixtures(*source) {
            for target in AGENTS {
                let mut world = World::new();
                // An agent may write beside the session that it is given.
                let Some(path) = moved_in(&world, &path) else { continue };
                let before = world.tree();
                if carried(&mut world, &path, *target).is_some() {
                    assert!(undo(&world.context, None, false).unwrap().warnings.is_empty());
                }
                assert_eq!(world.tree(), before, "{} to {}", path.display(), target.facts().id);
            }
        }
    }
}

#[test]
fn there_and_back_the_model_sees_the_same() {
    let mut tried = 0;
    for source in AGENTS {
        for path in fixtures(*source) {
            for target in AGENTS.iter().filter(|target| target.facts().id != source.facts().id) {
                let mut world = World::new();
                let Some(path) = moved_in(&world, &path) else { continue };
                let Some(over) = carried(&mut world, &path, *target) else { continue };
                let back = carried(&mut world, &over.files[0], *source).unwrap();
                let name = format!("{} by {}", path.display(), target.facts().id);
                assert_eq!(context_of(&world, &back.files[0]), context_of(&world, &path), "{name}");
                tried += 1;
            }
        }
    }
    assert!(tried > 10, "{tried}");
}

#[test]
fn the_same_agent_sees_the_same_again() {
    for source in AGENTS {
        for path in fixtures(*source) {
            let mut world = World::new();
            let Some(path) = moved_in(&world, &path) else { continue };
            let Some(again) = carried(&mut world, &path, *source) else { continue };
            assert_eq!(context_of(&world, &again.files[0]), context_of(&world, &path), "{}", path.display());
            assert!(journal::names(&world.context).len() == 1);
        }
    }
}

/// A summary that only its vendor's API can open means nothing to another agent, and that is said.
#[test]
fn a_sealed_summary_is_named_as_lost() {
    let is_sealed = |entry: &Entry| matches!(&entry.body, Body::Summary(parts) if parts.is_empty());
    let mut tried = 0;
    for source in AGENTS {
        for path in fixtures(*source) {
            let mut world = World::new();
            let Some(path) = moved_in(&world, &path) else { continue };
            if !read::transcript(&opened(&world, &path), true).unwrap().entries.iter().any(is_sealed) {
                continue;
            }
            for target in AGENTS {
                let report = carried(&mut world, &path, *target).unwrap();
                let is_lost = report.lost.iter().any(|loss| loss.what == "summary" && loss.count == 1);
                assert_eq!(is_lost, source.facts().id != target.facts().id, "{}", path.display());
                tried += 1;
            }
        }
    }
    assert!(tried > 1, "{tried}");
}
