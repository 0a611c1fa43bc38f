//! The forms of a capsule: one packed file, of one of two kinds, or a folder. All are lists of members, the manifest first.

mod zipped;

use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use carryover_agents::formats::file::open_regular;

use super::CapsuleError;
use super::counting::{Counting, pad_packed};
use super::limits;
use super::manifest::{MANIFEST, max_member_bytes};
use super::member_path::check_path;
use super::tar_walk::{EntryKind, TarStream, walk_tar};

/// Members are packed already, or small.
const LEVEL: i32 = 1;
const BUFFER_BYTES: usize = 256 << 10;

/// Whatever can be read twice.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// The kinds of packed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedForm {
    TarZst,
    /// For those who want to look into it with what every system has.
    Zip,
}

impl PackedForm {
    /// The one that a file of this name is of; none where it is no name of a packed capsule.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let ends_in = |end: &str| name.ends_with(end);
        match () {
            () if ends_in(".tar.zst") || ends_in(".tzst") => Some(Self::TarZst),
            () if ends_in(".zip") => Some(Self::Zip),
            () => None,
        }
    }

    const fn magic(self) -> [u8; 4] {
        match self {
            Self::TarZst => [0x28, 0xb5, 0x2f, 0xfd],
            Self::Zip => *b"PK\x03\x04",
        }
    }
}

/// A capsule that lies somewhere.
pub(super) enum Container {
    Packed { stream: Box<dyn ReadSeek>, form: PackedForm, packed: u64 },
    Folder(PathBuf),
}

/// Takes a member: its name, its length, its content.
pub(super) type Visit<'a> = &'a mut dyn FnMut(&str, u64, &mut dyn Read) -> Result<Walk, CapsuleError>;

/// Whether the next member is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    GoOn,
    Stop,
}

impl Container {
    pub(super) fn open(path: &Path) -> Result<Self, CapsuleError> {
        if fs_err::metadata(path)?.is_dir() {
            return Ok(Self::Folder(path.to_owned()));
        }
        Self::from_stream(open_regular(path)?)
    }

    pub(super) fn from_stream(mut stream: impl ReadSeek + 'static) -> Result<Self, CapsuleError> {
        let packed = stream.seek(SeekFrom::End(0))?;
        let form = read_form(&mut stream)?;
        Ok(Self::Packed { stream: Box::new(stream), form, packed })
    }

    /// How long it is where it is packed.
    pub(super) fn packed_bytes(&self) -> Option<u64> {
        match self {
            Self::Packed { packed, .. } => Some(*packed),
            Self::Folder(_) => None,
        }
    }

    /// Visits every member, until it is told to stop.
    pub(super) fn walk(&mut self, visit: Visit<'_>) -> Result<(), CapsuleError> {
        match self {
            Self::Packed { stream, form: PackedForm::TarZst, packed } => walk_archive(stream.as_mut(), *packed, visit),
            Self::Packed { stream, form: PackedForm::Zip, packed } => zipped::walk_zip(stream.as_mut(), *packed, visit),
            Self::Folder(folder) => walk_folder(folder, visit),
        }
    }
}

fn walk_archive(stream: &mut dyn ReadSeek, packed: u64, visit: Visit<'_>) -> Result<(), CapsuleError> {
    const NAME: &str = "it";
    stream.seek(SeekFrom::Start(0))?;
    let mut unpacked = zstd::Decoder::with_buffer(BufReader::with_capacity(BUFFER_BYTES, stream))?;
    unpacked.window_log_max(limits::WINDOW_LOG)?;
    let tar = TarStream {
        stream: unpacked,
        name: NAME,
        packed,
        limit: limits::max_unpacked(packed),
        max_entries: limits::MAX_MEMBERS as u64,
    };
    let mut is_stopped = false;
    let mut is_first = true;
    let walked = walk_tar(tar, &mut |entry| {
        let name =
            std::str::from_utf8(entry.path).map_err(|_| CapsuleError::refused(entry.path, "has no text as name"));
        let name = name?;
        if entry.kind != EntryKind::File {
            return Err(CapsuleError::refused(entry.path, "is no file"));
        }
        if std::mem::take(&mut is_first) && name != MANIFEST {
            return Err(CapsuleError::NoCapsule("it does not begin with a manifest".into()));
        }
        check_length(name, entry.size)?;
        if visit(name, entry.size, entry.content)? == Walk::Stop {
            is_stopped = true;
            return Err(stop());
        }
        Ok(())
    });
    match walked {
        Err(_) if is_stopped => Ok(()),
        Ok(()) if is_first => Err(CapsuleError::NoCapsule("it is empty".into())),
        other => other,
    }
}

/// Ends a walk early; nobody is shown it.
fn stop() -> CapsuleError {
    CapsuleError::NoCapsule(String::new())
}

