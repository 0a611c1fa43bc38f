//! Two made-up agents over a trivial log. What one of them translates is marked with the other's name.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use carryover_agents::formats::{jsonl, sqlite};
use carryover_agents::{
    Agent, AgentError, Bookmark, CarriedEntry, CellValue, Dialect, Discovery, EditorWriter, Facts, FoundSession,
    Inverse, JsonHolder, JsonMember, JsonReferrer, LifeSign, LimitForm, Liveness, Loss, ModelWindow, NewRow, PathBase,
    PathRule, Reader, ResumeForm, RowContent, SessionLines, SessionRows, SettingsView, Sink, Source, Store, TargetView,
    VendorCommand, WriteOp, WritePlan, WriteRequest, Writer, WrittenEntry,
};
use carryover_core::json::Json;
use carryover_core::time::Timestamp;
use carryover_core::transcript::{
    Action, Blob, BlobLocation, Body, Call, CallForm, CallId, Closing, Compaction, Entry, EntryKey, Fact, Failure,
    FailureKind, Header, Origin, Outcome, Part, Permission, Reasoning, RejectedRecord, SessionId, Status, TitleRank,
    Tokens, Usage, text_of,
};
use serde_json::{Value, json};

pub(crate) struct FakeAgent {
    facts: Facts,
    /// It cannot hold reasoning.
    forgets: bool,
    /// It says that it writes replies, and does not.
    lies: bool,
}

const fn fake_facts(id: &'static str, name: &'static str, store: &'static [PathRule]) -> Facts {
    Facts {
        id,
        name,
        binaries: &["fake-client"],
        start: &["fake-client", "{prompt}"],
        resume: ResumeForm::in_project(&["fake-client", "{id}"]),
        packages: &["fake-package"],
        stores: store,
        session_patterns: &[&["sessions", "*.jsonl"], &["extra", "deep", "*"]],
        limits: LimitForm::Recorded,
        versions_seen: ("1.0.0", "1.0.0"),
        windows: &[ModelWindow { prefix: "tiny", tokens: 50 }, ModelWindow { prefix: "mid", tokens: 200_000 }],
        windows_checked_on: "2026-01-01",
        default_window: 100_000,
        resume_budget: 32_000,
        reading_advice: "",
        ..Facts::USUAL
    }
}

const fn home_rule(path: &'static [&'static str]) -> PathRule {
    PathRule { on: &[], base: PathBase::Home, path }
}

const ALPHA_STORE: &[PathRule] = &[home_rule(&[".alpha"]), home_rule(&["same-as-alpha"])];
const BETA_STORE: &[PathRule] = &[home_rule(&[".beta"])];
/// Kept with the work.
const DELTA_STORE: &[PathRule] = &[PathRule { on: &[], base: PathBase::Project, path: &[".delta"] }];
const LIAR_STORE: &[PathRule] = &[home_rule(&[".liar"])];

pub(crate) static ALPHA: FakeAgent =
    FakeAgent { facts: fake_facts("alpha", "Alpha", ALPHA_STORE), forgets: false, lies: false };
pub(super) static BETA: FakeAgent =
    FakeAgent { facts: fake_facts("beta", "Beta", BETA_STORE), forgets: true, lies: false };
pub(super) static LIAR: FakeAgent =
    FakeAgent { facts: fake_facts("liar", "Liar", LIAR_STORE), forgets: false, lies: true };
pub(super) static DELTA: FakeAgent =
    FakeAgent { facts: fake_facts("delta", "Delta", DELTA_STORE), forgets: false, lies: false };
pub(super) const BOTH: &[&dyn Agent] = &[&ALPHA, &BETA];

impl FakeAgent {
    fn session_path(&self, store: &Path, id: &str) -> std::path::PathBuf {
        store.join("sessions").join(format!("{id}.{}.jsonl", self.facts.id))
    }
}

/// The lines of a log with their offsets.
fn lines_with_offsets(text: &str) -> Vec<(u64, &str)> {
    let mut offset = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        lines.push((offset as u64, line.trim_end()));
        offset += line.len();
    }
    lines
}

