use std::collections::BTreeMap;

use carryover_agents::{AGENTS, Env};
use carryover_core::time::Timestamp;

use super::*;
use crate::own::config::Config;
#[cfg(unix)]
use crate::tests::world::write_program;

struct Sandbox {
    folder: tempfile::TempDir,
}

impl Sandbox {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn context(&self) -> Context {
        let path = format!("relative:{}:/usr/bin:/bin", self.path("bin").display());
        let env = Env {
            home: self.path("home"),
            vars: BTreeMap::from([("PATH".to_owned(), path)]),
            os: Os::Linux,
            now: Timestamp::EPOCH,
            zone: jiff::tz::TimeZone::UTC,
            stores: BTreeMap::new(),
            projects: Vec::new(),
        };
        Context::with_config(env, Config::default(), self.path("ours"), self.path("cwd"), 1)
    }

    #[cfg(unix)]
    fn write_program(&self, path: &str, script: &str) -> PathBuf {
        let path = self.path(path);
        write_program(&path, script);
        path
    }
}

#[cfg(unix)]
#[test]
fn the_manifest_of_the_package_tells_the_version() {
    let place = Sandbox::new();
    let facts = AGENTS[0].facts();
    let real = place.write_program("lib/pkg/dist/cli.js", "exit 1");
    let manifest = format!(r#"{{"name":"{}","version":"7.8.9"}}"#, facts.packages[0]);
    files::write_private(&place.path("lib/pkg/package.json"), manifest.as_bytes()).unwrap();
    files::write_private(&place.path("lib/pkg/dist/package.json"), br#"{"name":"other","version":"1.1.1"}"#).unwrap();
    fs_err::create_dir(place.path("bin")).unwrap();
    fs_err::os::unix::fs::symlink(real, place.path("bin").join(facts.binaries[0])).unwrap();
    let client = find_installed(&place.context(), AGENTS[0]).unwrap();
    assert_eq!(client.version, Some(Version(7, 8, 9)));
    assert!(!place.path("ours/cache.json").exists(), "nothing was probed");
}

#[cfg(unix)]
#[test]
fn a_program_is_asked_once_and_sees_nothing_of_the_user() {
    let place = Sandbox::new();
    let name = AGENTS[0].facts().binaries[0];
    let log = place.path("log");
    let script = format!("echo \"$HOME $SECRET\" >> {}; echo 'x 1.2.3'", log.display());
    place.write_program(&format!("bin/{name}"), &script);
    let mut context = place.context();
    context.env.vars.insert("SECRET".to_owned(), "secret".to_owned());
    for _ in 0..2 {
        assert_eq!(find_installed(&context, AGENTS[0]).unwrap().version, Some(Version(1, 2, 3)));
    }
    let log = fs_err::read_to_string(log).unwrap();
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(!log.contains("secret") && !log.contains(&place.path("home").display().to_string()), "{log}");
    files::write_private(&place.path("ours/cache.json"), b"{broken").unwrap();
    assert_eq!(find_installed(&context, AGENTS[0]).unwrap().version, Some(Version(1, 2, 3)));
}

#[cfg(unix)]
#[test]
fn a_program_that_hangs_is_ended() {
    let place = Sandbox::new();
    let program = place.write_program("bin/slow", "sleep 60");
    let start = std::time::Instant::now();
    assert_eq!(probe::query_version(&program, Some("/usr/bin:/bin")), None);
    assert!(start.elapsed() < std::time::Duration::from_secs(20));
}

#[test]
fn a_file_that_cannot_be_run_is_no_client() {
    let place = Sandbox::new();
    let name = AGENTS[0].facts().binaries[0];
    files::write_private(&place.path("bin").join(name), b"text").unwrap();
    assert_eq!(find_installed(&place.context(), AGENTS[0]), None);
}
