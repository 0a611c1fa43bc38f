//! Moving a session's paths when its project moves.

use carryover_core::json::Json;
use serde_json::Value;

/// Where a project was and where it is now.
#[derive(Debug, Clone, Copy)]
pub struct Relocation<'a> {
    pub old: &'a str,
    pub new: &'a str,
}

impl Relocation<'_> {
    /// The path in its new place, if it lies in the old one.
    pub fn move_path(&self, path: &str) -> Option<String> {
        let rest = path.strip_prefix(self.old)?;
        let inside = rest.is_empty() || rest.starts_with(['/', '\\']);
        inside.then(|| format!("{}{rest}", self.new))
    }

    /// Moves every string that is a path below the old project; prose that mentions one stays as it was said.
    pub fn move_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(moved) = self.move_path(text) {
                    *text = moved;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.move_value(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.move_value(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The same for JSON text, which keeps every byte where nothing moves.
    pub fn move_json(&self, json: &Json) -> Json {
        let mut value = json.to_value();
        let before = value.clone();
        self.move_value(&mut value);
        if value == before { json.clone() } else { Json::from_value(&value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_move_and_prose_stays() {
        let relocation = Relocation { old: "/old/repo", new: "/new" };
        let json =
            Json::parse(r#"{"file_path":"/old/repo/a.rs","text":"see /old/repo/a.rs","near":"/old/repository"}"#)
                .unwrap();
        let moved = relocation.move_json(&json);
        assert_eq!(moved.as_str(), r#"{"file_path":"/new/a.rs","text":"see /old/repo/a.rs","near":"/old/repository"}"#);
    }
}
