use std::path::Path;
use std::process::Command;

use carryover_agents::{Placement, Target};
use serde_json::{Value, json};

use crate::support::{CLAUDE, CODEX, TestEnv, check_schema};

fn text(path: &Path) -> String {
    fs_err::read_to_string(path).unwrap()
}

fn git(env: &TestEnv, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Dev", "-c", "user.email=dev@localhost"]).args(args);
    let output = command.current_dir(env.project()).env("HOME", env.home()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn with_nothing_else_the_newest_session_is_handed_over() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["handoff"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.stderr.contains("newest"), "{said}");
    assert!(said.stderr.contains("tokens"), "{said}");
    let folder = env.project().join(".carryover");
    assert_eq!(text(&folder.join(".gitignore")), "*\n");
    let handoff = text(&folder.join("handoff.md"));
    assert!(handoff.lines().count() <= 50 && handoff.chars().count() <= 8_000, "{handoff}");
    assert!(text(&folder.join("RESUME.md")).contains("## "));
}

#[cfg(unix)]
#[test]
fn what_is_written_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::with_sessions();
    env.run(&["handoff"]).success();
    let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = env.project().join(".carryover");
    assert_eq!((mode(&folder), mode(&folder.join("RESUME.md"))), (0o700, 0o600));
}

#[test]
fn budgets_hold_and_too_small_ones_are_named() {
    let env = TestEnv::with_sessions();
    for tokens in ["600", "1500", "8000"] {
        let told = env.json("handoff", &["handoff", CLAUDE, "--tokens", tokens]);
        assert!(told["tokens"].as_u64() <= Some(tokens.parse().unwrap()), "{told}");
    }
    let said = env.run(&["handoff", CLAUDE, "--tokens", "50"]);
    assert_eq!(said.code, Some(4), "{said}");
    assert!(said.stderr.contains("at least"), "{said}");
}

#[test]
fn same_session_gives_same_bytes() {
    let env = TestEnv::with_sessions();
    env.run(&["handoff", CODEX]).success();
    let first = text(&env.project().join(".carryover/RESUME.md"));
    env.run(&["handoff", CODEX]).success();
    assert_eq!(text(&env.project().join(".carryover/RESUME.md")), first);
}

#[test]
fn target_decides_the_command_and_the_budget() {
    let env = TestEnv::with_sessions();
    let told = env.json("handoff", &["handoff", CLAUDE, "--target", "codex"]);
    assert_eq!((told["command"][0].as_str(), told["budget"].as_u64()), (Some("codex"), Some(120_000)));
    let told = env.json("handoff", &["handoff", CLAUDE, "--target", "cursor"]);
    assert_eq!((told["command"].clone(), told["budget"].as_u64()), (Value::Null, Some(38_000)));
    let told = env.json("handoff", &["handoff", CLAUDE, "--target", "file"]);
    assert_eq!((told["copied"].clone(), told["budget"].as_u64()), (Value::Null, Some(32_000)));
}

#[cfg(unix)]
#[test]
fn a_handoff_to_a_file_is_copied_as_well() {
    use std::os::unix::fs::PermissionsExt;
    let env = TestEnv::with_sessions();
    env.write("bin/wl-copy", "#!/bin/sh\n/bin/cat > \"$HOME/copied\"\n");
    let program = env.home().join("bin/wl-copy");
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let bin = env.home().join("bin").display().to_string();
    let env = env.var("PATH", &bin).var("WAYLAND_DISPLAY", "wayland-0");
    let told = env.json("handoff", &["handoff", CLAUDE, "--target", "file"]);
    assert_eq!(told["copied"], "clipboard");
    assert_eq!(text(&env.home().join("copied")), text(&env.project().join(".carryover/RESUME.md")));
    let told = env.json("handoff", &["handoff", CLAUDE, "--target", "file", "--no-copy"]);
    assert_eq!(told["copied"], Value::Null);
}

