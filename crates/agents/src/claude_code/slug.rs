//! The folder name that a project's sessions are kept under.

/// Longer names are cut and told apart by a hash.
const MAX_NAME_BYTES: usize = 200;

/// Every UTF-16 unit that is not an ASCII letter or digit becomes `-`.
pub(super) fn make_slug(cwd: &str) -> String {
    let name: String = cwd.encode_utf16().map(slug_char).collect();
    if name.len() <= MAX_NAME_BYTES {
        return name;
    }
    format!("{}-{}", &name[..MAX_NAME_BYTES], to_base36(path_hash(cwd)))
}

fn slug_char(unit: u16) -> char {
    let letter = u8::try_from(unit).map_or('-', char::from);
    if letter.is_ascii_alphanumeric() { letter } else { '-' }
}

/// Java's string hash, over the whole path, as an absolute value.
fn path_hash(cwd: &str) -> u32 {
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    cwd.encode_utf16().fold(0, step).unsigned_abs()
}

fn to_base36(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.push(char::from_digit(number % 36, 36).unwrap_or('0'));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_letters_and_digits_becomes_a_dash() {
        assert_eq!(make_slug("/home/dv/my_repo.v2 x"), "-home-dv-my-repo-v2-x");
        assert_eq!(make_slug("/é日"), "---");
        assert_eq!(make_slug("/😀"), "---");
    }

    #[test]
    fn the_two_hundred_and_first_character_brings_a_hash() {
        let exact = format!("/{}", "a".repeat(199));
        assert_eq!(make_slug(&exact).len(), 200);
        let longer = format!("/{}", "a".repeat(200));
        let named = make_slug(&longer);
        assert!(named.starts_with(&format!("-{}-", "a".repeat(199))));
        assert!(named.len() > 201);
    }
}
