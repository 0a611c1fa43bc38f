//! The one error of commands: what kind it is, what happened, what to do about it.
//!
//! Hints name commands, so they are chosen here and not where the error arises.

mod sharing;

use std::error::Error;
use std::io;
use std::process::ExitCode;

use carryover_agents::AgentError;
use carryover_agents::formats::sqlite::DatabaseTrouble;
use carryover_engine::capsule::workspace::TakeBackError;
use carryover_engine::carry::resume::ResumeError;
use carryover_engine::install::InstallError;
use carryover_engine::ledger::restore::RestoreError;
use carryover_engine::ledger::{LedgerError, LookupError};
use carryover_engine::memory::sync_plan::SyncError;
use carryover_engine::own::config::{self, ConfigError, Place};
use carryover_engine::sessions::select::SelectError;
use carryover_engine::write::new_rows::AddRowsError;
use carryover_engine::write::undo::{UndoError, UsedFile};

use crate::ui::Ui;
use crate::{EXIT_BUG, EXIT_USAGE};

/// Kinds of failure, each with an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    NoAgent,
    NotFound,
    Io,
    CannotFit,
    Usage,
    Bug,
    /// A question was left unanswered, which needs no words and is no failure.
    Left,
    /// A client that was run for its user has ended with this code, and has told why itself.
    Client(u8),
    /// Nobody reads any more: the end, and a fine one.
    BrokenPipe,
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) kind: ErrorKind,
    error: Box<dyn Error>,
    /// Lines that belong to the message, such as the sessions that fit.
    pub(crate) details: Vec<String>,
    pub(crate) hints: Vec<String>,
}

impl CommandError {
    pub(crate) fn new(kind: ErrorKind, error: impl Into<Box<dyn Error>>) -> Self {
        Self { kind, error: error.into(), details: Vec::new(), hints: Vec::new() }
    }

    pub(crate) fn usage(error: impl Into<Box<dyn Error>>) -> Self {
        Self::new(ErrorKind::Usage, error)
    }

    /// Somebody was asked and went away.
    pub(crate) fn left() -> Self {
        Self::new(ErrorKind::Left, "nothing was chosen")
    }

    /// Something that cannot happen did, in this place of the code.
    pub(crate) fn bug(place: &str) -> Self {
        Self::new(ErrorKind::Bug, format!("carryover stopped because of a bug of its own, at {place}"))
            .with_hint("`carryover doctor` tells whether something was left unfinished")
    }

    /// Adds what to do about it.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds lines that belong to the message.
    #[must_use]
    pub(crate) fn with_details(mut self, details: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(details);
        self
    }

    /// What happened and why, in one line, for a log.
    pub(crate) fn to_line(&self) -> String {
        let is_told = |label: &str| label != "hint";
        let lines = self.message_lines().into_iter().filter(|(label, _)| is_told(label));
        lines.map(|(_, text)| text).collect::<Vec<_>>().join(": ")
    }

    fn exit_code(&self) -> ExitCode {
        match self.kind {
            ErrorKind::BrokenPipe | ErrorKind::Left => ExitCode::SUCCESS,
            ErrorKind::Client(code) => ExitCode::from(code),
            ErrorKind::NoAgent => ExitCode::from(1),
            ErrorKind::NotFound => ExitCode::from(2),
            ErrorKind::Io => ExitCode::from(3),
            ErrorKind::CannotFit => ExitCode::from(4),
            ErrorKind::Usage => ExitCode::from(EXIT_USAGE),
            ErrorKind::Bug => ExitCode::from(EXIT_BUG),
        }
    }

    /// Labels and texts, in the order in which they are shown.
    fn message_lines(&self) -> Vec<(&'static str, String)> {
        let mut lines = vec![("error", self.error.to_string())];
        let mut last = self.error.to_string();
        let mut cause = self.error.source();
        while let Some(next) = cause {
            // Transparent errors repeat the message of their source.
            let text = next.to_string();
            if text != last {
                lines.push(("caused by", text.clone()));
            }
            last = text;
            cause = next.source();
        }
        lines.extend(self.details.iter().map(|detail| ("", detail.clone())));
        lines.extend(self.hints.iter().map(|hint| ("hint", hint.clone())));
        lines
    }
}

