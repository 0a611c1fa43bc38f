//! What is chosen, made so: hooks of the agents that are wanted, and none of the others.
//!
//! Every agent stands for itself: a file that cannot be changed is told, and the others are set up all the same.

use std::path::{Path, PathBuf};

use carryover_agents::{
    CommandFiles, EntryShape, Facts, HookPlace, HookSet, OwnHookFile, ReadList, Version, all_facts,
};

use super::detection::{self, Presence};
use super::error::InstallError;
use super::json_entries::{MadeMembers, WantedEntries, put_entries, remove_entries};
use super::managed_file::{FileChange, FoundFile, PutRequest};
use super::own_commands;
use super::own_file;
use super::read_list::{put_item, remove_item};
use super::record::{self, FileKind, FileRecord, InstallRecord, SERVICE};
use crate::context::Context;
use crate::handoff::project_dir;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::{Disk, RealDisk};

/// What a user wants.
#[derive(Debug, Clone)]
pub struct Choice {
    pub agents: Vec<&'static Facts>,
    /// Agents without hooks shall read the handoff at every start.
    pub uses_read_lists: bool,
    /// Agents that keep commands in files shall have ours.
    pub uses_commands: bool,
    pub protocol: Option<String>,
    pub uses_service: bool,
}

/// What became of an agent.
#[derive(Debug)]
pub struct AgentReport {
    pub facts: &'static Facts,
    pub version: Option<Version>,
    pub file: Option<PathBuf>,
    pub events: Vec<&'static str>,
    /// What is typed for our commands, where it is about these.
    pub commands: Vec<String>,
    pub outcome: Outcome,
    /// The newest version that was seen, where the installed one is newer.
    pub newer_than: Option<&'static str>,
    /// Somebody had changed the file since we wrote it.
    pub was_edited: bool,
    /// The copy of what is gone, in our own folder.
    pub backup: Option<String>,
}

#[derive(Debug)]
pub enum Outcome {
    Written,
    Unchanged,
    /// What was ours is out of its file.
    Removed,
    NotDetected,
    /// It is older than the first version that has hooks.
    TooOld(Version),
    /// It has none: its sessions are watched.
    NoHooks,
    Failed(InstallError),
}

impl AgentReport {
    fn new(facts: &'static Facts, outcome: Outcome) -> Self {
        Self {
            facts,
            version: None,
            file: None,
            events: Vec::new(),
            commands: Vec::new(),
            outcome,
            newer_than: None,
            was_edited: false,
            backup: None,
        }
    }

    /// The report of a change, done or, where nothing shall be written, only planned.
    fn after_change(
        mut self,
        context: &Context,
        record: &mut InstallRecord,
        disk: Option<&mut dyn Disk>,
        change: Result<FileChange, InstallError>,
    ) -> Self {
        let applied = change.and_then(|change| {
            if let Some(disk) = disk {
                change.apply(context, record, disk)?;
            }
            Ok(change)
        });
        match applied {
            Ok(change) => {
                self.was_edited = change.was_edited;
                self.file = Some(change.path().to_owned());
                self.backup = change.backup_name().map(str::to_owned);
                if !change.changes_file() && matches!(self.outcome, Outcome::Written) {
                    self.outcome = Outcome::Unchanged;
                }
            }
            Err(error) => {
                self.file = error.path().cloned();
                self.outcome = Outcome::Failed(error);
            }
        }
        self
    }
}

