//! JSON with comments as text: where members stand in it, and how one is put in or taken out.
//!
//! Text is changed at parsed offsets only, so every byte that is not spliced stays: comments, blanks, line ends, order.

use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use super::text::{Splice, TextPosition};

/// The mark with which some editors begin a file.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Why a file of JSON is left alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonTextError {
    #[error("{at}: this is not JSON: {reason}")]
    Syntax { at: TextPosition, reason: String },
    #[error("{at}: the file does not hold an object")]
    WrongRoot { at: TextPosition },
    #[error("{at}: `{key}` is not {expected}")]
    WrongShape { at: TextPosition, key: String, expected: &'static str },
    #[error("{at}: `{key}` is there twice")]
    Twice { at: TextPosition, key: String },
    #[error("{at}: the file is of version {found}, and hooks are known for version {known} only")]
    UnknownVersion { at: TextPosition, found: String, known: u32 },
}

/// Parses a file; one that holds no value gives `None`. All offsets count from behind the byte order mark.
pub(super) fn parse(text: &str) -> Result<Option<Value<'_>>, JsonTextError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| JsonTextError::Syntax {
        at: TextPosition::in_text(text, error.range().start),
        reason: lower_first(&error.kind().to_string()),
    })?;
    Ok(parsed.value)
}

/// A sentence of somebody else's as a part of ours.
pub(super) fn lower_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// The mark at the beginning of a file, and the text behind it.
pub(super) fn split_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => (BYTE_ORDER_MARK, rest),
        None => ("", text),
    }
}

/// A property by its name; one that is there twice would be read by each client in its own way.
pub(super) fn find_property<'o, 't>(
    text: &str,
    object: &'o Object<'t>,
    name: &str,
) -> Result<Option<&'o ObjectProp<'t>>, JsonTextError> {
    let mut found = object.properties.iter().filter(|property| property.name.as_str() == name);
    let first = found.next();
    match found.next() {
        Some(second) => {
            Err(JsonTextError::Twice { at: TextPosition::in_text(text, second.range.start), key: name.to_owned() })
        }
        None => Ok(first),
    }
}

/// A parsed value as data.
pub(super) fn to_data(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::StringLit(text) => text.value.as_ref().into(),
        Value::NumberLit(number) => serde_json::from_str(number.value).unwrap_or_default(),
        Value::BooleanLit(literal) => literal.value.into(),
        Value::NullKeyword(_) => serde_json::Value::Null,
        Value::Array(array) => array.elements.iter().map(to_data).collect(),
        Value::Object(object) => {
            let properties = object.properties.iter();
            properties.map(|property| (property.name.as_str().to_owned(), to_data(&property.value))).collect()
        }
    }
}

/// How a file is laid out.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    newline: &'static str,
    unit: String,
    is_one_line: bool,
}

impl Layout {
    pub(super) fn detect(text: &str, root: Option<&Object<'_>>) -> Self {
        let newline = match text.find('\n') {
            Some(at) if text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let first = root.and_then(|root| root.properties.first());
        let unit = first.and_then(|first| own_line_indent(text, first.range.start)).filter(|unit| !unit.is_empty());
        let inner = root.map_or("", |root| &text[root.range.start..root.range.end]);
        let is_one_line = first.is_some() && !inner.contains('\n');
        Self { newline, unit: unit.unwrap_or("  ").to_owned(), is_one_line }
    }

    pub(super) fn newline(&self) -> &'static str {
        self.newline
    }
}

/// Something to be written: a value, with a name where it goes into an object.
pub(super) struct NewMember<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) value: &'a serde_json::Value,
}

impl NewMember<'_> {
    /// The text in one line.
    fn compact(&self) -> String {
        match self.name {
            Some(name) => format!("{}: {}", serde_json::Value::from(name), self.value),
            None => self.value.to_string(),
        }
    }

    /// The text in lines, of which all but the first stand behind `indent`.
    pub(super) fn in_lines(&self, layout: &Layout, indent: &str) -> String {
        let formatter = serde_json::ser::PrettyFormatter::with_indent(layout.unit.as_bytes());
        let mut bytes = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        if serde::Serialize::serialize(self.value, &mut serializer).is_err() {
            return self.compact();
        }
        let text = String::from_utf8_lossy(&bytes).replace('\n', &format!("{}{indent}", layout.newline));
        match self.name {
            Some(name) => format!("{}: {text}", serde_json::Value::from(name)),
            None => text,
        }
    }

    /// The text as it replaces another: in one line where that was.
    pub(super) fn in_place_of(&self, old: &str, layout: &Layout, indent: &str) -> String {
        if old.contains('\n') { self.in_lines(layout, indent) } else { self.compact() }
    }
}

/// An object or array as text: what is between its brackets.
pub(super) struct Container {
    inner: Range<usize>,
    members: Vec<Range<usize>>,
}

impl Container {
    /// `None` for a value that has no members.
    pub(super) fn from_value(value: &Value<'_>) -> Option<Self> {
        let range = |range: jsonc_parser::common::Range| range.start..range.end;
        let (whole, members) = match value {
            Value::Object(object) => {
                (object.range, object.properties.iter().map(|property| range(property.range)).collect())
            }
            Value::Array(array) => (array.range, array.elements.iter().map(|element| range(element.range())).collect()),
            _ => return None,
        };
        Some(Self { inner: whole.start + 1..whole.end - 1, members })
    }

