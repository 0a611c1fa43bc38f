//! Starts a process with a cleared environment and ends it by its id when its time is up.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::ClientError;

/// No single client run takes longer.
pub const RUN_LIMIT: Duration = Duration::from_mins(1);

/// A program to run; the environment is exactly `env`.
#[derive(Clone, Debug)]
pub struct Launch {
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: PathBuf,
}

/// The exit status and the output of a program that has ended.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    program: String,
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Launch {
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: Vec::new(), env: Vec::new(), cwd: cwd.into() }
    }

    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn env(mut self, env: impl IntoIterator<Item = (String, String)>) -> Self {
        self.env.extend(env);
        self
    }

    pub(super) fn program_name(&self) -> String {
        program_name(&self.program)
    }

    pub(super) fn build_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(self.env.iter().cloned()).current_dir(&self.cwd);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        own_group(&mut command);
        command
    }

    pub fn start(&self) -> Result<RunningProgram, ClientError> {
        self.spawn(self.build_command())
    }

    /// Starts a program that is typed to.
    pub fn start_with_stdin(&self) -> Result<RunningProgram, ClientError> {
        let mut command = self.build_command();
        command.stdin(Stdio::piped());
        self.spawn(command)
    }

    fn spawn(&self, mut command: Command) -> Result<RunningProgram, ClientError> {
        let source = |source| ClientError::NotStarted { program: self.program_name(), source };
        let mut child = command.spawn().map_err(source)?;
        let stdout = read_in_background(child.stdout.take());
        let stderr = read_in_background(child.stderr.take());
        Ok(RunningProgram { program: self.program_name(), child, output: Some((stdout, stderr)) })
    }

    /// Runs to the end; a non-zero exit is not an error here.
    pub fn run(&self, limit: Duration) -> Result<FinishedRun, ClientError> {
        self.start()?.finish(limit)
    }

    /// Runs to the end and wants success.
    pub fn run_to_success(&self, limit: Duration) -> Result<FinishedRun, ClientError> {
        self.run(limit)?.ensure_success()
    }
}

/// A program that runs; it is ended when dropped.
pub struct RunningProgram {
    program: String,
    child: Child,
    output: Option<(JoinHandle<String>, JoinHandle<String>)>,
}

impl RunningProgram {
    /// Waits for the end.
    pub fn finish(mut self, limit: Duration) -> Result<FinishedRun, ClientError> {
        let waited = wait_for_exit(&mut self.child, limit);
        // Also after a normal end: what the client left running in its group would keep the pipes open.
        kill_group(&mut self.child);
        let program = self.program.clone();
        let Some(status) = waited? else {
            return Err(ClientError::TimedOut { program, limit });
        };
        let join = |reader: JoinHandle<String>| reader.join().unwrap_or_default();
        let (stdout, stderr) = self.output.take().map(|(out, err)| (join(out), join(err))).unwrap_or_default();
        Ok(FinishedRun { program, status, stdout, stderr })
    }

    /// Types a line, where the program was started for it.
    pub fn type_line(&mut self, line: &str) -> Result<(), ClientError> {
        if let Some(stdin) = &mut self.child.stdin {
            writeln!(stdin, "{line}")?;
            stdin.flush()?;
        }
        Ok(())
    }

    /// Ends what is typed; most programs end then.
    pub fn close_stdin(&mut self) {
        drop(self.child.stdin.take());
    }

    /// Interrupts the program alone, as a terminal's interrupt key would; it may end itself in order.
    pub fn interrupt(&self) {
        if cfg!(unix) {
            let mut kill = Command::new("kill");
            kill.args(["-INT", "--", &self.child.id().to_string()]).stdout(Stdio::null()).stderr(Stdio::null());
            // It fails when the program is gone already, which is an end as well.
            drop(kill.status());
        }
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        kill_group(&mut self.child);
    }
}

impl FinishedRun {
    /// Wants success.
    pub fn ensure_success(self) -> Result<Self, ClientError> {
        if self.status.success() {
            return Ok(self);
        }
        let said = if self.stderr.trim().is_empty() { &self.stdout } else { &self.stderr };
        let stderr = said.chars().take(600).collect();
        Err(ClientError::Failed { program: self.program, status: self.status.to_string(), stderr })
    }
}

pub(super) fn program_name(program: &Path) -> String {
    program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}

fn read_in_background(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A broken pipe leaves what came before it.
            drop(pipe.read_to_end(&mut bytes));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the end, `None` when the limit passed.
pub(super) fn wait_for_exit(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>, ClientError> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Clients are often wrappers around a native process: each gets its own group, so that all of it can be ended.
#[cfg(unix)]
pub(super) fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(not(unix))]
pub(super) fn own_group(_command: &mut Command) {}

/// Ends the process and what it started, by the ids that they got when they were started.
pub(super) fn kill_group(child: &mut Child) {
    if cfg!(unix) {
        // Some clients start themselves or their commands anew in groups of their own.
        let mut ids: Vec<String> = list_descendants(child.id()).iter().map(u32::to_string).collect();
        ids.push(format!("-{}", child.id()));
        let mut kill = Command::new("kill");
        kill.args(["-KILL", "--"]).args(&ids).stdout(Stdio::null()).stderr(Stdio::null());
        // It fails when they are gone already, which is what is wanted.
        drop(kill.status());
    }
    drop(child.kill());
    drop(child.wait());
}

/// The processes that this one started, and those that they did.
fn list_descendants(id: u32) -> Vec<u32> {
    let listed = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).stderr(Stdio::null()).output();
    let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace().filter_map(|number| number.parse().ok());
        Some((numbers.next()?, numbers.next()?))
    };
    let pairs: Vec<(u32, u32)> = listed.lines().filter_map(pair).collect();
    let mut found = vec![id];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        found.extend(pairs.iter().filter(|(_, of)| *of == parent).map(|(child, _)| *child));
        next += 1;
    }
    found.split_off(1)
}
