//! Checks of matches: the form alone does not make a secret.

use std::ops::Range;

use serde::Deserialize;

use super::code;
use super::seed;
use super::value::{self, ValuePlace};

/// So much of a value is looked at.
const MAX_JUDGED_BYTES: usize = 4_096;
/// So many marks at the end of a value may belong to what stands around it.
const MAX_CLOSING_MARKS: usize = 8;

/// The checks of a value, by what it stands beside.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Check {
    /// The form says enough.
    Nothing,
    /// Anything that is no placeholder.
    Form,
    /// A key by its beginning: it has digits and no order.
    Token,
    /// Beside the name of a password, where code may stand, too.
    Password,
    /// Where only a password can stand.
    Literal,
    /// Beside a name in capitals, which holds a value or names a message.
    Constant,
    /// Beside the name of a key.
    Key,
    /// Where only a key can stand.
    LiteralKey,
    /// Beside a name that says little.
    Random,
    /// A password of several words.
    Phrase,
    /// Alone in a line.
    NextLine,
    /// Beside a name, as the other field of a pair.
    Pair,
    /// Between quotes or marks that are not part of the match.
    Quoted,
    /// Between quotes, as an argument.
    Argument,
    /// The last of several arguments, of which none is named.
    Call,
    /// The argument of a call that takes nothing else there.
    Credential,
    /// Typed into a field.
    Typed,
    /// Before the word that tells it.
    Behind,
    /// Beside a name that everybody knows.
    AfterName,
    /// A code that people type.
    Digits,
    /// The words of a wallet.
    Seed,
    /// In a cell of a table.
    Cell,
    /// In a sentence.
    Prose,
    /// After a blank.
    Blank,
    /// Between a user and a host.
    Address,
    /// In the query of an address.
    Parameter,
    /// An option that has another meaning, too.
    Ldap,
}

impl Check {
    /// The part of a value that is the secret, if it is one.
    pub(super) fn find_secret(self, text: &str, value: Range<usize>, whole: Range<usize>) -> Option<Range<usize>> {
        let quoted = is_after_quote(&text[..value.start]);
        let takes_all = quoted || matches!(self, Self::Nothing | Self::Address | Self::Quoted | Self::Phrase);
        let value = strip_dots(text, if takes_all { value } else { trim_value(text, value) });
        let is_path = self != Self::Address && is_in_path(text, &value);
        if quoted && is_between_strings(&text[value.clone()]) || is_path {
            return None;
        }
        if self == Self::Seed {
            return seed::find_words(text, value);
        }
        if is_elided(&text[value.clone()], &text[value.end..]) {
            return None;
        }
        // A long value is judged by its beginning.
        let secret = &text[value.clone()];
        let candidate = Candidate {
            text,
            secret: &secret[..secret.floor_char_boundary(MAX_JUDGED_BYTES)],
            quoted,
            is_called: !quoted && text[value.end..].starts_with('('),
            match_start: whole.start,
            value_start: value.start,
        };
        (self.accepts(&candidate) && !value.is_empty()).then_some(value)
    }

