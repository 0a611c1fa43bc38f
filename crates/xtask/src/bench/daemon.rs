//! The daemon: how long a hook and a handoff take, and what it costs while nothing happens.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::child::{processor_time, resident_memory};
use super::figure::Figure;
use super::{Result, corpus};

const WATCHED_SESSIONS: u64 = 1_000;
const HOOK_CALLS: usize = 100;
const APPENDS: usize = 12;
const SMALL_BYTES: usize = 10 << 10;
const LARGE_BYTES: usize = 10 << 20;
const IDLE_TIME: Duration = Duration::from_secs(10);
/// A session that is published all the time is published more seldom, which is not what is measured.
const QUIET_TIME: Duration = Duration::from_millis(2_500);
/// Between two hooks, so that each finds a daemon at rest.
const HOOK_PAUSE: Duration = Duration::from_millis(60);
const PATIENCE: Duration = Duration::from_mins(1);

pub(super) fn measure_all(program: &Path) -> Result<Vec<Figure>> {
    let bench = Bench::create(program)?;
    let small = bench.make_session("small", SMALL_BYTES)?;
    let large = bench.make_session("large", LARGE_BYTES)?;
    let mut figures = vec![bench.measure_hook("hook, no daemon", &small, Duration::from_millis(50))?.0];
    let mut daemon = bench.start_daemon()?;
    bench.wait_until_kept()?;
    bench.time_append(&small, 0)?;
    std::thread::sleep(QUIET_TIME);
    figures.extend(measure_idle(daemon.id()));
    figures.push(bench.measure_ledger()?);
    for (name, session) in [("append to handoff, 10 KB", &small), ("append to handoff, 10 MB", &large)] {
        figures.push(bench.measure_appends(name, session)?);
    }
    let (figure, hook) = bench.measure_hook("hook, daemon up", &small, Duration::from_millis(15))?;
    figures.push(figure);
    if let Some(curl) = bench.measure_curl(&small)? {
        figures.push(Figure::from_ratio("hook, daemon up: median", hook, curl, 1.5, "curl with the same"));
    }
    daemon.kill()?;
    daemon.wait()?;
    Ok(figures)
}

/// What it costs while nothing happens.
fn measure_idle(process: u32) -> Vec<Figure> {
    let before = processor_time(process);
    std::thread::sleep(IDLE_TIME);
    let spent = processor_time(process).saturating_sub(before);
    let resident = resident_memory(process);
    vec![
        Figure::from_time("daemon: processor time of 10 s at rest", spent, Duration::from_millis(50)),
        Figure::from_bytes("daemon: memory after 1,000 sessions", resident, 30 << 20, "30 MB"),
    ]
}

/// A home with many sessions, and a project with two more.
struct Bench {
    folder: TempDir,
    home: PathBuf,
    program: PathBuf,
    port: u16,
}

/// A session that is appended to.
struct BenchSession {
    id: String,
    path: PathBuf,
}

impl Bench {
    fn create(program: &Path) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let home = corpus::make_many_sessions(folder.path(), WATCHED_SESSIONS, SMALL_BYTES / 4)?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let bench = Self { folder, home, program: program.to_owned(), port };
        fs_err::create_dir_all(bench.project())?;
        fs_err::create_dir(bench.own())?;
        #[cfg(unix)]
        fs_err::set_permissions(bench.own(), std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
        fs_err::write(bench.own().join("config.toml"), format!("[daemon]\nport = {port}\n"))?;
        fs_err::write(bench.project().join("main.rs"), "fn main() {}\n")?;
        let name = ["-c", "user.name=b", "-c", "user.email=b@localhost"];
        for args in [&["init", "--quiet"][..], &["add", "main.rs"], &["commit", "--quiet", "--message", "begin"]] {
            bench.run_quietly(Command::new("git").args(name).args(args).current_dir(bench.project()))?;
        }
        Ok(bench)
    }

