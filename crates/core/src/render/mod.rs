//! The renderings: what is handed over, in words and in JSON.
//!
//! All of them are pure functions of what the distiller found. Text that came from tools is quoted, bounded and
//! labelled, and no text can end its own quoting. Secrets are masked by
//! [`crate::distill::Quoting`] wherever words are quoted.

#![expect(clippy::format_push_string, reason = "texts are small, and read better as they will be read")]

pub mod block;
mod context;
mod conversation;
mod handoff;
mod lines;
mod material;
mod resume;
pub mod session;
pub mod uasf;
mod words;

pub use context::{CONTEXT_CHARS, ContextOptions, context_block};
pub use conversation::{ConversationOptions, resumed_conversation};
pub use handoff::{HandoffOptions, Protocol, handoff};
pub use material::{Material, Message, Role};
pub use resume::{Dropped, Rendered, ResumeOptions, TakenOver, TooSmall, resume_prompt, taken_over};
pub use session::{SessionJson, session_json};
pub use uasf::{Uasf, UasfCall, UasfEvent, UasfOutcome, UasfPart, UasfSession, uasf};

#[cfg(test)]
mod tests;