    /// Whether a value is a secret in a place of this kind.
    fn accepts(self, candidate: &Candidate<'_>) -> bool {
        let Candidate { secret, quoted, is_called, .. } = *candidate;
        let name = || candidate.name();
        match self {
            Self::Nothing | Self::Seed => true,
            Self::Form => !value::is_placeholder(secret),
            Self::Token => is_token(secret),
            Self::Password => !is_called && value::is_password(secret, quoted_or(quoted, ValuePlace::Bare)),
            Self::Literal => value::is_password(secret, ValuePlace::Literal),
            Self::Constant => is_constant_value(secret, &name()),
            Self::Key => {
                let place = quoted_or(quoted, ValuePlace::Bare);
                let is_phrase = || {
                    quoted && name().contains("secret") && value::is_password(secret, place) && !value::is_slug(secret)
                };
                let is_key = value::is_key(secret, place) || is_phrase() || quoted && value::is_key_with_blanks(secret);
                !is_called && !leads_elsewhere(&name()) && is_key
            }
            Self::LiteralKey => {
                value::is_key(secret, ValuePlace::Literal)
                    || is_long_literal(secret, &name())
                    || quoted && value::is_key_with_blanks(secret)
            }
            Self::Random => {
                value::is_random(secret)
                    && !value::is_placeholder(secret)
                    && !is_uuid(secret)
                    && !is_public(&name())
                    && value::is_key(secret, quoted_or(quoted, ValuePlace::Bare))
            }
            Self::Phrase => value::is_password(secret, ValuePlace::Quoted),
            Self::NextLine => {
                value::is_password(secret, ValuePlace::Bare) && !value::is_slug(secret) && has_three_marks(secret)
            }
            Self::Pair | Self::Quoted | Self::Argument => {
                !leads_elsewhere(&name())
                    && (is_password_or_key(secret, &name(), ValuePlace::Quoted) && !is_plain_number(secret)
                        || candidate.is_held())
            }
            Self::Call => {
                has_three_marks(secret) && !value::is_slug(secret) && value::is_password(secret, ValuePlace::Quoted)
            }
            Self::Typed => value::is_password(secret, ValuePlace::Quoted) && !is_plain_number(secret),
            Self::Credential => is_credential(secret),
            Self::AfterName => {
                let has_symbol = secret.bytes().any(|byte| b"!#$%^&*?@".contains(&byte));
                let is_name = value::is_slug(&secret.replace('@', "-"));
                has_symbol && !is_name && is_after_blank(secret, false) && has_three_marks(secret)
            }
            Self::Digits => secret.bytes().filter(u8::is_ascii_digit).count() >= 2,
            Self::Behind => has_three_marks(secret) && is_prose_secret(secret, quoted),
            Self::Cell => {
                is_password_or_key(secret, &name(), quoted_or(quoted, ValuePlace::Bare)) && !is_plain_number(secret)
                    || candidate.is_held()
            }
            Self::Prose => is_prose_secret(secret, quoted),
            Self::Blank => is_after_blank(secret, quoted),
            Self::Address => is_in_address(secret),
            Self::Parameter => is_parameter(secret, &name()),
            Self::Ldap => {
                !matches!(secret, "base" | "one" | "sub" | "children")
                    && value::is_password(secret, ValuePlace::Literal)
            }
        }
    }
}

/// A value that may be a secret, with where it stands.
struct Candidate<'t> {
    text: &'t str,
    secret: &'t str,
    quoted: bool,
    /// It is the name of a function that is called.
    is_called: bool,
    match_start: usize,
    value_start: usize,
}

impl Candidate<'_> {
    fn name(&self) -> String {
        value_name(self.text, self.match_start, self.value_start)
    }

    /// Whether a constant whose name shouts holds it.
    fn is_held(&self) -> bool {
        let before = &self.text[self.match_start..self.value_start];
        ["PASS", "SECRET", "_PW"].iter().any(|word| before.contains(word))
            && is_constant_value(self.secret, &self.name())
    }
}

/// Whether a quote stands before a value; those of French have a blank behind them.
fn is_after_quote(before: &str) -> bool {
    let french = before.trim_end_matches([' ', '\u{a0}', '\u{202f}']);
    let quotes = ['"', '\'', '`', '“', '„', '‘', '»', '‹', '「', '『', '【'];
    french.ends_with('«') || before.ends_with(quotes)
}

/// The beginning of a key with dots behind it: `sk_test_...`.
fn is_elided(value: &str, after: &str) -> bool {
    let dots = after.starts_with("..") || after.starts_with('…');
    dots && (value.ends_with(['_', '-']) || value.len() <= 12 && value.contains(['_', '-']))
}

/// `token::take(…)`: a colon that ends a name does not stand beside another one.
fn is_in_path(text: &str, value: &Range<usize>) -> bool {
    text[..value.start].ends_with(':') && text[value.clone()].starts_with(':')
}

/// A value without the dots that something put behind it when it clipped a line.
fn strip_dots(text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let kept = value.trim_end_matches(['…', '.']);
    let dots = &value[kept.len()..];
    let is_clipped = dots.len() > 1 && value::could_be_whole(kept);
    if is_clipped { range.start..range.start + kept.len() } else { range }
}

