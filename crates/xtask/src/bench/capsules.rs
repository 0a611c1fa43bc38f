//! Capsules: what packing and opening a large workspace costs against the tools that everybody has, and how soon a bomb is
//! refused.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::child::{Measurement, peak_memory};
use super::corpus::Random;
use super::figure::Figure;
use super::{Result, measure_rivals};

const WORKSPACE_BYTES: u64 = 1 << 30;
/// One byte of so many is in a file that does not pack: a picture, an archive.
const PACKED_EVERY: u64 = 4;
const PICTURE_BYTES: u64 = 96 << 10;
const SESSION: &str = "d3a03cdd-c689-41e6-9587-86a6223f5251";
const PEAK_LIMIT_BYTES: u64 = 100 << 20;

pub(super) fn measure_all(program: &Path, root: &Path, folder: &Path) -> Result<Vec<Figure>> {
    let place = folder.join("capsules");
    if place.exists() {
        fs_err::remove_dir_all(&place)?;
    }
    let stage = Stage::make(program, root, &place)?;
    let figures = stage.measure();
    // A gigabyte three times over is not kept.
    fs_err::remove_dir_all(&place)?;
    figures
}

/// A home with one session, whose workspace is large.
struct Stage {
    program: PathBuf,
    home: PathBuf,
    work: PathBuf,
}

impl Stage {
    fn make(program: &Path, root: &Path, place: &Path) -> Result<Self> {
        let (home, work) = (place.join("home"), place.join("work"));
        make_workspace(root, &work)?;
        // A repository of its own: the one around it ignores all that is in it.
        run_shell(&format!("git init -q '{}'", work.display()))?;
        let store = home.join(".claude/projects/work");
        fs_err::create_dir_all(&store)?;
        let session = fs_err::read_to_string(root.join("crates/carryover/demo/claude-code.jsonl"))?;
        let session = session.replace("/home/you/calc", &work.display().to_string());
        fs_err::write(store.join(format!("{SESSION}.jsonl")), session)?;
        Ok(Self { program: program.to_owned(), home, work })
    }

    fn measure(&self) -> Result<Vec<Figure>> {
        let below = |name: &str| self.home.join(name).display().to_string();
        let (ours, theirs, out) = (below("ours.tar.zst"), below("theirs.tar.zst"), below("out"));
        let work = self.work.display();
        let export = || {
            remove(&ours)?;
            self.run(&["capsule", "export", SESSION, "-o", &ours])
        };
        let pack = || run_shell(&format!("tar -C '{work}' -cf - . | zstd -q -f -T0 -o '{theirs}'"));
        let (export, pack) = measure_rivals(2, export, pack)?;
        let import = || {
            remove(&out)?;
            self.run(&["import", &ours, "--target", "claude-code", "--project", &out])
        };
        let unpack = || {
            remove(&out)?;
            run_shell(&format!("mkdir '{out}' && zstd -q -dc '{theirs}' | tar -C '{out}' -xf -"))
        };
        let (import, unpack) = measure_rivals(2, import, unpack)?;
        check_opened(Path::new(&out))?;
        let bomb = self.write_bomb()?;
        let began = Instant::now();
        let refused = self.command(&["capsule", "verify", &bomb]).output()?;
        let took = began.elapsed();
        if refused.status.code() != Some(3) {
            return Err("the bomb was not refused".into());
        }
        Ok(vec![
            Figure::from_ratio("capsule: pack 1 GB", export.elapsed, pack.elapsed, 1.0 / 0.7, "`tar | zstd -T0`"),
            Figure::from_bytes("capsule: peak of packing", export.peak_bytes, PEAK_LIMIT_BYTES, "100 MB"),
            Figure::from_ratio("capsule: open 1 GB", import.elapsed, unpack.elapsed, 1.0 / 0.4, "`zstd -d | tar x`"),
            Figure::from_bytes("capsule: peak of opening", import.peak_bytes, PEAK_LIMIT_BYTES, "100 MB"),
            Figure::from_time("capsule: refuse a bomb of 1:10,000", took, Duration::from_secs(1)),
        ])
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(args).arg("--json").current_dir(&self.home).env_clear().env("HOME", &self.home);
        command.env("PATH", "/usr/bin:/bin");
        command
    }

