//! Plans, and what our own reader makes of them once they are imported.

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Action, Origin, SessionId, Status};

use super::*;
use crate::formats::ids;
use crate::write_fixtures::{
    self, MOVED_IMAGE, asked, blob, carried_entry, edit, moved_request, outcome_body, said, text_parts,
};
use crate::{
    AgentError, CarriedEntry, Env, Store, TEMPORARY_FOLDER, TargetView, VendorCommand, Version, WriteOp, WritePlan,
    WriteRequest,
};

/// A session of another agent with one of everything.
fn session() -> Vec<CarriedEntry> {
    let seen = vec![Part::Text("seen".into()), blob("image/png", MOVED_IMAGE), blob("audio/x", MOVED_IMAGE)];
    let mut session = write_fixtures::moved_session();
    session.extend([
        asked(10, "c3", edit("/old/calc.py")),
        said(11, outcome_body("c3", Status::Done, None, text_parts("done"))),
        asked(12, "c4", Action::Other),
        said(13, outcome_body("c4", Status::Done, None, seen)),
        said(14, Body::Reply(text_parts("first"))),
        said(15, Body::Reply(text_parts("second"))),
        said(16, Body::Summary(text_parts("a later summary"))),
    ]);
    session
}

fn planned(entries: &[CarriedEntry], program: Option<&Path>, brief: Option<&str>) -> Result<WritePlan, AgentError> {
    let env = Env { now: Timestamp::parse("2026-11-15T01:00:00.000Z").unwrap(), ..write_fixtures::sample_env() };
    let store = Store { root: "/home/u/.openclaw".into() };
    let request = WriteRequest {
        source_model: Some("their-model"),
        started_at: Timestamp::parse("2026-11-15T00:56:22.000Z").unwrap(),
        tokens: 321,
        ..moved_request(entries, brief)
    };
    let target = TargetView { env: &env, store: &store, program, version: Some(Version(2026, 9, 6)) };
    OpenClaw.writer().unwrap().plan(&request, &target)
}

fn plan(entries: &[CarriedEntry]) -> WritePlan {
    planned(entries, Some(Path::new("/bin/openclaw")), None).unwrap()
}

fn run_of(plan: &WritePlan) -> &VendorCommand {
    let [WriteOp::Run(run)] = &plan.ops[..] else { panic!("not one command") };
    run
}

