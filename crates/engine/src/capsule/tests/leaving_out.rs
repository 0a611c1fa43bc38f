//! What stays behind when a workspace is packed, and that it is told.

use std::io::Cursor;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::workspace::{
    FilesMode, Placement, RestoreInto, WorkspaceRecord, WorktreeChange, collect_workspace, compare_workspace,
    note_restored, restore_workspace, workspace_root, write_snapshot,
};
use super::super::{Capsule, CapsuleError};
use super::crafted::Crafted;
use crate::tests::world::World;

const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");

pub(super) fn world_with_git() -> World {
    let mut world = World::new();
    world.context.env.vars.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    fs_err::create_dir_all(&world.context.env.home).unwrap();
    world
}

pub(super) fn git(folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]);
    command.args(args).current_dir(folder).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder);
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
pub(super) fn write(root: &Path, name: &str, text: &str) {
    let place = root.join(name);
    fs_err::create_dir_all(place.parent().unwrap()).unwrap();
    fs_err::write(place, text).unwrap();
}

/// A repository with a file that git ignores.
pub(super) fn make_repository(root: &Path) {
    write(root, ".gitignore", ".env\n");
    write(root, ".env", "mine\n");
    write(root, "a.txt", "1\n");
    git(root, &["init", "-q"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "begin"]);
}

/// Packs a folder, and verifies what came of it.
pub(super) fn pack(world: &World, project: &Path, mode: FilesMode) -> Result<(WorkspaceRecord, Vec<u8>), CapsuleError> {
    let (root, packed) = (workspace_root(&world.context, project), world.path("snapshot"));
    let collected = collect_workspace(&world.context, &root, project, mode)?;
    let (record, _) = write_snapshot(collected, true, fs_err::File::create(&packed)?)?;
    let bytes = fs_err::read(packed)?;
    let mut crafted = Crafted::with_snapshot(bytes.clone(), record.files, record.bytes);
    crafted.workspace = record.clone();
    let verified = Capsule::from_reader(Cursor::new(crafted.pack()))?.verify()?;
    assert_eq!(verified.workspace, record);
    Ok((record, bytes))
}

/// The paths of what was packed, put into an empty folder.
fn unpack(world: &World, record: &WorkspaceRecord, bytes: &[u8]) -> (PathBuf, Vec<String>) {
    let out = tempfile::tempdir_in(world.path("")).unwrap().keep();
    let length = bytes.len() as u64;
    let placement = Placement { folder: &out, into: RestoreInto::Empty, mark: "test", noted: None, placed: None };
    restore_workspace(&world.context, bytes, length, record, placement).unwrap();
    let mut names = Vec::new();
    list(&out, &out, &mut names);
    names.sort();
    (out, names)
}

fn list(root: &Path, folder: &Path, names: &mut Vec<String>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            list(root, &path, names);
        } else {
            names.push(path.strip_prefix(root).unwrap().to_string_lossy().into_owned());
        }
    }
}

fn packed_names(world: &World, project: &Path, mode: FilesMode) -> Vec<String> {
    let (record, bytes) = pack(world, project, mode).unwrap();
    unpack(world, &record, &bytes).1
}

fn reasons(record: &WorkspaceRecord) -> Vec<String> {
    record.left_out.iter().map(|left| format!("{} {}", left.path, left.reason)).collect()
}

#[test]
fn no_files_are_taken_where_git_cannot_say_what_it_ignores() {
    let mut world = world_with_git();
    let root = world.path("work");
    make_repository(&root);
    assert_eq!(packed_names(&world, &root, FilesMode::Full), [".gitignore", "a.txt"]);
    let refusal = |world: &World| match pack(world, &root, FilesMode::Full) {
        Err(CapsuleError::Unasked { reason, .. }) => reason,
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it was packed"),
    };
    // A git that does not trust the folder.
    let program =
        world.write_file("bin/git", "#!/bin/sh\necho \"fatal: detected dubious ownership in it\" >&2\nexit 128\n");
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let bin = world.path("bin").display().to_string();
    world.context.env.vars.insert("PATH".to_owned(), bin);
    assert_eq!(refusal(&world), "detected dubious ownership in it");
    // Without files, it does not matter.
    collect_workspace(&world.context, &root, &root, FilesMode::None).unwrap();
    fs_err::remove_file(program).unwrap();
    assert!(refusal(&world).contains("no git is found"));
    world.context.env.vars.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    // A repository that is broken, one that belongs elsewhere, and a link to one that is gone.
    fs_err::remove_file(root.join(".git/HEAD")).unwrap();
    assert!(refusal(&world).contains("not a git repository"));
    fs_err::remove_dir_all(root.join(".git")).unwrap();
    git(&root, &["init", "-q", "--separate-git-dir", world.path("elsewhere").to_str().unwrap()]);
    assert!(refusal(&world).contains("lies elsewhere"));
    fs_err::remove_file(root.join(".git")).unwrap();
    symlink("nowhere", root.join(".git")).unwrap();
    refusal(&world);
}

