//! Whether a value is a secret or only stands where one could.

use super::code;

/// How sure it is that something stands there as it is, and not as code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValuePlace {
    /// In an environment, a command, an address: nothing but a value can stand here.
    Literal,
    /// Between quotes.
    Quoted,
    /// Where code or prose may stand, too.
    Bare,
}

/// A byte of which tokens are made.
pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.')
}

/// Bits per character: random text has many, words have few.
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let total = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total).map(|p| -p * p.log2()).sum()
}

/// Hashes and UUIDs, which are names and not secrets when nothing around them says otherwise.
pub(super) fn is_name_like(text: &str) -> bool {
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let uuid = text.len() == 36 && text.split('-').map(str::len).eq([8, 4, 4, 4, 12]);
    hex(text) || (uuid && text.split('-').all(hex))
}

/// How many characters of each kind a value has.
struct CharCounts {
    digits: usize,
    upper: usize,
    lower: usize,
    /// Marks that stand in passwords and hardly anywhere else.
    symbols: usize,
}

impl CharCounts {
    fn from_value(value: &str) -> Self {
        let count = |is: fn(&u8) -> bool| value.bytes().filter(is).count();
        Self {
            digits: count(u8::is_ascii_digit),
            upper: count(u8::is_ascii_uppercase),
            lower: count(u8::is_ascii_lowercase),
            symbols: count(|byte| b"!@#$%^&*+~?=".contains(byte)),
        }
    }
}

/// Long and without any order.
pub(super) fn is_random(value: &str) -> bool {
    let kinds = CharCounts::from_value(value);
    let mixed = kinds.digits >= 2 && kinds.lower + kinds.upper >= 4;
    value.len() >= 16 && mixed && entropy(value) >= 3.2 && !is_slug(value)
}

/// Words and small numbers with dashes between: the name of something.
pub(super) fn is_slug(value: &str) -> bool {
    let part = |part: &str| {
        let digits = part.bytes().filter(u8::is_ascii_digit).count();
        let word = part.bytes().all(|byte| byte.is_ascii_alphanumeric()) && digits <= 4;
        word && (digits == 0 && part.len() <= 16 && is_one_case(part) || digits == part.len() || part.len() <= 4)
    };
    value.contains(['-', '_', '.', '/', ':']) && value.split(['-', '_', '.', '/', ':']).all(part)
}

fn is_one_case(word: &str) -> bool {
    let rest = word.get(1..).unwrap_or_default();
    rest.bytes().all(|byte| byte.is_ascii_lowercase()) || word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Words in the place of a password that are none: descriptions of it, and everybody's first password.
const PLACEHOLDER_WORDS: &str = "\
    true false null none nil undefined string str text password passwd passwort pass secret token required \
    optional hidden admin root test guest user username postgres mysql redis default empty value unset changeme \
    changeit changethis replaceme todo tbd fixme mypassword mysecret mytoken myapikey mysecretkey yourpassword \
    yoursecret yourtoken yourapikey apikey somepassword somesecret sometoken foo bar foobar baz dummy fake \
    sample placeholder example prompt ask stdin file env yes no on off any unknown invalid wrong incorrect \
    missing expired disabled enabled encrypted hashed plaintext basic bearer wachtwoord kennwort senha contrasea \
    contrasena motdepasse parola heslo sifre salasana adgangskode passord lsenord";

/// A value that is meant to be filled in, computed or looked up.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let letters: String = lower.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    let first = letters.chars().next();
    let is_one =
        first.is_some_and(|first| letters.chars().all(|next| next == first)) && (letters.len() > 2 || value.len() < 4);
    let counts = |word: &str| letters.starts_with(word) && letters.len() <= word.len() + 1;
    is_one
        || letters.is_empty()
        || letters.len() <= 24 && PLACEHOLDER_WORDS.split(' ').any(|word| letters == word)
        || is_wrapped(value)
        || code::is_reference(value)
        || is_hidden(&lower)
        || is_elided(value)
        || ["password", "passwd", "token", "secret", "pass"].into_iter().any(counts)
        || asks_to_fill_in(&lower) && !is_random(value.trim_start_matches(|next: char| next != '-'))
}

