//! Hooks of ours among those of others, in a file of JSON with comments.
//!
//! Ours are known by their command, so that they are found again wherever somebody moved them, and never doubled. What
//! was made besides the entries is noted (`MadeMembers`): it goes with them, and nothing else does.

use std::collections::{BTreeMap, BTreeSet};

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged;
use serde::{Deserialize, Serialize};

use super::json_text::{
    Container, JsonTextError, Layout, NewMember, find_property, line_indent, parse, split_mark, to_data,
};
use super::text::{Splice, TextPosition, apply_splices};

const HOOKS: &str = "hooks";
const VERSION: &str = "version";

/// More steps than any file needs: a mistake of ours must not run for ever.
const MAX_STEPS: usize = 10_000;

/// Everything that we made in a file besides our entries, so that exactly that is taken out with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeMembers {
    /// The file held no value, and this was put between its text and ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// JSON pointers of members that were not there.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub members: BTreeSet<String>,
    /// The blanks that stood in objects and arrays that were empty, by pointer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub blanks: BTreeMap<String, String>,
}

/// The hooks that an agent shall have in a file.
#[derive(Debug, Clone)]
pub(super) struct WantedEntries<'a> {
    pub(super) agent: &'a str,
    pub(super) file_version: Option<u32>,
    /// Event names with their entries.
    pub(super) entries: Vec<(&'a str, serde_json::Value)>,
}

/// The file with exactly the wanted entries of ours in it. A file that has them already stays as it is.
pub(super) fn put_entries(
    text: &str,
    wanted: &WantedEntries<'_>,
    made: &mut MadeMembers,
) -> Result<String, JsonTextError> {
    run_steps(text, |text| Document::parse(text)?.next_put_step(wanted, made))
}

/// The file without our entries, and without what was made for them and holds nothing else.
pub(super) fn remove_entries(text: &str, agent: &str, made: &MadeMembers) -> Result<String, JsonTextError> {
    run_steps(text, |text| Document::parse(text)?.next_removal_step(agent, made))
}

/// Changes a text step by step: each step sees what the one before has made.
fn run_steps(
    text: &str,
    mut next_step: impl FnMut(&str) -> Result<Option<Vec<Splice>>, JsonTextError>,
) -> Result<String, JsonTextError> {
    let (mark, text) = split_mark(text);
    let mut text = text.to_owned();
    for _ in 0..MAX_STEPS {
        match next_step(&text)? {
            Some(splices) => text = apply_splices(&text, splices),
            None => break,
        }
    }
    Ok(format!("{mark}{text}"))
}

/// Whether a command is ours: `<anything>carryover hook <agent> <event>`.
fn is_our_command(command: &str, agent: &str) -> bool {
    let mut words = command.trim().rsplitn(4, ' ');
    let (Some(_event), Some(named), Some("hook"), Some(program)) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return false;
    };
    let name = program.trim_end_matches(['\'', '"']).rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.trim_start_matches(['\'', '"']);
    named == agent && matches!(name.strip_suffix(".exe").unwrap_or(name), "carryover")
}

fn is_our_hook(value: &Value<'_>, agent: &str) -> bool {
    let command = value.as_object().and_then(|hook| hook.get_string("command"));
    command.is_some_and(|command| is_our_command(&command.value, agent))
}

/// An entry of ours in a file.
struct OurPlace {
    event: String,
    entry: usize,
    /// In a group with hooks of others: its place there.
    within: Option<usize>,
}

/// A file that was parsed.
struct Document<'t> {
    text: &'t str,
    root: Option<Value<'t>>,
    layout: Layout,
}

