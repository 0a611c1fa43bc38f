//! Addresses, documents and issues that were spoken of or fetched.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::digest::{Digest, short};
use super::{Deed, Item, Step, Voice};
use crate::plain::plain;
use crate::transcript::Action;

/// References that are told, the newest of them.
const MANY: usize = 60;

pub(super) fn references(digest: &Digest<'_>) -> Vec<Item> {
    let mut found: Vec<Item> = Vec::new();
    for (step, names) in named(digest) {
        let Step { key, at, deed } = &digest.story.steps[step];
        let voice = if matches!(deed, Deed::Prompt { .. }) { Voice::User } else { Voice::Agent };
        for text in names.iter() {
            match found.iter_mut().find(|item| item.text == *text) {
                Some(known) if known.cites.len() < 4 => known.cites.push(*key),
                Some(_) => {}
                None => found.push(Item { text: text.clone(), voice, at: *at, cites: vec![*key] }),
            }
        }
        // A session of any size keeps the newest only.
        if found.len() > MANY * 4 {
            found.drain(..found.len() - MANY);
        }
    }
    let extra = found.len().saturating_sub(MANY);
    found.drain(..extra);
    found
}

/// The steps that name something, in order, with what they name.
fn named<'a>(digest: &'a Digest<'_>) -> Vec<(usize, Cow<'a, [String]>)> {
    let said = digest.said.iter().filter(|said| !said.references.is_empty());
    let said = said.map(|said| (said.step, Cow::Borrowed(said.references.as_slice())));
    let fetched = digest.calls.iter().filter_map(|call| match call.action {
        Action::Fetch { url } => Some((call.step, Cow::Owned(in_text(&plain(url))))),
        _ => None,
    });
    let mut named: Vec<_> = said.chain(fetched).collect();
    named.sort_by_key(|(step, _)| *step);
    named
}

/// What a text names, which is plain: an escape within a name would make another one of it.
pub(super) fn in_text(text: &str) -> Vec<String> {
    addresses(text).into_iter().chain(issues(text)).chain(documents(text)).collect()
}

/// What stands between the scheme of an address and the rest of it.
static SCHEME_END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("://"));

/// The longest address, in bytes.
const LONGEST: usize = 2048;

fn addresses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for at in SCHEME_END.find_iter(text.as_bytes()) {
        let start = text[..at].bytes().rev().take(8).take_while(u8::is_ascii_alphanumeric).count();
        let scheme = &text[at - start..at];
        if !matches!(scheme, "http" | "https" | "ssh" | "s3" | "gs" | "doi") {
            continue;
        }
        // What is longer is no address.
        let rest = &text[at - start..text.floor_char_boundary(at + LONGEST)];
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\' | '|'))
            .unwrap_or(rest.len());
        let address = balanced(rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']));
        let is_local = ["://localhost", "://127.0.0.1", "://0.0.0.0", "://example.com"]
            .iter()
            .any(|local| address.contains(local));
        if address.len() > scheme.len() + 5 && !is_local {
            found.push(short(address, 300));
        }
    }
    found
}

/// Without a bracket that was opened before the address.
fn balanced(address: &str) -> &str {
    let mut end = address.len();
    while address[..end].ends_with([')', ']', '}']) {
        let last = address[..end].chars().next_back().unwrap_or_default();
        let open = match last {
            ')' => '(',
            ']' => '[',
            _ => '{',
        };
        if address[..end].matches(open).count() >= address[..end].matches(last).count() {
            break;
        }
        end -= 1;
    }
    address[..end].trim_end_matches(['.', ',', ';', ':'])
}

