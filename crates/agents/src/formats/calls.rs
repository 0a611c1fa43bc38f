//! Calls of a session in the making: under which name and tool each was written, so that its outcome finds it.

use std::collections::BTreeMap;

use carryover_core::transcript::{Call, CallId};
use serde_json::Value;

use super::ids::{UniqueNames, clean_name};
use super::relocate::Relocation;
use super::translation::{NativeCall, ProjectDirs, wrap_input};

/// The id and the tool under which a call was written.
#[derive(Debug, Clone, Default)]
pub(crate) struct WrittenCall {
    pub id: String,
    pub tool: String,
}

/// Spells calls and keeps their names straight.
pub(crate) struct CallWriter<'a> {
    project: &'a str,
    moves: Option<Relocation<'a>>,
    /// Longer names of tools and calls are refused by the APIs behind the client.
    longest_name: usize,
    names: UniqueNames,
    written: BTreeMap<CallId, WrittenCall>,
    /// How many were spelt in the client's own tools.
    pub translated: usize,
}

impl<'a> CallWriter<'a> {
    pub(crate) fn new(project: &'a str, moves: Option<Relocation<'a>>, longest_name: usize) -> Self {
        Self { project, moves, longest_name, names: UniqueNames::default(), written: BTreeMap::new(), translated: 0 }
    }

    pub(crate) fn project_dirs(&self) -> ProjectDirs<'a> {
        ProjectDirs::new(self.project, self.moves)
    }

    /// A call with its input, in the client's own tools where it could be spelt in them.
    pub(crate) fn write_call(&mut self, call: &Call, own: Option<NativeCall>) -> (WrittenCall, Value) {
        self.translated += usize::from(own.is_some());
        let (tool, input) = translate_call(call, own, self.longest_name, self.moves);
        let written = WrittenCall { id: self.names.make_unique(&call.id.0, self.longest_name), tool };
        self.written.insert(call.id.clone(), written.clone());
        (written, input)
    }

    /// Takes note of a call in a record that is written back as it was: it keeps its name, which no other gets.
    pub(crate) fn note_call(&mut self, id: &str, tool: &str) {
        self.names.make_unique(id, usize::MAX);
        self.written.insert(CallId(id.into()), WrittenCall { id: id.to_owned(), tool: tool.to_owned() });
    }

    /// The same for a call that is given another name where its own is taken or refused.
    pub(crate) fn rename_call(&mut self, id: &str, tool: &str) -> String {
        let name = self.names.make_unique(id, self.longest_name);
        self.written.insert(CallId(id.into()), WrittenCall { id: name.clone(), tool: tool.to_owned() });
        name
    }

    pub(crate) fn move_paths(&self, input: &mut Value) {
        if let Some(moves) = self.moves {
            moves.move_value(input);
        }
    }

    pub(crate) fn find_call(&self, call: &CallId) -> Option<&WrittenCall> {
        self.written.get(call)
    }
}

/// The tool of a call and its input, whose paths are moved.
pub(crate) fn translate_call(
    call: &Call,
    own: Option<NativeCall>,
    longest_name: usize,
    moves: Option<Relocation<'_>>,
) -> (String, Value) {
    let (tool, mut input) = match own {
        Some(own) => (own.tool.to_owned(), own.input),
        None => (clean_name(&call.tool, longest_name), wrap_input(&call.input)),
    };
    if let Some(moves) = moves {
        moves.move_value(&mut input);
    }
    (tool, input)
}
