//! The user's own words in a prompt: without what a harness wrapped around them and without what was pasted.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::dump;

/// Blocks whose content is what the user said.
const WRAPPERS: &[&str] = &[
    "command-args",
    "user-message",
    "user-prompt",
    "user-query",
    "user-request",
    "user_input",
    "user_message",
    "user_prompt",
    "user_query",
    "user_request",
];

/// Blocks of one word that harnesses write; others of one word may be markup that the user talks about.
const INJECTED: &[&str] = &["attachment", "attachments", "cwd", "env", "environment", "reminder", "system"];

/// Lines with which a harness begins a message of its own.
const NOTICES: &[&str] = &[
    "if you need specific details from before compaction",
    "please continue the conversation from where we left",
    "continue the conversation from where it left off",
    "[image #",
    "[image: ",
    "[request interrupted",
    "[user interrupted",
    "caveat: the messages below",
    "command exited with code",
    "ran `",
    "# agents.md instructions for",
    "the user has attached",
    "this session is being continued from a previous conversation",
];

/// The line with which one begins to quote files.
const QUOTES: &str = "--- content from referenced files";

/// What these begin with.
const IS_FIRST: [bool; 256] = {
    let (mut is_first, mut at) = ([false; 256], 0);
    is_first[QUOTES.as_bytes()[0] as usize] = true;
    while at < NOTICES.len() {
        is_first[NOTICES[at].as_bytes()[0] as usize] = true;
        at += 1;
    }
    is_first
};

/// Commands of clients that say nothing about the work.
const HOUSEKEEPING: &[&str] = &[
    "agents",
    "bug",
    "clear",
    "compact",
    "compress",
    "config",
    "context",
    "copy",
    "cost",
    "diff",
    "doctor",
    "exit",
    "export",
    "fork",
    "help",
    "hooks",
    "ide",
    "init",
    "login",
    "logout",
    "mcp",
    "memory",
    "model",
    "models",
    "new",
    "permissions",
    "quit",
    "rename",
    "resume",
    "rewind",
    "session",
    "settings",
    "share",
    "stats",
    "status",
    "theme",
    "tools",
    "undo",
    "usage",
    "vim",
];

/// A message is looked at as far as this; what is longer was pasted.
const ENOUGH: usize = 48 * 1024;

/// What the user said, paragraphs kept; empty where a message has no words of the user.
pub(in crate::distill) fn own(text: &str) -> String {
    let text = clipped(text);
    let text = if is_typeset(&text) { Cow::Owned(text.replace('\u{2019}', "'")) } else { text };
    let text =
        if memchr::memchr(b'\r', text.as_bytes()).is_some() { Cow::Owned(text.replace("\r\n", "\n")) } else { text };
    let text = crate::plain::plain(&text);
    let text = without_blocks(&text);
    let text = without_notices(without_command(text.trim()));
    let text = dump::without(&text);
    let trimmed = text.trim();
    if trimmed.len() == text.len() { text } else { trimmed.to_owned() }
}

/// Whether the apostrophe of typesetting is in a text.
pub(in crate::distill) fn is_typeset(text: &str) -> bool {
    static APOSTROPHE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\u{2019}"));
    APOSTROPHE.find(text.as_bytes()).is_some()
}

/// The beginning and the end: what was pasted stands between them.
pub(in crate::distill) fn clipped(text: &str) -> Cow<'_, str> {
    if text.len() <= ENOUGH {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(ENOUGH / 2);
    let tail = text.ceil_char_boundary(text.len() - ENOUGH / 2);
    Cow::Owned(format!("{}\n\n{}", &text[..head], &text[tail..]))
}

