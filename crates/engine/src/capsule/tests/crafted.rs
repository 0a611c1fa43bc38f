//! Capsules made by hand, member by member.

use std::io::{Cursor, Write};

use carryover_core::transcript::Transcript;

use super::super::boundary::Boundary;
use super::super::container::file_header;
use super::super::manifest::{
    BOUNDARY, MANIFEST, Manifest, MemberRecord, SCHEMA, SNAPSHOT, SourceSession, TRANSCRIPT, WORKSPACE,
};
use super::super::workspace::{FilesMode, WorkspaceRecord};
use super::super::{Capsule, CapsuleError, VerifiedCapsule};
use crate::own::sha256::hex_sha256;

/// An entry of an archive, as it is written whether it is allowed or not.
#[derive(Clone)]
pub(super) struct CraftedEntry {
    pub(super) path: &'static str,
    pub(super) kind: tar::EntryType,
    pub(super) link: &'static str,
    pub(super) content: Vec<u8>,
    /// The length that its head claims, if another.
    pub(super) claims: Option<u64>,
}

pub(super) fn file(path: &'static str, content: &[u8]) -> CraftedEntry {
    CraftedEntry { path, kind: tar::EntryType::Regular, link: "", content: content.to_vec(), claims: None }
}

pub(super) fn special(path: &'static str, kind: tar::EntryType, link: &'static str) -> CraftedEntry {
    CraftedEntry { path, kind, link, content: Vec::new(), claims: None }
}

/// Packs entries with whatever names they have.
pub(super) fn pack(entries: &[CraftedEntry]) -> Vec<u8> {
    let mut archive = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
    for entry in entries {
        let mut header = file_header(0o644, 0, entry.claims.unwrap_or(entry.content.len() as u64));
        header.set_entry_type(entry.kind);
        let gnu = header.as_gnu_mut().unwrap();
        gnu.name[..entry.path.len()].copy_from_slice(entry.path.as_bytes());
        gnu.linkname[..entry.link.len()].copy_from_slice(entry.link.as_bytes());
        header.set_cksum();
        archive.append(&header, &entry.content[..]).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap()
}

/// A capsule in the making.
pub(super) struct Crafted {
    pub(super) members: Vec<(String, Vec<u8>)>,
    pub(super) workspace: WorkspaceRecord,
}

impl Crafted {
    /// One whose workspace is this snapshot, of which it tells the truth.
    pub(super) fn with_snapshot(snapshot: Vec<u8>, files: u64, bytes: u64) -> Self {
        let workspace = WorkspaceRecord {
            files_mode: FilesMode::Full,
            files,
            bytes,
            ..WorkspaceRecord::without_files(Some("/home/you/calc".to_owned()))
        };
        let members = vec![
            (TRANSCRIPT.to_owned(), b"{\"schema\":\"carryover.uasf/2\",\"session\":{}}\n".to_vec()),
            (SNAPSHOT.to_owned(), snapshot),
        ];
        Self { members, workspace }
    }

    pub(super) fn with_files(entries: &[CraftedEntry]) -> Self {
        let is_counted = |entry: &&CraftedEntry| entry.path.starts_with("tree/");
        let bytes = entries.iter().map(|entry| entry.content.len() as u64).sum();
        Self::with_snapshot(pack(entries), entries.iter().filter(is_counted).count() as u64, bytes)
    }

    /// The members with a manifest that fits them.
    pub(super) fn seal(self) -> Vec<(String, Vec<u8>)> {
        let agent = carryover_agents::AGENTS[0];
        let boundary = Boundary::from_session(agent, &Transcript::default(), None, None, None);
        let mut members = self.members;
        members.push((BOUNDARY.to_owned(), serde_json::to_vec(&boundary).unwrap()));
        members.push((WORKSPACE.to_owned(), serde_json::to_vec(&self.workspace).unwrap()));
        members.sort();
        let record = |(name, bytes): &(String, Vec<u8>)| MemberRecord {
            name: name.clone(),
            bytes: bytes.len() as u64,
            sha256: hex_sha256(bytes),
        };
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            id: String::new(),
            created_at: None,
            source: SourceSession {
                agent: agent.facts().id.to_owned(),
                client_version: None,
                session_id: "s".to_owned(),
                title: None,
                started_at: None,
                updated_at: None,
                messages: 0,
            },
            model: None,
            project: None,
            config_hash: boundary.config_hash,
            redacted: true,
            masked: None,
            files: FilesMode::Full,
            raw_session: None,
            raw_home: None,
            members: members.iter().map(record).collect(),
        };
        members.insert(0, (MANIFEST.to_owned(), serde_json::to_vec(&manifest.with_id()).unwrap()));
        members
    }

    pub(super) fn pack(self) -> Vec<u8> {
        pack_members(&self.seal())
    }
}

pub(super) fn pack_members(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(zstd::Encoder::new(Vec::new(), 1).unwrap());
    for (name, bytes) in members {
        archive.append_data(&mut file_header(0o600, 0, bytes.len() as u64), name, &bytes[..]).unwrap();
    }
    let mut packer = archive.into_inner().unwrap();
    packer.flush().unwrap();
    packer.finish().unwrap()
}

/// The same as a zip.
pub(super) fn zip_members(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive.start_file(name.as_str(), zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// Opens and verifies what is in memory.
pub(super) fn open(bytes: Vec<u8>) -> Result<VerifiedCapsule, CapsuleError> {
    Capsule::from_reader(Cursor::new(bytes))?.verify()
}
