//! A fake model server on loopback that speaks the Messages API of Anthropic, the Responses and the chat completions
//! API of `OpenAI`, and the Gemini API.
//!
//! It answers from a script and logs every request. Side requests (titles, quota probes, warm-ups)
//! never use up the script, so that a scenario means the same in every client version.

mod anthropic;
mod chat;
mod gemini;
mod http;
mod openai;
mod server;
mod turn;

pub use server::{LoggedRequest, ModelServer, RequestKind};
pub use turn::{Block, Failure, Hold, Reply, Turn};

/// The answer when the script is used up.
pub const FALLBACK_TEXT: &str = "The script is used up.";

/// The name that clients get for a model for small things (titles, commit messages); it is never scripted.
pub const SIDE_MODEL: &str = "side-model";

/// The name of a model for clients without native calls: no tools in a request means nothing there.
pub const FLAT_MODEL: &str = "flat-model";

#[cfg(test)]
mod tests;
