//! What was pushed is found and pulled as it was, and sent once.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::{AddOutcome, RemoteError, add_remote, has_key, newest_per_session};
use super::buckets::CountingBucket;
use super::*;
use crate::capsule::shelf;
use crate::own::sha256::hex_sha256;

fn list_keys(world: &World) -> BTreeSet<String> {
    folder_bucket(world).list("").unwrap().into_iter().map(|object| object.key).collect()
}

#[test]
fn capsule_comes_back_byte_for_byte_on_another_machine() {
    let (here, there) = (World::new(), World::new());
    write_session(&here, "aaaa1111", 400);
    here.write_file("project/main.txt", "the file\n");
    let (outcome, remote) = add(&here, Box::new(folder_bucket(&here)));
    assert_eq!(outcome, AddOutcome::Begun);
    let pushed = push(&here, &remote, "aaaa1111");
    assert!(pushed.is_new && pushed.capsule.n_pieces() > 2, "{}", pushed.capsule.n_pieces());
    let file = here.path("whole");
    seal_session(&here, "aaaa1111").write_file(&file, crate::capsule::PackedForm::TarZst).unwrap();

    let (outcome, remote) = add(&there, Box::new(folder_bucket(&here)));
    assert_eq!(outcome, AddOutcome::Joined);
    let catalog = read_catalog(&remote);
    let [found] = catalog.find("number 399 parser")[..] else { panic!("{catalog:?}") };
    assert_eq!((found, found.project.as_deref(), found.messages), (&pushed.capsule, Some("project"), 400));
    let pulled = remote.pull(&there.context, found, &|_, _| {}).unwrap();
    assert!(pulled.is_new && fs_err::read(&pulled.path).unwrap() == fs_err::read(&file).unwrap());
    assert_eq!(shelf::find_on_shelf(&there.context, &found.capsule).unwrap().path, pulled.path);
    assert!(!remote.pull(&there.context, found, &|_, _| {}).unwrap().is_new);
    assert!(fs_err::read_dir(there.context.home.join("pulling")).unwrap().next().is_none());
}

#[test]
fn nothing_is_sent_twice_and_of_what_has_grown_only_its_end() {
    let world = World::new();
    let path = write_session(&world, "aaaa1111", 2_000);
    world.write_file("project/main.txt", &(0..400).map(filler).collect::<String>());
    let remote = remote_of(&world);
    let first = push(&world, &remote, "aaaa1111");
    assert!(first.sent_pieces == first.capsule.n_pieces() && first.sent_pieces >= 4, "{}", first.sent_pieces);
    let before = list_keys(&world);
    let again = push(&world, &remote, "aaaa1111");
    assert!(!again.is_new && again.sent_pieces == 0 && list_keys(&world) == before);

    World::append_lines(&path, &[&prompt_line("and one more")]);
    let grown = push(&world, &remote, "aaaa1111");
    // The manifest with the other documents, and the end of the transcript.
    assert!(
        grown.is_new && (1..=3).contains(&grown.sent_pieces),
        "{} of {}",
        grown.sent_pieces,
        grown.capsule.n_pieces()
    );
    assert!(grown.sent_bytes < first.sent_bytes / 2, "{} of {}", grown.sent_bytes, first.sent_bytes);
    assert_eq!(list_keys(&world).len(), before.len() + grown.sent_pieces + 1);
    let catalog = read_catalog(&remote);
    let newest: Vec<&str> =
        newest_per_session(&catalog.capsules).iter().map(|pushed| pushed.capsule.as_str()).collect();
    assert_eq!((catalog.capsules.len(), newest), (2, vec![grown.capsule.capsule.as_str()]));
}

#[test]
fn file_that_was_changed_costs_little_among_many() {
    let world = World::new();
    write_session(&world, "aaaa1111", 3);
    let write = |file: usize, more: &str| {
        let line = |at: usize| {
            format!("    let value_{at} = compute({});\n", &hex_sha256(format!("{file} {at}").as_bytes())[..40])
        };
        let text: String = (0..2_000).map(line).collect();
        world.write_file(&format!("project/file-{file:02}.rs"), &format!("{more}{text}"));
    };
    (0..60).for_each(|file| write(file, ""));
    let remote = remote_of(&world);
    let first = push(&world, &remote, "aaaa1111");
    write(5, &filler(7));
    let changed = push(&world, &remote, "aaaa1111");
    assert!(
        changed.is_new && changed.sent_bytes < first.sent_bytes / 2,
        "{} of {}",
        changed.sent_bytes,
        first.sent_bytes
    );
}

