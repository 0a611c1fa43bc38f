//! Cutting a stream into pieces where its content says so, so that what was put in or taken out moves no cut behind it.
//!
//! Where the cuts lie depends on the remote's key: their distances tell nobody what is between them.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

use crate::share::keys::SecretKey;

/// A piece is at least so long, but for the last of its stream.
pub(super) const MIN_PIECE_BYTES: usize = 256 << 10;
pub(super) const MAX_PIECE_BYTES: usize = 4 << 20;
/// From the shortest on, a cut comes once in so many bytes: 2 to this power.
const DISTANCE_BITS: u32 = 19;

/// A number for each byte, by which the last 64 of them decide on a cut.
pub(super) struct CutTable([u64; 256]);

impl CutTable {
    pub(super) fn from_secret(secret: &SecretKey) -> Self {
        let key = secret.derive("cuts");
        Self(std::array::from_fn(|byte| {
            let digest = Sha256::new().chain_update(key).chain_update(byte.to_le_bytes()).finalize();
            digest.iter().take(8).fold(0, |number, digit| number << 8 | u64::from(*digit))
        }))
    }

    /// The end of the first piece of some bytes, if they hold one.
    fn find_cut(&self, bytes: &[u8]) -> Option<usize> {
        let mut sum = 0_u64;
        for (at, byte) in bytes.iter().enumerate().take(MAX_PIECE_BYTES).skip(MIN_PIECE_BYTES - 64) {
            sum = (sum << 1).wrapping_add(self.0[usize::from(*byte)]);
            if at >= MIN_PIECE_BYTES && sum >> (u64::BITS - DISTANCE_BITS) == 0 {
                return Some(at);
            }
        }
        (bytes.len() >= MAX_PIECE_BYTES).then_some(MAX_PIECE_BYTES)
    }
}

/// A stream that is being cut.
pub(super) struct Cutter<'t, R> {
    table: &'t CutTable,
    stream: R,
    held: Vec<u8>,
}

impl<'t, R: Read> Cutter<'t, R> {
    pub(super) fn new(table: &'t CutTable, stream: R) -> Self {
        Self { table, stream, held: Vec::new() }
    }

    /// The next piece; none at the end.
    pub(super) fn next_piece(&mut self) -> io::Result<Option<Vec<u8>>> {
        let missing = MAX_PIECE_BYTES.saturating_sub(self.held.len()) as u64;
        (&mut self.stream).take(missing).read_to_end(&mut self.held)?;
        let end = self.table.find_cut(&self.held).unwrap_or(self.held.len());
        let rest = self.held.split_off(end);
        let piece = std::mem::replace(&mut self.held, rest);
        Ok(if piece.is_empty() { None } else { Some(piece) })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::FIXED_KEY;
    use super::*;

    fn noise(bytes: usize) -> Vec<u8> {
        let mut state = 7_u64;
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        (0..bytes).map(next).collect()
    }

    fn cut(table: &CutTable, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut cutter = Cutter::new(table, bytes);
        std::iter::from_fn(|| cutter.next_piece().unwrap()).collect()
    }

    #[test]
    fn pieces_are_the_whole_and_within_their_lengths() {
        let table = CutTable::from_secret(&SecretKey::generate());
        for bytes in [Vec::new(), noise(10), noise(MIN_PIECE_BYTES), noise(20 << 20), vec![0; 9 << 20]] {
            let pieces = cut(&table, &bytes);
            assert_eq!(pieces.concat(), bytes);
            assert!(pieces.iter().all(|piece| (1..=MAX_PIECE_BYTES).contains(&piece.len())));
            assert!(pieces.iter().rev().skip(1).all(|piece| piece.len() >= MIN_PIECE_BYTES));
        }
    }

    #[test]
    fn what_is_put_in_changes_the_pieces_around_it_alone() {
        let table = CutTable::from_secret(&SecretKey::parse(FIXED_KEY).unwrap());
        let bytes = noise(20 << 20);
        let before: BTreeSet<Vec<u8>> = cut(&table, &bytes).into_iter().collect();
        let grown = [&bytes[..5_000_000], b"put in", &bytes[5_000_000..]].concat();
        let new = cut(&table, &grown).into_iter().filter(|piece| !before.contains(piece)).count();
        assert!((1..=2).contains(&new), "{new} of {}", before.len());
    }

    #[test]
    fn another_key_cuts_elsewhere() {
        let bytes = noise(20 << 20);
        let lengths = || -> BTreeSet<usize> {
            cut(&CutTable::from_secret(&SecretKey::generate()), &bytes).iter().map(Vec::len).collect()
        };
        assert!(lengths().intersection(&lengths()).count() <= 1);
    }
}
