use super::telling::{at, telling};
use super::texts;
use crate::distill::{Brief, Commit, Deed, FileChange, Git, TestState};
use crate::transcript::Action;

fn told(brief: &Brief) -> Vec<(&str, FileChange)> {
    brief.files.iter().map(|file| (file.path.as_str(), file.change)).collect()
}

#[test]
fn the_last_word_on_a_file_wins() {
    let brief = telling()
        .user("Go")
        .read("/p/src/a.rs")
        .write("/p/src/new.rs", "fn one() {}")
        .edit("/p/src/a.rs", "x", "y", 0)
        .edit("/p/src/new.rs", "one", "two", 0)
        .read("/p/src/a.rs")
        .read("/etc/hosts")
        .edit("/p/src/bad.rs", "x", "y", 1)
        .run("cd /p && rm src/old.rs && git mv src/b.rs src/c.rs && rm -rf target", 0, "")
        .run("cat > notes.md <<'EOF'\n# Notes\nEOF", 0, "")
        .run("sed -i s/a/b/ conf.toml && echo hi > /tmp/x.txt", 0, "")
        .brief();
    assert_eq!(
        told(&brief),
        [
            ("conf.toml", FileChange::Modified),
            ("notes.md", FileChange::Created),
            ("src/c.rs", FileChange::Created),
            ("src/b.rs", FileChange::Deleted),
            ("src/old.rs", FileChange::Deleted),
            ("/etc/hosts", FileChange::Read),
            ("src/new.rs", FileChange::Created),
            ("src/a.rs", FileChange::Modified),
        ]
    );
}

#[test]
fn symbols_are_those_at_the_changes() {
    for (path, text, new, wanted) in [
        (
            "/p/a.rs",
            "struct S;\nimpl S {\n    fn one(&self) -> u8 { 1 }\n    fn two(&self) -> u8 { 2 }\n}\nfn free() {}\n",
            "{ 2 }",
            "S::two",
        ),
        (
            "/p/a.py",
            "class A:\n    def one(self):\n        return 1\n\n    def two(self):\n        return 22\n",
            "return 22",
            "A.two",
        ),
        (
            "/p/a.ts",
            "class A { one() { return 1 } }\nexport const two = (x: number) => { return 22 }\n",
            "return 22",
            "two",
        ),
        ("/p/a.tsx", "export function View() { return <b>hello there</b> }\n", "hello there", "View"),
        ("/p/a.js", "function one() { return 1 }\nfunction two() { return 22 }\n", "return 22", "two"),
        ("/p/a.go", "package a\nfunc (s *S) Two() int { return 22 }\n", "return 22", "Two"),
        ("/p/A.java", "class A { int one() { return 1; } int two() { return 22; } }\n", "return 22", "A.two"),
        ("/p/a.c", "int one(void) { return 1; }\nstatic char *two(int x) { return 22; }\n", "return 22", "two"),
        ("/p/a.cpp", "namespace n { class A { int two() { return 22; } }; }\n", "return 22", "A::two"),
    ] {
        let brief = telling().user("Go").edit(path, "old", new, 0).file(path, Some(at(1)), Some(text)).brief();
        assert_eq!(brief.files[0].symbols, [wanted], "{path}");
    }
    let brief =
        telling().user("Go").write("/p/a.py", "def f():\n    pass\n\nclass B:\n    def g(self): pass\n").brief();
    assert_eq!(brief.files[0].symbols, ["f", "B.g"]);
    // Without the file as it is now, the changed lines themselves are read.
    let brief = telling().user("Go").edit("/p/a.rs", "x", "fn fresh() -> u8 {\n    3\n}", 0).brief();
    assert_eq!(brief.files[0].symbols, ["fresh"]);
}

#[test]
fn tests_that_name_a_file_tell_its_state() {
    let output =
        "FAIL src/cart.test.ts\n  ● adds items\nPASS src/user.test.ts\nTests:       1 failed, 4 passed, 5 total";
    let brief = telling()
        .user("Go")
        .edit("/p/src/cart.ts", "a", "b", 0)
        .edit("/p/src/user.ts", "a", "b", 0)
        .edit("/p/src/none.ts", "a", "b", 0)
        .run("npx jest", 1, output)
        .brief();
    let states: Vec<_> = brief.files.iter().map(|file| (file.path.as_str(), file.tests)).collect();
    assert_eq!(
        states,
        [("src/none.ts", None), ("src/user.ts", Some(TestState::Passing)), ("src/cart.ts", Some(TestState::Failing))]
    );
}

