//! Names in archives, which are somebody else's: each stays below the folder that it is unpacked into.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

const MAX_PATH_BYTES: usize = 4_096;
const MAX_DEPTH: usize = 256;

/// Says what is wrong with a name.
pub(super) fn check_path(path: &[u8]) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("has no name");
    }
    if path.len() > MAX_PATH_BYTES {
        return Err("has a name that is too long");
    }
    if path.contains(&0) {
        return Err("has a name with a NUL in it");
    }
    if path[0] == b'/' || is_drive(path) {
        return Err("is an absolute path");
    }
    // Elsewhere a backslash is part of a name; on Windows it would lead somewhere.
    if cfg!(windows) && path.contains(&b'\\') {
        return Err("has a name with a backslash in it");
    }
    let mut depth = 0;
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b".." => return Err("leads out of the capsule"),
            b"" | b"." => return Err("has an empty part in its name"),
            _ => depth += 1,
        }
    }
    if depth > MAX_DEPTH { Err("is too deep") } else { Ok(()) }
}

fn is_drive(path: &[u8]) -> bool {
    cfg!(windows) && path.len() > 1 && path[1] == b':'
}

/// The same for a file of a workspace, which must not become a part of git, nor a handoff of ours.
pub(super) fn check_workspace_path(path: &[u8]) -> Result<(), &'static str> {
    check_path(path)?;
    if has_part(path, &GIT_NAMES) {
        return Err("would be a part of git's own folder");
    }
    if is_own_path(path) {
        return Err("would be a part of carryover's own folder");
    }
    Ok(())
}

/// Whether a path is in a `.carryover` folder.
pub(super) fn is_own_path(path: &[u8]) -> bool {
    has_part(path, &OWN_NAMES)
}

/// The folder of git, as it is called, and as Windows calls it for programs that know short names alone.
const GIT_NAMES: [&str; 2] = [".git", "git~1"];
const OWN_NAMES: [&str; 2] = [".carryover", "carryo~1"];

/// Whether a part of a path is one of these names to some system.
fn has_part(path: &[u8], names: &[&str]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| could_be(part, names) && names.contains(&&*fold_name(part)))
}

/// Most parts begin otherwise, and need not be looked at.
fn could_be(part: &[u8], names: &[&str]) -> bool {
    let first = part.first().map_or(0, u8::to_ascii_lowercase);
    first >= 0x80 || names.iter().any(|name| name.as_bytes()[0] == first)
}

/// A name as systems compare it that take some for the same: without capitals, letters that nobody sees, what a colon
/// begins, and dots and spaces at the end.
fn fold_name(part: &[u8]) -> String {
    let is_unseen = |letter: char| matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let text = String::from_utf8_lossy(part);
    let seen = text.chars().filter(|letter| !is_unseen(*letter)).take_while(|letter| !matches!(letter, ':' | '\\'));
    let folded: String = seen.map(|letter| letter.to_ascii_lowercase()).collect();
    folded.trim_end_matches(['.', ' ']).to_owned()
}

/// Whether a link stays inside, judged by its text alone. It may go up only at its beginning, from the folder that it is in:
/// behind the name of another link, going up would lead anywhere.
pub(super) fn check_link(path: &[u8], target: &[u8]) -> Result<(), &'static str> {
    const LEADS_OUT: &str = "is a link that leads out of the workspace";
    if target.is_empty() || target.contains(&0) || target.len() > MAX_PATH_BYTES {
        return Err("is a link to nothing");
    }
    if target[0] == b'/' || is_drive(target) || (cfg!(windows) && target.contains(&b'\\')) {
        return Err(LEADS_OUT);
    }
    let mut depth = path.split(|byte| *byte == b'/').count() - 1;
    let mut is_down = false;
    for part in target.split(|byte| *byte == b'/') {
        match part {
            b".." if is_down => return Err(LEADS_OUT),
            b".." => depth = depth.checked_sub(1).ok_or(LEADS_OUT)?,
            b"" | b"." => {}
            _ => is_down = true,
        }
    }
    if has_part(target, &GIT_NAMES) { Err("is a link that leads into git's own folder") } else { Ok(()) }
}

