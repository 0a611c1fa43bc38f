//! Sessions that are shared, and opened by somebody else.

use std::process::Output;

use serde_json::Value;

use crate::support::{CLAUDE, TestEnv};
use crate::test_capsule::{SECRET, env_with_git, make_repository, tree};

pub(crate) const WORDS: &str = "correct horse battery staple";

fn share(env: &TestEnv, name: &str, more: &[&str]) -> (String, Value) {
    let told = env.json("share", &[&["share", CLAUDE, "--dest", name], more].concat());
    (told["path"].as_str().unwrap().to_owned(), told)
}

pub(crate) fn receiver(words: &str) -> TestEnv {
    TestEnv::new().var("PATH", "/usr/bin:/bin").var("CARRYOVER_PASSPHRASE", words)
}

pub(crate) fn open(env: &TestEnv, share: &str, more: &[&str]) -> Output {
    let folder = env.home().join("work");
    let args = [&["open", share, "--project", folder.to_str().unwrap()], more].concat();
    env.command(&args).output().unwrap()
}

/// Fails with the code for what cannot be read, says why, and leaves nothing.
pub(crate) fn check_refused(env: &TestEnv, share: &str, reason: &str) {
    let output = open(env, share, &["--target", "codex"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{told}");
    assert!(told.contains(reason) && told.contains("hint:"), "{told}");
    assert!(!env.home().join("work").exists() && !env.home().join(".codex").exists());
    let opening = env.home().join(".carryover/opening");
    assert!(!opening.exists() || fs_err::read_dir(opening).unwrap().count() == 0);
}

#[test]
fn weak_passphrase_is_warned_of_and_taken() {
    for (words, weakness) in [("secret", "short"), ("Password1", "one that many use"), (WORDS, "")] {
        let sender = env_with_git().var("CARRYOVER_PASSPHRASE", words);
        let said = sender.run(&["share", CLAUDE, "--dest", "fix.carryover"]).success();
        let warning = format!("warning: the passphrase is {weakness}: whoever has what it encrypts can try others");
        assert_eq!(said.stderr.contains("warning: the passphrase is "), !weakness.is_empty(), "{said}");
        assert!(weakness.is_empty() || said.stderr.contains(&warning), "{said}");
        assert!(
            open(
                &receiver(words),
                &sender.project().join("fix.carryover").display().to_string(),
                &["--target", "codex"]
            )
            .status
            .success()
        );
    }
    let place = TestEnv::new();
    let env = TestEnv::new().var("CARRYOVER_PASSPHRASE", "short");
    let folder = place.home().join("team");
    fs_err::create_dir(&folder).unwrap();
    let said = env.run(&["remote", "add", "team", folder.to_str().unwrap()]).success();
    assert!(said.stderr.contains("warning: the passphrase is short"), "{said}");
    // Whoever joins cannot choose another.
    let said = again_with(&env, folder.to_str().unwrap());
    assert!(!said.contains("warning"), "{said}");
}

/// What is said to somebody who adds the same remote on another machine.
fn again_with(first: &TestEnv, folder: &str) -> String {
    let other = TestEnv::new().var("CARRYOVER_PASSPHRASE", "short");
    assert_ne!(first.home(), other.home());
    other.run(&["remote", "add", "team", folder]).success().stderr
}

#[test]
fn shared_session_goes_on_elsewhere_in_another_agent() {
    let sender = env_with_git().var("CARRYOVER_PASSPHRASE", WORDS);
    make_repository(&sender);
    let shared = tree(&sender.project());
    let (path, told) = share(&sender, "fix.carryover", &[]);
    assert_eq!((&told["locked_by"], told.get("passphrase")), (&"passphrase".into(), None));
    let bytes = fs_err::read(&path).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n"));
    assert!(!bytes.windows(8).any(|part| part == b"manifest"));

    let env = receiver(WORDS);
    let output = open(&env, &path, &["--target", "codex", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["target"], &told["workspace"]["outcome"]), (&"codex".into(), &"restored".into()));
    assert_eq!(tree(&env.home().join("work")), shared);
    let session = told["resume"]["session_id"].as_str().unwrap();
    env.run(&["show", session]).success();
    assert_eq!(fs_err::read_dir(env.home().join(".carryover/opening")).unwrap().count(), 0);
}

#[test]
fn share_that_lies_in_the_folder_is_not_in_the_next_one() {
    let sender = env_with_git().var("CARRYOVER_PASSPHRASE", WORDS);
    make_repository(&sender);
    share(&sender, "first.carryover", &[]);
    sender.write("calc/note.carryover", "a note\n");
    let output = sender.command(&["share", CLAUDE, "--dest", "second.carryover"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("left out: first.carryover is encrypted for somebody"), "{told}");
    assert!(!told.contains("note.carryover"), "{told}");
}

#[test]
fn wrong_words_damage_and_an_end_are_told_and_leave_nothing() {
    let sender = env_with_git().var("CARRYOVER_PASSPHRASE", WORDS);
    let (path, told) = share(&sender, "fix.carryover", &["--expires", "7d"]);
    assert!(told["expires_at"].is_string());
    check_refused(&receiver("another"), &path, "the passphrase does not fit");
    let whole = fs_err::read(&path).unwrap();
    fs_err::write(&path, &whole[..whole.len() - 100]).unwrap();
    check_refused(&receiver(WORDS), &path, "cut short");
    let mut changed = whole.clone();
    let last = changed.len() - 30;
    changed[last] ^= 1;
    fs_err::write(&path, &changed).unwrap();
    check_refused(&receiver(WORDS), &path, "changed after");
    fs_err::write(&path, &whole).unwrap();
    check_refused(&receiver(WORDS).var("CARRYOVER_NOW", "2036-01-01T00:00:00Z"), &path, "could be opened until");
    fs_err::write(&path, b"PK something else").unwrap();
    check_refused(&receiver(WORDS), &path, "no encrypted share");
}

#[test]
fn passphrase_is_made_where_none_is_given_and_opens_it() {
    let sender = env_with_git();
    let (path, told) = share(&sender, "fix.carryover", &[]);
    let words = told["passphrase"].as_str().unwrap().to_owned();
    assert!(words.len() >= 32, "{words}");
    let output = open(&receiver(&words), &path, &["--target", "claude-code"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn secrets_are_masked_and_shown_as_masked_before_it_is_written() {
    let sender = env_with_git().var("CARRYOVER_PASSPHRASE", WORDS);
    make_repository(&sender);
    sender.write("calc/token.txt", &format!("token = {SECRET}\n"));
    let output = sender.command(&["share", CLAUDE, "--dest", "fix.carryover"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && told.contains("masked") && told.contains("token.txt"), "{told}");
    assert!(!told.contains(SECRET), "{told}");
}

#[test]
fn what_is_there_is_not_written_over_and_what_is_no_key_or_place_is_said_to_be_none() {
    let sender = env_with_git().var("CARRYOVER_PASSPHRASE", WORDS);
    let code = |args: &[&str]| {
        let output = sender.command(&[&["share", CLAUDE], args].concat()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    fs_err::write(sender.project().join("taken.carryover"), b"mine").unwrap();
    assert!(matches!(code(&["--dest", "taken.carryover"]), (Some(3), told) if told.contains("there already")));
    assert_eq!(fs_err::read(sender.project().join("taken.carryover")).unwrap(), b"mine");
    assert!(matches!(code(&["--recipient", "age1none"]), (Some(64), told) if told.contains("no key")));
    assert!(matches!(code(&["--dest", "ftp://host/x"]), (Some(64), told) if told.contains("no such service")));
    assert!(matches!(code(&["--dest", "s3://bucket/x"]), (Some(3), told) if told.contains("AWS_ACCESS_KEY_ID")));
    assert!(matches!(code(&["--expires", "2020-01-01"]), (Some(64), told) if told.contains("in the past")));
}