#[test]
fn a_brief_ends_with_its_tokens() {
    let said = TestEnv::with_sessions().run(&["brief", CLAUDE]).success();
    let words: Vec<&str> = said.stdout.lines().last().unwrap().split(' ').collect();
    assert!(matches!(words[..], ["about", _, "tokens"]), "{said}");
    assert!(words[1].trim_end_matches('k').parse::<f64>().is_ok() || words[1].contains('#'), "{said}");
}

#[test]
fn the_prompt_is_fitted_to_who_reads_it() {
    let env = TestEnv::with_sessions();
    for (target, name, advice) in [
        ("codex", "Codex CLI", "in portions: your tools cut what is long"),
        ("gemini-cli", "Gemini CLI", "with a shell command if need be"),
    ] {
        let told = env.json("handoff", &["handoff", CLAUDE, "--target", target]);
        let prompt = text(&env.project().join(".carryover/RESUME.md"));
        assert_eq!(prompt.lines().next(), Some(format!("# [CARRYOVER] Session to resume in {name}").as_str()));
        assert!(told["command"].to_string().contains(advice), "{told}");
    }
    env.run(&["handoff", CLAUDE]).success();
    let prompt = text(&env.project().join(".carryover/RESUME.md"));
    assert!(prompt.starts_with("# [CARRYOVER] Session to resume\n"), "{prompt}");
}

#[test]
fn where_no_command_goes_on_a_person_is_told_what_to_say() {
    let env = TestEnv::with_sessions();
    for (args, whom) in [(&["handoff"][..], "the next agent"), (&["handoff", "--target", "cursor"], "Cursor")] {
        let said = env.run(args);
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{said}");
        let hint = said.stderr.lines().find(|line| line.starts_with("hint: ")).unwrap();
        assert!(hint.contains(whom) && hint.contains("Read .carryover/RESUME.md in this folder"), "{said}");
    }
}

#[test]
fn nothing_is_written_for_a_client_that_is_to_be_started_and_is_not_there() {
    let env = TestEnv::with_sessions();
    let before = env.files();
    for args in [
        &["handoff", CLAUDE, "--target", "codex", "--launch"][..],
        &["resume", CLAUDE, "--target", "codex", "--prompt", "--launch"],
        &["resume", CLAUDE, "--target", "codex", "--context-only", "--launch"],
        &["resume", CLAUDE, "--target", "codex", "--launch"],
        &["resume", CLAUDE, "--target", "aider", "--launch"],
    ] {
        let said = env.run(args);
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""), "{said}");
        assert!(said.stderr.contains("is not installed: nothing was written"), "{said}");
    }
    assert_eq!(env.files(), before);
}

#[test]
fn nobody_is_started_where_nobody_is_named_and_nothing_is_written() {
    let env = TestEnv::with_sessions();
    for args in [&["handoff", "--launch"][..], &["handoff", "--target", "clipboard", "--launch"]] {
        let said = env.run(args);
        assert_eq!(said.code, Some(64), "{said}");
        assert!(said.stderr.contains("--target AGENT"), "{said}");
    }
    assert!(!env.project().join(".carryover").exists());
}

/// The tool for reading of one of the clients refuses it.
#[test]
fn next_agent_is_told_how_to_read_what_git_ignores() {
    let env = TestEnv::with_sessions();
    let told = env.json("handoff", &["handoff", CLAUDE, "--target", "gemini-cli"]);
    let prompt = told["command"].as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(prompt.contains(".carryover/RESUME.md") && prompt.contains("with a shell command"), "{prompt}");
}

