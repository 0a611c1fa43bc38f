//! Files of an import, taken back: exactly those that it wrote, and none that somebody has made or changed.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::TestEnv;
use crate::test_capsule::{env_with_git, export, git, make_repository, tree};

/// Work of somebody's in the folder.
type Change = fn(&Path);

struct Import {
    env: TestEnv,
    folder: PathBuf,
    id: String,
}

impl Import {
    fn undo(&self, more: &[&str]) -> Value {
        self.env.json("undo", &[&["undo", self.id.as_str()], more].concat())
    }

    /// Refuses, and says why; nothing is otherwise than it was.
    fn check_refused(&self, reason: &str) {
        let before = self.env.files();
        let said = self.env.run(&["undo", &self.id, "--files"]);
        assert!(
            said.code == Some(3) && said.stderr.contains(reason) && said.stderr.contains("hint:"),
            "{reason}: {said}"
        );
        assert!(self.env.files() == before, "{said}");
    }
}

fn capsule(mode: &str) -> (TestEnv, PathBuf) {
    let sender = env_with_git();
    make_repository(&sender);
    let (capsule, _) = export(&sender, "a.tar.zst", &["--files", mode]);
    (sender, capsule)
}

fn import(env: TestEnv, capsule: &Path, folder: PathBuf) -> Import {
    let args = ["import", capsule.to_str().unwrap(), "--project", folder.to_str().unwrap()];
    let told = env.json("import", &args);
    assert_eq!(told["workspace"]["outcome"], "restored");
    Import { id: told["resume"]["undo_id"].as_str().unwrap().to_owned(), env, folder }
}

fn receiver() -> TestEnv {
    TestEnv::new().var("PATH", "/usr/bin:/bin")
}

fn import_into_missing() -> Import {
    let (_sender, capsule) = capsule("full");
    let env = receiver();
    let folder = env.home().join("work/deep/fix");
    import(env, &capsule, folder)
}

/// A clean checkout of the sender's commit.
fn clone(sender: &TestEnv) -> (TestEnv, PathBuf) {
    let env = receiver();
    let folder = env.home().join("clone");
    git(&env.home(), &["clone", "-q", sender.project().to_str().unwrap(), folder.to_str().unwrap()]);
    (env, folder)
}

fn import_into_checkout() -> Import {
    let (sender, capsule) = capsule("changed");
    let (env, folder) = clone(&sender);
    import(env, &capsule, folder)
}

#[test]
fn files_stay_and_are_told_and_go_where_that_is_asked_for() {
    let import = import_into_missing();
    let listed = import.env.json("undo-list", &["undo", "--list"]);
    assert_eq!(listed["resumes"].as_array().unwrap().len(), 1);
    assert_eq!(listed["resumes"][0]["files"]["folder"], import.folder.to_str().unwrap());
    let said = import.env.run(&["undo"]).success();
    assert!(said.stderr.contains("kept    12 files in ~/work/deep/fix"), "{said}");
    assert!(
        said.stderr.contains(&format!("hint: `carryover undo {} --files` takes them back, too", import.id)),
        "{said}"
    );
    assert!(import.folder.join("kept.txt").exists() && !import.env.home().join(".claude").exists());
    let said = import.env.run(&["undo", &import.id, "--files"]).success();
    assert!(said.stderr.contains("removed 12 files in ~/work/deep/fix, and the folder"), "{said}");
    // With the folders above it, which were made for it.
    assert!(import.env.files().is_empty() && !import.env.home().join("work").exists());
    assert_eq!(import.env.run(&["undo", &import.id, "--files"]).code, Some(2));
}

#[test]
fn session_and_files_go_at_once() {
    let import = import_into_missing();
    let told = import.env.json("undo", &["undo", "--files"]);
    assert_eq!((&told["taken_files"]["removed"], &told["taken_files"]["folder_removed"]), (&json!(12), &json!(true)));
    assert!(import.env.files().is_empty() && !import.env.home().join("work").exists());
    assert_eq!(import.env.json("undo-list", &["undo", "--list"])["resumes"], json!([]));
}

