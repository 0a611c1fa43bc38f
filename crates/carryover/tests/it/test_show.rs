use crate::support::{CLAUDE, CODEX, TestEnv};

#[test]
fn the_live_context_reads_as_a_conversation() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["show"]), @r#"
    exit code 0
    --- stdout
    Please fix the bug in calc.py and add a test. The icon in the README looks wrong too.
    Claude Code session d3a03cdd-c689-41e6-9587-86a6223f5251
    [HOME]/calc (main)
    claude-opus-5-5, client 2.1.325, 2026-11-15 09:00 to 09:03, 6 messages, about #.#k tokens in context
    tokens used: ###k input, 336 output
    begun: as cli, permission mode default
    the agent had finished its turn and waits for the user, 56 min ago

    You  09:00
    Please fix the bug in calc.py and add a test. The icon in the README looks wrong too.

    Claude Code  09:00
    (thinking) I should read the file first.
    I'll look at the code.
    > Read [HOME]/calc/calc.py
    > Bash ls -la && git status --short
    < Read
      1	def add(a, b):
      2	    return a - b
      3
    < Bash
      total 28
      drwxr-xr-x 3 you you 4096 Nov 15 00:54 .
      drwxr-xr-x 4 you you 4096 Nov 15 00:54 ..
      drwxr-xr-x 8 you you 4096 Nov 15 00:54 .git
      -rw-r--r-- 1 you you   20 Nov 15 00:54 AGENTS.md
      -rw-r--r-- 1 you you   35 Nov 15 00:54 CLAUDE.md
      -rw-r--r-- 1 you you   32 Nov 15 00:54 calc.py
      -rw-r--r-- 1 you you   75 Nov 15 00:54 icon.png
    > Bash python3 -c 'from calc import add; assert add(1, 2) == 3'
      failed, exit code 1
      Exit code 1
      Traceback (most recent call last):
        File "<string>", line 1, in <module>
      AssertionError
    add(1, 2) is -1: it subtracts. A test first.
    > Write [HOME]/calc/test_calc.py
      +from calc import add
      +
      +def test_add():
      +    assert add(1, 2) == 3
      File created successfully at: [HOME]/calc/test_calc.py
    (thinking) The sign in add() is wrong; one character.
    > Edit [HOME]/calc/calc.py
       def add(a, b):
      -    return a - b
      +    return a + b
      The file [HOME]/calc/calc.py has been updated successfully.
    > Bash cat calc.py
      def add(a, b):
          return a + b
    > Read [HOME]/calc/icon.png
      [image/png]
    (thinking) The icon is red, as the README says.
    Fixed add() in calc.py and wrote test_calc.py. The icon is fine: it is red on purpose. Still open: the changelog.

    You  09:03
    Good. Then the changelog, please.

    Claude Code  09:03
    I'll add a line under "Fixed": add() added nothing, it subtracted.

    the agent had finished its turn and waits for the user, 56 min ago
    tokens used: ###k input, 336 output
    --- stderr
    the newest session of this project:
    claude-code  d3a03cdd  56 min ago         6  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and add a te…
    "#);
}

#[test]
fn a_session_that_is_named_is_shown_without_a_word_about_it() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["show", CODEX, "--quiet"]), @r#"
    exit code 0
    --- stdout
    mean() crashes on an empty list, see the picture. Let it return 0.
    Codex CLI session 01a1dcb4-8ab4-7e10-b6d2-c8b20e08cdf8
    [HOME]/calc (main)
    gpt-5.5, client 0.166.0, 2026-11-15 08:10 to 08:11, 4 messages, about #.#k tokens in context
    begun: as codex-tui, permission mode default, approval policy on-request, sandbox workspace-write
    the agent had finished its turn and waits for the user, 1 h ago

    You  08:10
    [image/png [HOME]/calc/crash.png]

    mean() crashes on an empty list, see the picture. Let it return 0.

    Codex CLI  08:10
    (thinking) **Planning**

    I look at the code before I change it.
    I'll look at stats.py first.
    > exec_command ls -la && cat stats.py
    > exec_command git log --oneline | head -3
    < exec_command
      Chunk ID: 528165
      Wall time: 0.0000 seconds
      Process exited with code 0
      Original token count: 68
      Output:
      total 20
      drwxr-xr-x  3 you you 4096 Nov 15 00:54 .
      drwxr-xr-x 13 you you 4096 Nov 15 00:56 ..
      … 4 more lines (`--full` shows them)
    < exec_command
      Chunk ID: 7e0932
      Wall time: 0.0000 seconds
      Process exited with code 0
      Original token count: 4
      Output:
      713d640 init
    (thinking) **Testing**

    See it fail before I fix it.
    > exec_command python3 -c 'import stats; assert stats.mean([]) == 0'
      failed, exit code 1
      Chunk ID: 64f418
      Wall time: 0.0000 seconds
      Process exited with code 1
      Original token count: 23
      Output:
      Traceback (most recent call last):
        File "<string>", line 1, in <module>
      ZeroDivisionError: division by zero
    It divides by zero. Patching.
    > apply_patch stats.py, notes/NOTES.md
      --- stats.py
      -def mean(xs): return sum(xs) / len(xs)
      +def mean(xs):
      +    return sum(xs) / len(xs) if xs else 0
      --- notes/NOTES.md (new)
      +# notes
      +mean([]) is 0
      Exit code: 0
      Wall time: 0 seconds
      Output:
      Success. Updated the following files:
      A notes/NOTES.md
      M stats.py
    `mean([])` is 0 now; notes/NOTES.md says so. The other functions in stats.py have the same gap: shall I go through them?

    the agent had finished its turn and waits for the user, 1 h ago
    "#);
}

