//! Gemini CLI's hooks, as the client 0.61.0 runs them. Its event before a compaction comes before every request as well, so
//! that only the one which a user asks for is taken.

use crate::HookKind::{BeforeCompaction, Prompt, SessionEnd, SessionStart, TurnEnd};
use crate::{
    EntryShape, HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, PathBase, PathRule, StartReason,
    Version,
};

/// How long the client waits for us.
const PATIENCE_SECONDS: u32 = 10;

pub(super) static HOOKS: HookSet = HookSet {
    place: HookPlace::Entries {
        file: &[
            PathRule { on: &[], base: PathBase::Variable("GEMINI_CLI_HOME"), path: &[".gemini", "settings.json"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".gemini", "settings.json"] },
        ],
        shape: EntryShape::Grouped { units_per_second: 1000 },
    },
    tables: &[HookTable {
        since: Version(0, 61, 0),
        events: &[
            HookBinding::new("SessionStart", SessionStart).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("BeforeAgent", Prompt).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("AfterAgent", TurnEnd).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("PreCompress", BeforeCompaction).matching("manual").within_seconds(PATIENCE_SECONDS),
            HookBinding::new("SessionEnd", SessionEnd).within_seconds(PATIENCE_SECONDS),
        ],
    }],
    injection: Injection::HookOutput,
    injects_at_prompt: true,
    start_reasons: &[("startup", StartReason::New), ("resume", StartReason::Resumed), ("clear", StartReason::Cleared)],
    unnamed_start: StartReason::Unknown,
    headless: HeadlessMarks { takes_piped_prompt: true, ..HeadlessMarks::arguments(&["-p", "--prompt"]) },
    marks: &[],
    user_step: None,
    is_trusted: None,
};
