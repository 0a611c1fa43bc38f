//! Qwen Code's hooks, as the client 0.24.4 runs them: Claude Code's events under the same names, but for failed turns from
//! the beginning.

use crate::HookKind::{BeforeCompaction, Prompt, SessionEnd, SessionStart, TurnEnd, TurnFailure};
use crate::{
    EntryShape, HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, PathBase, PathRule, StartReason,
    Version,
};

/// How long the client waits for us.
const PATIENCE_SECONDS: u32 = 10;

pub(super) static HOOKS: HookSet = HookSet {
    place: HookPlace::Entries {
        file: &[
            PathRule { on: &[], base: PathBase::Variable("QWEN_HOME"), path: &["settings.json"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".qwen", "settings.json"] },
        ],
        shape: EntryShape::Grouped { units_per_second: 1 },
    },
    tables: &[HookTable {
        since: Version(0, 24, 4),
        events: &[
            HookBinding::new("SessionStart", SessionStart).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("UserPromptSubmit", Prompt).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("Stop", TurnEnd).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("StopFailure", TurnFailure).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("PreCompact", BeforeCompaction).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("SessionEnd", SessionEnd).within_seconds(PATIENCE_SECONDS),
        ],
    }],
    injection: Injection::HookOutput,
    injects_at_prompt: true,
    start_reasons: &[
        ("startup", StartReason::New),
        ("resume", StartReason::Resumed),
        ("clear", StartReason::Cleared),
        ("compact", StartReason::Compacted),
    ],
    unnamed_start: StartReason::Unknown,
    headless: HeadlessMarks { takes_piped_prompt: true, ..HeadlessMarks::arguments(&["-p", "--prompt"]) },
    marks: &[],
    user_step: None,
    is_trusted: None,
};
