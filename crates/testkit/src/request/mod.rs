//! Requests of a client to its model, in terms that all APIs share, and how they compare with the truth.

mod compare;
mod gemini;
mod item;
mod loss;

pub use compare::{Comparison, Truth, compare_with_truth};
pub use item::{Item, ItemKind, Role, flat_text, read_items};
pub use loss::Loss;

#[cfg(test)]
mod tests;
