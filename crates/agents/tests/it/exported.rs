//! A session that is taken out of a file of many says what it said there.

use std::path::{Path, PathBuf};

use carryover_agents::{AGENTS, Agent, Bookmark, Source};
use carryover_core::transcript::{TranscriptBuilder, text_of};

fn list_fixtures(agent: &dyn Agent) -> Vec<PathBuf> {
    let folder = agent.facts().id.replace('-', "_");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder).join("fixtures");
    let files = fs_err::read_dir(path).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.is_file()).collect()
}

/// What is said in a session, without where it stands. What an agent finds in the project around it is not in it.
fn told(agent: &dyn Agent, source: &Source) -> Option<Vec<String>> {
    let mut builder = TranscriptBuilder::new(agent.facts().id).keeping_everything();
    agent.read_session(source, &Bookmark::Start, &mut builder).ok()?;
    let transcript = builder.finish();
    let said = transcript.entries.iter().filter(|entry| ["prompt", "reply", "summary"].contains(&entry.body.kind()));
    Some(said.map(|entry| format!("{:?} {}", entry.origin, text_of(entry.body.parts()))).collect())
}

#[test]
fn a_session_says_the_same_as_a_document_of_its_own() {
    let mut tried = 0;
    for agent in AGENTS {
        for path in list_fixtures(*agent) {
            let source = Source::file(&path);
            let (Ok(Some(exported)), Some(before)) = (agent.export_session(&source), told(*agent, &source)) else {
                continue;
            };
            let folder = tempfile::tempdir().unwrap();
            let copy = folder.path().join(exported.name);
            fs_err::write(&copy, exported.pieces.concat()).unwrap();
            let head = fs_err::read(&copy).unwrap();
            assert!(agent.recognises(&copy, &head[..head.len().min(4096)]), "{}", path.display());
            assert_eq!(told(*agent, &Source::file(&copy)).unwrap(), before, "{}", path.display());
            tried += 1;
        }
    }
    assert!(tried > 4, "{tried}");
}
