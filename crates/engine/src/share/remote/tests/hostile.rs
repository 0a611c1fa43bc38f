//! A place that lies: nothing of it is believed, and nothing is left behind.

use serde_json::{Value, json};

use super::super::index::PushedCapsule;
use super::super::{FOLDER, RemoteError};
use super::*;
use crate::share::bucket::PutOutcome;

/// A remote with a session in it, and a machine that is to pull it.
struct Scene {
    here: World,
    there: World,
    remote: Remote,
}

impl Scene {
    fn new() -> Self {
        let (here, there) = (World::new(), World::new());
        for id in ["aaaa1111", "bbbb2222"] {
            write_session(&here, id, 400);
        }
        let pushing = remote_of(&here);
        push(&here, &pushing, "aaaa1111");
        push(&here, &pushing, "bbbb2222");
        let remote = add(&there, Box::new(folder_bucket(&here))).1;
        Self { here, there, remote }
    }

    fn path(&self, key: &str) -> PathBuf {
        remote_folder(&self.here).join(key)
    }

    fn keys(&self, prefix: &str) -> Vec<String> {
        folder_bucket(&self.here).list(prefix).unwrap().into_iter().map(|object| object.key).collect()
    }

    fn find(&self, id: &str) -> PushedCapsule {
        read_catalog(&self.remote).find(id)[0].clone()
    }

    /// Why a capsule is not pulled. Nothing of it is here afterwards.
    fn pull_error(&self, capsule: &PushedCapsule) -> RemoteError {
        let error = self.remote.pull(&self.there.context, capsule, &|_, _| {}).unwrap_err();
        let home = &self.there.context.home;
        let is_empty =
            |name: &str| fs_err::read_dir(home.join(name)).map_or(true, |mut entries| entries.next().is_none());
        assert!(is_empty("capsules") && is_empty("pulling"), "{error}");
        error
    }

    /// Puts an index of somebody who has the key in the place.
    fn put_index(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut index = serde_json::to_value(self.find("aaaa1111")).unwrap();
        index["capsule"] = json!("0123456789abcdef");
        change(&mut index);
        let content = serde_json::to_vec(&index).unwrap();
        let address = self.remote.objects.compute_address(&content);
        let key = format!("index/20231114221320000-{address}");
        assert_eq!(self.remote.objects.put(&key, &content).unwrap(), PutOutcome::Created);
        key
    }
}

fn overwrite(path: &std::path::Path, bytes: &[u8]) {
    crate::own::files::write_private(path, bytes).unwrap();
}

#[test]
fn pieces_that_were_cut_changed_swapped_or_taken_away_are_told() {
    let scene = Scene::new();
    let capsule = scene.find("aaaa1111");
    let keys = scene.keys("objects/");
    let whole: Vec<Vec<u8>> = keys.iter().map(|key| fs_err::read(scene.path(key)).unwrap()).collect();
    let restore = || keys.iter().zip(&whole).for_each(|(key, bytes)| overwrite(&scene.path(key), bytes));
    let for_each = |change: &dyn Fn(&[u8]) -> Vec<u8>| {
        keys.iter().zip(&whole).for_each(|(key, bytes)| overwrite(&scene.path(key), &change(bytes)));
    };
    for_each(&|bytes| bytes[..bytes.len() - 40].to_vec());
    assert!(matches!(scene.pull_error(&capsule), RemoteError::Unopened { .. }));
    for_each(&|bytes| {
        let mut changed = bytes.to_vec();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        changed
    });
    assert!(matches!(scene.pull_error(&capsule), RemoteError::Unopened { .. }));
    let rotated = |bytes: &[u8]| {
        let at = whole.iter().position(|one| one == bytes).unwrap();
        whole[(at + 1) % whole.len()].clone()
    };
    for_each(&rotated);
    assert!(matches!(scene.pull_error(&capsule), RemoteError::WrongContent { .. }));
    for_each(&|_| vec![0; 6 << 20]);
    let error = scene.pull_error(&capsule).to_string();
    assert!(error.contains("larger than"), "{error}");
    for key in &keys {
        fs_err::remove_file(scene.path(key)).unwrap();
    }
    assert!(matches!(scene.pull_error(&capsule), RemoteError::Missing { .. }));
    restore();
    assert!(scene.remote.pull(&scene.there.context, &capsule, &|_, _| {}).unwrap().is_new);
}

