//! Real pictures: clients decode images before they send them, and drop what they cannot decode.

const SIDE_PIXELS: u32 = 32;

/// A small square PNG in one colour.
pub fn make_png(red: u8, green: u8, blue: u8) -> Vec<u8> {
    let side = SIDE_PIXELS as usize;
    // Each row starts with the number of its filter: none.
    let row = [&[0], [red, green, blue].repeat(side).as_slice()].concat();
    let rows = row.repeat(side);
    let mut header = Vec::new();
    header.extend(SIDE_PIXELS.to_be_bytes());
    header.extend(SIDE_PIXELS.to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    file.extend(make_chunk(*b"IHDR", &header));
    file.extend(make_chunk(*b"IDAT", &zlib_stored(&rows)));
    file.extend(make_chunk(*b"IEND", &[]));
    file
}

fn make_chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let mut checked = kind.to_vec();
    checked.extend(data);
    let mut chunk = length.to_be_bytes().to_vec();
    chunk.extend(&checked);
    chunk.extend(crc32(&checked).to_be_bytes());
    chunk
}

/// A zlib stream of one stored block: no compressor needed for 3 KB.
fn zlib_stored(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap_or(u16::MAX);
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(data);
    stream.extend(adler32(data).to_be_bytes());
    stream
}

fn crc32(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

fn adler32(data: &[u8]) -> u32 {
    let (low, high) = data.iter().fold((1_u32, 0_u32), |(low, high), byte| {
        let low = (low + u32::from(*byte)) % 65_521;
        (low, (high + low) % 65_521)
    });
    (high << 16) | low
}

#[cfg(test)]
mod tests {
    use super::{adler32, crc32, make_png};

    #[test]
    fn checksums_match_published_values() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(adler32(b"Wikipedia"), 0x11e6_0398);
    }

    #[test]
    fn picture_starts_as_a_png_and_ends_with_its_last_chunk() {
        let picture = make_png(1, 2, 3);
        assert!(picture.starts_with(b"\x89PNG"));
        assert!(picture.ends_with(b"IEND\xae\x42\x60\x82"));
    }
}
