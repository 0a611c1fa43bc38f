//! Making a capsule of a session.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use carryover_agents::Env;
use carryover_core::redact::{mask_excerpts, mask_kinds, redact_text};
use carryover_core::time::Timestamp;
use carryover_core::transcript::Header;
use serde::Serialize;

use super::CapsuleError;
use super::boundary::{Boundary, GitPosition};
use super::container::{Content, Member, PackedForm, write_archive, write_folder, write_packed};
use super::limits;
use super::manifest::{
    BOUNDARY, MANIFEST, Manifest, MemberRecord, SCHEMA, SNAPSHOT, SOURCE, SourceSession, TRANSCRIPT, WORKSPACE,
};
use super::masks::{MaskCounts, add_masks, subtract_masks};
use super::prompts::collect_prompts;
use super::raw_records::{Masking, RawRecords, collect_raw, pack_request};
use super::recorded::{RecordedEnd, read_recorded_end};
use super::staging::StagingFolder;
use super::transcript::write_lines;
use super::workspace::{
    FilesMode, LeftOut, WorkspaceRecord, check_project, collect_workspace, workspace_root, write_snapshot,
};
use crate::carry::canonical::tell_transcript;
use crate::context::Context;
use crate::own::files;
use crate::own::sha256::hex_sha256;
use crate::sessions::list::ListedSession;
use crate::sessions::read;

/// In our own folder: what is packed before it has its place.
const FOLDER: &str = "sealing";

const OUTDATED_RECORDING: &str =
    "the session went on after it was recorded: its conditions are what its agent wrote down, and no more";

const GAPPED_RECORDING: &str =
    "the end of its recording has gaps: its conditions are what its agent wrote down, and no more";

/// How a capsule is made.
#[derive(Debug, Clone)]
pub struct Options {
    pub files: FilesMode,
    /// With the records that the agent itself wrote.
    pub raw: bool,
    /// Masks secrets, and leaves files out that hold any.
    pub redact: bool,
}

/// A capsule in the making: what it says can still be added to.
pub struct Draft {
    pub boundary: Boundary,
    /// What else comes along below `source/`.
    source: Vec<Member>,
    raw_session: Option<String>,
    raw_home: Option<String>,
    transcript: Vec<u8>,
    workspace: WorkspaceRecord,
    snapshot: Option<MemberRecord>,
    folder: StagingFolder,
    session: SourceSession,
    prompts: Vec<String>,
    redacted: bool,
    /// The masks that stood in what the session is made of.
    masks_before: MaskCounts,
    pub warnings: Vec<String>,
}

/// A capsule that is whole, and has to be put somewhere.
pub struct SealedCapsule {
    pub manifest: Manifest,
    pub workspace: WorkspaceRecord,
    pub warnings: Vec<String>,
    /// Some of the user's words, as they are in it.
    pub prompts: Vec<String>,
    members: Vec<Member>,
    /// Holds the snapshot until it is written.
    _folder: StagingFolder,
}

/// Makes a capsule of a session.
pub fn seal(context: &Context, session: &ListedSession, options: &Options) -> Result<SealedCapsule, CapsuleError> {
    draft_capsule(context, session, options)?.seal()
}

