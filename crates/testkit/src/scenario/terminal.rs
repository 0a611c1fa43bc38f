//! Makes a session in clients that take prompts without a terminal, but are interrupted and rewound in one.
//!
//! Each step is a run of its own: what is done in the terminal is done by keys, and what is shown tells that it is done.

use std::path::Path;
use std::thread;

use super::Prompt;
use super::headless::HeadlessDriver;
use super::make::{Driver, SETTLED};
use crate::client::{Client, ClientError, Sandbox, Setup, Terminal};

const ESCAPE: &str = "\u{1b}";
const UP: &str = "\u{1b}[A";
/// Control and the letter U.
const CLEAR: &str = "\u{15}";

/// No session has more user records behind its last prompt.
const MOST_STEPS: usize = 20;

/// How every prompt of a scenario begins.
const PROMPT: &str = "Pleaselookinto";

pub(crate) struct TerminalDriver<'a> {
    headless: HeadlessDriver<'a>,
    screen: Screen,
}

/// The words by which the interface of a client is known to be where it should.
#[derive(Clone, Copy)]
pub(crate) struct Screen {
    /// That it waits for a prompt.
    pub(crate) ready: &'static str,
    pub(crate) compacted: &'static str,
    pub(crate) interrupted: &'static str,
    /// The command for a rewind, where it works; a key does, where it does not.
    pub(crate) rewind: Option<&'static str>,
    /// The list of prompts to go back to.
    pub(crate) choice: &'static str,
    /// Before the one that is chosen.
    pub(crate) chosen: char,
    /// Whether the conversation alone is to go back, or files as well.
    pub(crate) confirmation: &'static str,
}

impl<'a> TerminalDriver<'a> {
    pub(crate) fn new(client: &'a Client, sandbox: &'a Sandbox, setup: &'a Setup, port: u16, screen: Screen) -> Self {
        Self { headless: HeadlessDriver::new(client, sandbox, setup, port), screen }
    }

    fn open(&mut self) -> Result<Terminal, ClientError> {
        let mut terminal = Terminal::start(&self.headless.in_terminal()?)?;
        terminal.wait_for(self.screen.ready)?;
        // The session is loaded behind the interface; before it is there, a command finds nothing.
        terminal.wait_for(PROMPT)?;
        terminal.settle();
        thread::sleep(SETTLED);
        Ok(terminal)
    }
}

/// Whether a line of a list that may be numbered begins so.
fn begins(line: &str, text: &str) -> bool {
    line.trim_start_matches(|letter: char| letter == '#' || letter.is_ascii_digit()).starts_with(text)
}

fn quit(mut terminal: Terminal) -> Result<(), ClientError> {
    terminal.settle();
    terminal.enter("/quit")?;
    terminal.settle();
    // It may have been taken for a yes to a completion.
    terminal.press("\r").or_else(|_| Ok::<_, ClientError>(()))?;
    terminal.finish()
}

impl Driver for TerminalDriver<'_> {
    fn turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.headless.turn(prompt)
    }

    fn refused(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.headless.refused(prompt)
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        let mut terminal = self.open()?;
        terminal.command("/compress", self.screen.compacted)?;
        quit(terminal)
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        let mut terminal = self.open()?;
        let Screen { ready, rewind, choice, chosen, confirmation, .. } = self.screen;
        match rewind {
            Some(command) => terminal.command(command, choice)?,
            None => terminal.press_twice_for(ESCAPE, choice)?,
        }
        terminal.wait_for(choice)?;
        terminal.settle();
        let is_prompt = |text: String| text.rsplit(chosen).next().is_some_and(|chosen| begins(chosen, PROMPT));
        let mut steps = 0;
        // Records of outcomes stand in the list, too, without a text.
        while !is_prompt(terminal.text()) && steps < MOST_STEPS {
            terminal.press(UP)?;
            terminal.wait_for(&chosen.to_string())?;
            terminal.settle();
            steps += 1;
        }
        terminal.press("\r")?;
        terminal.wait_for(confirmation)?;
        terminal.press("\r")?;
        // The prompt that was taken back is offered to be sent again.
        terminal.wait_for(PROMPT)?;
        terminal.settle();
        terminal.press(CLEAR)?;
        terminal.wait_for(ready)?;
        quit(terminal)
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let mut terminal = self.open()?;
        terminal.enter(&prompt.text)?;
        super::make::await_file(runs)?;
        terminal.press(ESCAPE)?;
        terminal.wait_for(self.screen.interrupted)?;
        quit(terminal)
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.headless.crash(prompt, runs)
    }

    fn finish(self: Box<Self>) -> Result<String, ClientError> {
        Box::new(self.headless).finish()
    }
}
