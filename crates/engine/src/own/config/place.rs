//! The line on which a key stands.

use std::path::Path;

use toml_edit::{Document, TableLike};

use super::{ConfigError, Place, read_text};

/// A mistake that stands in the file, with its line.
pub(super) fn in_file(path: &Path, error: ConfigError) -> ConfigError {
    // Documents that can be changed do not know their lines, so the text is read once more.
    let text = read_text(path).unwrap_or_default();
    let line = error.wrong_key().and_then(|(key, _)| find_line(&text, key));
    error.with_place(Place::File { path: path.to_owned(), line })
}

/// The line of a dotted key, from 1.
fn find_line(text: &str, dotted: &str) -> Option<usize> {
    let document = Document::parse(text).ok()?;
    let mut table: &dyn TableLike = document.as_table();
    let mut names = dotted.split('.').peekable();
    loop {
        let (key, item) = table.get_key_value(names.next()?)?;
        if names.peek().is_some() {
            table = item.as_table_like()?;
        } else {
            let start = key.span().or_else(|| item.span())?.start;
            return Some(1 + text.get(..start)?.matches('\n').count());
        }
    }
}
