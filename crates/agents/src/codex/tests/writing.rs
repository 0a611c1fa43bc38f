//! Writing: what is written is read back the same, natively and translated.

use std::collections::BTreeMap;
use std::sync::Arc;

use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Blob, BlobLocation, Call, CallForm, CallId, Change, EntryKey, Hunk, Outcome, PlanStep, Reasoning, Status,
    StepState,
};

use super::*;
use crate::{AgentError, CarriedEntry, Env, Inverse, Os, Store, TargetView, Version, WriteOp, WritePlan, WriteRequest};

const RED: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC";

/// A session of another agent in the making.
#[derive(Default)]
struct ForeignSession {
    entries: Vec<CarriedEntry>,
}

impl ForeignSession {
    fn push_entry(mut self, origin: Origin, body: Body, action: Action) -> Self {
        let n = self.entries.len() as u64;
        let key = EntryKey { file: 0, offset: n * 100, part: 0, length: 99 };
        let at =
            Timestamp::parse("2026-11-15T10:00:00.000Z").map(|at| at.plus_millis(i64::try_from(n).unwrap() * 1000));
        let entry = Entry { key, at, origin, side: false, node: None, body };
        self.entries.push(CarriedEntry { entry, agent: "claude-code", action, native: None, clipped: false });
        self
    }

    fn push_prompt(self, text: &str) -> Self {
        self.push_entry(Origin::User, Body::Prompt(vec![Part::Text(text.to_owned())]), Action::Other)
    }

    fn push_reply(self, text: &str) -> Self {
        self.push_entry(Origin::Agent, Body::Reply(vec![Part::Text(text.to_owned())]), Action::Other)
    }

    fn push_summary(self, text: &str) -> Self {
        self.push_entry(Origin::Agent, Body::Summary(vec![Part::Text(text.to_owned())]), Action::Other)
    }

    fn push_reasoning(self, text: &str) -> Self {
        let reasoning = Reasoning { text: text.to_owned(), sealed: true };
        self.push_entry(Origin::Agent, Body::Reasoning(Box::new(reasoning)), Action::Other)
    }

    fn push_call(self, id: &str, tool: &str, input: &str, action: Action) -> Self {
        let input = Json::parse(input).unwrap();
        let call = Call { id: CallId(id.into()), tool: tool.to_owned(), input, form: CallForm::Function };
        self.push_entry(Origin::Agent, Body::Call(Box::new(call)), action)
    }

    fn push_outcome(self, id: &str, status: Status, exit_code: Option<i32>, parts: Vec<Part>) -> Self {
        let outcome = Outcome { call: CallId(id.into()), status, exit_code, parts };
        self.push_entry(Origin::Agent, Body::Outcome(Box::new(outcome)), Action::Other)
    }

    fn push_done(self, id: &str, text: &str) -> Self {
        self.push_outcome(id, Status::Done, None, vec![Part::Text(text.to_owned())])
    }
}

fn image_part(name: Option<&str>) -> Part {
    let place = BlobLocation::Inline(Arc::from(RED));
    Part::Blob(Blob { media_type: "image/png".to_owned(), name: name.map(str::to_owned), location: place })
}

