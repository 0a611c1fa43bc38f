//! Makes a session in clients that take prompts without a terminal, but are interrupted and rewound in one.
//!
//! Each step is a run of its own: what is done in the terminal is done by keys, and what is shown tells that it is done.

use std::path::Path;
use std::thread;

use super::Prompt;
use super::headless::HeadlessDriver;
use super::make::{Driver, SETTLE_TIME};
use crate::client::{Client, ClientError, Sandbox, Setup, Terminal};

const ESCAPE_KEY: &str = "\u{1b}";
const UP_KEY: &str = "\u{1b}[A";
/// Control and the letter U.
const CLEAR_KEY: &str = "\u{15}";

/// No session has more user records behind its last prompt.
const MAX_STEPS: usize = 20;

/// How every prompt of a scenario begins.
const PROMPT_START: &str = "Pleaselookinto";

pub(crate) struct TerminalDriver<'a> {
    headless: HeadlessDriver<'a>,
    screen: ScreenTexts,
}

/// The words by which the interface of a client is known to be where it should.
#[derive(Clone, Copy)]
pub(crate) struct ScreenTexts {
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
    pub(crate) fn new(
        client: &'a Client,
        sandbox: &'a Sandbox,
        setup: &'a Setup,
        port: u16,
        screen: ScreenTexts,
    ) -> Self {
        Self { headless: HeadlessDriver::new(client, sandbox, setup, port), screen }
    }

    fn open_terminal(&mut self) -> Result<Terminal, ClientError> {
        let mut terminal = Terminal::start(&self.headless.interface_launch()?)?;
        terminal.wait_for(self.screen.ready)?;
        // The session is loaded behind the interface; before it is there, a command finds nothing.
        terminal.wait_for(PROMPT_START)?;
        terminal.wait_until_quiet();
        thread::sleep(SETTLE_TIME);
        Ok(terminal)
    }
}

/// Whether a line of a list that may be numbered begins so.
fn starts_after_number(line: &str, text: &str) -> bool {
    line.trim_start_matches(|letter: char| letter == '#' || letter.is_ascii_digit()).starts_with(text)
}

fn quit_client(mut terminal: Terminal) -> Result<(), ClientError> {
    terminal.wait_until_quiet();
    terminal.enter_line("/quit")?;
    terminal.wait_until_quiet();
    // It may have been taken for a yes to a completion.
    terminal.press("\r").or_else(|_| Ok::<_, ClientError>(()))?;
    terminal.finish()
}

impl Driver for TerminalDriver<'_> {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.headless.run_turn(prompt)
    }

    fn run_refused_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        self.headless.run_refused_turn(prompt)
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        let mut terminal = self.open_terminal()?;
        terminal.enter_command("/compress", self.screen.compacted)?;
        quit_client(terminal)
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        let mut terminal = self.open_terminal()?;
        let ScreenTexts { ready, rewind, choice, chosen, confirmation, .. } = self.screen;
        match rewind {
            Some(command) => terminal.enter_command(command, choice)?,
            None => terminal.press_twice_for(ESCAPE_KEY, choice)?,
        }
        terminal.wait_for(choice)?;
        terminal.wait_until_quiet();
        let is_prompt =
            |text: String| text.rsplit(chosen).next().is_some_and(|chosen| starts_after_number(chosen, PROMPT_START));
        let mut steps = 0;
        // Records of outcomes stand in the list, too, without a text.
        while !is_prompt(terminal.text_since_keys()) && steps < MAX_STEPS {
            terminal.press(UP_KEY)?;
            terminal.wait_for(&chosen.to_string())?;
            terminal.wait_until_quiet();
            steps += 1;
        }
        terminal.press("\r")?;
        terminal.wait_for(confirmation)?;
        terminal.press("\r")?;
        // The prompt that was taken back is offered to be sent again.
        terminal.wait_for(PROMPT_START)?;
        terminal.wait_until_quiet();
        terminal.press(CLEAR_KEY)?;
        terminal.wait_for(ready)?;
        quit_client(terminal)
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        let mut terminal = self.open_terminal()?;
        terminal.enter_line(&prompt.text)?;
        super::make::await_file(runs)?;
        terminal.press(ESCAPE_KEY)?;
        terminal.wait_for(self.screen.interrupted)?;
        quit_client(terminal)
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.headless.crash(prompt, runs)
    }

    fn finish(self: Box<Self>) -> Result<String, ClientError> {
        Box::new(self.headless).finish()
    }
}
