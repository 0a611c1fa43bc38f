//! The functions and classes that were changed, by the grammars of the common languages.
//!
//! Bounded: the newest files first, until a budget of bytes is used up.

use std::collections::BTreeMap;

use tree_sitter::{Node, Parser};

use super::Work;
use super::changes::FileEffect;
use super::language::Language;
use crate::plain::one_line;

/// Files that are parsed, their largest size, and the bytes that are parsed in all.
const MAX_FILES: usize = 30;
const MAX_FILE_BYTES: usize = 512 * 1024;
const MAX_TOTAL_BYTES: usize = 2 * 1024 * 1024;
/// Changes that are looked for in one file, and names that are told of it.
const MAX_HUNKS: usize = 64;
const MAX_NAMES: usize = 12;

/// Finds what was changed in files.
pub(super) struct Symbols<'t, 'a> {
    work: &'t Work<'a>,
    touches: BTreeMap<&'t str, Vec<&'t FileEffect<'a>>>,
    parser: Parser,
    files: usize,
    budget: usize,
}

/// A function or a class, with where it is.
struct Definition {
    name: String,
    start: usize,
    end: usize,
}

impl<'t, 'a> Symbols<'t, 'a> {
    pub(super) fn new(work: &'t Work<'a>) -> Self {
        let mut by_path: BTreeMap<&str, Vec<&FileEffect<'a>>> = BTreeMap::new();
        for touch in &work.touches {
            by_path.entry(&touch.path).or_default().push(&touch.effect);
        }
        Self { work, touches: by_path, parser: Parser::new(), files: MAX_FILES, budget: MAX_TOTAL_BYTES }
    }

    /// The definitions that were changed in a file. To be asked for the newest files first.
    pub(super) fn find_touched(&mut self, path: &str) -> Vec<String> {
        let Some(language) = Language::from_path(path) else { return Vec::new() };
        let touches = self.touches.remove(path).unwrap_or_default();
        if self.files == 0 || touches.is_empty() {
            return Vec::new();
        }
        self.files -= 1;
        let written = touches.iter().rev().find_map(|what| match what {
            FileEffect::Whole(text) | FileEffect::Add(text) => Some(*text),
            _ => None,
        });
        let hunks: Vec<&str> = touches.iter().flat_map(|what| new_sides(what)).collect();
        let hunks = &hunks[hunks.len().saturating_sub(MAX_HUNKS)..];
        let now = self.work.workspace.files.iter().find(|file| self.work.roots.relative_path(&file.path) == path);
        let source = now.and_then(|file| file.text.as_deref()).or(written);
        let mut names = Vec::new();
        match source {
            Some(source) => {
                let definitions = self.parse_definitions(language, source);
                if written.is_some() {
                    add_innermost(&definitions, 0, source.len(), &mut names);
                }
                for (start, end) in hunks.iter().filter_map(|hunk| find_hunk(source, hunk)) {
                    add_innermost(&definitions, start, end, &mut names);
                }
            }
            None => {
                for hunk in hunks {
                    let definitions = self.parse_definitions(language, hunk);
                    add_innermost(&definitions, 0, hunk.len(), &mut names);
                }
            }
        }
        names.truncate(MAX_NAMES);
        names
    }

    fn parse_definitions(&mut self, language: Language, source: &str) -> Vec<Definition> {
        if source.len() > MAX_FILE_BYTES || source.len() > self.budget {
            return Vec::new();
        }
        self.budget -= source.len();
        if self.parser.set_language(&language.grammar()).is_err() {
            return Vec::new();
        }
        let tree = self.parser.parse(source, None);
        tree.map(|tree| collect_definitions(language, tree.root_node(), source)).unwrap_or_default()
    }
}

fn new_sides<'a>(what: &FileEffect<'a>) -> Vec<&'a str> {
    match what {
        FileEffect::Hunks(hunks) => hunks.iter().map(|hunk| hunk.new.as_str()).collect(),
        _ => Vec::new(),
    }
}

/// Where a changed text is now; where it was changed again, its longest line.
fn find_hunk(source: &str, new: &str) -> Option<(usize, usize)> {
    let new = new.trim();
    if new.is_empty() {
        return None;
    }
    let find = |text: &str| memchr::memmem::find(source.as_bytes(), text.as_bytes()).map(|at| (at, at + text.len()));
    find(new).or_else(|| {
        let longest = new.lines().map(str::trim).max_by_key(|line| line.len()).filter(|line| line.len() > 12)?;
        find(longest)
    })
}

/// All definitions, without recursion: sources may be nested as deep as they like.
fn collect_definitions(language: Language, root: Node<'_>, source: &str) -> Vec<Definition> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    let mut within: Vec<(usize, String)> = Vec::new();
    let mut depth = 0;
    loop {
        let node = cursor.node();
        let name = language.defined_name(&node, source).map(|name| one_line(name, 80)).filter(|name| !name.is_empty());
        if let Some(name) = name {
            let full = within
                .last()
                .map_or_else(|| name.clone(), |(_, outer)| format!("{outer}{}{name}", language.path_separator()));
            found.push(Definition { name: full.clone(), start: node.start_byte(), end: node.end_byte() });
            within.push((depth, full));
        }
        if cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        loop {
            if within.last().is_some_and(|(at, _)| *at == depth) {
                within.pop();
            }
            if cursor.goto_next_sibling() {
                break;
            }
            if !cursor.goto_parent() {
                return found;
            }
            depth -= 1;
        }
    }
}

/// The definitions at a place that have none within them at the same place.
fn add_innermost(definitions: &[Definition], start: usize, end: usize, names: &mut Vec<String>) {
    let meets = |definition: &&Definition| definition.start < end && definition.end > start;
    for (index, definition) in definitions.iter().enumerate().filter(|(_, definition)| meets(definition)) {
        // Definitions come in the order of their beginnings: what is within follows at once.
        let mut inner = definitions[index + 1..].iter().take_while(|other| other.start < definition.end);
        if names.len() < MAX_NAMES && !inner.any(|other| meets(&other)) && !names.contains(&definition.name) {
            names.push(definition.name.clone());
        }
    }
}
