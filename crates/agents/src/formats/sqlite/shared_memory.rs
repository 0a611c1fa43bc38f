//! The memory that the users of a database with a log share, which is a file beside it.

use std::io::Read as _;
use std::path::Path;

use crate::formats::file;

/// Whether a file is the memory that the users of a database share. `SQLite` itself would try for ten seconds to make
/// sense of anything else, and wait for a pipe without an end.
pub(super) fn is_shared_memory(path: &Path) -> bool {
    // Whoever writes it writes it twice; it may be met between the two.
    const MAX_ATTEMPTS: usize = 3;
    (0..MAX_ATTEMPTS).any(|_| {
        let mut head = [0; 2 * SHARED_HEAD_BYTES];
        let read = file::open_regular(path).and_then(|mut file| file.read_exact(&mut head));
        read.is_ok() && is_shared_head_valid(&head)
    })
}

/// How long the head of the shared memory is, of which there are two copies.
const SHARED_HEAD_BYTES: usize = 48;

/// By what `SQLite` knows that shared memory is in use: two copies that are the same, a mark and a checksum.
fn is_shared_head_valid(heads: &[u8; 2 * SHARED_HEAD_BYTES]) -> bool {
    const MARK_OFFSET: usize = 12;
    const CHECKED_BYTES: usize = 40;
    let (head, copy) = heads.split_at(SHARED_HEAD_BYTES);
    let number = |at: usize| head[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
    let sum = (0..CHECKED_BYTES).step_by(8).fold((0_u32, 0_u32), |(first, second), at| {
        let first = first.wrapping_add(number(at)).wrapping_add(second);
        (first, second.wrapping_add(number(at + 4)).wrapping_add(first))
    });
    head == copy && head[MARK_OFFSET] != 0 && sum == (number(CHECKED_BYTES), number(CHECKED_BYTES + 4))
}
