//! The user's words in a prompt, told from what the client put before them.
//!
//! A skill that the user calls by its name, and files that are named on the command line, stand in the prompt itself.

use carryover_core::transcript::{Body, Origin, Part};

use super::bodies::{Bodies, wordless};

/// What begins what the client puts in, and what ends it.
const SKILL: (&str, &str) = ("<skill name=\"", "\n</skill>");
const FILES: (&str, &str) = ("<file name=\"", "</file>\n");

/// What was said to the agent: what the client put in, then the user's own words. `kind` names a record that says nothing.
pub fn prompted(parts: Vec<Part>) -> Bodies {
    if !parts.iter().any(is_mixed) {
        return if parts.is_empty() { vec![wordless()] } else { vec![(Origin::User, Body::Prompt(parts))] };
    }
    let (mut brought, mut said) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) => {
                let (block, words) = split(&text);
                brought.extend(text_part(block));
                said.extend(text_part(words));
            }
            // What is named together with files is one of them.
            Part::Blob(blob) if said.is_empty() => brought.push(Part::Blob(blob)),
            Part::Blob(blob) => said.push(Part::Blob(blob)),
        }
    }
    let bodies = [(Origin::Hook, brought), (Origin::User, said)].into_iter().filter(|(_, parts)| !parts.is_empty());
    bodies.map(|(origin, parts)| (origin, Body::Prompt(parts))).collect()
}

/// The user's own words among the parts of a prompt, where others are in it.
pub fn words(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match part {
        Part::Text(text) => Some(split(text).1).filter(|words| !words.is_empty()),
        Part::Blob(_) => None,
    })
}

fn is_mixed(part: &Part) -> bool {
    matches!(part, Part::Text(text) if !split(text).0.is_empty())
}

fn text_part(text: &str) -> Option<Part> {
    (!text.trim().is_empty()).then(|| Part::Text(text.to_owned()))
}

/// What the client put in, and the words behind it.
fn split(text: &str) -> (&str, &str) {
    let end = match text {
        _ if text.starts_with(SKILL.0) => text.find(SKILL.1).map(|at| at + SKILL.1.len()),
        // A file may hold the mark itself: what the user says hardly does.
        _ if text.starts_with(FILES.0) => text.rfind(FILES.1).map(|at| at + FILES.1.len()),
        _ => None,
    };
    let (block, words) = text.split_at(end.unwrap_or(0));
    if block.is_empty() { ("", text) } else { (block, words.trim_start_matches('\n')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<(Origin, String)> {
        let bodies = prompted(vec![Part::Text(text.to_owned())]);
        let text = |body: &Body| carryover_core::transcript::text_of(body.parts());
        bodies.iter().map(|(origin, body)| (*origin, text(body))).collect()
    }

    #[test]
    fn skills_and_files_are_told_from_the_users_words() {
        let skill =
            "<skill name=\"tidy\" location=\"/s/SKILL.md\">\nReferences are relative to /s.\n\nTidy up.\n</skill>";
        let typed = told(&format!("{skill}\n\nonly src, please"));
        assert_eq!(typed, [(Origin::Hook, skill.to_owned()), (Origin::User, "only src, please".to_owned())]);
        assert_eq!(told(skill), [(Origin::Hook, skill.to_owned())]);
        let file = "<file name=\"/a.html\">\n<file></file>\n\n</file>\n<file name=\"/b.png\"></file>\n";
        let typed = told(&format!("{file}what is wrong?"));
        assert_eq!(typed, [(Origin::Hook, file.to_owned()), (Origin::User, "what is wrong?".to_owned())]);
        let plain = "what does <file name=\"x\"> mean?";
        assert_eq!(told(plain), [(Origin::User, plain.to_owned())]);
        assert_eq!(words(&[Part::Text(format!("{skill}\n\nonly src"))]), Some("only src"));
    }
}
