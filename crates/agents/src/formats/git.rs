//! Changes of a commit, read from the objects of a repository: loose ones and packed ones.
//!
//! Nothing is started and nothing is written. What is not there, not understood or too large is not told of.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::read::ZlibDecoder;
use fs_err::File;

use super::file::{self, MAX_NOTE_BYTES};

/// Larger objects are not source code that a model wrote.
const MAX_OBJECT_BYTES: u64 = 8 << 20;
/// Deltas upon deltas; git itself makes no longer chains unless it is told to.
const MAX_DELTA_CHAIN: usize = 64;
/// More files than that are no edit.
const MAX_FILES: usize = 500;
/// The bytes of an object's name.
const NAME_BYTES: usize = 20;

type ObjectName = [u8; NAME_BYTES];

/// The objects of a repository.
#[derive(Debug)]
pub struct Repository {
    folders: Vec<PathBuf>,
}

/// One file that a commit changed; `None` where it was not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    pub old: Option<Vec<u8>>,
    pub new: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ObjectKind {
    Commit,
    Tree,
    Blob,
    Tag,
}

type Object = (ObjectKind, Vec<u8>);

/// An entry of a tree.
struct TreeEntry {
    is_tree: bool,
    path: String,
    name: ObjectName,
}

impl Repository {
    /// The repository whose root is this folder.
    pub fn open_at(root: &Path) -> Option<Self> {
        let git = root.join(".git");
        let git = if git.is_file() {
            let text = file::read_text(&git, MAX_NOTE_BYTES).ok()?;
            root.join(text.strip_prefix("gitdir:")?.trim())
        } else {
            git
        };
        // A worktree has its objects with the repository that it belongs to.
        let common = file::read_text(&git.join("commondir"), MAX_NOTE_BYTES).map(|common| git.join(common.trim()));
        let objects = common.unwrap_or(git).join("objects");
        let alternates = file::read_text(&objects.join("info/alternates"), MAX_NOTE_BYTES).unwrap_or_default();
        let mut folders = vec![objects.clone()];
        folders.extend(alternates.lines().map(|line| objects.join(line)));
        folders.retain(|folder| folder.is_dir());
        (!folders.is_empty()).then_some(Self { folders })
    }

    /// Reads the changes of a commit to the files that its first parent had; its name may be shortened.
    pub fn read_changes(&self, commit: &str) -> Option<Vec<ChangedFile>> {
        let commit = self.read_commit(&self.resolve_name(commit)?)?;
        let parent = match commit.parent {
            Some(parent) => Some(self.read_commit(&parent)?.tree),
            None => None,
        };
        let mut changed = Vec::new();
        self.compare_trees(parent, Some(commit.tree), "", &mut changed)?;
        Some(changed)
    }

    fn read_commit(&self, name: &ObjectName) -> Option<Commit> {
        let (kind, bytes) = self.read_object(name, 0)?;
        (kind == ObjectKind::Commit).then_some(())?;
        let text = String::from_utf8_lossy(&bytes);
        let mut lines = text.lines().take_while(|line| !line.is_empty());
        let tree = parse_name(lines.next()?.strip_prefix("tree ")?)?;
        let parent = lines.next().and_then(|line| line.strip_prefix("parent ")).and_then(parse_name);
        Some(Commit { tree, parent })
    }

    fn compare_trees(
        &self,
        old: Option<ObjectName>,
        new: Option<ObjectName>,
        folder: &str,
        changed: &mut Vec<ChangedFile>,
    ) -> Option<()> {
        let (old, new) = (self.read_tree(old, folder)?, self.read_tree(new, folder)?);
        let other = |leaf: &TreeEntry, leaves: &[TreeEntry]| {
            leaves.iter().find(|other| other.path == leaf.path && other.is_tree == leaf.is_tree).map(|other| other.name)
        };
        for leaf in &new {
            let before = other(leaf, &old);
            if before != Some(leaf.name) {
                self.add_difference(leaf, before, Some(leaf.name), changed)?;
            }
        }
        for leaf in old.iter().filter(|leaf| other(leaf, &new).is_none()) {
            self.add_difference(leaf, Some(leaf.name), None, changed)?;
        }
        Some(())
    }

