//! Plans, and what our own reader makes of them once they are imported.

use std::collections::BTreeMap;

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Action, CallForm, PlanStep, Status, StepState};

use super::*;
use crate::write_fixtures::{
    self, MOVED_IMAGE, asked, blob, call_body, edit, moved_request, outcome_body, said, text_parts,
};
use crate::{
    AgentError, CarriedEntry, Env, Store, TargetView, VendorCommand, Version, WriteOp, WritePlan, WriteRequest,
};

/// A session of another agent with one of everything.
fn session() -> Vec<CarriedEntry> {
    let plan = Action::Plan(vec![PlanStep { text: "Fix".into(), state: StepState::InProgress }]);
    let seen = vec![Part::Text("seen".into()), blob("image/png", MOVED_IMAGE), blob("audio/wav", MOVED_IMAGE)];
    let mut session = write_fixtures::moved_session();
    session.extend([
        asked(10, "c3", edit("calc.py")),
        said(11, outcome_body("c3", Status::Done, None, text_parts("done"))),
        asked(12, "c4", plan),
        said(13, outcome_body("c4", Status::Done, None, seen)),
        said(14, call_body("c5", "their.tool", r#""free text""#, CallForm::Freeform)),
        said(15, outcome_body("c5", Status::Interrupted, None, text_parts("stopped"))),
        said(16, Body::Reply(text_parts("first"))),
        said(17, Body::Reply(text_parts("second"))),
        said(18, Body::Summary(text_parts("a later summary"))),
    ]);
    session
}

fn planned(entries: &[CarriedEntry], program: Option<&Path>, brief: Option<&str>) -> Result<WritePlan, AgentError> {
    let vars = BTreeMap::from([("XDG_STATE_HOME".to_owned(), "/state".to_owned())]);
    let env = Env { vars, now: Timestamp::parse("2026-11-15T01:00:00.000Z").unwrap(), ..write_fixtures::sample_env() };
    let store = Store { root: "/home/u/.local/share/opencode".into() };
    let request = WriteRequest { source_model: None, ..moved_request(entries, brief) };
    let target = TargetView { env: &env, store: &store, program, version: Some(Version(1, 18, 33)) };
    OpenCode.writer().unwrap().plan(&request, &target)
}

fn plan(entries: &[CarriedEntry], brief: Option<&str>) -> WritePlan {
    planned(entries, Some(Path::new("/bin/opencode")), brief).unwrap()
}

fn run_of(plan: &WritePlan) -> &VendorCommand {
    let [WriteOp::Run(run)] = &plan.ops[..] else { panic!("one command") };
    run
}

fn export_of(plan: &WritePlan) -> Value {
    serde_json::from_slice(&run_of(plan).files[0].1).unwrap()
}

/// Ids are told by their order, and what every message has is left out.
fn shortened(export: &Value) -> String {
    let mut out = String::new();
    for message in export["messages"].as_array().unwrap() {
        let info = &message["info"];
        writeln!(out, "{} {} {}", info["role"].as_str().unwrap(), info["time"]["created"], info["finish"]).unwrap();
        for part in message["parts"].as_array().unwrap() {
            assert_eq!(part["messageID"], info["id"]);
            assert_eq!(part["sessionID"], export["info"]["id"]);
            let mut part = part.as_object().unwrap().clone();
            part.retain(|name, _| !matches!(name.as_str(), "id" | "messageID" | "sessionID" | "cost" | "tokens"));
            writeln!(
                out,
                "  {}",
                Value::Object(part).to_string().replace(export["info"]["id"].as_str().unwrap(), "ses")
            )
            .unwrap();
        }
    }
    out
}

#[test]
fn a_session_of_another_agent_in_the_clients_own_form() {
    let plan = plan(&session(), None);
    insta::assert_snapshot!(shortened(&export_of(&plan)), @r#"
    user 1794704183031 null
      {"type":"compaction","auto":false}
    assistant 1794704183032 "stop"
      {"type":"step-start"}
      {"type":"text","text":"what happened before","time":{"start":1794704183032,"end":1794704183032}}
      {"type":"step-finish","reason":"stop"}
    user 1794704184031 null
      {"type":"text","text":"look"}
      {"type":"file","mime":"image/png","url":"data:image/png;base64,aW1hZ2U="}
    user 1794704185031 null
      {"type":"text","text":"be brief","synthetic":true,"metadata":{"carryover":"brought"}}
    assistant 1794704187031 "tool-calls"
      {"type":"step-start"}
      {"type":"text","text":"I look.","time":{"start":1794704187031,"end":1794704187031}}
      {"type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"ls"},"output":"no such file","title":"ls","metadata":{"output":"no such file","truncated":false,"exit":3},"time":{"start":1794704188031,"end":1794704190031}}}
      {"type":"tool","tool":"read","callID":"c2","state":{"status":"error","input":{"filePath":"/new/x","offset":2},"error":"denied","time":{"start":1794704189031,"end":1794704191031}}}
      {"type":"step-finish","reason":"tool-calls"}
    assistant 1794704192031 "tool-calls"
      {"type":"step-start"}
      {"type":"tool","tool":"edit","callID":"c3","state":{"status":"completed","input":{"filePath":"/new/calc.py","oldString":"a\nb","newString":"a\nc"},"output":"done","title":"/new/calc.py","metadata":{"output":"done","truncated":false},"time":{"start":1794704192031,"end":1794704193031}}}
      {"type":"step-finish","reason":"tool-calls"}
    assistant 1794704194031 "tool-calls"
      {"type":"step-start"}
      {"type":"tool","tool":"todowrite","callID":"c4","state":{"status":"completed","input":{"todos":[{"content":"Fix","status":"in_progress","priority":"medium"}]},"output":"seen\n\n[a file: audio/wav, not carried over]","title":"","metadata":{"output":"seen\n\n[a file: audio/wav, not carried over]","truncated":false},"time":{"start":1794704194031,"end":1794704195031},"attachments":[{"type":"file","mime":"image/png","url":"data:image/png;base64,aW1hZ2U=","id":"prt_1dcb4bdd7000cJlapNTvsYPk0N","sessionID":"ses","messageID":"msg_1dcb4b9ef000xMbGWRAVZgVeqQ"}]}}
      {"type":"step-finish","reason":"tool-calls"}
    assistant 1794704196031 "tool-calls"
      {"type":"step-start"}
      {"type":"tool","tool":"their_tool","callID":"c5","state":{"status":"error","input":{"input":"free text"},"error":"stopped","time":{"start":1794704196031,"end":1794704197031}}}
      {"type":"step-finish","reason":"tool-calls"}
    assistant 1794704198031 "stop"
      {"type":"step-start"}
      {"type":"text","text":"first","time":{"start":1794704198031,"end":1794704198031}}
      {"type":"step-finish","reason":"stop"}
    assistant 1794704199031 "stop"
      {"type":"step-start"}
      {"type":"text","text":"second","time":{"start":1794704199031,"end":1794704199031}}
      {"type":"step-finish","reason":"stop"}
    user 1794704200031 null
      {"type":"text","text":"a later summary","synthetic":true,"metadata":{"carryover":"summary"}}
    "#);
    insta::assert_snapshot!(format!("{:#?}", plan.losses), @r#"
    [
        Loss {
            what: "reasoning",
            count: 1,
            reason: "to another model, the client would send it as if it had been said",
        },
        Loss {
            what: "attachment",
            count: 1,
            reason: "the client sends images (PNG, JPEG, GIF, WebP) and PDF only, and none of the agent's own",
        },
    ]
    "#);
    assert_eq!(plan.translated, 4);
}

#[test]
fn the_command_is_kept_from_everything_that_is_not_its_business() {
    let plan = plan(&session(), None);
    let mut run = run_of(&plan).clone();
    run.files.clear();
    run.inverse.rows.clear();
    insta::assert_snapshot!(format!("{run:#?}"), @r#"
    VendorCommand {
        program: "/bin/opencode",
        args: [
            "import",
            "{temporary}/session.json",
        ],
        vars: [
            (
                "XDG_STATE_HOME",
                "/state",
            ),
            (
                "OPENCODE_PURE",
                "1",
            ),
            (
                "OPENCODE_DISABLE_AUTOUPDATE",
                "1",
            ),
            (
                "OPENCODE_DISABLE_DEFAULT_PLUGINS",
                "1",
            ),
            (
                "OPENCODE_DISABLE_LSP_DOWNLOAD",
                "1",
            ),
            (
                "OPENCODE_DISABLE_MODELS_FETCH",
                "1",
            ),
            (
                "OPENCODE_DISABLE_PROJECT_CONFIG",
                "1",
            ),
            (
                "XDG_CONFIG_HOME",
                "{temporary}/config",
            ),
            (
                "OPENCODE_TEST_HOME",
                "{temporary}/home",
            ),
            (
                "npm_config_offline",
                "true",
            ),
            (
                "OPENCODE_DB",
                "/home/u/.local/share/opencode/opencode.db",
            ),
        ],
        cwd: Some(
            "/new",
        ),
        files: [],
        required: true,
        dialogue: [],
        reason: "its own import takes the session in",
        inverse: Inverse {
            rows: [],
            lines: [],
        },
    }
    "#);
}

#[test]
fn what_the_command_would_fetch_is_in_its_private_folder() {
    let plan = plan(&session(), None);
    let files = run_of(&plan).files[1..].iter();
    let files: Vec<(&str, &str)> =
        files.map(|(name, bytes)| (name.as_str(), std::str::from_utf8(bytes).unwrap())).collect();
    let lock = r#"{"packages":{"":{"dependencies":{"@opencode-ai/plugin":"*"}}}}"#;
    assert_eq!(files, [("config/opencode/package-lock.json", lock), ("config/opencode/node_modules/.keep", "")]);
}

#[test]
fn what_the_command_adds_can_be_taken_back() {
    let plan = plan(&session(), None);
    let inverse = &run_of(&plan).inverse;
    assert_eq!(inverse.lines, []);
    insta::assert_snapshot!(format!("{:#?}", inverse.rows[0]), @r#"
    SessionRows {
        database: "/home/u/.local/share/opencode/opencode.db",
        table: "part",
        column: "session_id",
        value: "ses_e2348217ffffpJwnp1lBYOp1Cq",
        is_prefix: false,
        is_session: true,
        owner: None,
        member: None,
    }
    "#);
}

#[test]
fn the_session_is_opened_by_its_id_where_it_goes_on() {
    let plan = plan(&session(), None);
    insta::assert_snapshot!(format!("{:#?}\n{}", plan.resume, export_of(&plan)["info"]), @r#"
    ResumeCommand {
        argv: [
            "opencode",
            "--session",
            "ses_e2348217ffffpJwnp1lBYOp1Cq",
        ],
        cwd: "/new",
        needs_cwd: true,
    }
    {"id":"ses_e2348217ffffpJwnp1lBYOp1Cq","slug":"carried-over","projectID":"global","directory":"/new","title":"A title","version":"1.18.33","metadata":{"carryover":"other"},"time":{"created":1794704183031,"updated":1794704400000}}
    "#);
}

#[test]
fn what_is_planned_is_read_back_as_it_was_meant() {
    let entries = session();
    let plan = plan(&entries, None);
    let made = Made::of(&[export_of(&plan)]);
    let transcript = read(&Source { path: made.path(), key: plan.key.clone() });
    assert!(transcript.rejected.is_empty());
    insta::assert_snapshot!(render_live(&transcript), @r#"
    agent summary "what happened before"
    user prompt "look" <image/png None Inline(8 bytes)>
    hook prompt "be brief"
    agent reply "I look."
    agent call c1 bash {"command":"ls"}
    agent call c2 read {"filePath":"/new/x","offset":2}
    agent outcome c1 Failed Some(3) "no such file"
    agent outcome c2 Failed None "denied"
    agent call c3 edit {"filePath":"/new/calc.py","oldString":"a\nb","newString":"a\nc"}
    agent outcome c3 Done None "done"
    agent call c4 todowrite {"todos":[{"content":"Fix","status":"in_progress","priority":"medium"}]}
    agent outcome c4 Done None "seen\n\n[a file: audio/wav, not carried over]" <image/png None Inline(8 bytes)>
    agent call c5 their_tool {"input":"free text"}
    agent outcome c5 Failed None "stopped"
    agent reply "first"
    agent reply "second"
    agent summary "a later summary"
    "#);
    // Every entry that was written is where the plan says.
    for written in &plan.origins {
        assert!(transcript.entries.iter().any(|entry| entry.key.offset == written.offset));
    }
    let lost = entries.len() - plan.origins.len();
    assert_eq!(lost, 1, "the reasoning");
}

#[test]
fn an_outline_stands_in_the_clients_own_compaction() {
    let plan = plan(&session()[1..3], Some("the outline"));
    let made = Made::of(&[export_of(&plan)]);
    let live = render_live(&read(&source(&made.path())));
    assert!(live.starts_with("agent summary \"the outline\"\nuser prompt"), "{live}");
}

#[test]
fn without_the_client_there_is_no_way_in() {
    let error = planned(&session(), None, None).unwrap_err().to_string();
    insta::assert_snapshot!(error, @"OpenCode cannot hold this session: OpenCode is not installed, and only its own `opencode import` can add a session");
}

#[test]
fn the_same_request_gives_the_same_plan() {
    assert_eq!(plan(&session(), None), plan(&session(), None));
}

/// The client's own messages are written back as they were, under new names.
#[test]
fn messages_of_its_own_come_back_as_they_were() {
    for name in FIXTURES {
        let whole = export(name);
        let transcript = read(&source(&fixture(name)));
        let mut entries = Vec::new();
        for index in live::context_order(&transcript) {
            let mut entry = transcript.entries[index].clone();
            if matches!(entry.body, Body::Opaque(_)) {
                let again = OpenCode.reload_entries(&transcript.header, entry.key).unwrap();
                entry = again.into_iter().find(|other| other.key == entry.key).unwrap();
            }
            let native = OpenCode.read_record(&transcript.header, entry.key).ok();
            entries.push(CarriedEntry { entry, agent: "opencode", action: Action::Other, native, clipped: false });
        }
        let plan = plan(&entries, None);
        assert!(plan.losses.is_empty() && plan.origins.len() == entries.len(), "{name}");
        let made = Made::of(&[export_of(&plan)]);
        assert_eq!(render_live(&read(&source(&made.path()))), render_live(&transcript), "{name}");
        let ids = |export: &Value| -> Vec<String> {
            let messages = export["messages"].as_array().unwrap();
            messages.iter().map(|message| message["info"]["id"].as_str().unwrap().to_owned()).collect()
        };
        assert!(ids(&export_of(&plan)).iter().all(|id| !ids(&whole).contains(id)), "{name}");
    }
}

#[test]
fn no_message_is_later_than_the_next_prompt() {
    let mut entries = session();
    entries.last_mut().unwrap().entry.at = Timestamp::parse("2031-01-01T00:00:00.000Z");
    let export = export_of(&plan(&entries, None));
    let times: Vec<i64> = export["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["info"]["time"]["created"].as_i64().unwrap())
        .collect();
    assert!(times.is_sorted_by(|a, b| a < b));
    assert!(*times.last().unwrap() <= Timestamp::parse("2026-11-15T01:00:00.000Z").unwrap().millis());
}
