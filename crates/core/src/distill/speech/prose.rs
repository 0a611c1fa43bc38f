//! A message as lines and sentences: what was said, under which heading, with code and quotations left out.

use std::borrow::Cow;

use super::cues::{self, Cue, CueSet};
use super::heading::{self, Section};
use super::letters;
use super::wording::{Wording, spelt};
use super::{Voice, choice, dump, request, sentences, verdict, words};

/// What stands before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::distill) enum Mark {
    Plain,
    Bullet,
    Numbered,
    Checked,
    Unchecked,
}

impl Mark {
    pub(in crate::distill) fn is_item(self) -> bool {
        self != Self::Plain
    }
}

/// A paragraph or one item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::distill) struct Line {
    pub(in crate::distill) text: String,
    pub(in crate::distill) mark: Mark,
    pub(in crate::distill) section: Section,
    pub(in crate::distill) sentences: Vec<Sentence>,
}

/// A part of a line, and which turns of phrase are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::distill) struct Sentence {
    start: usize,
    end: usize,
    pub(in crate::distill) cues: CueSet,
}

impl Line {
    /// Its sentences are judged by their words, which may be known, and by whether they are among the first of a prompt.
    fn of(
        text: String,
        mark: Mark,
        section: Section,
        judge: impl Fn(Wording<'_>, usize) -> CueSet,
        words: Known<'_>,
    ) -> Self {
        let mut sentences = Vec::new();
        sentences::each(&text, |start, end| {
            let (sentence, index) = (&text[start..end], sentences.len());
            let cues = match words {
                Some((words, at)) => words.part(at + start, sentence, |words| judge(words, index)),
                None => spelt(sentence, |words| judge(words, index)),
            };
            sentences.push(Sentence { start, end, cues });
        });
        Self { text, mark, section, sentences }
    }

    pub(in crate::distill) fn sentence(&self, sentence: &Sentence) -> &str {
        &self.text[sentence.start..sentence.end]
    }

    /// Its sentences with their turns of phrase.
    pub(in crate::distill) fn said(&self) -> impl DoubleEndedIterator<Item = (&str, CueSet)> {
        self.sentences.iter().map(|sentence| (self.sentence(sentence), sentence.cues))
    }
}

/// The turns of phrase of a sentence, whether it is built as a choice of the one who speaks, and what it is to the task
/// where it is among the first of a prompt.
fn judged(words: Wording<'_>, voice: Voice, is_early: bool) -> CueSet {
    let cues = choice::judged(voice, words, cues::of(words));
    let cues = if verdict::closes(words) { cues.with(Cue::Closes) } else { cues };
    if is_early { request::early(words, cues) } else { cues }
}

/// Splits a message into what its speaker says.
pub(in crate::distill) fn lines(text: &str, voice: Voice) -> Vec<Line> {
    Reading::of(text, voice).read()
}

/// The same of a message whose words are known.
pub(in crate::distill) fn lines_in(words: Wording<'_>, voice: Voice) -> Vec<Line> {
    Reading { words: Some(words), ..Reading::of(words.text, voice) }.read()
}

/// The words of a message, where they are known, and where in it something is.
type Known<'a> = Option<(Wording<'a>, usize)>;

/// A message while it is split.
struct Reading<'a> {
    text: &'a str,
    words: Option<Wording<'a>>,
    voice: Voice,
    lines: Vec<Line>,
    section: Section,
    /// A heading that is no heading of markdown holds for the list below it.
    is_loose: bool,
    /// Whether the section has had a list: what follows a list is no part of it.
    has_items: bool,
    /// Its lines so far, and what stands before the first.
    paragraph: Vec<Cow<'a, str>>,
    mark: Mark,
    fence: Option<&'a str>,
    was_blank: bool,
    /// Takes away what only emphasises.
    clean: fn(&'a str) -> Cow<'a, str>,
    /// How many of the next sentences are among the first of a prompt.
    early: usize,
}

impl<'a> Reading<'a> {
    fn of(text: &'a str, voice: Voice) -> Self {
        let is_emphatic = memchr::memchr(b'*', text.as_bytes()).is_some() || words::is_typeset(text);
        Self {
            text,
            words: None,
            voice,
            lines: Vec::new(),
            section: Section::default(),
            is_loose: false,
            has_items: false,
            paragraph: Vec::with_capacity(32),
            mark: Mark::Plain,
            fence: None,
            was_blank: false,
            clean: if is_emphatic { without_emphasis } else { Cow::Borrowed },
            early: if voice == Voice::User { request::EARLY } else { 0 },
        }
    }

