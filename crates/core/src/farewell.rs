//! Words with which people end a conversation. They are looked for where a sentence ends, so that what shall be stopped in
//! the code is not taken for an end of the talk.

/// A phrase of the table.
struct Phrase {
    words: &'static str,
    /// A prompt that ends a conversation by it, and one that does not although it looks alike.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests hold the table by its examples"))]
    example: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests hold the table by its examples"))]
    counter_example: &'static str,
}

const fn phrase(words: &'static str, example: &'static str, counter_example: &'static str) -> Phrase {
    Phrase { words, example, counter_example }
}

/// The table, in small letters.
#[rustfmt::skip]
const PHRASES: &[Phrase] = &[
    phrase("let's stop", "OK, let's stop here for today.", "Let's stop using Redis."),
    phrase("let us stop", "Let us stop here.", "Let us stop the server first."),
    phrase("let's pause", "Let's pause for now", "Let's pause the queue"),
    phrase("that's enough", "Great, that's enough for today!", "That's enough memory for it."),
    phrase("that's all", "That's all for now, thanks", "That's all the tests we have"),
    phrase("i need to go", "I need to go now.", "I need to go through the logs."),
    phrase("i have to go", "sorry, I have to go", "I have to go module by module"),
    phrase("i've got to go", "I've got to go!", "I've got to go test"),
    phrase("gotta go", "gotta go", "gotta go fmt it"),
    phrase("call it a day", "Let's call it a day.", "Do not call it a day_count."),
    phrase("leave it there", "Let's leave it there for today", "Leave it there until the lock is free"),
    phrase("leave it here", "we can leave it here", "leave it here and copy it"),
    phrase("done for today", "I'm done for today", "Are the jobs done for today's batch?"),
    phrase("see you tomorrow", "Thanks, see you tomorrow!", "print 'see you tomorrow' at exit"),
    phrase("good night", "good night", "good night mode colours, please"),
    phrase("continue tomorrow", "We'll continue tomorrow.", "It should continue tomorrow's run."),
    phrase("continue later", "let's continue later", "Make it continue later than noon"),
    phrase("schluss für heute", "Gut, Schluss für heute.", "Schluss für heute ist ein Titel"),
    phrase("das reicht für heute", "Das reicht für heute", "Das reicht für heute nicht, denn es fehlt etwas"),
    phrase("bis morgen", "Danke, bis morgen!", "bis morgen muss es laufen"),
    phrase("on s'arrête là", "On s'arrête là.", "on s'arrête là où ça plante"),
    phrase("à demain", "merci, à demain", "à demain matin le job tourne encore"),
    phrase("hasta mañana", "Gracias, hasta mañana.", "hasta mañana no hay datos"),
    phrase("今日はここまで", "今日はここまで。", "今日はここまでの結果を見せて"),
    phrase("今天就到这里", "今天就到这里！", "今天就到这里的数据不对"),
];

/// Words that may stand behind a phrase in its sentence.
const TAILS: &[&str] = &[
    "here",
    "now",
    "for now",
    "for today",
    "today",
    "for tonight",
    "then",
    "thanks",
    "thank you",
    "please",
    "for the day",
    "here for today",
    "here for now",
    "for today thanks",
];

/// Where a sentence, or a part of one, ends.
const SENTENCE_ENDS: [char; 11] = ['.', '!', '?', ',', ';', '\n', '。', '！', '，', '–', '—'];

/// A prompt that is longer has more to say than goodbye.
const MAX_CHARS: usize = 300;

/// Whether the user seems to end the conversation.
pub fn ends_conversation(prompt: &str) -> bool {
    if prompt.chars().count() > MAX_CHARS {
        return false;
    }
    let text = prompt.to_lowercase().replace('’', "'");
    let sentences = text.split(SENTENCE_ENDS);
    sentences.map(str::trim).any(|sentence| PHRASES.iter().any(|phrase| ends_with_phrase(sentence, phrase.words)))
}

/// Whether a sentence ends with a phrase, or with one and a few words that say no more.
fn ends_with_phrase(sentence: &str, words: &str) -> bool {
    let Some(at) = sentence.rfind(words) else { return false };
    let (before, after) = (&sentence[..at], sentence[at + words.len()..].trim());
    let begins_apart = !before.chars().next_back().is_some_and(char::is_alphanumeric);
    // What stands in quotes is a text of the program's.
    let is_quoted = before.ends_with(['\'', '"', '`']);
    begins_apart && !is_quoted && (after.is_empty() || TAILS.contains(&after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_ends_a_conversation_by_its_example_alone() {
        for Phrase { words, example, counter_example } in PHRASES {
            assert!(ends_conversation(example), "{words}: {example}");
            assert!(example.to_lowercase().replace('’', "'").contains(words), "{words}: {example}");
            assert!(!ends_conversation(counter_example), "{words}: {counter_example}");
        }
    }

    #[test]
    fn a_long_prompt_is_no_farewell() {
        assert!(!ends_conversation(&format!("{}. I need to go.", "This is the log ".repeat(30))));
        assert!(!ends_conversation(""));
    }
}
