//! Codex's hooks, as the client 0.166.0 has them; 0.130.0 runs none. The client runs a hook only after its user has looked
//! at it.

use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use toml_edit::{DocumentMut, Item};

use crate::HookKind::{BeforeCompaction, Prompt, SessionEnd, SessionStart, TurnEnd};
use crate::formats::file::{MAX_SETTINGS_BYTES, read_text};
use crate::{
    EntryShape, HeadlessMarks, HookBinding, HookPlace, HookSet, HookTable, Injection, PathBase, PathRule, StartReason,
    Version,
};

/// How long the client waits for us.
const PATIENCE_SECONDS: u32 = 10;

/// The most that the client gives the end of a session.
const END_PATIENCE_SECONDS: u32 = 3;

/// The time that the client gives a hook that asks for none.
const DEFAULT_PATIENCE_SECONDS: u64 = 600;

pub(super) static HOOKS: HookSet = HookSet {
    place: HookPlace::Entries {
        file: &[
            PathRule { on: &[], base: PathBase::Variable("CODEX_HOME"), path: &["hooks.json"] },
            PathRule { on: &[], base: PathBase::Home, path: &[".codex", "hooks.json"] },
        ],
        shape: EntryShape::Grouped { units_per_second: 1 },
    },
    tables: &[HookTable {
        since: Version(0, 166, 0),
        events: &[
            HookBinding::new("SessionStart", SessionStart).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("UserPromptSubmit", Prompt).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("Stop", TurnEnd).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("PreCompact", BeforeCompaction).within_seconds(PATIENCE_SECONDS),
            HookBinding::new("SessionEnd", SessionEnd).within_seconds(END_PATIENCE_SECONDS),
        ],
    }],
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
    headless: HeadlessMarks::arguments(&["exec", "e", "review", "mcp-server"]),
    marks: &[],
    user_step: Some("Codex runs them only after you trust them: in its next start screen, or with /hooks."),
    is_trusted: Some(is_trusted),
};

/// Whether the user has let the client run what stands there now: it keeps a hash of each hook that it was told to trust,
/// and a change of the hook makes the hash another. Nothing is known where no hook of ours is in the file.
fn is_trusted(hooks_file: &Path) -> Option<bool> {
    let hooks: Value = serde_json::from_str(&read_text(hooks_file, MAX_SETTINGS_BYTES).ok()?).ok()?;
    let own = list_own_hooks(&hooks);
    if own.is_empty() {
        return None;
    }
    let config = read_text(&hooks_file.with_file_name("config.toml"), MAX_SETTINGS_BYTES).unwrap_or_default();
    let config = config.parse::<DocumentMut>().unwrap_or_default();
    let states = config.get("hooks").and_then(|hooks| hooks.get("state"));
    // The client resolves links in a home that it was told, and keeps the usual one as it is.
    let resolved = fs_err::canonicalize(hooks_file).unwrap_or_else(|_| hooks_file.to_owned());
    let is_accepted = |hook: &OwnHook| {
        [hooks_file, &resolved].iter().any(|file| {
            let state = states.and_then(|states| states.get(format!("{}:{}", file.display(), hook.position)));
            let hash = state.and_then(|state| state.get("trusted_hash")).and_then(Item::as_str);
            let is_off = state.and_then(|state| state.get("enabled")).and_then(Item::as_bool) == Some(false);
            hash == Some(hook.hash.as_str()) && !is_off
        })
    };
    Some(own.iter().all(is_accepted))
}

/// A hook of ours as the client names it, and the hash that it would trust it by.
struct OwnHook {
    /// Event, group and place in the group.
    position: String,
    hash: String,
}

fn list_own_hooks(hooks: &Value) -> Vec<OwnHook> {
    let mut own = Vec::new();
    for binding in HOOKS.tables.iter().flat_map(|table| table.events) {
        let event = snake_case(binding.event);
        let groups = hooks.pointer(&format!("/hooks/{}", binding.event)).and_then(Value::as_array);
        for (group_number, group) in groups.into_iter().flatten().enumerate() {
            let handlers = group.get("hooks").and_then(Value::as_array);
            for (number, handler) in handlers.into_iter().flatten().enumerate() {
                let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
                if command.ends_with(&format!(" hook codex {}", binding.event)) {
                    let hash = trust_hash(&event, group.get("matcher"), handler);
                    own.push(OwnHook { position: format!("{event}:{group_number}:{number}"), hash });
                }
            }
        }
    }
    own
}

/// The client's own hash of a hook: that of its JSON without blanks, all keys in the order of the alphabet.
fn trust_hash(event: &str, matcher: Option<&Value>, handler: &Value) -> String {
    let command = handler.get("command").and_then(Value::as_str).unwrap_or_default();
    let seconds = handler.get("timeout").and_then(Value::as_u64).unwrap_or(DEFAULT_PATIENCE_SECONDS);
    let hook = json!({ "async": false, "command": command, "timeout": seconds, "type": "command" });
    let mut identity = json!({ "event_name": event, "hooks": [hook] });
    if let Some(matcher) = matcher {
        identity["matcher"] = matcher.clone();
    }
    let digest = Sha256::digest(identity.to_string());
    digest.iter().fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

/// `SessionStart` as `session_start`.
fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    /// The hash that the client 0.166.0 kept for this very hook.
    #[test]
    fn the_hash_is_the_clients_own() {
        let command = "/usr/bin/carryover hook codex SessionStart";
        let handler = json!({ "type": "command", "command": command, "timeout": 10 });
        let expected = "sha256:ff70c8a45cb84335c26c9c0563f67f2cee970ad1ace517d6d764bf3f24d5721f";
        assert_eq!(trust_hash("session_start", None, &handler), expected);
    }

    #[test]
    fn trust_is_seen_as_long_as_the_hook_is_the_one_that_was_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hooks.json");
        let write_hooks = |program: &str| {
            let shape = EntryShape::Grouped { units_per_second: 1 };
            let foreign = json!({ "hooks": [{ "type": "command", "command": "beep" }] });
            let own = shape.entry("codex", program, HOOKS.binding("Stop").unwrap());
            fs_err::write(&file, json!({ "hooks": { "Stop": [foreign, own] } }).to_string()).unwrap();
        };
        assert_eq!(is_trusted(&file), None);
        write_hooks("/bin/carryover");
        assert_eq!(is_trusted(&file), Some(false));
        let hooks: Value = serde_json::from_str(&fs_err::read_to_string(&file).unwrap()).unwrap();
        let hash = &list_own_hooks(&hooks)[0].hash;
        let state = format!("[hooks.state.{:?}]\ntrusted_hash = {hash:?}\n", format!("{}:stop:1:0", file.display()));
        fs_err::write(folder.path().join("config.toml"), &state).unwrap();
        assert_eq!(is_trusted(&file), Some(true));
        fs_err::write(folder.path().join("config.toml"), state + "enabled = false\n").unwrap();
        assert_eq!(is_trusted(&file), Some(false));
        write_hooks("/opt/carryover");
        assert_eq!(is_trusted(&file), Some(false));
    }
}
