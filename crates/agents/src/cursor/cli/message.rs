//! A message as it is sent to a model, made into entries.

use carryover_core::json::Json;
use carryover_core::transcript::{
    Blob, BlobLocation, Body, Call, CallForm, CallId, Fact, Opaque, Origin, Outcome, Part, Reasoning, Status,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::user_text::split_user_text;
use crate::cursor::lenient::Lenient;
use crate::cursor::session::{RecordForm, RecordHead};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMessage<'a> {
    role: String,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    provider_options: Lenient<WireOptions>,
}

#[derive(Deserialize, Default)]
struct WireOptions {
    #[serde(default)]
    cursor: Lenient<WireCursorOptions>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireCursorOptions {
    is_summary: Lenient<bool>,
    model_name: Lenient<String>,
    high_level_tool_call_result: Lenient<WireHighLevelResult>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WireHighLevelResult {
    is_error: Lenient<bool>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct WirePart<'a> {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    text: Lenient<String>,
    signature: Lenient<String>,
    tool_call_id: Lenient<String>,
    tool_name: Lenient<String>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    result: Lenient<Value>,
    is_error: Lenient<bool>,
    #[serde(rename = "experimental_content")]
    content: Lenient<Vec<Value>>,
    image: Lenient<Value>,
    data: Lenient<Value>,
    #[serde(alias = "mimeType")]
    media_type: Lenient<String>,
    filename: Lenient<String>,
}

/// Reads a message.
pub(in crate::cursor) fn read_message(
    text: &str,
    head: &RecordHead,
    facts: &mut Vec<Fact>,
) -> serde_json::Result<Vec<(Origin, Body)>> {
    let message: WireMessage<'_> = serde_json::from_str(text)?;
    let options = message.provider_options.0.unwrap_or_default().cursor.0.unwrap_or_default();
    facts.extend(options.model_name.0.map(Fact::Model));
    let parts = read_content(message.content)?;
    let is_error = options.high_level_tool_call_result.0.and_then(|result| result.is_error.0) == Some(true);
    Ok(match message.role.as_str() {
        "system" => vec![(Origin::Harness, Body::known("message/system"))],
        _ if options.is_summary.0 == Some(true) => vec![(Origin::Agent, Body::Summary(summary_parts(parts)))],
        "user" => user_bodies(parts),
        "assistant" => non_empty(parts.into_iter().filter_map(assistant_body).collect(), "message/empty"),
        "tool" => {
            let outcome = |part: WirePart<'_>| tool_outcome(part, is_error, head);
            non_empty(parts.into_iter().filter_map(outcome).collect(), "message/tool")
        }
        role => vec![(Origin::Harness, Body::unknown(format!("message/{role}")))],
    })
}

/// Whether a message holds words of the user's.
pub(super) fn is_prompt(message: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(message) else { return false };
    let head = RecordHead::new("", RecordForm::Message);
    let bodies = read_message(text, &head, &mut Vec::new()).unwrap_or_default();
    bodies.iter().any(|(origin, body)| *origin == Origin::User && matches!(body, Body::Prompt(_)))
}

fn read_content(content: Option<&RawValue>) -> serde_json::Result<Vec<WirePart<'_>>> {
    let Some(content) = content else { return Ok(Vec::new()) };
    let text_part =
        |text| WirePart { kind: Lenient(Some("text".to_owned())), text: Lenient(Some(text)), ..WirePart::default() };
    if content.get().starts_with('"') {
        return serde_json::from_str(content.get()).map(|text| vec![text_part(text)]);
    }
    let parts: Vec<&RawValue> = serde_json::from_str(content.get())?;
    parts.iter().map(|part| serde_json::from_str(part.get())).collect()
}

fn non_empty(bodies: Vec<(Origin, Body)>, otherwise: &'static str) -> Vec<(Origin, Body)> {
    if bodies.is_empty() { vec![(Origin::Harness, Body::known(otherwise))] } else { bodies }
}

fn summary_parts(parts: Vec<WirePart<'_>>) -> Vec<Part> {
    parts.into_iter().filter_map(|part| part.text.0).map(Part::Text).collect()
}

/// The words that were typed with the images beside them, and each block that the client put there.
fn user_bodies(parts: Vec<WirePart<'_>>) -> Vec<(Origin, Body)> {
    let mut typed = Vec::new();
    let mut bodies = Vec::new();
    for part in parts {
        match part.text.0.as_deref() {
            Some(text) => {
                for piece in split_user_text(text) {
                    let words = Part::Text(piece.text.to_owned());
                    let origin = if piece.is_attached { Origin::Hook } else { Origin::Harness };
                    if piece.is_users {
                        typed.push(words);
                    } else {
                        bodies.push((origin, Body::Prompt(vec![words])));
                    }
                }
            }
            None => typed.extend(read_image(&part)),
        }
    }
    let is_typed = typed.iter().any(|part| matches!(part, Part::Text(_)));
    match bodies.iter_mut().rev().find(|(origin, _)| *origin == Origin::Hook) {
        // Images without a word of the user's are part of what was attached.
        Some((_, Body::Prompt(attached))) if !is_typed => attached.append(&mut typed),
        _ if !typed.is_empty() => bodies.push((Origin::User, Body::Prompt(typed))),
        _ => {}
    }
    if bodies.is_empty() {
        bodies.push((Origin::Harness, Body::Opaque(Opaque::Wordless)));
    }
    bodies
}

fn assistant_body(part: WirePart<'_>) -> Option<(Origin, Body)> {
    let text = part.text.0.unwrap_or_default();
    let body = match part.kind.0.as_deref().unwrap_or_default() {
        "text" if text.trim().is_empty() => return None,
        "text" => Body::Reply(vec![Part::Text(text)]),
        "reasoning" => {
            let sealed = part.signature.0.is_some_and(|signature| !signature.is_empty());
            Body::Reasoning(Box::new(Reasoning { text, sealed }))
        }
        "redacted-reasoning" => Body::Reasoning(Box::new(Reasoning { text: String::new(), sealed: true })),
        "tool-call" => Body::Call(Box::new(Call {
            id: CallId(part.tool_call_id.0.unwrap_or_default().into()),
            tool: part.tool_name.0.unwrap_or_default(),
            input: part.args.map_or_else(Json::empty_object, Json::from_raw),
            form: CallForm::Function,
        })),
        kind => Body::unknown(format!("part/{kind}")),
    };
    Some((Origin::Agent, body))
}

fn tool_outcome(part: WirePart<'_>, is_error: bool, head: &RecordHead) -> Option<(Origin, Body)> {
    if part.kind.0.as_deref() != Some("tool-result") {
        return None;
    }
    let id = part.tool_call_id.0.unwrap_or_default();
    let exit_code = head.calls.get(&id).and_then(|run| run.exit_code);
    let is_failed = is_error || part.is_error.0 == Some(true) || exit_code.is_some_and(|code| code != 0);
    let status = if is_failed { Status::Failed } else { Status::Done };
    let shown: Vec<Part> = part.content.0.unwrap_or_default().iter().filter_map(result_part).collect();
    let told = part.result.0.map(|result| result.as_str().map_or_else(|| result.to_string(), str::to_owned));
    let parts = if shown.is_empty() { told.map(Part::Text).into_iter().collect() } else { shown };
    Some((Origin::Agent, Body::Outcome(Box::new(Outcome { call: CallId(id.into()), status, exit_code, parts }))))
}

fn result_part(part: &Value) -> Option<Part> {
    match part["type"].as_str()? {
        "text" => part["text"].as_str().map(|text| Part::Text(text.to_owned())),
        "image" | "media" => {
            let media_type = part["mediaType"].as_str().or_else(|| part["mimeType"].as_str()).unwrap_or("image/png");
            image_part(&part["data"], media_type, None)
        }
        _ => None,
    }
}

/// An image or a file that the model sees as such.
fn read_image(part: &WirePart<'_>) -> Option<Part> {
    let usual = if part.kind.0.as_deref()? == "image" { "image/png" } else { "application/octet-stream" };
    let data = part.image.0.as_ref().or(part.data.0.as_ref())?;
    image_part(data, part.media_type.0.as_deref().unwrap_or(usual), part.filename.0.clone())
}

/// Bytes are Base64, an address, or hexadecimal in an object that says so.
fn image_part(data: &Value, media_type: &str, name: Option<String>) -> Option<Part> {
    let blob = |media_type: &str, location| Part::Blob(Blob { media_type: media_type.to_owned(), name, location });
    if let Some(text) = data.as_str() {
        return Some(match text.strip_prefix("data:").and_then(|text| text.split_once(";base64,")) {
            Some((told, data)) => blob(told, BlobLocation::Inline(data.into())),
            None if text.contains("://") => blob(media_type, BlobLocation::Remote(text.to_owned())),
            None => blob(media_type, BlobLocation::Inline(text.into())),
        });
    }
    let encoded = base64_from_hex(data["hex"].as_str().filter(|_| data["__type"] == "Uint8Array")?)?;
    Some(blob(media_type, BlobLocation::Inline(encoded.into())))
}

fn base64_from_hex(hex: &str) -> Option<String> {
    use base64::Engine as _;
    Some(base64::engine::general_purpose::STANDARD.encode(super::store::from_hex(hex)?))
}
