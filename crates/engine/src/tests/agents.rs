//! Every real agent's fixtures, carried to every agent and back. No vendor is named: the list of agents is walked.

use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent, AgentError};
use carryover_core::live::{self, LiveItem};
use carryover_core::transcript::{Body, Entry, Transcript, text_of};

use super::importing::{self, ImportingDisk};
use super::world::World;
use crate::carry::resume::{Report, ResumeError, resume_among};
use crate::sessions::list::ListedSession;
use crate::sessions::read;
use crate::sessions::select::{Query, SelectError, select_session};
use crate::watch::own_copies::OwnCopies;
use crate::write::journal;
use crate::write::undo::{UndoError, undo_resume};

/// The agents that sessions can be written into.
fn list_targets() -> impl Iterator<Item = &'static &'static dyn Agent> {
    AGENTS.iter().filter(|agent| agent.writer().is_some())
}

pub(super) fn list_fixtures(agent: &dyn Agent) -> Vec<PathBuf> {
    let folder = agent.facts().id.replace('-', "_");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/src").join(folder).join("fixtures");
    let files = fs_err::read_dir(path).unwrap().map(|file| file.unwrap().path());
    let is_session =
        |path: &PathBuf| path.extension().is_some_and(|end| ["jsonl", "json", "md"].iter().any(|known| end == *known));
    let mut files: Vec<PathBuf> = files.filter(is_session).collect();
    files.sort();
    files
}

