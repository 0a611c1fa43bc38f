//! Sessions that are shared through a service or a remote, and opened by somebody else.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::s3_server::{Fault, S3Server, SECRET};
use crate::support::{CLAUDE, TestEnv};
use crate::test_capsule::{env_with_git, make_repository, tree};
use crate::test_share::{WORDS, check_refused, open, receiver};

fn with_keys(env: TestEnv, server: &S3Server) -> TestEnv {
    server.vars().into_iter().fold(env, |env, (name, value)| env.var(name, &value))
}

fn sender(server: &S3Server) -> TestEnv {
    with_keys(env_with_git().var("CARRYOVER_PASSPHRASE", WORDS), server)
}

fn share(env: &TestEnv, dest: &str, more: &[&str]) -> (String, Value) {
    let told = env.json("share", &[&["share", CLAUDE, "--dest", dest], more].concat());
    (told["link"].as_str().unwrap().to_owned(), told)
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one object that was shared, as the server keeps it.
fn only_object(server: &S3Server) -> std::path::PathBuf {
    let entries = fs_err::read_dir(server.object("shares")).unwrap().map(|entry| entry.unwrap().path());
    let mut found = entries.filter(|path| path.extension().is_some_and(|end| end == "carryover"));
    let path = found.next().unwrap();
    assert!(found.next().is_none());
    path
}

#[test]
fn session_shared_through_a_service_goes_on_elsewhere_in_another_agent() {
    let server = S3Server::start();
    let sender = sender(&server);
    make_repository(&sender);
    let (link, document) = share(&sender, "s3://team/shares", &[]);
    assert!(link.starts_with("s3://team/shares/claude-code-") && document.get("path").is_none(), "{document}");
    assert!(document.get("expires").is_none());
    assert!(fs_err::read(only_object(&server)).unwrap().starts_with(b"age-encryption.org/v1\n"));
    assert_eq!(fs_err::read_dir(sender.home().join(".carryover/sharing")).unwrap().count(), 0);

    let env = with_keys(receiver(WORDS), &server);
    let output = open(&env, &link, &["--target", "codex", "--json"]);
    assert!(output.status.success(), "{}", told(&output));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["target"], &document["path"]), (&"codex".into(), &link.as_str().into()));
    assert_eq!(tree(&env.home().join("work")), tree(&sender.project()));
    // One to see that its name is free, which is before anything is encrypted.
    assert_eq!(server.count_requests("HEAD /team/shares/claude-code-"), 1);
    assert_eq!(fs_err::read_dir(env.home().join(".carryover/opening")).unwrap().count(), 0);
}

#[test]
fn signed_link_opens_without_keys_until_its_time_and_is_said_to() {
    let server = S3Server::start();
    let sender = sender(&server);
    let (link, document) = share(&sender, "s3://team/shares/fix.carryover", &["--expires", "2h"]);
    assert_eq!(document["expires"], "presigned");
    assert!(link.starts_with("http://127.0.0.1:") && link.contains("X-Amz-Expires=7200") && !link.contains(SECRET));
    let output = open(&receiver(WORDS), &link, &["--target", "codex"]);
    assert!(output.status.success(), "{}", told(&output));

    let (short, _) = share(&sender, "s3://team/shares/short.carryover", &["--expires", "2026-11-15T10:00:01Z"]);
    std::thread::sleep(Duration::from_millis(2100));
    let env = receiver(WORDS).var("CARRYOVER_NOW", "2036-01-01T00:00:00Z");
    check_refused(&env, &short, "the link opened until 20");
    assert!(!told(&open(&env, &short, &[])).contains("X-Amz"));
}

#[test]
fn in_words_the_link_alone_is_on_standard_output_and_its_secret_nowhere_else() {
    let server = S3Server::start();
    let sender = sender(&server);
    let args = ["share", CLAUDE, "--dest", "s3://team/shares", "--expires", "7d"];
    let output = sender.command(&args).output().unwrap();
    let link = String::from_utf8(output.stdout.clone()).unwrap();
    assert!(output.status.success() && link.lines().count() == 1 && link.contains("X-Amz-Signature="), "{link}");
    assert!(
        told(&output).contains("the address opens until then") && !told(&output).contains("X-Amz"),
        "{}",
        told(&output)
    );

    let long = sender.command(&["share", CLAUDE, "--dest", "s3://team/shares", "--expires", "8d"]).output().unwrap();
    assert_eq!(long.status.code(), Some(64));
    assert!(told(&long).contains("7 days at most") && told(&long).contains("--expires 7d"), "{}", told(&long));
    only_object(&server);
}

