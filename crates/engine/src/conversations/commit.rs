//! A conversation, committed as one: its document and `.session/`, and nothing else that is staged.
//!
//! It is the user's own commit: git's settings and hooks are in force, as if it had been typed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use carryover_agents::saved::SESSION_FOLDER;
use carryover_core::plain::one_line;

use super::folder::Conversation;
use crate::client::find_program;
use crate::context::Context;
use crate::handoff::workspace::ignores_file;

#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    #[error("git was not found")]
    NoGit,
    #[error("{} is in no git repository", .0.display())]
    NoRepository(PathBuf),
    #[error("git ignores {}", .0.display())]
    Ignored(PathBuf),
    #[error("git could not be started")]
    Start(#[source] std::io::Error),
    #[error("`git {what}` failed: {said}")]
    Failed { what: &'static str, said: String },
}

/// What became of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// None where there was nothing new to commit.
    pub commit: Option<String>,
    /// Git ignores `.session/`, so only the document is in it.
    pub leaves_session: bool,
}

/// Commits a conversation.
pub fn commit_conversation(
    context: &Context,
    root: &Path,
    conversation: &Conversation,
) -> Result<Committed, CommitError> {
    let git = Git { program: find_program(context, "git").ok_or(CommitError::NoGit)?, context, root };
    let is_ignored = |path: &Path| {
        let inside = path.strip_prefix(root).unwrap_or(path).display().to_string();
        ignores_file(context, root, &inside)
    };
    let document = conversation.document_file();
    match is_ignored(&document) {
        None => return Err(CommitError::NoRepository(root.to_owned())),
        Some(true) => return Err(CommitError::Ignored(document)),
        Some(false) => {}
    }
    let leaves_session = is_ignored(&conversation.session_file()) == Some(true);
    let mut paths = vec![document];
    if !leaves_session {
        paths.push(conversation.folder.join(SESSION_FOLDER));
    }
    git.run("add", &[], &paths)?;
    if git.run("diff", &["--cached", "--quiet"], &paths).is_ok() {
        return Ok(Committed { commit: None, leaves_session });
    }
    let message = format!("conversation: save {}", one_line(&conversation.id, 200));
    if let Err(error) = git.run("commit", &["--quiet", "--message", &message], &paths) {
        // What was staged by us is not left behind.
        git.run("reset", &["--quiet"], &paths).ok();
        return Err(error);
    }
    let commit = git.run("rev-parse", &["--short", "HEAD"], &[])?;
    Ok(Committed { commit: Some(commit.trim().to_owned()), leaves_session })
}

struct Git<'a> {
    program: PathBuf,
    context: &'a Context,
    root: &'a Path,
}

impl Git<'_> {
    fn run(&self, what: &'static str, options: &[&str], paths: &[PathBuf]) -> Result<String, CommitError> {
        let mut command = Command::new(&self.program);
        // The name of a folder is no pattern.
        command.args(["--literal-pathspecs", "--no-pager", what]).args(options);
        if !paths.is_empty() {
            command.arg("--").args(paths);
        }
        command.current_dir(self.root).env_clear().envs(&self.context.env.vars).env("HOME", &self.context.env.home);
        let output = command.stdin(Stdio::null()).output().map_err(CommitError::Start)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = [output.stderr, output.stdout].concat();
        Err(CommitError::Failed { what, said: one_line(String::from_utf8_lossy(&said).trim(), 400) })
    }
}
