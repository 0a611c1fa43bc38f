//! `cache.json`: facts that are dear to find and cheap to check. Losing it costs time only.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::Version;
use serde::{Deserialize, Serialize};

use crate::context::Context;
use crate::own::files::{self, Stamp};
use crate::own::fingerprint::Fingerprint;

const SCHEMA: &str = "carryover.cache/2";
const MAX_ROWS: usize = 5_000;
const MAX_BYTES: u64 = 16 << 20;

/// Remembered facts, oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Cache {
    schema: String,
    versions: Vec<VersionRow>,
    written: Vec<WrittenRow>,
}

#[derive(Debug, Serialize, Deserialize)]
struct VersionRow {
    program: PathBuf,
    stamp: Stamp,
    /// None where the program did not tell.
    version: Option<(u32, u32, u32)>,
}

/// A file in a project, as we last wrote it.
#[derive(Debug, Serialize, Deserialize)]
struct WrittenRow {
    path: PathBuf,
    digest: Fingerprint,
}

/// The answer of a program that was asked for its version; some have none.
pub(crate) struct ProbedVersion(pub(crate) Option<Version>);

fn cache_path(context: &Context) -> PathBuf {
    context.home.join("cache.json")
}

impl Cache {
    /// Reads the cache; one that is missing, broken or of another schema is an empty one.
    pub(crate) fn load(context: &Context) -> Self {
        let bytes = files::read_bounded(&cache_path(context), MAX_BYTES).ok().flatten();
        let cache = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        cache.filter(|cache| cache.schema == SCHEMA).unwrap_or_default()
    }

    pub(crate) fn save(&mut self, context: &Context) -> io::Result<()> {
        SCHEMA.clone_into(&mut self.schema);
        drop_oldest(&mut self.versions);
        drop_oldest(&mut self.written);
        files::write_cached(&cache_path(context), &serde_json::to_vec(self)?)
    }

    /// The answer of a program that has not changed since it was asked.
    pub(crate) fn probed_version(&self, program: &Path, stamp: Stamp) -> Option<ProbedVersion> {
        let row = self.versions.iter().rev().find(|row| row.program == program && row.stamp == stamp)?;
        Some(ProbedVersion(row.version.map(|(major, minor, patch)| Version(major, minor, patch))))
    }

    pub(crate) fn remember_version(&mut self, program: &Path, stamp: Stamp, version: Option<Version>) {
        self.versions.retain(|row| row.program != program);
        let version = version.map(|Version(major, minor, patch)| (major, minor, patch));
        self.versions.push(VersionRow { program: program.to_owned(), stamp, version });
    }
}

fn drop_oldest<T>(rows: &mut Vec<T>) {
    let excess = rows.len().saturating_sub(MAX_ROWS);
    rows.drain(..excess);
}

/// Keeps what we wrote into a file that people may write into, too.
pub(crate) fn remember_written(context: &Context, path: &Path, digest: Fingerprint) -> io::Result<()> {
    let mut cache = Cache::load(context);
    cache.written.retain(|row| row.path != path);
    cache.written.push(WrittenRow { path: path.to_owned(), digest });
    cache.save(context)
}

/// Whether that is what we wrote there last.
pub(crate) fn is_written(context: &Context, path: &Path, digest: Fingerprint) -> bool {
    Cache::load(context).written.iter().any(|row| row.path == path && row.digest == digest)
}