#[test]
fn folder_that_was_there_and_empty_stays() {
    let (_sender, capsule) = capsule("full");
    let env = receiver();
    let folder = env.project();
    let import = import(env, &capsule, folder);
    import.undo(&["--files"]);
    assert_eq!(fs_err::read_dir(&import.folder).unwrap().count(), 0);
}

#[test]
fn files_that_somebody_changed_or_made_are_never_removed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let changes: [(&str, Change); 4] = [
        ("edited.txt", |folder| fs_err::write(folder.join("edited.txt"), "mine\n").unwrap()),
        ("run.sh", |folder| {
            fs_err::set_permissions(folder.join("run.sh"), std::fs::Permissions::from_mode(0o700)).unwrap();
        }),
        ("link", |folder| {
            fs_err::remove_file(folder.join("link")).unwrap();
            symlink("edited.txt", folder.join("link")).unwrap();
        }),
        // Behind a link, the same bytes are another file.
        ("new/deep/file.txt", |folder| {
            fs_err::rename(folder.join("new"), folder.with_file_name("moved")).unwrap();
            symlink(folder.with_file_name("moved"), folder.join("new")).unwrap();
        }),
    ];
    for (path, change) in changes {
        let import = import_into_missing();
        change(&import.folder);
        fs_err::write(import.folder.join("mine.txt"), "mine").unwrap();
        import.check_refused(&format!("1 of the files that it wrote in {} have been changed", "[HOME]/work/deep/fix"));
        let kept = tree(&import.folder);
        let output = import.env.command(&["undo", &import.id, "--files", "--force", "--json"]).output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("{path} was changed since it was written")));
        assert_eq!((&told["taken_files"]["left"], &told["taken_files"]["removed"]), (&json!([path]), &json!(11)));
        let now = tree(&import.folder);
        let names: Vec<&str> = now.iter().filter_map(|(name, ..)| name.to_str()).collect();
        let stays = path.strip_suffix("/deep/file.txt").unwrap_or(path);
        let mut expected = [stays, "mine.txt"];
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert!(now.iter().all(|file| kept.contains(file)));
        assert!(path != "new/deep/file.txt" || import.folder.with_file_name("moved").join("deep/file.txt").exists());
    }
}

#[test]
fn checkout_is_as_it_was_with_its_index() {
    for mode in ["changed", "full"] {
        let (sender, capsule) = capsule(mode);
        let (env, folder) = clone(&sender);
        let state = |folder: &Path| {
            let status = git(folder, &["status", "--porcelain=v2", "--untracked-files=all", "--ignored"]);
            (status, git(folder, &["ls-files", "--stage", "-v"]), tree(folder))
        };
        let before = state(&folder);
        assert_eq!(before.0, "");
        let import = import(env, &capsule, folder.clone());
        assert!(state(&folder) != before);
        // Other work in it, staged or not, is not ours to look at.
        fs_err::write(folder.join("mine.txt"), "mine").unwrap();
        let told = import.undo(&["--files"]);
        assert_eq!(told["taken_files"]["left"], json!([]));
        assert_eq!(fs_err::read_to_string(folder.join("mine.txt")).unwrap(), "mine");
        fs_err::remove_file(folder.join("mine.txt")).unwrap();
        let now = state(&folder);
        assert_eq!((&now.0, &now.1), (&before.0, &before.1), "{mode}");
        assert!(now.2 == before.2, "{mode}");
        assert!(!folder.join("new").exists());
    }
}

#[test]
fn checkout_in_which_somebody_went_on_is_left_alone() {
    let go_on: [(&str, &[&str]); 3] = [
        ("have been changed since", &["add", "edited.txt"]),
        ("have been changed since", &["rm", "-q", "--cached", "kept.txt", "edited.txt"]),
        ("was at commit", &["commit", "-q", "-m", "mine", "--allow-empty"]),
    ];
    for (reason, args) in go_on {
        let import = import_into_checkout();
        git(&import.folder, args);
        let staged = git(&import.folder, &["ls-files", "--stage"]);
        import.check_refused(reason);
        assert_eq!(git(&import.folder, &["ls-files", "--stage"]), staged);
    }
    let import = import_into_checkout();
    fs_err::write(import.folder.join("gone.txt"), "mine").unwrap();
    import.check_refused("gone.txt among them");
}

