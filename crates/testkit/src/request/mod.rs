//! What a client sent to its model, in terms that all APIs share, and how it compares with the truth.

mod compare;
mod gemini;
mod item;
mod loss;

pub use compare::{Comparison, Truth, compare};
pub use item::{Item, ItemKind, Role, flat_text, items};
pub use loss::Loss;

#[cfg(test)]
mod tests;