    fn add_difference(
        &self,
        leaf: &TreeEntry,
        old: Option<ObjectName>,
        new: Option<ObjectName>,
        changed: &mut Vec<ChangedFile>,
    ) -> Option<()> {
        if leaf.is_tree {
            return self.compare_trees(old, new, &format!("{}/", leaf.path), changed);
        }
        let blob = |name: ObjectName| {
            self.read_object(&name, 0).filter(|(kind, _)| *kind == ObjectKind::Blob).map(|(_, bytes)| bytes)
        };
        let read = |name: Option<ObjectName>| match name {
            Some(name) => Some(Some(blob(name)?)),
            None => Some(None),
        };
        (changed.len() < MAX_FILES).then_some(())?;
        changed.push(ChangedFile { path: leaf.path.clone(), old: read(old)?, new: read(new)? });
        Some(())
    }

    fn read_tree(&self, tree: Option<ObjectName>, folder: &str) -> Option<Vec<TreeEntry>> {
        let Some(tree) = tree else { return Some(Vec::new()) };
        let (_, bytes) = self.read_object(&tree, 0).filter(|(kind, _)| *kind == ObjectKind::Tree)?;
        let mut rest = bytes.as_slice();
        let mut leaves = Vec::new();
        while !rest.is_empty() {
            let end = memchr::memchr(0, rest)?;
            let (mode, file) = std::str::from_utf8(&rest[..end]).ok()?.split_once(' ')?;
            let name = rest.get(end + 1..=end + NAME_BYTES)?.try_into().ok()?;
            rest = &rest[end + 1 + NAME_BYTES..];
            // A link or a repository within this one has no text that could be edited.
            if mode.starts_with("100") || mode == "40000" {
                leaves.push(TreeEntry { is_tree: mode == "40000", path: format!("{folder}{file}"), name });
            }
        }
        Some(leaves)
    }

    /// The one object whose name begins like this.
    fn resolve_name(&self, short: &str) -> Option<ObjectName> {
        (short.len() >= 4 && short.is_ascii()).then_some(())?;
        let (first, rest) = short.split_at(2);
        let mut found: Vec<ObjectName> = Vec::new();
        for folder in &self.folders {
            for entry in fs_err::read_dir(folder.join(first)).into_iter().flatten().flatten() {
                let file = entry.file_name();
                let file = file.to_string_lossy();
                found.extend(file.starts_with(rest).then(|| parse_name(&format!("{first}{file}"))).flatten());
            }
        }
        let byte = u8::from_str_radix(first, 16).ok()?;
        for (_, mut index) in self.list_packs() {
            found.extend(
                index
                    .names_with_byte(byte)?
                    .into_iter()
                    .map(|(name, _)| name)
                    .filter(|name| format_name(name).starts_with(short)),
            );
        }
        found.sort_unstable();
        found.dedup();
        if let [only] = found.as_slice() { Some(*only) } else { None }
    }

    fn read_object(&self, name: &ObjectName, chain: usize) -> Option<Object> {
        let spelt = format_name(name);
        let (first, rest) = spelt.split_at(2);
        let loose = self.folders.iter().map(|folder| folder.join(first).join(rest)).find(|path| path.is_file());
        if let Some(path) = loose {
            return read_loose(&path);
        }
        self.list_packs().find_map(|(pack, mut index)| {
            let offset =
                index.names_with_byte(name[0])?.into_iter().find(|(other, _)| other == name).map(|(_, place)| place)?;
            let offset = index.object_offset(offset)?;
            self.read_packed(&pack, offset, chain)
        })
    }

