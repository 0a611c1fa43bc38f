//! The program at work, for commands that run until they are told to end.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::TestEnv;

/// Far above what is needed, and still an end.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// The program at work, and what it says on both streams, line by line.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Receiver<String>,
}

impl Running {
    pub(crate) fn start(env: &TestEnv, args: &[&str]) -> Self {
        Self::spawn(env.command(args))
    }

    /// The same for a command that was made ready elsewhere.
    pub(crate) fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines() {
                    sender.send(line.unwrap()).ok();
                }
            });
        }
        Self { child, lines }
    }

    /// The lines up to one that holds some words.
    pub(crate) fn until(&self, words: &str) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        let mut said: Vec<String> = Vec::new();
        while !said.last().is_some_and(|line| line.contains(words)) {
            let left = deadline.saturating_duration_since(Instant::now());
            said.push(self.lines.recv_timeout(left).unwrap_or_else(|_| panic!("no `{words}` in {said:#?}")));
        }
        said
    }

    pub(crate) fn signal(mut self, name: &str) -> (ExitStatus, Vec<String>) {
        assert!(Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap().success());
        let deadline = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("it did not end");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        (status, self.lines.iter().collect())
    }
}
