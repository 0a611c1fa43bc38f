#![no_main]

#[path = "session.rs"]
mod session;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    session::check("codex", "rollout-2026-11-15T00-00-00-00000000-0000-4000-8000-000000000001.jsonl", bytes);
});
