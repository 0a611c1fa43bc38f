//! What a listing tells, from indexes and notes alone.

use rusqlite::Connection;

use super::homes::{
    CHAT_ID, CLIENT, COMPOSER_ID, EDITOR, copied_home, execute, fixture_home, global_database, list, read_source, told,
};
use crate::cursor::Cursor;
use crate::fixtures;
use crate::{Agent, Discovery, Store};

#[test]
fn every_generation_is_listed_with_title_project_and_times() {
    let all = ["ide-legacy", "ide-2.x", "ide-3.0", "ide-3.12", "cli", "sdk"].map(|name| {
        let mut lines: Vec<String> = list(&fixture_home(name)).iter().map(told).collect();
        lines.sort();
        format!("{name}\n{}", lines.join("\n"))
    });
    insta::assert_snapshot!(all.join("\n"), @"
    ide-legacy
    ce2945bf-340b-5db9-b27f-c71acf02a287 | Old composer | /home/dev/work/demo-app | 2026-11-14T23:46:40.000Z | 2026-11-14T23:46:49.000Z
    d7d9e80f-9982-55fc-b206-8b3e3aa689fc | Explain app.py | /home/dev/work/demo-app | - | 2026-11-14T23:46:40.000Z
    ide-2.x
    bdd08911-cec3-5fd0-82e3-a2a172223c5c | Rename greet to hello | /home/dev/work/demo-app | 2026-11-14T23:46:40.000Z | 2026-11-14T23:47:47.500Z
    ide-3.0
    f6f31fc8-ac76-513b-b96c-dd2777e3ed8c | Rename greet to hello | /home/dev/work/demo-app | 2026-11-14T23:46:40.000Z | 2026-11-14T23:47:47.500Z
    ide-3.12
    fec1c9c0-240b-5e4c-8176-5f0c1eba699c | Rename greet to hello | /home/dev/work/demo-app | 2026-11-14T23:46:40.000Z | 2026-11-14T23:47:47.500Z
    cli
    d6176300-924c-5a88-839c-ec4925f5e2c5 | List Files Count | /home/dev/work/demo-app | 2026-11-14T23:46:40.000Z | 2026-11-14T23:46:42.000Z
    sdk
    agent-d6176300-924c-5a88-839c-ec4925f5e2c5 | List Files Count | /home/dv/proj-cursor | 2026-11-15T01:16:09.864Z | 2026-11-15T01:16:09.864Z
    ");
}

#[test]
fn a_conversation_in_two_stores_is_one_session_with_what_each_knows() {
    let home = copied_home(&["ide-3.12", "cli"]);
    // The same conversation in the command line client's folder, which knows a title that the editor has not.
    let chats = home.path().join(CLIENT).join("chats/d99f037927a1f89c0a3ef335b87589ff");
    std::fs::rename(chats.join(CHAT_ID), chats.join(COMPOSER_ID)).unwrap();
    let editor = Connection::open(global_database(home.path())).unwrap();
    for sql in [
        "UPDATE composerHeaders SET value = json_remove(value, '$.name')",
        "DELETE FROM ItemTable WHERE key = 'composer.composerHeaders'",
        "UPDATE cursorDiskKV SET value = json_remove(CAST(value AS TEXT), '$.name') WHERE key LIKE 'composerData:%'",
    ] {
        editor.execute(sql, []).unwrap();
    }
    editor.close().unwrap();
    let found: Vec<_> = list(home.path()).into_iter().filter(|found| found.id.0 == COMPOSER_ID).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].source.path.ends_with("globalStorage/state.vscdb"), "the editor knows more of it");
    assert_eq!(found[0].title.as_deref(), Some("List Files Count"));
    assert_eq!(read_source(&found[0].source).header.title.as_deref(), Some("List Files Count"));
    // The transcript of the other conversation is what is left of that one.
    let other: Vec<_> = list(home.path()).into_iter().filter(|found| found.id.0 == CHAT_ID).collect();
    assert_eq!(other.len(), 1);
    assert!(other[0].source.path.ends_with(format!("{CHAT_ID}.jsonl")));
    assert_eq!(other[0].project.as_deref(), Some("/home/dev/work/demo-app".as_ref()), "by the windows that are known");
}

#[test]
fn a_transcript_alone_is_a_session() {
    let home = copied_home(&["cli"]);
    std::fs::remove_dir_all(home.path().join(CLIENT).join("chats")).unwrap();
    let found = list(home.path());
    assert_eq!(found.iter().map(|found| found.id.0.as_str()).collect::<Vec<_>>(), [CHAT_ID]);
    assert_eq!(found[0].title.as_deref(), Some("List files and say how many"));
}

