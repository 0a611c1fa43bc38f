use crate::support::TestEnv;

#[test]
fn every_shell_has_a_script_that_asks_the_program() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = env.run(&["completions", shell]).success();
        assert!(said.stdout.contains("carryover --") || said.stdout.contains("\"carryover\" --"), "{said}");
        assert!(said.stdout.contains("COMPLETE"), "{said}");
    }
}

#[test]
fn an_unknown_shell_is_a_wrong_command_line() {
    insta::assert_snapshot!(TestEnv::new().run(&["completions", "fisch"]), @"
    exit code 64
    --- stderr
    error: invalid value 'fisch' for '<SHELL>'
      [possible values: bash, elvish, fish, powershell, zsh]

      tip: a similar value exists: 'fish'

    For more information, try '--help'.
    ");
}