/// The form that the first bytes are of.
fn read_form(stream: &mut impl ReadSeek) -> Result<PackedForm, CapsuleError> {
    let mut magic = [0; 4];
    stream.seek(SeekFrom::Start(0))?;
    match stream.read_exact(&mut magic) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    let form = [PackedForm::TarZst, PackedForm::Zip].into_iter().find(|form| form.magic() == magic);
    form.ok_or_else(|| CapsuleError::NoCapsule("it is packed neither by zstd nor as a zip, and no folder".into()))
}

fn check_length(name: &str, size: u64) -> Result<(), CapsuleError> {
    let is_fine = size <= max_member_bytes(name);
    if is_fine { Ok(()) } else { Err(CapsuleError::refused(name.as_bytes(), "is longer than it may be")) }
}

fn walk_folder(folder: &Path, visit: Visit<'_>) -> Result<(), CapsuleError> {
    let mut names = Vec::new();
    list_folder(folder, &mut String::new(), &mut names)?;
    names.sort_by_key(|name| (name != MANIFEST, name.clone()));
    if names.first().is_none_or(|name| name != MANIFEST) {
        return Err(CapsuleError::NoCapsule("the folder has no manifest.json".into()));
    }
    for name in names {
        let path = folder.join(&name);
        let mut file = open_regular(&path)?;
        let size = file.metadata()?.len();
        check_length(&name, size)?;
        if visit(&name, size, &mut (&mut file).take(size))? == Walk::Stop {
            break;
        }
    }
    Ok(())
}

/// The names of all files below a folder; links are not followed.
fn list_folder(folder: &Path, below: &mut String, names: &mut Vec<String>) -> Result<(), CapsuleError> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Err(CapsuleError::refused(name.as_encoded_bytes(), "has no text as name"));
        };
        let length = below.len();
        below.push_str(name);
        check_path(below.as_bytes()).map_err(|reason| CapsuleError::refused(below.as_bytes(), reason))?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            below.push('/');
            list_folder(&entry.path(), below, names)?;
        } else if kind.is_file() {
            names.push(below.clone());
        } else {
            return Err(CapsuleError::refused(below.as_bytes(), "is no file"));
        }
        if names.len() > limits::MAX_MEMBERS {
            return Err(CapsuleError::refused(below.as_bytes(), "is one member too many"));
        }
        below.truncate(length);
    }
    Ok(())
}

/// A member that is to be written.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) content: Content,
}

/// What a member holds.
pub(crate) enum Content {
    Bytes(Vec<u8>),
    /// A part of a file of ours, which is as long as it will be.
    File {
        path: PathBuf,
        start: u64,
        length: u64,
    },
}

impl Content {
    pub(crate) fn len(&self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.len() as u64,
            Self::File { length, .. } => *length,
        }
    }

    pub(crate) fn open(&self) -> io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::Bytes(bytes) => Box::new(bytes.as_slice()),
            Self::File { path, start, length } => {
                let mut file = fs_err::File::open(path)?;
                file.seek(SeekFrom::Start(*start))?;
                Box::new(file.take(*length))
            }
        })
    }
}

/// Writes members as one packed file, in a stream that cannot go back.
pub(super) fn write_archive<W: Write>(members: &[Member], modified_seconds: u64, out: W) -> io::Result<W> {
    let mut packer = zstd::Encoder::new(Counting::new(out), LEVEL)?;
    packer.multithread(n_threads())?;
    let mut archive = tar::Builder::new(Counting::new(packer));
    for member in members {
        let mut header = file_header(0o600, modified_seconds, member.content.len());
        archive.append_data(&mut header, &member.name, member.content.open()?)?;
    }
    let (unpacked_bytes, packer) = archive.into_inner()?.finish();
    let (packed_bytes, mut out) = packer.finish()?.finish();
    pad_packed(packed_bytes, unpacked_bytes, &mut out)?;
    Ok(out)
}

/// Writes members as one packed file.
pub(super) fn write_packed<W: Write + Seek>(
    form: PackedForm,
    members: &[Member],
    modified_seconds: u64,
    out: W,
) -> io::Result<W> {
    match form {
        PackedForm::TarZst => write_archive(members, modified_seconds, out),
        PackedForm::Zip => zipped::write_zip(members, out),
    }
}

/// The head of a file in an archive. Whose it was and when it was read is nobody's concern.
pub(super) fn file_header(mode: u32, modified_seconds: u64, size: u64) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_mode(mode);
    header.set_mtime(modified_seconds);
    header.set_size(size);
    header.set_entry_type(tar::EntryType::Regular);
    header
}

/// Writes members as files of a folder that is not there yet.
pub(super) fn write_folder(members: &[Member], folder: &Path) -> io::Result<()> {
    for member in members {
        let path = folder.join(&member.name);
        let mut out = BufWriter::new(crate::own::private::open_file(&path)?);
        io::copy(&mut member.content.open()?, &mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    }
    Ok(())
}

/// One and the same job is given to any number of threads, so that the bytes do not depend on it.
pub(super) fn n_threads() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| u32::try_from(count.get().min(8)).unwrap_or(1))
}