    fn read(mut self) -> Vec<Line> {
        for line in crate::plain::lines(self.text) {
            self.take(line);
        }
        self.flush();
        self.lines
    }

    fn take(&mut self, line: &'a str) {
        let trimmed = line.trim();
        if let Some(open) = self.fence {
            if trimmed.starts_with(open) && trimmed.trim_matches(['`', '~']).is_empty() {
                self.fence = None;
            }
            return;
        }
        let is_indented = self.was_blank && line.starts_with("    ");
        match trimmed.as_bytes().first() {
            None => {
                self.flush();
                self.was_blank = true;
            }
            // Nearly all lines begin so, and are nothing but words.
            Some(first) if first.is_ascii_alphabetic() => {
                if is_indented {
                    self.flush();
                } else {
                    self.go_on(trimmed);
                    self.was_blank = false;
                }
            }
            Some(_) => self.look(trimmed, is_indented),
        }
    }

    /// Takes a line that may be more than words.
    fn look(&mut self, trimmed: &'a str, is_indented: bool) {
        if let Some(open) = dump::fence_of(trimmed) {
            self.flush();
            self.fence = Some(open);
            return;
        }
        let is_code = is_indented && mark_of(trimmed).0 == Mark::Plain;
        if is_code || trimmed.starts_with('>') || trimmed.starts_with("<!--") || dump::is_table(trimmed) {
            self.flush();
            return;
        }
        match trimmed.starts_with('|').then(|| heading::labelled_row(trimmed)).flatten() {
            Some(row) => {
                self.flush();
                self.begin(Cow::Owned(row), Mark::Bullet);
                self.flush();
            }
            None => self.say(trimmed),
        }
        self.was_blank = false;
    }

    fn say(&mut self, trimmed: &'a str) {
        if let Some(title) = markdown_heading(trimmed) {
            self.flush();
            self.section = Section::of(&title);
            (self.is_loose, self.has_items) = (false, false);
            return;
        }
        let (mark, rest) = mark_of(trimmed);
        if mark == Mark::Plain {
            self.go_on(rest);
        } else {
            self.flush();
            self.begin((self.clean)(rest), mark);
        }
    }

    /// Takes a line that has no mark before it.
    fn go_on(&mut self, line: &'a str) {
        let text = (self.clean)(line);
        // A label begins something of its own, even where no line is left empty.
        let is_begun = !self.paragraph.is_empty();
        if is_begun && (labelled(&text).is_some() || line.starts_with("**") && text.contains(": ")) {
            self.flush();
        }
        let may_head = text.ends_with(':');
        if self.paragraph.is_empty() {
            self.begin(text, Mark::Plain);
        } else {
            self.paragraph.push(text);
        }
        let length = || self.paragraph.iter().map(|line| line.len() + 1).sum::<usize>();
        if may_head && length() <= HEADING && is_loose_heading(&self.paragraph.join(" ")) {
            self.flush();
        }
    }

    fn begin(&mut self, line: Cow<'a, str>, mark: Mark) {
        self.paragraph.push(line);
        self.mark = mark;
    }

    /// The paragraph as one line, and an empty one in its place.
    fn taken(&mut self) -> Option<String> {
        match self.paragraph.as_mut_slice() {
            [] => None,
            [_] => self.paragraph.pop().map(Cow::into_owned),
            lines => {
                let text = lines.join(" ");
                self.paragraph.clear();
                Some(text)
            }
        }
    }

