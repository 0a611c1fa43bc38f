//! Masks any text: nothing panics, masking twice is masking once, and what stays stands where it stood.

#![no_main]

use carryover_core::redact::redact;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let masked = redact(text);
    assert_eq!(redact(&masked), masked);
    let kept = masked.split("[redacted: ").next().unwrap_or_default();
    assert!(text.starts_with(kept));
});
