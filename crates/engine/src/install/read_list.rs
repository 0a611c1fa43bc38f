//! A list of files that an agent reads at every start, in its file of YAML: one item of ours in it.
//!
//! The text is changed at parsed offsets only. What cannot be changed so without a doubt is refused.

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, Span};
use serde::{Deserialize, Serialize};

use super::json_text::lower_first;
use super::text::{Splice, TextPosition, apply_splices};

/// Why a file of YAML is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadListError {
    #[error("line {line}, column {column}: this is not YAML: {reason}")]
    Syntax { line: usize, column: usize, reason: String },
    #[error("{at}: `{key}` is there twice")]
    Twice { at: TextPosition, key: String },
    #[error("{at}: {what}, into which carryover does not write")]
    WrongShape { at: TextPosition, what: &'static str },
}

/// How our item came into the file, so that exactly that is taken out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MadeList {
    /// The line with the key; this was put before it.
    Key(String),
    /// The list around one value.
    List,
    Item,
}

/// The file with the item in the list, and how it came there; `None` where it is there already.
pub(super) fn put_item(text: &str, key: &str, item: &str) -> Result<Option<(String, MadeList)>, ReadListError> {
    let document = Document::parse(text, key)?;
    let (splices, made) = match &document.value {
        None => document.append_key(key, item),
        Some(ListValue::Scalar(value)) if value.text == item => return Ok(None),
        Some(ListValue::Scalar(value)) => {
            let range = document.plain_range(value)?;
            let splices = vec![Splice::insert(range.start, "["), Splice::insert(range.end, &format!(", {item}]"))];
            (splices, MadeList::List)
        }
        Some(ListValue::List { items, .. }) if items.iter().any(|found| found.text == item) => return Ok(None),
        Some(ListValue::List { range, items, is_flow: true }) => {
            let splice = match items.last() {
                Some(last) => Splice::insert(last.range.end, &format!(", {item}")),
                None => Splice::insert(range.start + 1, item),
            };
            (vec![splice], MadeList::Item)
        }
        Some(ListValue::List { items, is_flow: false, range }) => {
            let last = items.last().ok_or_else(|| document.wrong_shape(range.start, "an empty list"))?;
            let indent = document.item_indent(last)?;
            let end = line_end(text, last.range.end);
            let newline = newline_of(text);
            (vec![Splice::insert(end, &format!("{newline}{indent}- {item}"))], MadeList::Item)
        }
    };
    let put = apply_splices(text, splices);
    // The list must read as it did, with ours behind: anything else would be a mistake of ours.
    let expected: Vec<String> = document.items().into_iter().chain([item.to_owned()]).collect();
    let is_right = Document::parse(&put, key).is_ok_and(|document| document.items() == expected);
    if is_right { Ok(Some((put, made))) } else { Err(document.wrong_shape(0, "an unusual list")) }
}

/// The file without the item.
pub(super) fn remove_item(text: &str, key: &str, item: &str, made: &MadeList) -> Result<String, ReadListError> {
    let document = Document::parse(text, key)?;
    let splices = match (&document.value, made) {
        (Some(ListValue::Scalar(value)), MadeList::Key(before)) if value.text == item => {
            vec![document.key_line(before)]
        }
        (Some(ListValue::List { items, range, is_flow: true }), made) => {
            let Some(index) = items.iter().position(|found| found.text == item) else { return Ok(text.to_owned()) };
            match (made, items.as_slice()) {
                (MadeList::Key(before), [_]) => vec![document.key_line(before)],
                (MadeList::List, [other, _]) if index == 1 => {
                    vec![Splice::replace(range.clone(), &text[other.range.clone()])]
                }
                _ => vec![Splice::replace(flow_item_range(items, index), "")],
            }
        }
        (Some(ListValue::List { items, is_flow: false, .. }), _) => {
            let Some(found) = items.iter().find(|found| found.text == item) else { return Ok(text.to_owned()) };
            let start = text[..found.range.start].rfind('\n').unwrap_or(0);
            let start = start - usize::from(text[..start].ends_with('\r'));
            vec![Splice::replace(start..line_end(text, found.range.end), "")]
        }
        _ => return Ok(text.to_owned()),
    };
    Ok(apply_splices(text, splices))
}

