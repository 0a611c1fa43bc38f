//! Whoever sends a capsule may mean harm: every such one is refused, and nothing is written.

use std::time::{Duration, Instant};

use tar::EntryType;

use super::super::limits::{MAX_RAW_BYTES, MAX_RAW_RECORDS};
use super::super::manifest::{Manifest, RAW, SNAPSHOT, TRANSCRIPT};
use super::super::workspace::{FileChange, StagedChange, WorktreeChange};
use super::super::{Capsule, CapsuleError};
use super::crafted::{Crafted, CraftedEntry, file, open, pack, pack_members, special};

fn refusal(entries: &[CraftedEntry]) -> String {
    match open(Crafted::with_files(entries).pack()) {
        Err(error @ (CapsuleError::Refused { .. } | CapsuleError::Bomb { .. })) => error.to_string(),
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it was taken"),
    }
}

#[test]
fn whole_capsule_is_taken() {
    let entries = [
        file("index/a", b"staged"),
        file("tree/a", b"1"),
        file("tree/b/c", b""),
        special("tree/l", EntryType::Symlink, "b/c"),
    ];
    let verified = open(Crafted::with_files(&entries).pack()).unwrap();
    assert_eq!((verified.workspace.files, verified.has_files()), (3, true));
}

#[test]
fn paths_and_links_that_lead_out_are_refused() {
    for (entry, reason) in [
        (file("/etc/passwd", b"x"), "is an absolute path"),
        (file("tree//etc/passwd", b"x"), "has an empty part in its name"),
        (file("tree/../../x", b"x"), "leads out of the capsule"),
        (file("tree/.git/hooks/pre-commit", b"x"), "would be a part of git's own folder"),
        (file("tree/sub/.GiT/config", b"x"), "would be a part of git's own folder"),
        (file("tree/.carryover/handoff.md", b"x"), "would be a part of carryover's own folder"),
        (file("tree/.git. /config", b"x"), "would be a part of git's own folder"),
        (file("tree/a.d/GIT~1/config", b"x"), "would be a part of git's own folder"),
        (special("tree/l", EntryType::Symlink, ".Git/hooks"), "is a link that leads into git's own folder"),
        (special("tree/b/l", EntryType::Symlink, "../.g\u{200c}it"), "is a link that leads into git's own folder"),
        (file("elsewhere", b"x"), "is no part of a workspace"),
        (special("tree/l", EntryType::Symlink, "/etc/passwd"), "is a link that leads out"),
        (special("tree/l", EntryType::Symlink, "../x"), "is a link that leads out"),
        (special("tree/a/l", EntryType::Symlink, "b/../../x"), "is a link that leads out"),
        (special("index/l", EntryType::Symlink, "a"), "is no part of a workspace"),
        (special("tree/h", EntryType::Link, "tree/a"), "is a hard link"),
        (special("tree/d", EntryType::Char, ""), "is a device"),
        (special("tree/d", EntryType::Block, ""), "is a device"),
        (special("tree/p", EntryType::Fifo, ""), "is a device"),
        (special("tree/x", EntryType::XHeader, ""), "is of a kind that capsules do not have"),
        (special("tree/x", EntryType::GNUSparse, ""), "is of a kind that capsules do not have"),
    ] {
        let told = refusal(&[file("tree/a", b"1"), entry]);
        assert!(told.contains(reason), "{told}");
    }
}

/// Whoever runs git in such a folder runs what its settings say.
#[test]
fn folders_that_git_would_take_for_repositories_are_refused() {
    for folder in ["tree/", "tree/a/b/"] {
        let name = |name: &str| -> &'static str { format!("{folder}{name}").leak() };
        let layouts = [
            vec![file(name("HEAD"), b"ref: refs/heads/x"), file(name("objects/a"), b""), file(name("refs/b"), b"")],
            vec![
                special(name("Refs"), EntryType::Directory, ""),
                file(name("OBJECTS/a"), b""),
                file(name("head"), b""),
            ],
            vec![file(name("commondir"), b"../x"), special(name("HEAD"), EntryType::Symlink, "refs/heads/x")],
        ];
        for entries in layouts {
            let told = refusal(&entries);
            assert!(told.contains("has the layout of a repository"), "{told}");
        }
    }
    open(
        Crafted::with_files(&[file("tree/HEAD", b"x"), file("tree/a/objects/x", b""), file("tree/refs/x", b"")]).pack(),
    )
    .unwrap();
}

