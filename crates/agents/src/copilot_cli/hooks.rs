//! Copilot CLI's hooks, as the client 1.0.102 runs them. Copilot in VS Code reads the same folder and knows the same names,
//! so that one file serves both.

use serde_json::{Map, Value, json};

use crate::HookKind::{BeforeCompaction, Prompt, SessionEnd, SessionStart, TurnEnd, TurnFailure};
use crate::{
    HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, OwnHookFile, PathBase, PathRule, StartReason,
    Version,
};

/// How long the client waits for us.
const PATIENCE_SECONDS: u32 = 10;

/// The events in the file that both share.
pub(crate) const SHARED_EVENTS: &[HookBinding] = &[
    HookBinding::new("sessionStart", SessionStart).within_seconds(PATIENCE_SECONDS),
    HookBinding::new("userPromptSubmitted", Prompt).within_seconds(PATIENCE_SECONDS),
    HookBinding::new("agentStop", TurnEnd).within_seconds(PATIENCE_SECONDS),
    HookBinding::new("errorOccurred", TurnFailure).within_seconds(PATIENCE_SECONDS),
    HookBinding::new("preCompact", BeforeCompaction).within_seconds(PATIENCE_SECONDS),
    HookBinding::new("sessionEnd", SessionEnd).within_seconds(PATIENCE_SECONDS),
];

/// The file that both share.
pub(crate) const SHARED_FILE: HookPlace = HookPlace::OwnFile {
    file: &[
        PathRule { on: &[], base: PathBase::Variable("COPILOT_HOME"), path: &["hooks", "carryover.json"] },
        PathRule { on: &[], base: PathBase::Home, path: &[".copilot", "hooks", "carryover.json"] },
    ],
    render: render_file,
};

pub(super) static HOOKS: HookSet = HookSet {
    place: SHARED_FILE,
    tables: &[HookTable { since: Version(1, 0, 102), events: SHARED_EVENTS }],
    injection: Injection::TopLevel,
    injects_at_prompt: true,
    start_reasons: &[("new", StartReason::New), ("startup", StartReason::New), ("resume", StartReason::Resumed)],
    unnamed_start: StartReason::Unknown,
    headless: HeadlessMarks::arguments(&["-p", "--prompt"]),
    marks: &[],
    user_step: None,
    is_trusted: None,
};

/// Both run the same commands, so they name the one of the two that is known without a mark.
fn render_file(file: &OwnHookFile<'_>) -> String {
    let entry = |binding: &HookBinding| {
        let command = file.command("copilot-cli", binding.event);
        let hook = json!({ "type": "command", "bash": command, "powershell": command, "timeoutSec": PATIENCE_SECONDS });
        (binding.event.to_owned(), json!([hook]))
    };
    let hooks: Map<String, Value> = file.events.iter().map(entry).collect();
    format!("{:#}\n", json!({ "version": 1, "hooks": hooks }))
}