#[test]
fn index_of_anothers_pieces_gives_nothing() {
    let scene = Scene::new();
    let other = serde_json::to_value(scene.find("bbbb2222")).unwrap();
    scene.put_index(|index| {
        for field in ["pieces", "bytes", "manifest_bytes"] {
            index[field] = other[field].clone();
        }
    });
    let error = scene.pull_error(&scene.find("0123456789abcdef")).to_string();
    assert_eq!(error, "the capsule is damaged: manifest.json is not that of the capsule that was looked for");
}

#[test]
fn index_that_says_what_cannot_be_is_no_index() {
    let scene = Scene::new();
    let changes: [&dyn Fn(&mut Value); 9] = [
        &|index| index["capsule"] = json!("../../../../x"),
        &|index| index["pieces"][0]["address"] = json!("../../etc/passwd"),
        &|index| index["pieces"][0]["bytes"] = json!(u64::MAX),
        &|index| index["bytes"] = json!(u64::MAX),
        &|index| index["bytes"] = json!(1),
        &|index| index["manifest_bytes"] = json!(u64::MAX),
        &|index| index["schema"] = json!("carryover.pushed-capsule/9"),
        &|index| index["schema"] = json!("something/1"),
        &|index| *index = json!({ "schema": "carryover.pushed-capsule/1" }),
    ];
    let keys: std::collections::BTreeSet<String> = changes.iter().map(|change| scene.put_index(change)).collect();
    let catalog = read_catalog(&scene.remote);
    let unreadable: std::collections::BTreeSet<String> = catalog.unreadable.into_iter().map(|(key, _)| key).collect();
    assert_eq!((catalog.capsules.len(), unreadable), (2, keys));
}

#[test]
fn index_in_anothers_place_is_told() {
    let scene = Scene::new();
    let keys = scene.keys("index/");
    let bytes = fs_err::read(scene.path(&keys[0])).unwrap();
    overwrite(&scene.path(&keys[1]), &bytes);
    overwrite(&scene.path(&keys[0].replace("index/2023", "index/2024")), &bytes);
    let catalog = read_catalog(&scene.remote);
    assert_eq!((catalog.capsules.len(), catalog.unreadable.len()), (1, 2));
    assert!(catalog.unreadable.iter().all(|(_, error)| matches!(error, RemoteError::WrongContent { .. })));
}

#[test]
fn junk_is_passed_over_and_much_of_it_is_an_end() {
    let scene = Scene::new();
    for name in ["index/notes.txt", "index/1-short", "other", "objects/ab/notes", "index/deep/er"] {
        overwrite(&scene.path(name), b"junk");
    }
    let catalog = read_catalog(&scene.remote);
    assert_eq!((catalog.capsules.len(), catalog.unreadable.len()), (2, 0));
    let junk = |number: usize| format!("index/20250101-{number:064x}");
    (0..50).for_each(|number| overwrite(&scene.path(&junk(number)), b"junk"));
    assert_eq!(read_catalog(&scene.remote).unreadable.len(), 50);
    (50..400).for_each(|number| overwrite(&scene.path(&junk(number)), b"junk"));
    let refused = scene.remote.read_catalog(&|_, _| {}).unwrap_err();
    assert!(matches!(refused, RemoteError::TooManyUnreadable { count: 101 }), "{refused}");
}

#[test]
fn place_that_is_another_one_now_is_not_written_to() {
    let scene = Scene::new();
    let open = || open_remote(&scene.here.context, NAME, Box::new(folder_bucket(&scene.here))).map(drop);
    let key = scene.path("identity.age");
    let locked = fs_err::read(&key).unwrap();
    fs_err::remove_file(&key).unwrap();
    assert!(matches!(open(), Err(RemoteError::Gone { .. })));
    let stranger = World::new();
    add(&stranger, Box::new(folder_bucket(&scene.here)));
    assert!(matches!(open(), Err(RemoteError::OtherKey { .. })));
    overwrite(&key, &locked);
    assert!(open().is_ok());
    fs_err::remove_dir_all(scene.here.context.home.join(FOLDER)).unwrap();
    assert!(matches!(open(), Err(RemoteError::NoKey(_))));
}

#[test]
fn capsule_of_an_agent_with_a_path_as_name_stays_on_the_shelf() {
    let world = World::new();
    write_session(&world, "aaaa1111", 1);
    let mut manifest = seal_session(&world, "aaaa1111").manifest;
    manifest.source.agent = "../../../x".to_owned();
    let path = crate::capsule::shelf::default_path(&world.context, &manifest);
    assert_eq!(path, world.context.home.join("capsules").join(format!("capsule-{}.tar.zst", manifest.id)));
}
