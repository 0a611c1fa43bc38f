//! Masking in everything that a rendering takes, once and before anything is cut.
//!
//! Every field is named, so that a new one cannot be forgotten.

use std::borrow::Cow;
use std::path::PathBuf;

use super::redact;
use crate::distill::{
    Brief, CommandRun, Commit, Decision, Deed, Drift, Ended, ErrorSeen, FailedApproach, FileNow, FileTouched, Git,
    Item, Limit, Step, Story, Workspace,
};
use crate::render::session::{ChangedFile, Conversation, ConversationMessage, Project, Task};
use crate::render::{SessionJson, Uasf, UasfEvent, UasfSession};
use crate::transcript::{Action, Change, Failure, Header, Hunk, PlanStep, Question, StepChange};

impl Brief {
    /// The same brief with its secrets masked.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.mask();
        self
    }
}

/// So many steps are worth a thread.
const MANY: usize = 512;

impl Story {
    /// The same story with its secrets masked.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        let Self { header, steps, live_from: _ } = &mut self;
        header.mask();
        // Nearly all of it is in the steps, and there may be many.
        crate::parts::each(steps, MANY, Mask::mask);
        self
    }
}

impl Workspace {
    /// The same facts with their secrets masked.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.mask();
        self
    }
}

impl SessionJson {
    /// The same capture with its secrets masked: it may have been written without.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.mask();
        self
    }
}

impl Uasf {
    /// The same transcript with its secrets masked: it may have been written without.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.mask();
        self
    }
}

/// Something whose texts can be masked in place.
trait Mask {
    fn mask(&mut self);
}

impl Mask for String {
    fn mask(&mut self) {
        if let Cow::Owned(masked) = redact(self) {
            *self = masked;
        }
    }
}

/// A path that is not text has no secret that a rendering could show.
impl Mask for PathBuf {
    fn mask(&mut self) {
        if let Some(Cow::Owned(masked)) = self.to_str().map(redact) {
            *self = Self::from(masked);
        }
    }
}

impl<T: Mask> Mask for Option<T> {
    fn mask(&mut self) {
        self.iter_mut().for_each(Mask::mask);
    }
}

impl<T: Mask> Mask for Vec<T> {
    fn mask(&mut self) {
        self.iter_mut().for_each(Mask::mask);
    }
}

impl Mask for (String, String) {
    fn mask(&mut self) {
        self.0.mask();
        self.1.mask();
    }
}

/// Masks the fields that hold text, and names those that do not.
macro_rules! mask_fields {
    ($type:ident { $($text:ident),* $(,)? } keeps { $($other:ident),* $(,)? }) => {
        impl Mask for $type {
            fn mask(&mut self) {
                let Self { $($text,)* $($other: _,)* } = self;
                $($text.mask();)*
            }
        }
    };
}

mask_fields!(Brief {
    title, project, model, tools, task, requests, done, in_progress, remaining, next, decisions, failed, blockers, questions,
    files, commands, errors, references, action_items, remarks, limit, git, commits, drift,
} keeps { agent, session, started_at, updated_at, made_at, messages });
mask_fields!(Item { text } keeps { voice, at, cites });
mask_fields!(Decision { what, reason } keeps {});
mask_fields!(FailedApproach { what, reason } keeps { tries });
mask_fields!(FileTouched { path, symbols } keeps { change, at, tests, cites });
mask_fields!(CommandRun { command, tests } keeps { runs, failures, exit_code, failed, at, cites });
mask_fields!(ErrorSeen { what, resolution } keeps {});
mask_fields!(Limit { what } keeps { resets_at });
mask_fields!(Drift { commits, files } keeps {});
mask_fields!(Git { branch, head, status, diff_stat, log } keeps {});
mask_fields!(Commit { author, subject, files } keeps { id, at });
mask_fields!(Workspace { root, name, git, tree, memory, files } keeps {});
mask_fields!(FileNow { path, text } keeps { exists, modified_at });
mask_fields!(Header { title, project, branch, model } keeps {
    agent, session, title_rank, client_version, started_at, updated_at, permission, closing, parent, children, files,
});
mask_fields!(Step { deed } keeps { key, at });
mask_fields!(Ended { text } keeps { key, at, status, exit_code });
mask_fields!(Failure { message } keeps { kind, resets_at });
mask_fields!(Hunk { context, old, new } keeps { everywhere });
mask_fields!(PlanStep { text } keeps { state });
mask_fields!(Question { text, options } keeps {});

