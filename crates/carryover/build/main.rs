//! Tells the program which commit it is made from, for `--version`.

#![expect(clippy::print_stdout, reason = "cargo listens there")]
#![expect(clippy::disallowed_methods, reason = "it is no part of the program, and cargo tells it things so")]

mod head_commit;

use std::env;
use std::path::Path;

/// What packagers set where there is no repository: the words in brackets, such as `8e7734c 2026-11-18`; empty for none.
const OVERRIDE: &str = "CARRYOVER_BUILD_COMMIT";

fn main() {
    let manifest = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let root = Path::new(&manifest).ancestors().nth(2).unwrap_or(Path::new(".")).to_path_buf();
    // Naming anything at all keeps cargo from running this whenever some file of the crate changes.
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-env-changed={OVERRIDE}");
    let commit = match env::var(OVERRIDE) {
        Ok(told) => Some(told.trim().to_owned()),
        // Following HEAD would build a contributor's crates anew after every commit.
        Err(_) if env::var("PROFILE").is_ok_and(|profile| profile == "debug") => Some("debug build".to_owned()),
        Err(_) => {
            for path in head_commit::files_that_tell_head(&root) {
                println!("cargo::rerun-if-changed={}", path.display());
            }
            head_commit::describe_head(&root)
        }
    };
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let shown = match commit.filter(|commit| !commit.is_empty()) {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    };
    println!("cargo::rustc-env=CARRYOVER_VERSION={shown}");
}