    fn list_packs(&self) -> impl Iterator<Item = (PathBuf, PackIndex)> {
        let listings = self.folders.iter().filter_map(|folder| fs_err::read_dir(folder.join("pack")).ok());
        let paths = listings.flatten().flatten().map(|entry| entry.path());
        let indexes = paths.filter(|path| path.extension().is_some_and(|extension| extension == "idx"));
        indexes.filter_map(|path| Some((path.with_extension("pack"), PackIndex::open(&path)?)))
    }

    fn read_packed(&self, pack: &Path, offset: u64, chain: usize) -> Option<Object> {
        (chain < MAX_DELTA_CHAIN).then_some(())?;
        let mut file = file::open_regular(pack).ok()?;
        file.seek(SeekFrom::Start(offset)).ok()?;
        let mut file = std::io::BufReader::new(file);
        let mut byte = read_byte(&mut file)?;
        let kind = (byte >> 4) & 7;
        while byte & 0x80 != 0 {
            byte = read_byte(&mut file)?;
        }
        let (base_kind, base) = match kind {
            1 => return Some((ObjectKind::Commit, inflate_bounded(file)?)),
            2 => return Some((ObjectKind::Tree, inflate_bounded(file)?)),
            3 => return Some((ObjectKind::Blob, inflate_bounded(file)?)),
            4 => return Some((ObjectKind::Tag, inflate_bounded(file)?)),
            6 => self.read_packed(pack, offset.checked_sub(read_distance(&mut file)?)?, chain + 1)?,
            7 => {
                let mut name = [0; NAME_BYTES];
                file.read_exact(&mut name).ok()?;
                self.read_object(&name, chain + 1)?
            }
            _ => return None,
        };
        Some((base_kind, apply_delta(&base, &inflate_bounded(file)?)?))
    }
}

struct Commit {
    tree: ObjectName,
    parent: Option<ObjectName>,
}

/// The index of a pack.
struct PackIndex {
    file: File,
    /// How many objects have a name that begins with this byte or a smaller one.
    counts: Vec<u32>,
}

impl PackIndex {
    const HEAD_BYTES: u64 = 8;
    const NAMES_OFFSET: u64 = Self::HEAD_BYTES + 256 * 4;

    fn open(path: &Path) -> Option<Self> {
        let mut file = file::open_regular(path).ok()?;
        let mut head = [0; 8 + 256 * 4];
        file.read_exact(&mut head).ok()?;
        // Version 2; nobody has written the first one for twenty years.
        (head[..8] == *b"\xfftOc\0\0\0\x02").then_some(())?;
        let counts = head[8..].chunks_exact(4).map(parse_number).collect();
        Some(Self { file, counts })
    }

    /// The names that begin with a byte, each with its place in the index.
    fn names_with_byte(&mut self, byte: u8) -> Option<Vec<(ObjectName, u64)>> {
        let end = u64::from(self.counts[usize::from(byte)]);
        let start = byte.checked_sub(1).map_or(0, |before| u64::from(self.counts[usize::from(before)]));
        let length = end.checked_sub(start)? * NAME_BYTES as u64;
        self.file.seek(SeekFrom::Start(Self::NAMES_OFFSET + start * NAME_BYTES as u64)).ok()?;
        // No more is made room for than is there: the counts are anybody's.
        let mut names = Vec::new();
        (&mut self.file).take(length).read_to_end(&mut names).ok()?;
        (names.len() as u64 == length).then_some(())?;
        let names = names.chunks_exact(NAME_BYTES).zip(start..);
        Some(names.filter_map(|(name, place)| Some((name.try_into().ok()?, place))).collect())
    }

    /// Where the object at a place of the index begins in the pack.
    fn object_offset(&mut self, place: u64) -> Option<u64> {
        let count = u64::from(*self.counts.last()?);
        let offsets = Self::NAMES_OFFSET + count * (NAME_BYTES as u64 + 4);
        let small = parse_number(&self.read_at::<4>(offsets + place * 4)?);
        if small & 0x8000_0000 == 0 {
            return Some(u64::from(small));
        }
        let large = offsets + count * 4 + u64::from(small & 0x7fff_ffff) * 8;
        Some(u64::from_be_bytes(self.read_at::<8>(large)?))
    }

