//! A text as it will be read: without the escapes of terminals, without what tools put before each line, with the
//! escapes of strings resolved, and with clipped lines closed. Secrets are looked for in every reading, and masked where they stand in the text itself.

use std::borrow::Cow;
use std::ops::Range;

use super::prefix;
use super::value;
use crate::plain::{for_each_kept, is_plain};

/// Strings in strings in strings: what is deeper is not read by anybody.
const MAX_LEVELS: usize = 3;

/// One way to read a text, and where its pieces come from.
pub(super) struct Reading<'t> {
    pub(super) text: Cow<'t, str>,
    /// The reading that this one was made of; the text itself has none.
    pub(super) of: Option<usize>,
    /// The length of what it was made of.
    source_bytes: usize,
    pieces: Vec<Piece>,
}

/// A piece of a reading, and what it was made of.
pub(super) struct Piece {
    pub(super) to: Range<usize>,
    pub(super) from: Range<usize>,
}

/// The text without the escapes of terminals, which is how everybody reads it.
pub(super) fn read_plain(text: &str) -> Reading<'_> {
    let plain = if is_plain(text) { None } else { strip_controls(text) };
    let (pieces, plain) =
        plain.map_or((Vec::new(), Cow::Borrowed(text)), |(pieces, plain)| (pieces, Cow::Owned(plain)));
    Reading { text: plain, of: None, source_bytes: text.len(), pieces }
}

/// All readings, beginning with the one that is given.
pub(super) fn all_readings(plainly: Reading<'_>) -> Vec<Reading<'_>> {
    let mut all = vec![plainly];
    let mut newest = 0;
    for level in 0..=MAX_LEVELS {
        let bare = add_reading(&mut all, newest, strip_prefixes);
        add_reading(&mut all, bare.unwrap_or(newest), close_clips);
        if level == MAX_LEVELS {
            break;
        }
        let Some(resolved) = add_reading(&mut all, bare.unwrap_or(newest), resolve_escapes) else { break };
        newest = add_reading(&mut all, resolved, |text| if is_plain(text) { None } else { strip_controls(text) })
            .unwrap_or(resolved);
    }
    all
}

type PiecedText = (Vec<Piece>, String);

fn add_reading(all: &mut Vec<Reading<'_>>, of: usize, make: impl Fn(&str) -> Option<PiecedText>) -> Option<usize> {
    let (pieces, text) = make(&all[of].text)?;
    let source_bytes = all[of].text.len();
    all.push(Reading { text: Cow::Owned(text), of: Some(of), source_bytes, pieces });
    Some(all.len() - 1)
}

/// Where a part of a reading stands in the text.
pub(super) fn range_in_text(all: &[Reading<'_>], index: usize, mut range: Range<usize>) -> Range<usize> {
    let mut reading = Some(index);
    while let Some(at) = reading {
        range = all[at].source_of(range);
        reading = all[at].of;
    }
    range
}

impl Reading<'_> {
    /// Whether a part of it, or what stands so near to it, is otherwise in the reading that it was made of.
    fn differs_near(&self, part: &Range<usize>, reach: usize) -> bool {
        // A token may go on behind the part.
        let rest = &self.text.as_bytes()[part.end..];
        let token = rest.iter().take_while(|byte| value::is_token_byte(**byte)).count();
        let near = part.start.saturating_sub(reach)..(part.end + token + reach).min(self.text.len());
        let Some(piece) = self.pieces.get(self.pieces.partition_point(|piece| piece.to.end <= near.start)) else {
            return true;
        };
        let begins = piece.to.start < near.start || piece.to.start == 0 && piece.from.start == 0;
        let ends = piece.to.end > near.end || piece.to.end == self.text.len() && piece.from.end == self.source_bytes;
        !(piece.is_verbatim() && begins && ends)
    }

    /// The pieces that are the same in the reading that it was made of.
    pub(super) fn kept_pieces(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| piece.is_verbatim())
    }

    /// Whether a part has to be looked at: the text itself is looked at whole.
    pub(super) fn is_new_near(&self, part: &Range<usize>, reach: usize) -> bool {
        self.of.is_none() || self.differs_near(part, reach)
    }

    fn source_of(&self, range: Range<usize>) -> Range<usize> {
        if self.pieces.is_empty() || range.is_empty() {
            return range;
        }
        let piece = |at: usize| self.pieces.get(self.pieces.partition_point(|piece| piece.to.end <= at));
        let start = piece(range.start).map_or(range.start, |piece| {
            if piece.is_verbatim() { piece.from.start + (range.start - piece.to.start) } else { piece.from.start }
        });
        let end = piece(range.end - 1).map_or(range.end, |piece| {
            if piece.is_verbatim() { piece.from.start + (range.end - piece.to.start) } else { piece.from.end }
        });
        start..end
    }
}

