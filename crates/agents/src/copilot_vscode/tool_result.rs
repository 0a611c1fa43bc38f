//! What a tool gave back to the model: texts, images, and trees of text that the extension renders.

use carryover_core::transcript::{Blob, BlobLocation, Part};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::wire::parse_leniently;

#[derive(Deserialize)]
struct WireToolResult {
    #[serde(default)]
    content: Vec<WireContent>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireContent {
    #[serde(default)]
    value: Value,
    #[serde(default)]
    mime_type: Option<String>,
    #[serde(default)]
    data: Value,
}

/// The kinds of nodes in a rendered tree.
const TEXT_NODE: u64 = 2;

/// When a piece of text begins a line of its own.
const ALWAYS_ON_NEW_LINE: u64 = 1;
const NEW_LINE_UNLESS_BEHIND_TEXT: u64 = 2;

/// The parts of what was given back.
pub(super) fn read_parts(result: &RawValue) -> Vec<Part> {
    let Some(result) = parse_leniently::<WireToolResult>(result.get()) else { return Vec::new() };
    let mut parts: Vec<Part> = Vec::new();
    for content in result.content {
        match (content.value, content.mime_type) {
            (Value::String(text), _) => parts.push(Part::Text(text)),
            (tree @ Value::Object(_), _) => parts.extend(render_tree(&tree)),
            (_, Some(media_type)) => parts.extend(read_data(media_type, &content.data)),
            _ => {}
        }
    }
    parts
}

/// Bytes stand as Base64 in newer sessions.
fn read_data(media_type: String, data: &Value) -> Option<Part> {
    let base64 = data.as_str().or_else(|| data["$base64"].as_str())?;
    let location = BlobLocation::Inline(base64.into());
    Some(Part::Blob(Blob { media_type, name: None, location }))
}

/// The text of a tree.
fn render_tree(tree: &Value) -> Option<Part> {
    let mut text = String::new();
    write_node(&tree["node"], false, &mut text);
    (!text.is_empty()).then_some(Part::Text(text))
}

/// Writes a node; whether it was text. The parser bounds how deep trees are.
fn write_node(node: &Value, is_behind_text: bool, out: &mut String) -> bool {
    if node["type"].as_u64() == Some(TEXT_NODE) {
        let begins_line = match node["lineBreakBefore"].as_u64() {
            Some(ALWAYS_ON_NEW_LINE) => true,
            Some(NEW_LINE_UNLESS_BEHIND_TEXT) => !is_behind_text,
            // Older trees say yes or no.
            _ => node["lineBreakBefore"] == Value::Bool(true),
        };
        if begins_line && !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        out.push_str(node["text"].as_str().unwrap_or_default());
        return true;
    }
    let mut is_behind_text = false;
    for child in node["children"].as_array().into_iter().flatten() {
        is_behind_text = write_node(child, is_behind_text, out);
    }
    false
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::text_of;
    use serde_json::json;

    use super::*;

    fn parts(result: &Value) -> Vec<Part> {
        read_parts(&serde_json::value::to_raw_value(result).unwrap())
    }

    #[test]
    fn a_rendered_tree_is_its_text() {
        let leaf = |text: &str, line: u64| json!({ "type": 2, "text": text, "lineBreakBefore": line });
        let inner = json!({ "type": 1, "ctor": 2, "children": [leaf("two", 2), leaf(" and more", 2)] });
        let tree = json!({ "node": { "type": 1, "ctor": 1, "children": [leaf("one", 0), inner, leaf("three", 1)] } });
        let found = parts(&json!({ "content": [{ "value": tree }] }));
        assert_eq!(text_of(&found), "one\ntwo and more\nthree");
    }

    #[test]
    fn images_are_kept_and_what_is_nothing_is_not() {
        let image = json!({ "mimeType": "image/png", "data": { "$base64": "aGk=" } });
        let found = parts(&json!({ "$mid": 20, "content": [{ "value": "a" }, image, { "value": 7 }] }));
        assert!(matches!(&found[..], [Part::Text(_), Part::Blob(blob)] if blob.is_image()));
        assert_eq!(parts(&json!("no")), []);
    }
}
