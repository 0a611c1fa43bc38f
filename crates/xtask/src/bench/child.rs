//! Work done in a process of its own, with its time, its peak of memory and the bytes that it read.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use carryover_agents::{Bookmark, Source, Store};
use carryover_core::transcript::TranscriptBuilder;
use serde::de::IgnoredAny;

use super::{Result, ledger, readers};

/// The costs of a run.
#[derive(Default)]
pub(super) struct Measurement {
    pub elapsed: Duration,
    /// The processor time of all its threads together.
    pub cpu: Duration,
    pub peak_bytes: u64,
    /// The bytes of text in what was read into memory.
    pub text_bytes: u64,
    /// The bytes that the process read from files.
    pub read_bytes: u64,
}

/// Runs a child of this program and takes what it prints.
pub(super) fn run_child(program: &Path, args: &[&str], path: &Path) -> Result<Measurement> {
    let output = Command::new(program).args(args).arg(path).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(format!("{args:?} failed").into());
    }
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<u64> = text.split_whitespace().map(str::parse).collect::<std::result::Result<_, _>>()?;
    let [micros, cpu, peak, text, read] = numbers[..] else { return Err("a child printed something else".into()) };
    Ok(Measurement {
        elapsed: Duration::from_micros(micros),
        cpu: Duration::from_micros(cpu),
        peak_bytes: peak,
        text_bytes: text,
        read_bytes: read,
    })
}

/// Resumes with the real binary.
pub(super) fn measure_resume(program: &Path, folder: &Path, session: &Path) -> Result<Measurement> {
    run_carryover(program, folder, session, &["resume", "--target", "codex"])
}

/// Hands over with the real binary.
pub(super) fn measure_handoff(program: &Path, folder: &Path, session: &Path) -> Result<Measurement> {
    run_carryover(program, folder, session, &["handoff", "--no-copy"])
}

/// Runs a command of the real binary in a home of its own, without any client installed.
fn run_carryover(program: &Path, folder: &Path, session: &Path, command: &[&str]) -> Result<Measurement> {
    let home = folder.join("home");
    if home.exists() {
        fs_err::remove_dir_all(&home)?;
    }
    fs_err::create_dir_all(&home)?;
    let start = Instant::now();
    let mut child = Command::new(program)
        .args(command)
        .args(["--source", "claude-code", "--json", "--project"])
        .arg(&home)
        .arg(session)
        .env_clear()
        .env("HOME", &home)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let (status, peak) = wait_with_peak(&mut child)?;
    let elapsed = start.elapsed();
    if !status.success() {
        let mut said = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().ok_or("no stderr")?, &mut said)?;
        return Err(format!("{command:?} failed: {said}").into());
    }
    Ok(Measurement { elapsed, peak_bytes: peak, ..Measurement::default() })
}

/// Waits for a process to end, and tells the most memory that it had.
pub(super) fn wait_with_peak(child: &mut Child) -> Result<(ExitStatus, u64)> {
    let mut peak = 0;
    loop {
        // The high-water mark only rises, so looking now and then finds it; looking all the time would slow what is measured.
        peak = peak.max(peak_memory(child.id()));
        if let Some(status) = child.try_wait()? {
            return Ok((status, peak));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// How often a child reads an agent's session: processor time is counted in hundredths of a second.
const READS_PER_RUN: u32 = 5;

/// The child's side: does the work and prints times, peak, text and bytes read.
pub(super) fn do_work(what: &str, path: &Path) -> Result<()> {
    let start = Instant::now();
    let mut times = 1;
    let text = match what {
        "nothing" => return Ok(()),
        "skip" => skip_lines(path)?,
        "read" => read_session(path)?,
        "history" => read_history(path)?,
        "list" => list_sessions(path)?,
        _ if what.starts_with("ledger-") => {
            let (counted, done) = ledger::do_work(what, path)?;
            times = done;
            counted
        }
        _ => match what.split_once(':') {
            Some((what @ ("read" | "floor"), agent)) => {
                times = READS_PER_RUN;
                let work = if what == "read" { readers::read_session } else { readers::read_floor };
                (0..READS_PER_RUN).try_fold(0, |_, _| work(agent, path))?
            }
            _ => return Err(format!("no such work: {what}").into()),
        },
    };
    let (elapsed, cpu) = (start.elapsed() / times, processor_time(std::process::id()) / times);
    let peak = peak_memory(std::process::id());
    let read = proc_number(&format!("/proc/{}/io", std::process::id()), "rchar:");
    #[expect(clippy::print_stdout, reason = "the parent reads it")]
    {
        println!("{} {} {peak} {text} {read}", elapsed.as_micros(), cpu.as_micros());
    }
    Ok(())
}

/// Prints nothing but a time that was taken inside of the work.
pub(super) fn print_time(elapsed: Duration) {
    #[expect(clippy::print_stdout, reason = "the parent reads it")]
    {
        println!("{} 0 0 0 0", elapsed.as_micros());
    }
}

/// The floor: every line checked to be JSON, nothing kept.
pub(super) fn skip_lines(path: &Path) -> Result<u64> {
    let mut reader = BufReader::with_capacity(1 << 20, fs_err::File::open(path)?);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        black_box(serde_json::from_slice::<IgnoredAny>(&line)?);
        line.clear();
    }
    Ok(0)
}

fn read_session(path: &Path) -> Result<u64> {
    let agent = carryover_agents::agent_by_name("claude-code").ok_or("no such agent")?;
    let mut builder = TranscriptBuilder::new(agent.facts().id);
    let source = Source { path: path.to_path_buf(), key: None };
    agent.read_session(&source, &Bookmark::Start, &mut builder)?;
    let transcript = black_box(builder.finish());
    Ok(transcript.entries.iter().map(|entry| entry.body.text_len() as u64).sum())
}

/// Reads a session whole, as a brief needs it: also what its compactions took away.
fn read_history(path: &Path) -> Result<u64> {
    let agent = carryover_agents::agent_by_name("claude-code").ok_or("no such agent")?;
    let source = Source { path: path.to_path_buf(), key: None };
    Ok(black_box(carryover_engine::handoff::history::read_source(agent, &source)?).steps.len() as u64)
}

fn list_sessions(home: &Path) -> Result<u64> {
    let agent = carryover_agents::agent_by_name("claude-code").ok_or("no such agent")?;
    let mut found = BTreeMap::new();
    agent.list_sessions(&Store { root: home.join(".claude") }, &mut |session| {
        found.insert(session.id.clone(), session);
        ControlFlow::Continue(())
    })?;
    if found.len() == 480 { Ok(0) } else { Err(format!("{} of 480 sessions were found", found.len()).into()) }
}

/// The most memory that a process has held, in bytes.
pub(super) fn peak_memory(process: u32) -> u64 {
    proc_number(&format!("/proc/{process}/status"), "VmHWM:") * 1024
}

/// The memory that a process holds now, in bytes.
pub(super) fn resident_memory(process: u32) -> u64 {
    proc_number(&format!("/proc/{process}/status"), "VmRSS:") * 1024
}

/// The processor time of a process, by the kernel's ticks of a hundredth of a second.
pub(super) fn processor_time(process: u32) -> Duration {
    let stat = fs_err::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name of the program stands in brackets and may hold anything.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11);
    Duration::from_millis(fields.take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10)
}

fn proc_number(file: &str, field: &str) -> u64 {
    let text = fs_err::read_to_string(file).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(field));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
