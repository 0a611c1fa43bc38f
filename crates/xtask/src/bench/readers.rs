//! Every agent's reader against its raw floor: the least that must be done to have seen the same bytes.
//!
//! Readers of lines work on two threads. Where the machine is busy, the time on the clock says little of them, so
//! processor time, which counts both threads, is told beside it.

use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;

use carryover_agents::{AGENTS, Bookmark};
use carryover_core::transcript::TranscriptBuilder;
use carryover_testkit::lab::BenchPlace;
use rusqlite::{Connection, OpenFlags};

use super::child::{self, Measurement};
use super::events;
use super::figure::Figure;
use super::stores;
use super::{Binaries, Result, measure_rivals};

/// How often each of the two is measured.
const RUNS: usize = 9;

pub(super) fn measure_all(binaries: &Binaries, home: &Path) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for agent in AGENTS.iter().map(|agent| agent.facts()) {
        let run =
            |what: &str| child::run_child(&binaries.xtask, &["bench-child", &format!("{what}:{}", agent.id)], home);
        let (ours, floor): (Measurement, Measurement) = measure_rivals(RUNS, || run("read"), || run("floor"))?;
        let than = match stores::big_session(home, agent.id)?.0 {
            BenchPlace::Lines(_) => "a validating skip",
            BenchPlace::Markdown(_) => "a scan of the lines",
            BenchPlace::Rows(_) => "a SELECT of the same rows",
            BenchPlace::Events(_) => "a SELECT of the same rows, unpacked",
        };
        let name = format!("read {} MB of {}", floor.text_bytes >> 20, agent.name);
        let figure = Figure::from_ratio(name, ours.elapsed, floor.elapsed, 2.0, than);
        figures.push(figure.with_cpu_time(ours.cpu, floor.cpu));
    }
    Ok(figures)
}

/// Reads the big session of an agent as a resume does; tells the bytes of text in it.
pub(super) fn read_session(agent: &str, home: &Path) -> Result<u64> {
    let (_, source) = stores::big_session(home, agent)?;
    let agent = carryover_agents::agent_by_name(agent).ok_or("no such agent")?;
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    agent.read_session(&source, &Bookmark::Start, &mut builder)?;
    let transcript = black_box(builder.finish());
    Ok(transcript.entries.iter().map(|entry| entry.body.text_len() as u64).sum())
}

/// Does the least that can be done; tells how many bytes were seen.
pub(super) fn read_floor(agent: &str, home: &Path) -> Result<u64> {
    let (place, source) = stores::big_session(home, agent)?;
    match place {
        BenchPlace::Lines(_) => {
            child::skip_lines(&source.path)?;
            Ok(fs_err::metadata(&source.path)?.len())
        }
        BenchPlace::Markdown(_) => scan_lines(&source.path),
        BenchPlace::Rows(_) => select_rows(&source.path, source.key.as_deref().unwrap_or_default()),
        BenchPlace::Events(_) => events::select_events(&source.path, source.key.as_deref().unwrap_or_default()),
    }
}

fn scan_lines(path: &Path) -> Result<u64> {
    let mut reader = BufReader::new(fs_err::File::open(path)?);
    let (mut line, mut seen) = (Vec::new(), 0);
    while reader.read_until(b'\n', &mut line)? > 0 {
        seen += black_box(&line).len() as u64;
        line.clear();
    }
    Ok(seen)
}

fn select_rows(path: &Path, session: &str) -> Result<u64> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut seen = 0;
    for query in [
        "SELECT id, data FROM message WHERE session_id = ?1 ORDER BY time_created, id",
        "SELECT id, data FROM part WHERE session_id = ?1",
    ] {
        let mut query = connection.prepare(query)?;
        let mut rows = query.query([session])?;
        while let Some(row) = rows.next()? {
            seen += black_box(row.get_ref(1)?.as_str()?).len() as u64;
        }
    }
    Ok(seen)
}
