//! Files of others: opened so that nobody is waited for, and read whole only up to a bound.
//!
//! In the place of any file may stand a pipe, for which one would wait; a device, which never ends; a socket or a folder.

use std::fs::Metadata;
use std::io::{self, Read};
use std::path::Path;

use carryover_core::time::Timestamp;
use fs_err::File;
use serde_json::Value;

/// The longest that a client's settings, and its lists of names, may be.
pub const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// A small file that says one thing.
pub const MAX_NOTE_BYTES: u64 = 64 << 10;

/// A list with a line for every session.
pub const MAX_INDEX_BYTES: u64 = 64 << 20;

/// A session that is one document, and in memory as a whole.
pub const MAX_DOCUMENT_BYTES: u64 = 256 << 20;

/// Opens a regular file for reading. Whatever else stands there is an error that says what it is.
pub fn open_regular(path: &Path) -> io::Result<File> {
    // Before, for opening alone can mean something to a device; and after, for it may be another one by then.
    // One that is not there is told of by whoever opens it.
    if fs_err::metadata(path).is_ok() {
        check_regular(path)?;
    }
    let file = options().open(path)?;
    match special_kind(&file.metadata()?) {
        None => Ok(file),
        Some(what) => Err(special_error(path, what)),
    }
}

#[cfg(unix)]
fn options() -> fs_err::OpenOptions {
    use fs_err::os::unix::fs::OpenOptionsExt;
    let mut options = fs_err::OpenOptions::new();
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options() -> fs_err::OpenOptions {
    let mut options = fs_err::OpenOptions::new();
    options.read(true);
    options
}

/// Says what stands in the place of a file and is none.
pub fn check_regular(path: &Path) -> io::Result<()> {
    let metadata = fs_err::metadata(path);
    if metadata.is_err() && fs_err::symlink_metadata(path).is_ok_and(|link| link.is_symlink()) {
        return Err(special_error(path, "a link that leads nowhere"));
    }
    match special_kind(&metadata?) {
        None => Ok(()),
        Some(what) => Err(special_error(path, what)),
    }
}

/// Reads a file that is not longer than it can be.
pub fn read_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = open_regular(path)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("{} is longer than {} and is not read", path.display(), format_size(limit));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// The same for text.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, format!("{} is not UTF-8", path.display()));
    String::from_utf8(read_bytes(path, limit)?).map_err(not_text)
}

/// When a file was last written to.
pub fn modified_at(metadata: &Metadata) -> Option<Timestamp> {
    let modified = jiff::Timestamp::try_from(metadata.modified().ok()?).ok()?;
    Some(Timestamp::from_millis(modified.as_millisecond()))
}

/// Reads one string of a client's settings, such as `/model/name`.
pub fn read_setting(path: &Path, pointer: &str) -> Option<String> {
    let settings: Value = serde_json::from_str(&read_text(path, MAX_SETTINGS_BYTES).ok()?).ok()?;
    settings.pointer(pointer)?.as_str().map(str::to_owned)
}

fn special_kind(metadata: &Metadata) -> Option<&'static str> {
    let kind = metadata.file_type();
    if kind.is_file() {
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Some("a pipe");
        }
        if kind.is_socket() {
            return Some("a socket");
        }
    }
    Some(if kind.is_dir() { "a folder" } else { "a device" })
}

fn special_error(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{} is {what}, not a file", path.display()))
}

fn format_size(bytes: u64) -> String {
    if bytes >= 1 << 20 { format!("{} MB", bytes >> 20) } else { format!("{} KB", bytes >> 10) }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings");
        std::fs::File::create(&path).unwrap().set_len(1024).unwrap();
        assert_eq!(read_bytes(&path, 1024).unwrap().len(), 1024);
        let error = read_bytes(&path, 1023).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_setting_is_read_where_it_is_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        assert_eq!(read_setting(&path, "/model"), None);
        std::fs::write(&path, r#"{"model":{"name":"m-1"},"other":1}"#).unwrap();
        assert_eq!(read_setting(&path, "/model/name").as_deref(), Some("m-1"));
        assert_eq!(read_setting(&path, "/model").or(read_setting(&path, "/other")), None);
    }

    #[cfg(unix)]
    #[test]
    fn nothing_but_a_file_is_opened() {
        let folder = tempfile::tempdir().unwrap();
        let told = |path: &Path| open_regular(path).unwrap_err().to_string();
        let [pipe, socket, link] = ["pipe", "socket", "link"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert!(told(&pipe).ends_with("pipe is a pipe, not a file"));
        assert!(told(&socket).ends_with("socket is a socket, not a file"));
        assert!(told(&link).ends_with("link is a device, not a file"));
        assert!(told(folder.path()).ends_with("is a folder, not a file"));
    }
}
