//! The hooks of this client: it runs plugins, and ours calls us. Names of events are those that our plugin calls us by.

use crate::HookKind::{BeforeCompaction, Prompt, SessionStart, TurnEnd, TurnFailure};
use crate::{
    HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, OwnHookFile, PathBase, PathRule, StartReason,
    Version,
};

pub(super) static HOOKS: HookSet = HookSet {
    place: HookPlace::OwnFile {
        file: &[
            PathRule {
                on: &[],
                base: PathBase::Variable("XDG_CONFIG_HOME"),
                path: &["opencode", "plugins", "carryover.js"],
            },
            PathRule { on: &[], base: PathBase::Home, path: &[".config", "opencode", "plugins", "carryover.js"] },
        ],
        render: render_plugin,
    },
    tables: &[HookTable {
        since: Version(1, 18, 33),
        events: &[
            HookBinding::new("session.start", SessionStart),
            HookBinding::new("chat.message", Prompt),
            HookBinding::new("session.idle", TurnEnd),
            HookBinding::new("session.error", TurnFailure),
            HookBinding::new("session.compacting", BeforeCompaction),
        ],
    }],
    injection: Injection::Plain,
    injects_at_prompt: false,
    start_reasons: &[("startup", StartReason::New), ("resume", StartReason::Resumed)],
    unnamed_start: StartReason::Unknown,
    headless: HeadlessMarks::arguments(&["run", "github"]),
    marks: &[],
    user_step: None,
    is_trusted: None,
};

fn render_plugin(file: &OwnHookFile<'_>) -> String {
    file.fill_program(include_str!("carryover.js"))
}
