//! The files of a walk: a checkout in the middle of somebody's work, and whether two of them are the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use carryover_testkit::client::{ClientError, Launch, RUN_LIMIT, Sandbox};
use carryover_testkit::lab::SessionPlace;
use carryover_testkit::scenario::WorkTurn;
use fs_err as fs;

/// Makes the repository that everybody clones.
pub(super) fn make_upstream(sandbox: &Sandbox, n_turns: usize) -> Result<(), ClientError> {
    let project = &sandbox.project;
    WorkTurn::write_files(project, n_turns)?;
    fs::write(project.join("notes.txt"), "A project.\n")?;
    fs::write(project.join("gone.txt"), "Not for long.\n")?;
    fs::write(project.join("AGENTS.md"), "Be brief in AgentsWord.\n")?;
    fs::write(project.join("CLAUDE.md"), "Be brief in ClaudeWord.\n")?;
    fs::write(project.join("tool.sh"), "#!/bin/sh\necho ToolWord\n")?;
    make_executable(&project.join("tool.sh"))?;
    make_link("read0.txt", &project.join("data/link.txt"))?;
    run_git(sandbox, &["init", "--quiet", "--initial-branch=main"])?;
    commit_all(sandbox, "Begin")
}

/// Clones it: what somebody has who receives a capsule.
pub(super) fn clone_upstream(upstream: &Sandbox, sandbox: &Sandbox) -> Result<(), ClientError> {
    let (from, to) = (upstream.project.display().to_string(), sandbox.project.display().to_string());
    run_git(upstream, &["clone", "--quiet", &from, &to])?;
    Ok(())
}

/// Changes files in every way that git tells apart: staged, changed, both, deleted, new, executable, links.
pub(super) fn change_files(sandbox: &Sandbox) -> Result<(), ClientError> {
    let project = &sandbox.project;
    fs::write(project.join("notes.txt"), "A project, staged.\n")?;
    fs::write(project.join("staged.txt"), "Staged and new.\n")?;
    run_git(sandbox, &["add", "notes.txt", "staged.txt"])?;
    fs::write(project.join("notes.txt"), "A project, staged and changed again.\n")?;
    fs::remove_file(project.join("gone.txt"))?;
    fs::create_dir_all(project.join("new folder"))?;
    fs::write(project.join("new folder/\u{e4}\u{20ac} new.txt"), [b"bytes \xff\0".as_slice(), b"here\n"].concat())?;
    fs::write(project.join("new folder/run.sh"), "#!/bin/sh\n")?;
    make_executable(&project.join("new folder/run.sh"))?;
    make_link("../notes.txt", &project.join("new folder/link"))?;
    Ok(())
}

fn commit_all(sandbox: &Sandbox, message: &str) -> Result<(), ClientError> {
    run_git(sandbox, &["add", "--all"])?;
    let names = ["-c", "user.name=Lab", "-c", "user.email=lab@example.invalid"];
    run_git(sandbox, &[&names[..], &["commit", "--quiet", "-m", message]].concat())?;
    Ok(())
}

fn run_git(sandbox: &Sandbox, args: &[&str]) -> Result<String, ClientError> {
    let git = Launch::new("git", &sandbox.project).env(sandbox.base_env(&[]));
    Ok(git.args(args.iter().copied()).run_to_success(RUN_LIMIT)?.stdout)
}

/// How two workspaces differ, one line each; and how many files were compared. What a client keeps of its session beside
/// the work is no part of it.
pub(super) fn compare_workspaces(
    one: &Sandbox,
    other: &Sandbox,
    sessions: SessionPlace,
) -> Result<(Vec<String>, usize), ClientError> {
    let (here, there) = (read_files(one, sessions)?, read_files(other, sessions)?);
    let names: BTreeSet<&String> = here.keys().chain(there.keys()).collect();
    let describe = |file: Option<&FileState>| file.map_or_else(|| "is not there".to_owned(), FileState::describe);
    let differing = names.iter().filter(|name| here.get(**name) != there.get(**name));
    let mut findings: Vec<String> = differing
        .map(|name| format!("{name}: here {}, there {}", describe(here.get(*name)), describe(there.get(*name))))
        .collect();
    // The state of the index, which the files do not show: modes and digests of what is staged.
    for args in [
        &["ls-files", "--stage"][..],
        &["status", "--short", "--branch", "--untracked-files=all"],
        &["log", "--oneline"],
    ] {
        let ask = |sandbox: &Sandbox| Ok::<_, ClientError>(without_sessions(&run_git(sandbox, args)?, sessions));
        let (here, there) = (ask(one)?, ask(other)?);
        if here != there {
            findings.push(format!("git {} says here {here:?}, there {there:?}", args.join(" ")));
        }
    }
    Ok((findings, here.len()))
}