/// The records that the client is handed.
fn handed(plan: &WritePlan) -> Vec<Value> {
    let (_, bytes) = run_of(plan).files.iter().find(|(name, _)| name.contains("jsonl")).unwrap();
    std::str::from_utf8(bytes).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_golden_plan() {
    let plan = plan(&session());
    let mut told = String::new();
    let run = run_of(&plan);
    writeln!(told, "{:?} {:?}", run.program, run.args).unwrap();
    writeln!(told, "{:?}", run.vars).unwrap();
    for (name, bytes) in &run.files {
        writeln!(told, "== {name}\n{}", std::str::from_utf8(bytes).unwrap()).unwrap();
    }
    for rows in &run.inverse.rows {
        writeln!(told, "{} {} = {} {}", rows.table, rows.column, rows.value, rows.is_session).unwrap();
    }
    writeln!(told, "{:?}", plan.resume.argv).unwrap();
    for loss in &plan.losses {
        writeln!(told, "{} {}: {}", loss.count, loss.what, loss.reason).unwrap();
    }
    insta::assert_snapshot!("plan", told);
}

#[test]
fn what_was_written_is_read_as_it_was_meant() {
    let entries = session();
    let plan = plan(&entries);
    let made = Made::of(&[&handed(&plan)]);
    insta::assert_snapshot!("written", render_live(&read(&source(&made.path()))));
    let named: Vec<u64> = handed(&plan).iter().map(|record| ids::digest_name(record["id"].as_str().unwrap())).collect();
    assert!(plan.origins.iter().all(|written| named.contains(&written.offset)));
    let written: Vec<usize> = plan.origins.iter().map(|written| written.entry).collect();
    // All but the reasoning.
    assert_eq!(written, (0..entries.len()).filter(|entry| *entry != 3).collect::<Vec<_>>());
}

#[test]
fn an_outline_is_the_clients_own_compaction() {
    let plan = planned(&session(), Some(Path::new("/bin/openclaw")), Some("an outline")).unwrap();
    let records = handed(&plan);
    assert_eq!(records[1]["type"], "compaction");
    assert_eq!(records[1]["summary"], "what happened before\n\nan outline");
    assert_eq!(records[1]["firstKeptEntryId"], records[1]["id"]);
    assert!(records[2..].iter().all(|record| record["type"] != "compaction"));
}

#[test]
fn a_prompt_at_the_end_is_followed_by_a_turn_that_failed() {
    let entries = [carried_entry(1, Origin::User, Body::Prompt(text_parts("and?")), Action::Other)];
    let records = handed(&plan(&entries));
    assert_eq!(records.last().unwrap()["message"]["stopReason"], "error");
    let made = Made::of(&[&records]);
    assert_eq!(render_live(&read(&source(&made.path()))), "User prompt: \"and?\"\n");
}

/// The live entries of a fixture, as they are handed to a writer of the same agent.
fn own(name: &str) -> Vec<CarriedEntry> {
    let transcript = read(&source(&fixture(name)));
    let mut entries = Vec::new();
    for alive in live::resolve_context(&transcript) {
        let LiveItem::Entry(index) = alive else { continue };
        let key = transcript.entries[index].key;
        let again = OpenClaw.reload_entries(&transcript.header, key).unwrap();
        let entry = again.into_iter().find(|entry| entry.key == key).unwrap();
        let native = OpenClaw.read_record(&transcript.header, key).ok();
        entries.push(CarriedEntry { entry, agent: "openclaw", action: Action::Other, native, clipped: false });
    }
    entries
}

#[test]
fn records_of_its_own_are_written_back_as_they_were() {
    for name in FIXTURES {
        let entries = own(name);
        let plan = plan(&entries);
        let made = Made::of(&[&handed(&plan)]);
        let mut meant = String::new();
        for carried in &entries {
            writeln!(meant, "{}", line_of(&carried.entry)).unwrap();
        }
        let found = render_live(&read(&source(&made.path())));
        let found: Vec<&str> = found.lines().filter(|line| !line.starts_with("answered")).collect();
        assert_eq!(found, meant.lines().collect::<Vec<_>>(), "{name}");
        assert!(plan.losses.is_empty() && plan.translated == 0, "{name}");
        let before = records(name);
        let answered = |record: &&Value| record["type"] == "message" && record["message"]["stopReason"] != "error";
        for record in handed(&plan).iter().filter(answered) {
            let original = before.iter().find(|before| before["id"] == record["id"]).unwrap();
            let (now, then) = (&record["message"], &original["message"]);
            assert!(now["content"] == then["content"] && now["details"] == then["details"], "{name}");
        }
    }
}

#[test]
fn the_client_is_needed_and_must_be_able_to_import() {
    let missing = planned(&session(), None, None).unwrap_err().to_string();
    assert!(missing.contains("not installed"), "{missing}");
    let run = plan(&session());
    assert!(run_of(&run).vars.contains(&("OPENCLAW_STATE_DIR".to_owned(), TEMPORARY_FOLDER.to_owned())));
}

#[test]
fn the_client_goes_on_with_a_session_by_its_key() {
    let made = Made::of(&[&records("whole")]);
    let id = found_id(&made);
    let source = Source { path: made.path(), key: Some(id.0.clone()) };
    made.open().execute("UPDATE session_windows SET session_key = 'agent:main:explicit:x'", []).unwrap();
    let command = OpenClaw.resume_command(&source, &id, "/p".as_ref()).unwrap();
    assert_eq!(command.argv, ["openclaw", "tui", "--local", "--session", "agent:main:explicit:x"]);
    made.open().execute("UPDATE session_windows SET session_key = '--config=/x'", []).unwrap();
    assert_eq!(OpenClaw.resume_command(&source, &id, "/p".as_ref()), None);
}

fn found_id(made: &Made) -> SessionId {
    let query = "SELECT session_id FROM session_windows";
    SessionId(made.open().query_row(query, [], |row| row.get(0)).unwrap())
}

#[test]
fn the_model_to_go_on_with_is_the_configured_one() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store { root: folder.path().to_owned() };
    let env = crate::write_fixtures::sample_env();
    let at = crate::SettingsView { env: &env, store: &store, project: folder.path() };
    assert_eq!(OpenClaw.current_model(&at), None);
    for model in [r#""openai/gpt-5.5""#, r#"{"primary":"openai/gpt-5.5","fallbacks":[]}"#] {
        let config = format!(r#"{{"agents":{{"defaults":{{"model":{model}}}}}}}"#);
        std::fs::write(folder.path().join("openclaw.json"), config).unwrap();
        assert_eq!(OpenClaw.current_model(&at).as_deref(), Some("gpt-5.5"));
    }
}
