//! Stores that are damaged, closed, or not there: whoever asks is told, with the reason.

use carryover_agents::AGENTS;
use carryover_testkit::agents::LABS;

use crate::stores::store;
use crate::support::{CLAUDE, TestEnv};

#[cfg(unix)]
#[test]
fn a_session_that_cannot_be_opened_is_told() {
    for facts in AGENTS.iter().map(|agent| agent.facts()) {
        let Some(env) = store(facts.id).unopened() else { continue };
        let said = env.run(&["list"]).success();
        assert!(said.stderr.contains(&format!("warning: {}: ", facts.name)), "{}: {said}", facts.id);
        assert!(said.stderr.contains("11111111"), "{}: {said}", facts.id);
        assert!(said.stdout.contains("00000000"), "the other is listed: {}: {said}", facts.id);
        let said = env.run(&["doctor"]);
        assert!(said.code == Some(3) && said.stdout.contains("11111111"), "{}: {said}", facts.id);
        let said = env.run(&["show", "11111111"]);
        assert!(said.code == Some(3) && said.stderr.contains("11111111"), "{}: {said}", facts.id);
        let said = env.run(&["show", "@last"]).success();
        assert!(said.stderr.contains("11111111"), "the newest may be that one: {}: {said}", facts.id);
    }
}

#[test]
fn a_damaged_store_is_the_reason_whatever_is_asked_for() {
    for lab in LABS.iter().filter(|lab| lab.sample.is_database()) {
        let (agent, path) = (lab.id, lab.sample.session_path());
        let env = TestEnv::new();
        env.write(&path, &format!("SQLite format 3\0{}", "no database ".repeat(500)));
        for words in [&["@last"][..], &["ses_1234"], &["@last", "--source", agent], &[]] {
            let said = env.run(&[&["show"], words].concat());
            assert!(said.code == Some(3) && said.stderr.contains("could not be read"), "{agent} {words:?}: {said}");
        }
    }
}

#[test]
fn a_configured_store_that_is_not_there_is_told() {
    let env = TestEnv::with_sessions();
    env.run(&["config", "set", "stores.codex", "/no/such/store"]).success();
    let told = "the configured store /no/such/store does not exist";
    let said = env.run(&["list"]).success();
    assert!(said.stderr.contains(&format!("warning: Codex CLI: {told}")), "{said}");
    let said = env.run(&["list", "--source", "claude-code"]).success();
    assert!(!said.stderr.contains(told), "{said}");
    let said = env.run(&["doctor"]).success();
    assert!(said.stdout.contains(&format!("warning  carryover    stores.codex: {told}")), "{said}");
}

/// Root may write anywhere, so this is seen only by others.
#[cfg(unix)]
#[test]
fn a_store_that_cannot_be_written_to_is_not_fine() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::with_sessions();
    let folder = env.home().join(".codex/sessions");
    fs_err::set_permissions(&folder, PermissionsExt::from_mode(0o555)).unwrap();
    let is_root = fs_err::write(folder.join("probe"), "").is_ok();
    let said = env.run(&["doctor"]).success();
    fs_err::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
    let told = said.stdout.contains("warning  codex        [HOME]/.codex/sessions is not writable");
    assert_eq!(told, !is_root, "{said}");
    env.run(&["show", CLAUDE]).success();
}
