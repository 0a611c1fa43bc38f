//! Which agent reads which file, as a person reads it and as JSON.

use std::path::Path;

use carryover_agents::Facts;
use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::memory::overview::{FileOverview, Overview, Reading, survey_project};
use carryover_engine::memory::relation::Relation;
use serde::Serialize;

use crate::error::CommandError;
use crate::session_row::abbreviate_home;
use crate::ui::{BOLD, DIM, Ui};

/// The overview, as `--json` tells it.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    project: String,
    /// The file that the others would follow.
    source: Option<String>,
    files: Vec<FileRow>,
    user_files: Vec<UserFileRow>,
    untold: Vec<UntoldRow>,
}

#[derive(Serialize)]
struct FileRow {
    path: String,
    lines: usize,
    bytes: usize,
    sha256: Option<String>,
    private: Option<&'static str>,
    problem: Option<String>,
    readers: Vec<ReaderRow>,
    relation: Option<RelationRow>,
}

#[derive(Serialize)]
struct ReaderRow {
    agent: &'static str,
    reads: &'static str,
    detail: Option<String>,
}

#[derive(Serialize)]
struct RelationRow {
    to: String,
    kind: &'static str,
    lines_only_here: Option<usize>,
    lines_only_there: Option<usize>,
}

#[derive(Serialize)]
struct UserFileRow {
    path: String,
    readers: Vec<ReaderRow>,
}

#[derive(Serialize)]
struct UntoldRow {
    agent: &'static str,
    would_read: Option<&'static str>,
}