/// Whether a value stands between two strings: the quote before it ended one.
fn is_between_strings(value: &str) -> bool {
    let mut chars = value.chars();
    let first = chars.next().is_some_and(|first| matches!(first, ')' | ',' | ']' | '}' | ';' | '+' | ':' | ' '));
    first && chars.next().is_none_or(|next| matches!(next, ' ' | ',' | ';' | ')' | '.' | ']' | '}' | '\n'))
}

fn quoted_or(quoted: bool, otherwise: ValuePlace) -> ValuePlace {
    if quoted { ValuePlace::Quoted } else { otherwise }
}

/// A value without what follows it: the next field, brackets and marks that belong to what stands around it.
fn trim_value(text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let mut end = value.len();
    for (at, mark) in value.match_indices(['\\', ',', ';', '&', '|']) {
        let rest = &value[at + 1..];
        let cuts = match mark {
            "\\" => rest.starts_with(['n', 'r', 't', '"', '\\']),
            "|" => rest.is_empty() || rest.starts_with('|'),
            _ => {
                let name = rest.trim_start_matches(|next: char| {
                    next.is_ascii_alphanumeric() || matches!(next, '_' | '-' | '.' | ' ' | '"')
                });
                rest.is_empty() || name.len() < rest.len() && name.starts_with(['=', ':']) || rest.starts_with('&')
            }
        };
        if cuts && at > 0 {
            end = at;
            break;
        }
    }
    for _ in 0..MAX_CLOSING_MARKS {
        let Some(last) = value[..end].chars().next_back() else { break };
        let opens = |open: char| value[..end].matches(open).count();
        let closes = match last {
            ',' | ';' | '.' | ':' | '"' | '\'' | '`' | '\\' => true,
            ')' => opens('(') < opens(')'),
            ']' => opens('[') < opens(']'),
            '}' => opens('{') < opens('}'),
            '*' => value[..end].ends_with("**"),
            _ => false,
        };
        if !closes {
            break;
        }
        end -= last.len_utf8();
    }
    range.start..range.start + end
}

/// The name of a value, with the text right before the match.
fn value_name(text: &str, start: usize, end: usize) -> String {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let before = text.as_bytes()[..start].iter().rev().take(40).take_while(|byte| is_name(byte)).count();
    String::from_utf8_lossy(&text.as_bytes()[start - before..end]).to_ascii_lowercase()
}

/// Names of what is known to everybody, or only points at something.
fn is_public(name: &str) -> bool {
    let words = [
        "public",
        "pub",
        "cache",
        "primary_key",
        "primary-key",
        "foreign",
        "partition",
        "sort",
        "idempotency",
        "object",
        "row",
        "index",
        "unique",
        "lookup",
        "translation",
        "registry",
        "hotkey",
        "publish",
        "integrity",
        "hash",
        "etag",
        "commit",
        "storage_key",
        "session_id",
        "sessionid:",
        "session-id",
        "session_key",
        "sessionkey",
        "key_id",
        "keyid",
        "s3",
        "checksum",
        "fingerprint",
        "thumb",
    ];
    words.iter().any(|word| name.contains(word))
}

/// Names of tokens that say where to read on, and not who may.
fn leads_elsewhere(name: &str) -> bool {
    let words = [
        "next",
        "page",
        "continuation",
        "cursor",
        "public",
        "pubkey",
        "cancel",
        "sync",
        "resume",
        "minlength",
        "maxlength",
        "fingerprint",
        "integrity",
        "checksum",
        "design",
    ];
    words.iter().any(|word| name.contains(word))
}

fn is_uuid(value: &str) -> bool {
    value.contains('-') && value::is_name_like(value)
}

fn is_plain_number(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-' | b':' | b'/'))
}

fn is_token(value: &str) -> bool {
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    let mixed = value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase());
    (digits || mixed && value.len() >= 12)
        && !value::is_slug(value)
        && !value::is_placeholder(value)
        && value::entropy(value) >= 2.5
}

/// Whether a constant holds a secret: texts for people and names of actions are called like passwords, too.
fn is_constant_value(value: &str, name: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let told = [
        "reset", "forgot", "change", "invalid", "update", "confirm", "wrong", "show", "hide", "enter", "no_",
        "missing", "bad_", "weak", "self.", "this.",
    ];
    let holds = ["passw", "secret", "token", "field", "label", "error"];
    let names = value.len() < 20 && holds.iter().any(|word| lower.contains(word));
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    value::is_password(value, ValuePlace::Literal)
        && !code::is_camel_case(value)
        && !told.iter().any(|word| name.contains(word))
        && (digits || !names && !value::is_slug(value))
}

