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

    /// Moves paths in the midst of text, in every string: for what a client itself said of the place it is in.
    pub fn move_words(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.move_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.move_words(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.move_words(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn move_text(&self, text: &str) -> String {
        let mut moved = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find(self.old) {
            let (before, after) = (&rest[..at], &rest[at + self.old.len()..]);
            let is_whole = !before.ends_with(is_name_char) && !goes_on(after);
            moved.extend([before, if is_whole { self.new } else { self.old }]);
            rest = after;
        }
        moved + rest
    }

    /// The same for JSON text, which keeps every byte where nothing moves.
    pub fn move_json(&self, json: &Json) -> Json {
        let mut value = json.to_value();
        let before = value.clone();
        self.move_value(&mut value);
        if value == before { json.clone() } else { Json::from_value(&value) }
    }
}

fn is_name_char(letter: char) -> bool {
    letter.is_alphanumeric() || "-_.~/".contains(letter)
}

/// Whether the last name of a path goes on in the text behind it; a full stop may end a sentence.
fn goes_on(after: &str) -> bool {
    let mut letters = after.trim_start_matches('.').chars();
    letters.next().is_some_and(|letter| letter.is_alphanumeric() || "-_~".contains(letter))
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

    #[test]
    fn words_of_a_client_move_where_a_whole_path_stands() {
        let relocation = Relocation { old: "/old/repo", new: "/new" };
        let cases = [
            ("Folder: /old/repo\n", "Folder: /new\n"),
            ("`/old/repo/a.rs` and /old/repo.", "`/new/a.rs` and /new."),
            ("/old/repo.bak, /old/repository, /old/repo-2", "/old/repo.bak, /old/repository, /old/repo-2"),
            ("/very/old/repo, ./old/repo", "/very/old/repo, ./old/repo"),
        ];
        for (text, expected) in cases {
            assert_eq!(relocation.move_text(text), expected);
        }
    }
}
