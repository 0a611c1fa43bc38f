//! The archive and the checksums. The same commit gives the same bytes: order, times, owners and modes are fixed.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use tar::{Builder, Header, HeaderMode};

use super::contents::PackedFile;
use super::product::{Product, TARGETS};

/// The file of checksums, in the form that `sha256sum --check` reads.
pub(super) const CHECKSUMS: &str = "SHA256SUMS";

pub(super) fn write_archive(product: &Product, files: &[PackedFile]) -> Result<PathBuf, Box<dyn Error>> {
    let path = product.folder.join(product.archive_name(product.target));
    fs_err::write(&path, pack(product, files)?)?;
    Ok(path)
}

/// The archive's bytes.
pub(super) fn pack(product: &Product, files: &[PackedFile]) -> Result<Vec<u8>, Box<dyn Error>> {
    // What is only tried is not worth the time of packing it well.
    let level = if product.is_optimised { Compression::best() } else { Compression::none() };
    let mut archive = Builder::new(GzBuilder::new().mtime(0).write(Vec::new(), level));
    archive.mode(HeaderMode::Deterministic);
    for file in files {
        let mut header = Header::new_ustar();
        header.set_size(u64::try_from(file.bytes.len())?);
        header.set_mode(if file.is_program { 0o755 } else { 0o644 });
        header.set_mtime(product.modified);
        let path = Path::new(&product.archive_stem(product.target)).join(&file.path);
        archive.append_data(&mut header, path, &file.bytes[..])?;
    }
    Ok(archive.into_inner()?.finish()?)
}

/// Writes the checksums of all archives of this version that lie there: other systems' may have been brought along.
pub(super) fn write_checksums(product: &Product) -> Result<PathBuf, Box<dyn Error>> {
    let mut text = String::new();
    for target in TARGETS {
        let name = product.archive_name(target);
        let path = product.folder.join(&name);
        if path.is_file() {
            writeln!(text, "{}  {name}", sha256_of(&path)?)?;
        }
    }
    let path = product.folder.join(CHECKSUMS);
    fs_err::write(&path, text)?;
    Ok(path)
}

pub(super) fn sha256_of(path: &Path) -> Result<String, Box<dyn Error>> {
    Ok(hex_sha256(&fs_err::read(path)?))
}

/// The checksum in hexadecimal digits.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // A string takes everything.
        write!(text, "{byte:02x}").ok();
        text
    })
}
