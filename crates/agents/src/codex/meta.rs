//! A rollout's first record: which session it is.
//!
//! The record carries the vendor's prompt and can be longer than a listing wants to read, so its fields are gathered
//! one by one: a line that is cut off still tells what stands before the cut.

use std::fmt;

use carryover_core::transcript::TextDigest;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::formats::digest::digest_text;
use crate::formats::text::Text;

/// The fields of the first record that are of use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct WireMeta {
    pub(super) id: Option<String>,
    pub(super) timestamp: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) cli_version: Option<String>,
    /// The program that began it.
    pub(super) originator: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) parent: Option<String>,
    /// A sub-agent, or work of the client's own: the client's picker does not show it either.
    pub(super) is_hidden: bool,
    pub(super) base: Option<WireBase>,
    /// The commit that the repository was at.
    pub(super) commit: Option<String>,
    /// Through whom the model is reached, by the name in the settings.
    pub(super) provider: Option<String>,
    /// The vendor's prompt, of which nothing but the digest is kept.
    pub(super) prompt: Option<TextDigest>,
}

/// The part of another session that a fork continues.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct WireBase {
    pub(super) thread_id: String,
    #[serde(default)]
    pub(super) end_ordinal_exclusive: Option<u64>,
    #[serde(default)]
    pub(super) end_byte_offset: Option<u64>,
}

#[derive(Deserialize)]
struct WireGit {
    #[serde(default)]
    branch: Option<String>,
    #[serde(default)]
    commit_hash: Option<String>,
}

#[derive(Deserialize)]
struct WireInstructions<'a> {
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
}

impl WireMeta {
    /// Reads a first record, whole or cut off, in the envelope or bare; `None` where it is something else.
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let mut meta = Self::default();
        let mut enveloped = false;
        let mut json = serde_json::Deserializer::from_slice(line);
        // An error is the cut; what was gathered before it counts.
        EnvelopeVisitor { meta: &mut meta, enveloped: &mut enveloped }.deserialize(&mut json).unwrap_or_default();
        let known = meta.id.is_some() && (enveloped || meta.timestamp.is_some());
        known.then_some(meta)
    }
}

struct EnvelopeVisitor<'m> {
    meta: &'m mut WireMeta,
    enveloped: &'m mut bool,
}

impl<'de> DeserializeSeed<'de> for EnvelopeVisitor<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for EnvelopeVisitor<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "payload" => map.next_value_seed(FieldsVisitor { meta: self.meta })?,
                "type" => *self.enveloped = map.next_value::<String>()? == "session_meta",
                // In the envelope this is the time of writing; the payload's own replaces it.
                key => read_field(key, self.meta, &mut map)?,
            }
        }
        Ok(())
    }
}

struct FieldsVisitor<'m> {
    meta: &'m mut WireMeta,
}

impl<'de> DeserializeSeed<'de> for FieldsVisitor<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldsVisitor<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("session metadata")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            read_field(&key, self.meta, &mut map)?;
        }
        Ok(())
    }
}

fn read_field<'de, A: MapAccess<'de>>(key: &str, meta: &mut WireMeta, map: &mut A) -> Result<(), A::Error> {
    match key {
        "id" => meta.id = map.next_value()?,
        "timestamp" => meta.timestamp = map.next_value()?,
        "cwd" => meta.cwd = map.next_value()?,
        "cli_version" => meta.cli_version = map.next_value()?,
        "originator" => meta.originator = map.next_value()?,
        "parent_thread_id" => meta.parent = map.next_value()?,
        "history_base" => meta.base = map.next_value()?,
        "git" => {
            if let Some(git) = map.next_value::<Option<WireGit>>()? {
                (meta.branch, meta.commit) = (git.branch, git.commit_hash);
            }
        }
        "model_provider" => meta.provider = serde_json::from_str(map.next_value::<&RawValue>()?.get()).ok(),
        "base_instructions" => meta.prompt = digest_instructions(map.next_value::<&RawValue>()?),
        // A word, or an object that names the kind: `{"subagent": …}`.
        "source" => meta.is_hidden |= is_hidden_source(map.next_value::<&RawValue>()?.get()),
        "thread_source" => meta.is_hidden |= map.next_value::<Option<String>>()?.as_deref() == Some("subagent"),
        _ => {
            map.next_value::<IgnoredAny>()?;
        }
    }
    Ok(())
}

fn digest_instructions(raw: &RawValue) -> Option<TextDigest> {
    serde_json::from_str::<WireInstructions<'_>>(raw.get()).ok()?.text.map(|text| digest_text(&text))
}

fn is_hidden_source(source: &str) -> bool {
    source.starts_with(r#"{"subagent""#) || source.starts_with(r#"{"internal""#)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"timestamp":"2026-11-15T01:13:24.450Z","ordinal":0,"type":"session_meta","payload":{"id":"c","parent_thread_id":"p","timestamp":"2026-11-15T01:13:24.407Z","cwd":"/r","cli_version":"0.166.0","source":{"subagent":{}},"base_instructions":{"text":"long"},"model_provider":"lab","git":{"branch":"main","commit_hash":"713d"}}}"#;

    #[test]
    fn a_cut_line_tells_what_stands_before_the_cut() {
        let whole = WireMeta::parse(LINE.as_bytes()).unwrap();
        assert_eq!(whole.branch.as_deref(), Some("main"));
        let cut = WireMeta::parse(&LINE.as_bytes()[..LINE.find("long").unwrap()]).unwrap();
        assert_eq!((whole.commit.as_deref(), whole.provider.as_deref()), (Some("713d"), Some("lab")));
        assert_eq!(whole.prompt, Some(digest_text("long")));
        assert_eq!(cut, WireMeta { branch: None, commit: None, provider: None, prompt: None, ..whole });
        assert!(cut.is_hidden);
        assert_eq!(cut.timestamp.as_deref(), Some("2026-11-15T01:13:24.407Z"));
    }

    #[test]
    fn other_records_are_no_metadata() {
        assert_eq!(WireMeta::parse(br#"{"record_type":"state"}"#), None);
        assert_eq!(WireMeta::parse(b"garbage"), None);
        assert!(WireMeta::parse(br#"{"id":"a","timestamp":"2026-11-15T00:58:59.273Z","instructions":null}"#).is_some());
    }
}