    fn own(&self) -> PathBuf {
        self.home.join(".carryover")
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn run_quietly(&self, command: &mut Command) -> Result<Vec<u8>> {
        let output = command.env("HOME", &self.home).stderr(Stdio::null()).output()?;
        if output.status.success() { Ok(output.stdout) } else { Err(format!("{command:?} failed").into()) }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(self.project()).env_clear().env("HOME", &self.home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    /// A session of the project, of so many bytes at most.
    fn make_session(&self, name: &str, size: usize) -> Result<BenchSession> {
        let folder = self.folder.path().join(name);
        fs_err::create_dir(&folder)?;
        let whole = corpus::make_big_session(&folder, size)?;
        let id = format!("10000000-0000-4000-8000-{size:012x}");
        let project = self.project().display().to_string();
        let mut left = size;
        let fits = |line: &&str| left.checked_sub(line.len()).inspect(|rest| left = *rest).is_some();
        let text = fs_err::read_to_string(whole)?.split_inclusive('\n').take_while(fits).collect::<String>();
        let text = text.replace("/home/dev/project", &project).replace("00000000-0000-4000-8000-000000000001", &id);
        let path = self.home.join(format!(".claude/projects/-bench/{id}.jsonl"));
        fs_err::create_dir_all(path.parent().unwrap_or(&path))?;
        fs_err::write(&path, text)?;
        Ok(BenchSession { id, path })
    }

    fn start_daemon(&self) -> Result<Child> {
        let mut child = self.command(&["daemon", "run"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("no stream")?).lines();
        for line in lines.by_ref() {
            if line?.contains("watching") {
                break;
            }
        }
        // Nobody may make it wait.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(child)
    }

    fn read_status(&self) -> Result<Value> {
        Ok(serde_json::from_slice(&self.run_quietly(&mut self.command(&["status", "--json"]))?)?)
    }

    fn wait_until_kept(&self) -> Result<()> {
        let start = Instant::now();
        while self.read_status()?["daemon"]["ledger_sessions"].as_u64() < Some(WATCHED_SESSIONS) {
            if start.elapsed() > PATIENCE * 5 {
                return Err("the ledger was not made".into());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(())
    }

    fn measure_ledger(&self) -> Result<Figure> {
        let bytes = self.read_status()?["daemon"]["ledger_bytes"].as_u64().ok_or("no size is told")?;
        let stores = folder_bytes(&self.home.join(".claude"))?;
        Ok(Figure::from_bytes("ledger: room for 1,000 sessions", bytes, stores / 2, "half of the stores'"))
    }

    /// From a prompt in the session's file to the same in the project's handoff.
    fn time_append(&self, session: &BenchSession, number: usize) -> Result<Duration> {
        let words = format!("measure {} {number}", session.id);
        let uuid = format!("u-{number}");
        let now = jiff::Timestamp::now().to_string();
        let mut lines = String::new();
        let record = json!({ "type": "user", "uuid": uuid, "parentUuid": null, "isSidechain": false, "cwd": self.project(),
            "message": { "role": "user", "content": words }, "timestamp": now, "sessionId": session.id, "version": "2.1.325" });
        let last = json!({ "type": "last-prompt", "lastPrompt": words, "leafUuid": uuid, "sessionId": session.id });
        write!(lines, "{record}\n{last}\n")?;
        let handoff = self.project().join(".carryover/handoff.md");
        let mut file = fs_err::OpenOptions::new().append(true).open(&session.path)?;
        let start = Instant::now();
        file.write_all(lines.as_bytes())?;
        while !fs_err::read_to_string(&handoff).is_ok_and(|text| text.contains(&words)) {
            if start.elapsed() > PATIENCE {
                return Err("no handoff was published".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(start.elapsed())
    }

    fn measure_appends(&self, name: &str, session: &BenchSession) -> Result<Figure> {
        let mut times = Vec::new();
        for number in 1..=APPENDS {
            std::thread::sleep(QUIET_TIME);
            times.push(self.time_append(session, number)?);
        }
        Ok(figure_from_times(name, times, Duration::from_millis(300)).0)
    }

    fn payload(&self, session: &BenchSession) -> String {
        json!({ "session_id": session.id, "cwd": self.project(), "transcript_path": session.path, "prompt": "go on",
            "hook_event_name": "Stop" })
        .to_string()
    }

    /// The figure of a hook, and the median.
    fn measure_hook(&self, name: &str, session: &BenchSession, limit: Duration) -> Result<(Figure, Duration)> {
        let payload = self.payload(session);
        let times = time_calls(&payload, || self.command(&["hook", "claude-code", "Stop"]))?;
        Ok(figure_from_times(name, times, limit))
    }

    /// The median of the same request by `curl`; none where there is no such program.
    fn measure_curl(&self, session: &BenchSession) -> Result<Option<Duration>> {
        if Command::new("curl").arg("--version").output().is_err() {
            return Ok(None);
        }
        let token = fs_err::read_to_string(self.own().join("token"))?;
        let address = format!("http://127.0.0.1:{}/hook/claude-code/Stop", self.port);
        let times = time_calls(&self.payload(session), || {
            let mut command = Command::new("curl");
            command.args(["--silent", "--fail", "--data-binary", "@-", "--header"]);
            command.arg(format!("authorization: Bearer {}", token.trim())).arg(&address);
            command
        })?;
        Ok(Some(figure_from_times("", times, PATIENCE).1))
    }
}

fn time_calls(payload: &str, make_command: impl Fn() -> Command) -> Result<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..HOOK_CALLS {
        let mut command = make_command();
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let mut child = command.spawn()?;
        child.stdin.take().ok_or("no stream")?.write_all(payload.as_bytes())?;
        if !child.wait()?.success() {
            return Err("a call failed".into());
        }
        times.push(start.elapsed());
        std::thread::sleep(HOOK_PAUSE);
    }
    Ok(times)
}

/// The figure of what all but one in a hundred stay below, and the median.
fn figure_from_times(name: &str, mut times: Vec<Duration>, limit: Duration) -> (Figure, Duration) {
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() * percent).div_ceil(100).saturating_sub(1)];
    (Figure::from_time(format!("{name}: p99"), at(99), limit).with_median(at(50)), at(50))
}

fn folder_bytes(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        bytes += if metadata.is_dir() { folder_bytes(&entry.path())? } else { metadata.len() };
    }
    Ok(bytes)
}
