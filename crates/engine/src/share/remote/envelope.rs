//! The form of an object before it is encrypted: packed where that helps, and padded, so that its length says less.
//!
//! One byte for how it is packed, four for the length, the content, zeros.

use std::io::Read;

const HEAD_BYTES: usize = 5;
const PLAIN: u8 = 0;
const PACKED: u8 = 1;
const LEVEL: i32 = 3;

/// An envelope that is none, or holds more than it may.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The most that an envelope of so much content is long.
pub(super) const fn max_sealed_bytes(content: usize) -> u64 {
    // What is padded to is at most an eighth more.
    (content + content / 8 + 64) as u64
}

pub(super) fn wrap(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let packed = zstd::bulk::compress(content, LEVEL)?;
    let (form, body) = if packed.len() < content.len() { (PACKED, packed.as_slice()) } else { (PLAIN, content) };
    let length = u32::try_from(body.len()).map_err(|_| std::io::ErrorKind::FileTooLarge)?;
    let mut envelope = Vec::with_capacity(padded_length(HEAD_BYTES + body.len()));
    envelope.push(form);
    envelope.extend_from_slice(&length.to_le_bytes());
    envelope.extend_from_slice(body);
    envelope.resize(padded_length(envelope.len()), 0);
    Ok(envelope)
}

pub(super) fn unwrap(envelope: &[u8], limit: usize) -> Result<Vec<u8>, Malformed> {
    let (&form, rest) = envelope.split_first().ok_or(Malformed)?;
    let (length, rest) = rest.split_first_chunk::<4>().ok_or(Malformed)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).map_err(|_| Malformed)?;
    let body = rest.get(..length).ok_or(Malformed)?;
    let content = match form {
        PLAIN => body.to_vec(),
        PACKED => unpack(body, limit)?,
        _ => return Err(Malformed),
    };
    if content.len() > limit { Err(Malformed) } else { Ok(content) }
}

fn unpack(body: &[u8], limit: usize) -> Result<Vec<u8>, Malformed> {
    let mut content = Vec::new();
    let unpacked = zstd::Decoder::with_buffer(body).map_err(|_| Malformed)?;
    unpacked.take(limit as u64 + 1).read_to_end(&mut content).map_err(|_| Malformed)?;
    Ok(content)
}

/// The next length that has few digits that matter: as many bits at its end are zero as its length has bits, less those that
/// are needed to write the number of them. So at most an eighth is added.
fn padded_length(length: usize) -> usize {
    const MIN_BYTES: usize = 256;
    let length = length.max(MIN_BYTES);
    let bits = usize::BITS - 1 - length.leading_zeros();
    let kept = u32::BITS - bits.leading_zeros();
    let mask = (1_usize << (bits - kept)) - 1;
    (length + mask) & !mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrapped_comes_out_whatever_it_is() {
        let noise: Vec<u8> = (0_u32..40_000).map(|at| at.wrapping_mul(2_654_435_761).to_le_bytes()[2]).collect();
        for content in [Vec::new(), vec![b'a'], vec![7; 100_000], noise] {
            let envelope = wrap(&content).unwrap();
            assert_eq!(unwrap(&envelope, content.len()).unwrap(), content);
            assert!(envelope.len() as u64 <= max_sealed_bytes(content.len()).max(256));
            if !content.is_empty() {
                assert_eq!(unwrap(&envelope, content.len() - 1), Err(Malformed));
            }
        }
    }

    #[test]
    fn lengths_are_told_in_steps() {
        let steps = |range: std::ops::Range<usize>| {
            range.map(padded_length).collect::<std::collections::BTreeSet<usize>>().len()
        };
        assert_eq!(steps(0..257), 1);
        assert!(steps(1_000_000..2_000_000) < 40);
        assert!(
            (257..5_000_000).step_by(997).all(|length| (length..=length + length / 8).contains(&padded_length(length)))
        );
    }

    #[test]
    fn what_is_no_envelope_is_refused() {
        for envelope in [&b""[..], &[0, 9, 0], &[0, 9, 0, 0, 0, 1], &[7, 0, 0, 0, 0], &[1, 2, 0, 0, 0, 1, 2]] {
            assert_eq!(unwrap(envelope, 100), Err(Malformed));
        }
        let bomb = wrap(&vec![0; 10_000_000]).unwrap();
        assert!(bomb.len() < 5_000);
        assert_eq!(unwrap(&bomb, 1_000_000), Err(Malformed));
    }
}