#[test]
fn paths_that_come_twice_or_lie_below_files_are_refused() {
    let twice = refusal(&[file("tree/a", b"1"), file("tree/a", b"2")]);
    assert!(twice.contains("comes twice"), "{twice}");
    let below = [special("tree/l", EntryType::Symlink, "b"), file("tree/l/x", b"1")];
    assert!(refusal(&below).contains("is below something that is no folder"));
    let above = [file("tree/l/x", b"1"), special("tree/l", EntryType::Symlink, "b")];
    assert!(refusal(&above).contains("comes twice"));
}

/// A member that is a bomb itself, and one whose head merely claims to be large.
#[test]
fn bombs_are_refused_at_once() {
    let began = Instant::now();
    let claimed = CraftedEntry { claims: Some(1 << 40), ..file("tree/big", b"x") };
    assert!(matches!(open(Crafted::with_files(&[claimed]).pack()), Err(CapsuleError::Bomb { .. })));
    let mut zeros = zstd::Encoder::new(Vec::new(), 3).unwrap();
    std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 256 << 20), &mut zeros).unwrap();
    let bomb = zeros.finish().unwrap();
    let began_bomb = Instant::now();
    assert!((256 << 20) / bomb.len() > 10_000, "{}", bomb.len());
    let error = open(Crafted::with_snapshot(bomb.clone(), 0, 0).pack()).err().unwrap();
    assert!(matches!(error, CapsuleError::Bomb { .. } | CapsuleError::Refused { .. }), "{error}");
    // A second, where it is optimised; `cargo xtask bench` measures that.
    assert!(began_bomb.elapsed() < Duration::from_secs(5));
    // Not a workspace this time, but the capsule.
    let error = open(bomb).err().unwrap();
    assert!(
        matches!(error, CapsuleError::Bomb { .. } | CapsuleError::Refused { .. } | CapsuleError::NoCapsule(_)),
        "{error}"
    );
    assert!(began.elapsed() < Duration::from_mins(1));
}

/// Its packed length is padding that packs away, so it seems long from within alone.
#[test]
fn bombs_in_what_was_packed_twice_are_refused() {
    let zeros = vec![0; 100 << 20];
    let mut snapshot = pack(&[file("tree/zeros", &zeros)]);
    let padding = 2 << 20;
    snapshot.extend([0x50, 0x2a, 0x4d, 0x18]);
    snapshot.extend(u32::to_le_bytes(padding));
    snapshot.extend(vec![0; padding as usize]);
    let capsule = Crafted::with_snapshot(snapshot, 1, 100 << 20).pack();
    assert!(capsule.len() < 100_000, "{}", capsule.len());
    let error = open(capsule).err().unwrap();
    assert!(matches!(error, CapsuleError::Bomb { .. }), "{error}");
}

/// Many files, none of which is large.
#[test]
fn bombs_of_many_files_are_refused_while_they_are_counted() {
    let names: Vec<String> = (0..80).map(|index| format!("tree/{index}")).collect();
    let content = vec![0; 1 << 20];
    let entries: Vec<CraftedEntry> =
        names.iter().map(|name| CraftedEntry { path: name.clone().leak(), ..file("", &content) }).collect();
    let packed = pack(&entries);
    assert!((80 << 20) / packed.len() > 5_000);
    let error = open(Crafted::with_snapshot(packed, 80, 80 << 20).pack()).err().unwrap();
    assert!(matches!(error, CapsuleError::Bomb { .. }), "{error}");
}

