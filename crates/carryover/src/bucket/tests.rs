//! Every kind of place passes the same checks.

use std::path::{Path, PathBuf};

use carryover_agents::Env;
use carryover_core::time::Timestamp;
use carryover_engine::own::config::Config;

use super::*;

fn context_at(home: &Path) -> Context {
    let env = Env {
        home: home.to_owned(),
        now: Timestamp::parse("2026-11-15T10:00:00Z").unwrap(),
        os: carryover_agents::Os::Linux,
        zone: jiff::tz::TimeZone::UTC,
        stores: Default::default(),
        projects: Vec::new(),
        vars: Default::default(),
    };
    Context::with_config(env, Config::default(), home.join(".carryover"), home.join("work"), 1)
}

#[test]
fn addresses_name_folders() {
    let context = context_at(Path::new("/home/you"));
    let folder = |text: &str| Address::parse(&context, text);
    let path = |path: &str| Ok(Address::Folder(PathBuf::from(path)));
    assert_eq!(folder("/mnt/team"), path("/mnt/team"));
    assert_eq!(folder("team"), path("/home/you/work/team"));
    assert_eq!(folder("~/team"), path("/home/you/team"));
    assert_eq!(folder("file:///mnt/a%20team"), path("/mnt/a team"));
    assert_eq!(folder("file://localhost/mnt/team"), path("/mnt/team"));
    for text in ["", "file://host/x", "file:///%zz", "ftp://x/y?key=secret", "ftp://me:secret@x/y"] {
        let error = folder(text).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}

#[test]
fn folder_keeps_what_every_place_must() {
    let home = tempfile::tempdir().unwrap();
    let context = context_at(home.path());
    for (name, address) in [("one", "~/one".to_owned()), ("two", format!("file://{}/two", home.path().display()))] {
        fs_err::create_dir(home.path().join(name)).unwrap();
        let bucket = open_bucket(&context, &address).unwrap();
        checks::check_bucket(bucket.as_ref());
        checks::check_race(bucket.as_ref(), 50);
    }
}
