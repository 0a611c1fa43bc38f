//! What a call is to do, the same for a thing that is tried again in the same way.

use std::borrow::Cow;
use std::fmt;

use super::shell::Line;
use crate::transcript::{Action, Change};

/// Compared more often than told, so its words are not put together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Aim<'a> {
    verb: &'static str,
    /// What it is done to; of a command, its essence.
    pub(super) object: Cow<'a, str>,
}

impl<'a> Aim<'a> {
    /// What a call of a tool is to do; where it runs commands, by the line that it runs.
    pub(super) fn of(tool: &'a str, action: &'a Action, line: Option<&Line<'a>>) -> Self {
        match action {
            Action::Write { path, .. } => Self::change(path),
            Action::Edit(changes) => match changes.as_slice() {
                [change] => Self::change(change.path()),
                changes => {
                    let paths: Vec<&str> = changes.iter().map(Change::path).collect();
                    Self { object: paths.join(" ").into(), ..Self::change("") }
                }
            },
            Action::Other | Action::Step(_) => Self { verb: "other", object: tool.into() },
            action => Self { verb: action.kind(), object: line.map_or_else(|| action.subject(), Line::essence) },
        }
    }

    /// The same, for as long as this one is there.
    pub(super) fn borrowed(&self) -> Aim<'_> {
        Aim { verb: self.verb, object: Cow::Borrowed(&self.object) }
    }

    /// To change a file.
    pub(super) fn change(path: &'a str) -> Self {
        Self { verb: "change", object: path.into() }
    }
}

impl fmt::Display for Aim<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.verb, self.object)
    }
}
