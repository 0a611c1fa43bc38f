//! The hooks of Copilot in VS Code, after its documentation: it was not run. It shares Copilot CLI's file, and its calls are
//! told by their payload, which names the event.

use crate::copilot_cli::hooks::{SHARED_EVENTS, SHARED_FILE};
use crate::{CallerMark, HeadlessMarks, HookSet, HookTable, Injection, StartReason, Version};

pub(super) static HOOKS: HookSet = HookSet {
    place: SHARED_FILE,
    tables: &[HookTable { since: Version(0, 0, 0), events: SHARED_EVENTS }],
    injection: Injection::TopLevel,
    injects_at_prompt: true,
    start_reasons: &[("new", StartReason::New)],
    unnamed_start: StartReason::Unknown,
    headless: HeadlessMarks::EDITOR,
    marks: &[
        CallerMark::SharedFile { with: "copilot-cli", key: "hook_event_name" },
        // It runs the hooks of Claude Code as well.
        CallerMark::TranscriptPart("GitHub.copilot-chat"),
    ],
    user_step: None,
    is_trusted: None,
};