    /// Runs a command of the real binary, and looks at its memory meanwhile.
    fn run(&self, args: &[&str]) -> Result<Measurement> {
        let began = Instant::now();
        let mut child = self.command(args).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn()?;
        let mut peak = 0;
        let status = loop {
            peak = peak.max(peak_memory(child.id()));
            if let Some(status) = child.try_wait()? {
                break status;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let elapsed = began.elapsed();
        if !status.success() {
            return Err(format!("{args:?} failed").into());
        }
        Ok(Measurement { elapsed, peak_bytes: peak, ..Measurement::default() })
    }

    /// A stream of zeros in the place of a capsule: more than 10,000 bytes come out of each.
    fn write_bomb(&self) -> Result<String> {
        let path = self.home.join("bomb.tar.zst");
        let mut packer = zstd::Encoder::new(fs_err::File::create(&path)?, 3)?;
        let mut header = tar::Header::new_gnu();
        header.set_path("manifest.json")?;
        header.set_size(8 << 30);
        header.set_cksum();
        packer.write_all(header.as_bytes())?;
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 4 << 30), &mut packer)?;
        packer.finish()?;
        Ok(path.display().to_string())
    }
}

/// What was measured is nothing if nothing was packed.
fn check_opened(folder: &Path) -> Result<()> {
    let mut files = Vec::new();
    list_files(folder, &mut files)?;
    let lengths = files.iter().map(|file| fs_err::metadata(file).map(|metadata| metadata.len()));
    let total: u64 = lengths.sum::<std::io::Result<u64>>()?;
    // Sources that tell how secrets look are left out.
    if total > WORKSPACE_BYTES / 10 * 9 { Ok(()) } else { Err(format!("only {total} bytes came along").into()) }
}

fn remove(path: &str) -> Result<()> {
    let path = Path::new(path);
    if path.is_dir() {
        fs_err::remove_dir_all(path)?;
    } else if path.exists() {
        fs_err::remove_file(path)?;
    }
    Ok(())
}

fn run_shell(line: &str) -> Result<Measurement> {
    let began = Instant::now();
    let status = Command::new("sh").args(["-c", line]).status()?;
    let elapsed = began.elapsed();
    if status.success() { Ok(Measurement { elapsed, ..Measurement::default() }) } else { Err(line.into()) }
}

/// Files of a project: sources as people write them, and some that do not pack.
fn make_workspace(root: &Path, work: &Path) -> Result<()> {
    let sources = list_sources(root)?;
    let mut random = Random::new(11);
    let (mut made, mut pictures) = (0, 0);
    // There are fewer sources than it takes: they come again, in another folder.
    for round in 0.. {
        for (index, source) in sources.iter().enumerate() {
            let folder = work.join(format!("module{round}-{:03}", index / 64));
            fs_err::create_dir_all(&folder)?;
            let name = source.file_name().unwrap_or_default().to_string_lossy();
            made += fs_err::copy(source, folder.join(format!("{index}-{name}")))?;
            if pictures * PACKED_EVERY < made {
                let bytes: Vec<u8> = (0..PICTURE_BYTES / 4).flat_map(|_| four_bytes(&mut random)).collect();
                fs_err::write(folder.join(format!("picture{index}.png")), bytes)?;
                (made, pictures) = (made + PICTURE_BYTES, pictures + PICTURE_BYTES);
            }
            if made >= WORKSPACE_BYTES {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The sources of what this program is built from, in the order of their names; its own where cargo keeps no others.
fn list_sources(root: &Path) -> Result<Vec<PathBuf>> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let places = home.map(|home| home.join("registry/src")).filter(|place| place.is_dir());
    let mut sources = Vec::new();
    list_files(&places.unwrap_or_else(|| root.join("crates")), &mut sources)?;
    if sources.is_empty() { Err("there are no sources to make a workspace of".into()) } else { Ok(sources) }
}

fn list_files(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = fs_err::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs_err::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list_files(&entry.path(), found)?;
        } else if kind.is_file() {
            found.push(entry.path());
        }
    }
    Ok(())
}

fn four_bytes(random: &mut Random) -> [u8; 4] {
    u32::try_from(random.next_index(1 << 32)).unwrap_or_default().to_le_bytes()
}
