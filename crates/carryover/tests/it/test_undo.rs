use crate::support::{CLAUDE, CODEX, TestEnv};

#[test]
fn exactly_what_was_added_is_taken_back() {
    let env = TestEnv::with_sessions();
    for (session, target) in [(CLAUDE, "codex"), (CODEX, "claude-code")] {
        let before = env.files();
        env.run(&["resume", session, "--target", target]).success();
        assert_ne!(env.files(), before);
        let undone = env.json("undo", &["undo"]);
        assert_eq!(undone["target"], target);
        assert_eq!(env.files(), before);
    }
}

#[test]
fn undoing_is_told() {
    let env = TestEnv::with_sessions();
    env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    insta::assert_snapshot!(env.run(&["undo", "nonsense"]), @"
    exit code 2
    --- stderr
    error: no resume is known by `nonsense`
      00000000  claude-code → codex  session 01a1de6f-6dd8-7000-8000-0000000f4241
    hint: `carryover undo --list` shows the resumes that can be taken back
    ");
    insta::assert_snapshot!(env.run(&["undo"]), @"
    exit code 0
    --- stderr
    took back Codex CLI session 01a1de6f-6dd8-7000-8000-0000000f4241
      removed ~/.codex/sessions/2026/11/15/rollout-2026-11-15T09-00-07-01a1de6f-6dd8-7000-8000-0000000f4241.jsonl
    ");
    insta::assert_snapshot!(env.run(&["undo"]), @"
    exit code 2
    --- stderr
    error: nothing to undo
    hint: what `carryover resume` adds can be taken back, once
    ");
}

#[test]
fn a_session_that_was_used_stays() {
    use std::io::Write;
    let env = TestEnv::with_sessions();
    let resumed = env.resume_json(&["resume", CODEX, "--target", "claude-code"]);
    let file = resumed["files"][0].as_str().unwrap();
    let mut open = fs_err::OpenOptions::new().append(true).open(file).unwrap();
    writeln!(open, "{{\"type\":\"summary\",\"summary\":\"more\",\"leafUuid\":\"x\"}}").unwrap();
    drop(open);
    let said = env.run(&["undo"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(said.stderr.contains("--force"), "{said}");
    env.run(&["undo", "--force"]).success();
    assert!(!std::path::Path::new(file).exists());
}

#[test]
fn a_hint_names_the_resume_that_it_is_about() {
    let env = TestEnv::with_sessions();
    let used = env.resume_json(&["resume", CODEX, "--target", "claude-code"]);
    let id = used["undo_id"].as_str().unwrap();
    let file = used["files"][0].as_str().unwrap();
    fs_err::write(file, fs_err::read_to_string(file).unwrap() + "{}\n").unwrap();
    let more = env.command(&["resume", CLAUDE, "--target", "codex"]).env("CARRYOVER_SEED", "1").output().unwrap();
    assert!(more.status.success());
    let said = env.run(&["undo", id]);
    assert!(said.code == Some(3) && said.stderr.contains(&format!("`carryover undo {id} --force`")), "{said}");
}

#[test]
fn force_without_an_id_takes_nothing_of_another_project() {
    let env = TestEnv::with_sessions();
    env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    let before = env.files();
    insta::assert_snapshot!(env.run_in(&env.home(), &["undo", "--force"]), @"
    exit code 2
    --- stderr
    error: no resume of this project can be taken back
      00000000  claude-code → codex  session 01a1de6f-6dd8-7000-8000-0000000f4241
    hint: name one of another project by its id: `carryover undo ID --force`
    ");
    assert_eq!(env.files(), before);
    insta::assert_snapshot!(env.run(&["undo", "--force"]), @"
    exit code 0
    --- stderr
    the last resume of this project: 00000000  claude-code → codex  session 01a1de6f-6dd8-7000-8000-0000000f4241
    took back Codex CLI session 01a1de6f-6dd8-7000-8000-0000000f4241
      removed ~/.codex/sessions/2026/11/15/rollout-2026-11-15T09-00-07-01a1de6f-6dd8-7000-8000-0000000f4241.jsonl
    ");
}

fn context_only(env: &TestEnv, session: &str, target: &str, seed: &str) -> String {
    let args = ["resume", session, "--target", target, "--context-only", "--json"];
    let output = env.command(&args).env("CARRYOVER_SEED", seed).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    told["undo_id"].as_str().unwrap().to_owned()
}

/// Seeds whose first digits differ.
const SEEDS: [&str; 3] = [
    "100000000000000000000000000000000000",
    "200000000000000000000000000000000000",
    "300000000000000000000000000000000000",
];

#[test]
fn two_briefs_are_taken_back_in_any_order() {
    for order in [[0, 1], [1, 0]] {
        let env = TestEnv::with_sessions();
        env.write("calc/CLAUDE.md", "# Rules\n");
        let before = env.files();
        let ids = [context_only(&env, CLAUDE, "claude-code", SEEDS[0]), context_only(&env, CODEX, "cursor", SEEDS[1])];
        for which in order {
            env.run(&["undo", &ids[which]]).success();
        }
        assert_eq!(env.files(), before, "{order:?}");
        for folder in [".carryover", ".cursor"] {
            assert!(!env.project().join(folder).exists(), "{order:?}: {folder}");
        }
    }
}

#[test]
fn a_brief_that_replaces_another_takes_its_folders_along() {
    let env = TestEnv::with_sessions();
    context_only(&env, CLAUDE, "cursor", SEEDS[0]);
    context_only(&env, CODEX, "cursor", SEEDS[1]);
    env.run(&["undo"]).success();
    assert!(!env.project().join(".cursor").exists());
}

#[test]
fn folders_go_with_the_last_session_in_them() {
    let env = TestEnv::with_sessions();
    fs_err::remove_dir_all(env.home().join(".codex")).unwrap();
    let ids = ["one", "two"].map(|name| {
        let folder = env.project().join(name);
        fs_err::create_dir(&folder).unwrap();
        let seed = SEEDS[usize::from(name == "two")];
        let args = ["resume", CLAUDE, "--target", "codex", "--json", "--project", folder.to_str().unwrap()];
        let output = env.command(&args).env("CARRYOVER_SEED", seed).output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        told["undo_id"].as_str().unwrap().to_owned()
    });
    for id in &ids {
        env.run(&["undo", id]).success();
    }
    assert!(!env.home().join(".codex").exists());
}

#[test]
fn a_block_that_was_taken_out_is_no_file_that_was_removed() {
    let env = TestEnv::with_sessions();
    env.write("calc/AGENTS.md", "# Rules\n");
    context_only(&env, CLAUDE, "codex", SEEDS[0]);
    insta::assert_snapshot!(env.run(&["undo"]), @"
    exit code 0
    --- stderr
    took back what Codex CLI got
      took our block out of ~/calc/AGENTS.md
      removed ~/calc/.carryover/context.md
      removed ~/calc/.carryover
    ");
}

#[test]
fn an_id_that_fits_several_is_answered_with_them() {
    let env = TestEnv::with_sessions();
    env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    let more = env.command(&["resume", CODEX, "--target", "claude-code"]).env("CARRYOVER_SEED", "1000001").output();
    assert!(more.unwrap().status.success());
    insta::assert_snapshot!(env.run(&["undo", "0"]), @"
    exit code 2
    --- stderr
    error: `0` fits 2 resumes
      00000001  codex → claude-code  session 00000000-0000-4000-8000-0000000f4242
      00000000  claude-code → codex  session 01a1de6f-6dd8-7000-8000-0000000f4241
    hint: name one by more of its id
    ");
}

#[test]
fn a_broken_configuration_does_not_keep_a_resume_from_being_taken_back() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    env.write(".carryover/config.toml", "[resume]\ntoken = 4\n");
    let said = env.run(&["undo"]).success();
    let warning = "warning: [HOME]/.carryover/config.toml:2: unknown key `resume.token`; going on without it\n";
    assert!(said.stderr.starts_with(warning), "{said}");
    assert_eq!(env.files(), before);
    for command in ["info", "demo"] {
        let said = env.run(&[command]).success();
        assert!(said.stderr.starts_with(warning), "{said}");
    }
    assert_eq!(env.run(&["list"]).code, Some(3), "what depends on it does not go on");
}

#[test]
fn a_journal_that_somebody_changed_removes_nothing_of_theirs() {
    let env = TestEnv::with_sessions();
    env.write("precious.txt", "words");
    let resumed = env.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    let (file, id) = (resumed["files"][0].as_str().unwrap(), resumed["undo_id"].as_str().unwrap());
    let path = env.home().join(format!(".carryover/resumes/{id}.json"));
    let journal = fs_err::read_to_string(&path).unwrap();
    let victim = env.home().join("precious.txt").display().to_string();
    fs_err::write(&path, journal.replace(file, &victim)).unwrap();
    let before = env.files();
    insta::assert_snapshot!(env.run(&["undo", "--force"]), @"
    exit code 3
    --- stderr
    the last resume of this project: 00000000  claude-code → codex  session 01a1de6f-6dd8-7000-8000-0000000f4241
    error: [HOME]/.carryover/resumes/00000000.json names [HOME]/precious.txt, where no resume of ours writes: nothing was taken back
    hint: if a variable moved the agent's store when it was written, set it as it was and try again
    hint: else somebody has changed the journal: look into it, and remove it
    ");
    assert_eq!(env.files(), before);
}

#[test]
fn words_inside_a_brief_of_ours_are_not_overwritten() {
    let env = TestEnv::with_sessions();
    env.write("calc/AGENTS.md", "Use tabs.\n");
    let leave = ["resume", CLAUDE, "--target", "codex", "--context-only"];
    env.run(&leave).success();
    env.run(&leave).success();
    let file = env.project().join("AGENTS.md");
    let text = fs_err::read_to_string(&file).unwrap();
    let at = text.find("An earlier session").unwrap();
    let changed = format!("{}Never touch the parser.\n\n{}", &text[..at], &text[at..]);
    fs_err::write(&file, &changed).unwrap();
    for args in [&leave[..], &[&leave[..], &["--dry-run"]].concat(), &["undo"]] {
        let said = env.run(args);
        assert_eq!(said.code, Some(3), "{said}");
        assert!(said.stderr.contains("hint: "), "{said}");
        assert_eq!(fs_err::read_to_string(&file).unwrap(), changed, "{said}");
    }
}

/// Cuts a journal in half; the other one stays sound.
fn damaged(env: &TestEnv, id: &str) {
    let path = env.home().join(format!(".carryover/resumes/{id}.json"));
    let text = fs_err::read_to_string(&path).unwrap();
    fs_err::write(&path, &text[..text.len() / 2]).unwrap();
}

#[test]
fn a_journal_that_cannot_be_read_takes_nothing_else_along() {
    let env = TestEnv::with_sessions();
    let sound = env.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    let more = ["resume", CLAUDE, "--target", "gemini-cli", "--json"];
    assert!(env.command(&more).env("CARRYOVER_SEED", SEEDS[0]).output().unwrap().status.success());
    let id = undone_id(SEEDS[0]);
    damaged(&env, &id);
    let before = env.files();
    for args in [&["undo"][..], &["undo", "--force"], &["undo", &id], &["undo", &id[..4]]] {
        let said = env.run(args);
        assert_eq!(said.code, Some(3), "{said}");
        assert!(said.stderr.contains(&format!("{id}.json cannot be read")), "{said}");
        assert!(said.stderr.contains("carryover undo ID") && said.stderr.contains("00000000  claude-code"), "{said}");
        assert_eq!(env.files(), before, "{said}");
    }
    let said = env.run(&["undo", "nonsense"]);
    assert!(said.code == Some(2) && said.stderr.contains(&format!("{id}.json cannot be read")), "{said}");
    env.run(&["undo", sound["undo_id"].as_str().unwrap()]).success();
    assert_ne!(env.files(), before);
}

/// The first digits of a seed, by which its resume is known.
fn undone_id(seed: &str) -> String {
    format!("{:08x}", seed.parse::<u128>().unwrap() >> 96)
}

#[test]
fn a_journal_that_cannot_be_read_is_named_where_there_is_no_other() {
    let env = TestEnv::with_sessions();
    env.run(&["resume", CLAUDE, "--target", "codex"]).success();
    damaged(&env, "00000000");
    insta::assert_snapshot!(env.run(&["undo"]), @"
    exit code 3
    --- stderr
    error: [HOME]/.carryover/resumes/00000000.json cannot be read, and may be the resume that is meant: nothing was taken back
    hint: another resume is taken back by its id: `carryover undo ID`
    hint: if nothing is to be undone by that file, remove it; `carryover doctor` names all such files
    ");
    assert!(env.run(&["undo", "--force"]).stderr.contains("00000000.json cannot be read"));
}

#[test]
fn what_can_be_taken_back_is_listed() {
    let env = TestEnv::with_sessions();
    let nothing = env.run(&["undo", "--list"]);
    assert!(nothing.stderr.contains("nothing to take back"), "{nothing}");
    let first = env.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    let second = env.resume_json(&["resume", CODEX, "--target", "claude-code"]);
    let listed = env.json("undo-list", &["undo", "--list"]);
    let resumes = listed["resumes"].as_array().unwrap();
    assert_eq!(resumes.len(), 2);
    assert_eq!((&resumes[0]["undo_id"], &resumes[1]["undo_id"]), (&second["undo_id"], &first["undo_id"]));
    assert_eq!((&resumes[1]["source"], &resumes[1]["target"]), (&"claude-code".into(), &"codex".into()));
    assert!(resumes[1]["title"].as_str().unwrap().contains("fix the bug"), "{listed:#}");
    assert_eq!(resumes[1]["removes"][0], first["files"][0]);
    let before = env.files();
    let told = env.run(&["undo", "--list"]);
    assert!(told.stdout.contains("claude-code → codex") && told.stdout.contains("  removes ~/.codex/"), "{told}");
    assert_eq!(env.files(), before, "listing changes nothing");
    env.run(&["undo", resumes[1]["undo_id"].as_str().unwrap()]).success();
    assert_eq!(env.json("undo-list", &["undo", "--list"])["resumes"].as_array().unwrap().len(), 1);
}
