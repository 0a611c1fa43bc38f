//! Keys do not get into a recording: not from headers, not from queries, not from the command line.

use carryover_core::redact::redact_text;

use super::exchange::Header;

/// Stands in the place of a key.
const STRIPPED: &str = "[stripped]";

/// Words in the name of a header, a parameter or an option that holds a key.
const KEY_WORDS: &[&str] = &[
    "auth",
    "authorization",
    "apikey",
    "key",
    "token",
    "secret",
    "cookie",
    "password",
    "passphrase",
    "sig",
    "signature",
    "credential",
    "credentials",
];

/// Whether a name is one of something secret. A count of `tokens` is not.
fn is_key_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| KEY_WORDS.contains(&word))
}

/// A header as it is kept.
pub(super) fn strip_header((name, value): Header) -> Header {
    let value = strip_value(&name, &value);
    (name, value)
}

fn strip_value(name: &str, value: &str) -> String {
    if is_key_name(name) {
        return STRIPPED.to_owned();
    }
    // A rule may need the name beside the value to know it for a secret.
    let line = format!("{name}: {value}");
    match redact_text(&line).strip_prefix(&format!("{name}: ")) {
        Some(masked) => masked.to_owned(),
        None => STRIPPED.to_owned(),
    }
}

/// A path with its query as it is kept.
pub(super) fn strip_path(path: &str) -> String {
    let Some((route, query)) = path.split_once('?') else { return redact_text(path).into_owned() };
    let pairs = query.split('&').map(|pair| match pair.split_once('=') {
        Some((name, value)) => format!("{name}={}", strip_parameter(name, value)),
        None => pair.to_owned(),
    });
    format!("{}?{}", redact_text(route), pairs.collect::<Vec<_>>().join("&"))
}

fn strip_parameter(name: &str, value: &str) -> String {
    if is_key_name(name) { STRIPPED.to_owned() } else { redact_text(value).into_owned() }
}

/// A command line as it is kept.
pub fn strip_arguments(argv: &[String]) -> Vec<String> {
    let mut is_key = false;
    let mut kept = Vec::new();
    for word in argv {
        let holds_key = std::mem::take(&mut is_key);
        if holds_key && !word.starts_with('-') {
            kept.push(STRIPPED.to_owned());
            continue;
        }
        kept.push(match word.split_once('=') {
            Some((name, _)) if word.starts_with('-') && is_key_name(name) => format!("{name}={STRIPPED}"),
            _ => redact_text(word).into_owned(),
        });
        is_key = word.starts_with('-') && !word.contains('=') && is_key_name(word);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: &str) -> String {
        strip_header((name.to_owned(), value.to_owned())).1
    }

    #[test]
    fn keys_are_stripped_by_the_name_that_they_stand_under() {
        for name in
            ["Authorization", "x-api-key", "api-key", "x-goog-api-key", "Cookie", "set-cookie", "Proxy-Authorization"]
        {
            assert_eq!(header(name, "abc"), STRIPPED, "{name}");
        }
        assert_eq!(header("x-amz-security-token", "abc"), STRIPPED);
        assert_eq!(header("anthropic-ratelimit-tokens-remaining", "17"), "17");
        assert_eq!(header("content-type", "application/json"), "application/json");
    }

    #[test]
    fn keys_are_masked_by_what_they_look_like() {
        let masked = header("x-custom", "ghp_0123456789abcdefghijABCDEFGHIJ456789");
        assert!(masked.contains("redacted") && !masked.contains("ghp_"), "{masked}");
    }

    #[test]
    fn keys_in_a_query_are_stripped() {
        assert_eq!(strip_path("/v1/x:go?key=abc&alt=sse"), "/v1/x:go?key=[stripped]&alt=sse");
        assert_eq!(strip_path("/v1?access_token=a&b"), "/v1?access_token=[stripped]&b");
        assert_eq!(strip_path("/v1/messages"), "/v1/messages");
    }

    #[test]
    fn keys_on_a_command_line_are_stripped() {
        let argv = ["a", "--openai-api-key", "abc", "--token=abc", "-p", "say a key", "--max-tokens", "5"];
        let kept = strip_arguments(&argv.map(str::to_owned));
        assert_eq!(
            kept,
            ["a", "--openai-api-key", STRIPPED, "--token=[stripped]", "-p", "say a key", "--max-tokens", "5"]
        );
    }
}
