//! The ledger: what taking a session in costs against reading it, how much room it needs, how long a search takes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use carryover_agents::{Bookmark, Env, Os, Source};
use carryover_core::time::Timestamp;
use carryover_core::transcript::TranscriptBuilder;
use carryover_engine::context::Context;
use carryover_engine::ledger::Ledger;
use carryover_engine::ledger::search::SearchRequest;
use carryover_engine::own::config::Config;
use carryover_engine::sessions::select::session_in_file;
use serde_json::json;

use super::corpus::Random;
use super::figure::Figure;
use super::{Binaries, Result, child, measure_rivals};

/// Entries that are searched, and how long one search among them may take.
const SEARCHED: &[(u64, Duration)] = &[
    (10_000, Duration::from_millis(10)),
    (100_000, Duration::from_millis(50)),
    (1_000_000, Duration::from_millis(100)),
];
const ENTRIES_PER_SESSION: u64 = 200;
/// Words of which some are rare and some are in every entry.
const VOCABULARY: u64 = 20_000;

/// A rare word, a common one, two, a beginning, a name, a path, and a word of two letters without blanks.
const QUERIES: &[&str] = &["word15000", "word1", "word3 word40", "word12", "retryPolicy", "src/net/retry", "登录"];
const SEARCHES_PER_QUERY: u32 = 4;

pub(super) fn measure_all(binaries: &Binaries, folder: &Path, session: &Path) -> Result<Vec<Figure>> {
    let run = |what: &str, path: &Path| child::run_child(&binaries.xtask, &["bench-child", what], path);
    let (ingest, read) = measure_rivals(5, || run("ledger-ingest", session), || run("ledger-read", session))?;
    let size = fs_err::metadata(session)?.len();
    let ratio = Figure::from_ratio("ledger: take in 116 MB", ingest.elapsed, read.elapsed, 2.5, "reading all of it");
    let mut figures = vec![
        ratio.with_cpu_time(ingest.cpu, read.cpu),
        Figure::from_bytes("ledger: room for 116 MB", ingest.text_bytes, size / 2, "half of the store's"),
        Figure::from_bytes("ledger: peak of memory", ingest.peak_bytes, 100 << 20, "100 MB"),
    ];
    for (entries, limit) in SEARCHED {
        let home = make_talk(folder, *entries)?;
        run("ledger-fill", &home)?;
        let search = run("ledger-search", &home)?;
        figures.push(Figure::from_time(format!("ledger: search {entries} entries"), search.elapsed, *limit));
    }
    Ok(figures)
}

/// The child's side: what it counts, and how often it did it.
pub(super) fn do_work(what: &str, path: &Path) -> Result<(u64, u32)> {
    match what {
        "ledger-read" => Ok((read_whole(path)?, 1)),
        "ledger-ingest" => Ok((ingest_session(path)?, 1)),
        "ledger-fill" => Ok((fill_ledger(path)?, 1)),
        "ledger-search" => search_all(path),
        _ => Err(format!("no such work: {what}").into()),
    }
}

fn make_context(home: &Path, own: PathBuf) -> Context {
    let env = Env {
        home: home.to_owned(),
        vars: BTreeMap::new(),
        os: Os::Linux,
        now: Timestamp::from_millis(1_800_000_000_000),
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::new(),
        projects: Vec::new(),
    };
    Context::with_config(env, Config::default(), own, home.to_owned(), 1)
}

/// Every entry, in memory: the least that whoever wants all of a session does.
fn read_whole(session: &Path) -> Result<u64> {
    let agent = carryover_agents::agent_by_name("claude-code").ok_or("no such agent")?;
    let mut builder = TranscriptBuilder::new(agent.facts().id).keeping_everything();
    agent.read_session(&Source::file(session), &Bookmark::Start, &mut builder)?;
    Ok(black_box(builder.finish()).entries.len() as u64)
}

/// Takes a session in, its index not counted; tells how many bytes it then has.
fn ingest_session(session: &Path) -> Result<u64> {
    let folder = tempfile::tempdir_in(session.parent().ok_or("no folder")?)?;
    let context = make_context(folder.path(), folder.path().join("own"));
    let listed = session_in_file(&context, session)?;
    let mut ledger = Ledger::open(&context)?.ledger;
    ledger.take_in(&context, &listed)?;
    let bytes = ledger.disk_bytes();
    // Whoever keeps it open brings its log in later.
    std::mem::forget(ledger);
    Ok(bytes)
}

fn fill_ledger(home: &Path) -> Result<u64> {
    let own = home.join("own");
    if own.exists() {
        fs_err::remove_dir_all(&own)?;
    }
    let context = make_context(home, own);
    let mut ledger = Ledger::open(&context)?.ledger;
    ledger.bring_up_to_date(&context, &mut |_| ControlFlow::Continue(()))?;
    Ok(ledger.disk_bytes())
}

fn search_all(home: &Path) -> Result<(u64, u32)> {
    let ledger = Ledger::open_for_reading(&make_context(home, home.join("own")))?.ok_or("no ledger")?;
    let (mut found, mut times) = (0, 0);
    for words in QUERIES {
        let request = SearchRequest { words: (*words).to_owned(), limit: 10, ..SearchRequest::default() };
        for _ in 0..SEARCHES_PER_QUERY {
            let results = ledger.search(&request)?;
            if results.sessions.is_empty() {
                return Err(format!("{words} was not found").into());
            }
            found += results.n_sessions as u64;
            times += 1;
        }
    }
    Ok((found, times))
}

/// A home with sessions of so many entries, in which nothing but words is said.
fn make_talk(folder: &Path, entries: u64) -> Result<PathBuf> {
    let home = folder.join(format!("talk-{entries}"));
    let project = home.join(".claude/projects/-home-dev-project");
    if home.join("done").exists() {
        return Ok(home);
    }
    fs_err::create_dir_all(&project)?;
    let mut random = Random::new(7);
    for session in 0..entries / ENTRIES_PER_SESSION {
        let id = format!("00000000-0000-4000-8000-{session:012x}");
        let mut text = String::new();
        for entry in 0..ENTRIES_PER_SESSION {
            let role = if entry % 2 == 0 { "user" } else { "assistant" };
            let line = json!({
                "type": role, "uuid": format!("u{entry}"), "parentUuid": entry.checked_sub(1).map(|n| format!("u{n}")),
                "sessionId": id, "timestamp": "2026-11-15T00:00:00.000Z",
                "message": { "role": role, "content": [{ "type": "text", "text": make_words(&mut random) }] },
            });
            writeln!(text, "{line}")?;
        }
        fs_err::write(project.join(format!("{id}.jsonl")), text)?;
    }
    fs_err::write(home.join("done"), "")?;
    Ok(home)
}

/// Words as people use them: a few all the time, most of them seldom.
fn make_words(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..60 {
        let below = 1 + random.next_index(VOCABULARY) as u64;
        let _ = write!(text, "word{} ", random.next_index(below));
    }
    match random.next_index(50) {
        0 => text.push_str("in src/net/retryPolicy.rs"),
        1 => text.push_str("修复登录问题"),
        _ => {}
    }
    text
}
