//! A fake model server on loopback that speaks the Messages API of Anthropic and the Responses API of `OpenAI`.
//!
//! It answers from a script and logs every request. Side requests (titles, quota probes, warm-ups)
//! never use up the script, so that a scenario means the same in every client version.

mod anthropic;
mod http;
mod openai;
mod server;
mod turn;

pub use server::{Kind, Logged, ModelServer};
pub use turn::{Block, Failure, Hold, Reply, Turn};

/// What is answered when the script is used up.
pub const FALLBACK: &str = "The script is used up.";

#[cfg(test)]
mod tests;
