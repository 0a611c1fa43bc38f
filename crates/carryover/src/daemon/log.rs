//! The daemon's log: one line a thing, no word of any session.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::own::private;

use super::place;
use crate::ui::Ui;

/// A log that has grown so long begins anew; the one before it is kept.
const MAX_BYTES: u64 = 1 << 20;
/// Longer lines are cut.
const MAX_LINE_CHARS: usize = 400;
/// So much of the end is looked at for the last lines.
const TAIL_BYTES: u64 = 256 << 10;

/// Writes lines with the time before them.
pub(super) struct Log {
    path: PathBuf,
    file: Mutex<LogFile>,
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// Somebody looks on in a terminal.
    is_shown: bool,
}

/// The open file, and how long it is.
struct LogFile {
    file: File,
    bytes: u64,
}

impl LogFile {
    /// Opens the log at its end; one that has grown too long is put aside.
    fn open(path: &Path) -> io::Result<Self> {
        if fs_err::metadata(path).is_ok_and(|metadata| metadata.len() > MAX_BYTES) {
            fs_err::rename(path, path.with_extension("log.1"))?;
        }
        let mut file = private::open_file(path)?;
        let bytes = file.seek(SeekFrom::End(0))?;
        Ok(Self { file, bytes })
    }
}

impl Log {
    pub(super) fn open(
        context: &Context,
        clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
        is_shown: bool,
    ) -> io::Result<Self> {
        let path = place::log_path(context);
        Ok(Self { file: Mutex::new(LogFile::open(&path)?), path, clock, is_shown })
    }

    /// Writes a line. One that cannot be written is no reason to stop.
    pub(super) fn write_line(&self, text: &str) {
        let line = format!("{} {}\n", (self.clock)(), one_line(text, MAX_LINE_CHARS));
        let mut log = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if log.bytes > MAX_BYTES
            && let Ok(anew) = LogFile::open(&self.path)
        {
            *log = anew;
        }
        log.file.write_all(line.as_bytes()).ok();
        log.bytes += line.len() as u64;
        drop(log);
        if self.is_shown {
            Ui::write_usage(&line).ok();
        }
    }
}

/// The last lines of the log; none where there is no log.
pub(crate) fn last_lines(context: &Context, count: usize) -> io::Result<Vec<String>> {
    let path = place::log_path(context);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let mut file = fs_err::File::open(&path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(count)..].iter().map(|line| (*line).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_grew_too_long_begins_anew_while_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        fs_err::write(&path, vec![b'.'; usize::try_from(MAX_BYTES).unwrap()]).unwrap();
        let file = Mutex::new(LogFile::open(&path).unwrap());
        let log = Log { path: path.clone(), file, clock: Box::new(|| Timestamp::from_millis(0)), is_shown: false };
        log.write_line("the last of the old");
        log.write_line("the first of the new");
        let text = fs_err::read_to_string(&path).unwrap();
        assert!(text.contains("the first") && !text.contains("the last"), "{text}");
        assert!(fs_err::metadata(folder.path().join("daemon.log.1")).unwrap().len() > MAX_BYTES);
    }
}
