//! Whether a file holds secrets, which decides whether it may leave the machine.

use std::borrow::Cow;
use std::io::{self, Read};

use carryover_core::redact::redact_text;

/// A file is looked at in pieces, so that its length does not matter.
const PIECE_BYTES: usize = 256 << 10;
/// Pieces overlap by more than a private key is long.
const OVERLAP_BYTES: usize = 16 << 10;
/// A file with a NUL in its beginning is no text, as git sees it.
const HEAD_BYTES: usize = 8_000;
/// Shorter runs of letters in a file that is no text are chance.
const MIN_RUN_BYTES: usize = 16;

/// Whether some bytes hold a secret.
pub(in crate::capsule) fn holds_secret(bytes: &[u8]) -> bool {
    let is_text = is_text(bytes);
    let mut start = 0;
    while start < bytes.len() {
        let end = bytes.len().min(start + PIECE_BYTES);
        if piece_holds_secret(&bytes[start..end], is_text) {
            return true;
        }
        if end == bytes.len() {
            break;
        }
        start = end - OVERLAP_BYTES;
    }
    false
}

/// The same for a stream, of which a piece is held.
pub(super) fn stream_holds_secret(mut stream: impl Read) -> io::Result<bool> {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    let mut is_text_known = None;
    loop {
        let wanted = (PIECE_BYTES - piece.len()) as u64;
        let count = stream.by_ref().take(wanted).read_to_end(&mut piece)?;
        let is_text = *is_text_known.get_or_insert_with(|| is_text(&piece));
        if piece_holds_secret(&piece, is_text) {
            return Ok(true);
        }
        if (count as u64) < wanted {
            return Ok(false);
        }
        piece.drain(..piece.len() - OVERLAP_BYTES);
    }
}

fn piece_holds_secret(piece: &[u8], is_text: bool) -> bool {
    let holds = |text: &str| matches!(redact_text(text), Cow::Owned(_));
    if is_text {
        return holds(&String::from_utf8_lossy(piece));
    }
    holds(&readable_runs(piece)) || holds(&wide_text(piece))
}

/// Whether bytes are text of one byte each or more, by how they begin: no NUL is in them, nor the mark of UTF-16.
fn is_text(start: &[u8]) -> bool {
    let head = &start[..start.len().min(HEAD_BYTES)];
    !head.contains(&0) && !head.starts_with(b"\xff\xfe") && !head.starts_with(b"\xfe\xff")
}

/// What can be read in bytes that are no text, a line each.
fn readable_runs(bytes: &[u8]) -> String {
    let is_odd = |byte: &u8| !(byte.is_ascii_graphic() || *byte == b' ');
    let mut text = String::new();
    let mut at = 0;
    while let Some(shortest) = bytes.get(at..at + MIN_RUN_BYTES) {
        // Behind the last odd byte the next run may begin: most bytes are never looked at.
        if let Some(last) = shortest.iter().rposition(is_odd) {
            at += last + 1;
            continue;
        }
        let end = bytes[at..].iter().position(is_odd).map_or(bytes.len(), |length| at + length);
        text.push_str(&String::from_utf8_lossy(&bytes[at..end]));
        text.push('\n');
        at = end;
    }
    text
}

/// What can be read in bytes where each letter has a NUL beside it, as UTF-16 has, whichever of the two comes first.
fn wide_text(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut from = 0;
    // Where no NUL is, no such letter is.
    while let Some(length) = memchr::memchr(0, &bytes[from..]) {
        let nul = from + length;
        let start = if nul > from && is_letter(bytes[nul - 1]) { nul - 1 } else { nul + 1 };
        let letters: String = bytes[start..].chunks(2).map_while(wide_letter).collect();
        from = start + 2 * letters.len();
        if letters.len() < MIN_RUN_BYTES {
            from = nul + 1;
            continue;
        }
        text.push_str(&letters);
        // Where the NUL comes first, that of the last letter is not there.
        text.extend(bytes.get(from).filter(|last| is_letter(**last)).map(|last| char::from(*last)));
        text.push('\n');
    }
    text
}

fn is_letter(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')
}

fn wide_letter(pair: &[u8]) -> Option<char> {
    match pair {
        [letter, 0] if is_letter(*letter) => Some(char::from(*letter)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = concat!("ghp_", "x8Kq2Vn5Rt7Lw3Zp9Hs4Jd6Fb1Gc0MyTeUaB");

    #[test]
    fn what_can_be_read_is_told_from_chance() {
        let bytes = b"\x01short\x02sixteen letters, and more\x80\xff exactly sixteen\x00fifteen letters";
        assert_eq!(readable_runs(bytes), "sixteen letters, and more\n exactly sixteen\n");
        let wide = |text: &str| text.bytes().flat_map(|letter| [letter, 0]).collect::<Vec<u8>>();
        let runs = [
            &b"\x07"[..],
            &wide("a wide line of it"),
            b"\x01\x02",
            &wide("short"),
            b"\x03",
            &wide("and another wide one\n"),
        ];
        assert_eq!(wide_text(&runs.concat()), "a wide line of it\x01\nand another wide one\n\n".replace('\x01', ""));
        let swapped: Vec<u8> = "the other way round".bytes().flat_map(|letter| [0, letter]).collect();
        assert_eq!(wide_text(&swapped), "the other way round\n");
    }

    #[test]
    fn secrets_are_found_in_text_and_in_what_is_none_wherever_they_stand() {
        for at in [0, 10, PIECE_BYTES - 20, PIECE_BYTES + 5, 2 * PIECE_BYTES + 77] {
            for filler in [b'\n', 0] {
                let mut bytes = vec![filler; at];
                bytes.extend_from_slice(SECRET.as_bytes());
                bytes.extend(vec![filler; 100]);
                assert!(holds_secret(&bytes) && stream_holds_secret(&bytes[..]).unwrap(), "{at} {filler}");
            }
        }
        for big in [false, true] {
            for before in ["", "x", "\u{feff}", "\u{fc}\u{4e2d}"] {
                let text = format!("{before}{}TOKEN={SECRET}", "line\r\n".repeat(40_000));
                let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
                let bytes: Vec<u8> = text.encode_utf16().flat_map(bytes).collect();
                assert!(holds_secret(&bytes) && stream_holds_secret(&bytes[..]).unwrap(), "{big} {before}");
            }
        }
        let clean = "let x = 1;\n".repeat(200_000);
        assert!(!holds_secret(clean.as_bytes()) && !stream_holds_secret(clean.as_bytes()).unwrap());
    }
}
