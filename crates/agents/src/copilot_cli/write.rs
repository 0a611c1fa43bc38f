//! Planning a session folder that the client's own resume loads.
//!
//! The client has a command of its own for that, `sessions import`, which holds less: `README.md` tells what.

use std::collections::{BTreeMap, BTreeSet};

use carryover_core::transcript::{Blob, Body, Origin, Part, SessionId, text_of};
use serde_json::{Value, json};

use super::FACTS;
use super::events::EventWriter;
use crate::formats::ids::Ids;
use crate::formats::native_records::{RecordKey, record_key};
use crate::formats::request::{project_relocation, project_text, title_or_prompt};
use crate::{AgentError, CarriedEntry, TargetView, Version, WriteOp, WritePlan, WriteRequest};

/// The version that is written where no client tells its own.
const NEWEST_VERSION: Version = Version(1, 0, 102);

/// Plans the two files.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let project = project_text(request, "GitHub Copilot CLI")?;
    let mut ids = Ids::new(request.seed);
    let session = ids.next_uuid();
    let folder = target.store.root.join("session-state").join(&session);
    let file = folder.join("events.jsonl");
    let moves = project_relocation(request, project);
    let mut events = EventWriter::new(project, moves, request.source_model, ids, request.started_at);
    events.put_event("session.start", &start_event(request, target, project, &session), Vec::new());
    write_entries(request, &mut events);
    let resume = FACTS.resume.command(&session, request.project);
    let table = workspace_table(request, target, project, &session).into_bytes();
    let mut plan = events.finish().into_plan(target, SessionId(session), file, resume);
    let path = folder.join("workspace.yaml");
    plan.ops.push(WriteOp::Create { path, bytes: table, private: true, modified: target.env.now });
    Ok(plan)
}

/// The first event. Nothing that chooses a model or allows anything.
fn start_event(request: &WriteRequest<'_>, target: &TargetView<'_>, project: &str, session: &str) -> Value {
    let mut context = json!({ "cwd": project });
    if let Some(branch) = request.branch {
        context["branch"] = json!(branch);
    }
    json!({
        "sessionId": session, "version": 1, "producer": "carryover",
        "copilotVersion": target.version.unwrap_or(NEWEST_VERSION).to_string(), "startTime": request.started_at.to_string(),
        "context": context,
    })
}

/// The table that the client lists. JSON strings are YAML strings.
fn workspace_table(request: &WriteRequest<'_>, target: &TargetView<'_>, project: &str, session: &str) -> String {
    let title = title_or_prompt(request);
    let (started, now) = (request.started_at, target.env.now);
    let branch = request.branch.map(|branch| format!("branch: {}\n", json!(branch))).unwrap_or_default();
    format!(
        "id: {session}\ncwd: {}\n{branch}client_name: github/cli\nname: {}\nuser_named: true\nsummary_count: 0\n\
         fork_count: 0\ncreated_at: {started}\nupdated_at: {now}\n",
        json!(project),
        json!(title),
    )
}

fn write_entries(request: &WriteRequest<'_>, events: &mut EventWriter<'_>) {
    if let Some(brief) = request.brief {
        events.write_compaction(brief, Vec::new());
    }
    let natives = native_records(request);
    let mut holds: BTreeMap<RecordKey, Vec<usize>> = BTreeMap::new();
    for (index, carried) in request.entries.iter().enumerate().filter(|(_, carried)| carried.native.is_some()) {
        holds.entry(record_key(carried)).or_default().push(index);
    }
    for (index, carried) in request.entries.iter().enumerate() {
        let record = record_key(carried);
        // An answer that the client would have given stands where its call does, but is no part of that record.
        match natives.get(&record).filter(|_| carried.native.is_some()) {
            // Each is written once, with all of its entries.
            Some(value) => {
                let Some(entries) = holds.remove(&record) else { continue };
                let bodies = entries.iter().map(|entry| &request.entries[*entry].entry.body);
                let blobs: Vec<&Blob> = bodies.flat_map(Body::parts).filter_map(as_blob).collect();
                events.write_native(value.clone(), &blobs, entries);
            }
            None => write_entry(request, events, carried, index),
        }
    }
}

fn as_blob(part: &Part) -> Option<&Blob> {
    match part {
        Part::Blob(blob) => Some(blob),
        Part::Text(_) => None,
    }
}

/// The records that are written back as they were: those of which nothing was cut, and of compactions those that
/// would not take away what stands before them.
fn native_records(request: &WriteRequest<'_>) -> BTreeMap<RecordKey, Value> {
    let cut: BTreeSet<RecordKey> = request.entries.iter().filter(|carried| carried.clipped).map(record_key).collect();
    let mut natives = BTreeMap::new();
    for (index, carried) in request.entries.iter().enumerate() {
        let record = record_key(carried);
        let Some(raw) = carried.native.as_deref().filter(|_| !cut.contains(&record)) else { continue };
        let Ok(mut value) = serde_json::from_str::<Value>(raw) else { continue };
        if value.get("type").is_none() {
            // A message of the first versions, which knew no events.
            continue;
        }
        let is_compaction = matches!(carried.entry.body, Body::Summary(_));
        if is_compaction && !holds_only_prompts(request, index, true) {
            continue;
        }
        if let Some(data) = value["data"].as_object_mut() {
            // The file of the session that it was written in.
            data.remove("checkpointPath");
        }
        natives.entry(record).or_insert(value);
    }
    natives
}

/// Whether a compaction here would keep all that stands before it: the words of the user's prompts are all that it
/// keeps.
fn holds_only_prompts(request: &WriteRequest<'_>, index: usize, images_may_go: bool) -> bool {
    let is_prompt = |carried: &CarriedEntry| {
        let Body::Prompt(parts) = &carried.entry.body else { return false };
        carried.entry.origin == Origin::User && (images_may_go || parts.iter().all(|part| as_blob(part).is_none()))
    };
    request.brief.is_none() && request.entries[..index].iter().all(is_prompt)
}

fn write_entry(request: &WriteRequest<'_>, events: &mut EventWriter<'_>, carried: &CarriedEntry, index: usize) {
    events.advance_clock(carried.entry.at);
    match &carried.entry.body {
        Body::Prompt(parts) if carried.entry.origin == Origin::Hook => {
            let text = format!("<system_reminder>\n{}\n</system_reminder>", text_of(parts));
            events.write_prompt(&[Part::Text(text)], index);
        }
        Body::Summary(parts) if holds_only_prompts(request, index, false) => {
            events.write_compaction(&text_of(parts), vec![index]);
        }
        Body::Prompt(parts) | Body::Summary(parts) => events.write_prompt(parts, index),
        Body::Reply(parts) => events.write_reply(parts, index),
        Body::Reasoning(reasoning) => events.write_reasoning(&reasoning.text, index),
        Body::Call(call) => events.write_call(call, carried, index),
        Body::Outcome(outcome) => events.write_outcome(outcome, index),
        Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
    }
}
