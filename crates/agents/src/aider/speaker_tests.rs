//! Whose words stand in a chat, and what the client did in it.

use std::fmt::Write as _;
use std::path::Path;

use carryover_core::live::{self, LiveItem};
use carryover_core::transcript::{
    Action, Body, Change, FailureKind, Origin, Outcome, Status, Transcript, TranscriptBuilder, text_of,
};

use super::Aider;
use crate::{Bookmark, Dialect, Reader, Source};

const START: &str = "\n# aider chat started at 2026-11-15 10:00:00\n\n> Aider v0.86.2  \n";

fn read_file(path: &Path) -> Transcript {
    let mut builder = TranscriptBuilder::new("aider").keeping_everything();
    let source = Source { path: path.to_path_buf(), key: None };
    Aider.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    let transcript = builder.finish();
    for entry in transcript.entries.iter().filter(|entry| entry.origin != Origin::Harness) {
        let again = Aider.reload_entries(&transcript.header, entry.key).unwrap();
        assert!(again.contains(entry), "{entry:?} is read again as {again:?}");
    }
    transcript
}

/// Reads a chat as the client writes it.
fn read_chat(chat: &str) -> Transcript {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".aider.chat.history.md");
    fs_err::write(&path, format!("{START}{chat}")).unwrap();
    read_file(&path)
}

/// Everything that was said and is live, a line each.
fn conversation_text(transcript: &Transcript) -> String {
    let mut out = String::new();
    for alive in live::resolve_context(transcript) {
        let LiveItem::Entry(index) = alive else { continue };
        let entry = &transcript.entries[index];
        let text = text_of(entry.body.parts()).replace('\n', "⏎");
        writeln!(out, "{:?} {}: {text}", entry.origin, entry.body.kind()).unwrap();
    }
    out
}

fn failure_kinds(transcript: &Transcript) -> Vec<FailureKind> {
    let kind = |body: &Body| if let Body::Failure(failure) = body { Some(failure.kind) } else { None };
    transcript.entries.iter().filter_map(|entry| kind(&entry.body)).collect()
}

/// The calls, and how they ended where that is known.
fn calls_with_status(transcript: &Transcript) -> Vec<(Action, Option<Status>)> {
    let ended = |call: &carryover_core::transcript::CallId| {
        transcript.entries.iter().find_map(|entry| match &entry.body {
            Body::Outcome(outcome) if outcome.call == *call => Some(Outcome::clone(outcome).status),
            _ => None,
        })
    };
    let deed = |body: &Body| match body {
        Body::Call(call) => Some((Aider.action(call, None), ended(&call.id))),
        _ => None,
    };
    transcript.entries.iter().filter_map(|entry| deed(&entry.body)).collect()
}