/// The bytes of a path below a folder, with slashes; none where it is no text, and names have to be.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have names that are no bytes")]
pub(super) fn path_bytes(path: &Path) -> Option<Vec<u8>> {
    Some(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).to_vec())
}

#[cfg(not(unix))]
pub(super) fn path_bytes(path: &Path) -> Option<Vec<u8>> {
    path.to_str().map(|text| text.replace('\\', "/").into_bytes())
}

/// A path from its bytes; none where this system has no such names.
pub(super) fn path_from_bytes(bytes: &[u8]) -> Option<PathBuf> {
    #[cfg(unix)]
    let name: Option<OsString> = Some(std::os::unix::ffi::OsStringExt::from_vec(bytes.to_vec()));
    #[cfg(not(unix))]
    let name = std::str::from_utf8(bytes).ok().map(OsString::from);
    name.map(PathBuf::from)
}

/// A path as text that can be read back: bytes that are no text, and the sign that tells them, stand as `%` with two digits.
pub(super) fn encode_path(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letter == '%' || letter.is_control() {
                let mut buffer = [0; 4];
                letter.encode_utf8(&mut buffer).bytes().for_each(|byte| push_escaped(&mut text, byte));
            } else {
                text.push(letter);
            }
        }
        chunk.invalid().iter().for_each(|byte| push_escaped(&mut text, *byte));
    }
    text
}

fn push_escaped(text: &mut String, byte: u8) {
    text.push('%');
    text.extend([byte >> 4, byte & 15].map(|nibble| char::from_digit(u32::from(nibble), 16).unwrap_or('0')));
}

/// The bytes of a path that was written as text.
pub(super) fn decode_path(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_that_lead_out_are_told() {
        for path in ["/etc/passwd", "..", "a/../b", "a//b", "./a", "a/.", "", "a/", "a\0b"] {
            assert!(check_path(path.as_bytes()).is_err(), "{path}");
        }
        for path in ["a", "a/b", "..a/b..", "a b/ü", ".git"] {
            assert_eq!(check_path(path.as_bytes()), Ok(()), "{path}");
        }
        for path in [".git/config", "sub/.GIT/hooks/x", ".carryover/handoff.md", "a/.git"] {
            assert!(check_workspace_path(path.as_bytes()).is_err(), "{path}");
        }
        assert_eq!(check_workspace_path(b".gitignore"), Ok(()));
    }

    #[test]
    fn other_spellings_of_a_folder_are_that_folder() {
        for name in [
            "git~1",
            "GIT~1.",
            ".git.",
            ".Git ",
            ".git . .",
            ".git::$INDEX_ALLOCATION",
            ".g\u{200c}it",
            "\u{feff}.giT",
            ".git\\x",
        ] {
            assert!(check_workspace_path(format!("a/{name}/config").as_bytes()).is_err(), "{name}");
            assert!(check_link(b"l", format!("{name}/hooks").as_bytes()).is_err(), "{name}");
        }
        for name in [".Carryover", "CARRYO~1", ".carryover. "] {
            assert!(is_own_path(format!("{name}/handoff.md").as_bytes()), "{name}");
        }
        for name in [".gitignore", ".github", "git", "g.it", "git~10", ".git-blame", "x.git", ".gi\u{fc}t", ":"] {
            assert_eq!(check_workspace_path(name.as_bytes()), Ok(()), "{name}");
            assert_eq!(check_link(b"l", name.as_bytes()), Ok(()), "{name}");
        }
    }

    #[test]
    fn links_stay_inside() {
        for (path, target) in [("a", ".."), ("a/b", "../../c"), ("a", "/etc"), ("a/b", "x/../c"), ("a", "")] {
            assert!(check_link(path.as_bytes(), target.as_bytes()).is_err(), "{path} → {target}");
        }
        for (path, target) in [("a", "b"), ("a/b", "../c"), ("a/b/c", "../.././d"), ("a", ".")] {
            assert_eq!(check_link(path.as_bytes(), target.as_bytes()), Ok(()), "{path} → {target}");
        }
    }

    proptest! {
        #[test]
        fn paths_are_read_back_as_they_were(path in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert_eq!(decode_path(&encode_path(&path)), Some(path));
        }
    }
}
