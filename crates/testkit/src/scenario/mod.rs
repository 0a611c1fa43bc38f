//! Scenarios: what happens in a session, said once and made in every client through its own interface.
//!
//! Every element plants a word that occurs nowhere else (a fact). What a client's own model request
//! holds after a resume then tells which elements are live, and which are ghosts.

mod abilities;
mod action;
mod aider;
mod catalog;
mod claude_code;
mod codex;
mod copilot_cli;
mod dialect;
mod fact;
mod further;
mod headless;
mod make;
mod opencode;
mod pi;
mod picture;
mod project;
mod story;
mod terminal;
mod tools;

pub use abilities::{Abilities, Ability};
pub use action::{Action, What};
pub use catalog::{CATALOG, SOURCES, Source};
pub use fact::{Expect, Fact, Nature};
pub use further::Further;
pub use make::{Made, PROBE, make};
pub use picture::png;
pub use story::{Prompt, Scenario, Step};
