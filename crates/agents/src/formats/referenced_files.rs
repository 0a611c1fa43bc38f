//! Files that the user named with `@`: some clients put them behind the words in which they are named, between two lines.

use carryover_core::transcript::Part;

const FILES_START: &str = "--- Content from referenced files ---";
const FILES_END: &str = "--- End of content ---";

/// A piece of what stands in the user's place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum TextPiece<'t> {
    /// Text that is none of the files.
    Words(&'t str),
    /// The files, which the user did not type.
    Files(Vec<Part>),
}

/// Takes texts apart; the files may go on from one to the next.
#[derive(Default)]
pub(crate) struct ReferencedFiles {
    open: Option<Vec<Part>>,
}

impl ReferencedFiles {
    pub(crate) fn split_text<'t>(&mut self, text: &'t str) -> Vec<TextPiece<'t>> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let is_open = self.open.is_some();
            rest = if is_open { self.take_files(rest, &mut pieces) } else { self.take_words(rest, &mut pieces) };
        }
        pieces
    }

    /// Ends the message: files may go without their last line.
    pub(crate) fn finish(&mut self) -> Option<Vec<Part>> {
        self.open.take().filter(|parts| !parts.is_empty())
    }

    /// Words up to the line that begins the files; gives what is left.
    fn take_words<'t>(&mut self, text: &'t str, pieces: &mut Vec<TextPiece<'t>>) -> &'t str {
        let begins = text.find(FILES_START).filter(|at| matches!(text[..*at].chars().last(), None | Some('\n')));
        let words = begins.map_or(text, |at| text[..at].trim_end());
        if begins.is_none() || !words.trim().is_empty() {
            pieces.push(TextPiece::Words(words));
        }
        if begins.is_some() {
            self.open = Some(Vec::new());
        }
        &text[begins.unwrap_or(text.len())..]
    }

    /// Files up to the line that ends them; gives the words behind.
    fn take_files<'t>(&mut self, text: &'t str, pieces: &mut Vec<TextPiece<'t>>) -> &'t str {
        let end = text.find(FILES_END).map(|at| at + FILES_END.len());
        let (files, behind) = text.split_at(end.unwrap_or(text.len()));
        self.open.get_or_insert_default().push(Part::Text(files.to_owned()));
        if end.is_some() {
            pieces.extend(self.finish().map(TextPiece::Files));
        }
        if behind.trim().is_empty() { "" } else { behind }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_on_from_one_text_to_the_next_and_words_may_follow() {
        let mut referenced = ReferencedFiles::default();
        let begun = format!("look at @a\n{FILES_START}\na:");
        assert_eq!(referenced.split_text(&begun), [TextPiece::Words("look at @a")]);
        let ended = format!("fn a() {{}}\n{FILES_END} and then?");
        let pieces = referenced.split_text(&ended);
        assert!(
            matches!(&pieces[..], [TextPiece::Files(parts), TextPiece::Words(" and then?")] if parts.len() == 2),
            "{pieces:?}"
        );
        assert_eq!(referenced.finish(), None);
        assert_eq!(referenced.split_text("say --- Content from referenced files --- aloud").len(), 1);
    }
}
