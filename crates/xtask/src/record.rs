//! `cargo xtask record`: the picture of a session at the top of the README, from the real program in a real terminal.
//!
//! The scenario is data (`scenario`). It is played in a home of its own (`sandbox`) inside tmux (`terminal`), whose screen
//! is read (`screen`) and drawn (`svg`). Clock and ids are fixed, so the same program gives the same bytes.

mod sandbox;
mod scenario;
mod screen;
mod svg;
mod terminal;

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::test::{StepOutcome, can_run, run_cargo};
use sandbox::Sandbox;
use scenario::{SCENARIO, Step, Until};
use screen::Screen;
use terminal::Terminal;

const PICTURE: &str = "docs/demo.svg";

/// What the README can carry along.
const MAX_BYTES: usize = 200_000;

/// How long a word is shown while it is typed.
const WORD_MILLIS: u32 = 160;

/// A screen and how long it stands.
struct Frame {
    screen: Screen,
    millis: u32,
}

/// What was recorded.
struct Recording {
    frames: Vec<Frame>,
    /// The frame that tells most, for whoever does not play the others.
    poster: usize,
}

/// Plays the scenario and writes the picture.
pub(crate) fn write_picture(root: &Path) -> Result<(), Box<dyn Error>> {
    Ok(fs_err::write(root.join(PICTURE), draw(root)?)?)
}

/// Fails where the picture is not what the program shows; skipped where there is no terminal to be had.
pub(crate) fn check_picture(root: &Path) -> Result<StepOutcome, Box<dyn Error>> {
    // Elsewhere the temporary folder has another name, which is seen in the picture.
    if !cfg!(target_os = "linux") {
        return Ok(StepOutcome::Skipped("it is recorded on Linux".to_owned()));
    }
    if !can_run("tmux", &["-V"]) {
        return Ok(StepOutcome::Skipped("tmux is not installed".to_owned()));
    }
    if fs_err::read_to_string(root.join(PICTURE))? == draw(root)? {
        return Ok(StepOutcome::Passed);
    }
    Err(format!("{PICTURE} is not what the program shows: run `cargo xtask record` and look at it").into())
}

fn draw(root: &Path) -> Result<String, Box<dyn Error>> {
    run_cargo(root, &["build", "--quiet", "--package", "carryover"])?;
    let sandbox = Sandbox::create(root, &built_program(root))?;
    let recording = play(&mut Terminal::start(&sandbox)?)?;
    let picture = svg::render(&recording);
    if picture.len() > MAX_BYTES {
        return Err(format!("the picture has {} bytes, {MAX_BYTES} are allowed", picture.len()).into());
    }
    Ok(picture)
}

fn built_program(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("debug/carryover")
}

fn play(terminal: &mut Terminal) -> Result<Recording, Box<dyn Error>> {
    terminal.wait(&Until::Prompt)?;
    let mut recording =
        Recording { frames: vec![Frame { screen: terminal.read_still_screen()?, millis: 0 }], poster: 0 };
    for step in SCENARIO {
        match step {
            Step::Type(words) => {
                for word in words.split_inclusive(' ') {
                    terminal.type_text(word)?;
                    recording.push(terminal.read_still_screen()?, WORD_MILLIS);
                }
            }
            Step::Press(key, until) => {
                terminal.press(key)?;
                terminal.wait(until)?;
                recording.push(terminal.read_still_screen()?, 0);
            }
            Step::Hold(millis) => recording.hold(*millis),
            Step::Poster => recording.poster = recording.frames.len() - 1,
        }
    }
    Ok(recording)
}

impl Recording {
    /// Adds a screen, or lets the last one stand longer where nothing has changed.
    fn push(&mut self, screen: Screen, millis: u32) {
        if self.frames.last().is_none_or(|last| last.screen != screen) {
            self.frames.push(Frame { screen, millis: 0 });
        }
        self.hold(millis);
    }

    fn hold(&mut self, millis: u32) {
        if let Some(last) = self.frames.last_mut() {
            last.millis += millis;
        }
    }
}
