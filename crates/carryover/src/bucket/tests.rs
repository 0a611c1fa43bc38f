//! Every kind of place passes the same checks; services fail as they do.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use carryover_agents::Env;
use carryover_core::time::Timestamp;
use carryover_engine::own::config::Config;
use carryover_engine::share::bucket::PutOutcome;

use super::*;

#[path = "../../tests/it/s3_server.rs"]
mod s3_server;

use s3_server::{Fault, S3Server, SECRET};

fn context_at(home: &Path, vars: &[(&str, String)]) -> Context {
    let env = Env {
        home: home.to_owned(),
        now: Timestamp::parse("2026-11-15T10:00:00Z").unwrap(),
        os: carryover_agents::Os::Linux,
        zone: jiff::tz::TimeZone::UTC,
        stores: std::collections::BTreeMap::default(),
        projects: Vec::new(),
        vars: vars.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
    };
    Context::with_config(env, Config::default(), home.join(".carryover"), home.join("work"), 1)
}

fn open_s3(server: &S3Server, address: &str) -> Box<dyn Bucket> {
    open_bucket(&context_at(Path::new("/nowhere"), &server.vars()), address).unwrap()
}

/// A file that does not fit into one part.
fn large_file(bytes: u64) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(bytes).unwrap();
    file
}

#[test]
fn addresses_name_folders_services_and_remotes() {
    let context = context_at(Path::new("/home/you"), &[]);
    let parse = |text: &str| Address::parse(&context, text);
    let folder = |path: &str| Ok(Address::Folder(PathBuf::from(path)));
    assert_eq!(parse("/mnt/team"), folder("/mnt/team"));
    assert_eq!(parse("team"), folder("/home/you/work/team"));
    assert_eq!(parse("~/team"), folder("/home/you/team"));
    assert_eq!(parse("file:///mnt/a%20team"), folder("/mnt/a team"));
    assert_eq!(parse("file://localhost/mnt/team"), folder("/mnt/team"));
    for (text, prefix) in [
        ("s3://bucket/a/b/", "a/b"),
        ("gs://bucket", ""),
        ("az://container/a", "a"),
        ("https://bucket.s3.eu-central-1.amazonaws.com/a", "a"),
        ("https://s3.eu-central-1.amazonaws.com/bucket/a", "a"),
        ("https://account.blob.core.windows.net/container/a", "a"),
    ] {
        let Ok(Address::Service(service)) = parse(text) else { panic!("{text}") };
        assert_eq!((service.prefix.as_ref(), service.place.as_str()), (prefix, text.trim_end_matches('/')));
    }
    let git = |address: &str| Ok(Address::Git(address.to_owned()));
    assert_eq!(parse("git+ssh://git@host/team.git"), git("ssh://git@host/team.git"));
    assert_eq!(parse("git+git@host:team.git"), git("git@host:team.git"));
    assert_eq!(parse("git+../team.git"), git("/home/you/work/../team.git"));
    for text in [
        "",
        "file://host/x",
        "file:///%zz",
        "ftp://x/y?key=secret",
        "ftp://me:secret@x/y",
        "s3://key:secret@bucket/x",
        "az://container/x?sig=secret",
        "https://example.com/x",
        "git+https://me:secret@host/x",
        "git+--upload-pack=secret",
        "git+ext::secret",
    ] {
        let told = parse(text).unwrap_err().to_string();
        assert!(!told.contains("secret") || text.starts_with("git+-") || text.starts_with("git+ext"), "{told}");
    }
}

#[test]
fn object_is_found_by_the_address_that_it_was_given() {
    assert_eq!(split_object("s3://bucket/a/b.carryover"), Ok(("s3://bucket/a", "b.carryover")));
    assert_eq!(split_object("git+git@host:team.git/b"), Ok(("git+git@host:team.git", "b")));
    for text in ["s3://bucket", "s3://bucket/", "nothing"] {
        assert!(split_object(text).is_err(), "{text}");
    }
}

