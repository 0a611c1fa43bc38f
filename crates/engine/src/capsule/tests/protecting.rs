//! What is a user's own where a workspace comes: it is neither written over nor deleted, whatever the capsule says.

use std::path::{Path, PathBuf};

use super::super::CapsuleError;
use super::super::workspace::{
    FileChange, FilesMode, Placement, RestoreInto, RestoredFiles, RestoredWorkspace, WorkspaceRecord, WorktreeChange,
    note_restored, restore_workspace,
};
use super::leaving_out::{git, make_repository, pack, world_with_git, write};
use crate::tests::world::World;

/// A packed workspace, and a clean checkout of its commit.
struct Stage {
    world: World,
    record: WorkspaceRecord,
    bytes: Vec<u8>,
    clone: PathBuf,
}

fn stage() -> Stage {
    let world = world_with_git();
    let root = world.path("work");
    make_repository(&root);
    write(&root, "b.txt", "new\n");
    write(&root, "deep/c.txt", "new\n");
    let (record, bytes) = pack(&world, &root, FilesMode::Full).unwrap();
    let clone = world.path("clone");
    git(&root, &["clone", "-q", ".", clone.to_str().unwrap()]);
    Stage { world, record, bytes, clone }
}

impl Stage {
    fn note(&self, force: bool) -> Result<RestoredFiles, CapsuleError> {
        let into = RestoreInto::CleanCheckout;
        let packed = self.bytes.len() as u64;
        let noted = note_restored(&self.world.context, &self.bytes[..], packed, &self.record, &self.clone, into, force);
        Ok(noted?.unwrap())
    }

    fn put(&self, noted: &RestoredFiles) -> Result<RestoredWorkspace, CapsuleError> {
        let into = RestoreInto::CleanCheckout;
        let placement = Placement { folder: &self.clone, into, mark: "test", noted: Some(noted), placed: None };
        restore_workspace(&self.world.context, &self.bytes[..], self.bytes.len() as u64, &self.record, placement)
    }

    fn check_threatened(&self, path: &str) {
        match self.note(false) {
            Err(CapsuleError::Threatened { count: 1, first, .. }) => assert_eq!(first, path),
            Err(error) => panic!("another error: {error}"),
            Ok(_) => panic!("{path} would be lost"),
        }
        self.note(true).unwrap();
    }
}

fn delete(record: &mut WorkspaceRecord, path: &str) {
    record.changes.push(FileChange { path: path.to_owned(), staged: None, worktree: WorktreeChange::Deleted });
}

#[test]
fn what_git_ignores_or_overlooks_is_neither_written_over_nor_deleted() {
    let mut stage = stage();
    stage.note(false).unwrap();
    // In the place of a file that comes.
    write(&stage.clone, ".git/info/exclude", "b.txt\n");
    write(&stage.clone, "b.txt", "mine\n");
    stage.check_threatened("b.txt");
    write(&stage.clone, "b.txt", "new\n");
    stage.note(false).unwrap();
    // A deletion that nobody can have made.
    write(&stage.clone, ".env", "mine\n");
    delete(&mut stage.record, ".env");
    stage.check_threatened(".env");
    stage.record.changes.retain(|change| change.path != ".env");
    // An edit that git was told to overlook.
    delete(&mut stage.record, "a.txt");
    stage.note(false).unwrap();
    git(&stage.clone, &["update-index", "--assume-unchanged", "a.txt"]);
    stage.note(false).unwrap();
    write(&stage.clone, "a.txt", "mine\n");
    stage.check_threatened("a.txt");
}

#[test]
fn repositories_inside_are_left_alone() {
    let mut stage = stage();
    write(&stage.clone, ".git/info/exclude", "vendor/\ndeep/\n");
    write(&stage.clone, "vendor/nested/work.c", "mine\n");
    git(&stage.clone.join("vendor/nested"), &["init", "-q"]);
    delete(&mut stage.record, "vendor/nested/work.c");
    stage.check_threatened("vendor/nested/work.c");
    stage.record.changes.pop();
    git(&stage.clone, &["init", "-q", "deep"]);
    stage.check_threatened("deep/c.txt");
}

#[test]
fn what_is_made_or_changed_meanwhile_stays() {
    let stage = stage();
    let noted = stage.note(false).unwrap();
    write(&stage.clone, "deep/c.txt", "mine\n");
    let is_meanwhile = |error: &CapsuleError, name: &str| match error {
        CapsuleError::ChangedMeanwhile(place) => place.ends_with(name),
        _ => false,
    };
    let error = stage.put(&noted).unwrap_err();
    assert!(is_meanwhile(&error, "deep/c.txt"), "{error}");
    assert_eq!(read(&stage.clone, "deep/c.txt"), "mine\n");
    // The same of a file that is replaced, and of one that is deleted.
    for (worktree, name) in [(WorktreeChange::Present, "a.txt"), (WorktreeChange::Deleted, ".gitignore")] {
        let mut stage = self::stage();
        stage.record.changes = vec![FileChange { path: name.to_owned(), staged: None, worktree }];
        if worktree == WorktreeChange::Present {
            write(&stage.world.path("work"), "a.txt", "2\n");
            stage.bytes = pack(&stage.world, &stage.world.path("work"), FilesMode::Full).unwrap().1;
        }
        let noted = stage.note(false).unwrap();
        write(&stage.clone, name, "mine\n");
        let error = stage.put(&noted).unwrap_err();
        assert!(is_meanwhile(&error, name), "{error}");
        assert_eq!(read(&stage.clone, name), "mine\n");
    }
}

#[test]
fn parts_of_a_repository_do_not_become_one_with_what_is_there() {
    let stage = stage();
    write(&stage.world.path("work"), "x/refs/heads/main", "0\n");
    let (record, bytes) = pack(&stage.world, &stage.world.path("work"), FilesMode::Full).unwrap();
    let stage = Stage { record, bytes, ..stage };
    stage.note(false).unwrap();
    write(&stage.clone, ".git/info/exclude", "x/\n");
    write(&stage.clone, "x/HEAD", "ref: refs/heads/main\n");
    fs_err::create_dir_all(stage.clone.join("x/objects")).unwrap();
    let error = stage.note(true).unwrap_err().to_string();
    assert!(error.contains("x has the layout of a repository"), "{error}");
}

#[test]
fn repositories_with_longer_ids_are_staged_in_too() {
    let world = world_with_git();
    let (root, clone) = (world.path("work"), world.path("clone"));
    write(&root, "a.txt", "1\n");
    write(&root, "gone.txt", "1\n");
    git(&root, &["init", "-q", "--object-format=sha256"]);
    git(&root, &["add", "-A"]);
    git(&root, &["commit", "-q", "-m", "begin"]);
    git(&root, &["clone", "-q", ".", clone.to_str().unwrap()]);
    git(&root, &["rm", "-q", "gone.txt"]);
    let (record, bytes) = pack(&world, &root, FilesMode::Full).unwrap();
    let stage = Stage { world, record, bytes, clone };
    let restored = stage.put(&stage.note(false).unwrap()).unwrap();
    assert!(restored.index && restored.deleted == 1, "{restored:?}");
}

fn read(root: &Path, name: &str) -> String {
    fs_err::read_to_string(root.join(name)).unwrap()
}
