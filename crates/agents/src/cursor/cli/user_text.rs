//! A message in the user's place: what was typed stands in a block of its own, and the client's blocks around it.

/// The block of what was typed.
const QUERY: &str = "user_query";

/// The client's own blocks, by the list with which its vendor's code takes them out of a transcript.
const CLIENT_BLOCKS: &[&str] = &[
    "user_info",
    "project_layout",
    "rules",
    "always_applied_workspace_rules",
    "agent_requestable_workspace_rules",
    "user_rules",
    "agent_skills",
    "available_skills",
    "cloud_instructions",
    "cloud_task_instructions",
    "open_and_recently_viewed_files",
    "system_reminder",
    "system-reminder",
    "instructions_update",
    "mcp_instructions",
    "mcp_file_system",
    "mcp_file_system_servers",
    "git_status",
    "agent_transcripts",
    "cursor_rules_context",
    "attached_files",
    "system_notification",
    "task_notification",
    "agent_notification",
];

/// A block that the client attached because the user asked for it.
const ATTACHED: &str = "attached_files";

/// A piece of a message.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::cursor) struct UserPiece<'a> {
    pub text: &'a str,
    /// The user typed it.
    pub is_users: bool,
    /// The user had it attached.
    pub is_attached: bool,
}

/// Takes a message apart; blank pieces are left out. Where there is a block of what was typed, nothing else was.
pub(in crate::cursor) fn split_user_text(text: &str) -> Vec<UserPiece<'_>> {
    let has_query = BlockFinder { names: vec![QUERY] }.find_block(text).is_some();
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut finder = BlockFinder { names: CLIENT_BLOCKS.iter().copied().chain([QUERY]).collect() };
    while let Some(block) = finder.find_block(rest) {
        push_piece(&mut pieces, &rest[..block.start], !has_query, false);
        match block.name {
            QUERY => push_piece(&mut pieces, block.inner, true, false),
            ATTACHED => push_piece(&mut pieces, block.inner, false, true),
            _ => push_piece(&mut pieces, &rest[block.start..block.end], false, false),
        }
        rest = &rest[block.end..];
    }
    push_piece(&mut pieces, rest, !has_query, false);
    pieces
}

/// What a user typed, in the block in which the client puts it.
pub(in crate::cursor) fn wrap_query(text: &str) -> String {
    format!("<{QUERY}>\n{text}\n</{QUERY}>")
}

/// Whether words are read as the user's, and as these, once they stand in their block.
pub(in crate::cursor) fn is_query(text: &str) -> bool {
    let wrapped = wrap_query(text);
    let pieces = split_user_text(&wrapped);
    matches!(pieces.as_slice(), [piece] if piece.is_users && piece.text == text.trim())
}

fn push_piece<'a>(pieces: &mut Vec<UserPiece<'a>>, text: &'a str, is_users: bool, is_attached: bool) {
    let text = text.trim();
    if !text.is_empty() {
        pieces.push(UserPiece { text, is_users, is_attached });
    }
}

/// A block of a message: `<name ...>...</name>`.
struct Block<'a> {
    name: &'static str,
    start: usize,
    end: usize,
    inner: &'a str,
}

/// Looks for blocks.
struct BlockFinder {
    /// Names that may still be closed: what is never closed is looked for once.
    names: Vec<&'static str>,
}

impl BlockFinder {
    /// The first block with one of the names.
    fn find_block<'a>(&mut self, text: &'a str) -> Option<Block<'a>> {
        let mut from = 0;
        while let Some(start) = text[from..].find('<').map(|at| from + at) {
            from = start + 1;
            let after = &text[from..];
            let is_opened = |name: &&str| {
                let rest = after.strip_prefix(*name);
                rest.is_some_and(|rest| rest.starts_with(['>', ' ', '\n', '\t']))
            };
            let Some(name) = self.names.iter().copied().find(is_opened) else { continue };
            let inner_start = from + after.find('>')? + 1;
            let closing = format!("</{name}>");
            let inner = &text[inner_start..];
            // What was typed may name its own block; the client's closes it last.
            let length = if name == QUERY { inner.rfind(&closing) } else { inner.find(&closing) };
            match length {
                Some(length) => {
                    let end = inner_start + length + closing.len();
                    return Some(Block { name, start, end, inner: &inner[..length] });
                }
                None => self.names.retain(|other| *other != name),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(&str, bool)> {
        split_user_text(text).into_iter().map(|piece| (piece.text, piece.is_users)).collect()
    }

    #[test]
    fn what_was_typed_is_told_from_what_the_client_adds() {
        let info = "<user_info>\nOS\n</user_info>";
        assert_eq!(told(info), [(info, false)]);
        assert_eq!(told("<user_query>\nList files\n</user_query>"), [("List files", true)]);
        assert_eq!(
            told(&format!("{info}\nnote\n<user_query>go</user_query>")),
            [(info, false), ("note", false), ("go", true)]
        );
        assert_eq!(told("no blocks at <all>"), [("no blocks at <all>", true)]);
        assert_eq!(told(&format!("{info} typed without a block")), [(info, false), ("typed without a block", true)]);
        let files = "<attached_files kind=\"x\">a</attached_files>";
        assert!(split_user_text(files)[0].is_attached);
    }

    #[test]
    fn a_block_that_is_pasted_stays_with_the_words_around_it() {
        assert_eq!(
            told("<user_query>\nwhat is </user_query> for?\n</user_query>"),
            [("what is </user_query> for?", true)]
        );
        assert!(is_query("what is <user_info>x</user_info>?") && is_query("plain"));
        assert_eq!(told("<user_info> is never closed"), [("<user_info> is never closed", true)]);
    }
}
