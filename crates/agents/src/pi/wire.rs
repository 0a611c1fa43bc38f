//! Records that pi writes beside those of a tree.

use serde_json::value::RawValue;

use crate::formats::text::Text;

/// A change of what the model sees of an earlier record.
#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireEdit<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub target_id: Text<'a>,
    #[serde(borrow, default)]
    pub replacement: Option<WireReplacement<'a>>,
}

#[derive(serde::Deserialize)]
pub(super) struct WireReplacement<'a> {
    #[serde(borrow)]
    pub content: &'a RawValue,
}
