//! Capsules as a zip: the same that the other form holds, and as little harm.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::super::CapsuleError;
use super::super::container::{Content, Member, PackedForm, write_packed};
use super::super::manifest::TRANSCRIPT;
use super::crafted::{Crafted, file, open, zip_members};

fn sealed() -> Vec<(String, Vec<u8>)> {
    Crafted::with_files(&[file("tree/a", b"1"), file("tree/b/c", &[7; 3_000])]).seal()
}

fn write_ours(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let member =
        |(name, bytes): &(String, Vec<u8>)| Member { name: name.clone(), content: Content::Bytes(bytes.clone()) };
    let members: Vec<Member> = members.iter().map(member).collect();
    write_packed(PackedForm::Zip, &members, 0, Cursor::new(Vec::new())).unwrap().into_inner()
}

/// A zip of a whole capsule, and more that somebody has put in.
fn zip_with(add: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
    let mut archive = ZipWriter::new_append(Cursor::new(zip_members(&sealed()))).unwrap();
    add(&mut archive);
    archive.finish().unwrap().into_inner()
}

fn refusal(bytes: Vec<u8>) -> String {
    open(bytes).err().unwrap().to_string()
}

#[test]
fn zip_is_opened_whoever_has_packed_it() {
    let verified = open(write_ours(&sealed())).unwrap();
    assert_eq!((verified.workspace.files, verified.has_files()), (2, true));
    // Packed anew by somebody, the manifest is anywhere, and folders are listed.
    let mut late = sealed();
    late.rotate_left(1);
    assert!(open(zip_members(&late)).is_ok());
    assert!(
        open(zip_with(|archive| archive.add_directory("workspace/", SimpleFileOptions::default()).unwrap())).is_ok()
    );
}

#[test]
fn same_members_give_the_same_zip() {
    assert_eq!(write_ours(&sealed()), write_ours(&sealed()));
}

#[test]
fn zip_that_means_harm_is_refused() {
    let options = SimpleFileOptions::default();
    for (name, reason) in [
        ("../x", "leads out of the capsule"),
        ("/etc/passwd", "is an absolute path"),
        (".git/config", "is not in the manifest"),
        ("source/x", "is not in the manifest"),
    ] {
        let told = refusal(zip_with(|archive| archive.start_file(name, options).unwrap()));
        assert!(told.contains(reason), "{name}: {told}");
    }
    let told = refusal(zip_with(|archive| archive.add_symlink("source/l", "/etc/passwd", options).unwrap()));
    assert!(told.contains("is no file"), "{told}");
    let mut changed = sealed();
    changed.iter_mut().find(|(name, _)| name == TRANSCRIPT).unwrap().1[5] ^= 1;
    assert!(refusal(zip_members(&changed)).contains("transcript.jsonl has another digest"));
    let mut headless = sealed();
    headless.remove(0);
    assert!(refusal(zip_members(&headless)).contains("no manifest.json at its top"));
}

#[test]
fn zips_that_unpack_to_too_much_are_refused() {
    let zeros = zip_with(|archive| {
        archive.start_file("source/raw/x", SimpleFileOptions::default()).unwrap();
        std::io::copy(&mut std::io::Read::take(std::io::repeat(0), 256 << 20), archive).unwrap();
    });
    assert!(zeros.len() < 1 << 20);
    assert!(matches!(open(zeros), Err(CapsuleError::Bomb { .. })));
    let many = zip_with(|archive| {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for index in 0..21_000 {
            archive.start_file(format!("source/{index}"), options).unwrap();
        }
    });
    assert!(refusal(many).contains("holds more files than a capsule may"));
}

/// A list of members that takes more memory than all that a capsule may hold.
#[test]
fn endless_list_of_members_is_not_read() {
    let list = zip_with(|archive| {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        for index in 0..65_000 {
            archive.start_file(format!("{index:0>400}"), options).unwrap();
        }
    });
    assert!(refusal(list).contains("damaged"));
}

#[test]
fn zip_that_is_cut_or_changed_anywhere_is_an_error_and_no_panic() {
    let whole = write_ours(&sealed());
    for end in 0..whole.len() {
        assert!(open(whole[..end].to_vec()).is_err(), "{end}");
    }
    for at in 0..whole.len() {
        let mut changed = whole.clone();
        changed[at] ^= 0xff;
        // Names, times and rights that nothing depends on may differ; what is opened has its digests.
        let _ = open(changed);
    }
}

#[test]
fn archive_is_known_by_its_first_bytes() {
    let mut locked = ZipWriter::new(Cursor::new(Vec::new()));
    locked.start_file("x", SimpleFileOptions::default()).unwrap();
    locked.write_all(b"x").unwrap();
    assert!(refusal(locked.finish().unwrap().into_inner()).contains("no manifest.json"));
    for other in [&b"PK"[..], b"", b"7z\xbc\xaf\x27\x1c"] {
        assert!(refusal(other.to_vec()).contains("this is no capsule"));
    }
}
