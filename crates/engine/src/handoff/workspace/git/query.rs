//! Asking git without letting it start anything.
//!
//! A repository's own settings name programs: filters, monitors, hooks, transports. Whoever looks at a folder has not
//! agreed to run what came with it, so every question is put with all of them switched off. Filters have names of the
//! repository's choice; they are listed first, which starts nothing, and each is emptied.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::client::find_program;
use crate::context::Context;
use crate::own::files;
use crate::sessions::project::resolve_path;

const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_ANSWER_BYTES: u64 = 4 << 20;
const LONG_TIMEOUT: Duration = Duration::from_mins(2);
const MAX_LONG_ANSWER_BYTES: u64 = 256 << 20;
const MAX_LINK_BYTES: u64 = 16 << 10;

/// Settings that win over those of the repository. The last ones start nothing, but would change the answers.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "log.showSignature=false",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
    "diff.submodule=short",
    "diff.ignoreSubmodules=all",
    "protocol.allow=never",
    // A clone can bring a folder that looks like a repository, settings included.
    "safe.bareRepository=explicit",
    "core.quotePath=false",
    "color.ui=false",
    "color.status=false",
    "color.diff=false",
    "color.branch=false",
    "log.mailmap=false",
];

/// Environment variables for the program, besides the search path.
const VARIABLES: &[(&str, &str)] = &[
    ("LC_ALL", "C.UTF-8"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Objects that a partial clone left out stay out; older versions know the second alone, and know no such transport.
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_ALLOW_PROTOCOL", "none"),
];

/// Those of the user's that it is given: where to find programs, and where the user's own settings are, which name files that
/// are to be ignored.
const PASSED_VARIABLES: &[&str] =
    &["PATH", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"];

/// How long an answer may take, and how long it may be.
#[derive(Clone, Copy)]
struct Bounds {
    timeout: Duration,
    answer_bytes: u64,
}

/// Asks git about one folder.
pub(crate) struct GitQuery<'a> {
    program: PathBuf,
    context: &'a Context,
    project: &'a Path,
    /// The folder that the repository is in.
    root: &'a Path,
    bounds: Bounds,
}

impl<'a> GitQuery<'a> {
    pub(crate) fn new(context: &'a Context, project: &'a Path) -> Option<Self> {
        // Cheaper than to ask, and the answer for most folders that are no repositories.
        let root = find_repository(project)?;
        let bounds = Bounds { timeout: TIMEOUT, answer_bytes: MAX_ANSWER_BYTES };
        Some(Self { program: find_program(context, "git")?, context, project, root, bounds })
    }

    /// The same for questions about every file of a large repository.
    #[must_use]
    pub(crate) fn with_patience(self) -> Self {
        let bounds = Bounds { timeout: LONG_TIMEOUT, answer_bytes: MAX_LONG_ANSWER_BYTES };
        Self { bounds, ..self }
    }

    /// The folder that the repository is in.
    pub(crate) fn root(&self) -> &'a Path {
        self.root
    }

    /// The answer to a question that does not look into files; none where it fails, answers too much or takes too
    /// long.
    pub(crate) fn ask(&self, args: &[&str]) -> Option<String> {
        self.run_git(&[], args).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The same for questions that compare files, which are what filters are for.
    pub(super) fn ask_unfiltered(&self, filters: &FilterOverrides, args: &[&str]) -> Option<String> {
        self.run_git(&filters.0, args).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The same as bytes: names of files need be no text.
    pub(crate) fn ask_bytes(&self, filters: &FilterOverrides, args: &[&str]) -> Option<Vec<u8>> {
        self.run_git(&filters.0, args)
    }

    /// Why git knows no repository here, in its own words; none where it does, or says nothing.
    pub(crate) fn complaint(&self) -> Option<String> {
        let mut command = self.command(&[], &["rev-parse", "--show-toplevel"]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().ok()?;
        let told = child.stderr.take()?;
        let (status, told) = read_pipe(child, told, self.bounds)?;
        let told = String::from_utf8_lossy(&told);
        let first = told.lines().next().filter(|line| !status.success() && !line.is_empty())?;
        Some(first.strip_prefix("fatal: ").unwrap_or(first).to_owned())
    }

    /// Settings without which no filter runs; none where one cannot be switched off, or where the files are not in this
    /// folder, but wherever the repository says.
    pub(crate) fn disable_filters(&self) -> Option<FilterOverrides> {
        let top = self.ask(&["rev-parse", "--show-toplevel"])?;
        if resolve_path(Path::new(trim_line_end(&top))) != resolve_path(self.root) {
            return None;
        }
        let listed = self.run_git(&[], &["config", "--list", "--name-only", "--includes", "-z"])?;
        FilterOverrides::from_names(&listed)
    }

    /// Whether the repository is in this folder or says itself that it belongs here, as that of a linked work tree or of
    /// a submodule does. Any other is somebody else's, and what it tells is not for the reader of this one.
    pub(crate) fn is_own(&self) -> bool {
        let place = |args: &[&str]| Some(resolve_path(&self.project.join(trim_line_end(&self.ask(args)?))));
        let Some(folder) = place(&["rev-parse", "--absolute-git-dir"]) else { return false };
        let Some(shared) = place(&["rev-parse", "--git-common-dir"]) else { return false };
        let root = resolve_path(self.root);
        if folder.starts_with(&root) {
            return shared.starts_with(&root);
        }
        let back = files::read_bounded(&folder.join("gitdir"), MAX_LINK_BYTES).ok().flatten();
        let linked = back.is_some_and(|back| {
            let back = folder.join(trim_line_end(&String::from_utf8_lossy(&back)));
            back.parent().is_some_and(|back| resolve_path(back) == root)
        });
        let named = || named_work_tree(&folder, &self.ask(&["config", "--get", "core.worktree"])?);
        folder.starts_with(&shared) && (linked || named().is_some_and(|named| named == root))
    }

    fn run_git(&self, settings: &[String], args: &[&str]) -> Option<Vec<u8>> {
        let mut command = self.command(settings, args);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
        read_output(child, self.bounds)
    }

    /// The program, about to be told something on its input.
    pub(crate) fn unfiltered_command(&self, filters: &FilterOverrides, args: &[&str]) -> Command {
        self.command(&filters.0, args)
    }

    fn command(&self, settings: &[String], args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["--no-pager", "--no-optional-locks"]);
        for setting in SETTINGS.iter().copied().chain(settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        command.args(args).current_dir(self.project).env_clear();
        command.env("HOME", &self.context.env.home).envs(VARIABLES.iter().copied());
        if let Some(above) = self.root.parent() {
            command.env("GIT_CEILING_DIRECTORIES", above);
        }
        for name in PASSED_VARIABLES {
            if let Some(value) = self.context.env.var(name) {
                command.env(name, value);
            }
        }
        command
    }
}

/// The nearest folder with a repository of its own, whether that is whole or not.
pub(crate) fn find_repository(project: &Path) -> Option<&Path> {
    project.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
}

/// The work tree that a repository names, which may be told from where the repository is.
fn named_work_tree(folder: &Path, told: &str) -> Option<PathBuf> {
    let told = trim_line_end(told);
    (!told.is_empty()).then(|| resolve_path(&folder.join(told)))
}

fn trim_line_end(answer: &str) -> &str {
    answer.trim_end_matches(['\n', '\r'])
}

/// Settings that empty every filter.
pub(crate) struct FilterOverrides(Vec<String>);

impl FilterOverrides {
    /// From the names of all settings, a NUL behind each.
    fn from_names(names: &[u8]) -> Option<Self> {
        let mut settings = Vec::new();
        for name in names.split(|byte| *byte == 0).filter(|name| name.starts_with(b"filter.")) {
            let name = std::str::from_utf8(name).ok()?;
            // Git takes what is before the first such sign for the name of the setting.
            if name.contains('=') {
                return None;
            }
            let Some((filter, _)) = name.rsplit_once('.').filter(|(filter, _)| filter.contains('.')) else { continue };
            let empty = ["clean=", "smudge=", "process=", "required=false"].map(|key| format!("{filter}.{key}"));
            if !settings.contains(&empty[0]) {
                settings.extend(empty);
            }
        }
        Some(Self(settings))
    }
}

/// The output of a program within the time that it has.
fn read_output(mut child: Child, bounds: Bounds) -> Option<Vec<u8>> {
    let output = child.stdout.take()?;
    let (status, bytes) = read_pipe(child, output, bounds)?;
    // Half an answer would be another one.
    (status.success() && bytes.len() as u64 <= bounds.answer_bytes).then_some(bytes)
}

/// What a program says through one pipe, and how it ended.
fn read_pipe(mut child: Child, output: impl Read + Send + 'static, bounds: Bounds) -> Option<(ExitStatus, Vec<u8>)> {
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        output.take(bounds.answer_bytes + 1).read_to_end(&mut bytes).map(|_| bytes)
    });
    let end = Instant::now() + bounds.timeout;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < end && !reader.is_finished() => {
                std::thread::sleep(Duration::from_millis(1));
            }
            // It has said all that we read: it ends now, or is ended.
            Ok(None) if reader.is_finished() => break child.wait().ok(),
            _ => {
                child.kill().ok();
                child.wait().ok();
                return None;
            }
        }
    };
    let bytes = reader.join().ok()?.ok()?;
    Some((status?, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_emptied_and_one_that_cannot_be_is_not_asked() {
        let settings = |names: &str| FilterOverrides::from_names(names.as_bytes()).map(|unfiltered| unfiltered.0);
        let named = settings("core.bare\0filter.a.b.clean\0filter.a.b.required\0filter..process\0filter.x\0").unwrap();
        assert_eq!(named[0], "filter.a.b.clean=");
        assert_eq!(named[4..], ["filter..clean=", "filter..smudge=", "filter..process=", "filter..required=false"]);
        assert_eq!(settings("filter.a=b.clean\0"), None);
        assert!(FilterOverrides::from_names(b"filter.\xff.clean\0").is_none());
    }
}
