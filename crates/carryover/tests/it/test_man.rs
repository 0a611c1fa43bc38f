use crate::support::TestEnv;

#[test]
fn the_manual_is_printed_or_written_into_a_folder() {
    let env = TestEnv::new();
    let printed = env.run(&["man"]).success().stdout;
    assert!(printed.contains(".TH carryover 1") && printed.contains("carryover\\-resume(1)"), "{printed}");
    env.run(&["man", "--to", "pages/man1"]).success();
    let page = |name: &str| fs_err::read_to_string(env.project().join("pages/man1").join(name)).unwrap();
    assert_eq!(page("carryover.1"), printed);
    let resume = page("carryover-resume.1");
    // Also what the short help leaves out.
    assert!(resume.contains("Fail where the session cannot be written into the target"), "{resume}");
    assert!(page("carryover-config-set.1").contains("Its value; lists are given with commas"));
    assert_eq!(env.run(&["man", "resume"]).success().stdout, resume);
    assert_eq!(env.run(&["man", "config", "set"]).success().stdout, page("carryover-config-set.1"));
    let said = env.run(&["man", "--to", "pages/man1/carryover.1"]);
    assert_eq!(said.code, Some(3), "{said}");
    let said = env.run(&["man", "no-such"]);
    assert_eq!(said.code, Some(64), "{said}");
    assert!(!env.project().join("no-such").exists());
}
