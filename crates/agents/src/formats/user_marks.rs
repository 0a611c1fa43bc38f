//! The user's words on their way to a client that would take them for its own: somebody pasted a block of its.

use std::borrow::Cow;

use carryover_core::transcript::Part;

/// The kind and the reason of the loss in a report.
pub(crate) const LOSS_KIND: &str = "prompts";
pub(crate) const LOSS_REASON: &str = "they look like the client's own words; a line beside them says whose they are";

const MARK_BEFORE: &str = "The user wrote:\n\n";
const MARK_AFTER: &str = "\n\n(end of what the user wrote)";

/// A text in a form that is the user's, by the judgement of who will read it; `None` where it is so as it stands.
pub(crate) fn mark_as_user(text: &str, is_users: impl Fn(&str) -> bool) -> Option<String> {
    if text.trim().is_empty() || is_users(text) {
        return None;
    }
    let before = format!("{MARK_BEFORE}{text}");
    Some(if is_users(&before) { before } else { before + MARK_AFTER })
}

/// The parts of a prompt in such a form, and how many had to be changed for it.
pub(crate) fn mark_parts_as_user(parts: &[Part], is_users: impl Fn(&str) -> bool) -> (Cow<'_, [Part]>, usize) {
    let mut parts = Cow::Borrowed(parts);
    let mut changed = 0;
    for index in 0..parts.len() {
        if let Part::Text(text) = &parts[index]
            && let Some(text) = mark_as_user(text, &is_users)
        {
            parts.to_mut()[index] = Part::Text(text);
            changed += 1;
        }
    }
    (parts, changed)
}

#[cfg(test)]
mod tests {
    use super::mark_as_user;

    #[test]
    fn only_what_is_mistaken_is_introduced() {
        let is_users = |text: &str| !text.starts_with('<') && !text.ends_with('>');
        assert_eq!(mark_as_user("as it is", is_users), None);
        assert_eq!(mark_as_user("<a> b", is_users).as_deref(), Some("The user wrote:\n\n<a> b"));
        let both = mark_as_user("<a>", is_users);
        assert_eq!(both.as_deref(), Some("The user wrote:\n\n<a>\n\n(end of what the user wrote)"));
    }
}
