//! Files that tell agents' models something: which are there, who reads them, where they differ, and how one becomes the
//! source of the others.

pub(crate) mod captured;
pub mod files;
pub(crate) mod ground;
pub mod imports;
pub mod overview;
pub(crate) mod paragraph;
pub(crate) mod privacy;
mod project_files;
pub mod relation;
pub mod sync;
pub mod sync_plan;
