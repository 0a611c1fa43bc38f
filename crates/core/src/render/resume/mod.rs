//! `RESUME.md`: a session packed into a token budget.
//!
//! The last exchange and the user's words come first, then what structure tells, then files and the project: what lies on
//! the disk can be looked up, what was said cannot. The budget is kept by estimate, and what did not fit is named at the end.

pub(super) mod diff;
mod layers;
mod pack;
mod said;
mod taken;

use thiserror::Error;

use super::Material;

pub use taken::{TakenOver, taken_over};

#[derive(Debug, Clone, Copy)]
pub struct ResumeOptions<'a> {
    /// What people call the agent that will read it, where it is known.
    pub target_name: Option<&'a str>,
    /// The most tokens.
    pub budget: u64,
    /// The command that shows the whole session.
    pub show_command: &'a str,
}

/// A resume prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub text: String,
    /// Estimated.
    pub tokens: u64,
    /// What did not fit.
    pub dropped: Vec<Dropped>,
}

/// Something that did not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// What it is, in the plural: `earlier messages`.
    pub what: &'static str,
    pub n: usize,
}

/// The budget is too small for any resume prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a resume prompt of this session needs at least {least} tokens")]
pub struct TooSmall {
    /// The smallest that works.
    pub least: u64,
}

/// Renders a session as `RESUME.md`.
pub fn resume_prompt(material: &Material<'_>, options: &ResumeOptions<'_>) -> Result<Rendered, TooSmall> {
    pack::pack(material, options)
}
