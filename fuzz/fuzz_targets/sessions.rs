//! Feeds bytes to an agent's reader as a whole file, then in two steps, and resolves the live context. The first byte says
//! whose file it is; agents with a database read it as an export or a log of older clients.

#![no_main]

use std::io::Write;

use carryover_agents::{AGENTS, Agent, Bookmark, Source};
use carryover_core::live;
use carryover_core::transcript::{Transcript, TranscriptBuilder};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Some((first, file)) = bytes.split_first() {
        check(AGENTS[usize::from(*first) % AGENTS.len()], file);
    }
});

fn check(agent: &dyn Agent, bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("00000000-0000-4000-8000-000000000001.jsonl");
    let source = Source { path: path.clone(), key: None };
    std::fs::write(&path, bytes).expect("a file");
    let Some(whole) = read(agent, &source) else { return };
    live::resolve(&whole);
    for entry in whole.entries.iter().take(50) {
        let _ = agent.reload(&whole.header, entry.key);
    }
    if let Some(stepped) = read_in_steps(agent, &source, bytes) {
        assert_eq!(stepped.entries, whole.entries);
    }
}

fn read(agent: &dyn Agent, source: &Source) -> Option<Transcript> {
    let mut builder = TranscriptBuilder::new(agent.facts().id).keeping_everything();
    agent.read(source, &Bookmark::Start, &mut builder).ok()?;
    Some(builder.finish())
}

/// The file grows between two readings. Its head must not change, so it is cut after its first kilobyte.
fn read_in_steps(agent: &dyn Agent, source: &Source, bytes: &[u8]) -> Option<Transcript> {
    let cut = (bytes.len() / 2).max(1024);
    if cut >= bytes.len() {
        return None;
    }
    std::fs::write(&source.path, &bytes[..cut]).ok()?;
    let mut builder = TranscriptBuilder::new(agent.facts().id).keeping_everything();
    let bookmark = agent.read(source, &Bookmark::Start, &mut builder).ok()?;
    std::fs::OpenOptions::new().append(true).open(&source.path).ok()?.write_all(&bytes[cut..]).ok()?;
    agent.read(source, &bookmark, &mut builder).ok()?;
    Some(builder.finish())
}
