use crate::support::TestEnv;

#[test]
fn help_is_an_answer() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.run(&["-h"]), @"
    exit code 0
    --- stdout
    Close any coding agent, open any other, and keep going

    Usage: carryover [OPTIONS] [COMMAND]
           carryover AGENT [WORDS]

    Commands:
      detect         Show which agents are here
      list           List sessions of all agents, this project's first
      show           Show a session
      resume         Go on with a session in another agent
      handoff        Hand a session over as words
      import         Go on with a capsule, or list what can be gone on with
      share          Encrypt a session with its workspace, for somebody else
      open           Decrypt what somebody shared, and go on with it
      save           Keep a session in its project, to commit it and go on later
      conversations  List the conversations that are kept in this project
      undo           Take back what a resume or a save wrote
      search         Find what was said in any session, also in deleted ones
      restore        Bring back a session that its agent deleted
      install        Let agents call carryover, so that the next one starts informed
      status         Show whether handoffs are published, and for which agents
      doctor         Look for what is wrong, and change nothing
      demo           Show how it works, without any agent

    Options:
          --print    Print the command that goes on with the session that is picked, and start no client
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Global options:
          --json          Print data as JSON
      -q, --quiet         Print no status and no hints
      -y, --yes           Never ask; where several sessions fit, take the newest
          --color <WHEN>  When to use colours [default: auto]

    Other commands: capture, brief, capsule, remote, push, pull, sync, forget, record, watch, refresh, uninstall, daemon,
    memory, info, config, completions (`carryover --help` tells what they do)

    An agent's name is enough: `carryover codex` goes on there with the newest session of this project.
    Try it without any agent: carryover demo
    ");
    insta::assert_snapshot!(env.run(&["resume", "-h"]), @"
    exit code 0
    --- stdout
    Go on with a session in another agent

    Usage: carryover resume [OPTIONS] [SESSION]...

    Arguments:
      [SESSION]...  An id or the beginning of one, words of a title, a file, or @last

    Options:
          --source <AGENT>    Only sessions of this agent
      -t, --target <AGENT>    The agent to go on in
          --project <FOLDER>  The folder to go on in [default: the session's own]
          --fork              Copy a session that is the target's own already
          --tokens <N>        Fit it into this many tokens [default: what the target takes]
          --prompt            Go on from a prompt, which is written and copied
          --context-only      Leave a brief where the target reads its instructions
          --dry-run           Print what would be done, and do nothing
          --launch            Start the target with the session
      -h, --help              Print help (see more with '--help')

    Global options:
          --json          Print data as JSON
      -q, --quiet         Print no status and no hints
      -y, --yes           Never ask; where several sessions fit, take the newest
          --color <WHEN>  When to use colours [default: auto]
    ");
}

#[test]
fn wrong_command_lines_are_64() {
    let env = TestEnv::new();
    insta::assert_snapshot!(env.run(&["resme"]), @"
    exit code 64
    --- stderr
    error: unrecognized subcommand 'resme'

      tip: did you mean 'resume'?
      tip: a command stands there, or an agent's name, such as 'codex': go on there

    Usage: carryover [OPTIONS] [COMMAND]
           carryover AGENT [WORDS]

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(env.run(&["list", "--all", "--project", "."]), @"
    exit code 64
    --- stderr
    error: the argument '--all' cannot be used with '--project <FOLDER>'

    Usage: carryover list --all [WORDS]...

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(env.run(&["list", "--source", "claud"]).without_agents(), @"
    exit code 64
    --- stderr
    error: invalid value 'claud' for '--source <AGENT>'
      [possible values: [AGENTS]]

      tip: a similar value exists: 'claude-code'

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(env.run(&["resume", "--launch", "--json"]), @"
    exit code 64
    --- stderr
    error: the argument '--launch' cannot be used with '--json'

    Usage: carryover resume --launch [SESSION]...

    For more information, try '--help'.
    ");
    assert_eq!(env.run(&["--print", "list"]).code, Some(64));
}

#[test]
fn an_agent_that_is_misspelt_is_suggested() {
    let env = TestEnv::new();
    for (word, meant) in [("codx", "codex"), ("claud", "claude"), ("lst", "list")] {
        let said = env.run(&[word]);
        assert_eq!(said.code, Some(64), "{said}");
        assert!(said.stderr.contains(&format!("tip: did you mean '{meant}'?\n")), "{said}");
    }
    // Behind a command, no agent stands.
    let said = env.run(&["config", "codx"]);
    assert!(!said.stderr.contains("agent"), "{said}");
}

#[test]
fn variables_for_tests_must_make_sense() {
    let env = TestEnv::new().var("CARRYOVER_NOW", "yesterday");
    insta::assert_snapshot!(env.run(&["list"]), @"
    exit code 64
    --- stderr
    error: CARRYOVER_NOW is not a time as 2026-11-15T09:00:00Z
    ");
}

#[test]
fn examples_keep_their_columns_on_narrow_terminals() {
    let env = TestEnv::new();
    for command in ["help", "list", "show", "brief", "capture", "restore", "search", "forget"] {
        let output = env.command(&[command, "--help"]).env("COLUMNS", "60").output().unwrap();
        let help = env.said(output).stdout;
        let examples = help.split("Examples:\n").nth(1).unwrap_or_default();
        let examples = examples.lines().take_while(|line| !line.is_empty());
        for line in examples {
            assert!(line.starts_with("  carryover") && line.chars().count() <= 60, "{command}: {line}");
        }
    }
}

#[test]
fn help_of_a_command_is_asked_for_in_either_way() {
    let env = TestEnv::new();
    let whole = env.run(&["help"]).success().stdout;
    assert!(whole.contains("carryover codex login bug") && whole.contains("Exit codes:"), "{whole}");
    assert_eq!(env.run(&["help", "resume"]).success().stdout, env.run(&["resume", "--help"]).success().stdout);
    let said = env.run(&["help", "no-such"]);
    assert_eq!(said.code, Some(64), "{said}");
}
