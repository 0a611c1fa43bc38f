use super::*;
use crate::tests::world::World;

/// Notes what would be run, and fails where it is told to.
#[derive(Default)]
struct Listener {
    lines: Vec<String>,
    failing: Option<&'static str>,
}

impl ProgramRunner for Listener {
    fn run(&mut self, program: &str, args: &[&str]) -> Result<(), String> {
        let line = format!("{program} {}", args.join(" "));
        self.lines.push(line.clone());
        match self.failing {
            Some(failing) if line.contains(failing) => Err("no".to_owned()),
            _ => Ok(()),
        }
    }
}

/// A world with a manager of services that can be reached.
fn managed_world() -> World {
    let mut world = World::new();
    let program = world.write_file("bin/systemctl", "#!/bin/sh\nexit 1\n");
    #[cfg(unix)]
    fs_err::set_permissions(program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.write_file("run/bus", "");
    world.write_file("home/.profile", "");
    let runtime = world.path("run").display().to_string();
    world.context.env.vars.insert("XDG_RUNTIME_DIR".to_owned(), runtime);
    world
}

const PROGRAM: &str = "/opt/my tools/100%/carryover";

#[test]
fn the_unit_restarts_the_daemon_and_begins_with_the_login() {
    let mut world = World::new();
    world.context.env.vars.insert("CARRYOVER_HOME".to_owned(), "/data/$x".to_owned());
    world.context.home = "/data/$x".into();
    world.context.env.vars.insert("CODEX_HOME".to_owned(), "/d/50% \"x\"\n[y]".to_owned());
    world.context.env.vars.insert("OTHER_HOME".to_owned(), "/elsewhere".to_owned());
    insta::assert_snapshot!(render_unit(&world.context, PROGRAM.as_ref()), @r#"
    # Written by `carryover install`; `carryover uninstall` removes it.
    [Unit]
    Description=carryover: the next coding agent starts informed

    [Service]
    ExecStart="/opt/my tools/100%%/carryover" daemon run --service
    Environment="CARRYOVER_HOME=/data/$x"
    Environment="CODEX_HOME=/d/50%% \"x\"\n[y]"
    Environment="MALLOC_ARENA_MAX=1"
    Restart=on-failure
    RestartSec=2

    [Install]
    WantedBy=default.target
    "#);
}

#[test]
fn launchd_is_told_the_same() {
    let mut world = World::new();
    world.context.env.vars.insert("CARRYOVER_HOME".to_owned(), "/data/<x>".to_owned());
    world.context.home = "/data/<x>".into();
    world.context.env.vars.insert("CODEX_HOME".to_owned(), "/d/a & b".to_owned());
    insta::assert_snapshot!(render_plist(&world.context, PROGRAM.as_ref()), @r#"
    <?xml version="1.0" encoding="UTF-8"?>
    <!-- Written by `carryover install`; `carryover uninstall` removes it. -->
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0">
    <dict>
      <key>Label</key>
      <string>dev.carryover.daemon</string>
      <key>ProgramArguments</key>
      <array>
        <string>/opt/my tools/100%/carryover</string>
        <string>daemon</string>
        <string>run</string>
        <string>--service</string>
      </array>
      <key>EnvironmentVariables</key>
      <dict><key>CARRYOVER_HOME</key><string>/data/&lt;x&gt;</string><key>CODEX_HOME</key><string>/d/a &amp; b</string></dict>
      <key>RunAtLoad</key>
      <true/>
      <key>KeepAlive</key>
      <dict>
        <key>SuccessfulExit</key>
        <false/>
      </dict>
      <key>ProcessType</key>
      <string>Background</string>
    </dict>
    </plist>
    "#);
}

/// Where the system's own checker is installed, it finds nothing wrong with the unit.
#[cfg(target_os = "linux")]
#[test]
fn the_unit_is_one_that_systemd_accepts() {
    let world = World::new();
    let unit = world.write_file("units/carryover.service", &render_unit(&world.context, "/bin/true".as_ref()));
    let home = world.path("home");
    fs_err::create_dir_all(&home).unwrap();
    let mut command = std::process::Command::new("systemd-analyze");
    command.args(["verify", "--user", "--man=no"]).arg(unit).env_clear();
    command.env("HOME", &home).env("XDG_RUNTIME_DIR", &home).env("PATH", "/usr/bin:/bin");
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success() && !said.contains("carryover.service"), "{said}");
        }
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "systemd-analyze is not installed"),
    }
}