/// Shows an error and says with which code to end.
pub(crate) fn report(ui: &mut Ui, error: &CommandError) -> ExitCode {
    if matches!(error.kind, ErrorKind::BrokenPipe | ErrorKind::Left | ErrorKind::Client(_)) {
        return error.exit_code();
    }
    match ui.error(&error.message_lines()) {
        Ok(()) => error.exit_code(),
        Err(lost) => CommandError::from(lost).exit_code(),
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe { ErrorKind::BrokenPipe } else { ErrorKind::Io };
        Self::new(kind, error)
    }
}

impl From<AgentError> for CommandError {
    fn from(error: AgentError) -> Self {
        let hint = recovery_hint(&error);
        Self::new(ErrorKind::Io, error).with_hint(hint)
    }
}

/// The hint for a session that cannot be read.
fn recovery_hint(error: &AgentError) -> &'static str {
    match error {
        AgentError::Moved { .. } => "run it again: the session is being written",
        AgentError::Captured { .. } => {
            "write it anew with `carryover show ID --format uasf`, or read it with a newer carryover"
        }
        AgentError::Saved { .. } => {
            "`git log -p` on that file shows what happened to it; `carryover save` writes it anew"
        }
        AgentError::CannotHold { .. } => "hand it over in words: `carryover handoff --target AGENT`",
        _ => match error.database_trouble() {
            Some(DatabaseTrouble::InUse) => {
                "run it again: its client is at work in it; if it stays so, close the client"
            }
            Some(DatabaseTrouble::HalfChanged) => "start its client and close it again, which takes that change back",
            _ => LIST_HINT,
        },
    }
}

/// What to do where no agent has left anything.
pub(crate) const NO_AGENT_HINTS: [&str; 2] = [
    "run `carryover info` to see where carryover looks for sessions",
    "`carryover demo` shows how it works, without any agent",
];

const LIST_HINT: &str = "run `carryover list --all` to see the sessions that can be read";

impl From<SelectError> for CommandError {
    fn from(error: SelectError) -> Self {
        let kind = match &error {
            SelectError::NoAgent => ErrorKind::NoAgent,
            SelectError::NotFound(_) | SelectError::NoneHere | SelectError::Ambiguous { .. } => ErrorKind::NotFound,
            SelectError::NotRecognised(_) | SelectError::Agent(_) => ErrorKind::Io,
            SelectError::SeveralAgents { .. } => ErrorKind::Usage,
        };
        let hints = match &error {
            SelectError::NoAgent => NO_AGENT_HINTS.to_vec(),
            SelectError::NotFound(_) => vec![
                "run `carryover list --all` to see every session",
                "`carryover search WORDS` looks for words in everything that was said",
            ],
            SelectError::NoneHere => vec!["name a session of another project: `carryover list --all` shows them"],
            SelectError::Ambiguous { .. } => vec!["name one by its id"],
            SelectError::SeveralAgents { .. } => vec!["say whose it is with `--source AGENT`"],
            SelectError::NotRecognised(_) => vec![LIST_HINT],
            SelectError::Agent(error) => vec![recovery_hint(error)],
        };
        hints.into_iter().fold(Self::new(kind, error), Self::with_hint)
    }
}

impl From<ResumeError> for CommandError {
    fn from(error: ResumeError) -> Self {
        let kind = match &error {
            ResumeError::CannotFit { .. } => ErrorKind::CannotFit,
            ResumeError::NoProject(_) => ErrorKind::Usage,
            _ => ErrorKind::Io,
        };
        let hint = match &error {
            ResumeError::CannotFit { .. } => Some("allow more with `--tokens N` if the target's model takes more"),
            ResumeError::NoProject(_) => Some("name a folder that exists with `--project`"),
            ResumeError::OpenDocument(_) => {
                Some("nothing was written: move it out of the project, or delete it, and save again")
            }
            ResumeError::NoWriter(_) => Some("run `carryover detect` to see which agents can take sessions"),
            ResumeError::Agent(error) => Some(recovery_hint(error)),
            ResumeError::EditorOpen { .. } | ResumeError::Rows(AddRowsError::Locked(_)) => {
                Some("close it and run this again in a terminal of its own, or leave a brief with `--context-only`")
            }
            ResumeError::Rows(_) => Some("leave a brief instead, with `--context-only`"),
            ResumeError::Empty(_) => {
                Some("if something was said in it, its format has changed: run `carryover doctor`")
            }
            _ => None,
        };
        let own_hint = match &error {
            ResumeError::Run { program, .. } => Some(format!(
                "see that `{program}` starts by itself, then run this again; `--target` names another agent"
            )),
            _ => hint.map(str::to_owned),
        };
        let details = match &error {
            ResumeError::Empty(unread) => unread.warnings(),
            ResumeError::Run { program, said, .. } => said.iter().map(|line| format!("{program}: {line}")).collect(),
            _ => Vec::new(),
        };
        own_hint.into_iter().fold(Self::new(kind, error), Self::with_hint).with_details(details)
    }
}