/// A copy of a fixture, as if it had been made in the world's project.
fn copy_fixture(world: &World, path: &Path) -> Option<PathBuf> {
    let name = path.file_name().unwrap().to_string_lossy();
    let text = fs_err::read_to_string(path).unwrap();
    let copy = world.write_file(&format!("in/{name}"), &text);
    let query = Query { words: Some(copy.display().to_string()), ..Query::default() };
    let project = match select_session(&world.context, &query) {
        Ok(selected) => selected.session.found.project,
        Err(SelectError::Agent(AgentError::MissingBase { .. })) => return None,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let Some(project) = project else { return Some(copy) };
    let here = world.path("project").display().to_string();
    Some(world.write_file(&format!("in/{name}"), &text.replace(&project.display().to_string(), &here)))
}

fn open_session(world: &World, words: &str) -> ListedSession {
    let query = Query { words: Some(words.to_owned()), ..Query::default() };
    select_session(&world.context, &query).unwrap().session
}

/// Carries a session over; one with nothing in it or without its base is no matter of this test.
fn carry_over(world: &mut World, words: &str, target: &'static dyn Agent) -> Option<Report> {
    world.context.seed += (1 << 96) + 1;
    let query = Query { words: Some(words.to_owned()), ..Query::default() };
    let session = match select_session(&world.context, &query) {
        Ok(selected) => selected.session,
        Err(SelectError::Agent(AgentError::MissingBase { .. })) => return None,
        Err(error) => panic!("{words}: {error}"),
    };
    let disk = &mut ImportingDisk { is_broken: false };
    match resume_among(AGENTS, disk, &world.context, &session, &World::resume_options(target)) {
        Ok(report) => Some(report),
        Err(ResumeError::Empty(_) | ResumeError::Agent(AgentError::MissingBase { .. })) => None,
        Err(error) => panic!("{words} to {}: {error}", target.facts().id),
    }
}

/// The words that find a session which was carried over: its file, or its id where a file holds several.
fn words_for(report: &Report) -> String {
    report.files.first().map_or_else(|| report.session.0.clone(), |file| file.display().to_string())
}

fn path_words(path: &Path) -> String {
    path.display().to_string()
}

/// The live context, with names of calls replaced by their order.
fn context_of(world: &World, words: &str) -> Vec<String> {
    let listed = open_session(world, words);
    let transcript: Transcript = read::full_transcript(&listed, true).unwrap();
    let mut names: Vec<String> = Vec::new();
    let mut said = Vec::new();
    for alive in live::resolve_context(&transcript) {
        let mut number = |id: &str| {
            let known = names.iter().position(|name| name == id);
            known.unwrap_or_else(|| {
                names.push(id.to_owned());
                names.len() - 1
            })
        };
        let index = match alive {
            LiveItem::Entry(index) => index,
            LiveItem::Answer { text, call } => {
                let Body::Call(call) = &transcript.entries[call].body else { continue };
                said.push(format!("outcome {} {text}", number(&call.id.0)));
                continue;
            }
        };
        said.push(match &transcript.entries[index].body {
            Body::Call(call) => format!("call {} {} {}", number(&call.id.0), call.tool, call.input.to_value()),
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
        for path in list_fixtures(*source) {
            for target in list_targets() {
                let mut world = World::with_clients(&[*target]);
                // An agent may write beside the session that it is given.
                let Some(path) = copy_fixture(&world, &path) else { continue };
                let mut before = world.read_tree();
                if let Some(report) = carry_over(&mut world, &path_words(&path), *target) {
                    assert!(undo_resume(&world.context, None, false).unwrap().warnings.is_empty());
                    // A client that takes sessions in itself makes a store of its own when it is first started.
                    if report.files.is_empty() {
                        before = world.read_tree();
                        carry_over(&mut world, &path_words(&path), *target).unwrap();
                        assert!(world.read_tree() != before);
                        assert!(undo_resume(&world.context, None, false).unwrap().warnings.is_empty());
                    }
                }
                assert_eq!(world.read_tree(), before, "{} to {}", path.display(), target.facts().id);
            }
        }
    }
}

#[test]
fn there_and_back_the_model_sees_the_same() {
    let mut tried = 0;
    for source in list_targets() {
        for path in list_fixtures(*source) {
            for target in list_targets().filter(|target| target.facts().id != source.facts().id) {
                let mut world = World::with_clients(&[*source, *target]);
                let Some(path) = copy_fixture(&world, &path) else { continue };
                let Some(over) = carry_over(&mut world, &path_words(&path), *target) else { continue };
                let back = carry_over(&mut world, &words_for(&over), *source).unwrap();
                let name = format!("{} by {}", path.display(), target.facts().id);
                assert_eq!(context_of(&world, &words_for(&back)), context_of(&world, &path_words(&path)), "{name}");
                tried += 1;
            }
        }
    }
    assert!(tried > 10, "{tried}");
}

#[test]
fn the_same_agent_sees_the_same_again() {
    for source in list_targets() {
        for path in list_fixtures(*source) {
            let mut world = World::with_clients(&[*source]);
            let Some(path) = copy_fixture(&world, &path) else { continue };
            let Some(again) = carry_over(&mut world, &path_words(&path), *source) else { continue };
            assert_eq!(
                context_of(&world, &words_for(&again)),
                context_of(&world, &path_words(&path)),
                "{}",
                path.display()
            );
            assert!(journal::list_ids(&world.context).len() == 1);
        }
    }
}

/// A summary that only its vendor's API can open means nothing to another agent, and that is said.
#[test]
fn a_sealed_summary_is_named_as_lost() {
    let is_sealed = |entry: &Entry| matches!(&entry.body, Body::Summary(parts) if parts.is_empty());
    let mut tried = 0;
    for source in AGENTS {
        for path in list_fixtures(*source) {
            let mut world = World::with_clients(AGENTS);
            let Some(path) = copy_fixture(&world, &path) else { continue };
            if !read::full_transcript(&open_session(&world, &path_words(&path)), true)
                .unwrap()
                .entries
                .iter()
                .any(is_sealed)
            {
                continue;
            }
            for target in list_targets() {
                let report = carry_over(&mut world, &path_words(&path), *target).unwrap();
                let is_lost = report.lost.iter().any(|loss| loss.what == "summary" && loss.count == 1);
                assert_eq!(is_lost, source.facts().id != target.facts().id, "{}", path.display());
                tried += 1;
            }
        }
    }
    assert!(tried > 1, "{tried}");
}

/// The targets that take sessions in by a command of their own, each with a session of another agent in a world of its own.
fn with_commands() -> Vec<(World, PathBuf, &'static dyn Agent)> {
    let mut found = Vec::new();
    for target in list_targets() {
        let other = AGENTS.iter().find(|source| source.facts().id != target.facts().id).unwrap();
        let path = list_fixtures(*other).into_iter().next().unwrap();
        let mut world = World::with_clients(&[*target]);
        let path = copy_fixture(&world, &path).unwrap();
        if carry_over(&mut world, &path_words(&path), *target).is_some_and(|report| report.files.is_empty()) {
            undo_resume(&world.context, None, false).unwrap();
            found.push((world, path, *target));
        }
    }
    assert!(!found.is_empty());
    found
}

#[test]
fn a_command_that_fails_half_way_leaves_nothing() {
    for (world, path, target) in with_commands() {
        let before = world.read_tree();
        let session = open_session(&world, &path_words(&path));
        let disk = &mut ImportingDisk { is_broken: true };
        let result = resume_among(AGENTS, disk, &world.context, &session, &World::resume_options(target));
        assert!(matches!(result, Err(ResumeError::Run { .. })));
        assert_eq!(world.read_tree(), before);
        assert!(journal::read_all(&world.context).iter().all(|journal| journal.state == journal::State::Undone));
    }
}

#[test]
fn a_client_that_is_needed_and_missing_is_named() {
    for (world, path, target) in with_commands() {
        let before = world.read_tree();
        world.uninstall(target);
        let session = open_session(&world, &path_words(&path));
        let disk = &mut ImportingDisk { is_broken: false };
        let error = resume_among(AGENTS, disk, &world.context, &session, &World::resume_options(target)).unwrap_err();
        let told = error.to_string();
        assert!(told.contains("not installed") && told.contains(target.facts().name), "{told}");
        assert_eq!(world.read_tree(), before);
    }
}

#[test]
fn rows_that_somebody_went_on_in_are_not_taken_back() {
    for (mut world, path, target) in with_commands() {
        let before = world.read_tree();
        let report = carry_over(&mut world, &path_words(&path), target).unwrap();
        let rows = journal::read_all(&world.context).remove(0).rows;
        importing::append_message(&rows, &report.session.0);
        assert!(matches!(undo_resume(&world.context, None, false), Err(UndoError::Used { .. })));
        undo_resume(&world.context, None, true).unwrap();
        assert_eq!(world.read_tree(), before);
    }
}

#[test]
fn the_same_session_again_takes_the_place_of_unused_rows() {
    for (mut world, path, target) in with_commands() {
        let first = carry_over(&mut world, &path_words(&path), target).unwrap();
        let second = carry_over(&mut world, &path_words(&path), target).unwrap();
        assert_eq!(second.superseded, Some(first.session.0));
    }
}

/// A record of ours that its client changed is what the client says it is.
#[test]
fn rows_that_were_changed_are_carried_as_they_are() {
    for (mut world, path, target) in with_commands() {
        let over = carry_over(&mut world, &path_words(&path), target).unwrap();
        let rows = journal::read_all(&world.context).remove(0).rows;
        importing::change_last_text(&rows, &over.session.0);
        let source = open_session(&world, &path_words(&path)).agent;
        let back = carry_over(&mut world, &words_for(&over), source).unwrap();
        let (before, after) = (context_of(&world, &path_words(&path)), context_of(&world, &words_for(&back)));
        let differing: Vec<&String> = after.iter().filter(|said| !before.contains(said)).collect();
        assert!(matches!(differing[..], [said] if said.ends_with("SOMETHING ELSE")), "{differing:?}");
    }
}

/// Whether the watcher takes a session for a copy that nobody has used.
fn is_untouched(world: &World, session: &str) -> bool {
    let listed = open_session(world, session);
    let size = fs_err::metadata(&listed.found.source.path).unwrap().len();
    OwnCopies::default().is_untouched(&world.context, listed.agent.facts().id, &listed.found, size)
}

#[test]
fn a_copy_in_any_agent_is_not_in_use_until_somebody_goes_on() {
    let source = AGENTS[0];
    let path = list_fixtures(source).remove(0);
    for target in list_targets() {
        let mut world = World::with_clients(&[*target]);
        let path = copy_fixture(&world, &path).unwrap();
        let report = carry_over(&mut world, &path_words(&path), *target).unwrap();
        let name = target.facts().id;
        assert!(is_untouched(&world, &report.session.0), "{name}");
        if let Some(file) = report.files.first() {
            World::append_lines(file, &["{}"]);
        } else {
            let rows = journal::read_all(&world.context).remove(0).rows;
            importing::append_message(&rows, &report.session.0);
        }
        assert!(!is_untouched(&world, &report.session.0), "{name}");
    }
}
