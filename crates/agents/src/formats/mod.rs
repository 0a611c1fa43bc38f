//! Storage mechanics that agents share. No vendor's name occurs here.

pub mod jsonl;
pub mod line;
pub mod text;