/// A session that is begun with a handoff: its prompt, and the file that it read then.
fn begun_with(env: &TestEnv, id: &str, prompt: &str, read: Option<(&str, &str)>) {
    let project = env.project().display().to_string();
    let slug: String = project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let call =
        read.map(|(file, _)| json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": file}}]));
    let outcome = read.map(|(_, text)| json!([{"type": "tool_result", "tool_use_id": "t1", "content": text}]));
    let said = json!([{"type": "text", "text": "I added the line to CHANGELOG.md. Next I will bump the version."}]);
    let messages = [
        Some(("user", json!(prompt))),
        call.map(|call| ("assistant", call)),
        outcome.map(|outcome| ("user", outcome)),
        Some(("assistant", said)),
    ];
    let mut parent = Value::Null;
    let mut lines = String::new();
    for (at, (role, content)) in messages.into_iter().flatten().enumerate() {
        let uuid = format!("00000000-0000-4000-8000-00000000000{at}");
        let record = json!({
            "parentUuid": parent, "isSidechain": false, "sessionId": id, "cwd": project, "version": "2.1.325",
            "uuid": uuid, "timestamp": format!("2026-11-15T09:30:0{at}.000Z"), "type": role,
            "message": {"role": role, "model": "m", "content": content},
        });
        lines += &record.to_string();
        lines.push('\n');
        parent = json!(uuid);
    }
    env.write(&format!(".claude/projects/{slug}/{id}.jsonl"), &lines);
}

#[test]
fn handoff_of_a_session_that_was_begun_with_one_keeps_the_task() {
    let env = TestEnv::with_sessions();
    let told = env.json("handoff", &["handoff", CLAUDE, "--target", "claude-code"]);
    let first = text(&env.project().join(".carryover/RESUME.md"));
    let pointer = told["command"].as_array().unwrap().last().unwrap().as_str().unwrap();
    let numbered: Vec<String> = first.lines().enumerate().map(|(at, line)| format!("{}\t{line}", at + 1)).collect();
    let file = ".carryover/RESUME.md";
    begun_with(&env, "aaaaaaaa-0000-4000-8000-000000000001", &first, None);
    begun_with(&env, "bbbbbbbb-0000-4000-8000-000000000001", pointer, Some((file, &numbered.join("\n"))));
    let by_hand = "Look at .carryover/RESUME.md. Leave the icon alone.";
    begun_with(&env, "cccccccc-0000-4000-8000-000000000001", by_hand, Some((file, &first)));
    for id in ["aaaaaaaa", "bbbbbbbb", "cccccccc"] {
        env.run(&["handoff", id]).success();
        let second = text(&env.project().join(".carryover/RESUME.md"));
        assert!(second.contains("> Please fix the bug in calc.py and add a test."), "{second}");
        assert!(second.contains("Next I will bump the version"), "{second}");
        assert_eq!(second.matches("wants no recap").count(), 1, "our own words are nobody's: {second}");
        assert_eq!(second.contains("Leave the icon alone."), id == "cccccccc", "{second}");
    }
    begun_with(&env, "dddddddd-0000-4000-8000-000000000001", pointer, Some(("notes.md", &first)));
    env.run(&["handoff", "dddddddd"]).success();
    let second = text(&env.project().join(".carryover/RESUME.md"));
    assert!(!second.contains("> Please fix"), "another file is not the user's word: {second}");
}

#[test]
fn capture_tells_the_command_that_goes_on_from_it() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["capture", CLAUDE]);
    assert!(said.stderr.contains("`carryover resume --file .carryover/session.json --target AGENT`"), "{said}");
    let said = env.run_in(&env.home(), &["capture", CLAUDE]);
    assert!(said.stderr.contains("--file calc/.carryover/session.json "), "{said}");
}

#[test]
fn captured_session_that_is_not_there_is_named() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["resume", "--file", "gone.json", "--target", "codex"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(said.stderr.contains("failed to open file `gone.json`"), "{said}");
}

#[test]
fn secrets_are_masked_unless_they_are_wanted() {
    let env = TestEnv::with_sessions();
    let secret = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");
    let store = env.home().join(".claude/projects");
    let folder = fs_err::read_dir(store).unwrap().next().unwrap().unwrap().path();
    let file = fs_err::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let session = text(&file).replacen("add", &format!("{secret} add"), 1);
    fs_err::write(&file, session).unwrap();
    let written = |args: &[&str], file: &str| {
        env.run(args).success();
        text(&env.project().join(".carryover").join(file))
    };
    assert!(!written(&["handoff", CLAUDE], "RESUME.md").contains(secret));
    assert!(!written(&["capture", CLAUDE], "session.json").contains(secret));
    assert!(written(&["capture", CLAUDE, "--no-redact"], "session.json").contains(secret));
}