/// Secrets in the environment are also sentences with dashes.
fn is_long_literal(value: &str, name: &str) -> bool {
    let letters = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    name.contains("secret") && value.len() >= 8 && letters && value::is_password(value, ValuePlace::Literal)
}

/// Beside the name of a password or of a key: a name with dashes is a password, and no key.
fn is_password_or_key(value: &str, name: &str, place: ValuePlace) -> bool {
    let is_password = ["pass", "pwd", "kennwort"].iter().any(|word| name.contains(word));
    let is_name = !is_password && value::is_slug(value) && value.len() > 12;
    value::is_password(value, place) && !is_name || value::is_key(value, place)
}

/// So many kinds of characters that it is no word.
fn has_three_marks(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| usize::from(value.bytes().any(|byte| is(&byte)));
    let kinds = has(u8::is_ascii_digit)
        + has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_punctuation);
    kinds >= 3 || value.len() >= 16 && kinds >= 2 && value.bytes().filter(u8::is_ascii_digit).count() > 3
}

/// Kinds of logins and what a form is to do stand beside names, too.
fn is_credential(value: &str) -> bool {
    let does = ["credentials", "remember", "local", "session", "oauth", "http", "https"];
    value::is_password(value, ValuePlace::Literal) && !does.contains(&value.to_ascii_lowercase().as_str())
}

fn is_prose_secret(value: &str, quoted: bool) -> bool {
    let place = quoted_or(quoted || value.contains(' '), ValuePlace::Bare);
    let is_slug = !quoted && value::is_slug(value) && !value.bytes().any(|byte| byte.is_ascii_uppercase());
    value::is_password(value, place) && !is_slug && !is_technical_word(value) && !is_sentence_without_blanks(value)
}

/// Chinese, Japanese and Korean: what a password has to be, and no password.
fn is_sentence_without_blanks(value: &str) -> bool {
    value.chars().filter(|next| *next >= '\u{2e80}').count() * 3 > value.chars().count()
}

/// `users.name2`, `name_2`, `8/10`, `a@b.c`, `x=1`: what sentences about code are full of.
fn is_technical_word(value: &str) -> bool {
    let names = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'));
    let is_name = names && value.contains(['_', '.']);
    let mail = value.split_once('@').is_some_and(|(_, host)| {
        host.contains('.') && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
    });
    let range = ["a-z", "A-Z", "0-9"].iter().any(|range| value.contains(range));
    let version = is_plain_number(value.trim_start_matches(['^', '~', '=', 'v']));
    is_name
        || mail
        || range
        || version && !value.starts_with(|next: char| next.is_ascii_digit())
        || is_plain_number(value) && value.len() < 6
}

fn is_after_blank(value: &str, quoted: bool) -> bool {
    let has = |is: fn(u8) -> bool| value.bytes().any(is);
    let letters = has(|byte| byte.is_ascii_alphabetic());
    let digits = has(|byte| byte.is_ascii_digit());
    let symbols = has(|byte| b"!@#$%^&*+~?=-".contains(&byte));
    let several = value.bytes().filter(u8::is_ascii_digit).count() > 1 && value.len() > 8 && has_three_marks(value);
    let marked = digits && (quoted || symbols || several);
    letters && marked && !value.starts_with(['-', '/', '#']) && is_prose_secret(value, quoted)
}

fn is_in_address(value: &str) -> bool {
    let port = value.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit()) && port.len() < value.len();
    let variable =
        value.starts_with(['$', '{', '<', '[', '*', '%']) && !value.starts_with("%2") && !value.starts_with("%4");
    !is_port && !variable && !value::is_placeholder(value)
}

fn is_parameter(value: &str, name: &str) -> bool {
    let sure = ["password", "passwd", "pwd", "secret"].iter().any(|word| name.contains(word));
    if sure {
        return value::is_password(value, ValuePlace::Literal);
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let numbers = digits == value.len();
    !numbers && digits > 0 && !leads_elsewhere(name) && value.len() >= 8 && value::is_key_in_address(value)
}
