//! Tools for files, which clients of trees have in common, and the diffs in which they tell what an edit changed.

use carryover_core::transcript::{Action, Hunk};
use serde_json::{Value, json};

use crate::formats::diff::{add_line, empty_hunk};
use crate::formats::translation::{FileChange, NativeCall, replaced_text, single_change, with_fields};

/// The endings of images, which the clients show to the model where it reads them.
pub(crate) const IMAGE_EXTENSIONS: &[&str] = &["png", "jpg", "jpeg", "gif", "webp", "bmp"];

/// The part of an outcome's record that tells a change in whole lines.
#[derive(serde::Deserialize)]
struct WireResult {
    message: WireResultMessage,
}

#[derive(serde::Deserialize)]
struct WireResultMessage {
    details: WireDetails,
}

#[derive(serde::Deserialize)]
struct WireDetails {
    diff: String,
}

/// The hunks of an edit. Its call names parts of lines; only its outcome tells the lines as a whole. Without it, no
/// hunks are known.
pub(crate) fn read_hunks(outcome: Option<&str>) -> Vec<Hunk> {
    let result = outcome.and_then(|record| serde_json::from_str::<WireResult>(record).ok());
    result.map(|result| parse_numbered_diff(&result.message.details.diff)).unwrap_or_default()
}

/// Reads the clients' own diff: a sign, the number of the line, a space, the line. Lines left out have no number.
fn parse_numbered_diff(diff: &str) -> Vec<Hunk> {
    let mut hunks = vec![empty_hunk()];
    for line in diff.lines() {
        let numbered = line.get(1..).unwrap_or_default().trim_start_matches(' ');
        let digits = numbered.bytes().take_while(u8::is_ascii_digit).count();
        match (digits, line.bytes().next(), hunks.last_mut()) {
            (1.., Some(sign), Some(hunk)) => {
                add_line(hunk, sign, numbered[digits..].strip_prefix(' ').unwrap_or_default());
            }
            _ => hunks.push(empty_hunk()),
        }
    }
    hunks.retain(|hunk| hunk.old != hunk.new);
    hunks
}

/// Spells what is done with a file, where the meaning is exact.
pub(crate) fn translate_file_action(action: &Action) -> Option<NativeCall> {
    Some(match action {
        Action::View { path } => NativeCall::new("read", json!({ "path": path })),
        Action::Read { path, offset, limit } => {
            NativeCall::new("read", with_fields(json!({ "path": path }), &[("offset", *offset), ("limit", *limit)]))
        }
        Action::Write { path, content } => NativeCall::new("write", json!({ "path": path, "content": content })),
        Action::Edit(changes) => match single_change(changes)? {
            FileChange::Create { path, content } => {
                NativeCall::new("write", json!({ "path": path, "content": content }))
            }
            // Every text must stand in the file once.
            FileChange::Replace { hunks, .. } if hunks.iter().any(|hunk| hunk.everywhere) => return None,
            FileChange::Replace { path, hunks } => {
                let edits: Vec<Value> = hunks.iter().map(replacement_input).collect();
                NativeCall::new("edit", json!({ "path": path, "edits": edits }))
            }
        },
        _ => return None,
    })
}

fn replacement_input(hunk: &Hunk) -> Value {
    let (old, new) = replaced_text(hunk);
    json!({ "oldText": old, "newText": new })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_with_numbers_is_read_in_whole_lines() {
        let diff = "   1 def add(a, b):\n-  2     return a - b\n+  2     return a + b\n     ...\n  99 \n-100 x";
        let hunks = parse_numbered_diff(diff);
        assert_eq!(hunks[0].old, "def add(a, b):\n    return a - b\n");
        assert_eq!(hunks[0].new, "def add(a, b):\n    return a + b\n");
        assert_eq!((hunks[1].old.as_str(), hunks[1].new.as_str()), ("\nx\n", "\n"));
    }
}
