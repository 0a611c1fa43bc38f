//! Journals that somebody has written into: what is not ours stays, with force too.

use serde_json::Value;

use crate::support::{CLAUDE, CODEX, TestEnv};

type Tampering<'a> = &'a dyn Fn(&mut Value);

/// Resumes, writes into the journal, and undoes by force: nothing may be gone.
fn assert_nothing_goes(env: &TestEnv, resume: &[&str], what: &str, tamper: Tampering<'_>) {
    let id = env.resume_json(resume)["undo_id"].as_str().unwrap().to_owned();
    let path = env.home().join(format!(".carryover/resumes/{id}.json"));
    let sound = fs_err::read(&path).unwrap();
    let mut journal: Value = serde_json::from_slice(&sound).unwrap();
    tamper(&mut journal);
    fs_err::write(&path, journal.to_string()).unwrap();
    let before = env.files();
    for args in [&["undo"][..], &["undo", &id, "--force"]] {
        let said = env.run(args);
        assert_eq!(said.code, Some(3), "{what}: {said}");
        assert!(said.stderr.contains("nothing was taken back") && said.stderr.contains("hint: "), "{what}: {said}");
        assert_eq!(env.files(), before, "{what}");
    }
    fs_err::write(&path, sound).unwrap();
    env.run(&["undo"]).success();
}

#[test]
fn a_session_of_the_users_is_not_taken_for_the_one_that_was_written() {
    let env = TestEnv::with_sessions();
    let files = env.files();
    let own = files.iter().find(|(path, _)| path.to_string_lossy().contains("c8b20e08cdf8")).unwrap().0.clone();
    let (own, session) = (own.display().to_string(), "01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8");
    let resume = ["resume", CLAUDE, "--target", "codex"];
    assert_nothing_goes(&env, &resume, "its file", &|journal| journal["files"][0]["path"] = own.as_str().into());
    assert_nothing_goes(&env, &resume, "its file and its id", &|journal| {
        journal["files"][0]["path"] = own.as_str().into();
        journal["session_file"] = own.as_str().into();
        journal["target"]["session"] = session.into();
    });
    assert_nothing_goes(&env, &resume, "a short id", &|journal| {
        journal["files"][0]["path"] = own.as_str().into();
        journal["target"]["session"] = "c".into();
    });
    assert_nothing_goes(&env, &resume, "rows of another session", &|journal| {
        let database = env.home().join(".codex/state_5.sqlite").display().to_string();
        journal["rows"] =
            serde_json::json!([{ "database": database, "table": "threads", "column": "id", "value": "x" }]);
    });
}

#[test]
fn what_lies_beside_a_session_is_not_the_sessions() {
    for name in ["logs.json", "chats/notes.md"] {
        let env = TestEnv::with_sessions();
        env.write(".gemini/tmp/calc/logs.json", "[]");
        env.write(".gemini/tmp/calc/chats/notes.md", "mine");
        let file = env.home().join(".gemini/tmp/calc").join(name).display().to_string();
        assert_nothing_goes(&env, &["resume", CLAUDE, "--target", "gemini-cli"], name, &|journal| {
            journal["files"][1]["path"] = file.as_str().into();
        });
    }
}

#[test]
fn the_history_of_a_client_is_not_taken_for_a_copy() {
    let env = TestEnv::with_sessions();
    env.write("calc/.aider.chat.history.md", "\n# aider chat started at 2026-11-14 10:00:00\n\n#### mine\n\nyes\n\n");
    let own = env.project().join(".aider.chat.history.md").display().to_string();
    for (session, target) in [(CLAUDE, "codex"), (CODEX, "aider")] {
        assert_nothing_goes(&env, &["resume", session, "--target", target], target, &|journal| {
            journal["target"]["agent"] = "aider".into();
            journal["files"][0]["path"] = own.as_str().into();
            journal["session_file"] = own.as_str().into();
            journal["folders"] = serde_json::json!([]);
        });
    }
}