mask_fields!(SessionJson { project, conversation, files_changed, decisions, blockers, task } keeps {
    version, source, captured_at, session_id, session_started_at,
});
mask_fields!(Project { path, name, git_branch, git_status, git_log, structure, memory_file_contents } keeps {});
mask_fields!(Conversation { summary, messages } keeps { message_count, estimated_tokens });
mask_fields!(ConversationMessage { content, tool_name } keeps { role, timestamp, token_count });
mask_fields!(ChangedFile { path, diff } keeps { change_type, language });
mask_fields!(Task { description, completed, remaining, in_progress, blockers } keeps {});
mask_fields!(Uasf { session, events } keeps {});
mask_fields!(UasfSession { cwd, git_branch, model } keeps { id, agent, started_at, version });

impl Mask for UasfEvent {
    fn mask(&mut self) {
        match self {
            Self::UserMessage { content } | Self::AssistantText { content } | Self::Thinking { content } => {
                content.mask();
            }
            Self::FileRead { path, content } => {
                path.mask();
                content.mask();
            }
            Self::FileEdit { path, old, new } => {
                path.mask();
                old.mask();
                new.mask();
            }
            Self::FileWrite { path, content } | Self::FileSnapshot { path, content } => {
                path.mask();
                content.mask();
            }
            Self::ShellCommand { command, output, exit_code: _ } => {
                command.mask();
                output.mask();
            }
            Self::CodeSearch { tool, query, results } => {
                tool.mask();
                query.mask();
                results.mask();
            }
            Self::Error { message } => message.mask(),
        }
    }
}

impl Mask for Deed {
    fn mask(&mut self) {
        match self {
            Self::Prompt { text, images: _ }
            | Self::Attached { text }
            | Self::Reply { text }
            | Self::Reasoning { text }
            | Self::Summary { text } => text.mask(),
            Self::Call { tool, action, ended } => {
                tool.mask();
                action.mask();
                ended.mask();
            }
            Self::Failure(failure) => failure.mask(),
        }
    }
}

impl Mask for Action {
    fn mask(&mut self) {
        match self {
            Self::Run { command, workdir } => {
                command.mask();
                workdir.mask();
            }
            Self::Read { path, offset: _, limit: _ } | Self::View { path } => path.mask(),
            Self::Write { path, content } => {
                path.mask();
                content.mask();
            }
            Self::Edit(changes) => changes.mask(),
            Self::Grep { pattern, path, glob } => {
                pattern.mask();
                path.mask();
                glob.mask();
            }
            Self::Glob { pattern, path } => {
                pattern.mask();
                path.mask();
            }
            Self::Fetch { url } => url.mask(),
            Self::Plan(steps) => steps.mask(),
            Self::Ask(questions) => questions.mask(),
            Self::Propose { plan } => plan.mask(),
            Self::Step(change) => change.mask(),
            Self::Delegate { prompt, description } => {
                prompt.mask();
                description.mask();
            }
            Self::Other => {}
        }
    }
}

impl Mask for StepChange {
    fn mask(&mut self) {
        match self {
            Self::Add { id, text } => {
                id.mask();
                text.mask();
            }
            Self::Update { id, text, state: _ } => {
                id.mask();
                text.mask();
            }
            Self::Drop { id } => id.mask(),
        }
    }
}

impl Mask for Change {
    fn mask(&mut self) {
        match self {
            Self::Add { path, content } => {
                path.mask();
                content.mask();
            }
            Self::Update { path, moved_to, hunks } => {
                path.mask();
                moved_to.mask();
                hunks.mask();
            }
            Self::Delete { path } => path.mask(),
        }
    }
}