/// Makes it as it is chosen, and tells of every agent what became of it; with `dry_run` only what would.
pub fn set_up(
    context: &Context,
    program: &Path,
    choice: &Choice,
    dry_run: bool,
) -> Result<Vec<AgentReport>, InstallError> {
    let mut real = RealDisk;
    let mut disk: Option<&mut dyn Disk> = if dry_run { None } else { Some(&mut real) };
    let mut record = InstallRecord::load(&context.home)?.unwrap_or_default();
    record.program = program.display().to_string();
    record.agents = choice.agents.iter().map(|facts| facts.id.to_owned()).collect();
    record.protocol = choice.protocol.clone().or(record.protocol);
    record.uses_read_lists = choice.uses_read_lists;
    record.uses_service = choice.uses_service;
    record.uses_commands = choice.uses_commands;
    if let Some(disk) = disk.as_deref_mut() {
        record.save(&context.home, disk)?;
    }
    let mut reports = Vec::new();
    for facts in all_facts() {
        let is_chosen = choice.agents.iter().any(|chosen| chosen.id == facts.id);
        let reads = facts.read_list.filter(|_| choice.uses_read_lists);
        reports.extend(match (is_chosen, facts.hooks) {
            (true, Some(hooks)) => {
                let presence = detection::find_agent(context, facts);
                Some(put_hooks(context, &mut record, reborrow(&mut disk), (facts, hooks, &presence)))
            }
            (true, None) if reads.is_none() => Some(AgentReport::new(facts, Outcome::NoHooks)),
            _ => None,
        });
        if let Some(list) = reads {
            reports.push(put_read_list(context, &mut record, reborrow(&mut disk), facts, list));
        }
        let wants_commands = is_chosen && choice.uses_commands;
        if let Some(files) =
            facts.commands.filter(|_| wants_commands && detection::find_agent(context, facts).is_present())
        {
            reports.extend(put_commands(context, &mut record, reborrow(&mut disk), facts, files));
        }
        let wanted = Wanted { hooks: is_chosen, reading: reads.is_some(), commands: wants_commands };
        reports.extend(remove_unwanted(context, &mut record, reborrow(&mut disk), facts, wanted));
    }
    Ok(reports)
}

/// Lends a disk for one step.
fn reborrow<'a>(disk: &'a mut Option<&mut dyn Disk>) -> Option<&'a mut (dyn Disk + 'a)> {
    match disk {
        Some(disk) => Some(&mut **disk),
        None => None,
    }
}

/// Takes everything out, and tells of every file what became of it. The service's file is its own matter.
pub fn take_out(context: &Context, dry_run: bool) -> Result<Vec<AgentReport>, InstallError> {
    let mut real = RealDisk;
    let mut disk: Option<&mut dyn Disk> = if dry_run { None } else { Some(&mut real) };
    let mut record = InstallRecord::load(&context.home)?.unwrap_or_default();
    let mut reports = Vec::new();
    for facts in all_facts() {
        reports.extend(remove_unwanted(context, &mut record, reborrow(&mut disk), facts, Wanted::default()));
    }
    if let Some(disk) = disk.filter(|_| record.files.is_empty()) {
        let path = record::file_path(&context.home);
        if path.exists() {
            disk.remove_file(&path)?;
        }
    }
    Ok(reports)
}

fn put_hooks(
    context: &Context,
    record: &mut InstallRecord,
    disk: Option<&mut dyn Disk>,
    (facts, hooks, presence): (&'static Facts, &'static HookSet, &Presence),
) -> AgentReport {
    if !presence.is_present() {
        return AgentReport::new(facts, Outcome::NotDetected);
    }
    let version = presence.version();
    let resolved = hooks.resolve(facts, version);
    let mut report = AgentReport::new(facts, Outcome::Written);
    report.version = version;
    report.newer_than = resolved.newer_than;
    if let (true, Some(first)) = (resolved.events.is_empty(), hooks.tables.first()) {
        report.outcome = Outcome::TooOld(first.since);
        return report;
    }
    report.events = resolved.events.iter().map(|binding| binding.event).collect();
    let events: Vec<String> = report.events.iter().map(|event| (*event).to_owned()).collect();
    let draft = |kind, path: &Path| FileRecord {
        version: version.map(|version| version.to_string()),
        events,
        ..new_record(facts.id, kind, path)
    };
    let Some(path) = hooks.place.file_path(&context.env) else {
        report.outcome = Outcome::Failed(InstallError::NoPlace);
        return report;
    };
    let change = match &hooks.place {
        HookPlace::Entries { shape, .. } => {
            let entries = resolved.events.iter();
            let wanted = WantedEntries {
                agent: facts.id,
                file_version: if let EntryShape::Flat { file_version } = shape { *file_version } else { None },
                entries: entries
                    .map(|binding| (binding.event, shape.entry(facts.id, &record.program, binding)))
                    .collect(),
            };
            plan_entries(context, record, draft(FileKind::Entries, &path), &wanted)
        }
        HookPlace::OwnFile { render, .. } => {
            let text = render(&OwnHookFile { program: &record.program, events: resolved.events });
            own_file::plan_put(context, record, draft(FileKind::OwnFile, &path), text, None)
        }
    };
    report.after_change(context, record, disk, change)
}

