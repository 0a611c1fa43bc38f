use super::*;

fn touched_files(tale: &HistoryBuilder) -> Vec<(String, FileChange, Option<TestResult>)> {
    tale.brief().files.into_iter().map(|file| (file.path, file.change, file.tests)).collect()
}

#[test]
fn files_are_told_by_their_net_effect_the_latest_first() {
    let tale = new_history()
        .write("/home/me/shop/new.rs", "fn a() {}")
        .edit("/home/me/shop/old.rs", "a", "b")
        .edit("/home/me/shop/new.rs", "a", "b")
        .write("scratch.py", "x")
        .run("rm scratch.py", 0, "");
    // Whether a file that is written whole was there before, nobody says.
    assert_eq!(
        touched_files(&tale),
        [("new.rs".to_owned(), FileChange::Written, None), ("old.rs".to_owned(), FileChange::Modified, None)]
    );
}

#[test]
fn an_edit_that_failed_changed_nothing() {
    let hunk = Hunk { context: None, old: "a".to_owned(), new: "b".to_owned(), everywhere: false };
    let change = Change::Update { path: "a.rs".to_owned(), moved_to: None, hunks: vec![hunk] };
    let tale = new_history().call("Edit", Action::Edit(vec![change]), Some((Status::Failed, None, "no match")));
    assert!(touched_files(&tale).is_empty());
}

#[test]
fn tests_pass_beside_a_file_only_where_they_name_it_and_ran_after_its_change() {
    let ran = |command: &str| new_history().edit("src/parse.rs", "a", "b").run(command, 0, "1 passed; 0 failed");
    assert_eq!(touched_files(&ran("cargo test parse"))[0].2, Some(TestResult::Passed));
    assert_eq!(touched_files(&ran("cargo test other"))[0].2, None);
    let changed = ran("cargo test parse").edit("src/parse.rs", "b", "c");
    assert_eq!(touched_files(&changed)[0].2, None);
}

#[test]
fn todos_that_an_edit_added_stand_until_they_are_taken_out() {
    let added = || new_history().write("a.rs", "// TODO handle nothing\nlet x = \"TODO\";\n");
    assert_eq!(item_texts(&added().brief().todos), ["a.rs: TODO handle nothing"]);
    let done = added().edit("a.rs", "// TODO handle nothing", "");
    assert!(done.brief().todos.is_empty());
}

#[test]
fn a_line_of_nothing_but_marks_costs_nothing() {
    let brief = new_history().write("a.rs", &format!("// {}", "TODO x ".repeat(40_000))).brief();
    assert!(brief.todos.is_empty());
}

#[test]
fn what_changed_since_is_told() {
    let now = CurrentFile { path: "a.rs".to_owned(), exists: true, modified_at: Some(minute(500)), text: None };
    let gone = CurrentFile { path: "b.rs".to_owned(), exists: false, modified_at: None, text: None };
    let workspace = Workspace { files: vec![now, gone], ..Workspace::default() };
    let brief = new_history().edit("a.rs", "a", "b").edit("b.rs", "a", "b").brief_in(&workspace);
    assert_eq!(
        item_texts(&brief.drift.files),
        [format!("a.rs: changed at {}", minute(500)), "b.rs: is gone".to_owned()]
    );
}

#[test]
fn a_folder_that_is_moved_or_removed_takes_its_files_along() {
    let made = || new_history().write("old/a.rs", "x").edit("kept/b.rs", "x", "y");
    let moved = touched_files(&made().run("mv old new", 0, ""));
    assert_eq!(moved[0], ("new/a.rs".to_owned(), FileChange::Created, None));
    assert_eq!(moved.len(), 2, "{moved:?}");
    let removed = touched_files(&made().run("rm -rf kept", 0, ""));
    assert_eq!(removed[0], ("kept/b.rs".to_owned(), FileChange::Deleted, None));
}

#[test]
fn what_was_moved_away_is_not_deleted_with_its_old_folder() {
    let tale =
        new_history().call("Read", read_action("a/x.nix"), Some((Status::Done, None, "x"))).edit("a/y.nix", "1", "2");
    let tale = tale.run("mkdir -p b/new && mv a/x.nix b/new/ && mv a/y.nix b/new", 0, "").run("rm -rf a", 0, "");
    let told = touched_files(&tale);
    let named: Vec<_> = told.iter().map(|(path, change, _)| (path.as_str(), *change)).collect();
    assert_eq!(
        named,
        [
            ("b/new/y.nix", FileChange::Created),
            ("a/y.nix", FileChange::Moved),
            ("b/new/x.nix", FileChange::Created),
            ("a/x.nix", FileChange::Moved),
        ]
    );
}

#[test]
fn a_folder_goes_into_one_that_is_there() {
    let tale = new_history().edit("hosts/nixos/a.nix", "1", "2").run("mv hosts/nixos lib/hosts/", 0, "");
    assert_eq!(touched_files(&tale)[0].0, "lib/hosts/nixos/a.nix");
}

#[test]
fn a_file_outside_of_the_project_may_be_removed_by_another_name() {
    let tale = new_history().edit("/home/ann/.themes/nord.json", "1", "2").run("rm ~/.themes/nord.json", 0, "");
    assert_eq!(touched_files(&tale), [("/home/ann/.themes/nord.json".to_owned(), FileChange::Deleted, None)]);
}

#[test]
fn a_script_that_rewrites_a_file_is_its_last_edit() {
    let script = "python3 - <<'PY'\nfrom pathlib import Path\np = Path('a.rs')\np.write_text('y')\nPY";
    let tale = new_history().edit("a.rs", "x", "y").edit("b.rs", "x", "y").run(script, 0, "");
    assert_eq!(touched_files(&tale)[0].0, "a.rs");
}

#[test]
fn what_comes_back_after_a_removal_was_changed() {
    let tale = new_history().edit("a.rs", "x", "y").run("rm a.rs", 0, "").write("a.rs", "z");
    assert_eq!(touched_files(&tale), [("a.rs".to_owned(), FileChange::Modified, None)]);
}

#[test]
fn a_call_of_which_nothing_came_back_changed_nothing() {
    let action = Action::Write { path: "a.rs".to_owned(), content: "x".to_owned() };
    assert!(touched_files(&new_history().call("Write", action, None)).is_empty());
    assert!(touched_files(&new_history().run("echo 2 > 1", 0, "")).is_empty(), "a number is no file");
}

#[test]
fn one_file_that_is_named_in_two_ways_is_one() {
    let tale = new_history().edit("back\\db.py", "x", "y").edit("back/db.py", "y", "z");
    assert_eq!(touched_files(&tale), [("back/db.py".to_owned(), FileChange::Modified, None)]);
}

#[test]
fn what_was_cleared_away_before_a_run_is_not_told_as_gone() {
    let cleared = || new_history().run("rm -f log.csv", 0, "");
    assert_eq!(touched_files(&cleared()), [("log.csv".to_owned(), FileChange::Deleted, None)]);
    assert!(touched_files(&cleared().run("python train.py", 0, "epoch 1")).is_empty());
}