    /// The text between the brackets, where that is nothing but blanks.
    pub(super) fn blank<'t>(&self, text: &'t str) -> Option<&'t str> {
        let inner = &text[self.inner.clone()];
        inner.trim().is_empty().then_some(inner)
    }

    /// Gives an empty container its blanks back.
    pub(super) fn restore_blank(&self, blank: &str) -> Vec<Splice> {
        vec![Splice::replace(self.inner.clone(), blank)]
    }

    /// Puts a member behind all others.
    pub(super) fn insert_last(&self, text: &str, layout: &Layout, new: &NewMember<'_>) -> Vec<Splice> {
        let base = line_indent(text, self.inner.start);
        let Some(last) = self.members.last() else { return self.insert_only(text, layout, base, new) };
        let comma = find_comma(text, last.end..self.inner.end);
        let spot = same_line_end(text, comma.map_or(last.end, |comma| comma + 1), self.inner.end);
        let own_indent = own_line_indent(text, last.start).map(str::to_owned);
        let indent = match own_indent {
            Some(indent) => Some(indent),
            // Behind a comment that ends with the line there is no room.
            None if spot.after_line_comment => Some(format!("{base}{}", layout.unit)),
            None => None,
        };
        let member = match &indent {
            Some(indent) => format!("{}{indent}{}", layout.newline, new.in_lines(layout, indent)),
            None => format!(" {}", new.compact()),
        };
        match comma {
            Some(_) => vec![Splice::insert(spot.at, &format!("{member},"))],
            None => vec![Splice::insert(last.end, ","), Splice::insert(spot.at, &member)],
        }
    }

    fn insert_only(&self, text: &str, layout: &Layout, base: &str, new: &NewMember<'_>) -> Vec<Splice> {
        let indent = format!("{base}{}", layout.unit);
        let newline = layout.newline;
        if self.blank(text).is_some() {
            let member = if layout.is_one_line {
                new.compact()
            } else {
                format!("{newline}{indent}{}{newline}{base}", new.in_lines(layout, &indent))
            };
            return vec![Splice::replace(self.inner.clone(), &member)];
        }
        let spot = same_line_end(text, self.inner.start, self.inner.end);
        let member = if text[self.inner.clone()].contains('\n') {
            format!("{newline}{indent}{}", new.in_lines(layout, &indent))
        } else {
            format!(" {}", new.compact())
        };
        vec![Splice::insert(spot.at, &member)]
    }

    /// Takes a member out, with the comma and the blanks that came with it: the inverse of `insert_last`.
    pub(super) fn remove(&self, text: &str, index: usize) -> Vec<Splice> {
        let Some(member) = self.members.get(index) else { return Vec::new() };
        let before = index.checked_sub(1).and_then(|index| self.members.get(index));
        let next = self.members.get(index + 1).map_or(self.inner.end, |next| next.start);
        let start = blanks_start(text, before.map_or(self.inner.start, |before| before.end), member.start);
        let comma_behind = find_comma(text, member.end..next);
        let comma_before = before.and_then(|before| find_comma(text, before.end..member.start));
        let mut splices = vec![Splice::replace(start..member.end, "")];
        match (comma_behind, comma_before) {
            (Some(comma), _) => {
                // The first of several in one line leaves no blank behind.
                let blank = usize::from(start == member.start && text[comma + 1..].starts_with(' '));
                splices.push(Splice::replace(comma..comma + 1 + blank, ""));
            }
            (None, Some(comma)) => splices.push(Splice::replace(comma..comma + 1, "")),
            (None, None) => {}
        }
        splices
    }
}

/// A place in the line of something, behind the comments that belong to it.
struct Spot {
    at: usize,
    after_line_comment: bool,
}

fn same_line_end(text: &str, from: usize, end: usize) -> Spot {
    let mut spot = Spot { at: from, after_line_comment: false };
    let mut at = from;
    while at < end {
        let rest = &text[at..end];
        match rest.as_bytes() {
            [b'/', ..] => {
                at += comment_length(rest);
                spot = Spot { at, after_line_comment: rest.starts_with("//") };
            }
            [b' ' | b'\t', ..] => at += 1,
            _ => break,
        }
    }
    spot
}

/// The comma between two members, or behind the last one; comments may hold others.
fn find_comma(text: &str, within: Range<usize>) -> Option<usize> {
    let mut at = within.start;
    while at < within.end {
        let rest = &text[at..within.end];
        match rest.chars().next()? {
            ',' => return Some(at),
            '/' => at += comment_length(rest),
            letter => at += letter.len_utf8(),
        }
    }
    None
}

/// How long the comment is that a text begins with; the line's end is not part of it.
fn comment_length(text: &str) -> usize {
    let length = if text.starts_with("/*") {
        text.find("*/").map(|end| end + 2)
    } else {
        text.find('\n').map(|end| if text[..end].ends_with('\r') { end - 1 } else { end })
    };
    length.unwrap_or(text.len()).max(1)
}

/// Where the blanks begin that were put before a member: the last line's end with what follows it, else one space.
fn blanks_start(text: &str, lowest: usize, member: usize) -> usize {
    let before = &text[lowest..member];
    let blanks = &before[before.trim_end().len()..];
    match blanks.rfind('\n') {
        Some(at) => {
            let length = blanks.len() - at + usize::from(blanks[..at].ends_with('\r'));
            member - length
        }
        None => member - usize::from(blanks.ends_with(' ')),
    }
}

/// The indentation of the line that holds an offset.
pub(super) fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The same, where nothing else stands before the offset in its line, and there is a line before it.
fn own_line_indent(text: &str, at: usize) -> Option<&str> {
    let start = text[..at].rfind('\n')? + 1;
    let before = &text[start..at];
    before.trim_matches([' ', '\t']).is_empty().then_some(before)
}
