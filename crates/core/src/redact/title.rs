//! Titles: a text on one line, cut. The lines that told what is secret in it are gone, and of a secret there may be a part.

use std::borrow::Cow;

use super::{MASK_START, find_secrets, redact_text, value};
use crate::plain::one_line;

/// A title that is so long may have been cut by whoever made it.
const CUT_FROM_CHARS: usize = 60;
/// So much of a secret at the end of a title that was cut is a part of it, and no word.
const MIN_PART_BYTES: usize = 3;

/// Masks a title. The texts are those that it may have been made of: what is secret in them is so in their title.
pub fn redact_title(title: &str, texts: &[&str]) -> String {
    let mut title = title.to_owned();
    let mut secrets: Vec<String> = texts.iter().flat_map(|text| secrets_in(text)).collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in &secrets {
        title = mask_secret(&title, secret);
    }
    let title = redact_text(&title).into_owned();
    let title = drop_cut_word(&title).unwrap_or(title);
    mask_random_words(&title)
}

/// The secrets of a text, as a line of it would show them.
fn secrets_in(text: &str) -> Vec<String> {
    let flat = |text: &str| one_line(text, usize::MAX);
    find_secrets(text).into_iter().map(|found| flat(&text[found.range])).filter(|secret| !secret.is_empty()).collect()
}

/// A title without a secret, or without the part of it with which it ends.
fn mask_secret(title: &str, secret: &str) -> String {
    let mask = format!("{MASK_START}secret]");
    if title.contains(secret) {
        return title.replace(secret, &mask);
    }
    let Some(kept) = title.strip_suffix('…') else { return title.to_owned() };
    let parts =
        secret.char_indices().map(|(at, _)| &secret[..at]).rev().take_while(|part| part.len() >= MIN_PART_BYTES);
    let part = parts.into_iter().find(|part| kept.ends_with(part));
    part.map_or_else(|| title.to_owned(), |part| format!("{}{mask}…", &kept[..kept.len() - part.len()]))
}

/// A title without the word that was cut, which may be the beginning of a secret that is not known by it.
fn drop_cut_word(title: &str) -> Option<String> {
    let kept = title.strip_suffix('…').filter(|kept| kept.chars().count() > CUT_FROM_CHARS)?;
    let rest = kept.trim_end_matches(|next: char| next.is_ascii_graphic());
    let word = &kept[rest.len()..];
    let is_mask = word.ends_with(']') && title.contains(MASK_START);
    let is_word = word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_punctuation() && byte != b'=');
    let told = rest.trim_end().rsplit([' ', '\t']).next().unwrap_or_default();
    let is_told = told.ends_with([':', '=', '|']) || matches!(told, "is" | "password" | "token" | "secret" | "key");
    let stays = word.is_empty() || is_mask || is_word && !is_told;
    (!stays).then(|| format!("{}…", rest.trim_end()))
}

/// Long words without any order are not missed in a title.
fn mask_random_words(title: &str) -> String {
    let is_word = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '-' | '+' | '=' | '~');
    let parts = title.split_inclusive(|next| !is_word(next)).map(|part| {
        let word = part.trim_end_matches(|next| !is_word(next));
        let has = |is: fn(&u8) -> bool| word.bytes().any(|byte| is(&byte));
        let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        if word.len() >= 20 && is_mixed && value::is_random(word) {
            return Cow::Owned(format!("{MASK_START}secret]{}", &part[word.len()..]));
        }
        Cow::Borrowed(part)
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "Qm7Zt4LkX9wBv2RsHd6JpYc3NfGa8UeT";

    #[test]
    fn what_is_secret_in_a_prompt_is_so_in_its_title() {
        for (prompt, want) in [
            (
                "| user | password |\n|---|---|\n| ci | hunter2!x |".to_owned(),
                "| user | password | |---|---| | ci | [redacted: secret] |",
            ),
            (format!("here is the api key:\n```\n{SECRET}\n```"), "here is the api key: ``` [redacted: secret] ```"),
            ("the mail says\npassword: hunter2!x".to_owned(), "the mail says password: [redacted: secret]"),
        ] {
            assert_eq!(redact_title(&one_line(&prompt, 200), &[&prompt]), want);
        }
    }

    #[test]
    fn no_part_of_a_secret_is_left_where_a_title_is_cut() {
        for secret in [format!("DB_PASSWORD={SECRET}"), format!("gh{}_{SECRET}z9Qk", "p"), format!("a://b:{SECRET}@c")]
        {
            for before in 0..200 {
                let prompt =
                    format!("{} {secret} and so on {}", "lorem ip ".repeat(30).split_at(before).0, "x ".repeat(200));
                let title = one_line(&prompt, 200);
                for shown in [redact_title(&title, &[&prompt]), redact_title(&title, &[])] {
                    assert!(!shown.contains("Qm7Z"), "{shown}");
                }
            }
        }
    }

    #[test]
    fn other_titles_stay() {
        for title in [
            "fix the tests of crates/core/src/redact/title.rs and 5f1a8f5ee9eb0e1511cad2169bc30d3cd4370109",
            "go on with 550e8400-e29b-41d4-a716-446655440000, then AbstractSingletonProxyFactoryBean",
            "go on with all of it, and with the rest of it, until all of it works agai…",
            "密码重置流程需要修复并且添加测试以及更新文档密码重置流程需要修复并且添加测试以及更新文档密码重置流程需要修复并且添加测试以及更新文档…",
        ] {
            assert_eq!(redact_title(title, &[title]), title);
        }
    }
}
