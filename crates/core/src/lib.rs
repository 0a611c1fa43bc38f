//! The transcript of a coding agent's session, and what follows from it alone.
//!
//! Rule of this crate: it is pure. No file, environment, clock, process or randomness, and no vendor's name; the same
//! input always gives the same bytes.

pub mod distill;
pub mod farewell;
pub mod fit;
pub mod json;
pub mod live;
pub mod plain;
pub mod redact;
pub mod render;
pub mod time;
pub mod tokens;
pub mod transcript;