impl<'t> Document<'t> {
    fn parse(text: &'t str) -> Result<Self, JsonTextError> {
        let root = parse(text)?;
        let layout = Layout::detect(text, root.as_ref().and_then(Value::as_object));
        let document = Self { text, root, layout };
        if let Some(root) = &document.root
            && root.as_object().is_none()
        {
            return Err(JsonTextError::WrongRoot { at: TextPosition::in_text(text, root.range().start) });
        }
        if let Some(hooks) = document.hooks()? {
            for property in &hooks.properties {
                find_property(text, hooks, property.name.as_str())?;
            }
        }
        Ok(document)
    }

    fn wrong_shape(&self, value: &Value<'_>, key: &str, expected: &'static str) -> JsonTextError {
        let at = TextPosition::in_text(self.text, value.range().start);
        JsonTextError::WrongShape { at, key: key.to_owned(), expected }
    }

    fn root_object(&self) -> Option<&Object<'t>> {
        self.root.as_ref().and_then(Value::as_object)
    }

    fn root_property(&self, name: &str) -> Result<Option<&Value<'t>>, JsonTextError> {
        let Some(root) = self.root_object() else { return Ok(None) };
        Ok(find_property(self.text, root, name)?.map(|property| &property.value))
    }

    fn hooks(&self) -> Result<Option<&Object<'t>>, JsonTextError> {
        match self.root_property(HOOKS)? {
            None => Ok(None),
            Some(value) => value.as_object().map(Some).ok_or_else(|| self.wrong_shape(value, HOOKS, "an object")),
        }
    }

    /// The array of an event. What somebody else keeps under another event's name is not ours to judge.
    fn event_array(&self, event: &str) -> Result<Option<&Array<'t>>, JsonTextError> {
        let Some(hooks) = self.hooks()? else { return Ok(None) };
        match find_property(self.text, hooks, event)? {
            None => Ok(None),
            Some(property) => match property.value.as_array() {
                Some(array) => Ok(Some(array)),
                None => Err(self.wrong_shape(&property.value, event, "an array")),
            },
        }
    }

    fn our_places(&self, agent: &str) -> Vec<OurPlace> {
        let mut found = Vec::new();
        let Ok(Some(hooks)) = self.hooks() else { return found };
        for property in &hooks.properties {
            let Some(array) = property.value.as_array() else { continue };
            for (index, entry) in array.elements.iter().enumerate() {
                let place = |within| OurPlace { event: property.name.as_str().to_owned(), entry: index, within };
                let group = entry.as_object().and_then(|entry| entry.get_array(HOOKS));
                let ours = |hook: &&Value<'_>| is_our_hook(hook, agent);
                match group {
                    _ if is_our_hook(entry, agent) => found.push(place(None)),
                    Some(group) if !group.elements.is_empty() && group.elements.iter().all(|hook| ours(&hook)) => {
                        found.push(place(None));
                    }
                    Some(group) => {
                        let positions = group.elements.iter().enumerate().filter(|(_, hook)| ours(hook));
                        found.extend(positions.map(|(within, _)| place(Some(within))));
                    }
                    None => {}
                }
            }
        }
        found
    }

    fn next_put_step(
        &self,
        wanted: &WantedEntries<'_>,
        made: &mut MadeMembers,
    ) -> Result<Option<Vec<Splice>>, JsonTextError> {
        let Some(root) = &self.root else { return Ok(Some(self.append_root(made))) };
        if let Some(splices) = self.put_version(root, wanted, made)? {
            return Ok(Some(splices));
        }
        let empty = serde_json::json!({});
        let Some(hooks) = self.root_property(HOOKS)? else {
            return Ok(self.insert_member(root, "", Some(HOOKS), &empty, made));
        };
        let places = self.our_places(wanted.agent);
        let is_surplus = |index: &usize| {
            let place = &places[*index];
            let is_wanted = wanted.entries.iter().any(|(event, _)| *event == place.event);
            !is_wanted || places[..*index].iter().any(|earlier| earlier.event == place.event)
        };
        if let Some(index) = (0..places.len()).find(is_surplus) {
            return self.remove_place(&places[index]);
        }
        for (event, entry) in &wanted.entries {
            let Some(array) = self.event_array(event)? else {
                return Ok(self.insert_member(hooks, "/hooks", Some(event), &serde_json::json!([]), made));
            };
            let place = places.iter().find(|place| place.event == *event);
            let step = match place {
                None => self.insert_entry(hooks, event, entry, made),
                Some(place) => self.replace_entry(array, place, entry),
            };
            if step.is_some() {
                return Ok(step);
            }
        }
        let is_wanted = |event: &str| wanted.entries.iter().any(|(wanted, _)| *wanted == event);
        self.tidy_events(made, is_wanted)
    }

    /// A file without a value gets an object.
    fn append_root(&self, made: &mut MadeMembers) -> Vec<Splice> {
        let newline = self.layout.newline();
        let is_own_line = self.text.trim().is_empty() || self.text.ends_with('\n');
        let before = if is_own_line { "" } else { newline };
        made.root = Some(before.to_owned());
        vec![Splice::insert(self.text.len(), &format!("{before}{{}}{newline}"))]
    }

    /// The version that a file of hooks begins with, where there are no hooks in it yet.
    fn put_version(
        &self,
        root: &Value<'t>,
        wanted: &WantedEntries<'_>,
        made: &mut MadeMembers,
    ) -> Result<Option<Vec<Splice>>, JsonTextError> {
        let Some(known) = wanted.file_version else { return Ok(None) };
        if let Some(value) = self.root_property(VERSION)? {
            let found = to_data(value);
            if found == serde_json::json!(known) {
                return Ok(None);
            }
            let at = TextPosition::in_text(self.text, value.range().start);
            // Whatever stands there, it is short.
            let found = found.to_string().chars().take(20).collect();
            return Err(JsonTextError::UnknownVersion { at, found, known });
        }
        if self.hooks()?.is_some_and(|hooks| !hooks.properties.is_empty()) {
            return Ok(None);
        }
        Ok(self.insert_member(root, "", Some(VERSION), &serde_json::json!(known), made))
    }

    /// Puts a member into a container, and notes that it is ours and what was there before.
    fn insert_member(
        &self,
        into: &Value<'t>,
        pointer: &str,
        name: Option<&str>,
        value: &serde_json::Value,
        made: &mut MadeMembers,
    ) -> Option<Vec<Splice>> {
        let container = Container::from_value(into)?;
        let is_ours = if pointer.is_empty() { made.root.is_some() } else { made.members.contains(pointer) };
        if let Some(blank) = container.blank(self.text).filter(|_| !is_ours) {
            made.blanks.entry(pointer.to_owned()).or_insert_with(|| blank.to_owned());
        }
        if let Some(name) = name {
            made.members.insert(format!("{pointer}/{}", escape_pointer(name)));
        }
        Some(container.insert_last(self.text, &self.layout, &NewMember { name, value }))
    }

    fn insert_entry(
        &self,
        hooks: &Value<'t>,
        event: &str,
        entry: &serde_json::Value,
        made: &mut MadeMembers,
    ) -> Option<Vec<Splice>> {
        let array = &hooks.as_object()?.get(event)?.value;
        self.insert_member(array, &event_pointer(event), None, entry, made)
    }

    /// Writes an entry anew that is not as it is wanted.
    fn replace_entry(&self, array: &Array<'t>, place: &OurPlace, wanted: &serde_json::Value) -> Option<Vec<Splice>> {
        let entry = array.elements.get(place.entry)?;
        let (old, value) = match place.within {
            None => (entry, wanted),
            Some(within) => (entry.as_object()?.get_array(HOOKS)?.elements.get(within)?, wanted.pointer("/hooks/0")?),
        };
        if to_data(old) == *value {
            return None;
        }
        let range = old.range().start..old.range().end;
        let indent = line_indent(self.text, range.start);
        let text = NewMember { name: None, value }.in_place_of(&self.text[range.clone()], &self.layout, indent);
        Some(vec![Splice::replace(range, &text)])
    }

    fn remove_place(&self, place: &OurPlace) -> Result<Option<Vec<Splice>>, JsonTextError> {
        let Some(array) = self.event_array(&place.event)? else { return Ok(None) };
        let group = array.elements.get(place.entry).and_then(|entry| entry.as_object()?.get(HOOKS));
        let container = match (place.within, group) {
            (Some(_), Some(group)) => Container::from_value(&group.value),
            _ => Container::from_value(&Value::Array(array.clone())),
        };
        Ok(container.map(|container| container.remove(self.text, place.within.unwrap_or(place.entry))))
    }

    fn next_removal_step(&self, agent: &str, made: &MadeMembers) -> Result<Option<Vec<Splice>>, JsonTextError> {
        let Some(root) = &self.root else { return Ok(None) };
        if let Some(place) = self.our_places(agent).first() {
            return self.remove_place(place);
        }
        if let Some(splices) = self.tidy_events(made, |_| false)? {
            return Ok(Some(splices));
        }
        let hooks = self.hooks()?;
        let is_empty = hooks.is_none_or(|hooks| hooks.properties.is_empty());
        for (name, pointer) in [(HOOKS, "/hooks"), (VERSION, "/version")] {
            if is_empty && made.members.contains(pointer) && self.root_property(name)?.is_some() {
                return Ok(remove_property(self.text, root, name));
            }
        }
        if let Some(hooks) = self.root_property(HOOKS)?
            && let Some(splices) = restore_blank(self.text, hooks, "/hooks", made)
        {
            return Ok(Some(splices));
        }
        match &made.root {
            Some(before) if Container::from_value(root).is_some_and(|root| root.blank(self.text).is_some()) => {
                Ok(Some(self.remove_root(root, before)))
            }
            _ => Ok(restore_blank(self.text, root, "", made)),
        }
    }

    /// Takes out events that were made for us and are empty now, and gives others their blanks back.
    fn tidy_events(
        &self,
        made: &MadeMembers,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Vec<Splice>>, JsonTextError> {
        let (Some(hooks), Some(value)) = (self.hooks()?, self.root_property(HOOKS)?) else { return Ok(None) };
        for property in &hooks.properties {
            let event = property.name.as_str();
            let pointer = event_pointer(event);
            let is_empty = property.value.as_array().is_some_and(|array| array.elements.is_empty());
            if !is_empty || is_wanted(event) {
                continue;
            }
            let step = if made.members.contains(&pointer) {
                remove_property(self.text, value, event)
            } else {
                restore_blank(self.text, &property.value, &pointer, made)
            };
            if step.is_some() {
                return Ok(step);
            }
        }
        Ok(None)
    }

    fn remove_root(&self, root: &Value<'t>, before: &str) -> Vec<Splice> {
        let range = root.range();
        let is_spaced = self.text[..range.start].ends_with(before);
        let start = range.start - if is_spaced { before.len() } else { 0 };
        let newline = self.layout.newline();
        let end = range.end + if self.text[range.end..].starts_with(newline) { newline.len() } else { 0 };
        vec![Splice::replace(start..end, "")]
    }
}

fn event_pointer(event: &str) -> String {
    format!("/hooks/{}", escape_pointer(event))
}

fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn remove_property(text: &str, object: &Value<'_>, name: &str) -> Option<Vec<Splice>> {
    let index = object.as_object()?.properties.iter().position(|property| property.name.as_str() == name)?;
    Some(Container::from_value(object)?.remove(text, index))
}

/// Gives an empty container the blanks that it had before us.
fn restore_blank(text: &str, value: &Value<'_>, pointer: &str, made: &MadeMembers) -> Option<Vec<Splice>> {
    let before = made.blanks.get(pointer)?;
    let container = Container::from_value(value)?;
    let blank = container.blank(text)?;
    (blank != before).then(|| container.restore_blank(before))
}

#[cfg(test)]
mod tests;
