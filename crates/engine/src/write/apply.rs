//! Doing what a plan says: journaled first, whole or not at all, read back before it counts.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{NewRow, OwnerRow, SessionLines, SessionRows, WriteOp, WritePlan};

use crate::carry::resume::ResumeError;
use crate::context::Context;
use crate::handoff::gitignore::MissingIgnoreRule;
use crate::own::files;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::{Disk, NewFile};
use crate::write::journal::{self, Journal, Lineage, Lines, Member, Owner, Referrer, Rows, State, WrittenFile};
use crate::write::new_rows;
use crate::write::readback::LiveRecords;
use crate::write::removal::take_back;
use crate::write::rows;
use crate::write::scratch;

/// Writes a session. On any error everything that was done is taken back; what could not be stays in the journal.
///
/// `verify` reads the session back, once it is in its place, and tells where its live records begin. The answer are
/// warnings.
pub(crate) fn apply_plan(
    disk: &mut dyn Disk,
    context: &Context,
    plan: &WritePlan,
    journal: &mut Journal,
    hide: Option<&MissingIgnoreRule>,
    mut lineage: Lineage,
    verify: &dyn Fn() -> Result<LiveRecords, &'static str>,
) -> Result<Vec<String>, ResumeError> {
    refuse_existing(plan)?;
    let values = read_values(plan)?;
    record_expected(context, plan, &values, journal);
    write_lineage(disk, context, journal, &lineage)?;
    begin_journal(disk, context, journal)?;
    let added = perform_ops(disk, context, plan, journal, hide)
        .and_then(|warnings| add_rows(disk, context, journal, &values).map(|()| warnings));
    let result = added.and_then(|warnings| {
        let live = verify().map_err(ResumeError::ReadBack)?;
        lineage.keep_live(&live);
        if plan.key.is_some() {
            lineage.written = live;
        }
        write_lineage(disk, context, journal, &lineage)?;
        finish_journal(disk, context, journal)?;
        Ok(warnings)
    });
    // A command that could not be ended may still add something: the next resume takes that back, too.
    if result.is_err() && take_back(disk, journal, false).is_ok() && !scratch::is_any_held(&context.home) {
        remove_journal(disk, context, &journal.id);
    }
    result
}

fn refuse_existing(plan: &WritePlan) -> Result<(), ResumeError> {
    let taken = planned_files(plan).find(|file| file.path.symlink_metadata().is_ok());
    match taken {
        Some(file) => Err(write_error(file.path)(io::ErrorKind::AlreadyExists.into())),
        None => Ok(()),
    }
}

/// A file that the plan makes.
struct PlannedFile<'a> {
    path: &'a Path,
    new: NewFile<'a>,
    shared: bool,
}

/// The files that are still to be made. One that is shared may be there by now: another resume was faster.
fn planned_files(plan: &WritePlan) -> impl Iterator<Item = PlannedFile<'_>> {
    let files = plan.ops.iter().filter_map(|op| match op {
        WriteOp::Create { path, bytes, private, modified } => {
            Some(PlannedFile { path, new: NewFile { bytes, private: *private, modified: *modified }, shared: false })
        }
        WriteOp::CreateShared { path, bytes, modified } => {
            Some(PlannedFile { path, new: NewFile { bytes, private: true, modified: *modified }, shared: true })
        }
        WriteOp::AppendLine { .. } | WriteOp::AddRow(_) | WriteOp::Run(_) => None,
    });
    files.filter(|file| !file.exists_already())
}

impl PlannedFile<'_> {
    /// Whether somebody else has made the same.
    fn exists_already(&self) -> bool {
        let limit = self.new.bytes.len() as u64;
        self.shared && files::read_bounded(self.path, limit).is_ok_and(|now| now.as_deref() == Some(self.new.bytes))
    }
}

/// A row that the plan adds, and the value that it is added to, as it was before.
type PlannedRow<'a> = (&'a NewRow, Option<String>);

/// Reads the values that members of ours go into.
fn read_values(plan: &WritePlan) -> Result<Vec<PlannedRow<'_>>, ResumeError> {
    let rows = plan.ops.iter().filter_map(|op| match op {
        WriteOp::AddRow(row) => Some(row),
        _ => None,
    });
    rows.map(|row| Ok((row, new_rows::read_value(row)?))).collect()
}

