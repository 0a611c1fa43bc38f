//! Scenarios: what happens in a session, said once and made in every client through its own interface.
//!
//! Every element plants a word that occurs nowhere else (a fact). What a client's own model request
//! holds after a resume then tells which elements are live, and which are ghosts.

mod abilities;
mod action;
mod catalog;
pub(crate) mod dialect;
mod fact;
mod further_turn;
pub(crate) mod headless;
mod image;
pub(crate) mod make;
pub(crate) mod project;
mod steps;
pub(crate) mod terminal;
pub(crate) mod tools;
mod work_turn;

pub use abilities::{Abilities, Ability};
pub use action::{Action, ActionKind};
pub use catalog::{CATALOG, Source, list_sources};
pub use fact::{Expect, Fact, Nature};
pub use further_turn::{Delegation, FurtherTurn};
pub use image::make_png;
pub(crate) use make::Driver;
pub use make::{MadeSession, PROBE, load_or_make};
pub use steps::{Prompt, Scenario, Step};
pub(crate) use tools::Tools;
pub use work_turn::WorkTurn;