/// An item with the comma that came with it.
fn flow_item_range(items: &[Item], index: usize) -> Range<usize> {
    match (index.checked_sub(1).and_then(|before| items.get(before)), items.get(index + 1)) {
        (Some(before), _) => before.range.end..items[index].range.end,
        (None, Some(next)) => items[index].range.start..next.range.start,
        (None, None) => items[index].range.clone(),
    }
}

#[derive(Debug, Clone)]
struct Item {
    text: String,
    range: Range<usize>,
    style: ScalarStyle,
}

enum ListValue {
    Scalar(Item),
    List { range: Range<usize>, items: Vec<Item>, is_flow: bool },
}

struct Document<'t> {
    text: &'t str,
    /// How far in the keys stand; none where there is no key.
    key_column: Option<usize>,
    /// Where our key begins.
    key_start: usize,
    value: Option<ListValue>,
}

impl<'t> Document<'t> {
    fn parse(text: &'t str, key: &str) -> Result<Self, ReadListError> {
        let mut document = Self { text, key_column: None, key_start: 0, value: None };
        let offsets: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let range = |span: Span| {
            let at = |index: usize| offsets.get(index).copied().unwrap_or(text.len());
            at(span.start.index())..at(span.end.index())
        };
        let mut events = Vec::new();
        for event in Parser::new_from_str(text) {
            let (event, span) = event.map_err(|error| ReadListError::Syntax {
                line: error.marker().line(),
                column: error.marker().col() + 1,
                reason: lower_first(error.info()),
            })?;
            events.push((event, range(span)));
        }
        document.read_events(&events, key)?;
        Ok(document)
    }

