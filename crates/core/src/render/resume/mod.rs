//! `RESUME.md`: a session packed into a token budget.
//!
//! The last exchange and the user's words come first, then what structure tells, then files and the project: what lies on
//! the disk can be looked up, what was said cannot. The budget is kept by estimate, and what did not fit is named at the end.

pub(super) mod diff;
mod earlier_prompts;
mod embedded;
mod pack;
mod sections;

use thiserror::Error;

use super::Material;

pub use embedded::{EmbeddedPrompt, find_embedded_prompt};

#[derive(Debug, Clone, Copy)]
pub struct ResumeOptions<'a> {
    /// The display name of the agent that will read it, where it is known.
    pub target_name: Option<&'a str>,
    /// The most tokens.
    pub budget: u64,
    /// The command that shows the whole session.
    pub show_command: &'a str,
}

/// A resume prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumePrompt {
    pub text: String,
    /// Estimated.
    pub tokens: u64,
    /// The kinds of things that did not fit, with their counts.
    pub dropped: Vec<DroppedCount>,
}

/// Something that did not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DroppedCount {
    /// The word for it, in the plural: `earlier messages`.
    pub what: &'static str,
    pub n: usize,
}

/// The budget is too small for any resume prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("a resume prompt of this session needs at least {least} tokens")]
pub struct BudgetTooSmall {
    /// The smallest that works.
    pub least: u64,
}

/// Renders a session as `RESUME.md`.
pub fn resume_prompt(material: &Material<'_>, options: &ResumeOptions<'_>) -> Result<ResumePrompt, BudgetTooSmall> {
    pack::fill_budget(material, options)
}
