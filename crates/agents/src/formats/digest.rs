//! Digests of what a client told its model: the words of vendors are compared, and not carried about.

use carryover_core::transcript::{OfferedTool, TextDigest};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The members of a declaration that hold the form of a tool's input, by the services that take them.
const SCHEMA_FIELDS: &[&str] = &["input_schema", "parameters", "parametersJsonSchema", "format"];

/// SHA-256 of bytes in hexadecimal digits.
pub fn hex_sha256(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        // Into memory, where nothing fails.
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// A text by its digest.
pub fn digest_text(text: &str) -> TextDigest {
    TextDigest { bytes: text.len() as u64, sha256: hex_sha256(text.as_bytes()) }
}

/// The texts before a conversation by one digest, whoever has split them.
pub fn digest_prompt<T: AsRef<str>>(texts: &[T]) -> Option<TextDigest> {
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    (!texts.is_empty()).then(|| digest_text(&texts.join("\n\n")))
}

/// A tool by its name and a digest of the form of its input; of all of its declaration where it has none.
pub fn digest_tool(declaration: &Value) -> OfferedTool {
    let inner = declaration.get("function").filter(|inner| inner.is_object()).unwrap_or(declaration);
    let schema = SCHEMA_FIELDS.iter().find_map(|name| inner.get(name)).unwrap_or(declaration);
    OfferedTool { name: tool_name(declaration, inner), schema_sha256: Some(digest_json(schema)) }
}

/// Its name; a tool of the service's own may have a type alone, or be its only member.
fn tool_name(declaration: &Value, inner: &Value) -> String {
    let named = inner.get("name").or_else(|| declaration.get("type")).and_then(Value::as_str);
    let only_member = || declaration.as_object().and_then(|fields| fields.keys().next()).cloned();
    named.map(str::to_owned).or_else(only_member).unwrap_or_default()
}

/// SHA-256 of a value as compact JSON with its members in order, so that the same schema has the same digest whoever
/// wrote it down.
pub fn digest_json(value: &Value) -> String {
    hex_sha256(sort_members(value).to_string().as_bytes())
}

fn sort_members(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut names: Vec<&String> = fields.keys().collect();
            names.sort();
            names.into_iter().map(|name| (name.clone(), sort_members(&fields[name]))).collect()
        }
        Value::Array(items) => items.iter().map(sort_members).collect(),
        other => other.clone(),
    }
}