impl From<UndoError> for CommandError {
    fn from(error: UndoError) -> Self {
        let kind = match &error {
            UndoError::Nothing
            | UndoError::NothingHere
            | UndoError::NotFound(_)
            | UndoError::Ambiguous { .. }
            | UndoError::FilesLeft { .. } => ErrorKind::NotFound,
            _ => ErrorKind::Io,
        };
        let hints = match &error {
            UndoError::Nothing => vec!["what `carryover resume` adds can be taken back, once".into()],
            UndoError::NotFound(_) => vec!["`carryover undo --list` shows the resumes that can be taken back".into()],
            UndoError::Ambiguous { .. } => vec!["name one by more of its id".into()],
            UndoError::NothingHere => vec!["name one of another project by its id: `carryover undo ID --force`".into()],
            UndoError::Used { id, used: UsedFile::Session, .. } => {
                vec![format!("`carryover undo {id} --force` takes it back all the same, with what was added there")]
            }
            UndoError::Used { id, used: UsedFile::Document, .. } => {
                vec![format!("`carryover undo {id} --force` takes back the rest, and leaves the document")]
            }
            UndoError::Used { id, .. } => vec![format!("`carryover undo {id} --force` takes it back all the same")],
            UndoError::SavedAgain { later, .. } => {
                vec![format!("`carryover undo {later}` takes the later save back first")]
            }
            UndoError::Unreadable { .. } => vec![
                "another resume is taken back by its id: `carryover undo ID`".into(),
                "if nothing is to be undone by that file, remove it; `carryover doctor` names all such files".into(),
            ],
            UndoError::Files { id, is_alone, source } => {
                let session = format!("`carryover undo {id}` takes the session back and leaves all files");
                let rest = format!("`carryover undo {id} --files --force` takes back those that nobody has changed");
                let is_changed = matches!(source, TakeBackError::Changed { .. });
                (!is_alone).then_some(session).into_iter().chain(is_changed.then_some(rest)).collect()
            }
            UndoError::FilesInUse { id, .. } => vec![
                format!("`carryover undo {id}` takes its own session back and leaves all files"),
                format!("`carryover undo {id} --files --force` takes the files back all the same"),
            ],
            UndoError::FilesLeft { id, .. } => vec![format!("`carryover undo {id} --files` takes them back")],
            UndoError::NoFiles { .. } => vec![
                "files that were there already, or were written over others with `import --force`, stay".into(),
                "without `--files`, `carryover undo` takes the session back".into(),
            ],
            UndoError::EditorOpen { agent, .. } => {
                let name = carryover_agents::agent_by_name(agent).map_or(agent.as_str(), |agent| agent.facts().name);
                vec![format!("close the editor of {name} and run this again in a terminal of its own")]
            }
            UndoError::Running { id, .. } => vec![format!("once it has ended, `carryover undo {id}` takes it back")],
            UndoError::Foreign { .. } => vec![
                "if that session is to go, remove it yourself; then `carryover undo` takes back what is left".into(),
            ],
            UndoError::OutOfReach { .. } => vec![
                "if a variable moved the agent's store when it was written, set it as it was and try again".into(),
                "else somebody has changed the journal: look into it, and remove it".into(),
            ],
            _ => Vec::new(),
        };
        hints.into_iter().fold(Self::new(kind, error), Self::with_hint)
    }
}

impl From<LedgerError> for CommandError {
    fn from(error: LedgerError) -> Self {
        let hint = match &error {
            LedgerError::Newer { .. } => Some("update carryover, or move that file away: a new one is then begun"),
            LedgerError::Busy { .. } => Some("run it again once that has ended"),
            _ => None,
        };
        hint.into_iter().fold(Self::new(ErrorKind::Io, error), Self::with_hint)
    }
}

impl From<LookupError> for CommandError {
    fn from(error: LookupError) -> Self {
        match error {
            LookupError::Ledger(error) => error.into(),
            LookupError::NotFound(_) => Self::new(ErrorKind::NotFound, error)
                .with_hint("run `carryover restore` to see the sessions that were deleted"),
            LookupError::Ambiguous { .. } => {
                Self::new(ErrorKind::NotFound, error).with_hint("name one by its id, or its agent with `--source`")
            }
        }
    }
}

