//! Addresses, documents and issues that were spoken of or fetched, verbatim.

use super::{Item, Voice, Words};
use crate::distill::work::Work;
use crate::plain::{one_line, strip_hidden};
use crate::time::Timestamp;
use crate::transcript::{Action, EntryKey};

/// References that are told, the newest of them.
const MAX_REFERENCES: usize = 60;
/// No more of a message is searched: what is longer was pasted, and names too much.
const SEARCHED_BYTES: usize = 16 * 1024;

/// References that the user named, that were fetched, and that the agent named in its last words.
pub(super) fn collect_from(words: &Words<'_>, work: &Work<'_>) -> Vec<Item> {
    let mut found = ReferenceList { items: Vec::new(), words };
    for prompt in &words.prompts {
        found.add_from_text(prompt.text, Voice::User, prompt.at, prompt.key);
    }
    for call in work.calls() {
        if let Action::Fetch { url } = call.action {
            found.add_from_text(url, Voice::Agent, call.at, call.key);
        }
    }
    if let Some(reply) = words.replies.last() {
        // A number that looks like an issue in an agent's words is most often one of its own.
        let named =
            found.find_names(reply.text, |text| find_addresses(text).into_iter().chain(find_documents(text)).collect());
        found.push_names(named, Voice::Agent, reply.at, reply.key);
    }
    let extra = found.items.len().saturating_sub(MAX_REFERENCES);
    found.items.split_off(extra)
}

struct ReferenceList<'w> {
    items: Vec<Item>,
    words: &'w Words<'w>,
}

impl ReferenceList<'_> {
    fn add_from_text(&mut self, text: &str, voice: Voice, at: Option<Timestamp>, key: EntryKey) {
        let named = self.find_names(text, find_references);
        self.push_names(named, voice, at, key);
    }

    fn find_names(&self, text: &str, find: impl Fn(&str) -> Vec<String>) -> Vec<String> {
        let bounded = &text[..text.floor_char_boundary(SEARCHED_BYTES)];
        let named = find(&strip_hidden(bounded));
        // An address is cut after it is masked: what is left of a key is not known for one.
        named.iter().map(|name| one_line(&self.words.quoting.mask(name), 300)).collect()
    }

    fn push_names(&mut self, named: Vec<String>, voice: Voice, at: Option<Timestamp>, key: EntryKey) {
        for name in named {
            match self.items.iter_mut().find(|item| item.text == name) {
                Some(known) if known.entries.len() < 4 => known.entries.push(key),
                Some(_) => {}
                None => self.items.push(Item { text: name, voice, at, entries: vec![key] }),
            }
        }
    }
}

/// The references in a plain text: an escape within a name would make another one of it.
fn find_references(text: &str) -> Vec<String> {
    find_addresses(text).into_iter().chain(find_issues(text)).chain(find_documents(text)).collect()
}

/// The longest address, in bytes.
const MAX_ADDRESS_BYTES: usize = 2048;

fn find_addresses(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), "://") {
        let start = text[..at].bytes().rev().take(8).take_while(u8::is_ascii_alphanumeric).count();
        let scheme = &text[at - start..at];
        if !matches!(scheme, "http" | "https" | "ssh" | "s3" | "gs" | "doi") {
            continue;
        }
        // Longer ones are no addresses.
        let rest = &text[at - start..text.floor_char_boundary(at + MAX_ADDRESS_BYTES)];
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`' | '\\' | '|'))
            .unwrap_or(rest.len());
        let address = trim_unbalanced(rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_']));
        let is_local = ["://localhost", "://127.0.0.1", "://0.0.0.0", "://example.com"]
            .iter()
            .any(|local| address.contains(local));
        if address.len() > scheme.len() + 5 && !is_local {
            found.push(address.to_owned());
        }
    }
    found
}

/// Without a bracket that was opened before the address.
fn trim_unbalanced(address: &str) -> &str {
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
fn find_issues(text: &str) -> Vec<String> {
    let mut found = Vec::new();
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
        if is_plain && digits > 0 && is_called_issue(before) {
            found.push(text[at..=at + digits].to_owned());
        } else if repository.matches('/').count() == 1 && repository.len() > 2 {
            found.push(text[at - repository.len()..=at + digits].to_owned());
        }
    }
    found.extend(find_tickets(text));
    found
}

/// A number alone is an issue only where it is called one, or stands in brackets.
fn is_called_issue(before: &str) -> bool {
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
fn find_tickets(text: &str) -> Vec<String> {
    const NOT_PROJECTS: &[&str] = &[
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
        let is_ticket = is_project && is_number && !NOT_PROJECTS.contains(&project);
        let is_standard = matches!(project, "CVE" | "RFC" | "PEP") && number.starts_with(|c: char| c.is_ascii_digit());
        if is_ticket || is_standard {
            found.push(word.to_owned());
        }
    }
    found
}

/// The endings of names that documents, notes and sheets have.
const DOCUMENT_ENDINGS: &[&str] =
    &[".pdf", ".docx", ".doc", ".pptx", ".xlsx", ".odt", ".ipynb", ".rst", ".adoc", ".tex", ".md", ".txt", ".csv"];

/// Documents, by the endings of their names.
fn find_documents(text: &str) -> Vec<String> {
    let apart =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '(' | ')' | '<' | '>' | ',' | '[' | ']' | '*');
    let names = text.split(apart).map(|word| word.trim_end_matches(['.', ':', ';', '!', '?']).trim_start_matches('@'));
    names.filter(|name| is_document(name)).map(str::to_owned).collect()
}

fn is_document(name: &str) -> bool {
    let ending = name.rfind('.').filter(|stem| *stem > 0).map_or("", |stem| &name[stem..]);
    let is_known = DOCUMENT_ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending));
    is_known && name.len() < 200 && !name.contains("://")
}

#[cfg(test)]
mod tests {
    use super::{find_documents, find_issues};

    #[test]
    fn every_kind_of_document_is_named_by_its_ending() {
        for ending in ["pdf", "DOCX", "doc", "pptx", "Xlsx", "odt", "ipynb", "rst", "adoc", "tex", "md"] {
            let name = format!("notes.{ending}");
            assert_eq!(find_documents(&format!("see main.rs, {name}.")), [name]);
        }
        assert!(find_documents("see main.rs. Do it").is_empty());
    }

    #[test]
    fn issues_are_found_by_either_mark() {
        assert_eq!(find_issues("fixes #12"), ["#12"]);
        assert_eq!(find_issues("as in PROJ-77"), ["PROJ-77"]);
        assert!(find_issues("no mark").is_empty());
    }
}