    fn read_at<const N: usize>(&mut self, at: u64) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.file.seek(SeekFrom::Start(at)).ok()?;
        self.file.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }
}

fn parse_number(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| (number << 8) | u32::from(*byte))
}

fn read_byte(reader: &mut impl Read) -> Option<u8> {
    let mut byte = [0];
    reader.read_exact(&mut byte).ok()?;
    Some(byte[0])
}

fn inflate_bounded(reader: impl Read) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    ZlibDecoder::new(reader).take(MAX_OBJECT_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_OBJECT_BYTES).then_some(bytes)
}

fn read_loose(path: &Path) -> Option<Object> {
    let mut bytes = inflate_bounded(file::open_regular(path).ok()?)?;
    let end = memchr::memchr(0, &bytes)?;
    let kind = match bytes[..end].split(|byte| *byte == b' ').next()? {
        b"commit" => ObjectKind::Commit,
        b"tree" => ObjectKind::Tree,
        b"blob" => ObjectKind::Blob,
        _ => ObjectKind::Tag,
    };
    bytes.drain(..=end);
    Some((kind, bytes))
}

/// How far before a delta its base stands in the pack.
fn read_distance(reader: &mut impl Read) -> Option<u64> {
    let mut byte = read_byte(reader)?;
    let mut distance = u64::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = read_byte(reader)?;
        distance = (distance.checked_add(1)? << 7) | u64::from(byte & 0x7f);
    }
    Some(distance)
}

/// A base with a delta applied: runs of the base, and new bytes.
fn apply_delta(base: &[u8], mut delta: &[u8]) -> Option<Vec<u8>> {
    for _ in ["size of the base", "size of the result"] {
        while read_byte(&mut delta)? & 0x80 != 0 {}
    }
    let mut result = Vec::new();
    while let Some((&op, rest)) = delta.split_first() {
        delta = rest;
        if op & 0x80 == 0 {
            let (new, rest) = delta.split_at_checked(usize::from(op))?;
            result.extend_from_slice(new);
            delta = rest;
        } else {
            let mut field = |bits: std::ops::Range<u8>| {
                bits.clone().filter(|bit| op & (1 << bit) != 0).try_fold(0, |value: usize, bit| {
                    Some(value | (usize::from(read_byte(&mut delta)?) << ((bit - bits.start) * 8)))
                })
            };
            let (start, length) = (field(0..4)?, field(4..7)?);
            let length = if length == 0 { 0x10000 } else { length };
            result.extend_from_slice(base.get(start..start.checked_add(length)?)?);
        }
        (result.len() as u64 <= MAX_OBJECT_BYTES).then_some(())?;
    }
    Some(result)
}

fn parse_name(text: &str) -> Option<ObjectName> {
    let mut name = [0; NAME_BYTES];
    (text.len() == NAME_BYTES * 2 && text.is_ascii()).then_some(())?;
    for (byte, digits) in name.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(name)
}

fn format_name(name: &ObjectName) -> String {
    name.iter().fold(String::with_capacity(NAME_BYTES * 2), |mut text, byte| {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(digit), 16));
        }
        text
    })
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make their own files")]
mod tests {
    use super::*;