#[test]
fn an_answer_that_the_architect_hands_to_the_editor_is_not_the_users() {
    let chat = "\n#### /architect rename it  \n\n#### rename it  \n\nRename `a` to `b` in calc.py.\n\n#### Steps\n\n\
                1. a ** 2 stays **as it is**\n\n> Tokens: 1k sent, 20 received.  \n\n\
                #### Rename `a` to `b` in calc.py.  \n####   \n#### #### Steps  \n####   \n\
                #### 1. a ** 2 stays **as it is**  \n\nDone.\n\n> Tokens: 1k sent, 20 received.  \n";
    insta::assert_snapshot!(conversation_text(&read_chat(chat)), @r"
    User prompt: rename it
    Agent reply: Rename `a` to `b` in calc.py.⏎⏎#### Steps⏎⏎1. a ** 2 stays **as it is**
    Agent reply: Done.
    ");
    let asked = chat.replace(
        "received.  \n\n#### Rename `a` to `b` in calc.py.",
        "received.  \n> Edit the files? (Y)es/(N)o [Yes]: y  \n\n#### The first half, and rename `a` to `b` in calc.py.",
    );
    assert_eq!(read_chat(&asked).n_messages(), 3, "an answer of two parts is handed on as one");
    let refused =
        "\n#### think  \n\nA long thought about it.\n\n> Edit the files? (Y)es/(N)o [Yes]: n  \n\n#### better not  \n";
    assert!(conversation_text(&read_chat(refused)).ends_with("User prompt: better not\n"));
}

#[test]
fn what_the_client_hands_to_the_model_is_not_the_users_but_what_was_asked_is() {
    let help = "\n#### /help how do I undo?  \n\n#### # Question: how do I undo?  \n####   \n#### # Relevant docs:  \n\n\
                With /undo.\n\n> Tokens: 1k sent, 20 received.  \n";
    insta::assert_snapshot!(conversation_text(&read_chat(help)), @r"
    User prompt: how do I undo?
    Hook prompt: # Question: how do I undo?⏎⏎# Relevant docs:
    Agent reply: With /undo.
    ");
    let lint = "\n#### /lint  \n> a.py:1: E1  \n> Fix lint errors in a.py? (Y)es/(N)o [Yes]: y  \n\n\
                #### # Fix any errors below  \n#### a.py:1: E1  \n\nFixed.\n\n";
    insta::assert_snapshot!(conversation_text(&read_chat(lint)), @r"
    Hook prompt: # Fix any errors below⏎a.py:1: E1
    Agent reply: Fixed.
    ");
    let watched = "\n#### Find the \"AI\" comments below (marked with █) in the code files I've shared with you.  \n\
                   ####   \n#### a.py:  \n#### ⋮  \n#### █# why twice? AI?  \n#### │x = 2  \n\nBecause.\n\n";
    assert!(conversation_text(&read_chat(watched)).starts_with("User prompt: # why twice? AI?\nHook prompt: Find the"));
    let pasted = "\n#### /paste  \n> Traceback:\n  line 1\n\nKeyError  \n\nA key is missing.\n\n";
    insta::assert_snapshot!(conversation_text(&read_chat(pasted)), @r"
    User prompt: Traceback:⏎  line 1⏎⏎KeyError
    Agent reply: A key is missing.
    ");
}

#[test]
fn a_chat_is_forgotten_whether_or_not_the_client_says_so() {
    for forget in ["/clear", "/reset"] {
        let chat = format!("\n#### old  \n\nOld.\n\n\n#### {forget}  \n\n#### new  \n\nNew.\n\n");
        assert_eq!(conversation_text(&read_chat(&chat)), "User prompt: new\nAgent reply: New.\n", "{forget}");
    }
    let told = "\n#### old  \n\nOld.\n\n\n#### /clear  \n> All chat history cleared.  \n\n#### new  \n";
    let transcript = read_chat(told);
    let barriers = transcript.entries.iter().filter(|entry| matches!(entry.body, Body::Compacted(_))).count();
    assert_eq!(barriers, 1);
    let dropped = "\n#### old  \n\nOld.\n\n\n#### /drop a.py  \n> Removed a.py from the chat  \n\n#### new  \n";
    assert!(conversation_text(&read_chat(dropped)).starts_with("User prompt: old\n"));
}

#[test]
fn an_interruption_is_one_only_while_the_model_works() {
    let stopped = "\n#### go on  \n\n> ^C again to exit  \n\nHalf an ans\n\n";
    let transcript = read_chat(stopped);
    assert_eq!(failure_kinds(&transcript), [FailureKind::Interrupted]);
    assert_eq!(conversation_text(&transcript), "User prompt: go on\nAgent reply: Half an ans\n");
    let left = "\n#### go on  \n\nDone.\n\n> Tokens: 1k sent, 2 received.  \n\n> ^C again to exit  \n\n> ^C KeyboardInterrupt  \n";
    assert_eq!(failure_kinds(&read_chat(left)), []);
}

#[test]
fn a_heading_in_a_file_that_the_model_shows_is_no_prompt() {
    let chat = "\n#### write notes  \n\nnotes.md\n```\n# Notes  \n\n#### First  \n> quoted  \ntext\n```\n\n\
                > Tokens: 1k sent, 20 received.  \n> Applied edit to notes.md  \n\n#### \n#### next  \n";
    let transcript = read_chat(&chat.replace("#### \n#### next", "#### next"));
    insta::assert_snapshot!(conversation_text(&transcript), @r"
    User prompt: write notes
    Agent reply: notes.md⏎```⏎# Notes  ⏎⏎#### First  ⏎> quoted  ⏎text⏎```
    User prompt: next
    ");
    let content = "# Notes  \n\n#### First  \n> quoted  \ntext\n".to_owned();
    let write = Action::Write { path: "notes.md".into(), content };
    assert_eq!(calls_with_status(&transcript), [(write, Some(Status::Done))]);
}

#[test]
fn what_the_client_asks_about_is_no_reply() {
    let chat = "\n#### run it  \n\nRun this.\n\n> Tokens: 1k sent, 20 received.  \n> export NAME=x          \n         \n\
                ./a-long-command --flag\n./b            \n./c  \n\
                > Run shell commands? (Y)es/(N)o/(D)on't ask again [Yes]: y  \n> Running ./a-long-command --flag  \n\
                > Add command output to the chat? (Y)es/(N)o [Yes]: y  \n> Added 2 lines of output to the chat.  \n";
    let transcript = read_chat(chat);
    assert_eq!(conversation_text(&transcript), "User prompt: run it\nAgent reply: Run this.\n");
    let run = Action::Run { command: "./a-long-command --flag".into(), workdir: None };
    assert_eq!(calls_with_status(&transcript), [(run, None)]);
}

#[test]
fn commands_that_the_user_had_run_are_told() {
    let chat = "\n#### /run make all  \n> Add 0.1k tokens of command output to the chat? (Y)es/(N)o [Yes]: y  \n\
                > Added 3 lines of output to the chat.  \n\n#### !ls  \n\n#### /test cargo test  \n\
                > Added 3 lines of output to the chat.  \n\n#### /git status  \n";
    let run = |command: &str| Action::Run { command: command.into(), workdir: None };
    let deeds = calls_with_status(&read_chat(chat));
    let failed = Some(Status::Failed);
    let told = [(run("make all"), None), (run("ls"), None), (run("cargo test"), failed), (run("git status"), None)];
    assert_eq!(deeds, told);
}

#[test]
fn edits_are_told_by_how_they_ended() {
    let block = |old: &str, new: &str| format!("```\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n\n");
    let reply = format!("a.py\n{}b.py\n{}", block("one", "two"), block("gone", "new"));
    let chat = format!(
        "\n#### edit  \n\n{reply}> Tokens: 1k sent, 20 received.  \n> The LLM did not conform to the edit format.  \n\
         > # 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: This SEARCH block failed to \
         exactly match lines in b.py\n<<<<<<< SEARCH\ngone\n=======\nnew\n>>>>>>> REPLACE\n\n# The other 1 \
         SEARCH/REPLACE block were applied successfully.\nDon't re-send them.  \n\nb.py\n{}\
         > Tokens: 1k sent, 20 received.  \n> Applied edit to b.py  \n> Commit 0a1b2c3 edit  \n",
        block("there", "new")
    );
    let transcript = read_chat(&chat);
    assert_eq!(transcript.n_messages(), 3, "the client's complaint is no reply");
    let told: Vec<(String, Option<Status>)> = calls_with_status(&transcript)
        .into_iter()
        .map(|(action, status)| match action {
            Action::Edit(changes) => match changes.as_slice() {
                [Change::Update { path, hunks, .. }] => (format!("{path} {}", hunks[0].old.trim()), status),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        })
        .collect();
    let (done, failed) = (Some(Status::Done), Some(Status::Failed));
    assert_eq!(told, [("b.py gone".into(), failed), ("a.py one".into(), done), ("b.py there".into(), done)]);
}

#[test]
fn a_commit_of_what_the_user_changed_before_is_not_the_agents() {
    let folder = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/aider/fixtures");
    let repository = fixtures.join("0.86.2-logged-repository");
    fs_err::write(folder.path().join(".git"), format!("gitdir: {}\n", repository.display())).unwrap();
    let path = folder.path().join(".aider.chat.history.md");
    let chat =
        "\n#### edit  \n\nI will.\n\n> Committing calc.py before applying edits.  \n> Commit caa2acd Side answer  \n";
    fs_err::write(&path, format!("{START}{chat}")).unwrap();
    assert_eq!(calls_with_status(&read_file(&path)), []);
    fs_err::write(&path, format!("{START}{chat}> Applied edit to calc.py  \n> Commit 167bc6f Side answer  \n"))
        .unwrap();
    assert_eq!(calls_with_status(&read_file(&path)).len(), 1, "the commit tells more than the reply");
}

#[test]
fn a_prompt_of_several_lines_is_one_with_its_empty_lines() {
    let chat = "\n#### first  \n####   \n####   \n#### second: a ** b  \n####     indented  \n\nOk.\n\n";
    assert_eq!(
        conversation_text(&read_chat(chat)),
        "User prompt: first⏎⏎⏎second: a ** b⏎    indented\nAgent reply: Ok.\n"
    );
}
