//! The picker without a terminal: frames, keys, and anything that anybody may type.

pub(super) mod sample;
