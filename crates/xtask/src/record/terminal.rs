//! A shell in a terminal: tmux, which keeps the screen as any terminal would show it.

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use super::sandbox::Sandbox;
use super::scenario::{COLUMNS, ROWS, Until};
use super::screen::Screen;

/// The prompt as it stands on the screen, without blanks.
const PROMPT: &str = "$";

/// How long something may take to be shown, on a machine that has other things to do.
const SHOW_LIMIT: Duration = Duration::from_mins(1);

const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How often a screen is read that stands still.
const STILL_READS: usize = 4;

const SETTINGS: &str = "set -g status off\nset -g default-terminal screen-256color\nset -g escape-time 0\n";

/// The terminal; its server is ours alone and is ended when this is dropped.
pub(super) struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    pub(super) fn start(sandbox: &Sandbox) -> Result<Self, Box<dyn Error>> {
        let settings = sandbox.scratch("tmux.conf");
        fs_err::write(&settings, SETTINGS)?;
        let terminal = Self { socket: sandbox.scratch("tmux.socket") };
        let (columns, rows) = (COLUMNS.to_string(), ROWS.to_string());
        let mut start = terminal.tmux();
        start.arg("-f").arg(settings).args(["new-session", "-d", "-x", &columns, "-y", &rows, "-c"]);
        start.arg(sandbox.project()).args(["env", "-i"]).args(sandbox.env());
        start.args(["bash", "--norc", "--noprofile"]);
        run(&mut start)?;
        Ok(terminal)
    }

    /// Types text, and waits until it is shown.
    pub(super) fn type_text(&mut self, text: &str) -> Result<(), Box<dyn Error>> {
        let before = self.cursor_column()?;
        run(self.tmux().args(["send-keys", "-l", "--", text]))?;
        let expected = before + text.chars().count();
        self.wait_until(text, |terminal| Ok(terminal.cursor_column()? == expected))
    }

    /// Presses a key, by its name.
    pub(super) fn press(&mut self, key: &str) -> Result<(), Box<dyn Error>> {
        run(self.tmux().args(["send-keys", "--", key])).map(drop)
    }

    pub(super) fn wait(&mut self, until: &Until) -> Result<(), Box<dyn Error>> {
        match until {
            Until::Prompt => self.wait_until("the prompt", Self::is_at_prompt),
            Until::Shown(words) => self.wait_until(words, |terminal| Ok(terminal.read_screen()?.contains(words))),
        }
    }

    /// The screen once it stands still: what was waited for may be half of what is being drawn.
    pub(super) fn read_still_screen(&self) -> Result<Screen, Box<dyn Error>> {
        let mut screen = self.read_screen()?;
        let mut same = 0;
        while same < STILL_READS {
            thread::sleep(POLL_INTERVAL);
            let next = self.read_screen()?;
            same = if next == screen { same + 1 } else { 0 };
            screen = next;
        }
        Ok(screen)
    }

    fn read_screen(&self) -> Result<Screen, Box<dyn Error>> {
        Ok(Screen::parse(&run(self.tmux().args(["capture-pane", "-p", "-e"]))?))
    }

    fn wait_until(
        &self,
        awaited: &str,
        is_there: impl Fn(&Self) -> Result<bool, Box<dyn Error>>,
    ) -> Result<(), Box<dyn Error>> {
        let deadline = Instant::now() + SHOW_LIMIT;
        while !is_there(self)? {
            if Instant::now() > deadline {
                return Err(format!("{awaited:?} was not shown:\n{}", self.read_screen()?.text()).into());
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }

    /// Whether the cursor stands behind an empty prompt: a command that is being typed or run has moved it.
    fn is_at_prompt(&self) -> Result<bool, Box<dyn Error>> {
        let (column, row) = self.cursor()?;
        Ok(column == PROMPT.len() + 1 && self.read_screen()?.row_text(row).trim_end() == PROMPT)
    }

    fn cursor_column(&self) -> Result<usize, Box<dyn Error>> {
        Ok(self.cursor()?.0)
    }

    /// The cursor's column and row.
    fn cursor(&self) -> Result<(usize, usize), Box<dyn Error>> {
        let told = run(self.tmux().args(["display-message", "-p", "#{cursor_x} #{cursor_y}"]))?;
        let (column, row) = told.trim().split_once(' ').ok_or("tmux tells no cursor")?;
        Ok((column.parse()?, row.parse()?))
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.socket).env_remove("TMUX");
        command
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Where it has ended by itself there is nothing to end.
        self.tmux().arg("kill-server").output().ok();
    }
}

fn run(command: &mut Command) -> Result<String, Box<dyn Error>> {
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    Err(format!("tmux failed: {}", String::from_utf8_lossy(&output.stderr)).into())
}
