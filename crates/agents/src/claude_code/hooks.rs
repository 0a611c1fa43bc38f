//! Claude Code's hooks, as the clients 1.0.128 to 2.1.325 run them. Its own default for the end of a session is too short
//! for anything but a start of ours.

use crate::HookKind::{BeforeCompaction, Prompt, SessionEnd, SessionStart, TurnEnd, TurnFailure};
use crate::{
    EntryShape, HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, PathBase, PathRule, StartReason,
    VariableMark, Version,
};

/// How long the client waits for us.
const PATIENCE_SECONDS: u32 = 10;

pub(super) static HOOKS: HookSet = HookSet {
    place: HookPlace::Entries {
        file: &[
            PathRule { on: &[], base: PathBase::Variable("CLAUDE_CONFIG_DIR"), path: &["settings.json"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".claude", "settings.json"] },
        ],
        shape: EntryShape::Grouped { units_per_second: 1 },
    },
    tables: &[
        HookTable {
            since: Version(1, 0, 60),
            events: &[
                HookBinding::new("SessionStart", SessionStart).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("UserPromptSubmit", Prompt).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("Stop", TurnEnd).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("PreCompact", BeforeCompaction).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("SessionEnd", SessionEnd).within_seconds(PATIENCE_SECONDS),
            ],
        },
        HookTable {
            since: Version(2, 1, 197),
            events: &[
                HookBinding::new("SessionStart", SessionStart).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("UserPromptSubmit", Prompt).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("Stop", TurnEnd).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("StopFailure", TurnFailure).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("PreCompact", BeforeCompaction).within_seconds(PATIENCE_SECONDS),
                HookBinding::new("SessionEnd", SessionEnd).within_seconds(PATIENCE_SECONDS),
            ],
        },
    ],
    injection: Injection::HookOutput,
    injects_at_prompt: true,
    start_reasons: &[
        ("startup", StartReason::New),
        ("resume", StartReason::Resumed),
        ("fork", StartReason::Forked),
        ("clear", StartReason::Cleared),
        ("compact", StartReason::Compacted),
    ],
    unnamed_start: StartReason::Unknown,
    headless: HeadlessMarks {
        variable: Some(VariableMark { name: "CLAUDE_CODE_ENTRYPOINT", interactive: &["cli"] }),
        ..HeadlessMarks::arguments(&["-p", "--print"])
    },
    marks: &[],
    user_step: None,
    is_trusted: None,
};