    fn read_events(&mut self, events: &[(Event<'_>, Range<usize>)], key: &str) -> Result<(), ReadListError> {
        let mut depth = 0_usize;
        let mut is_key = true;
        let mut n_documents = 0;
        let mut index = 0;
        while let Some((event, range)) = events.get(index) {
            index += 1;
            match event {
                Event::DocumentStart(_) => n_documents += 1,
                Event::MappingStart(..) if depth == 0 => {
                    if self.text[range.start..].starts_with('{') {
                        return Err(self.wrong_shape(range.start, "an object in braces"));
                    }
                    depth += 1;
                    continue;
                }
                Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
                Event::MappingEnd | Event::SequenceEnd => depth = depth.saturating_sub(1),
                Event::Scalar(name, ..) if depth == 1 && is_key => {
                    self.key_column.get_or_insert(range.start - line_start(self.text, range.start));
                    if name == key {
                        if self.value.is_some() {
                            let at = TextPosition::in_text(self.text, range.start);
                            return Err(ReadListError::Twice { at, key: key.to_owned() });
                        }
                        self.key_start = range.start;
                        self.value = Some(self.read_value(&events[index..], range.end)?);
                    }
                }
                Event::Scalar(name, ..) if depth == 0 && !name.is_empty() => {
                    return Err(self.wrong_shape(range.start, "a single value"));
                }
                _ => {}
            }
            if depth == 1 && !matches!(event, Event::DocumentStart(_)) {
                is_key = !is_key;
            }
        }
        let is_ended = self.text.lines().any(|line| line.starts_with("..."));
        if n_documents > 1 || is_ended {
            return Err(self.wrong_shape(0, "several documents in one"));
        }
        Ok(())
    }

    /// The value that begins a list of events.
    fn read_value(&self, events: &[(Event<'_>, Range<usize>)], key_end: usize) -> Result<ListValue, ReadListError> {
        let Some((first, range)) = events.first() else {
            return Err(self.wrong_shape(key_end, "a key without a value"));
        };
        match first {
            Event::Scalar(text, style, 0, None) if !range.is_empty() => {
                Ok(ListValue::Scalar(Item { text: text.to_string(), range: range.clone(), style: *style }))
            }
            Event::SequenceStart(0, None) => {
                let mut items = Vec::new();
                for (event, found) in &events[1..] {
                    match event {
                        Event::Scalar(text, style, 0, None) if !found.is_empty() => {
                            items.push(Item { text: text.to_string(), range: found.clone(), style: *style });
                        }
                        Event::SequenceEnd => {
                            let is_flow = self.text[range.start..].starts_with('[');
                            // The parser tells the end of a list together with what follows it.
                            let end = self.text[..found.end].rfind(']').filter(|_| is_flow);
                            let end = if self.text[found.start..].starts_with(']') { Some(found.start) } else { end };
                            let whole = range.start..end.map_or(found.start, |end| end + 1);
                            return Ok(ListValue::List { range: whole, items, is_flow });
                        }
                        _ => return Err(self.wrong_shape(found.start, "a list of more than names")),
                    }
                }
                Err(self.wrong_shape(key_end, "a list without an end"))
            }
            _ => Err(self.wrong_shape(range.start.max(key_end), "a value that is no list of names")),
        }
    }

    fn wrong_shape(&self, offset: usize, what: &'static str) -> ReadListError {
        ReadListError::WrongShape { at: TextPosition::in_text(self.text, offset), what }
    }

    fn items(&self) -> Vec<String> {
        match &self.value {
            None => Vec::new(),
            Some(ListValue::Scalar(item)) => vec![item.text.clone()],
            Some(ListValue::List { items, .. }) => items.iter().map(|item| item.text.clone()).collect(),
        }
    }

    /// A line of our own at the end.
    fn append_key(&self, key: &str, item: &str) -> (Vec<Splice>, MadeList) {
        let newline = newline_of(self.text);
        let is_own_line = self.text.is_empty() || self.text.ends_with('\n');
        let before = if is_own_line { "" } else { newline };
        let column = self.key_column.unwrap_or(0);
        let line = format!("{before}{}{key}: [{item}]{newline}", " ".repeat(column));
        (vec![Splice::insert(self.text.len(), &line)], MadeList::Key(before.to_owned()))
    }

    /// Takes the line with our key out.
    fn key_line(&self, before: &str) -> Splice {
        let start = line_start(self.text, self.key_start);
        let start = if self.text[..start].ends_with(before) { start - before.len() } else { start };
        let end = line_end(self.text, self.key_start);
        let rest = &self.text[end..];
        let newline = if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) };
        Splice::replace(start..end + newline, "")
    }

    /// A single value in one line that means the same in a list.
    fn plain_range(&self, value: &Item) -> Result<Range<usize>, ReadListError> {
        let raw = &self.text[value.range.clone()];
        let is_plain = matches!(value.style, ScalarStyle::Plain) && !raw.contains([',', '[', ']', '{', '}']);
        let is_quoted = matches!(value.style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
        if (is_plain || is_quoted) && !raw.contains('\n') {
            Ok(value.range.clone())
        } else {
            Err(self.wrong_shape(value.range.start, "an unusual value"))
        }
    }

    /// The blanks before the dash of an item that has a line of its own.
    fn item_indent(&self, item: &Item) -> Result<&'t str, ReadListError> {
        let line = &self.text[line_start(self.text, item.range.start)..item.range.start];
        let is_one_line = !self.text[item.range.clone()].contains('\n');
        match line.trim_end().strip_suffix('-') {
            Some(indent) if is_one_line && indent.trim().is_empty() => Ok(indent),
            _ => Err(self.wrong_shape(item.range.start, "an unusual list")),
        }
    }
}

fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The end of a line, before the characters that end it.
fn line_end(text: &str, at: usize) -> usize {
    let line = text[at..].find('\n').map_or(text.len(), |newline| at + newline);
    line - usize::from(text[..line].ends_with('\r'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = ".carryover/handoff.md";

    #[test]
    fn what_is_put_in_is_taken_out_without_a_trace() {
        for text in [
            "",
            "# nothing yet\n",
            "# nothing yet",
            "model: x",
            "model: x\nenv:\n  read: y\n",
            "  model: x\n  dark-mode: true\n",
            "model: x\r\nread: CONVENTIONS.md\r\n",
            "read: CONVENTIONS.md # ours, all\nmodel: x\n",
            "read: 'my notes.md'",
            "read: [a.md, \"b.md\"]\n",
            "read: []\n",
            "read: [\n  a.md, # first\n  b.md,\n]\nmodel: x\n",
            "read:\n  - a.md\n  - b.md # second\n\n# the model\nmodel: x\n",
            "read:\n- a.md",
            "größe: é\nread:\n  - ä.md\n",
        ] {
            let (put, made) = put_item(text, "read", ITEM).unwrap().unwrap();
            assert_eq!(put_item(&put, "read", ITEM).unwrap(), None, "{put}");
            assert_eq!(remove_item(&put, "read", ITEM, &made).unwrap(), text, "by way of {put}");
        }
    }

    #[test]
    fn one_line_is_added_where_a_person_would() {
        let put = |text: &str| put_item(text, "read", ITEM).unwrap().unwrap().0;
        assert_eq!(put("model: x\n"), "model: x\nread: [.carryover/handoff.md]\n");
        assert_eq!(put("read: A.md # mine\n"), "read: [A.md, .carryover/handoff.md] # mine\n");
        assert_eq!(put("read:\n  - A.md # mine\nz: 1\n"), "read:\n  - A.md # mine\n  - .carryover/handoff.md\nz: 1\n");
    }

    #[test]
    fn only_ours_goes_from_a_list_that_others_changed() {
        let removed = |text: &str, made: MadeList| remove_item(text, "read", ITEM, &made).unwrap();
        let key = || MadeList::Key(String::new());
        assert_eq!(removed("read: [.carryover/handoff.md, a.md]\n", key()), "read: [a.md]\n");
        assert_eq!(removed("read: [A.md, .carryover/handoff.md, b.md]\n", MadeList::List), "read: [A.md, b.md]\n");
        assert_eq!(removed("read: b.md\n", key()), "read: b.md\n");
        assert_eq!(removed("model: x\n", key()), "model: x\n");
    }

    #[test]
    fn what_is_unusual_is_refused_with_its_place() {
        let refused = |text: &str| put_item(text, "read", ITEM).unwrap_err().to_string();
        let refusals: Vec<String> = [
            "a: [1\nb: 2\n",
            "read: a\nread: b\n",
            "{read: a}",
            "read: {a: b}\n",
            "read:\nmodel: x\n",
            "read: &x [a]\n",
            "read: a, b\n",
            "a: 1\n---\nb: 2\n",
            "a: 1\n...\n",
            "just words\n",
            "- a\n",
        ]
        .map(refused)
        .into();
        insta::assert_snapshot!(refusals.join("\n"), @"
        line 2, column 2: this is not YAML: illegal placement of ':' indicator
        line 2, column 1: `read` is there twice
        line 1, column 1: an object in braces, into which carryover does not write
        line 1, column 7: a value that is no list of names, into which carryover does not write
        line 1, column 5: a value that is no list of names, into which carryover does not write
        line 1, column 7: a value that is no list of names, into which carryover does not write
        line 1, column 7: an unusual value, into which carryover does not write
        line 1, column 1: several documents in one, into which carryover does not write
        line 1, column 1: several documents in one, into which carryover does not write
        line 1, column 1: a single value, into which carryover does not write
        line 1, column 1: an unusual list, into which carryover does not write
        ");
    }
}
