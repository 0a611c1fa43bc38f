use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::TestEnv;

const SETTINGS: &str = ".claude/settings.json";

/// A home in which one client is installed, in this version.
fn env_with_client(version: &str) -> TestEnv {
    let env = TestEnv::new();
    write_program(&env, "bin/claude", &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"));
    let path = format!("{}:/bin:/usr/bin", env.home().join("bin").display());
    env.var("PATH", &path)
}

fn write_program(env: &TestEnv, name: &str, text: &str) {
    env.write(name, text);
    fs_err::set_permissions(env.home().join(name), std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn install(env: &TestEnv) -> crate::support::Said {
    env.run(&["install", "--yes", "--no-service"])
}

fn read(env: &TestEnv, name: &str) -> String {
    fs_err::read_to_string(env.home().join(name)).unwrap()
}

#[test]
fn hooks_are_written_once_and_taken_back_byte_for_byte() {
    let env = env_with_client("2.1.325");
    env.write(SETTINGS, "{\n  // mine\n  \"model\": \"opus\",\n}\n");
    let before = env.files();
    insta::assert_snapshot!(install(&env), @"
    exit code 0
    --- stderr
    ✓ Claude Code 2.1.325
        file   ~/.claude/settings.json
        hooks  SessionStart, UserPromptSubmit, Stop, StopFailure, PreCompact, SessionEnd
    hint: agents that are running see it after their next start; `carryover uninstall` takes it back
    ");
    let installed = env.files();
    assert!(read(&env, SETTINGS).starts_with("{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\n"));
    insta::assert_snapshot!(install(&env), @"
    exit code 0
    --- stderr
    ✓ Claude Code 2.1.325 (as it was)
        file   ~/.claude/settings.json
        hooks  SessionStart, UserPromptSubmit, Stop, StopFailure, PreCompact, SessionEnd
    ");
    assert_eq!(env.files(), installed);
    insta::assert_snapshot!(env.run(&["uninstall", "--yes"]), @"
    exit code 0
    --- stderr
    ✓ Claude Code: taken out of ~/.claude/settings.json, byte for byte
    hint: the ledger is still in ~/.carryover; `carryover uninstall --purge` removes it
    ");
    assert_eq!(env.files(), before);
    insta::assert_snapshot!(env.run(&["uninstall", "--yes"]), @"
    exit code 0
    --- stderr
    nothing is installed
    ");
}

#[test]
fn what_was_made_goes_again_and_a_dry_run_makes_nothing() {
    let env = env_with_client("2.1.325");
    let before = env.files();
    let report = env.json("install-report", &["install", "--yes", "--no-service", "--dry-run"]);
    assert_eq!(report["agents"][0]["outcome"], "written");
    assert_eq!(env.files(), before);
    env.json("install-report", &["install", "--yes", "--no-service"]);
    let record: serde_json::Value = serde_json::from_str(&read(&env, ".carryover/install.json")).unwrap();
    crate::support::check_schema("install", &record);
    env.json("install-report", &["uninstall", "--yes"]);
    assert_eq!(env.files(), before);
    assert!(!env.home().join(".claude").exists() && !env.home().join(".carryover/install.json").exists());
}

#[test]
fn a_program_that_moved_is_written_anew() {
    let env = env_with_client("2.1.325");
    let _ = install(&env).success();
    let old = read(&env, SETTINGS);
    let moved = env.home().join("opt/carryover");
    fs_err::create_dir_all(moved.parent().unwrap()).unwrap();
    fs_err::copy(env!("CARGO_BIN_EXE_carryover"), &moved).unwrap();
    let run_moved = |args: &[&str]| {
        let mut command = std::process::Command::new(&moved);
        let model = env.command(args);
        command.args(args).current_dir(env.project()).env_clear();
        command.envs(model.get_envs().filter_map(|(name, value)| Some((name, value?))));
        env.said(command.output().unwrap())
    };
    insta::assert_snapshot!(run_moved(&["refresh", "--no-service"]), @"
    exit code 0
    --- stderr
    ✓ Claude Code 2.1.325
        file   ~/.claude/settings.json
        hooks  SessionStart, UserPromptSubmit, Stop, StopFailure, PreCompact, SessionEnd
    hint: agents that are running see it after their next start; `carryover uninstall` takes it back
    ");
    let new = read(&env, SETTINGS);
    let here = Path::new(env!("CARGO_BIN_EXE_carryover")).canonicalize().unwrap();
    assert_eq!(new, old.replace(&*here.to_string_lossy(), &moved.to_string_lossy()));
    insta::assert_snapshot!(run_moved(&["refresh", "--no-service", "--quiet"]), @"exit code 0");
    assert_eq!(read(&env, SETTINGS), new);
}

#[test]
fn a_path_that_leads_here_is_the_one_that_hooks_call() {
    let env = env_with_client("2.1.325");
    fs_err::os::unix::fs::symlink(env!("CARGO_BIN_EXE_carryover"), env.home().join("bin/carryover")).unwrap();
    let _ = install(&env).success();
    assert!(read(&env, SETTINGS).contains(&format!("\"{}/bin/carryover hook ", env.home().display())));
}

#[test]
fn from_a_file_that_was_edited_only_ours_is_taken() {
    let env = env_with_client("2.1.325");
    let _ = install(&env).success();
    let edited = read(&env, SETTINGS).replacen('{', "{\n  \"model\": \"opus\",", 1);
    env.write(SETTINGS, &edited);
    insta::assert_snapshot!(env.run(&["uninstall", "--yes"]), @"
    exit code 0
    --- stderr
    ✓ Claude Code: taken out of ~/.claude/settings.json; what was changed there since stays
    hint: the ledger is still in ~/.carryover; `carryover uninstall --purge` removes it
    ");
    insta::assert_snapshot!(read(&env, SETTINGS), @r#"
    {
      "model": "opus"
    }
    "#);
}

#[test]
fn a_broken_file_is_left_alone_with_its_place() {
    let env = env_with_client("2.1.325");
    env.write(SETTINGS, "{\n  \"model\": \"opus\"\n  \"hooks\": {}\n}\n");
    let before = env.files();
    insta::assert_snapshot!(install(&env), @"
    exit code 3
    --- stderr
    ✗ Claude Code 2.1.325: [HOME]/.claude/settings.json was left alone: line 2, column 18: this is not JSON: expected comma
        nothing was changed in it; mend that place, then run `carryover refresh`
    error: 1 file was left as it is
    hint: once that is mended, run `carryover refresh`
    ");
    assert_eq!(env.files(), before);
}

#[test]
fn a_read_only_file_is_left_alone() {
    let env = env_with_client("2.1.325");
    env.write(SETTINGS, "{}\n");
    fs_err::set_permissions(env.home().join(SETTINGS), std::fs::Permissions::from_mode(0o444)).unwrap();
    insta::assert_snapshot!(install(&env), @"
    exit code 3
    --- stderr
    ✗ Claude Code 2.1.325: [HOME]/.claude/settings.json is read-only
        it was left alone; make it writable, then run `carryover refresh`
    error: 1 file was left as it is
    hint: once that is mended, run `carryover refresh`
    ");
    assert_eq!(read(&env, SETTINGS), "{}\n");
}

#[test]
fn versions_out_of_the_known_range_are_told() {
    insta::assert_snapshot!(install(&env_with_client("9.0.0")), @"
    exit code 0
    --- stderr
    ✓ Claude Code 9.0.0
        file   ~/.claude/settings.json
        hooks  SessionStart, UserPromptSubmit, Stop, StopFailure, PreCompact, SessionEnd
    warning: Claude Code 9.0.0 is newer than what carryover knows (2.1.325): it has the hooks of that version; update carryover when you can
    hint: agents that are running see it after their next start; `carryover uninstall` takes it back
    ");
    insta::assert_snapshot!(install(&env_with_client("1.0.1")), @"
    exit code 0
    --- stderr
    ✗ Claude Code 1.0.1 is older than the first with hooks, 1.0.60
        skipped; update it, then run `carryover refresh`
    ");
}

#[test]
fn who_is_not_here_is_told_and_who_has_no_hooks_is_watched() {
    let env = TestEnv::new();
    let chosen = env.run(&["install", "--agents", "claude-code,aider", "--no-service", "--protocol", "brief"]);
    insta::assert_snapshot!(chosen, @"
    exit code 0
    --- stderr
    ✗ Claude Code was chosen but is not on this machine
        skipped; run `carryover refresh` after installing it
    – Aider has no hooks: its sessions are watched
    ");
    assert!(read(&env, ".carryover/config.toml").contains("protocol = \"brief\""));
    insta::assert_snapshot!(env.run(&["install", "--yes"]), @"
    exit code 1
    --- stderr
    error: no agent with hooks was found
    hint: run `carryover info` to see where carryover looks for sessions
    hint: `carryover demo` shows how it works, without any agent
    ");
}

#[test]
fn a_list_of_files_to_read_is_filled_when_asked() {
    let env = env_with_client("2.1.325");
    env.write(".aider.conf.yml", "# mine\nread: CONVENTIONS.md\n");
    let before = env.files();
    let _ = env.run(&["install", "--yes", "--no-service", "--aider-read"]).success();
    assert_eq!(read(&env, ".aider.conf.yml"), "# mine\nread: [CONVENTIONS.md, .carryover/handoff.md]\n");
    let _ = env.run(&["uninstall", "--yes"]).success();
    assert_eq!(env.files(), before);
}

#[test]
fn without_a_terminal_or_an_installation_there_is_a_way_on() {
    let env = env_with_client("2.1.325");
    insta::assert_snapshot!(env.run(&["install"]), @"
    exit code 64
    --- stderr
    error: nobody can be asked which agents shall call carryover
    hint: `--yes` takes those that are here, `--agents A,B` those that are named
    ");
    insta::assert_snapshot!(env.run(&["refresh"]), @"
    exit code 2
    --- stderr
    error: nothing is installed yet
    hint: `carryover install` does it
    ");
    let _ = install(&env).success();
    insta::assert_snapshot!(env.run(&["uninstall"]), @"
    exit code 64
    --- stderr
    error: carryover would be taken out of 1 file, and nobody can be asked
    hint: say so with `--yes`
    ");
}

#[test]
fn everything_of_ours_goes_when_that_is_asked_for() {
    let env = env_with_client("2.1.325");
    let _ = install(&env).success();
    let _ = env.run(&["uninstall", "--purge", "--yes"]).success();
    assert!(!env.home().join(".carryover").exists());
    let moved = env.var("CARRYOVER_HOME", "~/calc");
    insta::assert_snapshot!(moved.run(&["uninstall", "--purge", "--yes"]), @"
    exit code 64
    --- stderr
    nothing is installed
    error: CARRYOVER_HOME names a folder that may hold other things
    hint: look at what is in it, then remove it yourself: `rm -r [HOME]/calc`
    ");
    assert!(moved.project().exists());
}

/// The daemon as `status` tells of it.
fn query_daemon(env: &TestEnv) -> serde_json::Value {
    let status = env.run(&["status", "--json"]).success().stdout;
    serde_json::from_str::<serde_json::Value>(&status).unwrap()["daemon"].clone()
}

#[test]
fn a_registered_daemon_is_started_and_stopped_by_its_manager() {
    let env = env_with_client("2.1.325");
    env.set_daemon_port(0);
    env.write("run/bus", "");
    let program = env!("CARGO_BIN_EXE_carryover");
    let manager = r#"#!/bin/sh
echo "$2" >>"$HOME/asked"
case $2 in
start | restart)
    if [ ! -e "$HOME/active" ]; then
        >"$HOME/active"
        "{program}" daemon run --service >/dev/null 2>&1 &
    fi
    ;;
stop) rm "$HOME/active" ;;
esac
"#;
    let manager = manager.replace("{program}", program);
    write_program(&env, "bin/systemctl", &manager);
    let runtime = env.home().join("run").display().to_string();
    let env = env.var("XDG_RUNTIME_DIR", &runtime);
    let _ = env.run(&["install", "--yes"]).success();
    let process = |env: &TestEnv| query_daemon(env)["process_id"].clone();
    let first = process(&env);
    let _ = env.run(&["refresh", "--yes"]).success();
    assert_eq!(process(&env), first);
    assert_eq!(env.run(&["daemon", "stop"]).success().stderr, "the daemon has ended\n");
    assert_eq!(env.run(&["daemon", "start"]).success().stderr, "the daemon runs\n");
    let _ = env.run(&["uninstall", "--yes"]).success();
    assert_eq!(env.run(&["daemon", "stop"]).success().stderr, "no daemon runs\n");
    let asked = read(&env, "asked").replace('\n', " ");
    assert_eq!(asked, "daemon-reload enable restart enable start stop start disable daemon-reload ");
}

#[test]
fn who_wanted_no_service_gets_none_by_a_refresh() {
    let env = env_with_client("2.1.325");
    env.set_daemon_port(0);
    env.write("run/bus", "");
    write_program(&env, "bin/systemctl", "#!/bin/sh\necho \"$2\" >>\"$HOME/asked\"\n");
    let runtime = env.home().join("run").display().to_string();
    let env = env.var("XDG_RUNTIME_DIR", &runtime);
    let _ = install(&env).success();
    let _ = env.run(&["refresh", "--yes"]).success();
    assert!(!env.home().join("asked").exists(), "nobody asked the manager for anything");
    assert_eq!(env.run(&["daemon", "stop"]).success().stderr, "no daemon runs\n");
}

#[test]
fn a_dry_run_tells_what_would_be_done() {
    let env = env_with_client("2.1.325");
    insta::assert_snapshot!(env.run(&["install", "--agents", "claude-code,codex,aider", "--dry-run"]), @"
    exit code 0
    --- stderr
    ✓ Claude Code 2.1.325 (would be written)
        file   ~/.claude/settings.json
        hooks  SessionStart, UserPromptSubmit, Stop, StopFailure, PreCompact, SessionEnd
    ✗ Codex CLI was chosen but is not on this machine
        would be skipped; run `carryover refresh` after installing it
    – Aider has no hooks: its sessions would be watched
    – nobody starts services for a user here, so the daemon would be started now only
    nothing was written
    ");
    assert!(!env.home().join(SETTINGS).exists() && !env.home().join(".carryover/install.json").exists());
    let _ = install(&env).success();
    let before = env.files();
    insta::assert_snapshot!(env.run(&["refresh", "--dry-run"]), @"
    exit code 0
    --- stderr
    ✓ Claude Code 2.1.325 (would stay as it is)
        file   ~/.claude/settings.json
        hooks  SessionStart, UserPromptSubmit, Stop, StopFailure, PreCompact, SessionEnd
    nothing was written
    ");
    insta::assert_snapshot!(env.run(&["uninstall", "--purge", "--dry-run"]), @"
    exit code 0
    --- stderr
    ✓ Claude Code: would be taken out of ~/.claude/settings.json, byte for byte
    ~/.carryover would be removed, with the ledger
    nothing was changed
    ");
    assert_eq!(env.files(), before);
}

#[test]
fn after_a_removal_that_failed_the_next_command_is_the_same_again() {
    let env = env_with_client("2.1.325");
    let _ = install(&env).success();
    let installed = read(&env, SETTINGS);
    env.write(SETTINGS, &installed.replacen('{', "{ \"model\" ", 1));
    insta::assert_snapshot!(env.run(&["uninstall", "--yes"]), @"
    exit code 3
    --- stderr
    ✗ Claude Code: [HOME]/.claude/settings.json was left alone: line 2, column 3: this is not JSON: expected colon after the string or word in object property
        nothing was changed in it; mend that place, then run `carryover uninstall`
    error: 1 file was left as it is
    hint: once that is mended, run `carryover uninstall`
    ");
    env.write(SETTINGS, &installed);
    insta::assert_snapshot!(env.run(&["uninstall", "--yes"]), @"
    exit code 0
    --- stderr
    ✓ Claude Code: taken out of ~/.claude/settings.json, byte for byte
    hint: the ledger is still in ~/.carryover; `carryover uninstall --purge` removes it
    ");
}

#[test]
fn a_daemon_from_before_an_upgrade_gives_way_to_the_new_one() {
    let env = env_with_client("2.1.325");
    env.set_daemon_port(0);
    let old = env.home().join("old-carryover");
    fs_err::copy(env!("CARGO_BIN_EXE_carryover"), &old).unwrap();
    let mut command = std::process::Command::new(&old);
    let like = env.command(&["daemon", "start"]);
    command.args(like.get_args()).current_dir(env.project()).env_clear();
    command.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?))));
    assert!(command.status().unwrap().success());
    let program = |env: &TestEnv| query_daemon(env)["program"].clone();
    assert_eq!(program(&env), "[HOME]/old-carryover");
    let _ = env.run(&["install", "--yes"]).success();
    assert_eq!(program(&env), env!("CARGO_BIN_EXE_carryover"));
    assert_eq!(env.run(&["daemon", "stop"]).success().stderr, "the daemon has ended\n");
}

#[test]
fn commands_are_put_into_agents_that_have_some_and_taken_out_again() {
    let env = env_with_client("2.1.325");
    for (program, version) in [("codex", "codex-cli 0.166.0"), ("gemini", "0.61.0"), ("opencode", "1.18.33")] {
        write_program(&env, &format!("bin/{program}"), &format!("#!/bin/sh\necho '{version}'\n"));
    }
    env.write(".claude/commands/workspace.plan.md", "My own plan.\n");
    let before = env.files();
    let said = env.run(&["install", "--yes", "--no-service", "--commands"]);
    // A command of the user's own stays as it is, and is told.
    assert_eq!(said.code, Some(3), "{said}");
    assert_eq!(read(&env, ".claude/commands/workspace.plan.md"), "My own plan.\n");
    assert!(said.stderr.contains("$workspace-resume") && said.stderr.contains("workspace.plan.md"), "{said}");
    // The others are there, and told as well.
    let put =
        "/workspace.resume, /workspace.stop-conversation, /workspace.brainstorm, /workspace.debug, /workspace.learn, /";
    assert!(said.stderr.contains(put), "{said}");
    for (file, arguments) in [
        (".claude/commands/workspace.brainstorm.md", "$ARGUMENTS"),
        (".codex/skills/workspace-brainstorm/SKILL.md", "name: workspace-brainstorm\n"),
        (".gemini/commands/workspace.brainstorm.toml", "{{args}}"),
        (".config/opencode/commands/workspace.brainstorm.md", "$ARGUMENTS"),
    ] {
        let text = read(&env, file);
        assert!(
            text.contains(arguments) && text.contains(" save --source ") && text.contains("--type brainstorm"),
            "{text}"
        );
        let handoff = file.replace("workspace.brainstorm", "carryover.handoff");
        assert!(env.home().join(handoff.replace("workspace-brainstorm", "carryover-handoff")).exists());
    }
    let record: serde_json::Value = serde_json::from_str(&read(&env, ".carryover/install.json")).unwrap();
    crate::support::check_schema("install", &record);
    let installed = env.files();
    fs_err::remove_file(env.home().join(".claude/commands/workspace.plan.md")).unwrap();
    let again = env.json("install-report", &["refresh", "--yes", "--no-service"]);
    assert_ne!(env.files(), installed, "{again}");
    fs_err::remove_file(env.home().join(".claude/commands/workspace.plan.md")).unwrap();
    env.write(".claude/commands/workspace.plan.md", "My own plan.\n");
    env.json("install-report", &["uninstall", "--yes"]);
    assert!(!env.home().join(".config/opencode").exists(), "two things of ours were in a folder that was made");
    let left: Vec<_> = env.files().into_iter().map(|(path, _)| path).collect();
    let mine = env.home().join(".claude/commands/workspace.plan.md");
    let known: Vec<_> = before.into_iter().map(|(path, _)| path).filter(|path| *path != mine).collect();
    assert_eq!(left.into_iter().filter(|path| *path != mine).collect::<Vec<_>>(), known);
}
