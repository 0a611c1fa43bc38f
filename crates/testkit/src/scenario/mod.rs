//! Scenarios: what happens in a session, said once and made in every client through its own interface.
//!
//! Every element plants a word that occurs nowhere else (a fact). What a client's own model request
//! holds after a resume then tells which elements are live, and which are ghosts.

mod abilities;
mod action;
mod catalog;
pub(crate) mod dialect;
mod fact;
mod further;
pub(crate) mod headless;
pub(crate) mod make;
mod picture;
pub(crate) mod project;
mod story;
pub(crate) mod terminal;
pub(crate) mod tools;

pub use abilities::{Abilities, Ability};
pub use action::{Action, What};
pub use catalog::{CATALOG, Source, sources};
pub use fact::{Expect, Fact, Nature};
pub use further::Further;
pub(crate) use make::Driver;
pub use make::{Made, PROBE, make};
pub use picture::png;
pub use story::{Prompt, Scenario, Step};
pub(crate) use tools::Tools;
