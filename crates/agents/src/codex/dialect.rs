//! The actions that Codex's own tools stand for.

use std::collections::BTreeMap;

use carryover_core::transcript::{Action, Answer, Call, CallForm, Outcome, PlanStep, Question, StepState};
use serde::Deserialize;

use super::command::WireWords;
use super::wire::WireItem;
use super::{Codex, code_mode, outcome, patch};
use crate::Dialect;

/// The input of a command, in all spellings: a string or words, under two names.
#[derive(Deserialize)]
struct WireCommand {
    #[serde(alias = "cmd")]
    command: Option<WireWords>,
    #[serde(alias = "working_directory", default)]
    workdir: Option<String>,
}

#[derive(Deserialize)]
struct WirePath {
    path: String,
}

#[derive(Deserialize)]
struct WirePatch {
    #[serde(alias = "patch")]
    input: String,
}

#[derive(Deserialize)]
struct WirePlan {
    plan: Vec<WireStep>,
}

#[derive(Deserialize)]
struct WireStep {
    step: String,
    #[serde(default)]
    status: Option<String>,
}

#[derive(Deserialize)]
struct WireQuestions {
    questions: Vec<WireQuestion>,
}

#[derive(Deserialize)]
struct WireQuestion {
    #[serde(default)]
    id: String,
    question: String,
    #[serde(default)]
    options: Option<Vec<WireOption>>,
}

#[derive(Deserialize)]
struct WireOption {
    label: String,
}

/// The record of an outcome.
#[derive(Deserialize)]
struct WireAnswered<'a> {
    #[serde(borrow, default)]
    payload: Option<WireItem<'a>>,
}

#[derive(Deserialize)]
struct WireAnswers {
    answers: BTreeMap<String, WireGiven>,
}

#[derive(Deserialize)]
struct WireGiven {
    #[serde(default)]
    answers: Vec<String>,
}

#[derive(Deserialize)]
struct WireSpawn {
    #[serde(alias = "prompt", alias = "task")]
    message: String,
    #[serde(default, alias = "task_name", alias = "agent_type")]
    description: Option<String>,
}

impl Dialect for Codex {
    /// The action of a call; a tool that is not Codex's own, or an input that we cannot read, means `Other`.
    fn action(&self, call: &Call, _outcome: Option<&str>) -> Action {
        let name = call.tool.rsplit('.').next().unwrap_or(&call.tool);
        let meaning = match name {
            "exec_command" | "shell" | "shell_command" | "local_shell" => run_action(call),
            "exec" if call.tool == "container.exec" => run_action(call),
            "exec" if call.form == CallForm::Freeform => {
                call.input.read_as::<String>().and_then(|text| code_mode::interpret_script(&text))
            }
            "apply_patch" | "applypatch" => patch_text(call).and_then(|text| patch::parse(&text)).map(Action::Edit),
            "view_image" => call.input.read_as().map(|WirePath { path }| Action::View { path }),
            "update_plan" => plan_action(call),
            "request_user_input" => ask_action(call),
            "spawn_agent" => call
                .input
                .read_as()
                .map(|WireSpawn { message, description }| Action::Delegate { prompt: message, description }),
            _ => None,
        };
        meaning.unwrap_or(Action::Other)
    }

    /// The answers, in the order of the questions: the record names them by their ids.
    fn answers(&self, call: &Call, record: &str) -> Vec<Answer> {
        let Some(questions) = call.input.read_as::<WireQuestions>() else { return Vec::new() };
        let Some(mut given) = given_answers(record) else { return Vec::new() };
        let mut answers = Vec::new();
        for question in questions.questions {
            let Some(given) = given.remove(&question.id) else { continue };
            // A note typed beside a choice is marked, and is as much of an answer as the choice.
            let words = given.answers.iter().map(|answer| answer.strip_prefix("user_note: ").unwrap_or(answer));
            let words: Vec<&str> = words.filter(|answer| !answer.trim().is_empty()).collect();
            if !words.is_empty() {
                answers.push(Answer { question: question.question, answer: words.join("; ") });
            }
        }
        answers
    }

    fn strip_harness_text(&self, outcome: &mut Outcome) {
        outcome::strip_header(outcome);
    }
}

fn run_action(call: &Call) -> Option<Action> {
    let input: WireCommand = call.input.read_as()?;
    let words = input.command?;
    match words.patch_changes(input.workdir.as_deref()) {
        Some(changes) => Some(Action::Edit(changes)),
        None => Some(Action::Run { command: words.into_line(), workdir: input.workdir }),
    }
}

fn ask_action(call: &Call) -> Option<Action> {
    let input: WireQuestions = call.input.read_as()?;
    let question = |question: WireQuestion| Question {
        text: question.question,
        options: question.options.unwrap_or_default().into_iter().map(|option| option.label).collect(),
    };
    Some(Action::Ask(input.questions.into_iter().map(question).collect()))
}

fn given_answers(record: &str) -> Option<BTreeMap<String, WireGiven>> {
    let line: WireAnswered<'_> = serde_json::from_str(record).ok()?;
    let output = line.payload?.output.0.into_iter().find_map(|content| content.text)?;
    serde_json::from_str::<WireAnswers>(&output).ok().map(|answers| answers.answers)
}

/// The patch of a call: free text, or an argument.
fn patch_text(call: &Call) -> Option<String> {
    call.input.read_as::<String>().or_else(|| call.input.read_as::<WirePatch>().map(|patch| patch.input))
}

