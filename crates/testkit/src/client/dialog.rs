//! A client that is spoken to in JSON over its standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::launch::{Launch, kill_group, wait_for_exit};
use super::{ClientError, RUN_LIMIT};

/// How one message is told from the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    /// Each is a line.
    Lines,
    /// Before each stand headers with its length, as between editors and their language servers.
    Headers,
}

/// A running client; it is ended when dropped.
pub struct Dialog {
    program: String,
    framing: Framing,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Dialog {
    /// A client that takes and says lines.
    pub fn start(launch: &Launch) -> Result<Self, ClientError> {
        Self::start_with(launch, Framing::Lines)
    }

    /// A client that takes and says messages with headers.
    pub fn start_with_headers(launch: &Launch) -> Result<Self, ClientError> {
        Self::start_with(launch, Framing::Headers)
    }

    fn start_with(launch: &Launch, framing: Framing) -> Result<Self, ClientError> {
        let source = |source| ClientError::NotStarted { program: launch.program_name(), source };
        let mut command = launch.build_command();
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(source)?;
        let stdin = child.stdin.take();
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || match framing {
                Framing::Lines => read_lines(stdout, &sender),
                Framing::Headers => read_framed(stdout, &sender),
            });
        }
        Ok(Self { program: launch.program_name(), framing, child, stdin, lines })
    }

    pub fn send(&mut self, message: &Value) -> Result<(), ClientError> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(());
        };
        match self.framing {
            Framing::Lines => writeln!(stdin, "{message}")?,
            Framing::Headers => {
                let message = message.to_string();
                write!(stdin, "{LENGTH_HEADER} {}\r\n\r\n{message}", message.len())?;
            }
        }
        stdin.flush()?;
        Ok(())
    }

    /// Reads on until a message is accepted.
    pub fn wait_for(&self, awaited: &str, mut accept: impl FnMut(&Value) -> bool) -> Result<Value, ClientError> {
        let deadline = Instant::now() + RUN_LIMIT;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(message) if accept(&message) => return Ok(message),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    let program = format!("{} ({awaited})", self.program);
                    return Err(ClientError::TimedOut { program, limit: RUN_LIMIT });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ClientError::Ended { program: self.program.clone(), awaited: awaited.to_owned() });
                }
            }
        }
    }

    /// Lets the client end by itself, so that it writes all it has to write.
    pub fn finish(mut self) -> Result<(), ClientError> {
        drop(self.stdin.take());
        wait_for_exit(&mut self.child, Duration::from_secs(10))?;
        Ok(())
    }
}

impl Drop for Dialog {
    fn drop(&mut self) {
        kill_group(&mut self.child);
    }
}

fn read_lines(stdout: ChildStdout, sender: &Sender<Value>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        // Clients may print a warning between the messages.
        let Ok(message) = serde_json::from_str(&line) else {
            continue;
        };
        if sender.send(message).is_err() {
            return;
        }
    }
}

/// The header that tells how long a message is.
const LENGTH_HEADER: &str = "Content-Length:";

fn read_framed(stdout: ChildStdout, sender: &Sender<Value>) {
    let mut reader = BufReader::new(stdout);
    let mut length = 0;
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
        if let Some(given) = line.trim().strip_prefix(LENGTH_HEADER) {
            length = given.trim().parse().unwrap_or(0);
        } else if line.trim().is_empty() && length > 0 {
            let mut message = vec![0; std::mem::take(&mut length)];
            let heard = reader.read_exact(&mut message).map_err(drop);
            let heard = heard.and_then(|()| serde_json::from_slice(&message).map_err(drop));
            if heard.and_then(|message| sender.send(message).map_err(drop)).is_err() {
                return;
            }
        }
        line.clear();
    }
}
