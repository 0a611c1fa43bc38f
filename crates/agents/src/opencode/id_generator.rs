//! The client's own ids: a kind, the time in twelve digits, and fourteen letters at random.

use carryover_core::time::Timestamp;

const LETTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// The time is counted in parts of a millisecond, and cut to this many bits.
const PARTS_PER_MILLI: i64 = 0x1000;
const TIME_MASK: u64 = (1 << 48) - 1;

/// Makes ids from a seed: the same request always gives the same.
pub(super) struct IdGenerator {
    seed: u128,
    made: u64,
    /// The time in the last ascending id; each is later than the one before, for the client sorts by them.
    last: i64,
}

impl IdGenerator {
    pub(super) fn new(seed: u128) -> Self {
        Self { seed, made: 0, last: 0 }
    }

    /// Sessions count down: the newest comes first.
    pub(super) fn session_id(&mut self, at: Timestamp) -> String {
        let value = !at.millis().wrapping_mul(PARTS_PER_MILLI);
        self.make_id("ses", value)
    }

    pub(super) fn message_id(&mut self, at: Timestamp) -> String {
        self.ascending_id("msg", at)
    }

    pub(super) fn part_id(&mut self, at: Timestamp) -> String {
        self.ascending_id("prt", at)
    }

    fn ascending_id(&mut self, kind: &str, at: Timestamp) -> String {
        self.last = at.millis().wrapping_mul(PARTS_PER_MILLI).max(self.last.wrapping_add(1));
        self.make_id(kind, self.last)
    }

    fn make_id(&mut self, kind: &str, value: i64) -> String {
        let mut name = format!("{kind}_{:012x}", value.cast_unsigned() & TIME_MASK);
        self.made += 1;
        let mut state = mix_bits(self.seed ^ u128::from(self.made));
        for _ in 0..14 {
            let letter = usize::try_from(state % 62).unwrap_or(0);
            name.push(char::from(LETTERS[letter]));
            state /= 62;
        }
        name
    }
}

/// Spreads a number that only counts up over all its bits.
fn mix_bits(value: u128) -> u128 {
    let mut value = value.wrapping_mul(0x2d99_787a_926d_46a3_8a5c_d789_635d_2dff);
    value ^= value >> 59;
    value = value.wrapping_mul(0x2d99_787a_926d_46a3_8a5c_d789_635d_2dff);
    value ^ (value >> 67)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_clients_form_and_order() {
        let at = Timestamp::from_millis(1_794_705_054_094);
        let mut names = IdGenerator::new(7);
        let (session, first, second) = (names.session_id(at), names.message_id(at), names.part_id(at));
        // The client's own of that millisecond: ses_e233e26…, msg_1dcc1d98e001….
        assert!(session.starts_with("ses_e233e2671fff") && session.len() == 30, "{session}");
        assert!(first.starts_with("msg_1dcc1d98e000") && first.len() == 30, "{first}");
        assert!(second.starts_with("prt_1dcc1d98e001"), "{second}");
        assert_ne!(first[16..], second[16..]);
    }
}
