//! The replacements of an edit, read from the input of its call: `old…` beside `new…`, under whichever endings.

use serde_json::{Map, Value};

use crate::json::Json;
use crate::transcript::{Action, Change, Hunk};

/// Gives an edit the replacements of its input where its meaning has none: agents tell the whole lines of a change
/// with its outcome only, and parts of lines are enough to know what was touched.
pub fn with_replacements(mut action: Action, input: &Json) -> Action {
    if let Action::Edit(changes) = &mut action
        && let [Change::Update { hunks, .. }] = changes.as_mut_slice()
        && hunks.is_empty()
    {
        collect_hunks(&input.to_value(), 0, hunks);
    }
    action
}

fn collect_hunks(value: &Value, depth: usize, hunks: &mut Vec<Hunk>) {
    match value {
        Value::Object(fields) => {
            hunks.extend(read_replacement(fields));
            for field in fields.values().filter(|_| depth < 3) {
                collect_hunks(field, depth + 1, hunks);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_hunks(value, depth + 1, hunks)),
        _ => {}
    }
}

fn read_replacement(fields: &Map<String, Value>) -> Option<Hunk> {
    let side = |start: &str| {
        let mut named = fields.iter().filter(|(name, _)| name.starts_with(start) && !name.contains("path"));
        named.find_map(|(_, value)| value.as_str()).map(str::to_owned)
    };
    Some(Hunk { context: None, old: side("old")?, new: side("new")?, everywhere: false })
}
