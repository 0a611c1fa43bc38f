//! The distiller: what a session was about, what was done, what failed, and what is next.
//!
//! A brief is a pure function of the story, the facts of the workspace, and now. Facts come from structure (calls,
//! outcomes, exit codes, plans, git) and from words only where structure has none.

mod brief;
mod story;
mod workspace;

pub use brief::{
    Brief, CommandRun, Decision, Drift, ErrorSeen, FailedApproach, FileChange, FileTouched, Item, Limit, TestState,
    Voice,
};
pub use story::{Deed, Ended, Step, Story};
pub use workspace::{Commit, FileNow, Git, Workspace};