#[test]
fn wrong_words_damage_and_an_end_are_told_of_an_object_as_of_a_file() {
    let server = S3Server::start();
    let (link, _) = share(&sender(&server), "s3://team/shares", &[]);
    let with_words = |words: &str| with_keys(receiver(words), &server);
    check_refused(&with_words("another"), &link, "the passphrase does not fit");
    let path = only_object(&server);
    let whole = fs_err::read(&path).unwrap();
    fs_err::write(&path, &whole[..whole.len() - 100]).unwrap();
    check_refused(&with_words(WORDS), &link, "cut short");
    let mut changed = whole.clone();
    let last = changed.len() - 30;
    changed[last] ^= 1;
    fs_err::write(&path, &changed).unwrap();
    check_refused(&with_words(WORDS), &link, "changed after");
    fs_err::write(&path, b"PK something else").unwrap();
    check_refused(&with_words(WORDS), &link, "no encrypted share");
    fs_err::remove_file(&path).unwrap();
    let output = open(&with_words(WORDS), &link, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(told(&output).contains("has no object"), "{}", told(&output));
}

#[test]
fn service_that_fails_leaves_nothing_and_says_why() {
    let mut server = S3Server::start();
    let sender = sender(&server);
    share(&sender, "s3://team/shares/taken.carryover", &[]);
    let fails = |env: &TestEnv, dest: &str, reason: &str| {
        let begun = Instant::now();
        let output = env.command(&["share", CLAUDE, "--dest", dest]).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b""[..]), "{}", told(&output));
        assert!(told(&output).contains(reason) && told(&output).contains("hint:"), "{}", told(&output));
        assert!(!told(&output).contains(SECRET) && begun.elapsed() < Duration::from_secs(10));
        assert!(
            !env.home().join(".carryover/sharing").exists() || {
                fs_err::read_dir(env.home().join(".carryover/sharing")).unwrap().count() == 0
            }
        );
    };
    fails(&sender, "s3://team/shares/taken.carryover", "is there already");
    fails(&with_keys(env_with_git(), &server).var("AWS_SECRET_ACCESS_KEY", "wrong"), "s3://team/x", "refused");
    server.set_fault(Fault::ForgetsConditions);
    fails(&sender, "s3://team/y", "cannot keep two writers apart");
    server.stop();
    fails(&sender, "s3://team/z", "could not be reached");
}

#[test]
fn session_shared_on_a_branch_of_a_remote_is_opened_from_it() {
    let sender = env_with_git().var("CARRYOVER_PASSPHRASE", WORDS);
    let remote = sender.home().join("team.git");
    let mut init = Command::new("git");
    init.args(["init", "--quiet", "--bare"]).arg(&remote).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(init.status().unwrap().success());
    let dest = format!("git+file://{}", remote.display());
    let (link, document) = share(&sender, &dest, &["--expires", "30d"]);
    assert!(link.starts_with(&format!("{dest}/claude-code-")), "{link}");
    assert_eq!(document["expires"], "advisory");
    let env = receiver(WORDS);
    let output = open(&env, &link, &["--target", "codex"]);
    assert!(output.status.success(), "{}", told(&output));
    check_refused(&receiver(WORDS).var("CARRYOVER_NOW", "2036-01-01T00:00:00Z"), &link, "could be opened until");
}

#[test]
fn links_of_the_web_are_encrypted_and_not_followed_elsewhere() {
    let env = receiver(WORDS);
    let output = open(&env, "http://store.invalid/a.carryover?sig=secret", &[]);
    assert_eq!(output.status.code(), Some(3));
    assert!(told(&output).contains("not encrypted") && !told(&output).contains("secret"), "{}", told(&output));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let length = stream.read(&mut head).unwrap();
        let answer = "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
        String::from_utf8_lossy(&head[..length]).into_owned()
    });
    let output = open(&env, &format!("http://127.0.0.1:{port}/a.carryover?sig=secret"), &[]);
    assert!(server.join().unwrap().starts_with("GET /a.carryover?sig=secret HTTP/1.1\r\n"));
    assert_eq!(output.status.code(), Some(3));
    assert!(told(&output).contains("not followed") && !told(&output).contains("secret"), "{}", told(&output));
}