#[test]
fn no_word_about_the_session_that_was_picked_tells_a_secret() {
    let env = TestEnv::with_sessions();
    let secret = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");
    let store = env.home().join(".claude/projects");
    let folder = fs_err::read_dir(store).unwrap().next().unwrap().unwrap().path();
    let file = fs_err::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    fs_err::write(&file, text(&file).replace("Please fix", &format!("{secret} Please fix"))).unwrap();
    for args in [
        &["brief"][..],
        &["brief", "--json"],
        &["handoff"],
        &["capture"],
        &["resume", "--target", "codex", "--dry-run"],
        &["resume", "--target", "codex", "--prompt"],
    ] {
        let said = env.run(args).success();
        assert!(said.stderr.contains("[redacted: github-pat]") || args.contains(&"--json"), "{said}");
        assert!(!said.stdout.contains(&secret[4..12]) && !said.stderr.contains(&secret[4..12]), "{said}");
    }
    assert!(env.run(&["list"]).success().stdout.contains(&secret[..12]), "the user's own list is as it was written");
}

/// A captured session may have been written with its secrets, by somebody else, and hold them in any of its fields.
#[test]
fn captured_session_is_masked_unless_its_secrets_are_wanted() {
    let env = TestEnv::with_sessions();
    let secret = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");
    let captured = env.json("capture", &["capture", CLAUDE]);
    let mut portable: Value = serde_json::from_str(&text(Path::new(captured["file"].as_str().unwrap()))).unwrap();
    portable["project"]["gitBranch"] = secret.into();
    portable["project"]["name"] = secret.into();
    portable["task"]["description"] = format!("log in with {secret}").into();
    portable["filesChanged"][0]["path"] = format!("keys/{secret}.txt").into();
    let shown = env.run(&["show", CODEX, "--format", "uasf"]);
    let mut uasf: Value = serde_json::from_str(&shown.stdout).unwrap();
    uasf["session"]["git_branch"] = secret.into();
    uasf["events"][0]["content"] = format!("log in with {secret}").into();
    let file = env.home().join("captured.json");
    let resumed = env.project().join(".carryover/RESUME.md");
    for session in [portable, uasf] {
        fs_err::write(&file, session.to_string()).unwrap();
        let args = ["resume", "--file", file.to_str().unwrap(), "--target", "gemini-cli", "--prompt"];
        let said = env.run(&args).success();
        let written = text(&resumed);
        assert!(written.contains("[redacted: github-pat]") && !written.contains(secret), "{written}");
        assert!(!said.stdout.contains(secret) && !said.stderr.contains(secret), "{said}");
        env.run(&[&args[..], &["--no-redact"]].concat()).success();
        assert!(text(&resumed).contains(secret));
    }
}

