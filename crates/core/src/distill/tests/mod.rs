//! Tests of what a brief must say, and must never say.

mod decisions;
mod failing;
mod files;
mod property;
mod state;
mod task;

use super::*;
use crate::transcript::{
    Action, Answer, Change, EntryKey, Failure, FailureKind, Hunk, PlanStep, Question, Refusal, SessionId, Status,
    StepState,
};

/// A history in the making: a minute passes between two steps.
#[derive(Default)]
pub(crate) struct HistoryBuilder {
    pub(crate) history: History,
}

pub(crate) fn minute(n: i64) -> Timestamp {
    Timestamp::parse("2026-11-15T10:00:00Z").unwrap().plus_millis(n * 60_000)
}

pub(crate) fn new_history() -> HistoryBuilder {
    let mut tale = HistoryBuilder::default();
    tale.history.header.agent = "agent-one";
    tale.history.header.session = SessionId("019a8e4c".to_owned());
    tale.history.header.project = Some("/home/me/shop".into());
    tale.history.header.started_at = Some(minute(0));
    tale
}

fn key_at(n: usize) -> EntryKey {
    EntryKey { file: 0, offset: n as u64 * 100, part: 0, length: 1 }
}

impl HistoryBuilder {
    pub(crate) fn event(mut self, event: Event) -> Self {
        let n = self.history.steps.len();
        let at = minute(i64::try_from(n).unwrap());
        self.history.header.updated_at = Some(at);
        self.history.steps.push(Step { key: key_at(n), at: Some(at), event });
        self
    }

    pub(crate) fn user(self, text: &str) -> Self {
        self.event(Event::Prompt { text: text.to_owned(), images: 0 })
    }

    pub(crate) fn agent(self, text: &str) -> Self {
        self.event(Event::Reply { text: text.to_owned() })
    }

    pub(crate) fn call(self, tool: &str, action: Action, end: Option<(Status, Option<i32>, &str)>) -> Self {
        let n = self.history.steps.len();
        let end = end.map(|(status, exit_code, text)| CallEnd {
            key: EntryKey { part: 1, ..key_at(n) },
            at: Some(minute(i64::try_from(n).unwrap())),
            status,
            exit_code,
            text: text.to_owned(),
        });
        let call = CallEvent { tool: tool.to_owned(), action, end, answers: Vec::new(), refusal: None, unasked: false };
        self.event(Event::Call(Box::new(call)))
    }

    pub(crate) fn run(self, command: &str, code: i32, output: &str) -> Self {
        let status = if code == 0 { Status::Done } else { Status::Failed };
        self.call("Bash", run_action(command), Some((status, Some(code), output)))
    }

    pub(crate) fn edit(self, path: &str, old: &str, new: &str) -> Self {
        let hunk = Hunk { context: None, old: old.to_owned(), new: new.to_owned(), everywhere: false };
        let change = Change::Update { path: path.to_owned(), moved_to: None, hunks: vec![hunk] };
        self.call("Edit", Action::Edit(vec![change]), Some((Status::Done, None, "ok")))
    }

    pub(crate) fn write(self, path: &str, content: &str) -> Self {
        let action = Action::Write { path: path.to_owned(), content: content.to_owned() };
        self.call("Write", action, Some((Status::Done, None, "ok")))
    }

    pub(crate) fn plan(self, steps: &[(&str, StepState)]) -> Self {
        let steps = steps.iter().map(|(text, state)| PlanStep { text: (*text).to_owned(), state: *state });
        self.call("TodoWrite", Action::Plan(steps.collect()), Some((Status::Done, None, "ok")))
    }

    pub(crate) fn fails(self, kind: FailureKind, message: &str, resets_at: Option<Timestamp>) -> Self {
        self.event(Event::Failure(Failure { kind, message: message.to_owned(), resets_at }))
    }

    fn last_call(&mut self) -> &mut CallEvent {
        match &mut self.history.steps.last_mut().unwrap().event {
            Event::Call(call) => call,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn asks(self, question: &str, answer: Option<&str>) -> Self {
        let asked = Action::Ask(vec![Question { text: question.to_owned(), options: Vec::new() }]);
        let end = answer.map(|_| (Status::Done, None, "answered"));
        let mut tale = self.call("Ask", asked, end);
        let answers = answer.map(|answer| Answer { question: question.to_owned(), answer: answer.to_owned() });
        tale.last_call().answers.extend(answers);
        tale
    }

    pub(crate) fn refused(mut self, words: Option<&str>) -> Self {
        let call = self.last_call();
        call.refusal = Some(Refusal { words: words.map(str::to_owned) });
        self
    }

    pub(crate) fn brief(&self) -> Brief {
        self.brief_in(&Workspace { root: "/home/me/shop".to_owned(), ..Workspace::default() })
    }

    pub(crate) fn brief_in(&self, workspace: &Workspace) -> Brief {
        distill_session(&self.history, workspace, Quoting::Masked, minute(10_000))
    }
}

pub(crate) fn read_action(path: &str) -> Action {
    Action::View { path: path.to_owned() }
}

pub(crate) fn run_action(command: &str) -> Action {
    Action::Run { command: command.to_owned(), workdir: None }
}

fn item_texts(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.text.as_str()).collect()
}
