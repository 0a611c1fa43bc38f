//! Names of objects, which every place must be able to hold: a folder of any system, a bucket, a tree of git.

use super::bucket::BucketError;

const MAX_KEY_BYTES: usize = 512;

/// Whether a name can be that of an object: parts of plain letters between `/`, none of them hidden.
pub fn is_object_key(key: &str) -> bool {
    key.len() <= MAX_KEY_BYTES && key.split('/').all(is_key_part)
}

fn is_key_part(part: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+=@".contains(&byte);
    !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && part.bytes().all(is_plain)
}

/// Refuses a name that some place could not hold.
pub fn check_object_key(place: &str, key: &str) -> Result<(), BucketError> {
    if is_object_key(key) {
        return Ok(());
    }
    let reason = format!("{} is no name of an object", carryover_core::plain::one_line(key, 60));
    Err(BucketError::Refused { place: place.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_leads_nowhere_else_and_is_plain() {
        for key in ["a", "a/b.carryover", "objects/0f/0f3c", "a=b+c@d_e-f"] {
            assert!(is_object_key(key), "{key}");
        }
        for key in ["", "/a", "a/", "a//b", "..", "a/../b", ".hidden", "a/.b", "a.", "a\\b", "a b", "a:b", "ä", "a\nb"]
        {
            assert!(!is_object_key(key), "{key}");
        }
        assert!(!is_object_key(&"a".repeat(600)));
    }
}