#[test]
fn push_that_was_cut_off_goes_on_where_it_stopped() {
    let world = World::new();
    write_session(&world, "aaaa1111", 2_000);
    remote_of(&world);
    let count_pieces = || list_keys(&world).iter().filter(|key| key.starts_with("objects/")).count();
    let mut n_cut = 0_usize;
    let pushed = loop {
        // One object gets through, and then no more.
        let bucket = CountingBucket::new(folder_bucket(&world), 1);
        let remote = open_remote(&world.context, NAME, Box::new(Arc::new(bucket))).unwrap();
        let catalog = read_catalog(&remote);
        assert!(catalog.capsules.is_empty());
        match remote.push(&world.context, &catalog, &seal_session(&world, "aaaa1111"), &|_, _| {}) {
            Ok(pushed) => break pushed,
            Err(error) => assert!(matches!(error, RemoteError::Bucket(_)), "{error}"),
        }
        n_cut += 1;
        assert_eq!(count_pieces(), n_cut);
    };
    // All pieces were there, and what lists them was not.
    assert!(n_cut > 2 && pushed.sent_pieces == 0 && pushed.capsule.n_pieces() == n_cut, "{n_cut}");
    assert_eq!(read_catalog(&remote_of(&world)).capsules.len(), 1);
}

#[test]
fn those_who_push_at_once_are_all_listed() {
    let world = World::new();
    for id in ["aaaa1111", "bbbb2222", "cccc3333"] {
        write_session(&world, id, 50);
    }
    remote_of(&world);
    std::thread::scope(|scope| {
        for id in ["aaaa1111", "bbbb2222", "cccc3333", "cccc3333"] {
            let remote = open_remote(&world.context, NAME, Box::new(folder_bucket(&world))).unwrap();
            let (world, sealed) = (&world, seal_session(&world, id));
            scope.spawn(move || remote.push(&world.context, &Catalog::default(), &sealed, &|_, _| {}).unwrap());
        }
    });
    let remote = open_remote(&world.context, NAME, Box::new(folder_bucket(&world))).unwrap();
    let catalog = read_catalog(&remote);
    let sessions: BTreeSet<&str> = catalog.capsules.iter().map(|pushed| pushed.session_id.as_str()).collect();
    assert_eq!((sessions, catalog.capsules.len()), (BTreeSet::from(["aaaa1111", "bbbb2222", "cccc3333"]), 3));
}

#[test]
fn those_who_add_it_at_once_have_one_key() {
    for _ in 0..20 {
        let worlds = [World::new(), World::new(), World::new()];
        folder_bucket(&worlds[0]);
        let outcomes: Vec<AddOutcome> = std::thread::scope(|scope| {
            let adding = worlds.each_ref().map(|world| {
                let bucket = folder_bucket(&worlds[0]);
                scope.spawn(move || add_remote(&world.context, NAME, &bucket, &passphrase("words"), QUICK).unwrap())
            });
            adding.map(|thread| thread.join().unwrap()).into()
        });
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == AddOutcome::Begun).count(), 1);
        write_session(&worlds[0], "aaaa1111", 2);
        let remotes = worlds
            .each_ref()
            .map(|world| open_remote(&world.context, NAME, Box::new(folder_bucket(&worlds[0]))).unwrap());
        push(&worlds[0], &remotes[0], "aaaa1111");
        assert!(remotes.iter().all(|remote| read_catalog(remote).capsules.len() == 1));
    }
}

#[test]
fn wrong_passphrase_adds_nothing() {
    let (here, there) = (World::new(), World::new());
    remote_of(&here);
    let bucket = folder_bucket(&here);
    let refused = add_remote(&there.context, NAME, &bucket, &passphrase("other"), QUICK).unwrap_err();
    assert_eq!(refused.to_string(), "the passphrase does not fit");
    assert!(!has_key(&there.context, NAME) && !there.context.home.exists());
    assert_eq!(list_keys(&here).len(), 1);
}

#[test]
fn index_that_was_read_is_not_fetched_again() {
    let world = World::new();
    remote_of(&world);
    let bucket = Arc::new(CountingBucket::new(folder_bucket(&world), usize::MAX));
    let remote = open_remote(&world.context, NAME, Box::new(Arc::clone(&bucket))).unwrap();
    for id in ["aaaa1111", "bbbb2222"] {
        write_session(&world, id, 2);
        push(&world, &remote, id);
    }
    let count_gets = || {
        let before = bucket.n_gets.load(Ordering::SeqCst);
        assert_eq!(read_catalog(&remote).capsules.len(), 2);
        bucket.n_gets.load(Ordering::SeqCst) - before
    };
    assert_eq!((count_gets(), count_gets()), (1, 0));
    let kept = fs_err::read_dir(remote.folder.join("index")).unwrap().next().unwrap().unwrap().path();
    crate::own::files::write_private(&kept, b"{}").unwrap();
    assert_eq!((count_gets(), count_gets()), (1, 0));
}

#[cfg(unix)]
#[test]
fn key_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let remote = remote_of(&world);
    let mode = |path: &std::path::Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&remote.folder.join("key.json")), mode(&remote.folder)), (0o600, 0o700));
}