fn plan_action(call: &Call) -> Option<Action> {
    let input: WirePlan = call.input.read_as()?;
    let step = |step: WireStep| PlanStep {
        text: step.step,
        state: match step.status.as_deref() {
            Some("completed") => StepState::Done,
            Some("in_progress") => StepState::InProgress,
            _ => StepState::Pending,
        },
    };
    Some(Action::Plan(input.plan.into_iter().map(step).collect()))
}

#[cfg(test)]
mod tests {
    use carryover_core::json::Json;
    use carryover_core::transcript::{CallId, Change};

    use super::*;

    fn call(tool: &str, input: &str) -> Call {
        let input = Json::parse(input).unwrap();
        Call { id: CallId("c".into()), tool: tool.to_owned(), input, form: CallForm::Function }
    }

    fn meaning(tool: &str, input: &str) -> Action {
        Codex.action(&call(tool, input), None)
    }

    fn run(command: &str, workdir: Option<&str>) -> Action {
        Action::Run { command: command.to_owned(), workdir: workdir.map(str::to_owned) }
    }

    #[test]
    fn commands_of_all_versions_are_one_action() {
        assert_eq!(meaning("exec_command", r#"{"cmd":"ls","workdir":"/r"}"#), run("ls", Some("/r")));
        assert_eq!(meaning("shell", r#"{"command":["bash","-lc","echo 'a b'"]}"#), run("echo 'a b'", None));
        assert_eq!(meaning("shell", r#"{"command":["ls","a b"]}"#), run("ls 'a b'", None));
        assert_eq!(meaning("shell_command", r#"{"command":"ls"}"#), run("ls", None));
        let local = r#"{"type":"exec","command":["/bin/sh","-c","ls"],"working_directory":"/r"}"#;
        assert_eq!(meaning("local_shell", local), run("ls", Some("/r")));
        assert_eq!(meaning("exec_command", "{}"), Action::Other);
        assert_eq!(meaning("exec", r#""const r = 1""#), Action::Other);
    }

    #[test]
    fn patches_are_edits_however_they_are_called() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
        let added = Action::Edit(vec![Change::Add { path: "a".to_owned(), content: "x\n".to_owned() }]);
        assert_eq!(meaning("apply_patch", &serde_json::to_string(patch).unwrap()), added);
        assert_eq!(meaning("apply_patch", &serde_json::json!({ "input": patch }).to_string()), added);
        let heredoc = format!("apply_patch <<'EOF'\n{patch}EOF\n");
        assert_eq!(meaning("shell", &serde_json::json!({ "command": ["bash", "-lc", heredoc] }).to_string()), added);
        assert_eq!(meaning("shell", &serde_json::json!({ "command": ["apply_patch", patch] }).to_string()), added);
        assert_eq!(meaning("local_shell", &serde_json::json!({ "command": ["applypatch", patch] }).to_string()), added);
        for tool in ["exec_command", "shell_command", "container.exec"] {
            let there = serde_json::json!({ "cmd": format!("cd src && {heredoc}"), "workdir": "/r" }).to_string();
            let added = Action::Edit(vec![Change::Add { path: "/r/src/a".to_owned(), content: "x\n".to_owned() }]);
            assert_eq!(meaning(tool, &there), added);
        }
        assert_eq!(meaning("apply_patch", r#""not a patch""#), Action::Other);
    }

    #[test]
    fn questions_are_asked_and_answered_by_their_ids() {
        let input = r#"{"questions":[
            {"id":"db","header":"DB","question":"Which one?","options":[{"label":"A","description":"a"},{"label":"B"}]},
            {"id":"name","header":"Name","question":"Called what?"},
            {"id":"skip","header":"S","question":"Skipped?","options":null}]}"#;
        let question = |text: &str, options: &[&str]| Question {
            text: text.to_owned(),
            options: options.iter().map(|option| (*option).to_owned()).collect(),
        };
        let questions =
            vec![question("Which one?", &["A", "B"]), question("Called what?", &[]), question("Skipped?", &[])];
        assert_eq!(meaning("request_user_input", input), Action::Ask(questions));
        let output = r#"{"answers":{"name":{"answers":["user_note: toolbox"]},"db":{"answers":["B","user_note: the new one"]},"skip":{"answers":[]}}}"#;
        let item = serde_json::json!({ "type": "function_call_output", "call_id": "c", "output": output });
        let record = serde_json::json!({ "timestamp": "", "type": "response_item", "payload": item }).to_string();
        let answer = |question: &str, answer: &str| Answer { question: question.to_owned(), answer: answer.to_owned() };
        let expected = [answer("Which one?", "B; the new one"), answer("Called what?", "toolbox")];
        assert_eq!(Codex.answers(&call("request_user_input", input), &record), expected);
        assert_eq!(Codex.answers(&call("request_user_input", input), "{}"), []);
    }

    #[test]
    fn plans_images_and_sub_agents_are_understood() {
        let steps = vec![
            PlanStep { text: "A".to_owned(), state: StepState::InProgress },
            PlanStep { text: "B".to_owned(), state: StepState::Pending },
        ];
        let input = r#"{"plan":[{"step":"A","status":"in_progress"},{"step":"B"}]}"#;
        assert_eq!(meaning("update_plan", input), Action::Plan(steps));
        assert_eq!(meaning("view_image", r#"{"path":"/r.png"}"#), Action::View { path: "/r.png".to_owned() });
        let delegate = Action::Delegate { prompt: "look".to_owned(), description: Some("explorer".to_owned()) };
        assert_eq!(meaning("multi_agent_v1.spawn_agent", r#"{"message":"look","agent_type":"explorer"}"#), delegate);
        assert_eq!(meaning("mcp__github__create_issue", r#"{"title":"x"}"#), Action::Other);
    }
}
