//! Names of folders: readable in any language, and allowed on any file system.

/// Characters of a topic.
const MAX_CHARS: usize = 48;
/// File systems bound names in bytes, and a name has more than its topic.
const MAX_BYTES: usize = 120;

/// A text as a part of a folder's name. Letters and digits of every script stay; all else becomes a hyphen.
pub fn slugify(text: &str) -> String {
    let mut slug = String::new();
    let mut is_gap = false;
    for c in text.chars().flat_map(char::to_lowercase) {
        let is_kept = c.is_alphanumeric() || (is_mark(c) && !slug.is_empty() && !is_gap);
        if !is_kept {
            is_gap = !slug.is_empty();
            continue;
        }
        let length = slug.len() + c.len_utf8() + usize::from(is_gap);
        if length > MAX_BYTES || slug.chars().count() + usize::from(is_gap) >= MAX_CHARS {
            break;
        }
        if std::mem::take(&mut is_gap) {
            slug.push('-');
        }
        slug.push(c);
    }
    shorten_at_word(slug, text)
}

/// A long one ends with a whole word, where its last words are written apart.
fn shorten_at_word(slug: String, text: &str) -> String {
    let is_whole = slug.chars().filter(|c| *c != '-').count()
        == text.chars().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric() || is_mark(*c)).count();
    match slug.rfind('-').filter(|at| !is_whole && *at > slug.len() / 2) {
        Some(at) => slug[..at].to_owned(),
        None => slug,
    }
}

/// Signs that belong to the letter before them.
fn is_mark(c: char) -> bool {
    const MARKS: [(char, char); 6] = [
        ('\u{300}', '\u{36f}'),
        ('\u{591}', '\u{5c7}'),
        ('\u{64b}', '\u{65f}'),
        ('\u{93c}', '\u{94d}'),
        ('\u{9bc}', '\u{9cd}'),
        ('\u{e31}', '\u{e4e}'),
    ];
    MARKS.iter().any(|(first, last)| (*first..=*last).contains(&c))
}

/// Whether a word can be the type of a conversation: it names a file.
pub fn is_type(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=24).contains(&word.len()) && word.chars().all(is_letter) && !word.starts_with('-') && !word.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_stay_readable_in_any_language() {
        for (text, slug) in [
            ("API Design: REST vs. GraphQL?", "api-design-rest-vs-graphql"),
            ("  ../../etc/passwd\0\n ", "etc-passwd"),
            ("Přidej limity požadavků", "přidej-limity-požadavků"),
            ("密码重置流程需要修复", "密码重置流程需要修复"),
            ("CON", "con"),
            ("!!!", ""),
        ] {
            assert_eq!(slugify(text), slug);
        }
        assert_eq!(slugify("e\u{301}te\u{301}"), "e\u{301}te\u{301}");
    }

    #[test]
    fn long_topics_end_with_a_word() {
        assert_eq!(
            slugify("fix the parser so that it reads dates and nothing else at all"),
            "fix-the-parser-so-that-it-reads-dates-and"
        );
        for text in ["x".repeat(500), "語".repeat(500), "a b ".repeat(200)] {
            let slug = slugify(&text);
            assert!(slug.len() <= MAX_BYTES && slug.chars().count() <= MAX_CHARS && !slug.ends_with('-'), "{slug}");
        }
    }

    #[test]
    fn types_are_words() {
        assert!(["brainstorm", "debug", "code-review", "3d"].into_iter().all(is_type));
        assert!(!["", "-a", "a-", "a b", "../x", "Plan", "é", "abcdefghijklmnopqrstuvwxyz"].into_iter().any(is_type));
    }
}