/// A text without the lines that a harness wrote.
pub(in crate::distill) fn without_notices(text: &str) -> Cow<'_, str> {
    let is_notice = |line: &str| {
        let start = line.trim_start();
        let may_be = start.bytes().next().is_some_and(|first| IS_FIRST[usize::from(first.to_ascii_lowercase())]);
        may_be && (starts_with(start, QUOTES) || NOTICES.iter().any(|notice| starts_with(start, notice)))
    };
    if !crate::plain::lines(text).any(is_notice) {
        return Cow::Borrowed(text);
    }
    let mut kept = Vec::new();
    let mut quoting = false;
    for line in crate::plain::lines(text) {
        quoting |= starts_with(line.trim_start(), QUOTES);
        if !quoting && !is_notice(line) {
            kept.push(line);
        }
        quoting &= !starts_with(line.trim_start(), "--- end of content");
    }
    Cow::Owned(kept.join("\n"))
}

/// Whether a text starts with another one, in any case.
fn starts_with(text: &str, start: &str) -> bool {
    text.as_bytes().get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes()))
}

/// A client's own command is no request; what is said behind the name of a user's command is.
fn without_command(text: &str) -> &str {
    if text.starts_with('!') && text.len() > 1 && !text.contains('\n') {
        return "";
    }
    let Some(rest) = text.strip_prefix('/') else { return text };
    let (name, arguments) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | ':'));
    match is_name {
        false => text,
        true if HOUSEKEEPING.contains(&name) => "",
        true => arguments.trim(),
    }
}

/// Takes out `<tag>…</tag>` blocks that no user types.
fn without_blocks(text: &str) -> Cow<'_, str> {
    if memchr::memchr(b'<', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut unclosed: BTreeSet<&str> = BTreeSet::new();
    let mut rest = text;
    while let Some(start) = memchr::memchr(b'<', rest.as_bytes()) {
        let Some((name, end)) = tag(&rest[start..]).filter(|(name, _)| !unclosed.contains(name)) else {
            out.push_str(&rest[..=start]);
            rest = &rest[start + 1..];
            continue;
        };
        let body = &rest[start + end..];
        let Some(closing) = closing(body, name) else {
            unclosed.insert(name);
            out.push_str(&rest[..start + end]);
            rest = body;
            continue;
        };
        out.push_str(&rest[..start]);
        let after = &body[closing..];
        rest = after.find('>').map_or("", |end| &after[end + 1..]);
        if WRAPPERS.contains(&name) {
            out.push_str(&without_blocks(&body[..closing]));
        } else if !is_foreign(name) {
            // Markup that the user talks about stays as it was said.
            let whole = text.len() - rest.len();
            let from = text.len() - body.len() - end;
            out.push_str(&text[from..whole]);
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The name of the tag that a text begins with, and where the tag ends.
fn tag(text: &str) -> Option<(&str, usize)> {
    let rest = &text[1..];
    let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')?;
    let name = &rest[..length];
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let end = rest[length..].bytes().take(400).position(|byte| byte == b'>')?;
    let on_one_line = !rest[length..length + end].contains('\n');
    (starts_well && on_one_line).then_some((name, 1 + length + end + 1))
}

fn closing(body: &str, name: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = body[from..].find("</") {
        let start = from + at;
        if body[start + 2..].strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('>')) {
            return Some(start);
        }
        from = start + 2;
    }
    None
}

fn is_foreign(name: &str) -> bool {
    let is_shouted = name.len() > 3 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
    is_shouted || name.contains(['-', '_']) || INJECTED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::{NOTICES, own, without_notices};

    #[test]
    fn lines_of_a_harness_go_and_so_do_files_that_it_quotes() {
        for notice in NOTICES {
            assert_eq!(own(&format!("Fix it.\n  {}\nNow.", notice.to_uppercase())), "Fix it.\nNow.", "{notice}");
        }
        let quoted = "Fix it.\n--- Content from referenced files ---\nx\n--- End of content ---\nNow.";
        assert_eq!(without_notices(quoted), "Fix it.\nNow.");
        assert_eq!(without_notices("Fix it.\n"), "Fix it.\n");
    }
}
