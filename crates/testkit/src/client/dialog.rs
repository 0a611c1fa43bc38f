//! A client that is spoken to in lines of JSON over its standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::launch::{Launch, kill_group, wait};
use super::{ClientError, RUN_LIMIT};

/// A running client; it is ended when dropped.
pub struct Dialog {
    program: String,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl Dialog {
    pub fn start(launch: &Launch) -> Result<Self, ClientError> {
        let source = |source| ClientError::NotStarted { program: launch.label(), source };
        let mut command = launch.command();
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(source)?;
        let stdin = child.stdin.take();
        let (sender, lines) = channel();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    // Clients may print a warning between the messages.
                    let Ok(message) = serde_json::from_str(&line) else {
                        continue;
                    };
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self { program: launch.label(), child, stdin, lines })
    }

    pub fn send(&mut self, message: &Value) -> Result<(), ClientError> {
        let Some(stdin) = &mut self.stdin else {
            return Ok(());
        };
        writeln!(stdin, "{message}")?;
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
        wait(&mut self.child, Duration::from_secs(10))?;
        Ok(())
    }
}

impl Drop for Dialog {
    fn drop(&mut self) {
        kill_group(&mut self.child);
    }
}