/// A session as Markdown, from a line that begins so up to one that does.
fn markdown(from: &str, to: Option<&str>) -> String {
    let said = TestEnv::with_sessions().run(&["show", CLAUDE, "--format", "markdown"]).success();
    assert_eq!(said.stderr, "");
    let start = said.stdout.find(from).unwrap();
    let end = to.map_or(said.stdout.len(), |to| said.stdout.find(to).unwrap());
    said.stdout[start..end].trim_end().to_owned()
}

#[test]
fn markdown_begins_with_what_the_session_is() {
    insta::assert_snapshot!(markdown("", Some("## You, 09:00")), @r#"
    # Please fix the bug in calc.py and add a test. The icon in the README looks wrong too.

    - Claude Code session d3a03cdd-c689-41e6-9587-86a6223f5251
    - [HOME]/calc (main)
    - claude-opus-5-5, client 2.1.325, 2026-11-15 09:00 to 09:03, 6 messages, about #.#k tokens in context
    - tokens used: ###k input, 336 output
    - begun: as cli, permission mode default
    - the agent had finished its turn and waits for the user, 56 min ago
    "#);
}

#[test]
fn markdown_fences_calls_and_what_they_gave() {
    insta::assert_snapshot!(markdown("## You, 09:00", Some("**Bash**\n\n```\npython3")), @r#"
    ## You, 09:00

    Please fix the bug in calc.py and add a test. The icon in the README looks wrong too.

    ## Claude Code, 09:00

    > I should read the file first.

    I'll look at the code.

    **Read**

    ```
    [HOME]/calc/calc.py
    ```

    **Bash**

    ```
    ls -la && git status --short
    ```

    **Read** gave

    ```
    1	def add(a, b):
    2	    return a - b
    3
    ```

    **Bash** gave

    ```
    total 28
    drwxr-xr-x 3 you you 4096 Nov 15 00:54 .
    drwxr-xr-x 4 you you 4096 Nov 15 00:54 ..
    drwxr-xr-x 8 you you 4096 Nov 15 00:54 .git
    -rw-r--r-- 1 you you   20 Nov 15 00:54 AGENTS.md
    -rw-r--r-- 1 you you   35 Nov 15 00:54 CLAUDE.md
    -rw-r--r-- 1 you you   32 Nov 15 00:54 calc.py
    -rw-r--r-- 1 you you   75 Nov 15 00:54 icon.png
    ```
    "#);
}

#[test]
fn markdown_tells_how_a_call_failed_and_what_came_after() {
    insta::assert_snapshot!(markdown("**Bash**\n\n```\npython3", None), @r#"
    **Bash**

    ```
    python3 -c 'from calc import add; assert add(1, 2) == 3'
    ```

    *failed, exit code 1*

    ```
    Exit code 1
    Traceback (most recent call last):
      File "<string>", line 1, in <module>
    AssertionError
    ```

    add(1, 2) is -1: it subtracts. A test first.

    **Write**

    ```
    [HOME]/calc/test_calc.py
    ```

    ```diff
    +from calc import add
    +
    +def test_add():
    +    assert add(1, 2) == 3
    ```

    ```
    File created successfully at: [HOME]/calc/test_calc.py
    ```

    > The sign in add() is wrong; one character.

    **Edit**

    ```
    [HOME]/calc/calc.py
    ```

    ```diff
     def add(a, b):
    -    return a - b
    +    return a + b
    ```

    ```
    The file [HOME]/calc/calc.py has been updated successfully.
    ```

    **Bash**

    ```
    cat calc.py
    ```

    ```
    def add(a, b):
        return a + b
    ```

    **Read**

    ```
    [HOME]/calc/icon.png
    ```

    ```
    [image/png]
    ```

    > The icon is red, as the README says.

    Fixed add() in calc.py and wrote test_calc.py. The icon is fine: it is red on purpose. Still open: the changelog.

    ## You, 09:03

    Good. Then the changelog, please.

    ## Claude Code, 09:03

    I'll add a line under "Fixed": add() added nothing, it subtracted.

    ---

    - the agent had finished its turn and waits for the user, 56 min ago
    - tokens used: ###k input, 336 output
    "#);
}

#[test]
fn the_contract_of_json_holds() {
    let env = TestEnv::with_sessions();
    for args in [&["show", CLAUDE][..], &["show", CLAUDE, "--full"], &["show", CODEX], &["show", CODEX, "--full"]] {
        let shown = env.json("session", args);
        assert!(shown["entries"].as_array().unwrap().len() > 5, "{args:?}");
    }
    let live = env.json("session", &["show", "--session", CLAUDE]);
    let alive = |entry: &serde_json::Value| entry["live"] == true;
    assert!(live["entries"].as_array().unwrap().iter().all(alive));
    assert_eq!(live["entries"][0]["parts"][0]["type"], "text");
}

#[test]
fn what_was_used_and_how_it_was_begun_is_told() {
    let env = TestEnv::with_sessions();
    let shown = env.json("session", &["show", CLAUDE]);
    let used = &shown["tokens_used"];
    assert_eq!((&used["input"], &used["output"]), (&serde_json::json!(106_293), &serde_json::json!(336)));
    assert_eq!(used["models"][0]["model"], "claude-opus-5-5");
    assert_eq!(shown["begun"], serde_json::json!({ "entrypoint": "cli", "permission_mode": "default" }));
    let whole = env.json("session", &["show", CLAUDE, "--full"]);
    assert_eq!((&whole["tokens_used"], &whole["messages"]), (used, &shown["messages"]));
    let entries = whole["entries"].as_array().unwrap();
    assert!(entries.iter().any(|entry| entry["tokens_used"]["output"] == 42), "each reply has its own");
}

#[test]
fn a_capture_counts_as_a_listing_does_and_knows_what_replies_cost() {
    let env = TestEnv::with_sessions();
    env.run(&["capture", CLAUDE]).success();
    let text = fs_err::read_to_string(env.project().join(".carryover/session.json")).unwrap();
    let captured: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(captured["conversation"]["messageCount"], env.json("session", &["show", CLAUDE])["messages"]);
    let messages = captured["conversation"]["messages"].as_array().unwrap();
    for message in messages {
        let counted = if message["role"] == "assistant" { serde_json::json!(42) } else { serde_json::Value::Null };
        assert_eq!(message["tokenCount"], counted);
    }
}

#[test]
fn a_loose_file_needs_no_store() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/codex.jsonl");
    env.write("calc/rollout.jsonl", text);
    let said = env.run(&["show", "./rollout.jsonl", "--quiet"]).success();
    assert!(said.stdout.contains("mean() crashes on an empty list"), "{said}");
}

#[test]
fn what_is_not_found_is_said() {
    let env = TestEnv::with_sessions();
    insta::assert_snapshot!(env.run(&["show", "zzzzzzzz"]), @"
    exit code 2
    --- stderr
    error: no session matches `zzzzzzzz`
    hint: run `carryover list --all` to see every session
    hint: `carryover search WORDS` looks for words in everything that was said
    ");
    insta::assert_snapshot!(env.run(&["show", "./none.jsonl"]), @"
    exit code 3
    --- stderr
    error: failed to open file `[HOME]/calc/./none.jsonl`: No such file or directory (os error 2)
    hint: run `carryover list --all` to see the sessions that can be read
    ");
    insta::assert_snapshot!(env.run_in(&env.home(), &["show"]), @"
    exit code 2
    --- stderr
    error: no session of this project was found
    hint: name a session of another project: `carryover list --all` shows them
    ");
}

#[test]
fn several_that_fit_are_listed() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/claude-code.jsonl").replace("d3a03cdd-c689", "d3a03cdd-c68f");
    env.write(".claude/projects/-home-you-calc/d3a03cdd-c68f-41e6-9587-86a6223f5251.jsonl", &text);
    insta::assert_snapshot!(env.run(&["show", CLAUDE]), @"
    exit code 2
    --- stderr
    error: `d3a03cdd` fits 2 sessions
      claude-code  d3a03cdd-c689  56 min ago         –  ## KB  claude-opus-5-5  main    Please fix the bug in calc.py and…
      claude-code  d3a03cdd-c68f  56 min ago         –  ## KB  claude-opus-5-5  main    /home/you/calc: Please fix the bu…
    hint: name one by its id
    ");
    env.run(&["show", CLAUDE, "--yes"]).success();
}

#[test]
fn a_file_that_has_the_name_of_a_title_is_not_meant() {
    let env = TestEnv::with_sessions();
    env.write("calc/calc.py", "def mean(): pass");
    let said = env.run(&["show", "calc.py"]).success();
    assert!(said.stdout.contains("d3a03cdd"), "{said}");
    let said = env.run(&["show", "./calc.py"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(said.stderr.contains("calc.py is not a session of any agent"), "{said}");
    assert!(said.stderr.contains("hint: run `carryover list --all`"), "{said}");
    env.write("calc/other.py", "");
    let said = env.run(&["show", "other.py"]);
    assert!(said.stderr.contains("other.py is not a session of any agent"), "{said}");
}

#[test]
fn the_last_is_the_last_of_the_agent_that_is_named() {
    let env = TestEnv::with_sessions();
    let said = env.run(&["show", "@last"]);
    assert!(said.stderr.contains("the newest session of all:"), "{said}");
    let said = env.run(&["show", "@last", "--source", "codex"]);
    assert!(said.stderr.contains("the newest session of this agent:"), "{said}");
    assert!(said.stdout.contains("01a1dcb4"), "{said}");
}

#[test]
fn yes_takes_what_a_list_has_first() {
    let env = TestEnv::with_sessions();
    // Older ones of this project come before newer ones of others.
    let text = include_str!("../../demo/claude-code.jsonl").replace("d3a03cdd", "d3a0ffff");
    let text = text.replace("2026-11-15T", "2026-11-16T");
    env.write(".claude/projects/-home-you-calc/d3a0ffff-c689-41e6-9587-86a6223f5251.jsonl", &text);
    let said = env.run(&["show", "d3a0", "--yes"]).success();
    assert!(said.stdout.contains("d3a03cdd"), "{said}");
}

#[test]
fn where_a_session_came_from_and_went_to_is_told() {
    let env = TestEnv::with_sessions();
    let carried = env.resume_json(&["resume", CLAUDE, "--target", "codex"]);
    let copy = carried["session_id"].as_str().unwrap();
    let original = env.run(&["show", CLAUDE]).success();
    assert_eq!(original.stdout.matches(&format!("→ codex {}, just now", &copy[..8])).count(), 2, "{original}");
    let copied = env.run(&["show", copy]).success();
    assert_eq!(copied.stdout.matches("← claude-code d3a03cdd, just now").count(), 2, "{copied}");
    let original = env.json("session", &["show", CLAUDE]);
    assert_eq!(original["carried_to"][0]["session_id"], copy);
    assert_eq!(original["carried_from"], serde_json::Value::Null);
    assert_eq!(original["state"]["kind"], "waiting");
    let copied = env.json("session", &["show", copy]);
    assert_eq!(copied["carried_from"]["agent"], "claude-code");
    assert_eq!(copied["carried_to"], serde_json::json!([]));
    // What is taken back was never carried.
    env.run(&["undo"]).success();
    assert_eq!(env.json("session", &["show", CLAUDE])["carried_to"], serde_json::json!([]));
}

#[test]
fn a_prompt_without_an_answer_is_told() {
    let env = TestEnv::with_sessions();
    let text = include_str!("../../demo/codex.jsonl").replace("01a1dcb4", "01a1ffff");
    let prompt = text.lines().find(|line| line.contains("mean() crashes on an empty list")).unwrap();
    let unanswered = &text[..text.find(prompt).unwrap() + prompt.len()];
    let path = ".codex/sessions/2026/11/15/rollout-2026-11-15T08-10-00-01a1ffff-8ab4-7e10-b6d2-c8b20e08cdf8.jsonl";
    env.write(path, &format!("{unanswered}\n"));
    let shown = env.json("session", &["show", "01a1ffff"]);
    assert_eq!(shown["state"]["kind"], "unanswered", "{shown}");
    let said = env.run(&["show", "01a1ffff"]).success();
    assert!(said.stdout.trim_end().ends_with("the last prompt got no answer, 1 h ago"), "{said}");
}