#[test]
fn what_was_typed_is_told_where_nothing_else_is_left() {
    let home = copied_home(&["ide-2.x"]);
    std::fs::remove_file(global_database(home.path())).unwrap();
    let window = home.path().join(EDITOR).join("workspaceStorage/f60eaa1a7303de19f0f50085edb2ecfb/state.vscdb");
    let owner = Connection::open(&window).unwrap();
    owner.execute("DELETE FROM ItemTable WHERE key = 'composer.composerData'", []).unwrap();
    owner.close().unwrap();
    let found = list(home.path());
    assert_eq!(
        found.iter().map(told).collect::<Vec<_>>(),
        [
            "prompts-f60eaa1a7303de19f0f50085edb2ecfb | - | /home/dev/work/demo-app | 2026-11-14T23:46:40.000Z | 2026-11-14T23:46:40.000Z"
        ]
    );
    let transcript = read_source(&found[0].source);
    insta::assert_snapshot!(fixtures::live_context(&Cursor, &transcript, fixtures::ImageCounts::Everywhere), @"
    user prompt: Rename `greet` to `hello` in src/app.py and run the tests
    user prompt: Fix that test too
    ");
}

#[test]
fn what_was_typed_is_no_session_where_the_conversations_cannot_be_read() {
    for name in ["ide-2.x", "ide-3.0", "ide-3.12"] {
        let home = copied_home(&[name]);
        std::fs::write(global_database(home.path()), "not a database, but long enough to be looked at").unwrap();
        let store = Store { root: home.path().join(EDITOR) };
        let mut found = Vec::new();
        let told = Cursor.list_sessions(&store, &mut |session| {
            found.push(session.id.0);
            std::ops::ControlFlow::Continue(())
        });
        assert!(told.is_err_and(|error| error.to_string().contains("state.vscdb")), "{name}");
        assert_eq!(found, [""; 0], "{name}");
    }
}

#[test]
fn conversations_are_listed_by_the_index_of_their_generation_alone() {
    // Of 3.0 to 3.11: one entry of the shared database names them, with their projects.
    let home = copied_home(&["ide-3.0"]);
    std::fs::remove_dir_all(home.path().join(EDITOR).join("workspaceStorage")).unwrap();
    let document = "WHERE key LIKE 'composerData:%'";
    execute(
        &global_database(home.path()),
        &format!(
            "UPDATE cursorDiskKV SET value = json_remove(CAST(value AS TEXT), '$.name', '$.createdAt') {document}"
        ),
    );
    let found = list(home.path());
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].title.as_deref(), Some("Rename greet to hello"));
    assert_eq!(found[0].project.as_deref(), Some("/home/dev/work/demo-app".as_ref()));
    assert_eq!(read_source(&found[0].source).header.title.as_deref(), Some("Rename greet to hello"));
}

#[test]
fn drafts_and_sub_agents_are_no_sessions() {
    let ids: Vec<String> = list(&fixture_home("ide-3.12")).into_iter().map(|found| found.id.0).collect();
    assert_eq!(ids, [COMPOSER_ID]);
}

#[test]
fn a_file_that_changed_tells_its_own_sessions() {
    for (name, root, file) in [
        ("ide-3.12", EDITOR, "globalStorage/state.vscdb".to_owned()),
        ("cli", CLIENT, format!("chats/d99f037927a1f89c0a3ef335b87589ff/{CHAT_ID}/store.db")),
    ] {
        let root = fixture_home(name).join(root);
        let found = Cursor.sessions_in(&Store { root: root.clone() }, &root.join(&file)).unwrap();
        assert_eq!(found.len(), 1, "{name}");
    }
    // What its store tells better is not told by the transcript.
    let root = fixture_home("cli").join(CLIENT);
    let file = root.join(format!("projects/home-dev-work-demo-app/agent-transcripts/{CHAT_ID}/{CHAT_ID}.jsonl"));
    assert!(Cursor.sessions_in(&Store { root }, &file).unwrap().is_empty());
}

#[test]
fn only_what_the_command_line_client_keeps_has_a_command() {
    let command = |name: &str| {
        let found = list(&fixture_home(name)).remove(0);
        Cursor.resume_command(&found.source, &found.id, "/p".as_ref()).map(|command| command.argv.join(" "))
    };
    assert_eq!(command("cli").as_deref(), Some(&*format!("cursor-agent --resume={CHAT_ID}")));
    assert_eq!((command("ide-3.12"), command("sdk")), (None, None));
}

#[test]
fn no_bubble_is_read_for_a_listing_but_of_the_newest() {
    let home = copied_home(&["ide-3.12"]);
    let owner = Connection::open(global_database(home.path())).unwrap();
    // Sessions whose bubbles would stop whoever read them.
    for number in 0..40 {
        let id = format!("{number:08}-0000-4000-8000-000000000000");
        let head = format!(r#"{{"composerId":"{id}","name":"n","lastUpdatedAt":{number}}}"#);
        owner
            .execute(
                "INSERT INTO composerHeaders (composerId, lastUpdatedAt, value) VALUES (?1, ?2, ?3)",
                (&id, number, head),
            )
            .unwrap();
        owner
            .execute("INSERT INTO cursorDiskKV VALUES ('bubbleId:' || ?1 || ':a', CAST(x'ff' AS TEXT))", [&id])
            .unwrap();
        let document = r#"{"fullConversationHeadersOnly":[{"bubbleId":"a","type":1}]}"#;
        owner.execute("INSERT INTO cursorDiskKV VALUES ('composerData:' || ?1, ?2)", (&id, document)).unwrap();
    }
    owner.close().unwrap();
    let found = list(home.path());
    assert_eq!(found.len(), 41);
    assert_eq!(found.iter().filter(|found| found.drifted).count(), 0, "not UTF-8 is damage, and no drift");
}

#[test]
fn transcripts_in_plain_text_are_counted_where_nothing_else_tells_them() {
    let home = copied_home(&["cli"]);
    let root = home.path().join(CLIENT);
    let store = Store { root: root.clone() };
    assert_eq!(Cursor.unreadable_sessions(&store), None);
    let folder = root.join("projects/home-dev-work-demo-app/agent-transcripts");
    std::fs::write(folder.join(format!("{CHAT_ID}.txt")), "user:\nhello").unwrap();
    assert_eq!(Cursor.unreadable_sessions(&store), None, "its store tells it");
    std::fs::write(folder.join("0000.txt"), "user:\nhello").unwrap();
    assert_eq!(Cursor.unreadable_sessions(&store).unwrap().count, 1);
}
