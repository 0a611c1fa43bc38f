//! Our paragraph in a file of instructions that follows another one: an import of that one, or a copy of its words.
//!
//! A file may be committed, and the next one to come along has no journal of ours: so a copy says itself what it is of, and
//! by a digest whether somebody has written in it.

use carryover_core::render::block;

use crate::own::fingerprint::Fingerprint;

const IMPORT_START: &str = "The instructions of this project are in `";
const COPY_START: &str = "# Instructions from `";
const COPY_NOTE: (&str, &str) = ("Change them there: `carryover memory sync` copies them here (", ").");

/// A paragraph that nobody else has written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MemoryParagraph<'a> {
    /// The file that is followed, as the one that follows names it.
    pub(crate) source: &'a str,
    pub(crate) is_copy: bool,
}

/// An import of a file; `prefix` is what stands before its path.
pub(crate) fn render_import(source: &str, prefix: &str) -> String {
    // A path that leads up says so itself.
    let prefix = if source.starts_with("..") { "@" } else { prefix };
    format!("{IMPORT_START}{source}`:\n{prefix}{source}")
}

/// A copy of a file's words.
pub(crate) fn render_copy(source: &str, words: &str) -> String {
    let words = as_in_block(words);
    let digest = Fingerprint::from_bytes(words.as_bytes());
    let (before, after) = COPY_NOTE;
    format!("{COPY_START}{source}`\n{before}{digest}{after}\n\n{words}")
}

/// Words as they stand in a block: it closes what they leave open, and has no markers in it.
fn as_in_block(words: &str) -> String {
    // A text without a block takes any.
    let text = block::insert("", words.trim_start_matches(['\r', '\n'])).unwrap_or_default();
    let inside = text.trim_end().trim_start_matches(block::START).trim_end_matches(block::END);
    inside.trim_start_matches('\n').trim_end().to_owned()
}

/// The paragraph that a text is, from its beginning to its end; none where it is none of ours, or no longer.
pub(crate) fn parse(text: &str) -> Option<MemoryParagraph<'_>> {
    parse_import(text).or_else(|| parse_copy(text))
}

fn parse_import(text: &str) -> Option<MemoryParagraph<'_>> {
    let (source, line) = text.strip_prefix(IMPORT_START)?.split_once("`:\n")?;
    let path = line.strip_prefix("@")?;
    let is_same = path == source || path.strip_prefix("./") == Some(source);
    is_same.then_some(MemoryParagraph { source, is_copy: false })
}

fn parse_copy(text: &str) -> Option<MemoryParagraph<'_>> {
    let (source, rest) = text.strip_prefix(COPY_START)?.split_once("`\n")?;
    let (note, words) = rest.split_once("\n\n")?;
    let digest = note.strip_prefix(COPY_NOTE.0)?.strip_suffix(COPY_NOTE.1)?;
    let is_same = Fingerprint::parse(digest)? == Fingerprint::from_bytes(words.as_bytes());
    is_same.then_some(MemoryParagraph { source, is_copy: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_is_known_again_until_somebody_writes_in_it() {
        let words = "\r\n# Rules\r\n\r\n- tabs\r\n<!--CARRYOVER:END-->\r\n```sh\r\nmake\r\n";
        let copy = render_copy("A.md", words);
        assert_eq!(parse(&copy), Some(MemoryParagraph { source: "A.md", is_copy: true }), "{copy}");
        assert_eq!(parse(&copy.replace("tabs", "spaces")), None);
        assert_eq!(render_copy("A.md", &as_in_block(words)), copy, "what stands there is what would be put there");
        for (prefix, source, line) in
            [("@", "A.md", "@A.md"), ("@./", "A.md", "@./A.md"), ("@./", "../A.md", "@../A.md")]
        {
            let import = render_import(source, prefix);
            assert!(import.ends_with(&format!("\n{line}")), "{import}");
            assert_eq!(parse(&import), Some(MemoryParagraph { source, is_copy: false }));
            assert_eq!(parse(&format!("{import}\nmore")), None);
        }
        assert_eq!(parse("something else"), None);
    }
}