/// `<…>`, `[…]`, `{…}`, `%…%`, `__…__`.
fn is_wrapped(value: &str) -> bool {
    let wraps =
        [("<", ">"), ("[", "]"), ("{", "}"), ("%", "%"), ("__", "__"), ("@", "@"), ("(", ")"), ("«", "»"), ("#{", "}")];
    let is_word = |next: char| next.is_alphanumeric() || " _-.,:|$/'\"{}%?#".contains(next);
    let inner = |(start, end): &(&str, &str)| value.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    value.starts_with('<')
        || wraps.iter().filter_map(inner).any(|inner| !inner.is_empty() && inner.chars().all(is_word))
}

/// Somebody has masked it before.
fn is_hidden(lower: &str) -> bool {
    ["***", "•••", "●●●", "[redacted", "xxxx", "<redacted", "[masked", "[filtered", "[hidden"]
        .iter()
        .any(|mark| lower.contains(mark))
}

/// Dots stand for a part of it: `sk-…`, `ghp_ab…yz`.
fn is_elided(value: &str) -> bool {
    let dots = value.contains("...") || value.contains('…');
    dots && !value.split(['…', '.']).any(could_be_whole)
}

/// Whether so much stands before or behind such dots that they stand for nothing: what clips a line puts them there, too.
pub(super) fn could_be_whole(part: &str) -> bool {
    let kinds = CharCounts::from_value(part);
    let mixed = part.len() >= 20 && kinds.upper > 3 && kinds.lower > 3 && entropy(part) >= 3.8;
    let marked = part.len() >= 8 && kinds.digits > 0 && kinds.symbols > 0 && kinds.lower + kinds.upper > 2;
    // The head of a web token is the same in all of them.
    !part.starts_with("eyJ") && (is_random(part) || mixed || marked)
}

fn asks_to_fill_in(lower: &str) -> bool {
    let starts =
        ["your", "my-", "my_", "insert", "replace", "enter", "change", "put-", "put_", "some-", "some_", "todo"];
    let holds = [
        "example",
        "placeholder",
        "your-",
        "your_",
        "yourapi",
        "_here",
        "-here",
        "changeme",
        "change-me",
        "change_me",
        "replace-me",
        "replace_me",
        "replace-with",
        "replace_with",
        "goes-here",
        "dummy-",
        "dummy_",
        "not-a-real",
        "notareal",
    ];
    starts.iter().any(|word| lower.starts_with(word)) || holds.iter().any(|word| lower.contains(word))
}

/// Words that stand in sentences about passwords and not in passwords.
const SENTENCE_WORDS: &str = "\
    a an the is are was be must should can cannot will your of to at for from in on or and with by not no if \
    this that it as please enter required invalid incorrect wrong least most min max minimum maximum characters \
    chars character digits letters length long bytes bits rounds password passwords passwort string optional \
    confirm reset forgot new old current change repeat see use used using when has have der die das ist und oder \
    ein eine bitte mindestens zeichen le la les un une est et ou votre de el es su y contraseña passe mot null \
    none await self this return lambda true false days times hash hashed stored field value type user account \
    expired expires missing failed login between per than only secret token key";

/// Whether several words are a pass phrase and no sentence.
fn is_phrase(value: &str, is_sure: bool) -> bool {
    let words: Vec<&str> = value.split_whitespace().collect();
    let bare = |word: &&str| word.trim_matches(|next: char| !next.is_alphanumeric()).to_lowercase();
    // Where nothing but a value can stand, only what asks for one is no value.
    let telling = if is_sure { "password your enter required must please" } else { SENTENCE_WORDS };
    let tells = words.iter().map(bare).any(|word| telling.split(' ').any(|tells| word == tells));
    let kinds = CharCounts::from_value(value);
    let plain = words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()));
    let marked = kinds.digits > 0 || kinds.symbols > 0;
    value.len() <= 120
        && !tells
        && (is_sure || words.len() >= 4 && plain || marked && words.len() <= 8 && kinds.lower + kinds.upper > 2)
}

