//! The renderings: what is handed over, in words and in JSON.
//!
//! All of them are pure functions of what the distiller found. Text that came from tools is quoted, bounded and
//! labelled, and no text can end its own quoting. Secrets are masked by
//! [`crate::distill::Quoting`] wherever words are quoted.

#![expect(clippy::format_push_string, reason = "texts are small, and read better as they will be read")]

pub mod block;
mod context;
mod conversation;
mod escape;
mod handoff;
mod lines;
mod material;
mod resume;
pub mod saved;
pub mod session;
pub mod uasf;

pub use context::{CONTEXT_CHARS, ContextOptions, MAX_OPENING_CHARS, context_block};
pub use conversation::{RESUMED_START, resumed_conversation};
pub use handoff::{HandoffOptions, Protocol, protocol_heading, render_handoff};
pub use material::{Material, Message, Role};
pub use resume::{
    BudgetTooSmall, DroppedCount, EmbeddedPrompt, ResumeOptions, ResumePrompt, find_embedded_prompt, resume_prompt,
};
pub use session::{SessionJson, session_json};
pub use uasf::{Uasf, UasfCall, UasfEvent, UasfOutcome, UasfPart, UasfSession, write_uasf};

#[cfg(test)]
mod tests;
