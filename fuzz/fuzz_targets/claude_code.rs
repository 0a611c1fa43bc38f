#![no_main]

#[path = "session.rs"]
mod session;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    session::check("claude-code", "00000000-0000-4000-8000-000000000001.jsonl", bytes);
});
