//! Whether a value is code, a file or a technical word: what stands where a secret could, and is computed or looked up.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::rules::compile;
use super::value;

/// An expression that is part of the program.
struct Form(LazyLock<Option<Regex>>);

impl Form {
    fn fits(&self, value: &str) -> bool {
        self.0.as_ref().is_some_and(|regex| regex.is_match(value.as_bytes()))
    }
}

macro_rules! form {
    ($pattern:expr) => {
        Form(LazyLock::new(|| compile($pattern)))
    };
}

/// `$NAME`, `${NAME…`, `$(…`, `{{…`, `process.env.NAME`, `var.name`, addresses of vaults.
static REFERENCE: Form = form!(concat!(
    r"^(?:\$\{|\$\(|\{\{|\{%|<%|%\(|\$\{\{|#\{",
    r"|\$(?:env:|ENV\{)?[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]]*\])?$|\$[0-9@*#?]$|%[A-Za-z_]+%$",
    r"|process\.env|os\.environ|os\.getenv|import\.meta|ENV\[|Deno\.env|Bun\.env|System\.getenv|std::env|env::",
    r"|(?:secrets|vars|var|local|data|env|config|settings|self|this|props|req|request|params|args|options|opts|ctx|module)\.[A-Za-z_]",
    r"|(?:op|vault|file|https?|projects|keyvault|ref\+[a-z]+|gcp-sm|aws-sm|secretsmanager)://?|arn:aws|vault:|ENC\[|ref:|!Ref|!Sub|!vault|!secret",
    r"|/\^|/.*[\])}*+]\$?/[gimsuy]*$|(?:pass|env|file|fd):|@Microsoft\.KeyVault|/run/secrets/|projects/[a-z])",
));
/// `name(…)`, `name[…]` and what is done with it, closed or cut off.
static CALL: Form = form!(concat!(
    r"^[&*!]?(?:new )?[A-Za-z_$][A-Za-z0-9_$.:]*!?(?:<[^>]*>)?",
    r"(?:(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\]|[?!]?\.[A-Za-z_][A-Za-z0-9_]*|\?)+(?:\[[^\]]*)?[;,)\]}]*|[(\[][^)\]]*)$",
    // Cut off, with others inside.
    r"|^[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|->)[A-Za-z_$][A-Za-z0-9_$]*)+!?\(|^[A-Za-z_$][A-Za-z0-9_$]{2,}\([A-Za-z0-9_$.]*\(",
));
/// `a.b`, `a::b`, `a->b`, `a?.b`, and what is left of a call.
static PATH: Form = form!(r"^[&*!]?[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\.|::|->|\?\.|!\.)[A-Za-z_$][A-Za-z0-9_$]*)+[;,)?]*$");
/// One name, which a variable, a field or a type may have.
static NAME: Form = form!(
    r"^[&*@!]?(?:[a-z]+|[A-Z][a-z]+|[a-z]+(?:_[a-z]+[0-9]?)+|[a-z]+(?:[A-Z][a-z]+)+|(?:[A-Z][a-z]+){2,}|[A-Z_]+)[?;,)]*$"
);
/// `name/name`: a part of something.
static PARTS: Form = form!(r"^[A-Za-z_][A-Za-z_-]*[0-9]{0,2}(?:/[A-Za-z_][A-Za-z_.-]*[0-9]{0,2})+$");
/// Types, algorithms and encodings that have digits in their names.
static TECHNICAL: Form = form!(concat!(
    r"(?i)^(?:[uif](?:8|16|32|64|128)|u?int(?:8|16|32|64)?(?:_t)?|float(?:32|64)|bytes?[0-9]*|n?varchar2?|char|sha-?[0-9]+|md[45]",
    r"|base(?:16|32|58|64)(?:url)?|utf-?(?:8|16|32)|oauth2?|oauth-?[12](?:\.[0-9])?|argon2(?:id?|d)?|pbkdf2|b?crypt|scrypt|aes-?[0-9]*",
    r"|hmac|ecdsa|ed25519|x25519|curve25519|secp256[kr]1|p-?(?:256|384|521)|rs(?:256|384|512)|hs(?:256|384|512)|es(?:256|384|512)",
    r"|x-?509|rsa-?[0-9]*|http[/]?[0-9.]*|ipv[46]|v[0-9.]+|iso-?[0-9-]+|latin-?1|[0-9.]+(?:px|em|rem|ms|s|m|h|d|kb|mb|gb|%|k))",
    r"(?:[-_/](?:[a-z]+|[0-9]+))*(?:[(\[<].*)?[;,)]*$|^(?:required|nullable|sometimes|optional|string)\|",
));
static FILE: Form = form!(
    r"^(?:\.{0,2}/|~/|[A-Z]:\\)[A-Za-z0-9_./\\ -]*$|^[A-Za-z0-9_./-]{1,60}\.(?:txt|pem|key|json|ya?ml|toml|env|crt|cer|p12|pfx|jks|md|py|rs|js|ts|tsx|go|rb|java|html|sh|conf|cfg|ini|log|sql|csv|xml|gpg|asc|pub|lock|service)(?::[0-9:]+)?[;,)]*$"
);

/// Whether a value is looked up elsewhere.
pub(super) fn is_reference(value: &str) -> bool {
    REFERENCE.fits(value)
}

/// Whether a value is what a call gives.
pub(super) fn is_call(value: &str) -> bool {
    CALL.fits(value) && (value.contains(['(', '[']) || !value.split(['.', ':']).any(is_no_name))
}

/// Whether nobody would call something so.
fn is_no_name(part: &str) -> bool {
    let has = |is: fn(&u8) -> bool| part.bytes().any(|byte| is(&byte));
    value::is_random(part) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Whether a value is a field of something.
pub(super) fn is_path_of_names(value: &str) -> bool {
    PATH.fits(value) && value.split(['.', ':']).all(|part| part.len() < 24 && !has_many_digits(part))
}

fn has_many_digits(part: &str) -> bool {
    part.bytes().filter(u8::is_ascii_digit).count() > 2
}

/// Whether a value, where code may stand, is code.
pub(super) fn is_code(value: &str) -> bool {
    is_call(value)
        || is_path_of_names(value)
        || NAME.fits(value)
        || PARTS.fits(value)
        || ["::", "=>", "->", "&&", "||"].iter().any(|mark| value.contains(mark))
}

/// Whether a value is a name that has capitals inside.
pub(super) fn is_camel_case(value: &str) -> bool {
    NAME.fits(value)
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether a value is the name of a type, an algorithm or an encoding.
pub(super) fn is_technical(value: &str) -> bool {
    TECHNICAL.fits(value)
}

/// Whether a value is where something is stored.
pub(super) fn is_file(value: &str) -> bool {
    // Commands read a file that has such a mark before it.
    let value = value.strip_prefix('@').unwrap_or(value);
    FILE.fits(value) && !value.split(['/', '\\']).any(|part| part.len() > 32 || part.split('.').any(is_no_name))
}