fn without_sessions(text: &str, sessions: SessionPlace) -> String {
    let is_session = |line: &&str| line.split_whitespace().last().is_some_and(|path| is_session_name(path, sessions));
    text.lines().filter(|line| !is_session(line)).collect::<Vec<_>>().join("\n")
}

fn is_session_name(path: &str, sessions: SessionPlace) -> bool {
    matches!(sessions, SessionPlace::Project { prefix } if path.starts_with(prefix))
}

/// A file as everybody sees it.
#[derive(PartialEq, Eq)]
struct FileState {
    kind: &'static str,
    mode: u32,
    content: Vec<u8>,
}

impl FileState {
    fn describe(&self) -> String {
        let shown: String = String::from_utf8_lossy(&self.content).chars().take(60).collect();
        format!("is a {} ({:o}) of {} bytes: {shown:?}", self.kind, self.mode, self.content.len())
    }
}

fn read_files(sandbox: &Sandbox, sessions: SessionPlace) -> Result<BTreeMap<String, FileState>, ClientError> {
    let mut files = BTreeMap::new();
    read_folder(&sandbox.project, "", sessions, &mut files)?;
    Ok(files)
}

fn read_folder(
    folder: &Path,
    below: &str,
    sessions: SessionPlace,
    files: &mut BTreeMap<String, FileState>,
) -> Result<(), ClientError> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{below}{}", entry.file_name().to_string_lossy());
        // Git's own is compared by what git says of it.
        if name == ".git" || is_session_name(&name, sessions) {
            continue;
        }
        let (path, kind) = (entry.path(), entry.file_type()?);
        let (kind, content) = if kind.is_symlink() {
            ("link", fs::read_link(&path)?.to_string_lossy().into_owned().into_bytes())
        } else if kind.is_dir() {
            read_folder(&path, &format!("{name}/"), sessions, files)?;
            ("folder", Vec::new())
        } else {
            ("file", fs::read(&path)?)
        };
        files.insert(name, FileState { kind, mode: read_mode(&path)?, content });
    }
    Ok(())
}

#[cfg(unix)]
fn read_mode(path: &Path) -> Result<u32, ClientError> {
    Ok(std::os::unix::fs::MetadataExt::mode(&fs::symlink_metadata(path)?) & 0o7777)
}

#[cfg(not(unix))]
fn read_mode(_path: &Path) -> Result<u32, ClientError> {
    Ok(0)
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<(), ClientError> {
    Ok(fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<(), ClientError> {
    Ok(())
}

#[cfg(unix)]
fn make_link(target: &str, path: &Path) -> Result<(), ClientError> {
    Ok(fs_err::os::unix::fs::symlink(target, path)?)
}

#[cfg(not(unix))]
fn make_link(target: &str, path: &Path) -> Result<(), ClientError> {
    Ok(fs::write(path, target)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_sandbox(folder: &Path, name: &str) -> Sandbox {
        let sandbox = Sandbox { home: folder.join(name).join("home"), project: folder.join(name).join("project") };
        fs::create_dir_all(&sandbox.home).unwrap();
        sandbox
    }

    #[test]
    fn equal_workspaces_are_equal_and_every_difference_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let [upstream, one, other] = ["up", "one", "other"].map(|name| make_sandbox(folder.path(), name));
        make_upstream(&upstream, 1).unwrap();
        for sandbox in [&one, &other] {
            clone_upstream(&upstream, sandbox).unwrap();
            change_files(sandbox).unwrap();
        }
        let place = SessionPlace::Project { prefix: ".chat" };
        fs::write(other.project.join(".chat.md"), "kept with the work").unwrap();
        let (findings, n_files) = compare_workspaces(&one, &other, place).unwrap();
        assert_eq!(findings, Vec::<String>::new());
        assert!(n_files > 10, "{n_files}");

        run_git(&other, &["reset", "--quiet", "staged.txt"]).unwrap();
        make_executable(&other.project.join("notes.txt")).unwrap();
        fs::remove_file(other.project.join("new folder/link")).unwrap();
        make_link("../tool.sh", &other.project.join("new folder/link")).unwrap();
        let (findings, _) = compare_workspaces(&one, &other, place).unwrap();
        let is_told = |words: &str| findings.iter().any(|finding| finding.starts_with(words));
        assert!(is_told("notes.txt: ") && is_told("new folder/link: ") && is_told("git ls-files"), "{findings:?}");
    }
}
