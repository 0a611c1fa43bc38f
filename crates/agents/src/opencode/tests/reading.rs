//! Reading: live contexts, two steps, damage.

use std::ops::ControlFlow;

use carryover_core::transcript::{Body, Note};
use serde_json::json;

use super::*;
use crate::{AgentError, Store};

fn live_of(name: &str) -> String {
    render_live(&read(&source(&fixture(name))))
}

#[test]
fn a_session_with_images_failures_and_a_sub_agent() {
    insta::assert_snapshot!(live_of("rich"), @r#"
    user prompt <image/png Some("red.png") Inline(108 bytes)> "Bitte schau dir das Bild an: \"rot\"? SENT-USER-1"
    agent reasoning "Look at both — das Bild und den Code."
    agent reply "Ich schaue: 日本語 🎈"
    agent call call_fake_2_2 read {"filePath":"/home/dv/oc/repo/src/calc.py"}
    agent call call_fake_2_3 read {"filePath":"/home/dv/oc/repo/blue.png"}
    agent call call_fake_2_4 bash {"command":"ls nope; exit 3","description":"fail"}
    agent outcome call_fake_2_2 Done None "<path>/home/dv/oc/repo/src/calc.py</path>\n<type>file</type>\n<content>\n1: def add(a, b):\n2:     re
    agent outcome call_fake_2_3 Done None "Image read successfully" <image/png None Inline(104 bytes)>
    agent outcome call_fake_2_4 Failed Some(3) "ls: cannot access 'nope': No such file or directory\n"
    agent reply "Fixing."
    agent call call_fake_3_1 edit {"filePath":"/home/dv/oc/repo/src/calc.py","oldString":"a - b","newString":"a + b"}
    agent call call_fake_3_2 invalid {"tool":"time_machine","error":"Model tried to call unavailable tool 'time_machine'. Available tools: bash,
    agent call call_fake_3_3 task {"description":"sub","prompt":"SUB-PROMPT say hi","subagent_type":"general"}
    agent outcome call_fake_3_1 Done None "Edit applied successfully."
    agent outcome call_fake_3_2 Done None "The arguments provided to the tool are invalid: Model tried to call unavailable tool 'time_machine'. 
    agent outcome call_fake_3_3 Done None "<task id=\"ses_e2281c45effeuaSUPHRb3XfN30\" state=\"completed\">\n<task_result>\nSUB-REPLY from the s
    agent call call_fake_5_0 todowrite {"todos":[{"content":"fix add","status":"completed","priority":"high"},{"content":"run tests","status":"p
    agent call call_fake_5_1 write {"filePath":"/home/dv/oc/repo/NOTES.md","content":"done ✓\n"}
    agent outcome call_fake_5_0 Done None "[\n  {\n    \"content\": \"fix add\",\n    \"status\": \"completed\",\n    \"priority\": \"high\"\n  
    agent outcome call_fake_5_1 Done None "Wrote file successfully."
    agent reasoning "ok"
    agent reply "Fertig: `add` addiert. SENT-REPLY-1"
    "#);
}

#[test]
fn a_compaction_stands_before_what_it_kept() {
    insta::assert_snapshot!(live_of("compaction"), @r#"
    agent summary "COMPACTION-SUMMARY-SENTINEL"
    user prompt "CMP-USER-8 lorem ipsum lorem i…"
    agent reply "CMP-ASSIST-8"
    agent call c8 Bash {"command":"echo 8"}
    agent outcome c8 Done None "CMP-RESULT-8 xxxxxxxxxxxxxxxxx…"
    user prompt "CMP-USER-9 lorem ipsum lorem i…"
    agent reply "CMP-ASSIST-9"
    agent call c9 Bash {"command":"echo 9"}
    agent outcome c9 Done None "CMP-RESULT-9 xxxxxxxxxxxxxxxxx…"
    user prompt "CMP-USER-10 lorem ipsum lorem …"
    agent reply "CMP-ASSIST-10"
    agent call c10 Bash {"command":"echo 10"}
    agent outcome c10 Done None "CMP-RESULT-10 xxxxxxxxxxxxxxxx…"
    user prompt "CMP-USER-11 lorem ipsum lorem …"
    agent reply "CMP-ASSIST-11"
    agent call c11 Bash {"command":"echo 11"}
    agent outcome c11 Done None "CMP-RESULT-11 xxxxxxxxxxxxxxxx…"
    user prompt "go CMP"
    agent reply "reply one"
    agent reply "reply two"
    user prompt "after CMP"
    agent reply "FAKE-DEFAULT-REPLY"
    "#);
}

#[test]
fn what_was_taken_back_is_not_live() {
    insta::assert_snapshot!(live_of("reverted"), @r#"
    user prompt "do first"
    agent reply "first answer"
    agent call call_fake_7_1 bash {"command":"echo one","description":"x"}
    agent outcome call_fake_7_1 Done Some(0) "one\n"
    agent reply "first end"
    "#);
}

#[test]
fn what_the_user_stopped_is_sent_with_what_came_of_it() {
    insta::assert_snapshot!(live_of("stopped"), @r#"
    user prompt "look at this file"
    hook prompt "Called the Read tool with the following input: {\"filePath\":\"/home/dv/oc/repo/src/calc.py\"}" "<path>/home/dv/oc/repo/src/cal
    agent reply "third answer"
    agent call call_fake_10_1 bash {"command":"sleep 60","description":"x"}
    agent outcome call_fake_10_1 Interrupted None "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>"
    hook prompt "The following tool was executed by the user"
    agent call 01M7ER023NWNN3GNP5H225SXTJ bash {"command":"echo by-hand"}
    agent outcome 01M7ER023NWNN3GNP5H225SXTJ Done None "by-hand\n"
    "#);
}

#[test]
fn a_call_without_an_outcome_is_answered() {
    insta::assert_snapshot!(live_of("killed"), @r#"
    user prompt "look at this file"
    hook prompt "Called the Read tool with the following input: {\"filePath\":\"/home/dv/oc/repo/src/calc.py\"}" "<path>/home/dv/oc/repo/src/cal
    agent reply "third answer"
    agent call call_fake_13_1 bash {"command":"sleep 60","description":"x"}
    answered: [Tool execution was interrupted]
    "#);
}

#[test]
fn a_limit_is_told_and_nothing_of_it_is_sent() {
    let transcript = read(&source(&fixture("limit")));
    let lines: Vec<String> = transcript.entries.iter().map(line_of).collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    user prompt "limit me forever"
    harness failure RateLimit "Rate limit reached for fake-model" Some("2026-11-15T01:16:26.258Z")
    "#);
}

/// An export and the rows of a database say the same, with the same keys.
#[test]
fn a_database_reads_like_an_export() {
    for name in FIXTURES {
        let whole = export(name);
        let made = Made::of(std::slice::from_ref(&whole));
        let mut from_rows = read(&Source { path: made.path(), key: whole["info"]["id"].as_str().map(str::to_owned) });
        let mut from_file = read(&source(&fixture(name)));
        assert_eq!(from_rows.header.session, from_file.header.session);
        for transcript in [&mut from_rows, &mut from_file] {
            transcript.header.files.clear();
            transcript.entries.iter_mut().for_each(|entry| entry.key.length = 0);
        }
        assert_eq!(from_rows, from_file, "{name}");
    }
}

#[test]
fn reading_in_two_steps_is_reading_at_once() {
    for name in ["rich", "compaction", "killed", "stopped"] {
        let whole = export(name);
        let id = whole["info"]["id"].as_str().unwrap().to_owned();
        for count in 0..=whole["messages"].as_array().unwrap().len() {
            let made = Made::of(&[]);
            let source = Source { path: made.path(), key: Some(id.clone()) };
            let connection = Connection::open(made.path()).unwrap();
            add(&connection, &whole, count);
            let mut builder = TranscriptBuilder::new("opencode").keeping_everything();
            let bookmark = OpenCode.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
            add(&connection, &whole, usize::MAX);
            let again = OpenCode.read_session(&source, &bookmark, &mut builder).unwrap();
            let (at_once, end) =
                read_from(&source, TranscriptBuilder::new("opencode").keeping_everything(), &Bookmark::Start);
            assert_eq!(builder.finish(), at_once, "{name} after {count}");
            assert_eq!(again, end);
        }
    }
}

/// A session that was compacted at last, after many times the messages of another.
fn long() -> Value {
    let (mut whole, other) = (export("compaction"), export("rich").to_string());
    let ids = ["msg_", "prt_"];
    let mut messages = Vec::new();
    for round in 0..40 {
        // Names of their own, which are in order as the client's are.
        let other = ids.iter().fold(other.clone(), |other, id| other.replace(id, &format!("{id}0{round:02}")));
        let mut other: Value = serde_json::from_str(&other).unwrap();
        for message in other["messages"].as_array_mut().unwrap() {
            message["info"]["time"]["created"] = json!(1000 + messages.len());
            for part in message["parts"].as_array_mut().unwrap() {
                if let Some(output) = part.pointer_mut("/state/output") {
                    *output = json!(output.as_str().unwrap().repeat(20));
                }
            }
            messages.push(message.take());
        }
    }
    messages.append(whole["messages"].as_array_mut().unwrap());
    whole["messages"] = json!(messages);
    whole
}

#[test]
fn what_lies_before_the_last_compaction_is_told_in_order_and_by_its_kinds() {
    let made = Made::of(&[long()]);
    let connection = Connection::open(made.path()).unwrap();
    let bad = [r#"{"type":"text","text":"\ud800"}"#, r#"{"type":"text","text":"cut"#, r#"{"type":"tool","tool":7}"#];
    for (index, data) in bad.iter().enumerate() {
        let sql = "UPDATE part SET data = ?1 WHERE rowid IN (?2, (SELECT max(rowid) FROM part) - ?2)";
        assert_eq!(connection.execute(sql, params![data, index * 2 + 3]).unwrap(), 2);
    }
    let source = source(&made.path());
    let (mut whole, end) =
        read_from(&source, TranscriptBuilder::new("opencode").keeping_everything(), &Bookmark::Start);
    assert!(
        whole.rejected.len() == 6 && whole.entries.iter().map(|entry| entry.body.text_len()).sum::<usize>() > 600_000
    );
    for pair in whole.entries.windows(2) {
        let (before, after) = (pair[0].node.unwrap(), pair[1].node.unwrap());
        assert!(after.id == before.id || after.parent == Some(before.id));
    }
    let last = whole.entries.iter().rposition(|entry| matches!(entry.body, Body::Compacted(_))).unwrap();
    whole.entries[..last].iter_mut().for_each(Entry::reduce);
    assert_eq!(read_from(&source, TranscriptBuilder::new("opencode"), &Bookmark::Start), (whole, end));
}

#[test]
fn a_row_that_changes_is_read_again() {
    let made = Made::of(&[export("killed")]);
    let source = source(&made.path());
    let mut builder = TranscriptBuilder::new("opencode").keeping_everything();
    let bookmark = OpenCode.read_session(&source, &Bookmark::Start, &mut builder).unwrap();
    let connection = Connection::open(made.path()).unwrap();
    let state = r#"{"status":"completed","input":{},"output":"late","title":"","metadata":{},"time":{"start":1894717546000,"end":1894717547000}}"#;
    let sql = "UPDATE part SET time_updated = time_updated + 1, data = json_set(data, '$.state', json(?1))
               WHERE json_extract(data, '$.type') = 'tool'";
    assert_eq!(connection.execute(sql, [state]).unwrap(), 1);
    OpenCode.read_session(&source, &bookmark, &mut builder).unwrap();
    let transcript = builder.finish();
    assert_eq!(
        transcript,
        read_from(&source, TranscriptBuilder::new("opencode").keeping_everything(), &Bookmark::Start).0
    );
    assert!(render_live(&transcript).contains("late"));
}

#[test]
fn records_are_told_as_they_are_exported() {
    let made = Made::of(&[export("rich")]);
    let transcript = read(&source(&made.path()));
    for entry in &transcript.entries {
        let record: Value =
            serde_json::from_str(&OpenCode.read_record(&transcript.header, entry.key).unwrap()).unwrap();
        let parts = record["parts"].as_array().unwrap();
        assert!(record["info"]["id"].is_string() && parts.iter().all(|part| part["id"].is_string()));
        let again = OpenCode.reload_entries(&transcript.header, entry.key).unwrap();
        assert!(again.contains(entry));
    }
}

#[test]
fn sessions_are_listed_without_their_sub_agents() {
    let exports: Vec<Value> = FIXTURES.iter().map(|name| export(name)).collect();
    let made = Made::of(&exports);
    let mut lines = Vec::new();
    let store = Store { root: made.folder.path().to_owned() };
    OpenCode
        .list_sessions(&store, &mut |found| {
            let at = found.updated_at.map(|at| at.to_string());
            lines.push(format!(
                "{} {:?} {:?} {:?} {at:?} {}",
                found.id, found.title, found.project, found.model, found.drifted
            ));
            ControlFlow::Continue(())
        })
        .unwrap();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    ses_e227f89e7ffekMB1UzWD5Kttdp Some("Killed one") Some("/home/dv/oc/repo") Some("fake-model") Some("2026-11-15T04:39:06.163Z") false
    ses_e22800fccffeD8PxB0VN3pc6TQ Some("Stopped one") Some("/home/dv/oc/repo") Some("fake-model") Some("2026-11-15T04:38:31.929Z") false
    ses_e228040f0ffeBHVqRrRcvpy2n7 Some("Reverted one") Some("/home/dv/oc/repo") Some("fake-model") Some("2026-11-15T04:38:31.718Z") false
    ses_e22820679ffeGUVGmc66reWWoG Some("Fake title") Some("/home/dv/oc/repo") Some("fake-model") Some("2026-11-15T04:36:48.342Z") false
    ses_e271ecbffffehSIaGDsIAKvo2A Some("CMP title") Some("/home/dv/oc/repo") Some("fake-model") Some("2026-11-15T01:18:23.915Z") false
    ses_e233941d5ffePVnGb84WxLgqIg Some("T") Some("/home/dv/oc/repo") Some("fake-model") Some("2026-11-15T01:16:17.131Z") false
    ses_e233e26f5ffeMikyX9soChLUVF Some("Fix failing calc test") Some("/home/dv/oc/repo") Some("fake-model") Some("2026-11-15T01:12:07.217Z") false
    "#);
}

#[test]
fn a_sub_agent_names_its_parent_and_the_parent_its_sub_agent() {
    let made = Made::of(&[export("rich"), export("subagent")]);
    let header = read(&source(&made.path())).header;
    let child = read(&source(&header.children[0])).header;
    assert_eq!(child.parent, Some(header.session));
}

#[test]
fn a_file_that_is_cut_anywhere_is_an_error_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(fixture("limit")).unwrap();
    let path = folder.path().join("cut.json");
    for end in 0..bytes.trim_ascii_end().len() {
        std::fs::write(&path, &bytes[..end]).unwrap();
        let result = OpenCode.read_session(&source(&path), &Bookmark::Start, &mut TranscriptBuilder::new("opencode"));
        assert!(result.is_err(), "{end}");
    }
    let made = Made::of(&[export("limit")]);
    let bytes = std::fs::read(made.path()).unwrap();
    for end in (0..bytes.len()).step_by(509) {
        std::fs::write(&path, &bytes[..end]).unwrap();
        // The part of it that can still be read is right; the rest is an error.
        let _ = OpenCode.read_session(&source(&path), &Bookmark::Start, &mut TranscriptBuilder::new("opencode"));
    }
}

#[test]
fn what_is_not_there_is_said() {
    let made = Made::of(&[export("limit")]);
    let missing = Source { path: made.path(), key: Some("ses_gone".into()) };
    let result = OpenCode.read_session(&missing, &Bookmark::Start, &mut TranscriptBuilder::new("opencode"));
    assert!(matches!(result, Err(AgentError::NotASession { .. })));
}

#[test]
fn snapshots_and_usage_are_notes() {
    let transcript = read(&source(&fixture("driven")));
    let is_snapshot = |entry: &&Entry| entry.body == Body::Note(Note::Snapshot);
    let n_usage = transcript.entries.iter().filter_map(Entry::usage).count();
    assert_eq!((n_usage, transcript.entries.iter().filter(is_snapshot).count()), (9, 3));
}

#[test]
fn loose_files_are_recognised() {
    let made = Made::of(&[export("limit")]);
    for (path, ours) in [(fixture("rich"), true), (made.path(), true), (fixture("../README.md"), false)] {
        let head = std::fs::read(&path).unwrap_or_default();
        assert_eq!(OpenCode.recognises(&path, &head), ours, "{}", path.display());
    }
}

/// The store of older clients, made from an export.
fn in_folders(folder: &Path, export: &Value) -> PathBuf {
    let write = |path: &str, value: &Value| {
        let path = folder.join("storage").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, value.to_string()).unwrap();
        path
    };
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let session = id(&export["info"]);
    for message in export["messages"].as_array().unwrap() {
        let name = id(&message["info"]);
        write(&format!("message/{session}/{name}.json"), &message["info"]);
        for part in message["parts"].as_array().unwrap() {
            write(&format!("part/{name}/{}.json", id(part)), part);
        }
    }
    write(&format!("session/global/{session}.json"), &export["info"])
}

#[test]
fn the_files_of_older_clients_read_like_an_export() {
    for name in FIXTURES {
        let folder = tempfile::tempdir().unwrap();
        let path = in_folders(folder.path(), &export(name));
        assert!(OpenCode.recognises(&path, &std::fs::read(&path).unwrap()));
        let mut from_folders = read(&source(&path));
        assert_eq!(render_live(&from_folders), live_of(name));
        let mut from_file = read(&source(&fixture(name)));
        for transcript in [&mut from_folders, &mut from_file] {
            transcript.header.files.clear();
            transcript.entries.iter_mut().for_each(|entry| entry.key.length = 0);
        }
        assert_eq!(from_folders, from_file, "{name}");
    }
}

#[test]
fn a_session_that_was_taken_over_is_listed_once() {
    let made = Made::of(&[export("rich")]);
    in_folders(made.folder.path(), &export("rich"));
    in_folders(made.folder.path(), &export("limit"));
    let found = fixtures::list_sessions(&OpenCode, made.folder.path()).into_iter();
    let found: Vec<_> = found.map(|session| (session.title, session.source.key.is_some(), session.drifted)).collect();
    assert_eq!(found, [(Some("Fake title".to_owned()), true, false), (Some("T".to_owned()), false, false)]);
}

#[test]
fn the_rules_of_a_session_are_told_from_the_database() {
    let made = Made::of(&[export("rich")]);
    let connection = Connection::open(made.path()).unwrap();
    // As the client fills it where nobody can answer questions.
    let rules = r#"[{"permission":"question","pattern":"*","action":"deny"},{"permission":"plan_enter","pattern":"*","action":"deny"}]"#;
    connection.execute("ALTER TABLE session ADD COLUMN permission TEXT", []).unwrap();
    connection.execute("UPDATE session SET permission = ?1", [rules]).unwrap();
    let key = export("rich")["info"]["id"].as_str().map(str::to_owned);
    let begun = read(&Source { path: made.path(), key }).header.start_settings;
    assert_eq!(begun.permission_mode.as_deref(), Some("build"));
    assert_eq!(begun.permission_rules, ["deny question *", "deny plan_enter *"]);
}
