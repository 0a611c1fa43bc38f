//! Masking in what is written whole: files of a session that may have been made without, and what is seen of a project.
//!
//! Every field is named, so that a new one cannot be forgotten. Quotations of a session are masked where they are made, by
//! [`crate::distill::Quoting`].

use std::borrow::Cow;

use serde_json::Value;

use super::{redact_text, redact_title};
use crate::distill::{Commit, Git, MemoryText, Workspace};
use crate::json::Json;
use crate::render::session::{CapturedFile, ChangedFile, Conversation, ConversationMessage, Project, Task};
use crate::render::{SessionJson, Uasf, UasfCall, UasfEvent, UasfOutcome, UasfPart, UasfSession};
use crate::transcript::Answer;

impl Workspace {
    /// The same facts with the secrets masked in what is shown of them; the files that the session touched are only looked at.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.mask();
        self
    }
}

impl SessionJson {
    /// The same capture with its secrets masked: it may have been written without.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.mask();
        self
    }
}

impl Uasf {
    /// The same transcript with its secrets masked. A title is cut from a prompt, which tells what is secret in it.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        let said = self.events.iter().filter_map(|event| event.content.as_ref()?.as_deref());
        let texts: Vec<&str> = said.take(2).map(|text| &text[..text.floor_char_boundary(MAX_PROMPT_BYTES)]).collect();
        self.session.title = self.session.title.take().map(|title| redact_title(&title, &texts));
        self.mask();
        self
    }
}

impl UasfEvent {
    /// The same event with its secrets masked: it may have been written without.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.mask();
        self
    }
}

impl UasfSession {
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.title = self.title.take().map(|title| redact_title(&title, &[]));
        self.mask();
        self
    }
}

impl Json {
    /// The same value with its secrets masked; whatever was JSON stays JSON.
    #[must_use]
    pub fn redacted(mut self) -> Self {
        self.mask();
        self
    }
}

/// So much of a prompt is looked at for its title.
const MAX_PROMPT_BYTES: usize = 64 << 10;

/// Something whose texts can be masked in place.
trait Mask {
    fn mask(&mut self);
}

impl Mask for String {
    fn mask(&mut self) {
        if let Cow::Owned(masked) = redact_text(self) {
            *self = masked;
        }
    }
}

impl<T: Mask> Mask for Option<T> {
    fn mask(&mut self) {
        self.iter_mut().for_each(Mask::mask);
    }
}

impl<T: Mask> Mask for Vec<T> {
    fn mask(&mut self) {
        self.iter_mut().for_each(Mask::mask);
    }
}

impl Mask for MemoryText {
    fn mask(&mut self) {
        self.path.mask();
        if let Cow::Owned(masked) = redact_text(&self.text) {
            self.text = masked;
            self.sha256 = None;
        }
    }
}

/// Masks the fields that hold text, and names those that do not.
macro_rules! mask_fields {
    ($type:ident { $($text:ident),* $(,)? } keeps { $($other:ident),* $(,)? }) => {
        impl Mask for $type {
            fn mask(&mut self) {
                let Self { $($text,)* $($other: _,)* } = self;
                $($text.mask();)*
            }
        }
    };
}

mask_fields!(Git { branch, head, status, diff_stat, log } keeps {});
mask_fields!(Commit { author, subject, files } keeps { id, at });
mask_fields!(Workspace { root, name, git, tree, memory } keeps { files });
mask_fields!(SessionJson { project, conversation, files_changed, decisions, blockers, task } keeps {
    version, source, captured_at, session_id, session_started_at,
});
mask_fields!(Project { path, name, git_branch, git_status, git_log, structure, memory_file_contents, memory_files } keeps {});
mask_fields!(CapturedFile { path, content } keeps { sha256, bytes, private, when });
mask_fields!(Conversation { summary, messages } keeps { message_count, estimated_tokens });
mask_fields!(ConversationMessage { content, tool_name } keeps { role, timestamp, token_count });
mask_fields!(ChangedFile { path, diff } keeps { change_type, language });
mask_fields!(Task { description, completed, remaining, in_progress, blockers } keeps {});
mask_fields!(Uasf { session, events } keeps { schema });
mask_fields!(UasfSession { cwd, git_branch, model, title } keeps { id, agent, started_at, version });
mask_fields!(UasfEvent {
    content, path, old, new, command, output, tool, query, results, message, parts, call, outcome,
} keeps { kind, exit_code, at, order, record, past, origin, summary, sealed, queued, failure, resets_at, same_call });
mask_fields!(UasfPart { text, name } keeps { media_type, data });
mask_fields!(UasfCall { tool, input } keeps { id, form });
mask_fields!(UasfOutcome { parts, action, answers } keeps { order, at, status, exit_code });
mask_fields!(Answer { question, answer } keeps {});

impl Mask for Json {
    /// As one text, for what tells a secret may be the name of its field; piece by piece where that would break it.
    fn mask(&mut self) {
        let Cow::Owned(masked) = redact_text(self.as_str()) else { return };
        *self = Self::parse(&masked).unwrap_or_else(|| {
            let mut value = self.to_value();
            mask_texts(&mut value);
            Self::from_value(&value)
        });
    }
}

/// Masks the texts of a value, and what is under a name that tells a secret.
fn mask_texts(value: &mut Value) {
    match value {
        Value::String(text) => text.mask(),
        Value::Array(values) => values.iter_mut().for_each(mask_texts),
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Value::String(text) = value
                    && let Cow::Owned(masked) = redact_text(&format!("{name}={text}"))
                {
                    masked.strip_prefix(&format!("{name}=")).unwrap_or(&masked).clone_into(text);
                }
                mask_texts(value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