#[test]
fn what_git_does_not_have_is_written_over_only_if_asked_for_and_comes_back() {
    let (sender, capsule) = capsule("full");
    let (env, folder) = clone(&sender);
    fs_err::write(folder.join(".git/info/exclude"), "added.txt\n").unwrap();
    fs_err::write(folder.join("added.txt"), "mine, and ignored\n").unwrap();
    let (before, args) = (env.files(), ["import", capsule.to_str().unwrap(), "--project", folder.to_str().unwrap()]);
    let said = env.run(&args);
    let reason = "would be written over or deleted, and git does not have it";
    assert!(said.code == Some(3) && said.stderr.contains("added.txt in [HOME]/clone"), "{said}");
    assert!(said.stderr.contains(reason) && said.stderr.contains("--force"), "{said}");
    let kept: Vec<_> =
        env.files().into_iter().filter(|file| !file.0.starts_with(env.home().join(".carryover"))).collect();
    assert!(kept == before, "{said}");
    let told = env.json("import", &[&args[..], &["--force"]].concat());
    assert_eq!(fs_err::read_to_string(folder.join("added.txt")).unwrap(), "new and staged\n");
    env.run(&["undo", told["resume"]["undo_id"].as_str().unwrap(), "--files"]).success();
    assert_eq!(fs_err::read_to_string(folder.join("added.txt")).unwrap(), "mine, and ignored\n");
    assert!(
        !env.home()
            .join(".carryover/resumes")
            .read_dir()
            .unwrap()
            .any(|kept| { kept.unwrap().file_name().to_string_lossy().contains(".workspace") })
    );
}

#[test]
fn checkout_that_git_writes_in_its_own_way_is_as_it_was() {
    let (sender, capsule) = capsule("changed");
    let env = receiver();
    let folder = env.home().join("clone");
    let (from, to) = (sender.project().display().to_string(), folder.display().to_string());
    git(&env.home(), &["-c", "core.autocrlf=true", "clone", "-q", "--config", "core.autocrlf=true", &from, &to]);
    let before = (tree(&folder), git(&folder, &["ls-files", "--stage"]));
    assert!(before.0.iter().any(|(_, _, bytes)| bytes.ends_with(b"\r\n")));
    let import = import(env, &capsule, folder.clone());
    assert!(tree(&folder) != before.0);
    import.env.run(&["undo", &import.id, "--files"]).success();
    assert!((tree(&folder), git(&folder, &["ls-files", "--stage"])) == before);
}

#[test]
fn files_that_were_written_over_others_or_were_there_are_not_taken_back() {
    let (_sender, capsule) = capsule("full");
    let env = receiver();
    env.write("calc/kept.txt", "mine\n");
    let told = env.json("import", &["import", capsule.to_str().unwrap(), "--force"]);
    let id = told["resume"]["undo_id"].as_str().unwrap();
    let said = env.run(&["undo", id, "--files"]);
    assert!(
        said.code == Some(3) && said.stderr.contains("has put no files into a folder that could be taken back"),
        "{said}"
    );
    assert!(env.home().join(".claude").exists());
    let told = env.json("undo", &["undo", id]);
    assert_eq!((&told["kept_files"], env.project().join("added.txt").exists()), (&Value::Null, true));
}

#[test]
fn files_are_those_of_the_session_that_goes_on_among_them() {
    let (_sender, capsule) = capsule("full");
    let env = receiver();
    let folder = env.home().join("work");
    let first = import(env, &capsule, folder.clone());
    first.undo(&[]);
    let env = first.env.var("CARRYOVER_SEED", "90000000000000000000000000000000000000");
    let args = ["import", capsule.to_str().unwrap(), "--project", folder.to_str().unwrap()];
    let again = env.json("import", &args);
    assert_eq!(again["workspace"]["outcome"], "same");
    env.run(&["undo", "--files"]).success();
    assert!(!folder.exists());
}