#[test]
fn captured_session_makes_a_prompt_elsewhere() {
    let env = TestEnv::with_sessions();
    let captured = env.json("capture", &["capture", CLAUDE]);
    let file = captured["file"].as_str().unwrap();
    let portable: Value = serde_json::from_str(&text(Path::new(file))).unwrap();
    check_schema("portable-session", &portable);
    let other = env.home().join("elsewhere");
    fs_err::create_dir_all(&other).unwrap();
    let said = env.run_in(&other, &["resume", "--file", file, "--target", "gemini-cli", "--tokens", "2000"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.stdout.contains("gemini -i"), "{said}");
    assert!(text(&other.join(".carryover/RESUME.md")).contains("Claude Code"));
}

#[test]
fn file_that_is_no_session_is_refused() {
    let env = TestEnv::with_sessions();
    let file = env.home().join("x.json");
    fs_err::write(&file, "{\"a\": 1}").unwrap();
    let said = env.run(&["resume", "--file", file.to_str().unwrap(), "--target", "codex"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(said.stderr.contains("carryover capture"), "{said}");
}

#[test]
fn brief_goes_where_each_agent_reads_and_comes_back_out() {
    let env = TestEnv::with_sessions();
    env.write("calc/CLAUDE.md", "# Rules\r\n\r\nUse tabs.");
    let before = env.files();
    let places = Target::all().filter_map(|taker| match taker.placement {
        Placement::Block { file, .. } | Placement::OwnFile { file, .. } => Some((taker.id, file)),
        Placement::StartFile => None,
    });
    for (target, file) in places {
        let told = env.json("context", &["resume", CLAUDE, "--target", target, "--context-only"]);
        assert!(told["characters"].as_u64() <= Some(8_000), "{told}");
        let path = env.project().join(file);
        assert!(text(&path).contains("<!--CARRYOVER:START-->"), "{target}");
        // The next `git add` may commit it.
        assert!(text(&path).contains(".carryover/context.md") && !text(&path).contains("##"), "{target}");
        assert!(text(&env.project().join(".carryover/context.md")).contains("##"), "{target}");
        // A second one replaces the first.
        env.json("context", &["resume", CODEX, "--target", target, "--context-only"]);
        assert_eq!(text(&path).matches("<!--CARRYOVER:START-->").count(), 1, "{target}");
        env.run(&["undo"]).success();
        assert_eq!(env.files(), before, "{target}");
    }
}

#[test]
fn agent_without_instructions_is_told_the_file() {
    let env = TestEnv::with_sessions();
    let told = env.json("context", &["resume", CLAUDE, "--target", "aider", "--context-only"]);
    assert_eq!(told["command"], serde_json::json!(["aider", "--read", ".carryover/context.md"]));
    env.run(&["undo"]).success();
    assert!(!env.project().join(".carryover/context.md").exists());
}

#[test]
fn committed_file_gets_a_pointer_and_a_warning() {
    let env = TestEnv::with_sessions().var("PATH", "/usr/local/bin:/usr/bin:/bin");
    env.write("calc/AGENTS.md", "# Rules\n");
    git(&env, &["init", "-q"]);
    git(&env, &["add", "AGENTS.md"]);
    git(&env, &["commit", "-qm", "rules"]);
    let told = env.json("context", &["resume", CLAUDE, "--target", "codex", "--context-only"]);
    assert!(told["warnings"].to_string().contains("tracked by git"), "{told}");
    let rules = text(&env.project().join("AGENTS.md"));
    assert!(rules.contains(".carryover/context.md") && !rules.contains("User Requests"), "{rules}");
    assert!(rules.replace('\n', " ").contains("with a shell command if need be"), "{rules}");
    assert!(text(&env.project().join(".carryover/context.md")).contains("##"));
    env.run(&["undo"]).success();
    assert_eq!(text(&env.project().join("AGENTS.md")), "# Rules\n");
    assert!(!env.project().join(".carryover/context.md").exists());
}

#[test]
fn block_that_somebody_edited_stays() {
    let env = TestEnv::with_sessions();
    env.json("context", &["resume", CLAUDE, "--target", "codex", "--context-only"]);
    let path = env.project().join("AGENTS.md");
    let edited = text(&path).replacen("An earlier", "My earlier", 1);
    fs_err::write(&path, edited).unwrap();
    assert_eq!(env.run(&["undo"]).code, Some(3));
    env.run(&["undo", "--force"]).success();
    assert!(!path.exists());
}

#[test]
fn editor_gets_a_brief_where_no_session_can_go() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["resume", CLAUDE, "--target", "copilot-vscode"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(said.stderr.contains("takes no sessions"), "{said}");
    assert_eq!(env.run(&["resume", CLAUDE, "--target", "copilot-vscode", "--native"]).code, Some(3));
}

#[test]
fn prompt_is_another_way_to_resume() {
    let env = TestEnv::with_sessions();
    let told = env.json("handoff", &["resume", CLAUDE, "--target", "pi", "--prompt"]);
    assert_eq!(told["command"][0], "pi");
    let dry = TestEnv::with_sessions();
    let before = dry.files();
    dry.json("handoff", &["resume", CLAUDE, "--target", "pi", "--prompt", "--dry-run"]);
    assert_eq!(dry.files(), before);
}

#[test]
fn files_are_named_and_looked_for_below_the_project_given() {
    let env = TestEnv::with_sessions();
    env.write("copy/calc.py", "def add(a, b):\n    return a + b\n");
    env.write("copy/test_calc.py", "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n");
    let copy = env.home().join("copy");
    let brief = env.json("brief", &["brief", CLAUDE, "--project", &copy.display().to_string()]);
    let files: Vec<&str> =
        brief["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(files.contains(&"calc.py") && files.contains(&"test_calc.py"), "{files:?}");
    let drift: Vec<&Value> = brief["drift"]["files"].as_array().unwrap().iter().map(|item| &item["text"]).collect();
    assert_eq!(drift, ["icon.png: is gone"], "nothing is in the session's own project");
}

#[test]
fn brief_tells_what_was_found_and_where() {
    let env = TestEnv::with_sessions();
    let brief = env.json("brief", &["brief", CLAUDE]);
    assert!(!brief["task"]["request"]["entries"].as_array().unwrap().is_empty(), "{brief}");
    let said = env.run(&["brief", CLAUDE]);
    assert!(said.stdout.contains("Task") && said.stdout.contains("user 09:00 entry "), "{said}");
    assert!(said.stderr.contains("--entry REF` shows an entry"), "{said}");
    // The entry that is named is the one that changed the file, not the one that read it.
    let entries = |path: &str| {
        let files = brief["files"].as_array().unwrap();
        files.iter().find(|file| file["path"] == path).unwrap()["entries"].as_array().unwrap().clone()
    };
    let changed_by = entries("calc.py").last().unwrap().as_str().unwrap().to_owned();
    assert!(entries("calc.py").len() > 1, "it was read before");
    assert!(said.stdout.contains(&format!("calc.py modified  09:01 entry {changed_by}\n")), "{said}");
}

#[test]
fn what_somebody_wrote_into_the_files_is_kept_and_told() {
    let env = TestEnv::with_sessions();
    let hand_over = ["handoff", CLAUDE, "--no-copy"];
    let first = env.run(&hand_over).success();
    assert!(!first.stderr.contains("by hand"), "{first}");
    let file = |name: &str| env.project().join(".carryover").join(name);
    for (times, kept) in [(1, "RESUME.md.before"), (2, "RESUME.md.before-2")] {
        let again = env.run(&hand_over).success();
        assert!(!again.stderr.contains("by hand"), "{again}");
        let noted = format!("{}My notes, {times}.\n", text(&file("RESUME.md")));
        fs_err::write(file("RESUME.md"), &noted).unwrap();
        let dry = env.run(&["resume", CLAUDE, "--target", "codex", "--prompt", "--dry-run"]).success();
        assert!(dry.stderr.contains(kept) && !file(kept).exists(), "{dry}");
        let said = env.run(&hand_over).success();
        let words = format!(".carryover/RESUME.md was changed by hand: what stood there is kept as .carryover/{kept}");
        assert!(said.stderr.contains(&words), "{said}");
        assert_eq!(text(&file(kept)), noted);
        assert!(!text(&file("RESUME.md")).contains("My notes"));
    }
    env.run(&["capture", CLAUDE]).success();
    fs_err::write(file("session.json"), "{}").unwrap();
    let said = env.run(&["capture", CLAUDE]).success();
    assert!(said.stderr.contains("session.json.before") && text(&file("session.json.before")) == "{}", "{said}");
}
