//! Messages in the user's place, taken apart: the words that were typed, and what the client put beside them.

use carryover_core::transcript::{Body, Origin, Part, text_of};

use super::boilerplate::{self, SortedText};
use crate::formats::user_message::UserMessage;

/// A message of the user's in the course of being read.
pub(super) fn begin() -> UserMessage {
    UserMessage::new(sort_words)
}

fn sort_words(message: &mut UserMessage, text: &str) {
    let prompt = |text: &str| Body::Prompt(vec![Part::Text(text.to_owned())]);
    match boilerplate::sort_text(text) {
        SortedText::User(words) => message.typed.push(Part::Text(words.to_owned())),
        SortedText::Hook("") => {}
        SortedText::Hook(words) => message.added.push((Origin::Hook, prompt(words))),
        SortedText::Harness(words) => {
            message.added.push((Origin::Harness, prompt(text)));
            message.typed.extend(words.map(|words| Part::Text(words.to_owned())));
        }
    }
}

/// Ends the message. Behind a command of the user's own, what was sent is its template, and what was typed is only
/// what the screen shows.
pub(super) fn finish(message: &mut UserMessage, shown: &[Part]) {
    message.end_files();
    let shown = text_of(shown);
    let is_command = |text: &str| text.trim_start().starts_with('/');
    if is_command(&shown) && !message.typed.is_empty() && !is_command(&text_of(&message.typed)) {
        let template = std::mem::replace(&mut message.typed, vec![Part::Text(shown)]);
        message.added.insert(0, (Origin::Hook, Body::Prompt(template)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str], shown: &str) -> Vec<(Origin, String)> {
        let mut message = begin();
        for text in texts {
            message.add_text(text);
        }
        finish(&mut message, &[Part::Text(shown.to_owned())]);
        message.texts_by_origin()
    }

    #[test]
    fn files_that_a_prompt_names_are_not_its_words() {
        let block = "\n--- Content from referenced files ---";
        let parts = ["explain @a.rs", block, "\nContent from @a.rs:\n", "fn a() {}", "\n--- End of content ---", "ok?"];
        let read = read(&parts, "explain @a.rs");
        assert_eq!(read[0], (Origin::User, "explain @a.rs\n\nok?".to_owned()));
        assert_eq!(read.len(), 2);
        assert!(read[1].0 == Origin::Hook && read[1].1.contains("fn a() {}"), "{read:?}");
    }

    #[test]
    fn files_in_one_text_with_the_words_are_found_too() {
        let text = "explain @a.rs\n--- Content from referenced files ---\nContent from @a.rs:\nfn a() {}\n--- End of content ---";
        let read = read(&[text], "");
        assert_eq!(read[0], (Origin::User, "explain @a.rs".to_owned()));
        assert!(
            read[1].0 == Origin::Hook && read[1].1.starts_with("--- Content from referenced files ---"),
            "{read:?}"
        );
        assert_eq!(read.len(), 2);
    }

    #[test]
    fn a_command_is_typed_and_its_template_is_not() {
        let expected =
            [(Origin::User, "/tidy the list".to_owned()), (Origin::Hook, "Sort what is told: the list".to_owned())];
        assert_eq!(read(&["Sort what is told: the list"], "/tidy the list"), expected);
        assert_eq!(read(&["fix it"], " fix it "), [(Origin::User, "fix it".to_owned())]);
    }
}