impl Piece {
    fn is_verbatim(&self) -> bool {
        self.to.len() == self.from.len()
    }
}

/// Puts a reading together.
struct ReadingBuilder<'t> {
    source: &'t str,
    at: usize,
    text: String,
    pieces: Vec<Piece>,
}

impl<'t> ReadingBuilder<'t> {
    fn new(source: &'t str) -> Self {
        Self { source, at: 0, text: String::new(), pieces: Vec::new() }
    }

    /// Keeps what comes before a part, and puts something else in its place.
    fn replace(&mut self, part: Range<usize>, with: &str) {
        if self.at == 0 {
            self.text.reserve(self.source.len());
        }
        self.push_piece(self.at..part.start, None);
        self.push_piece(part.clone(), Some(with));
        self.at = part.end;
    }

    fn push_piece(&mut self, from: Range<usize>, with: Option<&str>) {
        let to = self.text.len();
        self.text.push_str(with.unwrap_or(&self.source[from.clone()]));
        if to < self.text.len() {
            self.pieces.push(Piece { to: to..self.text.len(), from });
        }
    }

    /// None where nothing was replaced.
    fn finish(mut self) -> Option<PiecedText> {
        if self.at == 0 {
            return None;
        }
        self.push_piece(self.at..self.source.len(), None);
        Some((self.pieces, self.text))
    }
}

fn strip_controls(text: &str) -> Option<PiecedText> {
    let mut builder = ReadingBuilder::new(text);
    let mut at = 0;
    for_each_kept(text, |kept| {
        if kept.start > at {
            builder.replace(at..kept.start, "");
        }
        at = kept.end;
    });
    if at < text.len() {
        builder.replace(at..text.len(), "");
    }
    builder.finish()
}

/// The lines of a text, with what ends them.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut at = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1).chain(std::iter::once(text.len()));
    ends.map(move |end| &text[std::mem::replace(&mut at, end)..end]).filter(|line| !line.is_empty())
}

fn strip_prefixes(text: &str) -> Option<PiecedText> {
    let mut builder = ReadingBuilder::new(text);
    let mut at = 0;
    for line in split_lines(text) {
        let length = prefix::count_bytes(line);
        if length > 0 {
            builder.replace(at..at + length, "");
        }
        at += line.len();
    }
    builder.finish()
}

/// Lines that were clipped right behind what could be a secret, closed: what tells it may be the end of a string or a call.
fn close_clips(text: &str) -> Option<PiecedText> {
    let has_dots = |dots: &str| memchr::memmem::find(text.as_bytes(), dots.as_bytes()).is_some();
    if !has_dots("..") && !has_dots("…") {
        return None;
    }
    let mut builder = ReadingBuilder::new(text);
    let mut at = 0;
    for line in split_lines(text) {
        let shown = line.trim_end();
        let kept = shown.trim_end_matches(['…', '.']);
        let word = || kept.rsplit([' ', '\t', '"', '\'', '`', '=', ':']).next().unwrap_or_default();
        if shown.len() > kept.len() + 1 && value::could_be_whole(word()) {
            builder.replace(at + kept.len()..at + shown.len(), &closing_marks(kept));
        }
        at += line.len();
    }
    builder.finish()
}

