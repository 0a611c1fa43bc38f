//! Passphrases: from a file, from the environment, or typed without being shown. Never from the command line, where every
//! program of the machine could read them.

use std::io::{self, IsTerminal, Read, Write};
use std::path::Path;

use carryover_engine::context::Context;
use carryover_engine::share::crypt::Passphrase;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};

use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;

const VARIABLE: &str = "CARRYOVER_PASSPHRASE";
/// What to do where nobody can be asked.
pub(crate) const HOW_TO_GIVE: &str = "name a file with it by `--passphrase-file`, or set CARRYOVER_PASSPHRASE";
const MAX_FILE_BYTES: u64 = 64 << 10;

/// Shorter ones are mostly words and names, which are tried first.
const MIN_LETTERS: usize = 8;

/// Those that everybody tries first, as far as they are long enough.
const COMMON_WORDS: &[&str] = &[
    "12345678",
    "123456789",
    "1234567890",
    "1q2w3e4r",
    "abcd1234",
    "baseball",
    "football",
    "iloveyou",
    "passphrase",
    "passw0rd",
    "password",
    "password1",
    "password123",
    "princess",
    "qwerty123",
    "qwertyuiop",
    "sunshine",
    "superman",
    "trustno1",
];

/// The passphrase that was given without a question: in a file, of which `-` is standard input, or in the environment.
pub(crate) fn read_given(context: &Context, file: Option<&Path>) -> Result<Option<Passphrase>, CommandError> {
    let Some(file) = file else {
        return Ok(context.env.var(VARIABLE).and_then(|words| Passphrase::new(words.to_owned())));
    };
    let mut text = String::new();
    if file == Path::new("-") {
        io::stdin().take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    } else {
        fs_err::File::open(context.cwd.join(file))?.take(MAX_FILE_BYTES).read_to_string(&mut text)?;
    }
    let words = text.lines().next().unwrap_or_default().to_owned();
    let none = || CommandError::usage(format!("the first line of {} is empty", file.display()));
    Passphrase::new(words).map(Some).ok_or_else(none)
}

/// A passphrase that nobody guesses: 122 bits of the system's randomness, in groups that can be read out.
pub(crate) fn generate() -> Option<Passphrase> {
    let digits = uuid::Uuid::new_v4().simple().to_string();
    let groups: Vec<&str> = digits.as_bytes().chunks(4).filter_map(|group| std::str::from_utf8(group).ok()).collect();
    Passphrase::new(groups.join("-"))
}

/// Says so where a new one is guessed soon. It is the user's to choose: that is no error.
pub(crate) fn warn_if_weak(ui: &mut Ui, words: &Passphrase) -> io::Result<()> {
    match find_weakness(words.expose()) {
        // A program has no other passphrase for being told.
        Some(weakness) if !ui.is_json() => ui.warning(format_args!(
            "the passphrase is {weakness}: whoever has what it encrypts can try others until one fits"
        )),
        _ => Ok(()),
    }
}

fn find_weakness(words: &str) -> Option<&'static str> {
    let is_one_letter = words.chars().all(|letter| words.starts_with(letter));
    if words.chars().count() < MIN_LETTERS {
        Some("short")
    } else if is_one_letter || COMMON_WORDS.contains(&words.to_lowercase().as_str()) {
        Some("one that many use")
    } else {
        None
    }
}

/// Asks for a new one, twice: nobody sees what they type.
pub(crate) fn ask_twice() -> Result<Passphrase, CommandError> {
    let first = ask_hidden("passphrase:")?.ok_or_else(|| {
        CommandError::new(ErrorKind::Io, "no passphrase was given to lock it with").with_hint(HOW_TO_GIVE)
    })?;
    let again = ask_hidden("once more:")?;
    if again.is_some_and(|again| again.expose() == first.expose()) {
        return Ok(first);
    }
    Err(CommandError::usage("the two are not the same").with_hint("nothing was written; run it again"))
}

/// Asks without showing what is typed; none where it was left, or nobody can be asked.
pub(crate) fn ask_hidden(question: &str) -> io::Result<Option<Passphrase>> {
    if !io::stdin().is_terminal() {
        return Ok(None);
    }
    let mut out = io::stderr();
    write!(out, "{question} ")?;
    out.flush()?;
    enable_raw_mode()?;
    let typed = read_keys();
    disable_raw_mode()?;
    writeln!(out)?;
    Ok(typed?.and_then(Passphrase::new))
}

/// Keys up to the return.
fn read_keys() -> io::Result<Option<String>> {
    let mut typed = String::new();
    loop {
        let key = match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => key,
            Event::Paste(text) => {
                typed.push_str(text.trim_end());
                continue;
            }
            _ => continue,
        };
        match key.code {
            KeyCode::Enter => return Ok(Some(typed)),
            KeyCode::Esc => return Ok(None),
            KeyCode::Char('c' | 'd') if key.modifiers.contains(KeyModifiers::CONTROL) => return Ok(None),
            KeyCode::Backspace => {
                typed.pop();
            }
            KeyCode::Char(letter) => typed.push(letter),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_guessed_soon_is_weak() {
        for (words, weakness) in [
            ("7 chars", Some("short")),
            ("sieben7", Some("short")),
            ("Password", Some("one that many use")),
            ("xxxxxxxxxxxx", Some("one that many use")),
            ("achtacht", None),
        ] {
            assert_eq!(find_weakness(words), weakness, "{words}");
        }
        assert_eq!(find_weakness(generate().unwrap().expose()), None);
        assert!(COMMON_WORDS.iter().all(|words| words.len() >= MIN_LETTERS));
    }
}
