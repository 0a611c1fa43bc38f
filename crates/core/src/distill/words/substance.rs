//! Whether a prompt says something by itself, or only says yes to what was said before.

/// So many words make a request; scripts without spaces are counted by letters.
const MIN_WORDS: usize = 6;
const MIN_SPACELESS_LETTERS: usize = 8;
const MIN_CHARS: usize = 40;

/// Whether a prompt can stand alone. Length alone decides, in any language: a short prompt is told with what it answers.
pub(super) fn has_substance(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).take(MIN_WORDS);
    let letters = text.chars().filter(|letter| is_spaceless(*letter)).take(MIN_SPACELESS_LETTERS).count();
    words.count() >= MIN_WORDS
        || letters >= MIN_SPACELESS_LETTERS
        || text.trim().chars().count() >= MIN_CHARS
        || names_something(text)
}

/// Commands by which users tell a client to shorten its context: what is typed behind them is for the account of it.
const COMPACTING: [&str; 2] = ["/compact", "/compress"];

/// Whether a prompt is a command to the client about itself, and no request.
pub(super) fn is_client_command(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|word| COMPACTING.contains(&word))
}

/// Letters of scripts that put no space between words.
fn is_spaceless(letter: char) -> bool {
    matches!(u32::from(letter), 0x0e00..=0x0eff | 0x3040..=0x30ff | 0x3400..=0x9fff | 0xac00..=0xd7af | 0xf900..=0xfaff)
}

/// An address, or a command with something behind it: short, and yet whole.
fn names_something(text: &str) -> bool {
    text.contains("://") || text.trim_start().starts_with('/') && text.split_whitespace().count() > 2
}

#[cfg(test)]
mod tests {
    use super::{has_substance, is_client_command};

    #[test]
    fn a_command_to_the_client_is_no_request() {
        assert!(["/compact", " /compact keep the names", "/compress"].iter().all(|text| is_client_command(text)));
        assert!(!["/plan the move", "/compact-all x", "compact it", ""].iter().any(|text| is_client_command(text)));
    }

    #[test]
    fn short_prompts_need_what_they_answer() {
        for short in ["ok", "yes, do it all", "go on", "ja, bitte", "1", "好的", "/compact", "looks good to me!"] {
            assert!(!has_substance(short), "{short}");
        }
        for whole in
            ["please fix the bug in the parser", "修复解析器中的错误并添加测试用例", "see https://host/issue/3"]
        {
            assert!(has_substance(whole), "{whole}");
        }
    }
}