    /// The words of the message, where these are known, and where the paragraph is in it. It is not where something was
    /// taken away between its lines or within them.
    fn known(&self) -> Known<'a> {
        let (Cow::Borrowed(first), Cow::Borrowed(last)) = (self.paragraph.first()?, self.paragraph.last()?) else {
            return None;
        };
        let (start, end) = (place(self.text, first), place(self.text, last) + last.len());
        let length = self.paragraph.iter().map(|line| line.len() + 1).sum::<usize>() - 1;
        let is_whole = self.paragraph.iter().all(|line| matches!(line, Cow::Borrowed(_)));
        self.words.filter(|_| is_whole && end - start == length).map(|words| (words, start))
    }

    fn flush(&mut self) {
        let known = self.known();
        let Some(text) = self.taken() else { return };
        let mark = self.mark;
        if mark == Mark::Plain {
            if is_loose_heading(&text) {
                self.section = Section::of(text.trim_end_matches(':'));
                (self.is_loose, self.has_items) = (true, false);
                return;
            }
            // A paragraph ends what a loose heading began; a label such as `Next: …` holds for its own line.
            if self.is_loose || self.has_items {
                self.section = Section::Other;
                (self.is_loose, self.has_items) = (false, false);
            }
        } else {
            self.has_items = true;
        }
        let (section, said, known) = match labelled(&text) {
            Some((section, said)) => {
                (section, said.to_owned(), known.map(|(words, start)| (words, start + place(&text, said))))
            }
            None => (self.section, text, known),
        };
        if !dump::is_dump(&said) {
            let judge = |words: Wording<'_>, index: usize| judged(words, self.voice, index < self.early);
            let line = Line::of(said, mark, section, judge, known);
            self.early = self.early.saturating_sub(line.sentences.len());
            self.lines.push(line);
        }
    }
}

/// Where a part of a text begins in it.
fn place(text: &str, part: &str) -> usize {
    part.as_ptr().addr() - text.as_ptr().addr()
}

fn markdown_heading(line: &str) -> Option<String> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    if (1..=6).contains(&level) && line[level..].starts_with(' ') {
        return Some(without_emphasis(line[level..].trim().trim_end_matches(':')).into_owned());
    }
    let bold = line.strip_prefix("**").and_then(|rest| rest.trim_end_matches(':').strip_suffix("**"));
    let bold = bold.filter(|title| !title.contains("**") && title.split_whitespace().count() <= 8);
    bold.map(|title| title.trim_end_matches(':').to_owned())
}

/// A heading is shorter.
const HEADING: usize = 200;

/// A short line that ends in a colon: what follows is its list.
fn is_loose_heading(text: &str) -> bool {
    text.ends_with(':')
        && text.len() < HEADING
        && crate::plain::fields(text).nth(9).is_none()
        && !text[..text.len() - 1].contains(". ")
}

/// `Decision: …`, `Next step — …`: a heading and its text in one line.
fn labelled(text: &str) -> Option<(Section, &str)> {
    // A label is short, and most texts are not.
    let head = &text[..text.floor_char_boundary(48)];
    let (at, length) = label_end(head).filter(|(at, _)| *at <= 40)?;
    let label = &text[..at];
    let section = Section::of_label(label);
    let is_label = section != Section::Other && crate::plain::fields(label).nth(4).is_none();
    is_label.then(|| (section, text[at + length..].trim()))
}

/// Where what may be a label ends, and how long the mark is that ends it.
pub(in crate::distill) fn label_end(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    // A long dash begins with the last of these.
    letters::places(bytes, letters::one_of([b':', b'-', 0xe2])).find_map(|at| {
        let mark = text[at..].chars().next().filter(|mark| matches!(mark, ':' | '-' | '—' | '–'))?;
        let is_spaced = bytes.get(at + mark.len_utf8()) == Some(&b' ');
        let is_dash = mark != ':';
        let start = at.saturating_sub(usize::from(is_dash));
        (is_spaced && (!is_dash || at > 0 && bytes[start] == b' '))
            .then_some((start, mark.len_utf8() + 1 + usize::from(is_dash)))
    })
}