impl From<RestoreError> for CommandError {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Resume(error) => error.into(),
            RestoreError::Ledger(error) => error.into(),
            RestoreError::StillThere { .. } => Self::new(ErrorKind::Usage, error)
                .with_hint("`carryover resume` goes on with it; `--project FOLDER` copies it into another folder"),
            RestoreError::NothingKept(_) | RestoreError::UnknownAgent(_) => Self::new(ErrorKind::Io, error),
        }
    }
}

impl From<SyncError> for CommandError {
    fn from(error: SyncError) -> Self {
        let kind = match &error {
            SyncError::Io { .. } | SyncError::Busy(_) | SyncError::Unreadable { .. } => ErrorKind::Io,
            SyncError::Missing(_) | SyncError::NoFiles(_) | SyncError::ReadsNothing(_) => ErrorKind::NotFound,
            _ => ErrorKind::Usage,
        };
        let hint = match &error {
            SyncError::NoProject(_) => "name the folder of a project with `--project`",
            SyncError::NoFiles(_) | SyncError::Empty(_) => {
                "write what all agents should know into AGENTS.md, then run it again"
            }
            SyncError::Several(_) => "name one of them with `--from`",
            SyncError::Missing(_) | SyncError::NotRead(_) | SyncError::ReadsNothing(_) => {
                "`carryover memory --all` shows which agent reads which file"
            }
            SyncError::Private { .. } => {
                "put what all may know into AGENTS.md, then run `carryover memory sync --from AGENTS.md`"
            }
            SyncError::Unasked { .. } => {
                "`git status` there says why; git must be on the PATH, trust the folder and find its repository whole"
            }
            SyncError::Unreadable { .. } => "name another source with `--from`",
            SyncError::Busy(_) => "run it again",
            SyncError::Io { .. } => "nothing was changed; once that is mended, run it again",
        };
        Self::new(kind, error).with_hint(hint)
    }
}

impl From<InstallError> for CommandError {
    fn from(error: InstallError) -> Self {
        let hint = explain_install_error(&error, "run it again");
        Self::new(ErrorKind::Io, error).with_hint(hint)
    }
}

/// What to do about a file that could not be changed; `again` is how it is tried once more.
pub(crate) fn explain_install_error(error: &InstallError, again: &str) -> String {
    match error {
        InstallError::Json { .. } | InstallError::ReadList { .. } | InstallError::NotText(_) => {
            format!("nothing was changed in it; mend that place, then {again}")
        }
        InstallError::NotOurs(_) => format!("it was left alone; move it away, then {again}"),
        InstallError::ReadOnly(_) => format!("it was left alone; make it writable, then {again}"),
        InstallError::BrokenLink(_) | InstallError::NotAFile(_) => {
            format!("it was left alone; put a file in its place, then {again}")
        }
        InstallError::Changed(_) => format!("nothing was changed in it; {again}"),
        InstallError::NoPlace => "its sessions are watched all the same: `carryover watch`".to_owned(),
        InstallError::Record { .. } => {
            "update carryover, or move that file away and run `carryover install` again".to_owned()
        }
        InstallError::ProgramName(_) => format!("call the program `carryover`, then {again}"),
        InstallError::ForeignHome(_) => "run it as that user, without sudo".to_owned(),
        InstallError::Io(_) => format!("once that is mended, {again}"),
    }
}

impl From<ConfigError> for CommandError {
    fn from(error: ConfigError) -> Self {
        // A file that is wrong is no mistake on the command line.
        let is_asked = matches!(error.wrong_key(), Some((_, Place::Argument)));
        let kind = if is_asked { ErrorKind::Usage } else { ErrorKind::Io };
        let mut hints: Vec<String> =
            error.suggestion().map(|suggestion| format!("did you mean `{suggestion}`?")).into_iter().collect();
        match &error {
            ConfigError::UnknownKey { place: Place::Argument, .. } if hints.is_empty() => {
                let names: Vec<&str> = config::all_keys().iter().map(|key| key.name).collect();
                hints.push(format!("the keys are {}", names.join(", ")));
            }
            ConfigError::Syntax { .. } => hints.push("mend it, or move it away: the defaults hold then".into()),
            _ => {}
        }
        if let Some((key, Place::File { .. })) = error.wrong_key() {
            hints.push(format!("`carryover config unset {key}` takes it out"));
        }
        hints.into_iter().fold(Self::new(kind, error), Self::with_hint)
    }
}
