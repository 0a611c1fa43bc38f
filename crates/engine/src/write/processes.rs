//! The processes of this user's, as far as it takes to tell whether an editor runs.

use std::io;
use std::path::PathBuf;

/// A process that runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Process {
    pub(crate) id: u32,
    /// Its program, and under what names it goes.
    pub(crate) programs: Vec<PathBuf>,
    /// The home folder that it works with, where that can be told.
    pub(crate) home: Option<PathBuf>,
}

/// Lists them. A list that lacks ourselves is none: it would lack others, too.
pub(crate) fn list_own() -> io::Result<Vec<Process>> {
    let processes = platform::list()?;
    if processes.iter().any(|process| process.id == std::process::id()) {
        return Ok(processes);
    }
    Err(io::Error::other("the list of processes is not complete"))
}

#[cfg(target_os = "linux")]
mod platform {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::time::Duration;

    use super::{PathBuf, Process, io};

    const MAX_LOOKS: usize = 3;
    const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(5);

    pub(super) fn list() -> io::Result<Vec<Process>> {
        let own = fs_err::metadata("/proc/self")?.uid();
        let entries = fs_err::read_dir("/proc")?.filter_map(Result::ok).map(|entry| entry.path());
        let is_own = |folder: &PathBuf| fs_err::metadata(folder).is_ok_and(|metadata| metadata.uid() == own);
        Ok(entries.filter(is_own).filter_map(|folder| read_process(&folder)).collect())
    }

    /// One that ends meanwhile is none.
    fn read_process(folder: &Path) -> Option<Process> {
        let id = folder.file_name()?.to_str()?.parse().ok()?;
        let words = |name: &str| fs_err::read(folder.join(name)).unwrap_or_default();
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let (command, name) = (words("cmdline"), words("comm"));
        let first = command.split(|byte| *byte == 0).next().filter(|word| !word.is_empty());
        let mut programs: Vec<PathBuf> = fs_err::read_link(folder.join("exe")).into_iter().collect();
        let has_program = !programs.is_empty();
        programs.extend(first.map(path));
        programs.push(path(name.trim_ascii_end()));
        let variables = read_variables(folder, has_program);
        let home = variables.split(|byte| *byte == 0).find_map(|variable| variable.strip_prefix(b"HOME="));
        Some(Process { id, programs, home: home.map(path) })
    }

    /// The variables of a process. One that begins has its program a moment before them.
    fn read_variables(folder: &Path, has_program: bool) -> Vec<u8> {
        let read = || fs_err::read(folder.join("environ")).unwrap_or_default();
        let mut variables = read();
        for _ in 0..MAX_LOOKS {
            if !variables.is_empty() || !has_program {
                break;
            }
            std::thread::sleep(LOOK_AGAIN_AFTER);
            variables = read();
        }
        variables
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod platform {
    use super::{PathBuf, Process, io};

    pub(super) fn list() -> io::Result<Vec<Process>> {
        let output = std::process::Command::new("/bin/ps").args(["-x", "-o", "pid=", "-o", "comm="]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(read_line).collect())
    }

    fn read_line(line: &str) -> Option<Process> {
        let (id, program) = line.trim().split_once(' ')?;
        Some(Process { id: id.parse().ok()?, programs: vec![PathBuf::from(program.trim())], home: None })
    }
}

#[cfg(windows)]
mod platform {
    use super::{PathBuf, Process, io};

    pub(super) fn list() -> io::Result<Vec<Process>> {
        let output = std::process::Command::new("tasklist").args(["/FO", "CSV", "/NH"]).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(read_line).collect())
    }

    fn read_line(line: &str) -> Option<Process> {
        let mut cells = line.trim().trim_matches('"').split("\",\"");
        let (program, id) = (cells.next()?, cells.next()?);
        Some(Process { id: id.parse().ok()?, programs: vec![PathBuf::from(program)], home: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn we_are_among_them_by_the_name_of_our_program() {
        let id = std::process::id();
        let own = list_own().unwrap().into_iter().find(|process| process.id == id).unwrap();
        let program = std::env::current_exe().unwrap();
        let name = program.file_name().unwrap().to_string_lossy();
        let names = own.programs.iter().filter_map(|program| program.file_name()).map(|name| name.to_string_lossy());
        // Some systems cut long names.
        assert!(names.into_iter().any(|known| name.starts_with(&*known)), "{own:?}");
    }
}
