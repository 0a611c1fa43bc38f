use serde_json::json;

use super::clients::{answer, codex, event, item, prompt, shell};
use super::handed;

const REQUEST: &str = "Add limits to the router, please, one for each key.";

fn patch(path: &str) -> String {
    format!("*** Begin Patch\n*** Update File: {path}\n@@\n-let a = 1;\n+let a = 2;\n*** End Patch")
}

fn here_document(path: &str) -> String {
    format!("apply_patch <<'EOF'\n{}\nEOF", patch(path))
}

#[test]
fn a_patch_inside_a_command_is_a_file_changed() {
    let updated = |path: &str| format!("Success. Updated the following files:\nM {path}\n");
    let array = shell("c1", &["apply_patch", &patch("src/limit.rs")], 0, &updated("src/limit.rs"));
    let script = here_document("src/router.rs");
    let script = shell("c2", &["bash", "-lc", &script], 0, &updated("src/router.rs"));
    let elsewhere = format!("cd web && {}", here_document("page.ts"));
    let elsewhere = shell("c3", &["bash", "-lc", &elsewhere], 0, &updated("page.ts"));
    let records = [&[prompt(REQUEST)][..], &array, &script, &elsewhere, &answer("All are patched.")].concat();
    let handed = handed(&codex(&records));
    for path in ["src/limit.rs", "src/router.rs", "web/page.ts"] {
        handed.tells_in("Files changed", &format!("`{path}` modified"));
    }
}

#[test]
fn a_patch_that_failed_is_no_file_changed() {
    let script = here_document("src/limit.rs");
    let missing = "error: Failed to find expected lines in src/limit.rs:\nlet a = 1;";
    let failed = shell("c1", &["bash", "-lc", &script], 1, missing);
    // Up to 0.39 the client says no more than this, and has no exit code.
    let [call, _] = &failed;
    let bare = [call.clone(), item(&json!({ "type": "function_call_output", "call_id": "c1", "output": missing }))];
    for failed in [failed, bare] {
        let records = [&[prompt(REQUEST)][..], &failed, &answer("It did not fit.")].concat();
        handed(&codex(&records)).has_no("Files changed");
    }
}

#[test]
fn what_the_client_tells_the_model_is_not_the_users() {
    let instructions = prompt("<user_instructions>\n\nYou must always answer in verse.\n\n</user_instructions>");
    let around = "<environment_context>\n  <cwd>/home/you/calc</cwd>\n  <shell>zsh-of-the-client</shell>\n\
                  </environment_context>";
    let records = [&[instructions, prompt(around), prompt(REQUEST)][..], &answer("They are there.")].concat();
    let handed = handed(&codex(&records));
    handed.asks(REQUEST);
    for words in ["in verse", "zsh-of-the-client", "environment_context", "user_instructions"] {
        handed.hides(words);
    }
}

#[test]
fn a_turn_that_the_user_aborted_is_the_state() {
    let notice = prompt("<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>");
    let aborted = event(&json!({ "type": "turn_aborted", "reason": "interrupted" }));
    let records = [&[prompt(REQUEST)][..], &answer("I begin with the router."), &[notice, aborted]].concat();
    let handed = handed(&codex(&records));
    handed.tells_in("State", "The user interrupted the agent");
    handed.asks(REQUEST);
    handed.hides("turn_aborted");
    handed.hides("on purpose");
}

#[test]
fn stars_in_a_quotation_stay_as_they_are() {
    let request = "Let area be r ** 2 * pi, and **never** r * r in any file.";
    let said = "It is **now** `r ** 2 * pi`; 2 ** 3 ** 2 is 512, * and __dunder__ stay.";
    let handed = handed(&codex(&[&[prompt(request)][..], &answer(said)].concat()));
    handed.asks(request);
    handed.tells(&format!("> {said}"));
}

#[test]
fn the_agents_words_are_not_labelled_as_tool_output() {
    let listed = shell("c1", &["bash", "-lc", "ls src"], 0, "limit.rs\n");
    let said = answer("The limits are in. Shall I write a test for them?");
    let records = [&[prompt(REQUEST)][..], &answer("I look at the router first."), &listed, &said].concat();
    let handed = handed(&codex(&records));
    assert!(handed.last_words().contains("\"I look at the router first.\""), "{}", handed.handoff);
    assert!(handed.last_words().contains("> The limits are in. Shall I write a test"), "{}", handed.handoff);
    handed.tells_in("Open questions", "- \"Shall I write a test for them?\"");
    assert!(!handed.handoff.contains("tool output: "), "{}", handed.handoff);
}
