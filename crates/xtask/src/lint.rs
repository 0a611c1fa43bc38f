//! `cargo xtask lint`: rules of structure that no compiler checks.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};

use carryover_agents::AGENTS;

use crate::write_line;

/// The longest that a file may be, its tests not counted.
const MAX_FILE_LINES: usize = 500;

/// Where no vendor's name may occur.
const VENDOR_FREE_FOLDERS: &[&str] = &["crates/core/src", "crates/engine/src", "crates/agents/src/formats"];

/// Where agents are listed: their own folders, and their labs.
const LISTS: &[&str] = &["crates/agents/src", "crates/testkit/src/agents"];

/// The most agents that one item may name elsewhere: more is a list, which `AGENTS` and `LABS` are for. A test of a pair,
/// or an example in a help text, names fewer.
const AGENTS_PER_ITEM: usize = 3;

/// Checks every source file, and tells everything that is wrong.
pub(crate) fn check_sources(root: &Path) -> Result<(), Box<dyn Error>> {
    let mut wrong = 0;
    let names = vendor_names();
    for path in list_sources(&root.join("crates"))? {
        let text = fs_err::read_to_string(&path)?;
        let shown = path.strip_prefix(root).unwrap_or(&path);
        let code = without_tests(shown, &text);
        if code.lines().count() > MAX_FILE_LINES {
            write_line(&format!(
                "{}: {} lines of code, {MAX_FILE_LINES} are allowed",
                shown.display(),
                code.lines().count()
            ));
            wrong += 1;
        }
        if !LISTS.iter().any(|folder| shown.starts_with(folder)) {
            for (line, agents) in agent_lists(&text) {
                write_line(&format!(
                    "{}:{line}: a list of agents ({}): go through `AGENTS` or `LABS` instead",
                    shown.display(),
                    agents.join(", ")
                ));
                wrong += 1;
            }
        }
        if VENDOR_FREE_FOLDERS.iter().any(|folder| shown.starts_with(folder)) {
            for (line, name) in find_names(code, &names) {
                write_line(&format!(
                    "{}:{line}: `{name}` is a vendor's name, which belongs to crates/agents",
                    shown.display()
                ));
                wrong += 1;
            }
        }
    }
    if wrong == 0 { Ok(()) } else { Err(format!("{wrong} rules of structure are broken").into()) }
}

/// Names that are everyday words of the trade: only what is longer than these is a name.
const EVERYDAY_WORDS: &[&str] = &["code", "cursor"];

/// The words by which agents and their vendors are called.
fn vendor_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for agent in AGENTS {
        let facts = agent.facts();
        // A scope may be any word (`@block/…`); the name behind it is the product's.
        let packages = facts.packages.iter().filter_map(|package| package.rsplit('/').next());
        let words = [facts.id, facts.name].into_iter().chain(facts.binaries.iter().copied()).chain(packages);
        let is_name = |word: &String| word.len() > 3 && !EVERYDAY_WORDS.contains(&word.as_str());
        names.extend(words.map(str::to_lowercase).filter(is_name));
    }
    names
}

/// Items that name too many agents: the line, counted from one, at which each begins, and the agents.
fn agent_lists(text: &str) -> Vec<(usize, Vec<&'static str>)> {
    let mut found = Vec::new();
    let mut item = (1, BTreeSet::new());
    let mut was_blank = false;
    for (index, line) in text.lines().enumerate() {
        // After formatting, an item begins at the margin after a blank line.
        if was_blank && line.starts_with(|c: char| !c.is_whitespace()) {
            found.push(std::mem::replace(&mut item, (index + 1, BTreeSet::new())));
        }
        item.1.extend(named_agents(line));
        was_blank = line.is_empty();
    }
    found.push(item);
    let lists = found.into_iter().filter(|(_, agents)| agents.len() > AGENTS_PER_ITEM);
    lists.map(|(line, agents)| (line, agents.into_iter().collect())).collect()
}

/// The agents that a line names, as `some-agent`, `some_agent` or `SomeAgent`.
fn named_agents(line: &str) -> impl Iterator<Item = &'static str> {
    let plain = |word: &str| word.replace(['-', '_'], "").to_lowercase();
    let is_mark = |c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_';
    let words: BTreeSet<String> = line.split(is_mark).map(plain).collect();
    let ids = AGENTS.iter().map(|agent| agent.facts().id);
    ids.filter(move |id| words.contains(&plain(id)))
}

/// Lines, counted from one, in which a name occurs as a word.
fn find_names<'a>(code: &str, names: &'a BTreeSet<String>) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    for (index, line) in code.lines().enumerate() {
        let line = line.to_lowercase();
        let name = names.iter().find(|name| line.match_indices(name.as_str()).any(|(at, _)| is_word(&line, at, name)));
        found.extend(name.map(|name| (index + 1, name.as_str())));
    }
    found
}

fn is_word(line: &str, at: usize, name: &str) -> bool {
    let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    !letter(line[..at].chars().next_back()) && !letter(line[at + name.len()..].chars().next())
}

/// The code before the tests; a file of tests alone has none.
fn without_tests<'a>(path: &Path, text: &'a str) -> &'a str {
    let tests_alone = path.components().any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs")));
    if tests_alone {
        return "";
    }
    text.find("#[cfg(test)]").map_or(text, |start| &text[..start])
}

fn list_sources(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(list_sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_agents_is_found_and_a_pair_is_none() {
        let ids: Vec<&str> = AGENTS.iter().map(|agent| agent.facts().id).collect();
        let list = |ids: &[&str]| format!("//! Tests.\n\nfn one() {{}}\n\nfn two() {{\n\n    {ids:?}\n}}\n");
        assert_eq!(agent_lists(&list(&ids[..3])), []);
        assert_eq!(agent_lists(&list(&ids))[0].0, 5);
        assert_eq!(agent_lists(&list(&ids).replace('-', "_")).len(), 1);
        let apart: Vec<String> = ids.iter().map(|id| format!("fn of_one() {{\n    \"{id}\"\n}}\n")).collect();
        assert_eq!(agent_lists(&apart.join("\n")), []);
    }

    #[test]
    fn names_are_found_as_words() {
        let names = vendor_names();
        let (id, name) = (AGENTS[0].facts().id, AGENTS[0].facts().name);
        assert_eq!(find_names(&format!("a\nsays \"{id}\""), &names).len(), 1);
        assert_eq!(find_names(&format!("// {name} does"), &names).len(), 1);
        assert_eq!(find_names(&format!("pre{id}post"), &names), []);
    }
}