pub(super) fn new_record(owner: &str, kind: FileKind, path: &Path) -> FileRecord {
    FileRecord {
        owner: owner.to_owned(),
        kind,
        path: path.to_owned(),
        version: None,
        events: Vec::new(),
        before: None,
        after: Fingerprint::EMPTY,
        backup: None,
        folders: Vec::new(),
        made: MadeMembers::default(),
        made_list: None,
    }
}

fn plan_entries(
    context: &Context,
    record: &InstallRecord,
    mut draft: FileRecord,
    wanted: &WantedEntries<'_>,
) -> Result<FileChange, InstallError> {
    let found = FoundFile::read(&draft.path)?;
    let earlier = record.find_file(&draft.owner, FileKind::Entries).filter(|earlier| earlier.path == draft.path);
    let mut made = earlier.filter(|_| found.is_there()).map(|earlier| earlier.made.clone()).unwrap_or_default();
    let wrong = |source| InstallError::Json { path: draft.path.clone(), source };
    let text = put_entries(found.text()?, wanted, &mut made).map_err(wrong)?;
    let without_us = remove_entries(found.text()?, wanted.agent, &made).map_err(wrong)?;
    draft.made = made;
    FileChange::put(context, found, earlier, PutRequest { record: draft, text, without_us: &without_us })
}

/// Puts the handoff into the list of files that an agent reads.
fn put_read_list(
    context: &Context,
    record: &mut InstallRecord,
    disk: Option<&mut dyn Disk>,
    facts: &'static Facts,
    list: &'static ReadList,
) -> AgentReport {
    let change = plan_read_list(context, record, facts, list);
    AgentReport::new(facts, Outcome::Written).after_change(context, record, disk, change)
}

fn plan_read_list(
    context: &Context,
    record: &InstallRecord,
    facts: &'static Facts,
    list: &'static ReadList,
) -> Result<FileChange, InstallError> {
    let path = list.file_path(&context.env).ok_or(InstallError::NoPlace)?;
    let found = FoundFile::read(&path)?;
    let earlier = record.find_file(facts.id, FileKind::ReadList).filter(|earlier| earlier.path == path);
    let mut draft = new_record(facts.id, FileKind::ReadList, &path);
    let wrong = |source| InstallError::ReadList { path: path.clone(), source };
    let now = found.text()?.to_owned();
    let item = project_dir::handoff_path();
    let (text, without_us) = if let Some((text, made)) = put_item(&now, list.key, &item).map_err(wrong)? {
        draft.made_list = Some(made);
        (text, now)
    } else {
        draft.made_list = earlier.and_then(|earlier| earlier.made_list.clone());
        let made = draft.made_list.as_ref();
        let without = made.map(|made| remove_item(&now, list.key, &item, made)).transpose().map_err(wrong)?;
        (now.clone(), without.unwrap_or(now))
    };
    FileChange::put(context, found, earlier, PutRequest { record: draft, text, without_us: &without_us })
}

