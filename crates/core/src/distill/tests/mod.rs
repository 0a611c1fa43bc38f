//! Briefs of short stories, extractor by extractor.

mod decisions;
mod failures;
mod families;
mod files;
mod next;
mod plan;
mod property;
mod questions;
mod remarks;
mod task;
mod telling;
mod testruns;
mod wordings;

use super::Item;

fn texts(items: &[Item]) -> Vec<&str> {
    items.iter().map(|item| item.text.as_str()).collect()
}