#[test]
fn repositories_around_a_folder_and_in_it_say_what_is_ignored() {
    let world = world_with_git();
    let home = world.context.env.home.clone();
    make_repository(&home);
    write(&home, "calc/.env", "mine\n");
    write(&home, "calc/b.txt", "2\n");
    assert_eq!(packed_names(&world, &home.join("calc"), FilesMode::Full), ["b.txt"]);
    write(&home, ".gitignore", "*\n");
    let (record, _) = pack(&world, &home.join("calc"), FilesMode::Full).unwrap();
    assert!(record.files == 0 && reasons(&record)[0].contains("ignores all that is in it"), "{record:?}");
    // Without one around it, those that are in it are left to themselves.
    let plain = world.path("plain");
    write(&plain, "c.txt", "3\n");
    make_repository(&plain.join("inner"));
    let (record, bytes) = pack(&world, &plain, FilesMode::Full).unwrap();
    assert_eq!(reasons(&record), ["inner is a repository of its own"]);
    assert_eq!(unpack(&world, &record, &bytes).1, ["c.txt"]);
}

#[test]
fn folders_that_git_would_take_for_repositories_stay_behind() {
    let world = world_with_git();
    let root = world.path("work");
    make_repository(&root);
    for name in ["HEAD", "config", "objects/info/x", "refs/heads/main"] {
        write(&root, &format!("test/bare/{name}"), "ref: refs/heads/main\n");
    }
    git(&root, &["add", "test"]);
    symlink(".GIT/hooks", root.join("hooks")).unwrap();
    let (record, bytes) = pack(&world, &root, FilesMode::Full).unwrap();
    let told = reasons(&record);
    assert!(told[0].starts_with("hooks is a link that leads into git"), "{told:?}");
    assert_eq!(told[1..], ["test/bare has the layout of a repository, and git would take it for one"]);
    assert_eq!(unpack(&world, &record, &bytes).1, [".gitignore", "a.txt"]);
    let bare = world.path("bare");
    fs_err::create_dir_all(&bare).unwrap();
    git(&bare, &["init", "-q", "--bare"]);
    let (record, _) = pack(&world, &bare, FilesMode::Full).unwrap();
    assert_eq!((record.files, record.left_out[0].path.as_str()), (0, "."));
}

#[test]
fn names_that_are_secrets_stay_behind_and_are_told_masked() {
    let world = world_with_git();
    let root = world.path("work");
    make_repository(&root);
    git(&root, &["checkout", "-q", "-b", SECRET]);
    write(&root, &format!("new-{SECRET}.txt"), "1\n");
    write(&root, &format!("{SECRET}/staged"), "1\n");
    git(&root, &["add", SECRET]);
    symlink(format!("to-{SECRET}"), root.join("link")).unwrap();
    let (record, bytes) = pack(&world, &root, FilesMode::Full).unwrap();
    assert_eq!(unpack(&world, &record, &bytes).1, [".gitignore", "a.txt"]);
    let told = serde_json::to_string(&record).unwrap();
    assert!(!told.contains(SECRET) && record.branch.as_ref().unwrap().contains("[redacted"), "{told}");
    assert_eq!(record.left_out.len(), 3, "{told}");
}

#[test]
fn what_packs_too_well_to_be_believed_is_packed_all_the_same() {
    let world = world_with_git();
    let root = world.path("work");
    fs_err::create_dir_all(&root).unwrap();
    fs_err::File::create(root.join("zeros")).unwrap().set_len(96 << 20).unwrap();
    let (record, _) = pack(&world, &root, FilesMode::Full).unwrap();
    assert_eq!((record.bytes, record.left_out.len()), (96 << 20, 0));
}