#[test]
fn import_whose_session_cannot_be_written_leaves_no_files() {
    let (sender, capsule) = capsule("changed");
    let (env, folder) = clone(&sender);
    let before = (env.files(), git(&folder, &["ls-files", "--stage"]));
    // Its store cannot be made.
    env.write(".claude", "in the way");
    let said = env.run(&["import", capsule.to_str().unwrap(), "--project", folder.to_str().unwrap()]);
    assert_eq!(said.code, Some(3), "{said}");
    fs_err::remove_file(env.home().join(".claude")).unwrap();
    let now = (env.files(), git(&folder, &["ls-files", "--stage"]));
    let other: Vec<&PathBuf> = now
        .0
        .iter()
        .filter(|file| !before.0.contains(file))
        .map(|(path, _)| path)
        .filter(|path| !path.ends_with(".git/index"))
        .collect();
    assert!(other.iter().all(|path| path.starts_with(folder.join(".git/objects"))), "{other:?}");
    assert_eq!(now.1, before.1);
    assert_eq!(git(&folder, &["status", "--porcelain"]), "");
}

#[test]
fn import_that_meets_a_full_disk_leaves_nothing() {
    let sender = env_with_git();
    sender.write("calc/a-small.txt", "small\n");
    sender.write("calc/b-large.bin", &"large ".repeat(100_000));
    let (capsule, _) = export(&sender, "a.tar.zst", &[]);
    let env = receiver();
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -f 200; exec \"$@\"", "bash"]).arg(env!("CARGO_BIN_EXE_carryover"));
    command.args(["import", capsule.to_str().unwrap(), "--project", "work/new"]).current_dir(env.project());
    command.env_clear().env("HOME", env.home()).env("PATH", "/usr/bin:/bin");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(env.files().is_empty() && !env.project().join("work").exists());
}

/// A path as it is noted: bytes that are no text stand as digits.
fn decode(path: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut parts = path.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend(part[2..].bytes());
    }
    std::ffi::OsString::from_vec(bytes).into()
}

/// Makes of an import one that was killed just before its end.
fn break_off(import: &Import) -> String {
    use std::os::unix::fs::MetadataExt;
    import.undo(&[]);
    let resumes = import.env.home().join(".carryover/resumes");
    let mut journals = fs_err::read_dir(&resumes).unwrap().map(|file| file.unwrap().path());
    let named = |path: &PathBuf| path.to_string_lossy().ends_with(".workspace.json");
    let list = journals.find(named).unwrap();
    let id = list.file_name().unwrap().to_str().unwrap().strip_suffix(".workspace.json").unwrap().to_owned();
    let journal = resumes.join(format!("{id}.json"));
    let text = fs_err::read_to_string(&journal).unwrap().replace("\"state\": \"done\"", "\"state\": \"writing\"");
    fs_err::write(&journal, text).unwrap();
    let noted: Value = serde_json::from_str(&fs_err::read_to_string(&list).unwrap()).unwrap();
    let mut lines = String::new();
    for path in noted["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()) {
        let Ok(there) = fs_err::symlink_metadata(import.folder.join(decode(path))) else { continue };
        let line = json!({
            "path": path, "device": there.dev(), "inode": there.ino(), "changed_seconds": there.ctime(),
            "changed_nanos": there.ctime_nsec(),
        });
        lines.push_str(&line.to_string());
        lines.push('\n');
    }
    fs_err::write(resumes.join(format!("{id}.workspace.placed")), lines).unwrap();
    import.env.write(
        ".codex/sessions/2026/11/15/rollout-2026-11-15T08-10-00-01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8.jsonl",
        include_str!("../../demo/codex.jsonl"),
    );
    id
}

