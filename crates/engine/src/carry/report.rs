//! The report of a resume, done or planned, for people.

use std::collections::BTreeSet;

use carryover_agents::{Agent, WriteOp, WritePlan};
use carryover_core::transcript::{Body, count_messages};

use super::fit::FittedSession;
use super::resume::{Report, permission_loss};
use crate::sessions::list::ListedSession;

pub(super) fn for_plan(
    session: &ListedSession,
    target: &dyn Agent,
    plan: &WritePlan,
    fitted: &FittedSession,
    window: u64,
    warnings: Vec<String>,
) -> Report {
    let mut lost = fitted.losses.clone();
    lost.extend(plan.losses.iter().cloned());
    lost.extend(permission_loss(fitted.header.permission, target));
    let created = plan.ops.iter().filter_map(|op| match op {
        WriteOp::Create { path, .. } | WriteOp::CreateShared { path, .. } => Some(path.clone()),
        WriteOp::AppendLine { .. } | WriteOp::AddRow(_) | WriteOp::Run(_) => None,
    });
    Report {
        source: session.agent.facts().id,
        source_session: session.found.id.clone(),
        target: target.facts().id,
        session: plan.session.clone(),
        command: plan.resume.clone(),
        carried: fitted.carried.len(),
        messages: count_messages(fitted.carried.iter().map(|carried| &carried.entry)),
        calls: fitted.carried.iter().filter(|carried| matches!(carried.entry.body, Body::Call(_))).count(),
        translated: plan.translated,
        clipped: fitted.clipped,
        lost,
        unread: fitted.unread.clone(),
        tokens: fitted.tokens,
        window,
        files: created.collect(),
        undo_id: None,
        warnings,
        steps: describe_ops(&plan.ops),
        superseded: None,
        n_sub_agents: 0,
        earlier: None,
        left_out: fitted.left_out.as_ref().map_or(0, |left_out| left_out.count),
    }
}

/// The steps, of which several that go into one database are told as one.
fn describe_ops(ops: &[WriteOp]) -> Vec<String> {
    let database = |op: &WriteOp| match op {
        WriteOp::AddRow(row) => Some(row.rows.database.clone()),
        _ => None,
    };
    let mut steps = Vec::new();
    let mut told = BTreeSet::new();
    for op in ops {
        let Some(path) = database(op) else {
            steps.push(describe_op(op));
            continue;
        };
        let n_same = ops.iter().filter(|other| database(other).as_ref() == Some(&path)).count();
        if n_same == 1 {
            steps.push(describe_op(op));
        } else if told.insert(path.clone()) {
            steps.push(format!("add entries to {}", path.display()));
        }
    }
    steps
}

fn describe_op(op: &WriteOp) -> String {
    match op {
        WriteOp::Create { path, bytes, .. } | WriteOp::CreateShared { path, bytes, .. } => {
            format!("create {} ({})", path.display(), format_size(bytes.len()))
        }
        WriteOp::AppendLine { lines, .. } => format!("add a line to {}", lines.file.display()),
        WriteOp::AddRow(row) => format!("add an entry to {}", row.rows.database.display()),
        WriteOp::Run(run) => {
            let program = run.program.file_name().unwrap_or_default().to_string_lossy();
            format!("run {program}: {}", run.reason)
        }
    }
}

fn format_size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        // As listings tell it, so that one file has one size.
        1_000..10_000 => format!("{}.{} KB", bytes / 1_000, bytes % 1_000 / 100),
        10_000..1_000_000 => format!("{} KB", bytes / 1_000),
        1_000_000..10_000_000 => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}
