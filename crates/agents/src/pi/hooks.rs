//! pi's hooks: it runs extensions, and ours calls us, under pi's own names for its events. `agent_failure` is an `agent_end`
//! whose last message is an error.

use crate::HookKind::{BeforeCompaction, Prompt, SessionEnd, SessionStart, TurnEnd, TurnFailure};
use crate::{
    HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, OwnHookFile, PathBase, PathRule, StartReason,
    Version,
};

pub(super) static HOOKS: HookSet = HookSet {
    place: HookPlace::OwnFile {
        file: &[
            PathRule {
                on: &[],
                base: PathBase::Variable("PI_CODING_AGENT_DIR"),
                path: &["extensions", "carryover.ts"],
            },
            PathRule { on: &[], base: PathBase::Home, path: &[".pi", "agent", "extensions", "carryover.ts"] },
        ],
        render: render_extension,
    },
    tables: &[HookTable {
        since: Version(0, 87, 1),
        events: &[
            HookBinding::new("session_start", SessionStart),
            HookBinding::new("before_agent_start", Prompt),
            HookBinding::new("agent_end", TurnEnd),
            HookBinding::new("agent_failure", TurnFailure),
            HookBinding::new("session_before_compact", BeforeCompaction),
            HookBinding::new("session_shutdown", SessionEnd),
        ],
    }],
    injection: Injection::Plain,
    injects_at_prompt: false,
    start_reasons: &[
        ("startup", StartReason::New),
        ("resume", StartReason::Resumed),
        ("reload", StartReason::Resumed),
        ("fork", StartReason::Forked),
        ("new", StartReason::Cleared),
    ],
    unnamed_start: StartReason::Unknown,
    // The client overwrites its own command line; our extension says how it runs.
    headless: HeadlessMarks::NONE,
    marks: &[],
    user_step: None,
    is_trusted: None,
};

fn render_extension(file: &OwnHookFile<'_>) -> String {
    file.fill_program(include_str!("carryover.ts"))
}
