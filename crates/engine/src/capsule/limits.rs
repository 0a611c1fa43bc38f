//! How much a capsule may hold.

/// Documents that are read into memory: manifest, boundary, the list of files.
pub(crate) const MAX_DOCUMENT_BYTES: u64 = 64 << 20;

/// Members besides the workspace's files.
pub(super) const MAX_MEMBERS: usize = 20_000;

/// Files of a workspace.
pub(super) const MAX_FILES: u64 = 300_000;

/// The names of all of them, with those of their folders.
pub(super) const MAX_NAMES_BYTES: usize = 96 << 20;

/// One file of a workspace.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 30;

/// All of a workspace, and all of a capsule.
pub(crate) const MAX_TOTAL_BYTES: u64 = 16 << 30;

/// A transcript is read as a whole.
pub(super) const MAX_TRANSCRIPT_BYTES: u64 = carryover_agents::formats::file::MAX_DOCUMENT_BYTES;

/// The source's own records, where they move as a whole: all of them are in memory at once.
pub(super) const MAX_RAW_RECORDS: usize = 4_000;
pub(super) const MAX_RAW_BYTES: u64 = 512 << 20;

/// So many bytes may come out of one packed byte, beyond the first ones. Nobody's work packs better.
pub const MAX_RATIO: u64 = 250;
const UNRATED_BYTES: u64 = 16 << 20;

/// The most that may come out of so many packed bytes.
pub(super) fn max_unpacked(packed: u64) -> u64 {
    packed.saturating_mul(MAX_RATIO).saturating_add(UNRATED_BYTES).min(MAX_TOTAL_BYTES)
}

/// The least that so many bytes may be packed into.
pub(super) fn min_packed(unpacked: u64) -> u64 {
    unpacked.saturating_sub(UNRATED_BYTES).div_ceil(MAX_RATIO)
}

/// Folders in folders in folders.
pub(super) const MAX_DEPTH_BYTES: usize = 4_000;

/// The largest window that a packed stream may ask memory for: 2 to this power.
pub(super) const WINDOW_LOG: u32 = 24;
