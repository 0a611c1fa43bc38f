//! The program as a user runs it: one binary of tests, one file per command.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bounded;
mod brought;
mod closed;
mod ignored;
#[cfg(unix)]
mod killed;
mod nothing_runs;
mod odd_entries;
#[cfg(unix)]
mod rewritten;
#[cfg(unix)]
mod running;
mod s3_server;
mod shared;
mod stores;
mod support;
mod taken_in;
mod tampered;
#[cfg(unix)]
mod test_capsule;
mod test_captured;
mod test_completions;
mod test_config;
mod test_conversations;
#[cfg(unix)]
mod test_cursor_editor;
#[cfg(unix)]
mod test_daemon;
mod test_demo;
mod test_detect;
mod test_doctor;
mod test_drift;
mod test_editor;
mod test_handoff;
#[cfg(unix)]
mod test_hook;
#[cfg(unix)]
mod test_import;
#[cfg(target_os = "linux")]
mod test_import_choices;
#[cfg(unix)]
mod test_import_drift;
#[cfg(unix)]
mod test_import_told;
mod test_info;
#[cfg(unix)]
mod test_install;
mod test_ledger;
mod test_list;
mod test_man;
mod test_memory;
mod test_memory_reach;
#[cfg(target_os = "linux")]
mod test_pager;
mod test_picker;
#[cfg(unix)]
mod test_record;
mod test_remote;
#[cfg(unix)]
mod test_resilience;
mod test_resume;
mod test_resume_again;
mod test_save;
mod test_save_again;
mod test_sealed;
#[cfg(unix)]
mod test_share;
mod test_share_places;
mod test_short_road;
mod test_show;
#[cfg(unix)]
mod test_status;
mod test_streams;
mod test_undo;
mod test_undo_files;
mod test_usage;
mod test_version;
#[cfg(unix)]
mod test_watch;
mod told;
mod traps;
mod unread;

/// A file that is not named above would never run.
#[test]
fn every_file_is_named_here() {
    let here = include_str!("main.rs");
    for entry in fs_err::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs") else { continue };
        assert!(module == "main" || here.contains(&format!("mod {module};")), "{name} is not in main.rs");
    }
}
