//! Windsurf's hooks, after its documentation: it was not run. They tell us what happens, and take nothing.

use crate::HookKind::{Prompt, TurnEnd};
use crate::{
    EntryShape, HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, PathBase, PathRule, StartReason,
    Version,
};

pub(super) static HOOKS: HookSet = HookSet {
    place: HookPlace::Entries {
        file: &[PathRule { on: &[], base: PathBase::Home, path: &[".codeium", "windsurf", "hooks.json"] }],
        shape: EntryShape::Flat { file_version: None },
    },
    tables: &[HookTable {
        since: Version(0, 0, 0),
        events: &[
            HookBinding::new("pre_user_prompt", Prompt),
            // With it, the editor writes what was said into a file that can be read.
            HookBinding::new("post_cascade_response_with_transcript", TurnEnd),
        ],
    }],
    injection: Injection::Nothing,
    injects_at_prompt: false,
    start_reasons: &[],
    unnamed_start: StartReason::Unknown,
    headless: HeadlessMarks::EDITOR,
    marks: &[],
    user_step: None,
    is_trusted: None,
};
