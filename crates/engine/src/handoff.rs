//! From a session to its brief: read, look around, distil, mask.

use std::path::{Path, PathBuf};

use carryover_agents::AgentError;
use carryover_core::distill::{Brief, History, Quoting, Workspace, distill};

use crate::context::Context;
use crate::project::resolve;
use crate::session::Listed;
use crate::{history, workspace};

/// A session, distilled, and what it was distilled from.
pub struct Distilled {
    /// Where the work goes on.
    pub project: PathBuf,
    pub history: History,
    pub workspace: Workspace,
    pub brief: Brief,
    pub quoting: Quoting,
    /// What the user should know besides.
    pub warnings: Vec<String>,
}

/// How a session is distilled.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Where the work goes on; by default the session's own folder, else the working directory.
    pub project: Option<&'a Path>,
    /// Secrets are masked.
    pub redact: bool,
}

/// Reads a session and finds out what the next agent has to know.
pub fn distilled(context: &Context, session: &Listed, options: Options<'_>) -> Result<Distilled, AgentError> {
    let mut warnings = Vec::new();
    let history = history::for_brief(session)?;
    let project = project(context, session, &history, options.project, &mut warnings);
    let quoting = if options.redact { Quoting::Masked } else { Quoting::AsIs };
    let workspace = workspace::look(context, &project, &history);
    let workspace = if options.redact { workspace.redacted() } else { workspace };
    let brief = distill(&history, &workspace, quoting, context.env.now);
    Ok(Distilled { project, history, workspace, brief, quoting, warnings })
}

fn project(
    context: &Context,
    session: &Listed,
    history: &History,
    given: Option<&Path>,
    warnings: &mut Vec<String>,
) -> PathBuf {
    let own = history.header.project.as_deref().or(session.found.project.as_deref());
    match (given, own) {
        (Some(given), _) => resolve(given),
        (None, Some(own)) if own.is_dir() => resolve(own),
        (None, own) => {
            if let Some(own) = own {
                warnings.push(format!("{} is gone: the work goes on in this folder", own.display()));
            }
            resolve(&context.cwd)
        }
    }
}
