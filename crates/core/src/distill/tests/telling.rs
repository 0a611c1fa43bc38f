//! Short stories for tests.

use crate::distill::{Brief, Deed, Ended, FileNow, Git, Step, Story, Workspace, distill};
use crate::time::Timestamp;
use crate::transcript::{
    Action, Change, EntryKey, Failure, FailureKind, Hunk, PlanStep, Status, StepChange, StepState,
};

/// A story while it is told; each deed a minute after the one before.
#[derive(Debug, Default)]
pub(super) struct Telling {
    story: Story,
    workspace: Workspace,
}

pub(super) fn telling() -> Telling {
    let mut telling = Telling::default();
    telling.workspace.root = "/p".to_owned();
    telling.story.header.started_at = Some(at(0));
    telling.story.header.updated_at = Some(at(0));
    telling
}

pub(super) fn at(minute: i64) -> Timestamp {
    Timestamp::from_millis(1_700_000_000_000 + minute * 60_000)
}

pub(super) fn key(step: usize) -> EntryKey {
    EntryKey { file: 0, offset: step as u64 * 10, part: 0, length: 10 }
}

impl Telling {
    pub(super) fn deed(mut self, deed: Deed) -> Self {
        let index = self.story.steps.len();
        let now = at(i64::try_from(index).unwrap());
        self.story.header.updated_at = Some(now);
        self.story.steps.push(Step { key: key(index), at: Some(now), deed });
        self
    }

    /// The session's own project, where the work goes on in another.
    pub(super) fn project(mut self, path: &str) -> Self {
        self.story.header.project = Some(path.into());
        self
    }

    pub(super) fn user(self, text: &str) -> Self {
        self.deed(Deed::Prompt { text: text.to_owned(), images: 0 })
    }

    pub(super) fn agent(self, text: &str) -> Self {
        self.deed(Deed::Reply { text: text.to_owned() })
    }

    pub(super) fn attached(self, text: &str) -> Self {
        self.deed(Deed::Attached { text: text.to_owned() })
    }

    pub(super) fn summary(self, text: &str) -> Self {
        self.deed(Deed::Summary { text: text.to_owned() })
    }

    pub(super) fn limit(self, text: &str) -> Self {
        let failure = Failure { kind: FailureKind::RateLimit, message: text.to_owned(), resets_at: Some(at(600)) };
        self.deed(Deed::Failure(failure))
    }

    pub(super) fn call(self, tool: &str, action: Action, code: Option<i32>, text: &str) -> Self {
        let index = self.story.steps.len();
        let status = if code.unwrap_or(0) == 0 { Status::Done } else { Status::Failed };
        let exit_code = code.filter(|_| matches!(action, Action::Run { .. }));
        let over = Some(at(i64::try_from(index).unwrap()).plus_millis(1000));
        let ended = Ended { key: key(index), at: over, status, exit_code, text: text.to_owned() };
        self.deed(Deed::Call { tool: tool.to_owned(), action, ended: Some(ended) })
    }

    pub(super) fn run(self, command: &str, code: i32, text: &str) -> Self {
        self.call("shell", Action::Run { command: command.to_owned(), workdir: None }, Some(code), text)
    }

    pub(super) fn running(self, command: &str) -> Self {
        let action = Action::Run { command: command.to_owned(), workdir: None };
        self.deed(Deed::Call { tool: "shell".to_owned(), action, ended: None })
    }

    pub(super) fn read(self, path: &str) -> Self {
        let action = Action::Read { path: path.to_owned(), offset: None, limit: None };
        self.call("read", action, Some(0), "text")
    }

    pub(super) fn write(self, path: &str, content: &str) -> Self {
        let action = Action::Write { path: path.to_owned(), content: content.to_owned() };
        self.call("write", action, Some(0), "written")
    }

    pub(super) fn edit(self, path: &str, old: &str, new: &str, code: i32) -> Self {
        let hunk = Hunk { context: None, old: old.to_owned(), new: new.to_owned(), everywhere: false };
        let change = Change::Update { path: path.to_owned(), moved_to: None, hunks: vec![hunk] };
        self.call(
            "edit",
            Action::Edit(vec![change]),
            Some(code),
            if code == 0 { "ok" } else { "string not found in file" },
        )
    }

    pub(super) fn plan(self, steps: &[(&str, StepState)]) -> Self {
        let step = |(text, state): &(&str, StepState)| PlanStep { text: (*text).to_owned(), state: *state };
        self.call("plan", Action::Plan(steps.iter().map(step).collect()), Some(0), "ok")
    }

    pub(super) fn step(self, change: StepChange, code: i32) -> Self {
        self.call("step", Action::Step(change), Some(code), "ok")
    }

    pub(super) fn file(mut self, path: &str, modified: Option<Timestamp>, text: Option<&str>) -> Self {
        let exists = modified.is_some();
        let text = text.map(str::to_owned);
        self.workspace.files.push(FileNow { path: path.to_owned(), exists, modified_at: modified, text });
        self
    }

    pub(super) fn git(mut self, git: Git) -> Self {
        self.workspace.git = Some(git);
        self
    }

    pub(super) fn brief(&self) -> Brief {
        distill(&self.story, &self.workspace, at(10_000))
    }
}