fn run_next_command(import: &Import) {
    let next = import.env.run(&["resume", "01a1dcb4", "--target", "claude-code", "--project", "."]).success();
    assert!(next.stderr.contains("was cut short and was taken back"), "{next}");
}

/// Everything that a kill can leave: files in their place, one on its way, others missing.
#[test]
fn import_that_was_killed_is_taken_back_by_the_next_command() {
    for import in [import_into_missing(), import_into_checkout()] {
        let is_checkout = import.folder.ends_with("clone");
        let id = break_off(&import);
        if is_checkout {
            git(&import.folder, &["reset", "-q"]);
            git(&import.folder, &["checkout", "-q", "edited.txt", "gone.txt"]);
        } else {
            fs_err::remove_file(import.folder.join("kept.txt")).unwrap();
        }
        fs_err::write(import.folder.join(format!(".carryover-{id}-x.tmp")), "half").unwrap();
        fs_err::write(import.folder.join("mine.txt"), "mine").unwrap();
        run_next_command(&import);
        assert_eq!(fs_err::read_to_string(import.folder.join("mine.txt")).unwrap(), "mine");
        if is_checkout {
            assert_eq!(git(&import.folder, &["status", "--porcelain"]), "?? mine.txt\n");
        } else {
            assert_eq!(fs_err::read_dir(&import.folder).unwrap().count(), 1);
        }
    }
}

#[test]
fn files_that_somebody_put_there_after_a_kill_are_his_though_they_are_the_same() {
    let import = import_into_missing();
    break_off(&import);
    let copy = import.env.home().join("copy");
    Command::new("cp").args(["-a", import.folder.to_str().unwrap(), copy.to_str().unwrap()]).status().unwrap();
    fs_err::remove_dir_all(&import.folder).unwrap();
    Command::new("cp").args(["-a", copy.to_str().unwrap(), import.folder.to_str().unwrap()]).status().unwrap();
    let before = tree(&import.folder);
    run_next_command(&import);
    assert!(tree(&import.folder) == before);
}

#[test]
fn files_that_are_left_of_an_import_are_listed_and_can_still_go() {
    let import = import_into_missing();
    import.env.run(&["undo", &import.id]).success();
    let listed = import.env.json("undo-list", &["undo", "--list"]);
    let row = &listed["resumes"][0];
    assert_eq!((&row["undo_id"], &row["removes"], &row["files"]["files"]), (&json!(import.id), &json!([]), &json!(12)));
    // Its session is gone already, and no hint says otherwise.
    let said = import.env.run(&["undo", &import.id]);
    assert!(said.code == Some(2) && said.stderr.contains("was taken back already; 12 of its files are in"), "{said}");
    assert!(said.stderr.contains(&format!("`carryover undo {} --files` takes them back", import.id)), "{said}");
    fs_err::write(import.folder.join("edited.txt"), "mine").unwrap();
    let said = import.env.run(&["undo", &import.id, "--files"]);
    assert!(said.code == Some(3) && !said.stderr.contains("takes the session back"), "{said}");
    assert_eq!(import.env.run(&["undo"]).code, Some(2));
}

#[test]
fn files_that_later_sessions_use_stay_unless_they_are_forced() {
    let first = import_into_missing();
    let capsule = first.env.home().join("a.tar.zst");
    let (_sender, made) = self::capsule("full");
    fs_err::copy(made, &capsule).unwrap();
    let Import { env, folder, id } = first;
    let env = env.var("CARRYOVER_SEED", "2000000");
    let args = ["import", capsule.to_str().unwrap(), "--project", folder.to_str().unwrap(), "--target", "codex"];
    let second = env.json("import", &args);
    let said = env.run(&["undo", &id, "--files"]);
    assert!(said.code == Some(3) && said.stderr.contains("a later session goes on in"), "{said}");
    assert!(said.stderr.contains(second["resume"]["session_id"].as_str().unwrap()), "{said}");
    assert!(folder.join("kept.txt").exists());
    env.run(&["undo", &id, "--files", "--force"]).success();
    assert!(!folder.exists());
}