fn parse_entries(offset: u64, line: &str) -> Option<Vec<Entry>> {
    let record: Value = serde_json::from_str(line).ok()?;
    let items = record["items"].as_array().cloned().unwrap_or_else(|| vec![record.clone()]);
    let mut entries = Vec::new();
    for (part, item) in items.iter().enumerate() {
        let length = u32::try_from(line.len()).unwrap();
        let key = EntryKey { file: 0, offset, part: u16::try_from(part).unwrap(), length };
        let Some((origin, body)) = parse_body(item, offset, line) else { continue };
        entries.push(Entry { key, at: Some(Timestamp::EPOCH), origin, side: false, node: None, body });
    }
    Some(entries)
}

fn parse_body(item: &Value, offset: u64, line: &str) -> Option<(Origin, Body)> {
    let text = || item["s"].as_str().unwrap_or_default().to_owned();
    let id = || CallId(item["id"].as_str().unwrap_or_default().into());
    let mut parts = vec![Part::Text(text())];
    if let Some(data) = item["image"].as_str() {
        let place = match line.find(data) {
            Some(at) if !data.starts_with("remote") => {
                BlobLocation::Encoded { file: 0, offset: offset + at as u64, length: data.len() as u64 }
            }
            _ => BlobLocation::Remote(data.to_owned()),
        };
        parts.push(Part::Blob(Blob { media_type: "image/png".into(), name: Some("a.png".into()), location: place }));
    }
    Some(match item["t"].as_str()? {
        "prompt" => (Origin::User, Body::Prompt(parts)),
        "reply" => (Origin::Agent, Body::Reply(parts)),
        "think" => (Origin::Agent, Body::Reasoning(Box::new(Reasoning { text: text(), sealed: false }))),
        "limit" => {
            let resets_at = item["resets"].as_i64().map(Timestamp::from_millis);
            (
                Origin::Harness,
                Body::Failure(Box::new(Failure { kind: FailureKind::RateLimit, message: text(), resets_at })),
            )
        }
        "summary" => (Origin::Agent, Body::Summary(parts)),
        "usage" => {
            let tokens = Tokens { input: item["input"].as_u64()?, ..Tokens::default() };
            (Origin::Harness, Usage::for_reply(tokens, None)?.into_body())
        }
        "compact" => (Origin::Agent, Body::Compacted(Box::default())),
        "squeeze" => {
            (Origin::Agent, Body::Compacted(Box::new(Compaction { keeps_prompts: true, ..Compaction::default() })))
        }
        "call" => {
            let input = Json::from_value(&item["input"]);
            let call = Call { id: id(), tool: item["tool"].as_str()?.into(), input, form: CallForm::Function };
            (Origin::Agent, Body::Call(Box::new(call)))
        }
        "out" => {
            let status = if item["failed"] == true { Status::Failed } else { Status::Done };
            (Origin::Agent, Body::Outcome(Box::new(Outcome { call: id(), status, exit_code: None, parts })))
        }
        _ => return None,
    })
}

impl Agent for FakeAgent {
    fn facts(&self) -> &'static Facts {
        let known = [&ALPHA, &BETA, &DELTA, &LIAR].into_iter().find(|fake| fake.facts.id == self.facts.id);
        known.map(|fake| &fake.facts).unwrap()
    }

    fn current_model(&self, at: &SettingsView<'_>) -> Option<String> {
        let tiny = at.store.root.join("tiny").exists().then(|| "tiny-1".to_owned());
        tiny.or_else(|| fs_err::read_to_string(at.store.root.join("model")).ok())
    }

    fn configured_window(&self, at: &SettingsView<'_>, _model: Option<&str>) -> Option<u64> {
        fs_err::read_to_string(at.store.root.join("window")).ok()?.parse().ok()
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }

    fn editor_writer(&self) -> Option<&dyn EditorWriter> {
        (self.facts.id == "beta").then_some(&BetaEditor as _)
    }
}

impl Discovery for FakeAgent {
    fn recognises(&self, _path: &Path, head: &[u8]) -> bool {
        let head = String::from_utf8_lossy(head);
        head.contains(&format!("\"agent\":\"{}\"", self.facts.id)) || head.contains("\"agent\":\"any\"")
    }

