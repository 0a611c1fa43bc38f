use crate::support::TestEnv;

#[test]
fn the_demo_runs_without_any_agent_and_leaves_nothing() {
    let env = TestEnv::new();
    let temporary = env.home().join("tmp");
    fs_err::create_dir_all(&temporary).unwrap();
    let env = env.var("TMPDIR", &temporary.display().to_string());
    let before = env.files();
    let said = env.run(&["demo"]).success();
    for word in ["$ carryover detect", "$ carryover undo", "codex resume ", "claude --resume ", "took back"] {
        assert!(said.stdout.contains(word), "{word}\n{said}");
    }
    assert_eq!(said.stderr, "");
    assert_eq!(env.files(), before);
    assert!(fs_err::read_dir(&temporary).unwrap().next().is_none());
}