/// One of everything that another agent can bring.
fn full_session() -> ForeignSession {
    let run = |command: &str| Action::Run { command: command.to_owned(), workdir: None };
    let hunk = Hunk {
        context: None,
        old: "def add(a, b):\n    return a - b\n".to_owned(),
        new: "def add(a, b):\n    return a + b\n".to_owned(),
        everywhere: false,
    };
    let update = Change::Update { path: "/old/repo/calc.py".to_owned(), moved_to: None, hunks: vec![hunk] };
    let steps = vec![PlanStep { text: "Fix".to_owned(), state: StepState::InProgress }];
    let path = "/old/repo/notes.md".to_owned();
    ForeignSession::default()
        .push_entry(
            Origin::User,
            Body::Prompt(vec![image_part(Some("/tmp/red.png")), Part::Text("Fix the add bug USER-ONE".to_owned())]),
            Action::Other,
        )
        .push_reasoning("THOUGHT: look first")
        .push_reply("REPLY-ONE looking")
        .push_call("toolu_1|x", "Bash", r#"{"command":"ls"}"#, run("ls"))
        .push_call("toolu_2", "Bash", r#"{"command":"false"}"#, run("false"))
        .push_done("toolu_1|x", "calc.py")
        .push_outcome("toolu_2", Status::Failed, Some(1), vec![Part::Text("RUN-FAILED".to_owned())])
        .push_call("toolu_3", "Read", r#"{"file_path":"/old/repo/calc.py"}"#, Action::Other)
        .push_done("toolu_3", "1\tdef add(a, b):")
        .push_call("toolu_4", "Edit", r#"{"file_path":"/old/repo/calc.py"}"#, Action::Edit(vec![update]))
        .push_done("toolu_4", "EDIT-DONE")
        .push_call(
            "toolu_5",
            "Write",
            r#"{"file_path":"x"}"#,
            Action::Write { path: path.clone(), content: "a\nb\n".to_owned() },
        )
        .push_done("toolu_5", "WRITE-DONE")
        .push_call("toolu_6", "Write", r#"{"file_path":"x"}"#, Action::Write { path, content: "no end".to_owned() })
        .push_done("toolu_6", "WRITE-DONE-2")
        .push_call("toolu_7", "TodoWrite", r#"{"todos":[]}"#, Action::Plan(steps))
        .push_done("toolu_7", "PLAN-DONE")
        .push_call("toolu_8", "mcp__github__create_issue", r#"{"title":"x"}"#, Action::Other)
        .push_done("toolu_8", "MCP-DONE")
        .push_call(
            "toolu_9",
            "Read",
            r#"{"file_path":"/old/repo/red.png"}"#,
            Action::View { path: "/old/repo/red.png".to_owned() },
        )
        .push_outcome("toolu_9", Status::Done, None, vec![image_part(None)])
        .push_call("toolu_10", "odd tool/name", r#""free text""#, Action::Other)
        .push_outcome("toolu_10", Status::Interrupted, None, Vec::new())
        .push_reply("REPLY-TWO done")
        .push_prompt("USER-TWO next")
        .push_reply("REPLY-THREE")
}

fn test_env() -> Env {
    Env {
        home: PathBuf::from("/home/dv"),
        vars: BTreeMap::new(),
        os: Os::Linux,
        now: Timestamp::parse("2026-11-15T12:00:00.000Z").unwrap(),
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::new(),
        projects: Vec::new(),
    }
}

fn write_request<'a>(entries: &'a [CarriedEntry], project: &'a Path) -> WriteRequest<'a> {
    WriteRequest {
        entries,
        brief: None,
        title: Some("a title"),
        project,
        old_project: Some(Path::new("/old/repo")),
        branch: Some("main"),
        source_agent: "claude-code",
        source_model: Some("claude-opus"),
        started_at: Timestamp::parse("2026-11-15T09:59:00.000Z").unwrap(),
        permission: carryover_core::transcript::Permission::Ask,
        tokens: 4321,
        seed: 7,
        sub_agent: None,
    }
}

fn plan_for(request: &WriteRequest<'_>, root: &Path, version: Option<Version>) -> Result<WritePlan, AgentError> {
    let store = Store { root: root.to_owned() };
    let program = Path::new("/usr/bin/codex");
    Codex
        .writer()
        .unwrap()
        .plan(request, &TargetView { env: &test_env(), store: &store, program: version.map(|_| program), version })
}

/// Writes the file of a plan and reads it back.
fn apply_plan(plan: &WritePlan) -> Transcript {
    let Some(WriteOp::Create { path, bytes, private: true, .. }) = plan.ops.first() else { panic!("no file") };
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    assert_eq!(path, &plan.file);
    let transcript = read_session(path);
    assert!(transcript.rejected.is_empty());
    assert_eq!(transcript.header.session, plan.session);
    transcript
}

fn payload_lines(plan: &WritePlan, kind: &str) -> String {
    let Some(WriteOp::Create { bytes, .. }) = plan.ops.first() else { panic!("no file") };
    let mut out = String::new();
    for line in std::str::from_utf8(bytes).unwrap().lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        if value["type"] == kind {
            writeln!(out, "{}", value["payload"].to_string().replace(RED, "RED")).unwrap();
        }
    }
    out
}

#[test]
fn a_foreign_session_is_told_in_codexs_words() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = full_session();
    let plan = plan_for(&write_request(&foreign.entries, Path::new("/new/repo")), folder.path(), None).unwrap();
    let transcript = apply_plan(&plan);
    insta::assert_snapshot!("foreign-items", payload_lines(&plan, "response_item"));
    insta::assert_snapshot!("foreign-events", payload_lines(&plan, "event_msg"));
    insta::assert_snapshot!("foreign-live", render_live(&transcript));
    assert_eq!(plan.translated, 5);
    let losses: Vec<_> = plan.losses.iter().map(|loss| (loss.what, loss.count)).collect();
    assert_eq!(losses, [("reasoning", 1)]);
    let file = "sessions/2026/11/15/rollout-2026-11-15T09-59-00-";
    assert!(plan.file.strip_prefix(folder.path()).unwrap().to_str().unwrap().starts_with(file));
    assert_eq!(plan.resume.argv, ["codex", "resume", &plan.session.0]);
    assert_eq!(transcript.header.title.as_deref(), Some("Fix the add bug USER-ONE"));
    assert_eq!(transcript.header.branch.as_deref(), Some("main"));
}

#[test]
fn older_clients_get_the_older_shape() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = full_session();
    let request = write_request(&foreign.entries, Path::new("/new/repo"));
    let plan = plan_for(&request, folder.path(), Some(Version(0, 130, 0))).unwrap();
    let Some(WriteOp::Create { bytes, .. }) = plan.ops.first() else { panic!("no file") };
    let text = std::str::from_utf8(bytes).unwrap();
    assert!(!text.contains("ordinal") && !text.contains("item_completed") && !text.contains("paginated"));
    assert!(text.contains("update_plan") && text.contains("exec_command_end"));
    assert_eq!(plan.ops.len(), 1, "older clients look at the disk themselves");
    apply_plan(&plan);
}

#[test]
fn origins_point_at_the_records() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = full_session();
    let plan = plan_for(&write_request(&foreign.entries, Path::new("/new/repo")), folder.path(), None).unwrap();
    let transcript = apply_plan(&plan);
    assert_eq!(plan.origins.len(), foreign.entries.len());
    for origin in &plan.origins {
        let source = &foreign.entries[origin.entry].entry.body;
        let written = transcript.entries.iter().find(|entry| entry.key.offset == origin.offset).unwrap();
        let shown = matches!(source, Body::Reasoning(_)) && written.body == Body::known("item_completed");
        assert!(shown || written.body.kind() == source.kind(), "{source:?} as {:?}", written.body);
    }
}

#[test]
fn newer_clients_are_told_by_their_own_command() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("state_7.sqlite"), "").unwrap();
    std::fs::write(folder.path().join("config.toml"), "model_provider = \"local\"\n").unwrap();
    let foreign = ForeignSession::default().push_prompt("hi");
    let request = write_request(&foreign.entries, Path::new("/new/repo"));
    let plan = plan_for(&request, folder.path(), Some(Version(0, 166, 0))).unwrap();
    assert!(payload_lines(&plan, "session_meta").contains(r#""model_provider":"local""#));
    let Some(WriteOp::Run(run)) = plan.ops.last() else { panic!("no command") };
    assert_eq!(run.args, ["app-server"]);
    assert_eq!(run.vars, [("CODEX_HOME".to_owned(), folder.path().to_str().unwrap().to_owned())]);
    assert_eq!(run.dialogue.len(), 4);
    assert!(run.dialogue[3].0.contains(r#""name":"a title""#));
    let Inverse { rows, lines } = &run.inverse;
    assert_eq!(lines[0].file, folder.path().join("session_index.jsonl"));
    assert_eq!(lines[0].lock, Some(folder.path().join("session_index.jsonl.lock")));
    assert!(lines[0].marker.contains(&plan.session.0));
    assert_eq!((rows[0].table, rows[0].column, &rows[0].value), ("threads", "id", &plan.session.0));
    assert_eq!(rows[0].database, folder.path().join("state_7.sqlite"));
}

#[test]
fn a_name_is_given_only_where_the_client_would_not_show_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("state_5.sqlite"), "").unwrap();
    let foreign = ForeignSession::default().push_prompt("Fix  the\nadd bug, please");
    let steps = |title, version| {
        let request = WriteRequest { title, ..write_request(&foreign.entries, Path::new("/new/repo")) };
        let plan = plan_for(&request, folder.path(), Some(version)).unwrap();
        let Some(WriteOp::Run(run)) = plan.ops.last() else { panic!("no command") };
        assert_eq!(run.inverse.lines.len() + 3, run.dialogue.len());
        run.dialogue.len()
    };
    let newest = Version(0, 166, 0);
    assert_eq!(steps(Some("Another title"), newest), 4);
    assert_eq!(steps(Some("Another title"), Version(0, 147, 0)), 3, "it shows no names");
    assert_eq!(steps(Some("Fix the add bug, please"), newest), 3);
    assert_eq!(steps(Some("Fix the add…"), newest), 3);
    assert_eq!(steps(Some("  "), newest), 3);
    assert_eq!(steps(None, newest), 3);
}

#[test]
fn a_client_that_was_never_started_is_left_to_look_itself() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = ForeignSession::default().push_prompt("hi");
    let request = write_request(&foreign.entries, Path::new("/new/repo"));
    let plan = plan_for(&request, folder.path(), Some(Version(0, 166, 0))).unwrap();
    let [WriteOp::Create { .. }, WriteOp::AppendLine { lines, line }] = &plan.ops[..] else {
        panic!("a file and its name")
    };
    assert!(line.contains(&lines.marker) && line.contains("thread_name"), "{line}");
    let older = plan_for(&request, folder.path(), Some(Version(0, 146, 0))).unwrap();
    assert_eq!(older.ops.len(), 1, "it shows no names");
}

#[test]
fn a_compaction_stays_a_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = ForeignSession::default()
        .push_prompt("KEPT-PROMPT")
        .push_summary("SUMMARY-TEXT")
        .push_prompt("AFTER")
        .push_reply("DONE");
    for version in [None, Some(Version(0, 130, 0))] {
        let plan = plan_for(&write_request(&foreign.entries, Path::new("/new/repo")), folder.path(), version).unwrap();
        let live = render_live(&apply_plan(&plan));
        let expected = "user prompt \"KEPT-PROMPT\"\nagent summary \"SUMMARY-TEXT\"\nuser prompt \"AFTER\"\nagent reply \"DONE\"\n";
        assert_eq!(live, expected);
        let mut with_brief = write_request(&foreign.entries[2..], Path::new("/new/repo"));
        with_brief.brief = Some("BRIEF");
        let live = render_live(&apply_plan(&plan_for(&with_brief, folder.path(), version).unwrap()));
        assert_eq!(live, "agent summary \"BRIEF\"\nuser prompt \"AFTER\"\nagent reply \"DONE\"\n");
    }
}

#[test]
fn what_a_hook_said_is_sent_and_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let said = Body::Prompt(vec![Part::Text("HOOKED".to_owned())]);
    let foreign =
        ForeignSession::default().push_prompt("MINE").push_entry(Origin::Hook, said, Action::Other).push_reply("DONE");
    let plan = plan_for(&write_request(&foreign.entries, Path::new("/new/repo")), folder.path(), None).unwrap();
    let live = render_live(&apply_plan(&plan));
    assert_eq!(live, "user prompt \"MINE\"\nhook prompt \"HOOKED\"\nagent reply \"DONE\"\n");
    assert!(!payload_lines(&plan, "event_msg").contains("HOOKED"));
}

/// 0.166 has a kind of item of its own for what sub-agents report; clients that do not know it would drop it.
#[test]
fn what_a_sub_agent_reported_is_sent_and_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let lines = [
        r#"{"timestamp":"2026-11-15T00:00:00.000Z","type":"session_meta","payload":{"id":"x","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/r"}}"#,
        r#"{"timestamp":"2026-11-15T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"MINE"}]}}"#,
        r#"{"timestamp":"2026-11-15T00:00:02.000Z","type":"response_item","payload":{"type":"agent_message","author":"/root/a","recipient":"/root","content":[{"type":"input_text","text":"REPORT"}]}}"#,
        r#"{"timestamp":"2026-11-15T00:00:03.000Z","type":"response_item","payload":{"type":"agent_message","author":"/root/a","recipient":"/root","content":[{"type":"encrypted_content","encrypted_content":"SEALED"}]}}"#,
    ];
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    let entries = carried_natively(&path);
    let request = write_request(&entries, Path::new("/new/repo"));
    for (version, kind, origin) in
        [(Version(0, 166, 0), "agent_message", "agent"), (Version(0, 130, 0), "message", "user")]
    {
        let plan = plan_for(&request, folder.path(), Some(version)).unwrap();
        assert_eq!(render_live(&apply_plan(&plan)), format!("user prompt \"MINE\"\n{origin} prompt \"REPORT\"\n"));
        let items = payload_lines(&plan, "response_item");
        assert!(items.contains(&format!(r#""type":"{kind}""#)), "{items}");
        assert!(!payload_lines(&plan, "event_msg").contains("REPORT"));
    }
}

#[test]
fn a_session_without_a_prompt_still_has_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = ForeignSession::default().push_summary("SUMMARY").push_reply("DONE");
    let plan = plan_for(&write_request(&foreign.entries, Path::new("/new/repo")), folder.path(), None).unwrap();
    assert_eq!(render_live(&apply_plan(&plan)), "agent summary \"SUMMARY\"\nagent reply \"DONE\"\n");
    assert!(payload_lines(&plan, "event_msg").contains(r#""message":"a title""#));
    let nothing = plan_for(&write_request(&[], Path::new("/new/repo")), folder.path(), None);
    assert!(matches!(nothing, Err(AgentError::CannotHold { .. })));
}

/// The live context of a session of Codex's own, ready to be written back.
fn carried_natively(path: &Path) -> Vec<CarriedEntry> {
    let transcript = read_session(path);
    let carry = |alive| match alive {
        LiveItem::Entry(index) => {
            let entry: Entry = transcript.entries[index].clone();
            let native = Codex.read_record(&transcript.header, entry.key).ok();
            let action = match &entry.body {
                Body::Call(call) => Codex.action(call, None),
                _ => Action::Other,
            };
            Some(CarriedEntry { entry, agent: "codex", action, native, clipped: false })
        }
        LiveItem::Answer { .. } => None,
    };
    live::resolve_context(&transcript).into_iter().filter_map(carry).collect()
}

#[test]
fn codexs_own_records_are_written_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    for name in FIXTURES {
        let path = fixture(name);
        let before = read_session(&path);
        let entries = carried_natively(&path);
        let mut request = write_request(&entries, Path::new("/home/dv/repo"));
        request.old_project = None;
        let plan = plan_for(&request, folder.path(), None).unwrap();
        let after = apply_plan(&plan);
        let places =
            |text: String| text.lines().filter(|line| !line.contains("Encoded")).collect::<Vec<_>>().join("\n");
        assert_eq!(places(render_live(&after)), places(render_live(&before)), "{name}");
        let natives: Vec<String> = std::fs::read_to_string(&path).unwrap().lines().map(payload_of).collect();
        for line in std::fs::read_to_string(&plan.file).unwrap().lines() {
            let is_item = line.contains(r#""type":"response_item""#);
            assert!(!line.contains("permissions instructions"), "{name}: the harness speaks for itself");
            assert!(!is_item || natives.contains(&payload_of(line)), "{name}");
        }
    }
}

fn payload_of(line: &str) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    value.get("payload").unwrap_or(&value).to_string()
}

/// A compaction that the vendor's service made is of use only where its record is written back.
#[test]
fn a_sealed_summary_is_written_back_or_named_as_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = carried_natively(&fixture("0.166.0-sealed"));
    let project = Path::new("/home/dv/repo");
    let plan = plan_for(&write_request(&entries, project), folder.path(), None).unwrap();
    assert!(payload_lines(&plan, "compacted").contains("SEALED-SUMMARY") && plan.losses.is_empty());
    let item_shown = r#""type":"ContextCompaction""#;
    assert_eq!(payload_lines(&plan, "event_msg").matches(item_shown).count(), 1);
    // With anything before it, a compaction cannot be written back as it was.
    entries.splice(..0, ForeignSession::default().push_prompt("BEFORE").entries);
    entries[0].entry.key.file = 9;
    let plan = plan_for(&write_request(&entries, project), folder.path(), None).unwrap();
    let losses: Vec<_> = plan.losses.iter().map(|loss| (loss.what, loss.count)).collect();
    assert_eq!(losses, [("summary", 1)]);
    let live = render_live(&apply_plan(&plan));
    assert!(!live.contains("summary") && live.contains("first prompt") && live.contains("BEFORE"), "{live}");
}

#[test]
fn what_was_cut_is_not_brought_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut entries = carried_natively(&fixture("0.166.0-rich"));
    for carried in &mut entries {
        if let Body::Outcome(outcome) = &mut carried.entry.body
            && &*outcome.call.0 == "call_ls"
        {
            outcome.parts = vec![Part::Text("[cut]".to_owned())];
            carried.clipped = true;
        }
        if matches!(carried.entry.body, Body::Call(_)) {
            carried.clipped = true;
        }
    }
    let mut request = write_request(&entries, Path::new("/home/dv/repo"));
    request.old_project = None;
    let plan = plan_for(&request, folder.path(), None).unwrap();
    assert_eq!(plan.translated, 0);
    let live = render_live(&apply_plan(&plan));
    assert!(live.contains("call_ls Done None \"[cut]\"") && !live.contains("total 20"));
    assert!(live.contains("agent call call_patch apply_patch Freeform"));
}

#[test]
fn the_same_request_gives_the_same_bytes() {
    let foreign = full_session();
    let request = write_request(&foreign.entries, Path::new("/new/repo"));
    let plan = || plan_for(&request, Path::new("/none"), None).unwrap();
    assert_eq!(plan(), plan());
}
