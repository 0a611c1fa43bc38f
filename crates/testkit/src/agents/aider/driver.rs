//! Makes a session in Aider, in one run that is typed to: a new run would be a new session in its history.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use fs_err as fs;

use super::{HISTORY_FILE, base_args};
use crate::client::{Client, ClientError, RUN_LIMIT, RunningProgram, Sandbox, Setup};
use crate::scenario::Prompt;
use crate::scenario::make::{Driver, await_file};

/// How long the client may go on trying after it was refused.
const REFUSAL_WAIT: Duration = Duration::from_secs(8);

/// Written by the client after each answer of its model.
const ANSWER_END_MARK: &str = "> Tokens: ";

/// Written by the client when a turn is interrupted.
const INTERRUPT_MARK: &str = "> ^C";

pub(super) struct AiderDriver {
    /// Gone after a crash.
    running: Option<RunningProgram>,
    history: PathBuf,
}

impl AiderDriver {
    pub(super) fn start(client: &Client, sandbox: &Sandbox, setup: &Setup, port: u16) -> Result<Self, ClientError> {
        // With a log of its requests, which holds what its history does not.
        let own = ["--no-fancy-input", "--llm-history-file=.aider.llm.history"];
        let launch = sandbox.launch(client, setup, port)?.args(base_args()).args(own);
        Ok(Self { running: Some(launch.start_with_stdin()?), history: sandbox.project.join(HISTORY_FILE) })
    }

    fn send_prompt(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.type_line(&prompt.text)
    }

    fn type_line(&mut self, line: &str) -> Result<(), ClientError> {
        let ended = || ClientError::Ended { program: "aider".to_owned(), awaited: "a running session".to_owned() };
        self.running.as_mut().ok_or_else(ended)?.type_line(line)
    }

    /// Says something and waits until its history has one more of these words.
    fn act_and_await(
        &mut self,
        words: &str,
        say: impl FnOnce(&mut Self) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let before = self.count_in_history(words);
        say(self)?;
        let deadline = Instant::now() + RUN_LIMIT;
        while self.count_in_history(words) == before {
            if Instant::now() > deadline {
                return Err(ClientError::TimedOut { program: "aider".to_owned(), limit: RUN_LIMIT });
            }
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn count_in_history(&self, words: &str) -> usize {
        fs::read_to_string(&self.history).unwrap_or_default().matches(words).count()
    }
}

impl Driver for AiderDriver {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        if self.count_in_history(ANSWER_END_MARK) > 0 {
            // Where it has a file with a similar name in the chat, it takes that one for the one that is meant.
            self.type_line("/drop")?;
        }
        self.act_and_await(ANSWER_END_MARK, |driver| driver.send_prompt(prompt))
    }

    fn run_refused_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.send_prompt(prompt)?;
        thread::sleep(REFUSAL_WAIT);
        drop(self.running.take());
        Ok(())
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        Ok(())
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.send_prompt(prompt)?;
        await_file(runs)?;
        self.act_and_await(INTERRUPT_MARK, |driver| {
            driver.running.iter().for_each(RunningProgram::interrupt);
            Ok(())
        })
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.send_prompt(prompt)?;
        await_file(runs)?;
        drop(self.running.take());
        Ok(())
    }

    /// The session has no id: it is the history of the project.
    fn finish(mut self: Box<Self>) -> Result<String, ClientError> {
        if let Some(mut running) = self.running.take() {
            running.close_stdin();
            running.finish(RUN_LIMIT)?;
        }
        Ok(String::new())
    }
}
