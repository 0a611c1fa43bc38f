use crate::support::TestEnv;

#[test]
fn every_shell_has_a_script() {
    let env = TestEnv::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = env.run(&["completions", shell]).success();
        assert!(said.stdout.contains("resume"), "{shell}");
        // Two shells' scripts complete options only.
        let values = matches!(shell, "bash" | "zsh" | "fish");
        assert_eq!(said.stdout.contains("claude-code"), values, "{shell}");
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