/// Notes all that will be there afterwards, so that one journal entry at the beginning is enough to take it back.
fn record_expected(context: &Context, plan: &WritePlan, values: &[PlannedRow<'_>], journal: &mut Journal) {
    for PlannedFile { path, new, shared } in planned_files(plan) {
        journal.files.push(WrittenFile { shared, ..WrittenFile::from_bytes(path, new.bytes) });
        let mut missing: Vec<PathBuf> =
            path.ancestors().skip(1).take_while(|folder| !folder.is_dir()).map(Path::to_owned).collect();
        missing.reverse();
        missing.retain(|folder| !journal.folders.contains(folder));
        journal.folders.append(&mut missing);
    }
    let earlier = rows_begun(context);
    let begun: BTreeSet<_> = earlier.iter().map(|rows| (&rows.database, &rows.value)).collect();
    for (row, value) in values {
        let mut rows = journal_rows(context, &row.rows);
        if let Some(member) = &mut rows.member {
            member.is_row_new = value.is_none() || begun.contains(&(&row.rows.database, &row.rows.value));
        }
        journal.rows.push(rows);
    }
    for op in &plan.ops {
        if let WriteOp::AppendLine { lines: of, .. } = op {
            journal.lines.push(appended_lines(of));
        }
        if let WriteOp::Run(run) = op {
            journal.rows.extend(run.inverse.rows.iter().map(|of| journal_rows(context, of)));
            journal.lines.extend(run.inverse.lines.iter().map(journal_lines));
        }
    }
}

/// The rows of lists that resumes have begun which are not taken back: they go with the last that is in them.
fn rows_begun(context: &Context) -> Vec<Rows> {
    let open = journal::read_all(context).into_iter().filter(|earlier| earlier.state != State::Undone);
    let is_begun = |rows: &Rows| rows.member.as_ref().is_some_and(|member| member.is_row_new);
    open.flat_map(|earlier| earlier.rows).filter(is_begun).collect()
}

fn journal_rows(context: &Context, of: &SessionRows) -> Rows {
    Rows {
        database: of.database.clone(),
        table: of.table.to_owned(),
        column: of.column.to_owned(),
        value: of.value.clone(),
        is_prefix: of.is_prefix,
        left: None,
        is_session: of.is_session,
        owner: of.owner.and_then(|owner| journal_owner(context, &of.database, owner)),
        member: of.member.as_ref().map(|member| Member {
            column: member.column.to_owned(),
            path: member.path.iter().map(|&name| name.to_owned()).collect(),
            holder: member.holder.map(|&field| field.to_owned()),
            name: member.name.clone(),
            empty: member.empty.to_owned(),
            is_row_new: false,
            referrer: member
                .referrer
                .as_ref()
                .map(|referrer| Referrer { row: referrer.row.to_owned(), name: referrer.name.clone() }),
        }),
    }
}

/// None where it cannot be told which were there before. One that an earlier resume brought is still ours.
fn journal_owner(context: &Context, database: &Path, of: OwnerRow) -> Option<Owner> {
    let mut before = rows::column_values(database, of.table, of.column).ok()?;
    let open = journal::read_all(context).into_iter().filter(|earlier| earlier.state != State::Undone);
    let earlier = open.flat_map(|earlier| earlier.rows).filter(|rows| rows.owner.is_some());
    for rows in earlier.filter(|rows| rows.database == database) {
        let ours = rows::new_owner_values(&rows).ok()?;
        before.retain(|value| !ours.contains(value));
    }
    Some(Owner { table: of.table.to_owned(), column: of.column.to_owned(), by: of.referring_column.to_owned(), before })
}

/// A line of our own making; the lock is its client's, whenever it is made.
fn appended_lines(of: &SessionLines) -> Lines {
    Lines { is_lock_new: false, ..journal_lines(of) }
}

fn journal_lines(of: &SessionLines) -> Lines {
    let is_lock_new = of.lock.as_ref().is_some_and(|lock| lock.symlink_metadata().is_err());
    Lines { file: of.file.clone(), containing: of.marker.clone(), lock: of.lock.clone(), is_lock_new }
}

/// ORDER IS LOAD-BEARING: the lineage first, because a journal without one is whole and a lineage without a journal is
/// found by nobody; both before the first byte in another's store.
fn write_lineage(
    disk: &mut dyn Disk,
    context: &Context,
    journal: &Journal,
    lineage: &Lineage,
) -> Result<(), ResumeError> {
    let path = journal::lineage_path(context, &journal.id);
    let bytes = serde_json::to_vec(lineage).map_err(|error| write_error(&path)(error.into()))?;
    disk.write_own(&path, &bytes).map_err(write_error(&path))
}

fn begin_journal(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> Result<(), ResumeError> {
    let written = write_journal(disk, context, journal);
    if written.is_err() {
        remove_journal(disk, context, &journal.id);
    }
    written
}

fn write_journal(disk: &mut dyn Disk, context: &Context, journal: &Journal) -> Result<(), ResumeError> {
    let path = journal::file_path(context, &journal.id);
    let written = journal.to_bytes().and_then(|bytes| disk.write_own(&path, &bytes));
    written.map_err(write_error(&path))
}

fn perform_ops(
    disk: &mut dyn Disk,
    context: &Context,
    plan: &WritePlan,
    journal: &Journal,
    hide: Option<&MissingIgnoreRule>,
) -> Result<Vec<String>, ResumeError> {
    let mut warnings = Vec::new();
    // Before git could see the session.
    if let Some(Err(error)) = hide.map(|missing| missing.append_line(disk, &journal.project)) {
        warnings.push(format!("git sees the session: {error}"));
    }
    for folder in &journal.folders {
        match disk.create_folder(folder, true) {
            // A client that starts at this moment makes the same folder.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            result => result.map_err(write_error(folder))?,
        }
    }
    for file in planned_files(plan) {
        let folder = files::parent_folder(file.path).map_err(write_error(file.path))?;
        let staged = disk.stage(folder, &journal.id, &file.new).map_err(write_error(file.path))?;
        match disk.publish(&staged, file.path) {
            Err(_) if file.exists_already() => {}
            result => result.map_err(write_error(file.path))?,
        }
    }
    for op in &plan.ops {
        if let WriteOp::AppendLine { lines: of, line } = op {
            disk.append_line(&appended_lines(of), line).map_err(write_error(&of.file))?;
        }
        if let WriteOp::Run(run) = op
            && let Err(error) = disk.run(run, context)
        {
            let program = run.program.file_name().unwrap_or_default().to_string_lossy();
            if run.required {
                let (program, reason, said) = (program.into_owned(), error.to_string(), error.said());
                return Err(ResumeError::Run { program, why: run.reason, reason, said });
            }
            warnings
                .push(format!("`{program}` was run ({}), but {error}; the session is there all the same", run.reason));
        }
    }
    Ok(warnings)
}

/// Adds rows to editors' databases, each of which is one transaction, behind a copy of every value that is changed.
fn add_rows(
    disk: &mut dyn Disk,
    context: &Context,
    journal: &mut Journal,
    values: &[PlannedRow<'_>],
) -> Result<(), ResumeError> {
    let mut databases: BTreeMap<&Path, Vec<(&NewRow, Option<Fingerprint>)>> = BTreeMap::new();
    let copied =
        values.iter().filter_map(|(row, value)| Some(((&row.rows.database, &row.rows.value), value.as_deref()?)));
    // Two of ours may go into one value.
    let copied: BTreeMap<_, &str> = copied.collect();
    for (number, value) in copied.into_values().enumerate() {
        let path = journal::backup_path(context, &journal.id, number);
        disk.write_own(&path, value.as_bytes()).map_err(write_error(&path))?;
    }
    for (row, value) in values {
        let before = value.as_ref().map(|value| Fingerprint::from_bytes(value.as_bytes()));
        databases.entry(&row.rows.database).or_default().push((row, before));
    }
    let mut added: Vec<&Path> = Vec::new();
    for (database, rows) in databases {
        if let Err(error) = disk.insert_rows(database, &rows) {
            // All or none: there is nothing to take out of a database that cannot be changed.
            journal.rows.retain(|rows| added.contains(&rows.database.as_path()));
            return Err(error.into());
        }
        added.push(database);
    }
    let is_missing = |rows: &&Rows| !matches!(rows::compute_digest(rows), Ok(Some(_)));
    match journal.rows.iter().filter(|_| journal.is_in_editor).find(is_missing) {
        Some(_) => Err(ResumeError::ReadBack("the editor's database does not hold it")),
        None => Ok(()),
    }
}

/// Marks it as done, with the files as they now are: a client that registered the session may have added to it.
fn finish_journal(disk: &mut dyn Disk, context: &Context, journal: &mut Journal) -> Result<(), ResumeError> {
    let mut rewritten = false;
    for left in &mut journal.files {
        let ours = Fingerprint::from_file(&left.path, Some(left.size)).map_err(write_error(&left.path))?;
        rewritten |= ours != (left.size, left.digest);
        (left.size, left.digest) = Fingerprint::from_file(&left.path, None).map_err(write_error(&left.path))?;
    }
    if rewritten {
        // Positions in it mean nothing any more; without them, the way back is a translation.
        let path = journal::lineage_path(context, &journal.id);
        disk.remove_file(&path).map_err(write_error(&path))?;
    }
    for rows in journal.rows.iter_mut().filter(|rows| rows.is_session) {
        let database = rows.database.clone();
        rows.left = rows::compute_digest(rows).map_err(|error| write_error(&database)(io::Error::other(error)))?;
    }
    journal.state = State::Done;
    write_journal(disk, context, journal)
}

/// Removes what we noted about a resume that left nothing behind. If it stays, it is taken back once more, in vain.
fn remove_journal(disk: &mut dyn Disk, context: &Context, id: &str) {
    for path in [journal::file_path(context, id), journal::lineage_path(context, id)] {
        disk.remove_file(&path).ok();
    }
    for path in journal::list_backups(context, id) {
        disk.remove_file(&path).ok();
    }
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> ResumeError {
    let path = path.to_owned();
    move |source| ResumeError::Write { path, source }
}