/// Gathers all that a capsule is made of.
pub fn draft_capsule(context: &Context, session: &ListedSession, options: &Options) -> Result<Draft, CapsuleError> {
    let transcript = read::full_transcript(session, true)?;
    let header = transcript.header.clone();
    let project = header.project.clone().or_else(|| session.found.project.clone());
    let folder = StagingFolder::create(context, FOLDER)?;
    let place = project.as_deref().filter(|project| project.is_dir());
    let (mut workspace, snapshot) = match place {
        Some(place) => pack_workspace(context, place, options, folder.path())?,
        None => (WorkspaceRecord::without_files(project.as_deref().map(|gone| name_gone(gone, options.redact))), None),
    };
    let git = GitPosition { commit: workspace.commit.clone(), branch: workspace.branch.clone() };
    let git = Some(git).filter(|git| git.commit.is_some() || git.branch.is_some());
    let mut boundary =
        Boundary::from_session(session.agent, &transcript, place, git, read_rules(context, session, place));
    let mut warnings = Vec::new();
    let mut request = None;
    match read_recorded_end(context, session, &transcript) {
        Ok(RecordedEnd::Current(recorded)) => {
            request = Some(recorded.body);
            boundary = boundary.with_recorded(recorded.boundary);
        }
        Ok(RecordedEnd::Outdated) => warnings.push(OUTDATED_RECORDING.to_owned()),
        Ok(RecordedEnd::Gapped) => warnings.push(GAPPED_RECORDING.to_owned()),
        Ok(RecordedEnd::Absent) => {}
        Err(error) => warnings.push(format!("its recording cannot be read, and counts for nothing: {error}")),
    }
    let messages = transcript.n_messages() as u64;
    let mut masks_before = MaskCounts::new();
    let mut raw = None;
    if options.raw {
        let mut masking = Masking { redact: options.redact, masks_before: &mut masks_before };
        let mut records = collect_raw(session, &header, &mut masking, &mut workspace.left_out)?;
        records.members.extend(request.and_then(|body| pack_request(body, &mut masking, &mut workspace.left_out)));
        raw = Some(records);
        workspace.left_out.sort();
    }
    let told = tell_transcript(session, transcript)?;
    if options.redact {
        add_masks(&mut masks_before, &String::from_utf8_lossy(&write_lines(&told.uasf)?));
        add_masks(&mut masks_before, &String::from_utf8_lossy(&to_document(&boundary)?));
    }
    let uasf = if options.redact { told.uasf.redacted() } else { told.uasf };
    let transcript = write_lines(&uasf)?;
    if transcript.len() as u64 > limits::MAX_TRANSCRIPT_BYTES {
        return Err(CapsuleError::NoCapsule("the session is longer than a capsule holds".into()));
    }
    warnings.extend(told.unread.warnings());
    warnings.extend(told.warnings);
    if let (Some(project), None) = (&project, place) {
        warnings.push(format!("{} is gone: the capsule has no files", project.display()));
    }
    let (raw_session, source) =
        raw.map_or((None, Vec::new()), |RawRecords { members, session }| (Some(session), members));
    Ok(Draft {
        boundary: if options.redact { boundary.redacted() } else { boundary },
        source,
        raw_session,
        raw_home: options.raw.then(|| context.env.home.display().to_string()),
        transcript,
        workspace,
        snapshot,
        folder,
        prompts: collect_prompts(&uasf),
        session: describe_session(session, &header, uasf.session.title, messages),
        redacted: options.redact,
        masks_before,
        warnings,
    })
}

fn describe_session(session: &ListedSession, header: &Header, title: Option<String>, messages: u64) -> SourceSession {
    let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
    SourceSession {
        agent: session.agent.facts().id.to_owned(),
        client_version: header.client_version.clone(),
        session_id: session.found.id.0.clone(),
        title,
        started_at: text(header.started_at.or(session.found.started_at)),
        updated_at: text(header.updated_at.or(session.found.updated_at)),
        messages,
    }
}

/// Packs the files of a project.
fn pack_workspace(
    context: &Context,
    project: &Path,
    options: &Options,
    folder: &Path,
) -> Result<(WorkspaceRecord, Option<MemberRecord>), CapsuleError> {
    let root = workspace_root(context, project);
    if let Some(reason) = check_project(context, &root) {
        let mut record = WorkspaceRecord::without_files(Some(root.display().to_string()));
        if options.files != FilesMode::None {
            record.left_out.push(LeftOut::new(".", reason));
        }
        return Ok((record, None));
    }
    let collected = collect_workspace(context, &root, project, options.files)?;
    if options.files == FilesMode::None {
        return Ok((collected.record, None));
    }
    let out = fs_err::File::create(snapshot_path(folder))?;
    let (record, member) = write_snapshot(collected, options.redact, out)?;
    Ok((record, Some(member)))
}

/// The rules of permission that the agent keeps for the project and for its user.
fn read_rules(context: &Context, session: &ListedSession, project: Option<&Path>) -> Option<Vec<String>> {
    let env = Env { projects: project.map(Path::to_owned).into_iter().collect(), ..context.env.clone() };
    session.agent.facts().read_permission_rules(&env)
}

/// A folder that is no more, as the session knew it.
fn name_gone(project: &Path, redact: bool) -> String {
    let name = project.display().to_string();
    if redact { redact_text(&name).into_owned() } else { name }
}

fn snapshot_path(folder: &Path) -> PathBuf {
    folder.join("snapshot.tar.zst")
}

impl Draft {
    /// Adds something that the source wrote, below `source/`.
    pub fn add_source(&mut self, name: &str, bytes: Vec<u8>) {
        self.source.push(Member { name: format!("{SOURCE}{name}"), content: Content::Bytes(bytes) });
    }