/// `#123`, `owner/name#123`, `PROJ-123` where it is named as such.
fn issues(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    if memchr::memchr2(b'#', b'-', text.as_bytes()).is_none() {
        return found;
    }
    for at in memchr::memchr_iter(b'#', text.as_bytes()) {
        let digits = text[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
        let before = &text[..at];
        let repository = before
            .rsplit(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')))
            .next()
            .unwrap_or_default();
        let is_plain = repository.is_empty() && !before.ends_with(['&', '#', '`']);
        let after = text[at + 1 + digits..].chars().next();
        let ends = after.is_none_or(|c| !c.is_alphanumeric() && c != '-' && c != '#');
        if !(1..=6).contains(&digits) || !ends {
            continue;
        }
        if is_plain && digits > 0 && is_named(before) {
            found.push(text[at..=at + digits].to_owned());
        } else if repository.matches('/').count() == 1 && repository.len() > 2 {
            found.push(text[at - repository.len()..=at + digits].to_owned());
        }
    }
    found.extend(tickets(text));
    found
}

/// A number alone is an issue only where it is called one, or stands in brackets.
fn is_named(before: &str) -> bool {
    let tail = &before[before.ceil_char_boundary(before.len().saturating_sub(24))..];
    let lower = tail.to_ascii_lowercase();
    let word = lower.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    matches!(
        word,
        "issue"
            | "issues"
            | "pr"
            | "prs"
            | "pull"
            | "request"
            | "fixes"
            | "closes"
            | "resolves"
            | "ticket"
            | "bug"
            | "see"
            | "mr"
            | "in"
            | "and"
            | "refs"
            | "ref"
            | "of"
            | "like"
            | "from"
            | "per"
            | "to"
            | "address"
            | "fix"
            | "by"
            | "on"
            | "for"
    ) || lower.ends_with('(')
}

/// `PROJ-123`.
fn tickets(text: &str) -> Vec<String> {
    const NOT: &[&str] = &[
        "UTF", "ISO", "SHA", "RFC", "AES", "RSA", "HTTP", "GPT", "COVID", "CVE", "MD", "BASE", "TLS", "PEP", "US",
        "EN", "AB", "A", "X", "UTC", "GMT",
    ];
    let mut found = Vec::new();
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    let mut done = 0;
    for at in memchr::memchr_iter(b'-', text.as_bytes()) {
        // Only the first of a word parts a project from a number.
        if at < done {
            continue;
        }
        let start = at - text.as_bytes()[..at].iter().rev().take_while(is_part).count();
        let end = at + text.as_bytes()[at..].iter().take_while(is_part).count();
        done = end;
        let (word, project, number) = (&text[start..end], &text[start..at], &text[at + 1..end]);
        let is_project = (2..=10).contains(&project.len()) && project.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_number = (2..=6).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        let is_ticket = is_project && is_number && !NOT.contains(&project);
        let is_standard = matches!(project, "CVE" | "RFC" | "PEP") && number.starts_with(|c: char| c.is_ascii_digit());
        if is_ticket || is_standard {
            found.push(word.to_owned());
        }
    }
    found
}

/// Documents: names with the endings that papers, notes and sheets have.
fn documents(text: &str) -> Vec<String> {
    const ENDINGS: &[&str] = &[".pdf", ".docx", ".doc", ".pptx", ".xlsx", ".odt", ".ipynb", ".rst", ".adoc", ".tex"];
    let mut found = Vec::new();
    let is_ending = |at: usize, end: &&str| {
        text.as_bytes().get(at..at + end.len()).is_some_and(|there| there.eq_ignore_ascii_case(end.as_bytes()))
    };
    let has_ending = |at: usize| may_end(&text.as_bytes()[at..]) && ENDINGS.iter().any(|end| is_ending(at, end));
    if !memchr::memchr_iter(b'.', text.as_bytes()).any(has_ending) {
        return found;
    }
    let apart =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | '[' | ']' | '*');
    for word in text.split(apart).filter(|word| word.contains('.')) {
        let word = word.trim_end_matches(['.', ':', ';', '!', '?']).trim_start_matches('@');
        if word.len() < 200
            && !word.contains("://")
            && ENDINGS.iter().any(|end| word.len() > end.len() + 1 && word.to_ascii_lowercase().ends_with(end))
        {
            found.push(word.to_owned());
        }
    }
    found
}

/// Whether a text that begins with a dot begins like one of the endings: most dots end sentences and names of code.
fn may_end(text: &[u8]) -> bool {
    let Some([_, letters @ ..]) = text.first_chunk::<4>() else { return false };
    matches!(
        &letters.map(|letter| letter | 0x20),
        b"pdf" | b"doc" | b"ppt" | b"xls" | b"odt" | b"ipy" | b"rst" | b"ado" | b"tex"
    )
}

#[cfg(test)]
mod tests {
    use super::{documents, issues};

    #[test]
    fn every_kind_of_document_is_named_by_its_ending() {
        for ending in ["pdf", "DOCX", "doc", "pptx", "Xlsx", "odt", "ipynb", "rst", "adoc", "tex"] {
            let name = format!("notes.{ending}");
            assert_eq!(documents(&format!("see main.rs, {name}.")), [name]);
        }
        assert!(documents("see main.rs. Do it").is_empty());
    }

    #[test]
    fn issues_are_found_by_either_mark() {
        assert_eq!(issues("fixes #12"), ["#12"]);
        assert_eq!(issues("as in PROJ-77"), ["PROJ-77"]);
        assert!(issues("no mark").is_empty());
    }
}
