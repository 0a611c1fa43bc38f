//! Planning a session folder that the client's own resume loads.
//!
//! The client has a command of its own for that, `sessions import`, which holds less: `README.md` tells what.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use carryover_core::plain::one_line;
use carryover_core::transcript::{Blob, Body, Origin, Part, SessionId, text_of};
use serde_json::{Value, json};

use super::events::Events;
use crate::formats::ids::Ids;
use crate::formats::relocate::Relocation;
use crate::{AgentError, Carried, Op, ResumeCommand, TargetView, Version, WritePlan, WriteRequest};

/// What is written where no client tells its version.
const NEWEST: Version = Version(1, 0, 102);

/// Plans the two files.
pub(super) fn plan(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let Some(project) = request.project.to_str() else {
        let reason = "the project's path is not UTF-8".to_owned();
        return Err(AgentError::CannotHold { agent: "GitHub Copilot CLI", reason });
    };
    let mut ids = Ids::new(request.seed);
    let session = ids.uuid();
    let folder = target.store.root.join("session-state").join(&session);
    let file = folder.join("events.jsonl");
    let old = request.old_project.and_then(Path::to_str).filter(|old| *old != project);
    let moves = old.map(|old| Relocation { old, new: project });
    let mut events = Events::new(project, moves, request.source_model, ids, request.started_at);
    events.put("session.start", &start(request, target, project, &session), Vec::new());
    write(request, &mut events);
    let (bytes, origins) = events.finish();
    let modified = target.env.now;
    let table = workspace(request, target, project, &session).into_bytes();
    let argv = vec!["copilot".to_owned(), format!("--resume={session}")];
    Ok(WritePlan {
        key: None,
        resume: ResumeCommand { argv, cwd: request.project.to_path_buf(), needs_cwd: false },
        ops: vec![
            Op::Create { path: file.clone(), bytes, private: true, modified },
            Op::Create { path: folder.join("workspace.yaml"), bytes: table, private: true, modified },
        ],
        session: SessionId(session),
        file,
        translated: events.translated,
        losses: events.losses,
        origins,
    })
}

/// The first event. Nothing that chooses a model or allows anything.
fn start(request: &WriteRequest<'_>, target: &TargetView<'_>, project: &str, session: &str) -> Value {
    let mut context = json!({ "cwd": project });
    if let Some(branch) = request.branch {
        context["branch"] = json!(branch);
    }
    json!({
        "sessionId": session, "version": 1, "producer": "carryover",
        "copilotVersion": target.version.unwrap_or(NEWEST).to_string(), "startTime": request.started_at.to_string(),
        "context": context,
    })
}

/// The table that the client lists. JSON strings are YAML strings.
fn workspace(request: &WriteRequest<'_>, target: &TargetView<'_>, project: &str, session: &str) -> String {
    let title = title(request);
    let (started, now) = (request.started_at, target.env.now);
    let branch = request.branch.map(|branch| format!("branch: {}\n", json!(branch))).unwrap_or_default();
    format!(
        "id: {session}\ncwd: {}\n{branch}client_name: github/cli\nname: {}\nuser_named: true\nsummary_count: 0\n\
         fork_count: 0\ncreated_at: {started}\nupdated_at: {now}\n",
        json!(project),
        json!(title),
    )
}

fn title(request: &WriteRequest<'_>) -> String {
    let prompt = request.entries.iter().find_map(|carried| match &carried.entry.body {
        Body::Prompt(parts) if carried.entry.origin == Origin::User => Some(one_line(&text_of(parts), 80)),
        _ => None,
    });
    let title = request.title.map(|title| one_line(title, 200)).or(prompt).filter(|title| !title.is_empty());
    title.unwrap_or_else(|| "carried over".to_owned())
}

type Record<'a> = (&'a str, u16, u64);

fn record_of(carried: &Carried) -> Record<'_> {
    let (file, offset) = carried.entry.key.record();
    (carried.agent, file, offset)
}

fn write(request: &WriteRequest<'_>, events: &mut Events<'_>) {
    if let Some(brief) = request.brief {
        events.compaction(brief, Vec::new());
    }
    let natives = natives(request);
    let mut holds: BTreeMap<Record<'_>, Vec<usize>> = BTreeMap::new();
    for (index, carried) in request.entries.iter().enumerate().filter(|(_, carried)| carried.native.is_some()) {
        holds.entry(record_of(carried)).or_default().push(index);
    }
    for (index, carried) in request.entries.iter().enumerate() {
        let record = record_of(carried);
        // An answer that the client would have given stands where its call does, but is no part of that record.
        match natives.get(&record).filter(|_| carried.native.is_some()) {
            // Each is written once, with all of its entries.
            Some(value) => {
                let Some(entries) = holds.remove(&record) else { continue };
                let bodies = entries.iter().map(|entry| &request.entries[*entry].entry.body);
                let blobs: Vec<&Blob> = bodies.flat_map(Body::parts).filter_map(as_blob).collect();
                events.native(value.clone(), &blobs, entries);
            }
            None => entry(request, events, carried, index),
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
fn natives<'a>(request: &'a WriteRequest<'_>) -> BTreeMap<Record<'a>, Value> {
    let cut: BTreeSet<Record<'_>> = request.entries.iter().filter(|carried| carried.clipped).map(record_of).collect();
    let mut natives = BTreeMap::new();
    for (index, carried) in request.entries.iter().enumerate() {
        let record = record_of(carried);
        let Some(raw) = carried.native.as_deref().filter(|_| !cut.contains(&record)) else { continue };
        let Ok(mut value) = serde_json::from_str::<Value>(raw) else { continue };
        if value.get("type").is_none() {
            // A message of the first versions, which knew no events.
            continue;
        }
        let is_compaction = matches!(carried.entry.body, Body::Summary(_));
        if is_compaction && !only_prompts(request, index, true) {
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
fn only_prompts(request: &WriteRequest<'_>, index: usize, images_may_go: bool) -> bool {
    let is_prompt = |carried: &Carried| {
        let Body::Prompt(parts) = &carried.entry.body else { return false };
        carried.entry.origin == Origin::User && (images_may_go || parts.iter().all(|part| as_blob(part).is_none()))
    };
    request.brief.is_none() && request.entries[..index].iter().all(is_prompt)
}

fn entry(request: &WriteRequest<'_>, events: &mut Events<'_>, carried: &Carried, index: usize) {
    events.tick(carried.entry.at);
    match &carried.entry.body {
        Body::Prompt(parts) if carried.entry.origin == Origin::Hook => {
            let text = format!("<system_reminder>\n{}\n</system_reminder>", text_of(parts));
            events.prompt(&[Part::Text(text)], index);
        }
        Body::Summary(parts) if only_prompts(request, index, false) => {
            events.compaction(&text_of(parts), vec![index]);
        }
        Body::Prompt(parts) | Body::Summary(parts) => events.prompt(parts, index),
        Body::Reply(parts) => events.reply(parts, index),
        Body::Reasoning(reasoning) => events.reasoning(&reasoning.text, index),
        Body::Call(call) => events.call(call, carried, index),
        Body::Outcome(outcome) => events.outcome(outcome, index),
        Body::Compacted(_) | Body::Rewound { .. } | Body::Failure(_) | Body::Note(_) | Body::Opaque(_) => {}
    }
}