#[test]
fn a_service_is_registered_once_and_taken_back_without_a_trace() {
    let world = managed_world();
    let before = world.read_tree();
    let mut runner = Listener::default();
    let first = register(&world.context, PROGRAM.as_ref(), &mut runner).unwrap();
    assert!(
        matches!(first, ServiceOutcome::Registered(path) if path.ends_with(".config/systemd/user/carryover.service"))
    );
    let again = register(&world.context, PROGRAM.as_ref(), &mut runner).unwrap();
    assert!(matches!(again, ServiceOutcome::Unchanged(_)));
    let gone = unregister(&world.context, &mut runner).unwrap();
    assert!(matches!(gone, Some(ServiceOutcome::Removed(_))));
    assert_eq!(world.read_tree(), before);
    insta::assert_snapshot!(runner.lines.join("\n"), @"
    systemctl --user daemon-reload
    systemctl --user enable carryover.service
    systemctl --user restart carryover.service
    systemctl --user enable carryover.service
    systemctl --user start carryover.service
    systemctl --user disable --now carryover.service
    systemctl --user daemon-reload
    ");
}

#[test]
fn a_unit_of_somebody_else_is_not_overwritten() {
    let world = managed_world();
    let unit = world.write_file("home/.config/systemd/user/carryover.service", "[Unit]\n");
    let refused = register(&world.context, PROGRAM.as_ref(), &mut Listener::default());
    assert!(matches!(refused, Err(InstallError::NotOurs(path)) if path == unit));
    assert_eq!(fs_err::read_to_string(unit).unwrap(), "[Unit]\n");
}

#[test]
fn a_manager_that_refuses_leaves_no_file_behind() {
    let world = managed_world();
    let before = world.read_tree();
    for failing in ["enable", "restart"] {
        let mut runner = Listener { failing: Some(failing), ..Listener::default() };
        let outcome = register(&world.context, PROGRAM.as_ref(), &mut runner).unwrap();
        assert!(matches!(outcome, ServiceOutcome::Failed { manager: ServiceManager::Systemd, .. }));
        assert_eq!(world.read_tree(), before);
        let last = &runner.lines[runner.lines.len() - 2..];
        assert_eq!(last, ["systemctl --user disable --now carryover.service", "systemctl --user daemon-reload"]);
    }
}

#[test]
fn without_a_manager_the_way_to_start_it_is_told() {
    let world = World::new();
    let mut runner = Listener::default();
    let outcome = register(&world.context, PROGRAM.as_ref(), &mut runner).unwrap();
    let ServiceOutcome::Unavailable { line, file } = outcome else { panic!("{outcome:?}") };
    assert_eq!((line.as_str(), file), ("'/opt/my tools/100%/carryover' daemon start", "~/.profile"));
    assert!(runner.lines.is_empty());
}

#[test]
fn only_a_registered_service_is_started_and_stopped_by_its_manager() {
    let mut world = managed_world();
    let mut runner = Listener::default();
    assert!(!control(&world.context, ServiceAction::Stop, &mut runner));
    register(&world.context, PROGRAM.as_ref(), &mut Listener::default()).unwrap();
    assert!(control(&world.context, ServiceAction::Stop, &mut runner));
    assert!(control(&world.context, ServiceAction::Start, &mut runner));
    assert_eq!(runner.lines, ["systemctl --user stop carryover.service", "systemctl --user start carryover.service"]);
    world.context.env.vars.remove("XDG_RUNTIME_DIR");
    assert!(!control(&world.context, ServiceAction::Start, &mut runner), "the manager cannot be reached");
}