#[test]
fn folder_and_remote_keep_what_every_place_must() {
    let home = tempfile::tempdir().unwrap();
    let context = context_at(home.path(), &[("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned())]);
    let mut made = std::process::Command::new("git");
    made.args(["init", "--quiet", "--bare"]).arg(home.path().join("team.git"));
    assert!(made.env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success());
    for name in ["one", "two"] {
        fs_err::create_dir(home.path().join(name)).unwrap();
    }
    let root = home.path().display();
    for (address, rounds) in
        [("~/one".to_owned(), 50), (format!("file://{root}/two"), 50), (format!("git+file://{root}/team.git"), 2)]
    {
        let bucket = open_bucket(&context, &address).unwrap();
        checks::check_bucket(bucket.as_ref());
        checks::check_race(bucket.as_ref(), rounds);
    }
}

#[test]
fn service_keeps_what_every_place_must_with_and_without_a_prefix() {
    let server = S3Server::start();
    let below = open_s3(&server, "s3://team/a/prefix");
    checks::check_bucket(below.as_ref());
    checks::check_race(below.as_ref(), 10);
    fs_err::remove_dir_all(server.object("a")).unwrap();
    checks::check_bucket(open_s3(&server, "s3://team").as_ref());
}

#[test]
fn a_list_is_whole_beyond_a_thousand_objects() {
    let server = S3Server::start();
    for number in 0..1100 {
        let path = server.object(&format!("many/{number:04}"));
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, b"x").unwrap();
    }
    let listed = open_s3(&server, "s3://team").list("many/").unwrap();
    assert_eq!((listed.len(), listed[0].key.as_str(), listed[1099].key.as_str()), (1100, "many/0000", "many/1099"));
    assert!(server.count_requests("list-type=2") > 1);
}

#[test]
fn large_file_goes_in_parts_and_is_there_once() {
    let server = S3Server::start();
    let bucket = open_s3(&server, "s3://team");
    let file = large_file(40 << 20);
    assert_eq!(bucket.upload_new("large", file.path()).unwrap(), PutOutcome::Created);
    assert_eq!(fs_err::metadata(server.object("large")).unwrap().len(), 40 << 20);
    // One to try the condition out, three with the file.
    assert_eq!(server.count_requests("partNumber="), 4);
    assert_eq!(bucket.upload_new("large", file.path()).unwrap(), PutOutcome::AlreadyThere);
    assert_eq!(server.count_requests("partNumber="), 4);
    assert_eq!(bucket.fetch("large", &mut std::io::sink(), u64::MAX).unwrap(), 40 << 20);
}

#[test]
fn of_two_large_uploads_at_once_one_has_the_name() {
    let server = S3Server::start();
    let file = large_file(20 << 20);
    let outcomes = std::thread::scope(|scope| {
        let uploads = [(); 2].map(|()| {
            let bucket = open_s3(&server, "s3://team");
            let path = file.path();
            scope.spawn(move || bucket.upload_new("large", path).unwrap())
        });
        uploads.map(|upload| upload.join().unwrap())
    });
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == PutOutcome::Created).count(), 1, "{outcomes:?}");
}

#[test]
fn service_that_writes_over_objects_is_refused_before_anything_is_written() {
    let server = S3Server::start();
    server.set_fault(Fault::ForgetsConditions);
    let refused = open_s3(&server, "s3://team").put_new("a", b"a");
    assert!(matches!(refused, Err(BucketError::Unconditional { .. })), "{refused:?}");
    assert!(!server.object("a").exists());
}

#[test]
fn service_that_forgets_the_condition_of_parts_is_sent_a_file_as_a_whole_or_none() {
    let server = S3Server::start();
    server.set_fault(Fault::ForgetsConditionsOfParts);
    let bucket = open_s3(&server, "s3://team");
    assert_eq!(bucket.upload_new("small", large_file(20 << 20).path()).unwrap(), PutOutcome::Created);
    let refused = bucket.upload_new("large", large_file(65 << 20).path());
    assert!(matches!(refused, Err(BucketError::Unconditional { .. })), "{refused:?}");
    assert!(server.object("small").exists() && !server.object("large").exists());
}

#[test]
fn upload_that_is_cut_off_leaves_no_object() {
    let server = S3Server::start();
    server.set_fault(Fault::CutsUploads);
    let bucket = open_s3(&server, "s3://team");
    let cut = bucket.upload_new("large", large_file(40 << 20).path());
    assert!(matches!(cut, Err(BucketError::Unreachable { .. })), "{cut:?}");
    assert!(!bucket.exists("large").unwrap() && bucket.list("").unwrap().is_empty());
}

#[test]
fn wrong_keys_are_refused_and_not_shown() {
    let server = S3Server::start();
    let mut vars = server.vars();
    vars[2].1 = "another-secret".to_owned();
    let bucket = open_bucket(&context_at(Path::new("/nowhere"), &vars), "s3://team").unwrap();
    let error = bucket.put_new("a", b"a").unwrap_err();
    assert!(matches!(error, BucketError::Refused { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("another-secret"));
    let missing = open_s3(&server, "s3://other").put_new("a", b"a");
    assert!(matches!(missing, Err(BucketError::Unreachable { .. })), "{missing:?}");
}

#[test]
fn service_that_is_gone_is_said_to_be_within_seconds() {
    let mut server = S3Server::start();
    let bucket = open_s3(&server, "s3://team");
    bucket.put_new("a", b"a").unwrap();
    server.stop();
    let begun = Instant::now();
    let gone = bucket.put_new("b", b"b");
    assert!(matches!(gone, Err(BucketError::Unreachable { .. })), "{gone:?}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn keys_go_unencrypted_to_this_machine_alone() {
    let server = S3Server::start();
    let mut vars = server.vars();
    vars[0].1 = "http://store.invalid".to_owned();
    let bucket = open_bucket(&context_at(Path::new("/nowhere"), &vars), "s3://team").unwrap();
    let error = bucket.get("a", 1).unwrap_err().to_string();
    assert!(error.contains("not encrypted"), "{error}");
}

#[test]
fn without_keys_nobody_is_asked_for_some() {
    let context = context_at(Path::new("/nowhere"), &[]);
    for address in ["s3://team", "gs://team", "az://team"] {
        let told = open_bucket(&context, address).err().unwrap().to_string();
        assert!(told.contains("the environment has none"), "{told}");
    }
}

#[test]
fn signed_address_opens_and_holds_no_key() {
    let server = S3Server::start();
    let bucket = open_s3(&server, "s3://team/shares");
    bucket.put_new("a.carryover", b"a").unwrap();
    let link = bucket.presign("a.carryover", Duration::from_mins(5)).unwrap().unwrap();
    assert!(link.contains("/team/shares/a.carryover?") && link.contains("X-Amz-Expires=300") && !link.contains(SECRET));
    let long = bucket.presign("a.carryover", Duration::from_hours(8 * 24));
    assert!(matches!(long, Err(BucketError::Refused { reason, .. }) if reason.contains("7 days")));
}