    fn list_sessions(
        &self,
        store: &Store,
        found: &mut dyn FnMut(FoundSession) -> ControlFlow<()>,
    ) -> Result<(), AgentError> {
        if store.root.join("broken").exists() {
            let reason = "it is broken";
            return Err(AgentError::NotASession { agent: self.facts.id, path: store.root.clone(), reason });
        }
        let Ok(files) = fs_err::read_dir(store.root.join("sessions")) else { return Ok(()) };
        for path in files.map(|file| file.unwrap().path()).filter(|path| path.to_string_lossy().ends_with(".jsonl")) {
            let text = fs_err::read_to_string(&path)?;
            let head: Value = serde_json::from_str(text.lines().next().unwrap_or_default()).unwrap_or_default();
            let entry = FoundSession {
                id: SessionId(head["id"].as_str().unwrap_or_default().into()),
                title: head["title"].as_str().map(Into::into),
                project: head["project"].as_str().map(Into::into),
                branch: None,
                started_at: None,
                updated_at: head["at"].as_i64().map(Timestamp::from_millis),
                messages: None,
                bytes: text.len() as u64,
                model: head["model"].as_str().map(Into::into),
                live: if head["live"] == true { Liveness::Live } else { Liveness::NotLive },
                drifted: head["drifted"] == true,
                source: Source { path, key: None },
            };
            if found(entry).is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl Reader for FakeAgent {
    fn read_session(&self, source: &Source, from: &Bookmark, sink: &mut dyn Sink) -> Result<Bookmark, AgentError> {
        let text = fs_err::read_to_string(&source.path)?;
        let start = jsonl::find_resume_point(&source.path, from, jsonl::digest_head, sink)?;
        let _ = sink.learn(Fact::File(source.path.clone()));
        let _ = sink.learn(Fact::Closing(Closing::Answer("[cut off]")));
        for (offset, line) in lines_with_offsets(&text).into_iter().filter(|(offset, _)| *offset >= start) {
            let Some(entries) = parse_entries(offset, line) else {
                let key = EntryKey { file: 0, offset, part: 0, length: 0 };
                let _ = sink.reject(RejectedRecord { key, reason: "not JSON" });
                continue;
            };
            let head: Value = serde_json::from_str(line).unwrap();
            if head["t"] == "head" {
                let _ = sink.learn(Fact::Session(SessionId(head["id"].as_str().unwrap_or_default().into())));
                let project = head["project"].as_str().map(|project| Fact::Project(project.into()));
                let title = head["title"].as_str().map(|title| Fact::Title(TitleRank::Given, title.into()));
                let loose = (head["free"] == true).then_some(Fact::Permission(Permission::Everything));
                for fact in project.into_iter().chain(title).chain(loose) {
                    let _ = sink.learn(fact);
                }
            }
            if entries.into_iter().try_for_each(|entry| sink.put(entry)).is_break() {
                return Ok(*from);
            }
        }
        Ok(jsonl::make_bookmark(&source.path, text.len() as u64, jsonl::digest_head)?)
    }

    fn reload_entries(&self, header: &Header, key: EntryKey) -> Result<Vec<Entry>, AgentError> {
        Ok(parse_entries(key.offset, &self.read_record(header, key)?).unwrap())
    }

    fn read_record(&self, header: &Header, key: EntryKey) -> Result<String, AgentError> {
        let text = fs_err::read_to_string(&header.files[usize::from(key.file)])?;
        let start = usize::try_from(key.offset).unwrap();
        Ok(text[start..start + key.length as usize].to_owned())
    }
}

impl Dialect for FakeAgent {
    fn action(&self, call: &Call, outcome: Option<&str>) -> Action {
        let path = || if outcome.is_some() { "known".to_owned() } else { "unknown".to_owned() };
        match call.tool.as_str() {
            "sh" => Action::Run { command: call.input.as_str().to_owned(), workdir: None },
            "write" => Action::Write { path: path(), content: String::new() },
            _ => Action::Other,
        }
    }
}

impl Writer for FakeAgent {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        let id = format!("{:032x}", request.seed);
        let mut log = FakeLog { text: String::new(), origins: Vec::new(), translated: 0, forgotten: 0 };
        log.push(&json!({ "t": "head", "agent": self.facts.id, "id": id, "project": request.project,
            "title": request.title, "at": 5_000 }));
        if let Some(brief) = request.brief {
            log.push(&json!({ "t": "summary", "s": brief }));
        }
        for (index, carried) in request.entries.iter().enumerate() {
            self.write_entry(&mut log, index, carried, request.entries);
        }
        let file = self.session_path(&target.store.root, &id);
        let create = |path: std::path::PathBuf, bytes: &[u8]| WriteOp::Create {
            path,
            bytes: bytes.to_vec(),
            private: true,
            modified: Timestamp::from_millis(1_000_000),
        };
        let mut ops = vec![create(file.clone(), log.text.as_bytes())];
        ops.push(create(target.store.root.join("extra/deep").join(&id), b"extra"));
        if let Some(program) = target.program {
            let index = target.store.root.join("index");
            let lock = Some(index.with_extension("lock"));
            let lines = vec![SessionLines { file: index, marker: format!("{id}."), lock }];
            ops.push(WriteOp::Run(VendorCommand {
                program: program.to_owned(),
                args: vec!["register".into(), file.display().to_string()],
                vars: Vec::new(),
                dialogue: Vec::new(),
                reason: "so that it is listed",
                inverse: Inverse { rows: Vec::new(), lines },
                ..VendorCommand::default()
            }));
        }
        let losses = Vec::from_iter((log.forgotten > 0).then_some(Loss {
            what: "reasoning",
            count: log.forgotten,
            reason: "it cannot hold any",
        }));
        Ok(WritePlan {
            resume: self.facts.resume.command(&id, request.project),
            session: SessionId(id),
            file,
            key: None,
            ops,
            translated: log.translated,
            losses,
            origins: log.origins,
        })
    }
}

struct FakeLog {
    text: String,
    origins: Vec<WrittenEntry>,
    translated: usize,
    forgotten: usize,
}

impl FakeLog {
    fn push(&mut self, record: &Value) {
        self.text.push_str(&record.to_string());
        self.text.push('\n');
    }
}

impl FakeAgent {
    fn write_entry(&self, log: &mut FakeLog, index: usize, carried: &CarriedEntry, all: &[CarriedEntry]) {
        if self.forgets && matches!(carried.entry.body, Body::Reasoning(_)) {
            log.forgotten += 1;
            return;
        }
        let same =
            |other: &CarriedEntry| other.native.is_some() && other.entry.key.record() == carried.entry.key.record();
        let first = all.iter().position(same);
        let offset = match (&carried.native, first) {
            (Some(_), Some(first)) if first < index => {
                log.origins.iter().find(|written| written.entry == first).unwrap().offset
            }
            (Some(native), _) => {
                let offset = log.text.len() as u64;
                log.text.push_str(native);
                log.text.push('\n');
                offset
            }
            (None, _) => {
                let offset = log.text.len() as u64;
                if !self.lies || !matches!(carried.entry.body, Body::Reply(_)) {
                    log.push(&self.translate(carried));
                }
                log.translated += 1;
                offset
            }
        };
        log.origins.push(WrittenEntry { entry: index, offset });
    }

    fn translate(&self, carried: &CarriedEntry) -> Value {
        // Its own calls keep their names, even if the record itself could not be kept.
        let own = carried.agent == self.facts.id;
        let id = |id: &CallId| if own { id.0.to_string() } else { format!("{}-{}", self.facts.id, id.0) };
        let text = text_of(carried.entry.body.parts());
        let mut record = match &carried.entry.body {
            Body::Prompt(_) => json!({ "t": "prompt", "s": text }),
            Body::Reply(_) => json!({ "t": "reply", "s": text }),
            Body::Summary(_) => json!({ "t": "summary", "s": text }),
            Body::Reasoning(reasoning) => json!({ "t": "think", "s": reasoning.text }),
            Body::Call(call) => json!({ "t": "call", "id": id(&call.id), "tool": call.tool, "input": call.input }),
            Body::Outcome(outcome) => {
                json!({ "t": "out", "id": id(&outcome.call), "s": text, "failed": outcome.status.is_failure() })
            }
            other => panic!("{other:?} is not live"),
        };
        for part in carried.entry.body.parts() {
            if let Part::Blob(Blob { location: BlobLocation::Inline(data), .. }) = part {
                record["image"] = json!(Arc::clone(data).to_string());
            }
        }
        if let Action::Write { path, .. } = &carried.action {
            record["wrote"] = json!(path);
        }
        record["via"] = json!(carried.agent);
        record
    }
}

/// Beta's editor, which lists sessions in a database of its own.
struct BetaEditor;

/// The database and the file in which it notes its process, in the store.
pub(super) const EDITOR_DATABASE: &str = "editor.db";
pub(super) const EDITOR_LOCK: &str = "editor.lock";
/// The folder that it shows all sessions in.
pub(super) const EDITOR_FOLDER: &str = "folder-of-all";
pub(super) const EMPTY_LIST: &str = r#"{"v":1,"entries":{}}"#;

impl Writer for BetaEditor {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        let mut plan = BETA.plan(request, target)?;
        plan.ops.retain(|op| matches!(op, WriteOp::Create { .. }));
        let rows = |value: &str| SessionRows {
            database: target.store.root.join(EDITOR_DATABASE),
            table: "Item",
            column: "key",
            value: value.to_owned(),
            is_prefix: false,
            is_session: false,
            owner: None,
            member: None,
        };
        let name = plan.session.0.clone();
        let member = |path, holder| JsonMember {
            column: "value",
            path,
            holder,
            name: name.clone(),
            empty: EMPTY_LIST,
            referrer: None,
        };
        let listed = SessionRows { member: Some(member(&["entries"], JsonHolder::Object)), ..rows("list") };
        let entry = json!({ "title": request.title }).to_string();
        plan.ops.push(WriteOp::AddRow(NewRow { rows: listed, content: RowContent::Json(entry) }));
        let cells = vec![("value", CellValue::Text("open".to_owned())), ("at", CellValue::Integer(7))];
        let own = rows(&format!("state:{name}"));
        plan.ops.push(WriteOp::AddRow(NewRow { rows: own, content: RowContent::Cells(cells) }));
        if has_tabs(&target.store.root.join(EDITOR_DATABASE)) {
            let entries = [
                (member(&["all"], JsonHolder::Objects("id")), json!({ "id": name, "open": true })),
                (member(&["open"], JsonHolder::Texts), json!(name)),
            ];
            for (member, entry) in entries {
                let rows = SessionRows { member: Some(member), ..rows("tabs") };
                plan.ops.push(WriteOp::AddRow(NewRow { rows, content: RowContent::Json(entry.to_string()) }));
            }
            let parts = ["1", "2"].map(|part| {
                (part.to_owned(), vec![("value", CellValue::Text(format!("part {part}"))), ("at", CellValue::Null)])
            });
            let own = SessionRows { is_prefix: true, is_session: true, ..rows(&format!("part:{name}:")) };
            plan.ops.push(WriteOp::AddRow(NewRow { rows: own, content: RowContent::Parts(parts.into()) }));
            let folder = JsonMember {
                name: EDITOR_FOLDER.to_owned(),
                empty: "[]",
                referrer: Some(JsonReferrer { row: "in_folder", name: name.clone() }),
                ..member(&[], JsonHolder::Objects("id"))
            };
            let entry = json!({ "id": EDITOR_FOLDER, "title": "Work" }).to_string();
            let folder = SessionRows { member: Some(folder), ..rows("folders") };
            plan.ops.push(WriteOp::AddRow(NewRow { rows: folder, content: RowContent::Json(entry) }));
            let inside = JsonMember { empty: "{}", ..member(&[], JsonHolder::Object) };
            let inside = SessionRows { member: Some(inside), ..rows("in_folder") };
            let content = RowContent::Json(json!(EDITOR_FOLDER).to_string());
            plan.ops.push(WriteOp::AddRow(NewRow { rows: inside, content }));
        }
        Ok(plan)
    }
}

/// Whether the editor is of those that keep arrays, and sessions in parts.
fn has_tabs(database: &Path) -> bool {
    let find = |connection: &rusqlite::Connection| {
        connection.query_row("SELECT EXISTS (SELECT 1 FROM Item WHERE key = 'tabs')", [], |row| row.get(0))
    };
    database.is_file() && sqlite::read_database(database, &mut |connection| find(connection)).unwrap_or_default()
}

impl EditorWriter for BetaEditor {
    fn knows_project(&self, _store: &Store, _project: &Path) -> bool {
        true
    }

    fn life_signs(&self, database: &Path) -> Vec<LifeSign> {
        vec![LifeSign::Program(&["beta-editor"]), LifeSign::PidFile(database.with_file_name(EDITOR_LOCK))]
    }

    fn opening_advice(&self) -> &'static str {
        "open it"
    }
}
