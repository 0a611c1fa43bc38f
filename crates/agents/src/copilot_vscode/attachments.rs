//! What was attached to a request: images become part of it, everything else was shown to the model beside it.

use std::collections::BTreeMap;

use carryover_core::transcript::{Blob, BlobLocation, Body, Origin, Part};

use super::wire::{WireMetadata, WireVariable, WireVariableValue, WireVariables};

/// The block of a message as it was sent that holds what the user attached, with its text.
const ATTACHMENTS_TAG: &str = "attachments";

/// The images of a request.
pub(super) fn read_images(variables: Option<&WireVariables>) -> Vec<Part> {
    let variables = variables.map(|list| list.variables.as_slice()).unwrap_or_default();
    variables.iter().filter_map(read_image).collect()
}

fn read_image(variable: &WireVariable) -> Option<Part> {
    if variable.kind.as_deref() != Some("image") {
        return None;
    }
    let base64 = match variable.value.as_ref()? {
        WireVariableValue::Bytes { base64 } => base64.clone(),
        WireVariableValue::Numbered(bytes) => encode_base64(&in_order(bytes)?),
        _ => return None,
    };
    // The editor takes one without a type for a PNG.
    let media_type = variable.mime_type.clone().unwrap_or_else(|| "image/png".to_owned());
    let location = BlobLocation::Inline(base64.into());
    Some(Part::Blob(Blob { media_type, name: variable.name.clone(), location }))
}

/// What else was attached: its text as it was sent, or else its names.
pub(super) fn read_others(
    variables: Option<&WireVariables>,
    metadata: Option<&WireMetadata>,
) -> Option<(Origin, Body)> {
    let sent = metadata.and_then(|metadata| {
        metadata.rendered_user_message.iter().find_map(|piece| block_inside(piece.text.as_deref()?, ATTACHMENTS_TAG))
    });
    let named = || {
        let variables = variables.map(|list| list.variables.as_slice()).unwrap_or_default();
        let names: Vec<String> = variables.iter().filter_map(attached_words).collect();
        (!names.is_empty()).then(|| names.join("\n"))
    };
    let text = sent.map(str::to_owned).or_else(named)?;
    Some((Origin::Hook, Body::Prompt(vec![Part::Text(text)])))
}

/// What the user attached, in words. Files of instructions come by themselves, and the next client brings its own.
fn attached_words(variable: &WireVariable) -> Option<String> {
    let kind = variable.kind.as_deref().unwrap_or_default();
    let is_users = !["implicit", "promptFile", "promptText", "tool", "toolset", "workspace"].contains(&kind);
    if !is_users || variable.automatically_added == Some(true) {
        return None;
    }
    if variable.code.is_some() {
        return variable.code.clone();
    }
    match variable.value.as_ref()? {
        WireVariableValue::Text(text) => Some(text.clone()),
        WireVariableValue::Uri(uri) | WireVariableValue::Location { uri } => Some(uri.to_words()),
        WireVariableValue::Bytes { .. } | WireVariableValue::Numbered(_) => None,
    }
}

/// The text of a block in a message.
fn block_inside<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside.trim()).filter(|inside| !inside.is_empty())
}

/// Bytes in the order of their numbers.
fn in_order(numbered: &BTreeMap<String, u8>) -> Option<Vec<u8>> {
    let bytes = numbered.iter().map(|(number, byte)| Some((number.parse::<u32>().ok()?, *byte)));
    let ordered: BTreeMap<u32, u8> = bytes.collect::<Option<_>>()?;
    Some(ordered.into_values().collect())
}

fn encode_base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place > group.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn images(value: &Value) -> Vec<Part> {
        let variable = json!({ "kind": "image", "name": "a.png", "mimeType": "image/png", "value": value });
        read_images(serde_json::from_value(json!({ "variables": [variable] })).ok().as_ref())
    }

    #[test]
    fn an_image_is_read_in_both_forms() {
        let newer = images(&json!({ "$base64": "aW1hZ2UxMA==" }));
        let older = images(&json!({ "0": 105, "1": 109, "2": 97, "3": 103, "4": 101, "5": 49, "6": 48 }));
        assert_eq!((newer.len(), &older), (1, &newer));
        assert_eq!(images(&json!("no bytes")), []);
    }

    #[test]
    fn bytes_of_every_length_are_encoded() {
        assert_eq!(["", "f", "fo", "foo"].map(|text| encode_base64(text.as_bytes())), ["", "Zg==", "Zm8=", "Zm9v"]);
    }
}
