//! From a session to its brief: read, look around, distil, mask.

use std::path::{Path, PathBuf};

use carryover_agents::AgentError;
use carryover_core::distill::{Brief, Story, Workspace, distill_heard};

use crate::context::Context;
use crate::project::resolve;
use crate::session::Listed;
use crate::story::{self, Telling};
use crate::workspace;

/// A session, distilled, and what it was distilled from.
pub struct Distilled {
    /// Where the work goes on.
    pub project: PathBuf,
    pub story: Story,
    pub workspace: Workspace,
    pub brief: Brief,
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
    let Telling { mut story, heard } = story::telling(session, options.redact)?;
    let project = project(context, session, &story, options.project, &mut warnings);
    let mut workspace = workspace::look(context, &project, &story);
    if options.redact {
        story = story.redacted();
        workspace = workspace.redacted();
    }
    let brief = distill_heard(&story, &heard, &workspace, context.env.now);
    Ok(Distilled { project, story, workspace, brief, warnings })
}

fn project(
    context: &Context,
    session: &Listed,
    story: &Story,
    given: Option<&Path>,
    warnings: &mut Vec<String>,
) -> PathBuf {
    let own = story.header.project.as_deref().or(session.found.project.as_deref());
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
