//! The commit that `--version` tells, over repositories of every kind that a build may stand in.

use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::support::TestEnv;

#[path = "../../build/head_commit.rs"]
#[expect(clippy::disallowed_methods, reason = "a build script has none of our crates")]
mod head_commit;

use head_commit::{describe_head, files_that_tell_head};

fn run_git(folder: &Path, args: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder).args(["-c", "user.name=n", "-c", "user.email=e@example.com"]).args(args);
    // A commit with the same words at the same time has the same id.
    git.env("GIT_AUTHOR_DATE", "2026-11-18T08:00:00Z").env("GIT_COMMITTER_DATE", "2026-11-18T08:00:00Z");
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for variable in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        git.env_remove(variable);
    }
    let output = git.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(folder: &Path, words: &str) {
    run_git(folder, &["commit", "--quiet", "--allow-empty", "--message", words]);
}

fn repository() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    run_git(folder.path(), &["init", "--quiet", "--initial-branch=main"]);
    commit(folder.path(), "one");
    folder
}

/// The watched files with what they hold: cargo goes by times, which a test cannot wait for.
fn read_watched(folder: &Path) -> Vec<(std::path::PathBuf, String)> {
    let files = files_that_tell_head(folder).into_iter();
    files.map(|path| (path.clone(), fs_err::read_to_string(path).unwrap())).collect()
}

/// Whether one of the watched files was changed or removed by this; one that came is no sign to cargo.
fn is_noticed(folder: &Path, change: impl FnOnce()) -> bool {
    let before = read_watched(folder);
    assert!(!before.is_empty());
    change();
    before.iter().any(|(path, text)| fs_err::read_to_string(path).ok().as_ref() != Some(text))
}

#[test]
fn the_program_tells_its_version_and_what_it_was_built_from() {
    let shown = TestEnv::new().run(&["--version"]).success().stdout;
    let rest = shown.trim_end().strip_prefix("carryover 0.1.0").unwrap_or_else(|| panic!("{shown}"));
    assert!(rest.is_empty() || rest.starts_with(" (") && rest.ends_with(')'), "{shown}");
}

#[test]
fn the_commit_and_its_day_are_told() {
    let folder = repository();
    insta::assert_snapshot!(describe_head(folder.path()).unwrap(), @"e1a2b6d 2026-11-18");
    commit(folder.path(), "two");
    insta::assert_snapshot!(describe_head(folder.path()).unwrap(), @"06f1140 2026-11-18");
}

#[test]
fn a_source_archive_has_no_commit_even_inside_somebody_elses_repository() {
    let folder = repository();
    let archive = folder.path().join("vendor/carryover");
    fs_err::create_dir_all(&archive).unwrap();
    assert_eq!(describe_head(&archive), None);
    assert!(files_that_tell_head(&archive).is_empty());
}

#[test]
fn a_repository_without_a_commit_has_none_to_tell() {
    let folder = tempfile::tempdir().unwrap();
    run_git(folder.path(), &["init", "--quiet"]);
    assert_eq!(describe_head(folder.path()), None);
}

#[test]
fn a_commit_is_noticed() {
    let folder = repository();
    let path = folder.path();
    assert!(is_noticed(path, || commit(path, "two")));
    assert!(!is_noticed(path, || fs_err::write(path.join("file"), "changed").unwrap()));
}

#[test]
fn a_commit_on_a_packed_branch_is_noticed() {
    let folder = repository();
    let path = folder.path();
    run_git(path, &["pack-refs", "--all", "--prune"]);
    assert!(is_noticed(path, || commit(path, "two")));
}

#[test]
fn a_commit_without_a_log_of_head_is_noticed() {
    let folder = repository();
    let path = folder.path();
    fs_err::remove_dir_all(path.join(".git/logs")).unwrap();
    run_git(path, &["config", "core.logAllRefUpdates", "false"]);
    assert!(is_noticed(path, || commit(path, "two")));
}

#[test]
fn a_worktree_tells_its_own_commit_and_notices_the_next() {
    let folder = repository();
    let tree = folder.path().join("tree");
    run_git(folder.path(), &["worktree", "add", "--quiet", "-b", "side", "tree"]);
    commit(&tree, "side");
    assert_ne!(describe_head(&tree), describe_head(folder.path()));
    assert!(is_noticed(&tree, || commit(&tree, "more")));
    assert!(!is_noticed(&tree, || commit(folder.path(), "main goes on")));
}