#[test]
fn marks_that_do_not_come_along_are_told_and_the_files_do() {
    let world = world_with_git();
    let root = world.path("work");
    make_repository(&root);
    for name in ["unchanged", "edited", "gone", "skipped/a", "kept-local"] {
        write(&root, name, "1\n");
    }
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "more"]);
    git(&root, &["update-index", "--assume-unchanged", "unchanged", "edited", "gone"]);
    git(&root, &["update-index", "--skip-worktree", "skipped/a", "kept-local"]);
    write(&root, "edited", "2\n");
    write(&root, "kept-local", "2\n");
    fs_err::remove_file(root.join("gone")).unwrap();
    fs_err::remove_dir_all(root.join("skipped")).unwrap();
    write(&root, "soon", "1\n");
    git(&root, &["add", "-N", "soon"]);
    write(&root, "a.txt", &format!("{SECRET}\n"));
    git(&root, &["add", "a.txt"]);
    write(&root, "a.txt", "1\n");
    let (record, bytes) = pack(&world, &root, FilesMode::Changed).unwrap();
    let changes: Vec<_> = record.changes.iter().map(|change| (change.path.as_str(), change.worktree)).collect();
    let (present, deleted) = (WorktreeChange::Present, WorktreeChange::Deleted);
    let expected =
        [("a.txt", present), ("edited", present), ("gone", deleted), ("kept-local", present), ("soon", present)];
    assert_eq!(changes, expected);
    assert_eq!(unpack(&world, &record, &bytes).1, ["a.txt", "edited", "kept-local", "soon"]);
    let told = reasons(&record);
    assert_eq!(told.len(), 2, "{told:?}");
    let remarks = record.remarks.iter().map(|remark| format!("{} {}", remark.path, remark.reason));
    let told = told.into_iter().chain(remarks).collect::<Vec<_>>().join("\n");
    for words in [
        ". 1 of the commit's files are not checked out here",
        "a.txt what is staged holds secrets",
        "edited comes along as it is here, without git's mark to overlook its changes",
        "gone comes along",
        "kept-local comes along",
        "unchanged comes along",
        "soon comes along as a new file",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
}

#[test]
fn files_that_became_folders_are_deleted_and_folders_that_became_links_too() {
    let world = world_with_git();
    let root = world.path("work");
    make_repository(&root);
    write(&root, "todir", "1\n");
    write(&root, "tolink/x", "1\n");
    write(&root, "tofile/x", "1\n");
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "more"]);
    fs_err::remove_file(root.join("todir")).unwrap();
    write(&root, "todir/inner", "2\n");
    fs_err::rename(root.join("tolink"), root.join("real")).unwrap();
    symlink("real", root.join("tolink")).unwrap();
    fs_err::remove_dir_all(root.join("tofile")).unwrap();
    write(&root, "tofile", "2\n");
    for mode in [FilesMode::Full, FilesMode::Changed] {
        let (record, bytes) = pack(&world, &root, mode).unwrap();
        assert_eq!(reasons(&record), [""; 0]);
        let (out, names) = unpack(&world, &record, &bytes);
        let changed = ["real/x", "todir/inner", "tofile", "tolink"];
        assert_eq!(names.iter().filter(|name| changed.contains(&name.as_str())).count(), 4, "{names:?}");
        assert_eq!(fs_err::read_link(out.join("tolink")).unwrap(), Path::new("real"));
        let clone = world.path(&format!("clone-{mode:?}"));
        git(&root, &["clone", "-q", ".", clone.to_str().unwrap()]);
        let length = bytes.len() as u64;
        let into = RestoreInto::CleanCheckout;
        let noted = note_restored(&world.context, &bytes[..], length, &record, &clone, into, false).unwrap();
        let placement = Placement { folder: &clone, into, mark: "test", noted: noted.as_ref(), placed: None };
        restore_workspace(&world.context, &bytes[..], length, &record, placement).unwrap();
        assert!(clone.join("todir/inner").is_file() && clone.join("tofile").is_file(), "{mode:?}");
        let drift = compare_workspace(&world.context, &bytes[..], length, &record, &clone).unwrap();
        // Nothing was staged in the place of it, as the files alone were written.
        assert!(drift.is_none(), "{drift:?}");
    }
}

#[test]
fn file_larger_than_a_gigabyte_is_left_out_and_named_unread() {
    let world = world_with_git();
    let project = world.context.env.home.join("p");
    write(&project, "a.txt", "1\n");
    // It takes no room on the disk, and reading it would take longer than this test may.
    write(&project, "huge.bin", "");
    let huge = fs_err::OpenOptions::new().write(true).open(project.join("huge.bin")).unwrap();
    huge.set_len((1 << 30) + 1).unwrap();
    let (record, packed) = pack(&world, &project, FilesMode::Full).unwrap();
    let left_out: Vec<_> = record.left_out.iter().map(|it| (it.path.as_str(), it.reason.as_str())).collect();
    assert_eq!(left_out, [("huge.bin", "is larger than 1 GB")]);
    assert!(record.files == 1 && packed.len() < 10_000, "{record:?}");
    huge.set_len(1 << 20).unwrap();
    let (record, _) = pack(&world, &project, FilesMode::Full).unwrap();
    assert!(record.left_out.is_empty() && record.files == 2, "{record:?}");
}
