//! Aider's model makes no calls: it writes the changes that it wants into its text.

use super::{Action, What};

/// What can be said in text alone.
pub(super) fn knows(what: What) -> bool {
    matches!(what, What::Edit | What::Write)
}

/// A block that the client applies to a file.
pub(super) fn edit(action: &Action) -> String {
    let file = action.file();
    let word = action.word(0);
    let (old, new) = match action.what {
        What::Edit => (format!("old line of {}\n", action.key), format!("new line {word}\n")),
        _ => (String::new(), format!("{word}\n")),
    };
    format!("{file}\n```\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n```\n")
}
