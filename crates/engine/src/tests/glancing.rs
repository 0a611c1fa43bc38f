use carryover_agents::{FoundSession, Liveness};
use carryover_core::time::Timestamp;

use super::fake::{ALPHA, BETA, BOTH};
use super::world::World;
use crate::remember_messages;
use crate::sessions::catalog;
use crate::sessions::glance::{Glance, GlanceCache, LimitStop, fill_messages, look_at_sessions, read_glance};
use crate::sessions::list::{Filter, ListedSession, Listing, list_among};

fn list_all(world: &World) -> Listing {
    list_among(BOTH, &world.context, &Filter::default())
}

fn only_session(world: &World) -> ListedSession {
    list_all(world).sessions.remove(0)
}

fn glance_at(records: &[&str]) -> Glance {
    let world = World::new();
    world.write_session(&ALPHA, "aaaa1111", "", records);
    read_glance(&only_session(&world), &|| false).unwrap().unwrap().glance
}

/// The number of messages that is told without reading.
fn remembered_messages(world: &World) -> Option<u64> {
    let mut sessions = [only_session(world)];
    fill_messages(&world.context, &mut sessions);
    sessions[0].found.messages
}

#[test]
fn the_first_and_the_last_words_are_told_also_from_before_a_compaction() {
    let glance = glance_at(&[
        r#"{"t":"prompt","s":"","image":"aW1hZ2U="}"#,
        r#"{"t":"prompt","s":"fix\nthe\u001b[2J parser"}"#,
        r#"{"t":"reply","s":"done"}"#,
        r#"{"t":"compact"}"#,
        r#"{"t":"summary","s":"it was fixed"}"#,
        r#"{"t":"prompt","s":"now the docs"}"#,
    ]);
    assert_eq!(glance.first_prompt.as_deref(), Some("fix the parser"));
    assert_eq!(glance.last_prompt.as_deref(), Some("now the docs"));
    assert_eq!((glance.messages, glance.limit), (4, None));
    assert_eq!(glance_at(&[]), Glance::default());
}