/// Writes our commands for an agent, each for itself: one report of those that are there, and one of each that is not.
fn put_commands(
    context: &Context,
    record: &mut InstallRecord,
    mut disk: Option<&mut dyn Disk>,
    facts: &'static Facts,
    files: &'static CommandFiles,
) -> Vec<AgentReport> {
    let changes = own_commands::plan_all(context, record, facts);
    let (mut put, mut commands, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    for (change, name) in changes.into_iter().zip(own_commands::typed_names(files)) {
        let report = AgentReport::new(facts, Outcome::Written);
        let report = report.after_change(context, record, reborrow(&mut disk), change);
        if matches!(report.outcome, Outcome::Failed(_)) {
            failed.push(report);
        } else {
            put.push(report);
            commands.push(name);
        }
    }
    let together = merge_reports(facts, put, Outcome::Unchanged, files.own_folder(&context.env));
    let together = (!commands.is_empty()).then_some(AgentReport { commands, ..together });
    together.into_iter().chain(failed).collect()
}

/// One report for many files of the same kind, which lie in a folder: a failure counts most, then what was done.
fn merge_reports(
    facts: &'static Facts,
    reports: Vec<AgentReport>,
    otherwise: Outcome,
    folder: Option<PathBuf>,
) -> AgentReport {
    let mut merged = AgentReport { file: folder, ..AgentReport::new(facts, otherwise) };
    for report in reports {
        merged.was_edited |= report.was_edited;
        merged.backup = merged.backup.or(report.backup);
        match report.outcome {
            _ if matches!(merged.outcome, Outcome::Failed(_)) => {}
            Outcome::Failed(error) => (merged.file, merged.outcome) = (report.file, Outcome::Failed(error)),
            Outcome::Unchanged => {}
            outcome => merged.outcome = outcome,
        }
    }
    merged
}

/// Takes out what is there of an agent and not wanted any more, or stands in another file than it should.
fn remove_unwanted(
    context: &Context,
    record: &mut InstallRecord,
    mut disk: Option<&mut dyn Disk>,
    facts: &'static Facts,
    wanted: Wanted,
) -> Vec<AgentReport> {
    let place = facts.hooks.and_then(|hooks| hooks.place.file_path(&context.env));
    let commands = own_commands::file_paths(context, facts);
    let is_wanted = |file: &&FileRecord| match file.kind {
        FileKind::ReadList => wanted.reading,
        FileKind::Entries | FileKind::OwnFile => wanted.hooks && place.as_ref() == Some(&file.path),
        FileKind::Command => wanted.commands && commands.contains(&file.path),
    };
    let files = record.files.iter().filter(|file| file.owner == facts.id && file.owner != SERVICE);
    let unwanted: Vec<FileRecord> = files.filter(|file| !is_wanted(file)).cloned().collect();
    let mut remove = |file: &FileRecord| {
        let change = plan_removal(context, facts, file);
        AgentReport::new(facts, Outcome::Removed).after_change(context, record, reborrow(&mut disk), change)
    };
    let (commands, others): (Vec<_>, Vec<_>) = unwanted.iter().partition(|file| file.kind == FileKind::Command);
    let mut reports: Vec<AgentReport> = others.into_iter().map(&mut remove).collect();
    if !commands.is_empty() {
        let removed = commands.iter().map(|file| remove(file)).collect();
        let folder = facts.commands.and_then(|files| files.own_folder(&context.env));
        reports.push(merge_reports(facts, removed, Outcome::Removed, folder));
    }
    reports
}

/// What shall be there of an agent.
#[derive(Clone, Copy, Default)]
struct Wanted {
    hooks: bool,
    reading: bool,
    commands: bool,
}

fn plan_removal(context: &Context, facts: &'static Facts, file: &FileRecord) -> Result<FileChange, InstallError> {
    FileChange::give_back(context, file, |text| match (file.kind, &file.made_list, facts.read_list) {
        (FileKind::ReadList, Some(made), Some(list)) => remove_item(text, list.key, &project_dir::handoff_path(), made)
            .map_err(|source| InstallError::ReadList { path: file.path.clone(), source }),
        (FileKind::Entries, ..) => remove_entries(text, &file.owner, &file.made)
            .map_err(|source| InstallError::Json { path: file.path.clone(), source }),
        _ => Ok(text.to_owned()),
    })
}

#[cfg(test)]
mod tests;
