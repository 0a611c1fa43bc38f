//! Requests without what must differ between two homes: paths, ids, times.

use std::path::Path;
use std::sync::LazyLock;

use carryover_testkit::client::Sandbox;
use regex::Regex;
use serde_json::Value;

/// Texts that differ from run to run, and what stands for them.
static VARYING: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let patterns = [
        (r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "[ID]"),
        (r"[0-9a-f]{32,}", "[HASH]"),
        (r"\b(ses|msg|prt)_[0-9A-Za-z]{16,}", "[ID]"),
        (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?Z?", "[TIME]"),
        // By the minute, where a client puts it before a prompt.
        (r"\d{4}-\d{2}-\d{2} \d{2}:\d{2} UTC", "[TIME]"),
        (r"\b\d{2}:\d{2}:\d{2}\b", "[TIME]"),
        (r"\b1[78]\d{11}\b", "[TIME]"),
        (r"127\.0\.0\.1:\d+", "[MODEL]"),
        (r"Wall time: [0-9.]+ seconds", "[DURATION]"),
        (r"Process Group PGID: \d+", "[PROCESS]"),
        (r"Chunk ID: [0-9a-f]+", "[ID]"),
    ];
    // They are constants, which a test compiles.
    patterns.into_iter().filter_map(|(pattern, mark)| Some((Regex::new(pattern).ok()?, mark))).collect()
});

/// The paths of homes that are taken for one and the same.
pub(super) struct Places {
    replacements: Vec<(String, &'static str)>,
}

impl Places {
    pub(super) fn new(sandboxes: &[&Sandbox]) -> Self {
        let mut replacements = Vec::new();
        for Sandbox { home, project } in sandboxes {
            for (path, mark) in [(project, "[PROJECT]"), (home, "[HOME]")] {
                replacements.extend([(path.display().to_string(), mark), (slug(path), mark)]);
            }
            replacements.push((relative_path(project, home), "[HOME]"));
        }
        Self { replacements }
    }

    /// A request in which paths, ids and times have marks in their stead.
    pub(super) fn normalise(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.normalise_text(text)),
            Value::Array(items) => items.iter().map(|item| self.normalise(item)).collect(),
            Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), self.normalise(value))).collect(),
            other => other.clone(),
        }
    }

    fn normalise_text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (place, mark) in &self.replacements {
            text = text.replace(place, mark);
        }
        for (pattern, mark) in VARYING.iter() {
            text = pattern.replace_all(&text, *mark).into_owned();
        }
        text
    }
}

/// A path as a folder's name, as several clients make it.
fn slug(path: &Path) -> String {
    path.display().to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// The way from one folder to another, as one client names its home from a project.
fn relative_path(from: &Path, to: &Path) -> String {
    let n_shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(n_shared).map(|_| "..".to_owned());
    let down = to.components().skip(n_shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}

/// Where two requests differ first, and how.
pub(super) fn first_difference(one: &Value, other: &Value) -> Option<String> {
    find_difference(one, other, &mut String::new())
}

fn find_difference(one: &Value, other: &Value, at: &mut String) -> Option<String> {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            let names = a.keys().chain(b.keys().filter(|name| !a.contains_key(*name)));
            names.into_iter().find_map(|name| differ_at(&one[name.as_str()], &other[name.as_str()], at, name))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(index, (a, b))| differ_at(a, b, at, &index.to_string()))
        }
        _ if one == other => None,
        _ => Some(format!("{at}: {} / {}", excerpt(one, other), excerpt(other, one))),
    }
}

fn differ_at(one: &Value, other: &Value, at: &mut String, name: &str) -> Option<String> {
    let length = at.len();
    at.extend(["/", name]);
    let found = find_difference(one, other, at);
    at.truncate(length);
    found
}

/// The text around the place where it begins to differ.
fn excerpt(value: &Value, other: &Value) -> String {
    const AROUND: usize = 60;
    let (text, other) = (value.to_string(), other.to_string());
    let same = text.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    text.chars().skip(same.saturating_sub(AROUND)).take(2 * AROUND).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(name: &str) -> Places {
        let root = Path::new("/tmp").join(name);
        Places::new(&[&Sandbox { home: root.join("home"), project: root.join("project") }])
    }

    #[test]
    fn paths_ids_and_times_are_no_difference() {
        let request = |name: &str, id: &str, time: &str| {
            json!({"messages": [{"content": format!("in /tmp/{name}/project at {time}, ~ is /tmp/{name}/home")}],
                "metadata": {"session": id, "folder": format!("-tmp-{name}-project")}})
        };
        let one = request("a", "5f0c1e6a-2b7d-4c3e-9a41-0d6b8e2f7c15", "2026-11-18T10:00:00.123Z");
        let other = request("bc", "00000000-0000-4000-8000-000000000000", "2026-11-18T11:22:33Z");
        assert_eq!(first_difference(&places("a").normalise(&one), &places("bc").normalise(&other)), None);
        assert_eq!(VARYING.len(), 11);
    }

    #[test]
    fn a_home_may_be_named_from_the_project() {
        assert_eq!(relative_path(Path::new("/a/b/project"), Path::new("/a/b/home")), "../home");
        assert_eq!(relative_path(Path::new("/a/b/project"), Path::new("/a/c/home")), "../../c/home");
    }

    #[test]
    fn the_first_difference_is_told_with_its_place() {
        let one = json!({"a": [1, {"b": "same words, then this"}]});
        let other = json!({"a": [1, {"b": "same words, then that"}]});
        let told = first_difference(&one, &other).unwrap();
        assert!(told.starts_with("/a/1/b: ") && told.contains("this") && told.contains("that"), "{told}");
        assert!(first_difference(&json!({"a": 1}), &json!({"a": 1, "b": 2})).unwrap().starts_with("/b: "));
        assert!(first_difference(&json!([1]), &json!([1, 2])).is_some());
    }
}
