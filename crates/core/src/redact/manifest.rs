//! Manifests of the kind `Secret`: every value in them is one, whatever it is called.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::rules::compile;
use super::value;

/// A manifest is not longer, on either side of the line that tells its kind.
const MAX_MANIFEST_BYTES: usize = 8_192;

static KIND: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r#"\bkind["']?:[ \t]*["']?(?:Sealed|Ext)?Secret["']?[ \t]*(?:\n|,|$|\})"#));
static FIELD: LazyLock<Option<Regex>> =
    LazyLock::new(|| compile(r#"^[ \t]+["']?[A-Za-z0-9_.-]+["']?:[ \t]+["']?([^\s"'|>#{\[][^\s"']*)"#));
static OBJECT: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r#""(?:data|stringData)"\s*:\s*\{([^{}]*)\}"#));
static MEMBER: LazyLock<Option<Regex>> = LazyLock::new(|| compile(r#""[^"\n]{1,80}"\s*:\s*"([^"\n]+)""#));

/// Finds the values of the manifests in a text.
pub(super) fn find_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let Some(kind) = KIND.as_ref().filter(|_| memchr::memmem::find(text.as_bytes(), b"kind").is_some()) else {
        return found;
    };
    // Manifests follow each other, and none is looked at twice.
    let mut from = 0;
    for hit in kind.find_iter(text.as_bytes()) {
        if hit.start() < from {
            continue;
        }
        let start = text.ceil_char_boundary(hit.start().saturating_sub(MAX_MANIFEST_BYTES).max(from));
        let end = text.floor_char_boundary((hit.end() + MAX_MANIFEST_BYTES).min(text.len())).max(start);
        let start = text[start..hit.start().max(start)].rfind("\n---").map_or(start, |at| start + at);
        let end = text[hit.end().min(end)..end].find("\n---").map_or(end, |at| hit.end() + at);
        if start >= end {
            continue;
        }
        find_fields(text, start..end, &mut found);
        find_members(text, start..end, &mut found);
        from = end;
    }
    found.retain(|range: &Range<usize>| is_secret(&text[range.clone()]));
    found
}

/// The indented lines below `data:` and `stringData:`.
fn find_fields(text: &str, part: Range<usize>, found: &mut Vec<Range<usize>>) {
    let Some(field) = FIELD.as_ref() else { return };
    let mut at = part.start;
    // How far the heading is indented, while its lines last.
    let mut below: Option<usize> = None;
    for line in text[part].split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        if matches!(line.trim(), "data:" | "stringData:") {
            below = Some(indent);
        } else if below.is_some_and(|heading| indent <= heading && !line.trim().is_empty()) {
            below = None;
        } else if below.is_some()
            && let Some(value) = field.captures(line.as_bytes()).and_then(|captures| captures.get(1))
        {
            found.push(at + value.start()..at + value.end());
        }
        at += line.len();
    }
}

fn find_members(text: &str, part: Range<usize>, found: &mut Vec<Range<usize>>) {
    let (Some(object), Some(member)) = (OBJECT.as_ref(), MEMBER.as_ref()) else { return };
    let bytes = &text.as_bytes()[part.clone()];
    for object in object.captures_iter(bytes).filter_map(|captures| captures.get(1)) {
        let values = member.captures_iter(object.as_bytes()).filter_map(|captures| captures.get(1));
        let start = part.start + object.start();
        found.extend(values.map(|value| start + value.start()..start + value.end()));
    }
}

fn is_secret(value: &str) -> bool {
    // A certificate is shown to everybody.
    value.len() >= 4 && !value::is_placeholder(value) && !value.starts_with("LS0tLS1CRUdJTiBDRVJU")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_texts(text: &str) -> Vec<&str> {
        find_secrets(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn every_value_of_a_secret_is_found() {
        let yaml = "apiVersion: v1\nkind: Secret\ndata:\n  user: YWRtaW4=\n  x.y: aHVudGVyMg==\ntype: Opaque\n---\ndata:\n  a: YWRtaW4=\n";
        assert_eq!(found_texts(yaml), ["YWRtaW4=", "aHVudGVyMg=="]);
        let json = r#"{"data": {"a": "aHVudGVyMg=="}, "kind": "Secret"}"#;
        assert_eq!(found_texts(json), ["aHVudGVyMg=="]);
    }

    #[test]
    fn other_manifests_have_none() {
        assert_eq!(found_texts("kind: ConfigMap\ndata:\n  a: YWRtaW4=\n"), Vec::<&str>::new());
        assert_eq!(found_texts("kind: SecretStore\nspec:\n  a: YWRtaW4=\n"), Vec::<&str>::new());
    }
}
