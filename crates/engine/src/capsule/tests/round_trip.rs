//! What is packed comes out as it was.

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::super::workspace::{
    FilesMode, Placement, RestoreInto, collect_workspace, restore_workspace, write_snapshot,
};
use super::crafted::Crafted;
use crate::tests::world::World;

/// Files by their paths; where one is below another, the later is not written.
type Files = BTreeMap<Vec<String>, (Vec<u8>, bool)>;

fn files() -> impl Strategy<Value = Files> {
    let name = prop_oneof![4 => "[a-c]{1,2}", 1 => "[ %üñ~#.]{1,3}x", 1 => "[x]{90,120}"];
    let path = proptest::collection::vec(name, 1..4);
    let content = proptest::collection::vec(any::<u8>(), 0..300);
    proptest::collection::btree_map(path, (content, any::<bool>()), 0..12)
}

fn write_files(root: &Path, files: &Files) {
    fs_err::create_dir_all(root).unwrap();
    for (path, (content, is_executable)) in files {
        let place: PathBuf = root.join(path.iter().collect::<PathBuf>());
        if fs_err::create_dir_all(place.parent().unwrap()).is_err() || place.is_dir() {
            continue;
        }
        fs_err::File::create(&place).and_then(|mut file| std::io::Write::write_all(&mut file, content)).unwrap();
        #[cfg(unix)]
        {
            let mode = if *is_executable { 0o755 } else { 0o640 };
            fs_err::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        }
    }
}

fn read_files(folder: &Path, below: &Path, found: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_files(&path, below, found);
        } else {
            #[cfg(unix)]
            let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().unwrap().permissions());
            #[cfg(not(unix))]
            let mode = 0;
            found.insert(path.strip_prefix(below).unwrap().to_owned(), (mode, fs_err::read(&path).unwrap()));
        }
    }
}

fn tree(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    read_files(folder, folder, &mut found);
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn opened_workspace_is_the_one_that_was_sealed(files in files()) {
        let world = World::new();
        let (root, packed) = (world.path("work"), world.path("snapshot"));
        write_files(&root, &files);
        let collected = collect_workspace(&world.context, &root, &root, FilesMode::Full).unwrap();
        let (record, member) = write_snapshot(collected, false, fs_err::File::create(&packed).unwrap()).unwrap();
        prop_assert_eq!(&record.left_out, &[]);
        let bytes = fs_err::read(&packed).unwrap();
        let mut crafted = Crafted::with_snapshot(bytes.clone(), record.files, record.bytes);
        crafted.workspace = record.clone();
        let verified = super::super::Capsule::from_reader(Cursor::new(crafted.pack())).unwrap().verify().unwrap();
        prop_assert_eq!(&verified.workspace, &record);
        let out = world.path("out");
        let placement = Placement { folder: &out, into: RestoreInto::Empty, mark: "test", noted: None, placed: None };
        restore_workspace(&world.context, &bytes[..], member.bytes, &record, placement).unwrap();
        prop_assert_eq!(tree(&out), tree(&root));
    }

    #[test]
    fn any_bytes_are_an_error_and_no_panic(bytes in proptest::collection::vec(any::<u8>(), 0..2_000)) {
        prop_assert!(super::crafted::open(bytes.clone()).is_err());
        let packed = zstd::encode_all(&bytes[..], 1).unwrap();
        prop_assert!(super::crafted::open(packed).is_err());
    }
}
