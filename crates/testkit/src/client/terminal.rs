//! A client in a terminal of its own, as a person uses it: for what its other interfaces do not offer.

use std::io::{Read, Write};
use std::iter::Peekable;
use std::process::{Child, ChildStdin, Stdio};
use std::str::Chars;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::ClientError;
use super::launch::{Launch, kill_group, wait_for_exit};

/// Of a size that no client needs to scroll in for what is looked for.
const SIZE_COMMAND: &str = "stty cols 150 rows 60";

/// Keys that come faster than this are taken for a text that is pasted, in which a return is a line feed.
const KEY_PAUSE: Duration = Duration::from_millis(500);

/// How long something may take to be shown; a whole turn of the model's may lie in between.
const SHOW_LIMIT: Duration = Duration::from_mins(3);

/// How often it is looked at what is shown.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long a command may take before it is entered again.
const RETRY_AFTER: Duration = Duration::from_secs(15);

/// A running client; it is ended when dropped.
pub struct Terminal {
    program: String,
    child: Child,
    stdin: Option<ChildStdin>,
    shown: Arc<Mutex<Vec<u8>>>,
    /// How much had been shown when the latest keys were typed.
    seen: usize,
}

impl Terminal {
    pub fn start(launch: &Launch) -> Result<Self, ClientError> {
        let words = std::iter::once(launch.program.display().to_string()).chain(launch.args.iter().cloned());
        let line = words.map(|word| quote_for_shell(&word)).collect::<Vec<_>>().join(" ");
        let script = Launch { program: "script".into(), args: Vec::new(), ..launch.clone() };
        let script =
            script.args(["--quiet", "--return", "--command", &format!("{SIZE_COMMAND}; exec {line}"), "/dev/null"]);
        let source = |source| ClientError::NotStarted { program: launch.program_name(), source };
        let mut command = script.build_command();
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(source)?;
        let stdin = child.stdin.take();
        let shown = Arc::new(Mutex::new(Vec::new()));
        if let Some(mut stdout) = child.stdout.take() {
            let shown = Arc::clone(&shown);
            thread::spawn(move || {
                let mut buffer = [0; 4096];
                while let Ok(length @ 1..) = stdout.read(&mut buffer) {
                    lock_output(&shown).extend_from_slice(&buffer[..length]);
                }
            });
        }
        Ok(Self { program: launch.program_name(), child, stdin, shown, seen: 0 })
    }

    /// Presses a key twice, as fast as a person does, for something that is shown then. A busy client may take the two for
    /// one, or for one and another, so it is done again where nothing happens.
    pub fn press_twice_for(&mut self, key: &str, awaited: &str) -> Result<(), ClientError> {
        for gap in [200, 300, 100, 400, 250] {
            self.press(key)?;
            thread::sleep(Duration::from_millis(gap));
            self.write_keys(key)?;
            if self.is_shown_within(awaited, RETRY_AFTER) {
                return Ok(());
            }
        }
        self.wait_for(awaited)
    }

    /// Presses keys, and leaves the client the time that a person would.
    pub fn press(&mut self, keys: &str) -> Result<(), ClientError> {
        thread::sleep(KEY_PAUSE);
        self.seen = lock_output(&self.shown).len();
        self.write_keys(keys)
    }

    fn write_keys(&mut self, keys: &str) -> Result<(), ClientError> {
        if let Some(stdin) = &mut self.stdin {
            stdin.write_all(keys.as_bytes())?;
            stdin.flush()?;
        }
        Ok(())
    }

    /// Types a line and sends it off once it is shown.
    pub fn enter_line(&mut self, line: &str) -> Result<(), ClientError> {
        self.press(line)?;
        self.wait_for(line)?;
        self.press("\r")
    }

    /// Enters a command and waits for what it shows. Where a client offers to complete the command, the first return may
    /// be taken for a yes to that.
    pub fn enter_command(&mut self, line: &str, awaited: &str) -> Result<(), ClientError> {
        self.enter_line(line)?;
        if !self.is_shown_within(awaited, RETRY_AFTER) {
            self.press("\r")?;
        }
        self.wait_for(awaited)
    }

    /// The text shown since the latest keys, without blanks: clients place words by moving the cursor, too.
    pub fn text_since_keys(&self) -> String {
        strip_escapes(&lock_output(&self.shown)[self.seen..])
    }

    /// Whether something was shown since the latest keys.
    pub fn shows(&self, text: &str) -> bool {
        let wanted: String = text.split_whitespace().collect();
        self.text_since_keys().contains(&wanted)
    }

    /// Waits until something is shown that was not when the latest keys were pressed.
    pub fn wait_for(&mut self, awaited: &str) -> Result<(), ClientError> {
        if self.is_shown_within(awaited, SHOW_LIMIT) {
            return Ok(());
        }
        if self.child.try_wait()?.is_some() {
            return Err(ClientError::Ended { program: self.program.clone(), awaited: awaited.to_owned() });
        }
        let program = format!("{} ({awaited})", self.program);
        Err(ClientError::TimedOut { program, limit: SHOW_LIMIT })
    }

    /// Whether it is shown within this time.
    pub fn is_shown_within(&mut self, awaited: &str, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while !self.shows(awaited) {
            let ended = matches!(self.child.try_wait(), Ok(Some(_)) | Err(_));
            if ended || Instant::now() > deadline {
                return false;
            }
            thread::sleep(POLL_INTERVAL);
        }
        true
    }

    /// Waits until nothing more is shown for a while.
    pub fn wait_until_quiet(&self) {
        let mut before = usize::MAX;
        for _ in 0..20 {
            let now = lock_output(&self.shown).len();
            if now == before {
                return;
            }
            before = now;
            thread::sleep(KEY_PAUSE);
        }
    }

    /// Lets the client end by itself, so that it writes all it has to write.
    pub fn finish(mut self) -> Result<(), ClientError> {
        wait_for_exit(&mut self.child, Duration::from_secs(20))?;
        Ok(())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.stdin.take());
        kill_group(&mut self.child);
    }
}

fn lock_output(shown: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A word for a shell.
fn quote_for_shell(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Text without the terminal's control sequences and without blanks.
fn strip_escapes(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\u{1b}' {
            plain.extend(Some(letter).filter(|letter| !letter.is_whitespace() && !letter.is_control()));
            continue;
        }
        match letters.next() {
            Some('[') => drop(letters.by_ref().find(|letter| ('@'..='~').contains(letter))),
            Some(']' | 'P' | '_') => skip_string(&mut letters),
            _ => {}
        }
    }
    plain
}

/// Titles and the like end with a bell, or with an escape and a stroke.
fn skip_string(letters: &mut Peekable<Chars<'_>>) {
    let end = letters.find(|letter| matches!(letter, '\u{7}' | '\u{1b}'));
    if end == Some('\u{1b}') {
        letters.next_if_eq(&'\\');
    }
}

#[cfg(test)]
mod tests {
    use super::{quote_for_shell, strip_escapes};

    #[test]
    fn control_sequences_and_blanks_are_left_out() {
        assert_eq!(
            strip_escapes(b"\x1b[2K\x1b[1;31mType \x1b[0myour\x1b]0;title\x07 message\x1b]8;;x\x1b\\!\r\n"),
            "Typeyourmessage!"
        );
    }

    #[test]
    fn words_reach_a_shell_as_they_are() {
        assert_eq!(quote_for_shell("it's $HOME"), r"'it'\''s $HOME'");
    }
}
