//! The user's words in a prompt, told from what the client put before them.
//!
//! A skill that the user calls by its name, and files that are named on the command line, stand in the prompt itself.

use carryover_core::transcript::{Body, Origin, Part};

use super::bodies::{Bodies, prompt_without_words};

/// The beginning and the end of text that the client puts in.
const SKILL_MARKS: (&str, &str) = ("<skill name=\"", "\n</skill>");
const FILE_MARKS: (&str, &str) = ("<file name=\"", "</file>\n");

/// Splits a prompt: the text that the client put in, then the user's own words.
pub fn split_prompt(parts: Vec<Part>) -> Bodies {
    if !parts.iter().any(has_injected) {
        return if parts.is_empty() { vec![prompt_without_words()] } else { vec![(Origin::User, Body::Prompt(parts))] };
    }
    let (mut brought, mut said) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(text) => {
                let (block, words) = split_injected(&text);
                brought.extend(text_part(block));
                said.extend(text_part(words));
            }
            // A blob that is named together with files is one of them.
            Part::Blob(blob) if said.is_empty() => brought.push(Part::Blob(blob)),
            Part::Blob(blob) => said.push(Part::Blob(blob)),
        }
    }
    let bodies = [(Origin::Hook, brought), (Origin::User, said)].into_iter().filter(|(_, parts)| !parts.is_empty());
    bodies.map(|(origin, parts)| (origin, Body::Prompt(parts))).collect()
}

/// The user's own words among the parts of a prompt, where others are in it.
pub fn user_words(parts: &[Part]) -> Option<&str> {
    parts.iter().find_map(|part| match part {
        Part::Text(text) => Some(split_injected(text).1).filter(|words| !words.is_empty()),
        Part::Blob(_) => None,
    })
}

fn has_injected(part: &Part) -> bool {
    matches!(part, Part::Text(text) if !split_injected(text).0.is_empty())
}

fn text_part(text: &str) -> Option<Part> {
    (!text.trim().is_empty()).then(|| Part::Text(text.to_owned()))
}

/// The text that the client put in, and the words behind it.
fn split_injected(text: &str) -> (&str, &str) {
    let end = match text {
        _ if text.starts_with(SKILL_MARKS.0) => text.find(SKILL_MARKS.1).map(|at| at + SKILL_MARKS.1.len()),
        // A file may hold the mark itself: what the user says hardly does.
        _ if text.starts_with(FILE_MARKS.0) => text.rfind(FILE_MARKS.1).map(|at| at + FILE_MARKS.1.len()),
        _ => None,
    };
    let (block, words) = text.split_at(end.unwrap_or(0));
    if block.is_empty() { ("", text) } else { (block, words.trim_start_matches('\n')) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_and_join(text: &str) -> Vec<(Origin, String)> {
        let bodies = split_prompt(vec![Part::Text(text.to_owned())]);
        let text = |body: &Body| carryover_core::transcript::text_of(body.parts());
        bodies.iter().map(|(origin, body)| (*origin, text(body))).collect()
    }

    #[test]
    fn skills_and_files_are_told_from_the_users_words() {
        let skill =
            "<skill name=\"tidy\" location=\"/s/SKILL.md\">\nReferences are relative to /s.\n\nTidy up.\n</skill>";
        let typed = split_and_join(&format!("{skill}\n\nonly src, please"));
        assert_eq!(typed, [(Origin::Hook, skill.to_owned()), (Origin::User, "only src, please".to_owned())]);
        assert_eq!(split_and_join(skill), [(Origin::Hook, skill.to_owned())]);
        let file = "<file name=\"/a.html\">\n<file></file>\n\n</file>\n<file name=\"/b.png\"></file>\n";
        let typed = split_and_join(&format!("{file}what is wrong?"));
        assert_eq!(typed, [(Origin::Hook, file.to_owned()), (Origin::User, "what is wrong?".to_owned())]);
        let plain = "what does <file name=\"x\"> mean?";
        assert_eq!(split_and_join(plain), [(Origin::User, plain.to_owned())]);
        assert_eq!(user_words(&[Part::Text(format!("{skill}\n\nonly src"))]), Some("only src"));
    }
}