#[test]
fn what_is_not_as_the_manifest_says_is_damaged() {
    let sealed = || Crafted::with_files(&[file("tree/a", b"1")]).seal();
    let error = |members: &[(String, Vec<u8>)]| open(pack_members(members)).err().unwrap().to_string();
    let mut changed = sealed();
    changed.iter_mut().find(|(name, _)| name == TRANSCRIPT).unwrap().1[5] ^= 1;
    assert!(error(&changed).contains("transcript.jsonl has another digest"));
    let mut longer = sealed();
    longer.iter_mut().find(|(name, _)| name == TRANSCRIPT).unwrap().1.push(b' ');
    assert!(error(&longer).contains("is not as long as the manifest says"));
    let mut missing = sealed();
    missing.retain(|(name, _)| name != SNAPSHOT);
    assert!(error(&missing).contains("workspace/snapshot.tar.zst is missing"));
    let mut extra = sealed();
    extra.push(("source/x".to_owned(), Vec::new()));
    assert!(error(&extra).contains("source/x is not in the manifest"));
    let mut twice = sealed();
    twice.push(twice[1].clone());
    assert!(error(&twice).contains("comes twice"));
    let mut foreign = sealed();
    foreign[0].1 = String::from_utf8(foreign[0].1.clone()).unwrap().replace("\"title\":null", "\"title\":\"x\"").into();
    assert!(error(&foreign).contains("manifest.json is not as it was written"));
    let mut late = sealed();
    late.rotate_left(1);
    assert!(error(&late).contains("does not begin with a manifest"));
    let mut newer = sealed();
    newer[0].1 = String::from_utf8(newer[0].1.clone()).unwrap().replace("capsule/1", "capsule/7").into();
    assert!(error(&newer).contains("of schema version 7, and this carryover opens up to 1"));
}

#[test]
fn snapshot_must_hold_what_is_said_of_it() {
    for (files, bytes) in [(2, 1), (1, 2)] {
        let error = open(Crafted::with_snapshot(pack(&[file("tree/a", b"1")]), files, bytes).pack()).err().unwrap();
        assert!(error.to_string().contains("does not hold what is said of it"), "{error}");
    }
}

#[test]
fn changes_outside_of_the_workspace_are_refused() {
    for path in ["../x", "/x", ".git/config", "a/%2e%2e/b", "%zz"] {
        let mut crafted = Crafted::with_files(&[]);
        crafted.workspace.changes.push(FileChange {
            path: path.to_owned(),
            staged: Some(StagedChange::Deleted),
            worktree: WorktreeChange::Deleted,
        });
        let error = open(crafted.pack()).err().unwrap();
        assert!(matches!(error, CapsuleError::Refused { .. }), "{path}: {error}");
    }
}

#[test]
fn capsule_that_is_cut_anywhere_is_an_error_and_no_panic() {
    let whole = Crafted::with_files(&[file("tree/a", b"1"), file("tree/b/c", &[7; 3_000])]).pack();
    for end in 0..whole.len() {
        assert!(open(whole[..end].to_vec()).is_err(), "{end}");
    }
    assert!(open(whole.clone()).is_ok());
    // Something behind its end is something that nobody verified.
    let more = zstd::encode_all(&b"and more"[..], 1).unwrap();
    assert!(open([whole, more].concat()).is_err());
}

#[test]
fn folders_with_links_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in Crafted::with_files(&[file("tree/a", b"1")]).seal() {
        crate::own::files::write_private(&folder.path().join(name), &bytes).unwrap();
    }
    Capsule::open(folder.path()).unwrap().verify().unwrap();
    #[cfg(unix)]
    {
        let transcript = folder.path().join(TRANSCRIPT);
        fs_err::rename(&transcript, folder.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("elsewhere", &transcript).unwrap();
        let error = Capsule::open(folder.path()).err().unwrap();
        assert!(error.to_string().contains("is no file"), "{error}");
    }
}

#[test]
fn records_that_are_too_many_or_too_long_to_be_held_at_once_do_not_move_as_they_are() {
    let manifest = |n_records: usize, bytes: u64| {
        let mut crafted = Crafted::with_files(&[file("tree/a", b"1")]);
        crafted.members.extend((0..n_records).map(|n| (format!("{RAW}{n}"), b"x".to_vec())));
        let sealed = crafted.seal();
        let mut manifest = Manifest::parse(&sealed[0].1).unwrap();
        manifest
            .members
            .iter_mut()
            .filter(|member| member.name.starts_with(RAW))
            .for_each(|member| member.bytes = bytes);
        manifest
    };
    assert!(manifest(0, 0).raw_records_fit() && manifest(3, 1 << 20).raw_records_fit());
    assert!(!manifest(MAX_RAW_RECORDS + 1, 1).raw_records_fit());
    assert!(!manifest(2, MAX_RAW_BYTES / 2 + 1).raw_records_fit());
    assert!(!manifest(2, u64::MAX).raw_records_fit());
}
