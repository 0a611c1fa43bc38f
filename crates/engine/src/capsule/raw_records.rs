//! The records of a session as its agent wrote them, so that they can go back to it as its own.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use carryover_agents::formats::file;
use carryover_core::json::Json;
use carryover_core::redact::redact_text;
use carryover_core::transcript::Header;

use super::CapsuleError;
use super::container::{Content, Member};
use super::manifest::{RAW, REQUEST};
use super::masks::{MaskCounts, add_masks};
use super::member_path::check_path;
use super::workspace::{LeftOut, holds_secret};
use crate::sessions::list::ListedSession;

/// A file that is longer is no record of a conversation.
const MAX_RAW_BYTES: u64 = file::MAX_DOCUMENT_BYTES;

/// The records that come along.
pub(super) struct RawRecords {
    pub(super) members: Vec<Member>,
    /// The one that the session itself is in.
    pub(super) session: String,
}

/// Whether records are masked, and the masks that stood in them before.
pub(super) struct Masking<'a> {
    pub(super) redact: bool,
    pub(super) masks_before: &'a mut MaskCounts,
}

impl Masking<'_> {
    fn mask_record(&mut self, bytes: Vec<u8>) -> Option<Vec<u8>> {
        if self.redact {
            add_masks(self.masks_before, &String::from_utf8_lossy(&bytes));
        }
        mask_record(bytes, self.redact)
    }
}

/// Collects the files of a session; those that cannot be had are named.
pub(super) fn collect_raw(
    session: &ListedSession,
    header: &Header,
    masking: &mut Masking<'_>,
    left_out: &mut Vec<LeftOut>,
) -> Result<RawRecords, CapsuleError> {
    let source = &session.found.source;
    if let Some(document) = session.agent.export_session(source)? {
        let name = format!("{RAW}{}", document.name);
        let bytes = masking.mask_record(document.pieces.concat()).unwrap_or_default();
        return Ok(RawRecords { members: vec![member(&name, bytes)], session: name });
    }
    let mut names = BTreeSet::new();
    let mut members = Vec::new();
    let mut own = None;
    let beside = session.agent.companion_files(source);
    let paths = [&source.path].into_iter().chain(&header.files).chain(&header.children).chain(&beside);
    for path in paths {
        let name = format!("{RAW}{}", name_below(&session.store.root, path));
        if check_path(name.as_bytes()).is_err() || !names.insert(name.clone()) {
            continue;
        }
        let is_own = *path == source.path;
        match file::read_bytes(path, MAX_RAW_BYTES) {
            Ok(bytes) => match masking.mask_record(bytes) {
                Some(bytes) => members.push(member(&name, bytes)),
                None => left_out.push(LeftOut::new(&name, "holds secrets, and is no text that could be masked")),
            },
            Err(error) if is_own => return Err(error.into()),
            Err(_) => left_out.push(LeftOut::new(&name, "could not be read")),
        }
        own = own.or(is_own.then_some(name));
    }
    let own = own.filter(|own| members.iter().any(|member| member.name == *own));
    let own = own.ok_or_else(|| CapsuleError::NoCapsule("the session's own file cannot be named".into()))?;
    Ok(RawRecords { members, session: own })
}

/// The last request of the session's own loop, as it was recorded. Nothing reads it when the capsule is opened.
pub(super) fn pack_request(body: Vec<u8>, masking: &mut Masking<'_>, left_out: &mut Vec<LeftOut>) -> Option<Member> {
    let packed = masking.mask_record(body);
    if packed.is_none() {
        left_out.push(LeftOut::new(REQUEST, "holds secrets, and is no text that could be masked"));
    }
    packed.map(|bytes| member(REQUEST, bytes))
}

fn member(name: &str, bytes: Vec<u8>) -> Member {
    Member { name: name.to_owned(), content: Content::Bytes(bytes) }
}

/// The name of a file below its store; one that is elsewhere keeps its own name alone.
fn name_below(root: &Path, path: &Path) -> String {
    let below = path.strip_prefix(root).map_or_else(|_| path.file_name().map(PathBuf::from), |path| Some(path.into()));
    below.unwrap_or_default().to_string_lossy().replace('\\', "/")
}

/// Masks secrets in a record, line by line where it is made of lines; none where it holds some and cannot be masked.
fn mask_record(bytes: Vec<u8>, redact: bool) -> Option<Vec<u8>> {
    if !redact {
        return Some(bytes);
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return (!holds_secret(error.as_bytes())).then(|| error.into_bytes()),
    };
    if let Some(document) = Json::parse(&text) {
        return Some(document.redacted().as_str().as_bytes().to_vec());
    }
    let lines = || text.split_inclusive('\n');
    if !lines().all(|line| line.trim().is_empty() || Json::parse(line).is_some()) {
        return Some(redact_text(&text).into_owned().into_bytes());
    }
    let mut masked = String::with_capacity(text.len());
    for line in lines() {
        match Json::parse(line) {
            Some(record) => {
                let end = if line.ends_with('\n') { "\n" } else { "" };
                let record = record.redacted();
                masked.extend([Cow::Borrowed(record.as_str()), end.into()]);
            }
            None => masked.push_str(line),
        }
    }
    Some(masked.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");

    #[test]
    fn lines_stay_lines_and_json_stays_json() {
        let text = format!("{{\"a\": 1}}\n\n{{\"token\":\"{SECRET}\"}}\n{{\"b\":");
        let masked = String::from_utf8(mask_record(text.into_bytes(), true).unwrap()).unwrap();
        assert!(!masked.contains(SECRET), "{masked}");
        let text = format!("{{\"a\": 1}}\n\n{{\"said\":\"use {SECRET} \\n\"}}\n");
        let masked = String::from_utf8(mask_record(text.into_bytes(), true).unwrap()).unwrap();
        assert_eq!(masked.lines().count(), 3);
        assert!(masked.starts_with("{\"a\": 1}\n\n{"), "{masked}");
        assert!(Json::parse(masked.lines().nth(2).unwrap()).is_some() && !masked.contains(SECRET), "{masked}");
    }

    #[test]
    fn what_is_no_text_and_holds_a_secret_is_left_out() {
        assert_eq!(mask_record([b"\xff\xfe ", SECRET.as_bytes()].concat(), true), None);
        assert_eq!(mask_record(b"\xff\xfe picture".to_vec(), true).as_deref(), Some(&b"\xff\xfe picture"[..]));
        assert!(mask_record([b"\xff\xfe ", SECRET.as_bytes()].concat(), false).is_some());
    }
}
