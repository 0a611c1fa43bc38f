//! Whether an editor is closed. While it runs, it keeps its databases in memory, and writes over what others put there.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{Agent, Env, LifeSign};

use crate::own::files;
use crate::write::disk::Disk;
use crate::write::journal::Journal;
use crate::write::processes::Process;

/// A note of a process holds its number and little else.
const MAX_NOTE_BYTES: u64 = 4 << 10;

/// Why an editor's database is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotClosed {
    #[error("the editor is running (process {process}), and would write over what is added")]
    Running { process: u32 },
    #[error("whether the editor is running cannot be told: {reason}")]
    Unknown { reason: String },
}

/// Checks the editor whose databases a journal names, where it names any.
pub(crate) fn check_for_journal(
    agents: &[&'static dyn Agent],
    disk: &mut dyn Disk,
    env: &Env,
    journal: &Journal,
) -> Result<(), NotClosed> {
    if !journal.is_in_editor {
        return Ok(());
    }
    let agent = agents.iter().find(|agent| agent.facts().id == journal.target.agent);
    let Some(writer) = agent.and_then(|agent| agent.editor_writer()) else {
        return Err(NotClosed::Unknown { reason: "nothing is known of it".to_owned() });
    };
    let signs: Vec<LifeSign> = journal.rows.iter().flat_map(|rows| writer.life_signs(&rows.database)).collect();
    check_signs(disk.list_processes(), env, &signs)
}

/// Checks for signs of life; where they cannot be looked for, the editor counts as open.
pub(crate) fn check_signs(processes: io::Result<Vec<Process>>, env: &Env, signs: &[LifeSign]) -> Result<(), NotClosed> {
    let processes = processes.map_err(|error| NotClosed::Unknown { reason: error.to_string() })?;
    for sign in signs {
        let process = match sign {
            LifeSign::Program(names) => find_process(&processes, env, |program| is_named(program, names)),
            LifeSign::ProgramFolder(name) => {
                find_process(&processes, env, |program| program.iter().any(|part| part.eq_ignore_ascii_case(name)))
            }
            LifeSign::PidFile(path) => find_noted(&processes, path)?,
        };
        if let Some(process) = process {
            return Err(NotClosed::Running { process });
        }
    }
    Ok(())
}

/// A process that may use this home: one of another home's is no concern of ours, one that does not tell is.
fn find_process(processes: &[Process], env: &Env, is_meant: impl Fn(&Path) -> bool) -> Option<u32> {
    let uses_home = |process: &&Process| process.home.as_deref().is_none_or(|home| is_same_folder(home, &env.home));
    let mut found = processes.iter().filter(uses_home);
    found.find(|process| process.programs.iter().any(|program| is_meant(program))).map(|process| process.id)
}

fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs_err::canonicalize(path).unwrap_or_else(|_| PathBuf::from(path));
    one == other || real(one) == real(other)
}

/// Whether a program has one of these names, with or without an ending.
fn is_named(program: &Path, names: &[&str]) -> bool {
    let is_same =
        |name: Option<&std::ffi::OsStr>, known: &str| name.is_some_and(|name| name.eq_ignore_ascii_case(known));
    names.iter().any(|known| {
        is_same(program.file_name(), known)
            || (program.extension().is_some_and(|end| end.eq_ignore_ascii_case("exe"))
                && is_same(program.file_stem(), known))
    })
}

/// The process that a file names, if it runs. A crash leaves its note behind.
fn find_noted(processes: &[Process], path: &Path) -> Result<Option<u32>, NotClosed> {
    let unknown = |reason: &str| NotClosed::Unknown { reason: format!("{}: {reason}", path.display()) };
    let Some(note) = files::read_bounded(path, MAX_NOTE_BYTES).map_err(|error| unknown(&error.to_string()))? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(&note);
    let id: u32 = text.trim().parse().map_err(|_| unknown("it names no process"))?;
    Ok(processes.iter().any(|process| process.id == id).then_some(id))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use carryover_agents::Os;
    use carryover_core::time::Timestamp;

    use super::*;

    fn env(home: &Path) -> Env {
        Env {
            home: home.to_owned(),
            vars: BTreeMap::new(),
            os: Os::Linux,
            now: Timestamp::EPOCH,
            zone: jiff::tz::TimeZone::UTC,
            stores: BTreeMap::new(),
            projects: Vec::new(),
        }
    }

    fn process(id: u32, program: &str, home: Option<&str>) -> Process {
        Process { id, programs: vec![PathBuf::from(program)], home: home.map(PathBuf::from) }
    }

    #[test]
    fn a_program_of_this_home_is_seen_by_its_name_or_its_folder() {
        const SIGNS: &[LifeSign] = &[LifeSign::Program(&["pen", "pen-next"]), LifeSign::ProgramFolder("Pen.app")];
        let check = |program: &str, home| {
            let processes = vec![process(1, "/sbin/init", Some("/home/u")), process(7, program, home)];
            check_signs(Ok(processes), &env(Path::new("/home/u")), SIGNS)
        };
        let running = Err(NotClosed::Running { process: 7 });
        for program in ["/usr/share/pen/pen", "pen-next", "C:\\x\\..\\pen.exe", "Pen.EXE", "/A/Pen.app/Contents/x"] {
            if cfg!(windows) || !program.contains('\\') {
                assert_eq!(check(program, None), running, "{program}");
                assert_eq!(check(program, Some("/home/u")), running, "{program}");
                assert_eq!(check(program, Some("/home/other")), Ok(()), "{program}");
            }
        }
        for program in ["/usr/bin/pencil", "/usr/share/pen/helper", "pen.sh"] {
            assert_eq!(check(program, Some("/home/u")), Ok(()), "{program}");
        }
    }

    #[test]
    fn a_note_of_a_process_counts_for_as_long_as_that_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pen.lock");
        let signs = [LifeSign::PidFile(path.clone())];
        let check = || check_signs(Ok(vec![process(7, "x", None)]), &env(folder.path()), &signs);
        assert_eq!(check(), Ok(()), "there is no note");
        files::write_private(&path, b"7\n").unwrap();
        assert_eq!(check(), Err(NotClosed::Running { process: 7 }));
        files::write_private(&path, b"8").unwrap();
        assert_eq!(check(), Ok(()), "it has crashed");
        files::write_private(&path, b"somebody").unwrap();
        assert!(matches!(check(), Err(NotClosed::Unknown { .. })));
    }

    #[test]
    fn where_processes_cannot_be_listed_the_editor_counts_as_open() {
        let told = check_signs(Err(io::Error::other("no list")), &env(Path::new("/home/u")), &[]);
        assert_eq!(told, Err(NotClosed::Unknown { reason: "no list".to_owned() }));
    }
}
