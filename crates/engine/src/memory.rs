//! Files that tell agents' models something: which are there, who reads them, where they differ, and how one becomes the
//! source of the others.

pub mod files;
mod imports;
pub mod overview;
pub(crate) mod paragraph;
mod project_files;
pub mod relation;
pub mod sync;
pub mod sync_plan;
