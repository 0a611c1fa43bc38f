//! A repository whose settings name a program wherever git takes one: looking at it must start none of them.

#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{CLAUDE, TestEnv};

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Every command that looks at a project.
const COMMANDS: &[&[&str]] = &[
    &["brief", CLAUDE],
    &["handoff", CLAUDE, "--no-copy"],
    &["capture", CLAUDE],
    &["resume", CLAUDE, "--target", "codex", "--prompt", "--dry-run"],
    &["resume", CLAUDE, "--target", "codex", "--prompt"],
    &["resume", CLAUDE, "--target", "claude-code", "--context-only", "--dry-run"],
    &["resume", CLAUDE, "--target", "claude-code", "--context-only"],
    &["resume", CLAUDE, "--target", "aider", "--context-only", "--dry-run"],
    &["resume", CLAUDE, "--target", "codex", "--dry-run"],
    &["resume", CLAUDE, "--target", "codex"],
    &["show", CLAUDE],
    &["list", "--all"],
    &["doctor"],
];

/// Settings that name a program; `PROGRAM` stands for one.
const SETTINGS: &[&str] = &[
    "filter.x.clean",
    "filter.x.smudge",
    "filter.y.process",
    "filter.Two Words.clean",
    "core.fsmonitor",
    "core.pager",
    "pager.status",
    "pager.log",
    "pager.diff",
    "pager.branch",
    "pager.config",
    "core.editor",
    "core.askpass",
    "core.sshCommand",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "diff.external",
    "diff.x.command",
    "diff.x.textconv",
    "gpg.program",
    "gpg.ssh.program",
    "interactive.diffFilter",
    "merge.x.driver",
    "uploadpack.packObjectsHook",
    "alias.status",
    "alias.log",
];

/// Settings that make git use them.
const TRIGGERS: &[(&str, &str)] = &[
    ("filter.x.required", "true"),
    ("log.showSignature", "true"),
    ("status.submoduleSummary", "true"),
    ("diff.submodule", "diff"),
    ("diff.ignoreSubmodules", "none"),
    ("submodule.recurse", "true"),
    ("protocol.allow", "always"),
    ("protocol.ext.allow", "always"),
    ("color.ui", "always"),
    ("color.status", "always"),
    ("status.branch", "true"),
    ("include.path", "more"),
];

/// A project in a repository, and a folder for the marks that programs leave.
struct Armed {
    env: TestEnv,
    marks: PathBuf,
}

impl Armed {
    fn new() -> Self {
        let env = TestEnv::with_sessions().var("PATH", PATH);
        let marks = env.home().join("marks");
        fs_err::create_dir(&marks).unwrap();
        env.write("calc/calc.py", "def add(a, b):\n    return a - b\n");
        env.write("calc/other.txt", "one\n");
        env.write("calc/third.txt", "one\n");
        let armed = Self { env, marks };
        armed.git(&["init", "-q", "-b", "trunk"]);
        armed.git(&["add", "."]);
        armed.git(&["commit", "-qm", "begin it"]);
        armed
    }

    fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.env.project(), args)
    }

    fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Dev", "-c", "user.email=dev@localhost"]).args(args);
        let output = command.current_dir(folder).env("HOME", self.env.home()).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// A program that leaves a mark when it is started.
    fn program(&self, name: &str) -> String {
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let path = self.env.home().join(format!("program-{name}"));
        fs_err::write(&path, format!("#!/bin/sh\ntouch '{}/{name}'\ncat 2>/dev/null\n", self.marks.display())).unwrap();
        fs_err::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    fn arm(&self) {
        let project = self.env.project();
        self.add_submodule();
        let attributes =
            "*.py filter=x diff=x\n*.txt filter=y\nthird.txt filter=more\nREADME.md filter=\"Two Words\"\n";
        self.env.write("calc/.gitattributes", attributes);
        self.env.write("calc/.git/info/attributes", "sub filter=more\n");
        self.git(&["add", ".gitattributes"]);
        self.git(&["commit", "-qm", "name filters"]);
        let hooks = self.env.home().join("hooks");
        fs_err::create_dir(&hooks).unwrap();
        for hook in ["post-index-change", "reference-transaction", "fsmonitor-watchman", "query-watchman"] {
            fs_err::copy(self.program(hook), hooks.join(hook)).unwrap();
        }
        self.env.write("calc/.git/more", &format!("[filter \"more\"]\n\tclean = {}\n", self.program("more")));
        for (key, value) in TRIGGERS {
            self.git(&["config", key, value]);
        }
        self.git(&["config", "core.hooksPath", &hooks.display().to_string()]);
        for key in ["trace2.eventTarget", "trace2.normalTarget", "trace2.perfTarget"] {
            self.git(&["config", key, &self.marks.join(key).display().to_string()]);
        }
        for key in SETTINGS {
            let program = self.program(key);
            self.git(&["config", key, &if key.starts_with("alias") { format!("!{program}") } else { program }]);
        }
        // Of the same length, so that git has to look into them.
        for (name, text) in [("calc.py", "def add(a, b):\n    return a + b\n"), ("other.txt", "two\n")] {
            fs_err::write(project.join(name), text).unwrap();
        }
        fs_err::write(project.join("third.txt"), "one\n").unwrap();
        fs_err::write(project.join("sub/inner.txt"), "two\n").unwrap();
    }

    /// A submodule with settings of its own.
    fn add_submodule(&self) {
        let sub = self.env.project().join("sub");
        self.git(&["init", "-q", "sub"]);
        self.env.write("calc/sub/inner.txt", "one\n");
        self.env.write("calc/sub/.gitattributes", "* filter=inner\n");
        self.git_in(&sub, &["add", "."]);
        self.git_in(&sub, &["commit", "-qm", "inner"]);
        self.git(&["add", "sub"]);
        self.git_in(&sub, &["config", "filter.inner.clean", &self.program("submodule-filter")]);
        self.git_in(&sub, &["config", "core.fsmonitor", &self.program("submodule-monitor")]);
    }

    fn marks(&self) -> Vec<String> {
        let entries = fs_err::read_dir(&self.marks).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    fn prompt(&self) -> String {
        fs_err::read_to_string(self.env.project().join(".carryover/RESUME.md")).unwrap()
    }
}

#[test]
fn no_program_that_a_repository_names_is_started() {
    let armed = Armed::new();
    armed.arm();
    for command in COMMANDS {
        armed.env.run(command).success();
        assert_eq!(armed.marks(), [""; 0], "{command:?}");
    }
    armed.git(&["status", "--short", "--ignore-submodules=none"]);
    assert!(armed.marks().len() > 2, "they are armed");
}

#[test]
fn what_has_changed_is_told_all_the_same() {
    let armed = Armed::new();
    armed.arm();
    armed.env.run(&["handoff", CLAUDE, "--no-copy", "--tokens", "20000"]).success();
    let prompt = armed.prompt();
    for told in ["trunk", " M calc.py", " M other.txt", "calc.py   | 2 +-", "2 files changed"] {
        assert!(prompt.contains(told), "{told}: {prompt}");
    }
    assert!(!prompt.contains('\u{1b}') && !prompt.contains("## trunk"), "{prompt}");
}

#[test]
fn a_filter_that_cannot_be_switched_off_is_not_asked_for() {
    let armed = Armed::new();
    armed.env.write("calc/.git/info/attributes", "*.py filter=a=b\n");
    armed.git(&["config", "filter.a=b.clean", &armed.program("equal")]);
    fs_err::write(armed.env.project().join("calc.py"), "def add(a, b):\n    return a + b\n").unwrap();
    armed.env.run(&["handoff", CLAUDE, "--no-copy"]).success();
    assert_eq!(armed.marks(), [""; 0]);
    assert!(armed.prompt().contains("begin it"), "{}", armed.prompt());
}

#[test]
fn what_a_partial_clone_lacks_is_not_fetched() {
    for (key, url) in [("core.sshCommand", "ssh://localhost/x"), ("ext", "ext::PROGRAM")] {
        let armed = Armed::new();
        let program = armed.program(key);
        let object = armed.git(&["rev-parse", "HEAD:calc.py"]);
        fs_err::remove_file(armed.env.project().join(format!(".git/objects/{}/{}", &object[..2], &object[2..])))
            .unwrap();
        for (key, value) in [
            ("core.repositoryFormatVersion", "1"),
            ("extensions.partialClone", "origin"),
            ("remote.origin.promisor", "true"),
            ("remote.origin.url", &url.replace("PROGRAM", &program)),
            ("core.sshCommand", &program),
            ("protocol.allow", "always"),
        ] {
            armed.git(&["config", key, value]);
        }
        fs_err::write(armed.env.project().join("calc.py"), "def add(a, b):\n    return a + b\n").unwrap();
        for command in COMMANDS {
            armed.env.run(command).success();
            assert_eq!(armed.marks(), [""; 0], "{command:?}");
        }
        armed.env.run(&["handoff", CLAUDE, "--no-copy"]).success();
        assert!(armed.prompt().contains(" M calc.py"), "{}", armed.prompt());
    }
}

/// A folder can be a repository by what it holds, without the name that git gives one; a clone can bring it.
#[test]
fn a_repository_that_a_clone_brings_inside_is_not_taken_for_one() {
    let armed = Armed::new();
    let inner = armed.env.project().join("inner");
    armed.git(&["init", "-q", "--bare", "inner"]);
    armed.git_in(&inner, &["config", "core.bare", "false"]);
    armed.git_in(&inner, &["config", "core.worktree", ".."]);
    armed.git_in(&inner, &["config", "core.fsmonitor", &armed.program("inner")]);
    armed.git_in(&inner, &["symbolic-ref", "HEAD", "refs/heads/planted"]);
    armed.env.run(&["handoff", CLAUDE, "--no-copy", "--project", "inner"]).success();
    assert_eq!(armed.marks(), [""; 0]);
    assert!(!fs_err::read_to_string(inner.join(".carryover/RESUME.md")).unwrap().contains("planted"));
}

#[test]
fn a_repository_elsewhere_is_told_of_only_if_it_belongs_here() {
    let armed = Armed::new();
    let (project, secret) = (armed.env.project(), armed.env.home().join("secret"));
    fs_err::create_dir(&secret).unwrap();
    armed.git_in(&secret, &["init", "-q"]);
    armed.git_in(&secret, &["commit", "-q", "--allow-empty", "-m", "words of another"]);
    let told = || {
        armed.env.run(&["handoff", CLAUDE, "--no-copy"]).success();
        armed.prompt()
    };

    fs_err::write(secret.join("named-elsewhere.txt"), "").unwrap();
    armed.git(&["config", "core.worktree", &secret.display().to_string()]);
    assert!(!told().contains("named-elsewhere"));

    fs_err::rename(project.join(".git"), armed.env.home().join("kept.git")).unwrap();
    fs_err::write(project.join(".git"), format!("gitdir: {}/.git\n", secret.display())).unwrap();
    assert!(!told().contains("words of another"));

    fs_err::remove_file(project.join(".git")).unwrap();
    fs_err::remove_dir_all(project.join(".carryover")).unwrap();
    for entry in fs_err::read_dir(&project).unwrap() {
        fs_err::remove_file(entry.unwrap().path()).unwrap();
    }
    fs_err::remove_dir(&project).unwrap();
    armed.git_in(&secret, &["worktree", "add", "-q", "-b", "linked", &project.display().to_string()]);
    assert!(told().contains("words of another"), "a linked work tree says where it belongs");
}

#[test]
fn a_submodule_is_told_of() {
    let armed = Armed::new();
    let super_project = armed.env.home().join("above");
    fs_err::create_dir(&super_project).unwrap();
    armed.git_in(&super_project, &["init", "-q"]);
    let source = armed.env.project().display().to_string();
    armed.git_in(&super_project, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &source, "part"]);
    let part = super_project.join("part");
    armed.env.run(&["handoff", CLAUDE, "--no-copy", "--project", &part.display().to_string()]).success();
    let prompt = fs_err::read_to_string(part.join(".carryover/RESUME.md")).unwrap();
    assert!(prompt.contains("begin it") && prompt.contains("trunk"), "{prompt}");
}