    /// Closes it: from here on it has its digests, and its name.
    pub fn seal(self) -> Result<SealedCapsule, CapsuleError> {
        let boundary = self.boundary.with_hash();
        let mut members = self.source;
        members.push(Member { name: BOUNDARY.to_owned(), content: Content::Bytes(to_document(&boundary)?) });
        members.push(Member { name: TRANSCRIPT.to_owned(), content: Content::Bytes(self.transcript) });
        members.push(Member { name: WORKSPACE.to_owned(), content: Content::Bytes(to_document(&self.workspace)?) });
        let mut records: Vec<MemberRecord> = members.iter().filter_map(Member::to_record).collect();
        if let Some(snapshot) = self.snapshot {
            let content = Content::File { path: snapshot_path(self.folder.path()), start: 0, length: snapshot.bytes };
            members.push(Member { name: SNAPSHOT.to_owned(), content });
            records.push(snapshot);
        }
        records.sort_by(|a, b| a.name.cmp(&b.name));
        members.sort_by(|a, b| a.name.cmp(&b.name));
        let masked = self.redacted.then(|| count_masked(&members, &self.masks_before));
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            id: String::new(),
            created_at: self.session.updated_at.clone(),
            source: self.session,
            model: boundary.model.value.clone(),
            project: self.workspace.root.clone(),
            config_hash: boundary.config_hash.clone(),
            redacted: self.redacted,
            masked,
            files: self.workspace.files_mode,
            raw_session: self.raw_session,
            raw_home: self.raw_home,
            members: records,
        };
        let manifest = manifest.with_id();
        let first = Member { name: MANIFEST.to_owned(), content: Content::Bytes(to_document(&manifest)?) };
        members.insert(0, first);
        Ok(SealedCapsule {
            manifest,
            workspace: self.workspace,
            warnings: self.warnings,
            prompts: self.prompts,
            members,
            _folder: self.folder,
        })
    }
}

impl Member {
    /// Its record; a file has one already.
    fn to_record(&self) -> Option<MemberRecord> {
        let Content::Bytes(bytes) = &self.content else { return None };
        Some(MemberRecord { name: self.name.clone(), bytes: bytes.len() as u64, sha256: hex_sha256(bytes) })
    }
}

fn list_texts(members: &[Member]) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    members.iter().filter_map(|member| match &member.content {
        Content::Bytes(bytes) => Some((member.name.as_str(), String::from_utf8_lossy(bytes))),
        Content::File { .. } => None,
    })
}

/// What was masked in members, without what stood there before as a mask.
fn count_masked(members: &[Member], before: &MaskCounts) -> MaskCounts {
    let mut counts = MaskCounts::new();
    list_texts(members).for_each(|(_, text)| add_masks(&mut counts, &text));
    subtract_masks(&mut counts, before);
    counts
}

fn to_document(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(text.into_bytes())
}

/// A mask in a capsule, with the words before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Masked {
    pub member: String,
    pub excerpt: String,
}

impl SealedCapsule {
    /// How often each kind of secret was masked for it.
    pub fn count_masks(&self) -> BTreeMap<String, usize> {
        self.manifest.masked.clone().unwrap_or_default()
    }

    /// Some masks as they will be read, the first of each kind before others.
    pub fn show_masks(&self, most: usize) -> Vec<Masked> {
        let (mut firsts, mut others, mut kinds) = (Vec::new(), Vec::new(), BTreeSet::new());
        for (member, text) in self.texts() {
            for excerpt in mask_excerpts(&text) {
                let is_first = mask_kinds(excerpt).last().is_some_and(|kind| kinds.insert(kind.to_owned()));
                let shown = if is_first { &mut firsts } else { &mut others };
                if shown.len() < most {
                    shown.push(Masked { member: member.to_owned(), excerpt: excerpt.to_owned() });
                }
            }
        }
        firsts.into_iter().chain(others).take(most).collect()
    }

    /// The members that are text of the session's.
    fn texts(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        list_texts(&self.members)
    }

    /// Writes it as one packed file.
    pub fn write_archive<W: Write>(&self, out: W) -> Result<W, CapsuleError> {
        Ok(write_archive(&self.members, self.manifest.modified_seconds(), out)?)
    }

    /// What its members hold, the manifest first, then in the manifest's order.
    pub(crate) fn contents(&self) -> impl Iterator<Item = &Content> {
        self.members.iter().map(|member| &member.content)
    }

    /// Puts it into a file of its owner's alone, in one step.
    pub fn write_file(&self, path: &Path, form: PackedForm) -> Result<u64, CapsuleError> {
        let folder = files::parent_folder(path)?;
        files::create_private_folder(folder)?;
        let mut file = files::create_temporary(folder)?;
        let out = io::BufWriter::new(file.as_file_mut());
        write_packed(form, &self.members, self.manifest.modified_seconds(), out)?.flush()?;
        file.as_file().sync_all()?;
        let bytes = file.as_file().metadata()?.len();
        file.persist(path).map_err(|failed| failed.error)?;
        files::sync_folder(folder)?;
        Ok(bytes)
    }

    /// Lays it out as a folder, which must not be there yet, or be empty.
    pub fn write_folder(&self, folder: &Path) -> Result<u64, CapsuleError> {
        let is_taken = fs_err::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some());
        if is_taken || folder.is_file() {
            return Err(CapsuleError::Exists(folder.to_owned()));
        }
        write_folder(&self.members, folder)?;
        let manifest = self.members.first().map_or(0, |member| member.content.len());
        Ok(self.manifest.members.iter().map(|member| member.bytes).sum::<u64>() + manifest)
    }
}
