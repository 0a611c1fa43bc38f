//! Whether a value is a secret or only stands where one could.

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

/// A value that is meant to be filled in, computed or looked up.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let begins = ["$", "<", "{", "%", "*", "[", "&", "(", "/", "./", "../", "~/", "http://", "https://", "env."];
    let holds = [
        "${",
        "{{",
        "(",
        "process.env",
        "os.environ",
        "getenv",
        "import.meta",
        "example",
        "placeholder",
        "changeme",
        "change_me",
        "your_",
        "your-",
        "xxxx",
        "...",
        "…",
        "redacted",
        "<",
        "::",
    ];
    let first = value.chars().next();
    begins.iter().any(|start| lower.starts_with(start))
        || holds.iter().any(|part| lower.contains(part))
        || value.chars().all(|next| Some(next) == first)
        || matches!(lower.as_str(), "true" | "false" | "null" | "none" | "undefined" | "string" | "password" | "secret")
}

/// Whether the value of a password is one.
pub(super) fn is_password(value: &str, quoted: bool) -> bool {
    if is_placeholder(value) || value.chars().any(char::is_whitespace) || value.len() < 5 {
        return false;
    }
    let digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let symbol = value.bytes().any(|byte| matches!(byte, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+'));
    if !quoted {
        // Without quotes it may be code: a field, a type, a variable.
        let code = value.contains(['.', '[', '{', ':', '?']) && !symbol;
        return (digit || symbol) && !code;
    }
    let words = value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-');
    digit
        || symbol
        || (!words && value.len() >= 8 && entropy(value) > 2.8)
        || (value.len() >= 12 && entropy(value) > 3.0 && !value.contains(['_', '-']))
}

/// Whether the value of a key or a token is one.
pub(super) fn is_key(value: &str, quoted: bool) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let token = value.bytes().all(|byte| is_token_byte(byte) || matches!(byte, b'~' | b':' | b'!' | b'@'));
    // A path of names is code, or a file.
    let names = value.contains(['.', '/']) && value.split(['.', '/']).all(|part| part.len() < 16);
    let least = if quoted { 1 } else { 2 };
    token && !names && !is_placeholder(value) && value.len() >= 12 && digits >= least && entropy(value) >= 3.0
}
