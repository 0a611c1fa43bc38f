//! A real git, and remotes on this disk.

use std::process::Command;

use carryover_agents::Env;
use carryover_core::time::Timestamp;

use super::*;
use crate::own::config::Config;
use crate::own::files::write_private;

fn context_at(home: &Path) -> Context {
    let env = Env {
        home: home.to_owned(),
        now: Timestamp::parse("2026-11-15T10:00:00Z").unwrap(),
        os: carryover_agents::Os::Linux,
        zone: jiff::tz::TimeZone::UTC,
        stores: std::collections::BTreeMap::default(),
        projects: Vec::new(),
        vars: [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())].into(),
    };
    Context::with_config(env, Config::default(), home.join(".carryover"), home.join("work"), 1)
}

struct Remote {
    folder: tempfile::TempDir,
}

impl Remote {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let remote = Self { folder };
        remote.git(&["init", "--quiet", "--bare", "team.git"]);
        remote
    }

    fn git(&self, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(args).current_dir(self.folder.path()).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin");
        let output = command.env("HOME", self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn address(&self) -> String {
        format!("file://{}/team.git", self.folder.path().display())
    }

    /// The bucket of a machine with a home of its own.
    fn open(&self, machine: &str) -> GitBucket {
        let home = self.folder.path().join(machine);
        fs_err::create_dir_all(&home).unwrap();
        GitBucket::open(&context_at(&home), &self.address()).unwrap()
    }
}

#[test]
fn one_machine_reads_what_another_has_written() {
    let remote = Remote::new();
    let (one, two) = (remote.open("one"), remote.open("two"));
    assert_eq!(two.list("").unwrap(), []);
    assert_eq!(one.put_new("a/first", b"1").unwrap(), PutOutcome::Created);
    assert_eq!(two.get("a/first", 10).unwrap(), b"1");
    assert_eq!(two.put_new("a/first", b"2").unwrap(), PutOutcome::AlreadyThere);
    assert_eq!(two.put_new("a/second", b"2").unwrap(), PutOutcome::Created);
    // What has come since it was last asked is found, and asked for again.
    assert!(one.exists("a/second").unwrap());
    one.delete("a/first").unwrap();
    assert!(matches!(remote.open("three").get("a/first", 10), Err(BucketError::NotFound { .. })));
    assert_eq!(remote.git(&["--git-dir=team.git", "log", "--format=%an %s", "carryover"]).lines().count(), 3);
}

#[test]
fn of_two_machines_that_write_at_once_neither_loses_an_object() {
    let remote = Remote::new();
    let buckets = [remote.open("one"), remote.open("two")];
    let created = std::thread::scope(|scope| {
        let writers = buckets.each_ref().map(|bucket| {
            scope.spawn(move || {
                let own = std::ptr::from_ref(bucket) as usize;
                let outcomes = (0..4).map(|round| {
                    bucket.put_new(&format!("own/{own}-{round}"), b"mine").unwrap();
                    bucket.put_new(&format!("same/{round}"), own.to_string().as_bytes()).unwrap()
                });
                outcomes.filter(|outcome| *outcome == PutOutcome::Created).count()
            })
        });
        writers.map(|writer| writer.join().unwrap())
    });
    assert_eq!(created.iter().sum::<usize>(), 4, "{created:?}");
    assert_eq!(remote.open("three").list("").unwrap().len(), 12);
}

#[test]
fn branch_of_others_and_their_other_files_stay() {
    let remote = Remote::new();
    let bucket = remote.open("one");
    bucket.put_new("a", b"a").unwrap();
    remote.git(&["clone", "--quiet", "--branch", "carryover", "team.git", "clone"]);
    write_private(&remote.folder.path().join("clone/.hidden"), b"theirs").unwrap();
    for args in
        [&["add", "-A"][..], &["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"], &["push", "-q"]]
    {
        remote.git(&[&["-C", "clone"], args].concat());
    }
    remote.open("two").put_new("b", b"b").unwrap();
    let names = remote.git(&["--git-dir=team.git", "ls-tree", "--name-only", "-r", "carryover"]);
    assert_eq!(names, ".hidden\na\nb\n");
    assert_eq!(remote.open("three").list("").unwrap().len(), 2);
}

#[test]
fn remote_that_is_not_there_or_refuses_says_so() {
    let remote = Remote::new();
    let home = remote.folder.path().join("one");
    fs_err::create_dir_all(&home).unwrap();
    let gone = GitBucket::open(&context_at(&home), "file:///nowhere/team.git").unwrap();
    assert!(matches!(gone.list(""), Err(BucketError::Unreachable { .. })), "{:?}", gone.list(""));
    let hook = remote.folder.path().join("team.git/hooks/pre-receive");
    write_private(&hook, "#!/bin/sh\nexit 1\n".as_bytes()).unwrap();
    #[cfg(unix)]
    fs_err::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let refused = remote.open("one").put_new("a", b"a");
    assert!(matches!(&refused, Err(BucketError::Refused { reason, .. }) if reason.contains("hook")), "{refused:?}");
}

#[test]
fn users_hooks_do_not_run_and_the_repository_they_are_in_is_not_touched() {
    let remote = Remote::new();
    let home = remote.folder.path().join("one");
    fs_err::create_dir_all(home.join("hooks")).unwrap();
    let hook = home.join("hooks/pre-push");
    write_private(&hook, format!("#!/bin/sh\ntouch {}/ran\n", home.display()).as_bytes()).unwrap();
    #[cfg(unix)]
    fs_err::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    write_private(&home.join(".gitconfig"), format!("[core]\n\thooksPath = {}/hooks\n", home.display()).as_bytes())
        .unwrap();
    let mut context = context_at(&home);
    remote.git(&["init", "--quiet", "mine"]);
    let mine = remote.folder.path().join("mine/.git").display().to_string();
    context.env.vars.insert("GIT_DIR".to_owned(), mine);
    let bucket = GitBucket::open(&context, &remote.address()).unwrap();
    bucket.put_new("a", b"a").unwrap();
    assert_eq!(remote.git(&["-C", "mine", "count-objects"]), "0 objects, 0 kilobytes\n");
    assert!(!home.join("ran").exists());
}
