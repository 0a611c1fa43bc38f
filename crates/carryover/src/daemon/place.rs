//! The daemon's files in our folder: the lock of the one that runs, its socket, its token and its log.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::time::Duration;

use carryover_engine::context::Context;
use carryover_engine::own::private;

use super::client;

/// Held by the daemon for as long as it lives; in it, its process id.
const LOCK_NAME: &str = "daemon.lock";
const SOCKET_NAME: &str = "daemon.sock";
const TOKEN_NAME: &str = "token";
const LOG_NAME: &str = "daemon.log";
/// A path that is longer cannot be a socket's on the systems that we know.
const MAX_SOCKET_PATH_BYTES: usize = 100;
/// Who has the lock for longer than this keeps it.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);

/// The lock of the daemon that runs; it is given back when the process ends, however it does.
pub(super) struct DaemonLock {
    _file: File,
}

impl DaemonLock {
    /// Takes the lock; `Err` with the process id of the daemon that has it. Whoever asks if one runs has it for a moment.
    pub(super) fn acquire(context: &Context) -> io::Result<Result<Self, Option<u32>>> {
        let mut file = private::open_file(&context.home.join(LOCK_NAME))?;
        if !client::wait_until(LOCK_PATIENCE, || file.try_lock().is_ok()) {
            return Ok(Err(read_process_id(&mut file)));
        }
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "{}", std::process::id())?;
        Ok(Ok(Self { _file: file }))
    }
}

fn read_process_id(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(20).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

/// Whether a daemon runs on this home. Two that ask are not in each other's way.
pub(super) fn is_running(context: &Context) -> bool {
    let path = context.home.join(LOCK_NAME);
    path.exists() && private::open_file(&path).is_ok_and(|file| file.try_lock_shared().is_err())
}

/// The socket. Where the path of our folder is too long for one, it lies in the system's folder for such, by a name that
/// depends on ours.
pub(super) fn socket_path(context: &Context) -> PathBuf {
    let path = context.home.join(SOCKET_NAME);
    if path.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
        return path;
    }
    let folder = context.env.path_var("XDG_RUNTIME_DIR").unwrap_or_else(std::env::temp_dir);
    folder.join(format!("carryover-{}", private::path_digest(&context.home))).join(SOCKET_NAME)
}

/// The socket, in a folder that nobody else can have put it into. Our own folder is looked at before every command; the
/// system's is shared, so ours in it must belong to us and be closed.
#[cfg(unix)]
pub(super) fn find_socket(context: &Context) -> io::Result<PathBuf> {
    use std::os::unix::fs::MetadataExt;
    let path = socket_path(context);
    let folder = path.parent().unwrap_or(&path);
    if folder == context.home {
        return Ok(path);
    }
    let metadata = fs_err::symlink_metadata(folder)?;
    let is_ours = metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw();
    if is_ours && metadata.mode() & 0o777 == 0o700 {
        return Ok(path);
    }
    let message = format!("{} must be a folder that is yours and closed to others", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}

pub(super) fn log_path(context: &Context) -> PathBuf {
    context.home.join(LOG_NAME)
}

/// The token, made where there is none yet.
pub(super) fn read_or_make_token(context: &Context, seed: impl FnOnce() -> String) -> io::Result<String> {
    let path = context.home.join(TOKEN_NAME);
    if let Some(token) = read_token(context) {
        return Ok(token);
    }
    let token = seed();
    private::write_file(&path, token.as_bytes())?;
    Ok(token)
}

pub(super) fn read_token(context: &Context) -> Option<String> {
    let text = fs_err::read_to_string(context.home.join(TOKEN_NAME)).ok()?;
    Some(text.trim().to_owned()).filter(|token| token.len() >= 32)
}