/// Whether the value of a password is one.
pub(super) fn is_password(value: &str, place: ValuePlace) -> bool {
    let length = value.chars().count();
    if length < if place == ValuePlace::Bare { 5 } else { 4 } || is_placeholder(value) || code::is_technical(value) {
        return false;
    }
    if value.chars().any(char::is_whitespace) {
        return is_phrase(value, place == ValuePlace::Literal);
    }
    let kinds = CharCounts::from_value(value);
    let marked = kinds.digits > 0 || kinds.symbols > 0;
    match place {
        ValuePlace::Literal => !code::is_call(value) && !code::is_path_of_names(value) && !code::is_file(value),
        // It may be a field, a type, a variable, a word.
        ValuePlace::Bare => {
            let odd = kinds.upper > 1 && kinds.lower > 1 && !value.bytes().all(|byte| byte.is_ascii_alphabetic());
            let bracketed = value.starts_with(char::is_alphanumeric) && value.contains(['(', '[', '{']);
            (marked || bracketed || odd && length >= 8)
                && !code::is_code(value)
                && !code::is_file(value)
                && !is_constant(value)
        }
        ValuePlace::Quoted => {
            let lower = value.to_ascii_lowercase();
            let names = ["passw", "secret", "token", "field", "label", "error"].iter().any(|word| lower.contains(word));
            let names = names && length < 20;
            let word = kinds.upper == 0 || kinds.lower == 0 || names;
            let random = if word || is_slug(value) {
                length >= 12 && !names && !value.contains(['_', '-', '.', ':', '/']) && entropy(value) > 3.0
            } else {
                length >= 8 && entropy(value) > 2.8 && !code::is_path_of_names(value)
            };
            let marked = marked && !(kinds.symbols == 0 && is_slug(value) && names);
            (marked || random) && !is_constant(value) && !code::is_file(value) && !code::is_call(value)
        }
    }
}

/// `SOME_NAME_2`: a variable of the environment.
fn is_constant(value: &str) -> bool {
    let parts: Vec<&str> = value.split('_').collect();
    let upper = |part: &&str| part.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    parts.len() > 1
        && parts.iter().all(upper)
        && parts.iter().any(|part| part.len() > 2)
        && CharCounts::from_value(value).digits <= 2
}

/// Whether the value of a key or a token is one.
pub(super) fn is_key(value: &str, place: ValuePlace) -> bool {
    let kinds = CharCounts::from_value(value);
    let least = if place == ValuePlace::Bare { 12 } else { 10 };
    if value.len() < least || value.chars().any(char::is_whitespace) || is_placeholder(value) || is_constant(value) {
        return false;
    }
    if code::is_code(value)
        || code::is_file(value)
        || value.matches('\\').count() > 1
        || code::is_technical(value)
        || kinds.lower + kinds.upper < 2
    {
        return false;
    }
    let needed = if place == ValuePlace::Bare { 2 } else { 1 };
    let mixed = value.len() >= 20 && kinds.upper > 3 && kinds.lower > 3 && entropy(value) >= 3.8;
    let marked = kinds.digits >= needed || kinds.symbols > 1 || mixed;
    let named = is_slug(value) && (place != ValuePlace::Literal || value.len() < 14);
    marked && !named && entropy(value) >= 2.7
}

/// Whether words between quotes are a key that has blanks: most of them, or a long one, are no words.
pub(super) fn is_key_with_blanks(value: &str) -> bool {
    let words: Vec<&str> = value.split_whitespace().collect();
    let is_odd = |word: &&&str| {
        let kinds = CharCounts::from_value(word);
        let inside = CharCounts::from_value(word.trim_end_matches(['!', '?'])).symbols > 0;
        let mixed = (kinds.digits > 0 || inside) && kinds.lower + kinds.upper > 0;
        mixed
            && word.len() >= 3
            && !is_slug(&word.replace('+', "-"))
            && !code::is_technical(word)
            && !code::is_code(word)
    };
    let odd = words.iter().filter(is_odd).count();
    let long = words.iter().filter(is_odd).any(|word| word.len() >= 8 && CharCounts::from_value(word).digits > 1);
    let length: usize = words.iter().map(|word| word.len()).sum();
    words.len() > 1 && length >= 12 && (odd * 2 >= words.len() || long) && is_password(value, ValuePlace::Quoted)
}

/// Whether a parameter of an address is a key; a signature may be written with per cent signs.
pub(super) fn is_key_in_address(value: &str) -> bool {
    !is_placeholder(value) && !is_slug(value) && !code::is_code(value) && entropy(value) >= 2.5
}