    /// Four commits, three of them packed with deltas.
    fn fixture_repository() -> (tempfile::TempDir, Repository) {
        let objects = concat!(env!("CARGO_MANIFEST_DIR"), "/src/formats/fixtures/repository");
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join(".git"), format!("gitdir: {objects}\n")).unwrap();
        let repository = Repository::open_at(root.path()).unwrap();
        (root, repository)
    }

    /// Each file with the lines that are only in the old and only in the new one.
    fn describe_commit(commit: &str) -> Vec<String> {
        let lines = |bytes: &Option<Vec<u8>>| {
            let text = bytes.as_ref().map(|bytes| String::from_utf8(bytes.clone()).unwrap());
            text.map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        };
        let changed = fixture_repository().1.read_changes(commit).unwrap();
        let tell = |file: &ChangedFile| {
            let (old, new) = (lines(&file.old), lines(&file.new));
            let only = |of: &Option<Vec<String>>, not: &Option<Vec<String>>| {
                let other = not.clone().unwrap_or_default();
                of.as_ref().map(|lines| lines.iter().filter(|line| !other.contains(line)).cloned().collect::<Vec<_>>())
            };
            format!("{} {:?} {:?}", file.path, only(&old, &new), only(&new, &old))
        };
        changed.iter().map(tell).collect()
    }

    #[test]
    fn packed_and_loose_commits_tell_what_they_changed() {
        assert_eq!(describe_commit("6306ca7"), [r#"calc.py Some(["    return a - b"]) Some(["    return a + b"])"#]);
        let packed = describe_commit("88771e990736238d2135abec78cee5285e98d2f9");
        assert_eq!(packed[0], r#"src/deep/new.txt None Some(["fresh"])"#);
        assert!(packed[1].ends_with(r#"Some(["line 150 is another now"])"#) && packed.len() == 2, "{packed:?}");
        let deleted = describe_commit("05b437c");
        assert!(
            deleted[0].starts_with("src/long.txt") && deleted[1] == r#"old.txt Some(["gone"]) None"#,
            "{deleted:?}"
        );
        assert_eq!(describe_commit("fa7baab").len(), 3, "the first commit has no parent");
    }

    #[test]
    fn what_is_not_there_is_not_told_of() {
        let (_root, repository) = fixture_repository();
        for name in ["", "6306", "12ee743", "0000000", "not hex", "é306ca7", "6306ca79"] {
            let told = repository.read_changes(name);
            assert_eq!(told.is_some(), name.starts_with("6306"), "{name}");
        }
        assert!(Repository::open_at(Path::new("/nowhere")).is_none());
    }

    #[test]
    fn broken_objects_are_no_panic() {
        assert_eq!(apply_delta(b"base", b"\x04\x04\x90\x05"), None, "more than the base has");
        assert_eq!(apply_delta(b"base", b"\x04\x04\x05ab"), None, "less than it says");
        assert_eq!(apply_delta(b"base", b"\x04\x06\x90\x04\x02!!").as_deref(), Some(b"base!!".as_slice()));
        let (root, _) = fixture_repository();
        let pack = root.path().join("objects/pack");
        std::fs::create_dir_all(&pack).unwrap();
        std::fs::write(root.path().join(".git"), "gitdir: .\n").unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/formats/fixtures/repository/objects/pack");
        let name = "pack-69ad267e75f6968506c725a94aeadedeca864e1b";
        let read = |extension: &str| std::fs::read(source.join(name).with_extension(extension)).unwrap();
        let (index, objects) = (read("idx"), read("pack"));
        for cut in (0..objects.len()).step_by(97) {
            std::fs::write(pack.join(name).with_extension("pack"), &objects[..cut]).unwrap();
            std::fs::write(pack.join(name).with_extension("idx"), &index[..index.len().min(cut * 2)]).unwrap();
            let told = Repository::open_at(root.path()).and_then(|repository| repository.read_changes("88771e9"));
            assert!(told.is_none_or(|changed| changed.len() == 2));
        }
    }

    #[test]
    fn an_index_that_claims_more_than_it_holds_tells_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pack-1.idx");
        let mut bytes = b"\xfftOc\0\0\0\x02".to_vec();
        bytes.extend([0xff; 256 * 4]);
        std::fs::write(&path, bytes).unwrap();
        let mut index = PackIndex::open(&path).unwrap();
        assert_eq!(index.names_with_byte(0), None);
        assert_eq!(index.object_offset(u64::from(u32::MAX)), None);
    }
}
