//! What was attached to a request: images become part of it, everything else was shown to the model beside it.

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
    let WireVariableValue::Bytes { base64 } = variable.value.as_ref()? else { return None };
    // The editor takes one without a type for a PNG.
    let media_type = variable.mime_type.clone().unwrap_or_else(|| "image/png".to_owned());
    let location = BlobLocation::Inline(base64.as_str().into());
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
        WireVariableValue::Bytes { .. } => None,
    }
}

/// The text of a block in a message.
fn block_inside<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inside, _) = rest.split_once(&format!("</{tag}>"))?;
    Some(inside.trim()).filter(|inside| !inside.is_empty())
}
