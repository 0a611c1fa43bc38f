//! The contents of a request of the Gemini API.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::item::{Item, ItemKind, Role, array_items, join_strings};

/// How many calls and how many outcomes of a name there were; without ids, they belong together by their order.
#[derive(Default)]
struct CallCounts {
    calls: HashMap<String, usize>,
    outcomes: HashMap<String, usize>,
}

pub(super) fn push_items(contents: &[Value], items: &mut Vec<Item>) {
    let mut unnamed = CallCounts::default();
    for content in contents {
        let role = if content["role"] == "model" { Role::Assistant } else { Role::User };
        for part in array_items(&content["parts"]) {
            part_items(role, part, &mut unnamed, items);
        }
    }
}

fn part_items(role: Role, part: &Value, unnamed: &mut CallCounts, items: &mut Vec<Item>) {
    if let Some(call) = part.get("functionCall") {
        let id = make_call_id(call, &mut unnamed.calls);
        let item = Item::new(role, ItemKind::Call, join_strings(&call["args"]));
        items.push(item.with_call(&id, call["name"].as_str()));
    } else if let Some(outcome) = part.get("functionResponse") {
        let id = make_call_id(outcome, &mut unnamed.outcomes);
        items.push(Item::new(Role::User, ItemKind::Outcome, join_strings(&outcome["response"])).with_call(&id, None));
        push_images(array_items(&outcome["parts"]), items);
    } else if part.get("inlineData").is_some() {
        push_images(std::slice::from_ref(part), items);
    } else if let Some(text) = part["text"].as_str() {
        let kind = if part["thought"] == true { ItemKind::Reasoning } else { ItemKind::Text };
        items.push(Item::new(role, kind, text.to_owned()));
    }
}

/// Newer models take the images of an outcome inside it, older ones beside it.
fn push_images(parts: &[Value], items: &mut Vec<Item>) {
    let is_image = |part: &&Value| {
        let kind = part["inlineData"]["mimeType"].as_str();
        kind.is_some_and(|kind| kind.starts_with("image/"))
    };
    items.extend(parts.iter().filter(is_image).map(|_| Item::new(Role::User, ItemKind::Image, String::new())));
}

fn make_call_id(call: &Value, seen: &mut HashMap<String, usize>) -> Value {
    if call["id"].is_string() {
        return call["id"].clone();
    }
    let name = call["name"].as_str().unwrap_or_default();
    let count = seen.entry(name.to_owned()).or_default();
    *count += 1;
    json!(format!("{name}#{count}"))
}
