//! Cursor's hooks, after its own code in its SDK 1.0.32: the editor was not run. It runs Claude Code's hooks as well, so its
//! calls may come through those.

use crate::HookKind::{BeforeCompaction, Prompt, SessionEnd, SessionStart, TurnEnd};
use crate::{
    CallerMark, EntryShape, HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, PathBase, PathRule,
    StartReason, Version,
};

pub(super) static HOOKS: HookSet = HookSet {
    place: HookPlace::Entries {
        file: &[PathRule { on: &[], base: PathBase::Home, path: &[".cursor", "hooks.json"] }],
        shape: EntryShape::Flat { file_version: Some(1) },
    },
    // Events that a version does not know are ignored by it.
    tables: &[HookTable {
        since: Version(0, 0, 0),
        events: &[
            HookBinding::new("sessionStart", SessionStart),
            HookBinding::new("beforeSubmitPrompt", Prompt),
            HookBinding::new("stop", TurnEnd),
            HookBinding::new("preCompact", BeforeCompaction),
            HookBinding::new("sessionEnd", SessionEnd),
        ],
    }],
    injection: Injection::SnakeCase,
    injects_at_prompt: true,
    start_reasons: &[],
    // It tells of new sessions only, and does not say why.
    unnamed_start: StartReason::New,
    headless: HeadlessMarks {
        // Its command line client runs the same hooks.
        arguments: &["-p", "--print"],
        ..HeadlessMarks::EDITOR
    },
    marks: &[CallerMark::PayloadKey("cursor_version")],
    user_step: None,
    is_trusted: None,
};