/// What stands before an item, and the item.
fn mark_of(line: &str) -> (Mark, &str) {
    if line.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return (Mark::Plain, line);
    }
    if let Some(rest) = line.strip_prefix(['-', '*', '+', '•', '–', '→', '☐', '☑', '✓', '✔', '✗', '◦', '▪'])
    {
        let first = line.chars().next().unwrap_or_default();
        if rest.starts_with(' ') || !first.is_ascii() {
            let rest = rest.trim_start();
            let (mark, rest) = boxed(rest);
            let mark = match first {
                '☐' => Mark::Unchecked,
                '☑' | '✓' | '✔' => Mark::Checked,
                _ => mark,
            };
            return (mark, rest);
        }
    }
    for (sign, mark) in
        [("✅", Mark::Checked), ("⏳", Mark::Unchecked), ("🔲", Mark::Unchecked), ("⬜", Mark::Unchecked)]
    {
        if let Some(rest) = line.strip_prefix(sign) {
            return (mark, rest.trim_start());
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=2).contains(&digits) {
        let rest = &line[digits..];
        if let Some(rest) = rest.strip_prefix(['.', ')']).filter(|rest| rest.starts_with(' ')) {
            let (mark, rest) = boxed(rest.trim_start());
            return (if mark == Mark::Bullet { Mark::Numbered } else { mark }, rest);
        }
    }
    if line.starts_with('[') {
        let (mark, rest) = boxed(line);
        if mark != Mark::Bullet {
            return (mark, rest);
        }
    }
    (Mark::Plain, line)
}

fn boxed(text: &str) -> (Mark, &str) {
    for (sign, mark) in
        [("[ ]", Mark::Unchecked), ("[x]", Mark::Checked), ("[X]", Mark::Checked), ("✅", Mark::Checked)]
    {
        if let Some(rest) = text.strip_prefix(sign) {
            return (mark, rest.trim_start());
        }
    }
    (Mark::Bullet, text)
}

/// Text without the marks of bold; backticks stay, they make paths and names readable.
pub(in crate::distill) fn without_emphasis(text: &str) -> Cow<'_, str> {
    let mut plain = String::new();
    let mut from = 0;
    for at in memchr::memchr2_iter(b'*', 0xe2, text.as_bytes()) {
        let (mark, sign) = match &text.as_bytes()[at..] {
            [b'*', b'*', ..] => ("**", ""),
            // The apostrophe of typesetting.
            [0xe2, 0x80, 0x99, ..] => ("\u{2019}", "'"),
            _ => continue,
        };
        if at >= from {
            plain.push_str(&text[from..at]);
            plain.push_str(sign);
            from = at + mark.len();
        }
    }
    if from == 0 {
        return Cow::Borrowed(text);
    }
    plain.push_str(&text[from..]);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Line, Mark, lines, lines_in};
    use crate::distill::Voice;
    use crate::distill::wording::spelt;

    fn said(text: &str) -> Vec<(Mark, String)> {
        lines(text, Voice::Agent).into_iter().map(|Line { mark, text, .. }| (mark, text)).collect()
    }

    #[test]
    fn lines_are_words_unless_they_begin_as_something_else() {
        let plain = |text: &str| (Mark::Plain, text.to_owned());
        assert_eq!(said("One\n  two **three**\nfour’s"), [plain("One two three four's")]);
        assert_eq!(
            said("One\n- two\n  more\n1. three"),
            [plain("One"), (Mark::Bullet, "two more".to_owned()), (Mark::Numbered, "three".to_owned()),]
        );
        // Code is left out, whether it is fenced or indented, and so is what is quoted.
        assert_eq!(said("One\n\n    ```\n    two words\n    ```\nthree"), [plain("One"), plain("three")]);
        assert_eq!(said("One\n\n    two words\n\n    three more\nfour"), [plain("One"), plain("four")]);
        assert_eq!(said("One\n    two words\nthree"), [plain("One two words three")]);
        assert_eq!(said("One\n> two words\nthree"), [plain("One"), plain("three")]);
        assert_eq!(said("One\n## two words\nthree"), [plain("One"), plain("three")]);
    }

    proptest! {
        #[test]
        fn words_that_are_known_are_judged_as_others_are(
            parts in proptest::collection::vec(proptest::sample::select(PARTS), 0..24),
        ) {
            let text = parts.concat();
            let known = spelt(&text, |words| lines_in(words, Voice::User));
            prop_assert_eq!(known, lines(&text, Voice::User));
        }
    }

    const PARTS: &[&str] = &[
        "we went with the queue ",
        "because it is smaller",
        ". ",
        "Use tabs",
        ", not spaces",
        "\n",
        "\n\n",
        "\n  ",
        "  \n",
        "\r\n",
        "\n- ",
        "\n> ",
        "\n```\n",
        "Decision: ",
        "**bold** ",
        "it’s ",
        "naïve 日本。",
        "next task: ",
        "the docs? ",
        "forget it",
        "! ",
        "in the end ",
        "`a.b` ",
        "— ",
    ];
}
