//! What Codex's own tools mean.

use carryover_core::transcript::{Action, Call, PlanStep, StepState};
use serde::Deserialize;

use super::patch;

/// The input of a command, in all spellings: a string or words, under two names.
#[derive(Deserialize)]
struct WireCommand {
    #[serde(alias = "cmd")]
    command: Option<WireWords>,
    #[serde(alias = "working_directory", default)]
    workdir: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireWords {
    Line(String),
    Words(Vec<String>),
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
struct WireSpawn {
    #[serde(alias = "prompt", alias = "task")]
    message: String,
    #[serde(default, alias = "task_name", alias = "agent_type")]
    description: Option<String>,
}

/// What a call means; a tool that is not Codex's own, or an input that we cannot read, means `Other`.
pub(super) fn action(call: &Call) -> Action {
    let name = call.tool.rsplit('.').next().unwrap_or(&call.tool);
    let meaning = match name {
        "exec_command" | "shell" | "shell_command" | "local_shell" => run(call),
        "exec" if call.tool == "container.exec" => run(call),
        "apply_patch" => patch_of(call).and_then(|text| patch::parse(&text)).map(Action::Edit),
        "view_image" => call.input.read().map(|WirePath { path }| Action::View { path }),
        "update_plan" => plan(call),
        "spawn_agent" => call
            .input
            .read()
            .map(|WireSpawn { message, description }| Action::Delegate { prompt: message, description }),
        _ => None,
    };
    meaning.unwrap_or(Action::Other)
}

fn run(call: &Call) -> Option<Action> {
    let input: WireCommand = call.input.read()?;
    let command = match input.command? {
        WireWords::Line(line) => line,
        WireWords::Words(words) => unwrap_shell(&words),
    };
    // Models without the tool for it call it as a program.
    let patches = command.trim_start().starts_with("apply_patch") || command.contains("&& apply_patch");
    if patches && let Some(changes) = patch::parse(&command) {
        return Some(Action::Edit(changes));
    }
    Some(Action::Run { command, workdir: input.workdir })
}

/// `["bash", "-lc", "…"]` is the command alone; other words are joined, quoted where they need it.
fn unwrap_shell(words: &[String]) -> String {
    if let [shell, flag, command] = words {
        let shell = shell.rsplit(['/', '\\']).next().unwrap_or(shell);
        let is_shell = matches!(shell, "bash" | "sh" | "zsh" | "pwsh" | "powershell" | "powershell.exe" | "cmd.exe");
        let is_flag = matches!(flag.as_str(), "-lc" | "-c" | "-Command" | "/c");
        if is_shell && is_flag {
            return command.clone();
        }
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// The patch of a call: free text, or an argument.
fn patch_of(call: &Call) -> Option<String> {
    call.input.read::<String>().or_else(|| call.input.read::<WirePatch>().map(|patch| patch.input))
}

fn plan(call: &Call) -> Option<Action> {
    let input: WirePlan = call.input.read()?;
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
    use carryover_core::transcript::{CallForm, CallId, Change};

    use super::*;

    fn meaning(tool: &str, input: &str) -> Action {
        let call = Call {
            id: CallId("c".into()),
            tool: tool.to_owned(),
            input: Json::parse(input).unwrap(),
            form: CallForm::Function,
        };
        action(&call)
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
        assert_eq!(meaning("apply_patch", r#""not a patch""#), Action::Other);
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