/// The marks that close the quotes, the call and the element that are open at the end of a line.
fn closing_marks(line: &str) -> String {
    let is_open = |mark: &char| line.matches(*mark).count() % 2 == 1;
    let mut open: Vec<char> = ['"', '\'', '`'].into_iter().filter(is_open).collect();
    open.sort_by_key(|mark| std::cmp::Reverse(line.rfind(*mark)));
    let mut closing: String = open.into_iter().collect();
    if line.matches('(').count() > line.matches(')').count() {
        closing.push(')');
    }
    // The text of an element.
    if line.rfind('<').is_some_and(|start| line[start..].contains('>') && !line[start..].starts_with("</")) {
        closing.push_str("</");
    }
    closing
}

/// Entities of HTML and XML, and the characters that they stand for.
const ENTITIES: &[(&str, &str)] =
    &[("&quot;", "\""), ("&amp;", "&"), ("&#39;", "'"), ("&apos;", "'"), ("&lt;", "<"), ("&gt;", ">")];

fn resolve_escapes(text: &str) -> Option<PiecedText> {
    let mut builder = ReadingBuilder::new(text);
    let mut at = 0;
    while let Some(found) = memchr::memchr2(b'\\', b'&', &text.as_bytes()[at..]) {
        let start = at + found;
        let (length, with) = resolve_escape(&text[start..]);
        if let Some(with) = with {
            builder.replace(start..start + length, with.encode_utf8(&mut [0; 4]));
        }
        at = start + length;
    }
    builder.finish()
}

/// How long an escape is, and the character it stands for.
fn resolve_escape(text: &str) -> (usize, Option<char>) {
    if let Some((name, with)) = ENTITIES.iter().find(|(name, _)| text.starts_with(name)) {
        return (name.len(), with.chars().next());
    }
    match text.as_bytes().get(1) {
        _ if text.starts_with('&') => (1, None),
        Some(b'n' | b'r') => (2, Some('\n')),
        Some(b't') => (2, Some('\t')),
        // A command that goes on in the next line.
        Some(b'\n') => (2, Some(' ')),
        Some(mark @ (b'"' | b'\'' | b'\\' | b'/' | b'`')) => (2, Some(char::from(*mark))),
        Some(b'u') => match text.get(2..6).and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
            Some(code) => (6, char::from_u32(code)),
            None => (1, None),
        },
        _ => (1, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last reading of a text, and where a part of it stands in the text.
    fn read_part(text: &str, part: &str) -> (String, String) {
        let all = all_readings(read_plain(text));
        let last = all.last().unwrap();
        let at = last.text.find(part).unwrap();
        let range = range_in_text(&all, all.len() - 1, at..at + part.len());
        (last.text.clone().into_owned(), text[range].to_owned())
    }

    #[test]
    fn what_is_read_is_found_in_the_text() {
        assert_eq!(read_part("a\u{1b}[31mb\u{1b}[0mc", "bc"), ("abc".to_owned(), "b\u{1b}[0mc".to_owned()));
        assert_eq!(read_part("     1→ab\n     2→cd", "b\nc"), ("ab\ncd".to_owned(), "b\n     2→c".to_owned()));
        assert_eq!(read_part(r#"{\"a\": \"b\\nc\"}"#, "c"), ("{\"a\": \"b\nc\"}".to_owned(), "c".to_owned()));
        assert_eq!(read_part("x=&quot;y&quot;", "\"y"), ("x=\"y\"".to_owned(), "&quot;y".to_owned()));
        assert_eq!(read_part("plain", "plain"), ("plain".to_owned(), "plain".to_owned()));
    }
}
