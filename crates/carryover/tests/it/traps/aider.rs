use super::clients::aider;
use super::handed;

const SPENT: &str = "> Tokens: 1.2k sent, 20 received. Cost: $0.01 message, $0.02 session.  \n";

#[test]
fn what_the_architect_hands_to_the_editor_is_not_the_users() {
    let chat = format!(
        "\n#### /architect rename the sum in calc.py to total  \n\n#### rename the sum in calc.py to total  \n\n\
         Always rename `sum` to `total`, in two places of calc.py.\n\n{SPENT}\n\
         #### Always rename `sum` to `total`, in two places of calc.py.  \n\nBoth places are renamed.\n\n{SPENT}"
    );
    let env = aider(&chat);
    let handed = handed(&env);
    handed.asks("rename the sum in calc.py to total");
    handed.hides_in("Decisions", "two places");
    assert!(handed.last_words().ends_with("> Both places are renamed."), "{}", handed.handoff);
    let brief = env.json("brief", &["brief", "@last", "--quiet"]);
    assert_eq!(brief["requests"].as_array().unwrap().len(), 1, "{brief}");
}

#[test]
fn what_was_spent_is_not_the_agents_words() {
    let chat = format!("\n#### please rename the sum in calc.py to total  \n\nIt is renamed.\n\n{SPENT}");
    let handed = handed(&aider(&chat));
    assert_eq!(handed.last_words(), "> It is renamed.");
    for words in ["Tokens:", "received.", "Cost:"] {
        handed.hides(words);
    }
}

#[test]
fn what_was_cleared_appears_nowhere() {
    let chat = format!(
        "\n#### never use the word xyzzy in any of the files  \n\nI will not say plugh.\n\n{SPENT}\n#### /clear  \n\
         > All chat history cleared.  \n\n#### please rename the sum in calc.py to total  \n\nIt is renamed.\n\n{SPENT}"
    );
    let handed = handed(&aider(&chat));
    handed.asks("please rename the sum in calc.py to total");
    handed.hides("xyzzy");
    handed.hides("plugh");
}

#[test]
fn what_was_cleared_is_no_task_where_nothing_was_said_since() {
    let chat = format!(
        "\n#### never use the word xyzzy in any of the files  \n\nI will not say plugh.\n\n{SPENT}\n#### /clear  \n\
         > All chat history cleared.  \n"
    );
    let handed = handed(&aider(&chat));
    handed.hides("xyzzy");
    handed.hides("plugh");
}

#[test]
fn an_edit_that_was_applied_gives_the_file() {
    let chat = format!(
        "\n#### please rename the sum in calc.py to total  \n\ncalc.py\n```python\n<<<<<<< SEARCH\nsum = 0\n=======\n\
         total = 0\n>>>>>>> REPLACE\n```\n\n{SPENT}> Applied edit to calc.py  \n"
    );
    handed(&aider(&chat)).tells_in("Files changed", "`calc.py` modified");
}

#[test]
fn a_command_is_shown_as_it_ran() {
    let chat = format!(
        "\n#### please rename the sum in calc.py to total  \n\nIt is renamed.\n\n{SPENT}\n\
         #### /test cd src; python3 -m pytest -q | tail -3  \n> Added 3 lines of output to the chat.  \n"
    );
    handed(&aider(&chat)).tells("`cd src; python3 -m pytest -q | tail -3`");
}