#[test]
fn a_limit_counts_until_something_is_said() {
    let met = r#"{"t":"limit","s":"no more","resets":5000}"#;
    let stop = LimitStop { resets_at: Some(Timestamp::from_millis(5000)) };
    let prompt = r#"{"t":"prompt","s":"go"}"#;
    assert_eq!(glance_at(&[prompt, met]).limit, Some(stop));
    assert_eq!(glance_at(&[prompt, met, r#"{"t":"limit","s":"still"}"#]).limit, Some(stop));
    assert_eq!(glance_at(&[prompt, r#"{"t":"limit","s":"no"}"#]).limit, Some(LimitStop { resets_at: None }));
    assert_eq!(glance_at(&[prompt, met, prompt]).limit, None);
    assert_eq!(glance_at(&[prompt, met, r#"{"t":"reply","s":"done"}"#]).limit, None);
    // What is compacted away is told by its kind alone.
    assert_eq!(glance_at(&[prompt, met, prompt, r#"{"t":"compact"}"#]).limit, None);
}

#[test]
fn nobody_waits_for_a_glance_that_is_cancelled() {
    let world = World::new();
    world.write_sample();
    assert!(read_glance(&only_session(&world), &|| true).unwrap().is_none());
}

#[test]
fn message_counts_are_remembered_until_the_file_changes() {
    let world = World::new();
    let path = world.write_sample();
    let source = only_session(&world).found.source;
    assert_eq!(remembered_messages(&world), None);
    remember_messages(&world.context, &source, 3).unwrap();
    assert_eq!(remembered_messages(&world), Some(3));
    assert_eq!(GlanceCache::load(&world.context).find(&source), None, "no more than that is known");
    World::append_lines(&path, &[r#"{"t":"reply","s":"more"}"#]);
    assert_eq!(remembered_messages(&world), None);
    assert!(look_at_sessions(&world.context, &mut [only_session(&world)], &|| true)[0].is_none());
    let seen = look_at_sessions(&world.context, &mut [only_session(&world)], &|| false)[0].clone();
    assert_eq!(look_at_sessions(&world.context, &mut [only_session(&world)], &|| true)[0], seen);
    assert_eq!(remembered_messages(&world), seen.map(|seen| seen.messages));
    remember_messages(&world.context, &source, 9).unwrap();
    assert!(GlanceCache::load(&world.context).find(&source).is_some(), "what was known more stays");
}

#[test]
fn a_broken_file_of_glances_is_an_empty_one() {
    let world = World::new();
    world.write_sample();
    let source = only_session(&world).found.source;
    remember_messages(&world.context, &source, 4).unwrap();
    let path = world.path("ours/glances.jsonl");
    let sound = fs_err::read_to_string(&path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs_err::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    for broken in ["", "{", "carryover.glances/1\n\n \nx y\n", "carryover.glances/1\n0000000000000000 {}\n"] {
        world.write_file("ours/glances.jsonl", broken);
        assert_eq!(remembered_messages(&world), None, "{broken}");
    }
    for cut in (0..sound.len()).step_by(5) {
        world.write_file("ours/glances.jsonl", &sound[..cut]);
        assert_eq!(remembered_messages(&world), None, "cut at {cut}");
    }
    world.write_file("ours/glances.jsonl", &sound.replace("/1\n", "/0\n"));
    assert_eq!(remembered_messages(&world), None, "of another form");
    world.write_file("ours/glances.jsonl", &sound.replace("/1\n", "/1\nnonsense\n"));
    assert_eq!(remembered_messages(&world), Some(4), "a bad line costs itself");
    remember_messages(&world.context, &source, 5).unwrap();
    assert_eq!(remembered_messages(&world), Some(5));
    assert_eq!(fs_err::read_to_string(&path).unwrap().lines().count(), 2, "one row for a session");
}

#[test]
fn who_writes_at_the_same_time_loses_nothing() {
    let world = World::new();
    world.write_session(&ALPHA, "aaaa1111", "", &[]);
    world.write_session(&BETA, "bbbb2222", "", &[]);
    let sessions = list_all(&world).sessions;
    let mut caches = [GlanceCache::load(&world.context), GlanceCache::load(&world.context)];
    for (cache, session) in caches.iter_mut().zip(&sessions) {
        cache.remember(&session.found.source, &read_glance(session, &|| false).unwrap().unwrap());
        cache.save(&world.context).unwrap();
    }
    let kept = GlanceCache::load(&world.context);
    assert!(sessions.iter().all(|session| kept.find(&session.found.source).is_some()));
}

#[test]
fn the_last_listing_is_told_again_for_the_present_folder() {
    let mut world = World::new();
    let head = format!(r#","project":"{}","at":7,"title":"Elsewhere""#, world.path("elsewhere").display());
    world.write_session(&ALPHA, "aaaa1111", &head, &[]);
    world.write_session(&BETA, "bbbb2222", r#","at":2,"title":"Line\nfeed","live":true,"drifted":true"#, &[]);
    assert!(catalog::load_among(BOTH, &world.context).is_none());
    let listing = list_all(&world);
    catalog::save_listing(&world.context, &listing).unwrap();
    let loaded = catalog::load_among(BOTH, &world.context).unwrap();
    let expected: Vec<FoundSession> = listing
        .sessions
        .iter()
        .map(|session| FoundSession {
            live: Liveness::Unknown,
            title: session.found.title.as_ref().map(|title| title.replace('\n', " ")),
            ..session.found.clone()
        })
        .collect();
    let found = |listing: &Listing| -> Vec<FoundSession> {
        listing.sessions.iter().map(|session| session.found.clone()).collect()
    };
    assert_eq!(found(&loaded), expected);
    assert_eq!(loaded.sessions[0].store, listing.sessions[0].store);
    assert_eq!(loaded.sessions.iter().map(|session| session.here).collect::<Vec<_>>(), [true, false]);
    assert_eq!(loaded.drifted.len(), 1);
    world.context.cwd = world.path("elsewhere");
    let loaded = catalog::load_among(BOTH, &world.context).unwrap();
    assert_eq!(loaded.sessions[0].found.id.0, "aaaa1111");
    world.context.config.agents = vec!["beta".to_owned()];
    assert_eq!(catalog::load_among(BOTH, &world.context).unwrap().sessions.len(), 1);
}

#[test]
fn a_broken_catalog_tells_what_is_whole_in_it() {
    let world = World::new();
    world.write_session(&ALPHA, "aaaa1111", "", &[]);
    world.write_session(&ALPHA, "bbbb2222", "", &[]);
    catalog::save_listing(&world.context, &list_all(&world)).unwrap();
    let sound = fs_err::read(world.path("ours/catalog.jsonl")).unwrap();
    let text = String::from_utf8(sound).unwrap();
    for cut in (0..text.len()).step_by(7) {
        world.write_file("ours/catalog.jsonl", &text[..cut]);
        let n_rows = catalog::load_among(BOTH, &world.context).map_or(0, |listing| listing.sessions.len());
        assert!(n_rows < 2 || cut + 1 == text.len(), "cut at {cut}");
    }
    world.write_file("ours/catalog.jsonl", &text.replace("alpha", "nobody"));
    assert!(catalog::load_among(BOTH, &world.context).unwrap().sessions.is_empty());
}