pub(super) fn show_files(
    ui: &mut Ui,
    context: &Context,
    project: &Path,
    agents: &[&'static Facts],
) -> Result<(), CommandError> {
    let overview = survey_project(context, project, agents);
    if ui.is_json() {
        return Ok(ui.write_json(&to_document(overview))?);
    }
    ui.status(format_args!("{DIM}{}{DIM:#}", abbreviate_home(context, &overview.project)))?;
    for file in &overview.files {
        write_file(ui, file, overview.source.as_deref())?;
    }
    if overview.files.is_empty() {
        ui.status("no file in this project tells any of these agents something")?;
    }
    for file in &overview.user_files {
        let counts = if file.is_above { "above this project, for all below it" } else { "yours, in every project" };
        ui.write_row(format_args!("{BOLD}{}{BOLD:#}  {DIM}{counts}{DIM:#}", one_line(&file.name, 200)))?;
        write_readers(ui, &file.readers)?;
    }
    for (facts, file) in &overview.untold {
        let would = file.map(|file| format!(" (it would read {file})")).unwrap_or_default();
        ui.write_row(format_args!("{} reads none of the project's{would}", facts.name))?;
    }
    tell_next(ui, &overview)
}

fn write_file(ui: &mut Ui, file: &FileOverview, source: Option<&str>) -> Result<(), CommandError> {
    let mut notes = vec![match &file.problem {
        Some(problem) => format!("not read: {problem}"),
        None => count_lines(file.lines),
    }];
    notes.extend(file.private_reason.map(|reason| format!("private: {reason}")));
    notes.extend(file.relation.zip(source).map(|(relation, source)| describe_relation(relation, source)));
    let name = one_line(&file.name, 200);
    ui.write_row(format_args!("{BOLD}{name}{BOLD:#}  {DIM}{}{DIM:#}", one_line(&notes.join("; "), 200)))?;
    write_readers(ui, &file.readers)
}

fn write_readers(ui: &mut Ui, readers: &[(&'static Facts, Reading)]) -> Result<(), CommandError> {
    let names = |wanted: &dyn Fn(&Reading) -> Option<String>| {
        let told = readers.iter().filter_map(|(facts, reading)| Some(format!("{}{}", facts.name, wanted(reading)?)));
        told.collect::<Vec<_>>().join(", ")
    };
    let always = names(&|reading| match reading {
        Reading::Always => Some(String::new()),
        Reading::Through(file) => Some(format!(" (through {file})")),
        Reading::When(_) | Reading::PassedOver(_) => None,
    });
    let sometimes = names(&|reading| match reading {
        Reading::When(when) => Some(format!(" ({when})")),
        _ => None,
    });
    let never = names(&|reading| match reading {
        Reading::PassedOver(file) => Some(format!(" ({file} is there)")),
        _ => None,
    });
    for (label, told) in [("read by", always), ("at times by", sometimes), ("passed over by", never)] {
        if !told.is_empty() {
            ui.write_row(format_args!("  {label:<14}  {}", one_line(&told, 400)))?;
        }
    }
    Ok(())
}

fn describe_relation(relation: Relation, source: &str) -> String {
    match relation {
        Relation::SameFile => format!("the same file as {source}"),
        Relation::SameWords => format!("says the same as {source}"),
        Relation::Imports => format!("takes {source} in"),
        Relation::ImportedBy => format!("{source} takes it in"),
        Relation::Copies { is_current: true } => format!("holds a copy of {source}"),
        Relation::Copies { is_current: false } => format!("holds an older copy of {source}"),
        Relation::Differs { lines_only_here, lines_only_there } => {
            format!("differs from {source}: {} only here, {lines_only_there} only there", count_lines(lines_only_here))
        }
    }
}

fn count_lines(n: usize) -> String {
    if n == 1 { "1 line".to_owned() } else { format!("{n} lines") }
}

fn tell_next(ui: &mut Ui, overview: &Overview) -> Result<(), CommandError> {
    let Some(source) = &overview.source else { return Ok(()) };
    let differs = |file: &FileOverview| {
        matches!(file.relation, Some(Relation::Differs { .. } | Relation::Copies { is_current: false }))
    };
    if overview.files.iter().any(differs) || !overview.untold.is_empty() {
        ui.hint(format_args!("`carryover memory sync --dry-run` shows how {source} would become the source of all"))?;
    }
    Ok(())
}

fn to_document(overview: Overview) -> Document {
    let source = overview.source.clone();
    let row = |file: FileOverview| FileRow {
        path: file.name,
        lines: file.lines,
        bytes: file.bytes,
        sha256: file.sha256,
        private: file.private_reason,
        problem: file.problem,
        readers: file.readers.iter().map(reader_row).collect(),
        relation: file.relation.zip(source.as_deref()).map(relation_row),
    };
    Document {
        schema: "carryover.memory/1",
        project: overview.project.display().to_string(),
        files: overview.files.into_iter().map(row).collect(),
        user_files: overview
            .user_files
            .into_iter()
            .map(|file| UserFileRow { path: file.name, readers: file.readers.iter().map(reader_row).collect() })
            .collect(),
        untold: overview.untold.iter().map(|(facts, file)| UntoldRow { agent: facts.id, would_read: *file }).collect(),
        source: overview.source,
    }
}

fn reader_row((facts, reading): &(&'static Facts, Reading)) -> ReaderRow {
    let (reads, detail) = match reading {
        Reading::Always => ("always", None),
        Reading::When(when) => ("sometimes", Some((*when).to_owned())),
        Reading::Through(file) => ("through", Some(file.clone())),
        Reading::PassedOver(file) => ("passed-over", Some(file.clone())),
    };
    ReaderRow { agent: facts.id, reads, detail }
}

fn relation_row((relation, source): (Relation, &str)) -> RelationRow {
    let (kind, lines) = match relation {
        Relation::SameFile => ("same-file", None),
        Relation::SameWords => ("same-words", None),
        Relation::Imports => ("imports", None),
        Relation::ImportedBy => ("imported-by", None),
        Relation::Copies { is_current: true } => ("copy", None),
        Relation::Copies { is_current: false } => ("older-copy", None),
        Relation::Differs { lines_only_here, lines_only_there } => {
            ("differs", Some((lines_only_here, lines_only_there)))
        }
    };
    let (here, there) = lines.unzip();
    RelationRow { to: source.to_owned(), kind, lines_only_here: here, lines_only_there: there }
}