#[test]
fn drift_is_what_changed_after_the_session_saw_it() {
    let commit = |id: &str, minute: i64| Commit {
        id: id.to_owned(),
        at: at(minute),
        author: "A".to_owned(),
        subject: id.to_owned(),
        files: Vec::new(),
    };
    let git = Git { log: vec![commit("late", 90), commit("mine", 1), commit("early", -5)], ..Git::default() };
    let brief = telling()
        .user("Go")
        .write("/p/same.rs", "fn a() {}\n")
        .edit("/p/changed.rs", "a", "b", 0)
        .edit("/p/gone.rs", "a", "b", 0)
        .edit("/p/kept.rs", "a", "b", 0)
        .git(git)
        .file("/p/same.rs", Some(at(50)), Some("fn a() {}\n"))
        .file("/p/changed.rs", Some(at(50)), Some("c"))
        .file("/p/gone.rs", None, None)
        .file("/p/kept.rs", Some(at(4)), Some("b"))
        .brief();
    let files = texts(&brief.drift.files);
    assert!(
        files[0].starts_with("changed.rs: changed at 2023-") && files[1] == "gone.rs: is gone" && files.len() == 2,
        "{files:?}"
    );
    let ids = |commits: &[Commit]| commits.iter().map(|commit| commit.id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(&brief.drift.commits), ids(&brief.commits)), (vec!["late".to_owned()], vec!["mine".to_owned()]));
}

#[test]
fn references_are_named_once() {
    let brief = telling()
        .user("See https://example.org/spec(v2). Fixes #42, and read design.pdf (or acme/api#7, PAY-1234).")
        .agent("Read https://example.org/spec(v2), color #123456 and UTF-8 are none.")
        .brief();
    assert_eq!(
        texts(&brief.references),
        ["https://example.org/spec(v2)", "#42", "acme/api#7", "PAY-1234", "design.pdf"]
    );
}

#[test]
fn references_are_named_without_escapes() {
    let text = "Read \u{1b}]0;x\u{7}paper\u{1b}[31m.pdf and \u{9b}31mold.docx, \u{202e}acme/api#7";
    let fetched = Deed::Call { tool: "Fetch".into(), action: Action::Fetch { url: text.into() }, ended: None };
    for told in [telling().user(text), telling().user("Go").agent(text), telling().user("Go").deed(fetched)] {
        assert_eq!(texts(&told.brief().references), ["acme/api#7", "paper.pdf", "old.docx"]);
    }
}

#[test]
fn references_are_told_in_the_order_in_which_they_came() {
    let fetch = |url: &str| Deed::Call { tool: "Fetch".into(), action: Action::Fetch { url: url.into() }, ended: None };
    let brief = telling()
        .user("See https://a.org/1")
        .deed(fetch("https://b.org/2"))
        .agent("It links to https://c.org/3")
        .deed(fetch("https://d.org/4"))
        .brief();
    assert_eq!(texts(&brief.references), ["https://a.org/1", "https://b.org/2", "https://c.org/3", "https://d.org/4"]);
}

#[test]
fn commits_are_known_by_the_command_and_by_what_it_said() {
    let brief = telling()
        .user("Fix it")
        .run(
            "git add -A && git commit -m 'parser: accept tabs'",
            0,
            "[main 1a2b3c4] parser: accept tabs\n 1 file changed",
        )
        .run("git log --oneline", 0, "1a2b3c4 parser: accept tabs")
        .brief();
    assert_eq!(texts(&brief.done), ["committed: parser: accept tabs"]);
    let commits: Vec<(&str, &str)> = brief.commits.iter().map(|one| (one.id.as_str(), one.subject.as_str())).collect();
    assert_eq!(commits, [("1a2b3c4", "parser: accept tabs")]);
}

#[test]
fn files_of_a_session_that_goes_on_elsewhere_are_seen_from_its_own_project() {
    let brief = telling()
        .project("/old/p")
        .user("Go")
        .write("/old/p/src/new.rs", "fn one() {}")
        .read("/old/p/src/a.rs")
        .run("cd /old/p/docs && touch guide.md", 0, "")
        .read("/old/other/b.rs")
        .file("/old/p/src/new.rs", Some(at(500)), Some("fn other() {}"))
        .file("/old/p/src/a.rs", None, None)
        .brief();
    assert_eq!(
        told(&brief),
        [
            ("/old/other/b.rs", FileChange::Read),
            ("docs/guide.md", FileChange::Created),
            ("src/a.rs", FileChange::Read),
            ("src/new.rs", FileChange::Created),
        ]
    );
    assert_eq!(brief.files[3].symbols, ["other"]);
    let drift = texts(&brief.drift.files);
    assert!(drift[0].starts_with("src/new.rs: changed at "), "{drift:?}");
    assert_eq!(drift[1], "src/a.rs: is gone");
}

#[test]
fn a_command_alone_tells_what_it_does_to_files() {
    for (command, change) in [
        ("rm a.rs", FileChange::Deleted),
        ("git rm a.rs", FileChange::Deleted),
        ("mv x.rs a.rs", FileChange::Created),
        ("cp x.rs a.rs", FileChange::Created),
        ("touch a.rs", FileChange::Created),
        ("tee a.rs", FileChange::Created),
        ("sed -i s/x/y/ a.rs", FileChange::Modified),
        ("perl -pi -e s/x/y/ a.rs", FileChange::Modified),
        ("cat x > a.rs", FileChange::Created),
        ("echo x > a.rs", FileChange::Created),
        ("printf x >> a.rs", FileChange::Modified),
        ("jq . x > a.rs", FileChange::Created),
    ] {
        let brief = telling().user("Go").run(command, 0, "").brief();
        assert!(told(&brief).contains(&("a.rs", change)), "{command}: {:?}", told(&brief));
    }
}
