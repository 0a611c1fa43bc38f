//! The log of changes in which the editor keeps a session: each line changes one object, which is the session.
//!
//! What is not gone into by any change stays the text that it is, so that a long log costs little more than its bytes.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::formats::jsonl::{self, Line, NOT_AN_OBJECT};

/// The editor's own paths have six steps at most; a longer one is nobody's.
const MAX_STEPS: usize = 32;

const NOT_THERE: &str = "a change of something that is not there";
const NO_STATE: &str = "a change before there is a session";

/// A value as far as changes have gone into it.
#[derive(Debug)]
pub(super) enum Tree {
    /// Nothing of it was changed.
    Text(Box<str>),
    Object(BTreeMap<String, Self>),
    Array(Vec<Self>),
}

/// One line of a log.
#[derive(Debug)]
pub(super) enum Change {
    /// The object as a whole.
    State(Box<str>),
    Set {
        path: Vec<Step>,
        value: Option<Box<str>>,
    },
    /// The list is cut to a length where one is named, and then has more at its end.
    Push {
        path: Vec<Step>,
        values: Vec<Box<str>>,
        cut_to: Option<u64>,
    },
    /// Of a kind that we do not know.
    Unknown(Box<str>),
    Rejected(&'static str),
}

/// One step of a path.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Step {
    Index(u64),
    Name(String),
}

#[derive(Deserialize)]
struct WireChange<'a> {
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    k: Option<Vec<Step>>,
    #[serde(borrow, default, deserialize_with = "value_or_null")]
    v: Option<&'a RawValue>,
    i: Option<u64>,
}

/// A value that is told as nothing is another matter than one that is not told.
fn value_or_null<'de: 'a, 'a, D: serde::Deserializer<'de>>(from: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Reads a line. `None`: it ends without a line feed and may still be growing.
pub(super) fn parse_change(line: Line<'_>) -> Option<Change> {
    if line.is_too_long() {
        return Some(Change::Rejected("the record is longer than 64 MiB"));
    }
    match jsonl::parse_record::<WireChange<'_>>(line.bytes) {
        Ok(change) => Some(change.into_change().unwrap_or_else(Change::Rejected)),
        Err(_) if line.unterminated => None,
        Err(_) => Some(Change::Rejected(NOT_AN_OBJECT)),
    }
}

impl WireChange<'_> {
    fn into_change(self) -> Result<Change, &'static str> {
        let value = self.v.map(|value| value.get().into());
        let path = self.k.unwrap_or_default();
        match self.kind.map_or("", RawValue::get) {
            "0" => value.map(Change::State).ok_or(NO_STATE),
            _ if path.len() > MAX_STEPS => Err(NOT_THERE),
            "1" => Ok(Change::Set { path, value }),
            "2" => Ok(Change::Push { path, values: self.v.map_or(Ok(Vec::new()), parse_list)?, cut_to: self.i }),
            "3" => Ok(Change::Set { path, value: None }),
            kind => Ok(Change::Unknown(kind.trim_matches('"').into())),
        }
    }
}

fn parse_list(values: &RawValue) -> Result<Vec<Box<str>>, &'static str> {
    let values: Vec<&RawValue> = serde_json::from_str(values.get()).map_err(|_| NOT_THERE)?;
    Ok(values.into_iter().map(|value| value.get().into()).collect())
}

/// Makes a change; `Err` where it cannot be made, and nothing is changed.
pub(super) fn apply_change(state: &mut Option<Tree>, change: Change) -> Result<(), &'static str> {
    match change {
        Change::Rejected(reason) => Err(reason),
        Change::Unknown(_) => Ok(()),
        Change::State(text) => {
            *state = Some(Tree::Text(text));
            Ok(())
        }
        Change::Set { path, value } => {
            let root = state.as_mut().ok_or(NO_STATE)?;
            // The editor leaves the object as it is, where there is no way into it.
            let Some((last, way)) = path.split_last() else { return Ok(()) };
            root.follow(way)?.set(last, value.map(Tree::Text))
        }
        Change::Push { path, values, cut_to } => {
            let root = state.as_mut().ok_or(NO_STATE)?;
            let (last, way) = path.split_last().ok_or(NOT_THERE)?;
            root.follow(way)?.push(last, values, cut_to)
        }
    }
}

impl Tree {
    /// The value at the end of a way.
    fn follow(&mut self, way: &[Step]) -> Result<&mut Self, &'static str> {
        way.iter().try_fold(self, |tree, step| tree.child(step).ok_or(NOT_THERE))
    }

    fn child(&mut self, step: &Step) -> Option<&mut Self> {
        self.open();
        match self {
            Self::Object(fields) => fields.get_mut(&step.as_name()),
            Self::Array(items) => items.get_mut(step.as_index()?),
            Self::Text(_) => None,
        }
    }

    /// Goes into a value that was text so far.
    pub(super) fn open(&mut self) {
        let Self::Text(text) = self else { return };
        let leaf = |value: &RawValue| Self::Text(value.get().into());
        if let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(text) {
            *self = Self::Object(fields.into_iter().map(|(name, value)| (name, leaf(value))).collect());
        } else if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(text) {
            *self = Self::Array(items.into_iter().map(leaf).collect());
        }
    }

    fn set(&mut self, step: &Step, value: Option<Self>) -> Result<(), &'static str> {
        self.open();
        match (self, value) {
            (Self::Object(fields), Some(value)) => drop(fields.insert(step.as_name(), value)),
            (Self::Object(fields), None) => drop(fields.remove(&step.as_name())),
            (Self::Array(items), value) => {
                let index = step.as_index().filter(|index| *index <= items.len()).ok_or(NOT_THERE)?;
                let value = value.unwrap_or_else(|| Self::Text("null".into()));
                match items.get_mut(index) {
                    Some(item) => *item = value,
                    None => items.push(value),
                }
            }
            (Self::Text(_), _) => return Err(NOT_THERE),
        }
        Ok(())
    }

    fn push(&mut self, step: &Step, values: Vec<Box<str>>, cut_to: Option<u64>) -> Result<(), &'static str> {
        if self.child(step).is_none_or(|list| matches!(list, Self::Text(text) if &**text == "null")) {
            self.set(step, Some(Self::Array(Vec::new())))?;
        }
        let list = self.child(step).ok_or(NOT_THERE)?;
        list.open();
        let Self::Array(items) = list else { return Err(NOT_THERE) };
        if let Some(length) = cut_to {
            let length = usize::try_from(length).ok().filter(|length| *length <= items.len()).ok_or(NOT_THERE)?;
            items.truncate(length);
        }
        items.extend(values.into_iter().map(Self::Text));
        Ok(())
    }

    /// The value as JSON.
    pub(super) fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    item.write_json(out);
                }
                out.push(']');
            }
            Self::Object(fields) => {
                out.push('{');
                for (index, (name, value)) in fields.iter().enumerate() {
                    out.push_str(if index > 0 { "," } else { "" });
                    out.push_str(&serde_json::Value::from(name.as_str()).to_string());
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }
}

impl Step {
    fn as_name(&self) -> String {
        match self {
            Self::Index(index) => index.to_string(),
            Self::Name(name) => name.clone(),
        }
    }

    fn as_index(&self) -> Option<usize> {
        match self {
            Self::Index(index) => usize::try_from(*index).ok(),
            Self::Name(name) => name.parse().ok(),
        }
    }
}
