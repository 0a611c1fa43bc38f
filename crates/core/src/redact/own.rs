//! Rules of our own, for what no service's key looks like: private keys, passwords in addresses, headers, assignments.

use super::value;

/// A rule that is written here.
pub(super) struct OwnRule {
    pub(super) kind: &'static str,
    pub(super) keywords: &'static [&'static str],
    pub(super) pattern: &'static str,
    pub(super) check: Check,
    pub(super) before: usize,
    pub(super) after: usize,
}

/// What a match has to be beyond its form.
#[derive(Clone, Copy)]
pub(super) enum Check {
    Nothing,
    /// A password in an address.
    Address,
    Header,
    Password,
    Key,
}

impl Check {
    /// `before` is what stands between the beginning of the match and the value, `next` what follows it.
    pub(super) fn accepts(self, value: &str, before: &[u8], next: Option<char>) -> bool {
        let quoted = matches!(before.last(), Some(b'"' | b'\'' | b'`'));
        match self {
            Self::Nothing => true,
            Self::Address => !value.starts_with(['$', '{', '<', '[', '*', '%']),
            Self::Header => value.bytes().any(|byte| byte.is_ascii_digit()) && !value::is_placeholder(value),
            // What is called goes on with a bracket.
            Self::Password => next != Some('(') && value::is_password(value, quoted),
            Self::Key => next != Some('(') && value::is_key(value, quoted),
        }
    }
}

const PASSWORDS: &[&str] = &["password", "passwd", "passphrase", "pwd"];
const KEYS: &[&str] = &["secret", "token", "apikey", "api_key", "api-key", "_key", "accesskey", "credential"];

pub(super) const RULES: &[OwnRule] = &[
    OwnRule {
        kind: "private key",
        keywords: &["private key"],
        // With its end; or cut off, as far as it looks like one; or only its end.
        pattern: concat!(
            r"-----BEGIN[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----",
            r"(?:[A-Za-z0-9+/=\s\\:,.>|-]*?-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----",
            r"|(?:[\s>|]|\\[nr])*[A-Za-z0-9+/=]{20,}(?:(?:[\s>|]|\\[nr])+[A-Za-z0-9+/=]{20,})*)",
            r"|(?:[A-Za-z0-9+/=]{20,}(?:[\s>|]|\\[nr])+)*[A-Za-z0-9+/=]{4,}(?:[\s>|]|\\[nr])+",
            r"-----END[ A-Z0-9]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        ),
        check: Check::Nothing,
        before: 16_000,
        after: 16_000,
    },
    OwnRule {
        kind: "password",
        keywords: &["://"],
        pattern: r#"[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@'"`<>]{0,120}:([^\s/'"`<>@][^\s/'"`<>]{0,200}?)@[A-Za-z0-9\[_$%{-]"#,
        check: Check::Address,
        before: 40,
        after: 512,
    },
    OwnRule {
        kind: "bearer token",
        keywords: &["bearer"],
        pattern: r"(?i)\bbearer[ :=]{1,3}([A-Za-z0-9._~+/=-]{16,})",
        check: Check::Header,
        before: 8,
        after: 4_096,
    },
    OwnRule {
        kind: "credentials",
        keywords: &["authorization"],
        pattern: r#"(?i)\bauthorization["']?\s{0,3}[:=]\s{0,3}["']?(?:basic|token|digest|apikey)\s+([A-Za-z0-9._~+/=:-]{8,})"#,
        check: Check::Nothing,
        before: 8,
        after: 4_096,
    },
    OwnRule {
        kind: "json web token",
        keywords: &["eyj"],
        pattern: r"\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}(?:\.[A-Za-z0-9_-]*)?",
        check: Check::Nothing,
        before: 8,
        after: 4_096,
    },
    OwnRule {
        kind: "password",
        keywords: PASSWORDS,
        pattern: concat!(
            r#"(?i)(?:password|passwd|passphrase|pwd)(?:["']|\\")?\]?[ \t]{0,3}(?:=>|:=|=|:)[ \t]{0,3}"#,
            r#"(?:\\"([^"\\\n]{4,200})\\"|"([^"\n]{4,200})"|'([^'\n]{4,200})'|([^\s"',;)}\]\\`]{5,200}))"#,
        ),
        check: Check::Password,
        before: 8,
        after: 256,
    },
    OwnRule {
        kind: "secret",
        keywords: KEYS,
        pattern: concat!(
            r"(?i)(?:secret|token|api[_-]?key|access[_-]?key(?:[_-]?id)?|(?:secret|auth|private|signing|encryption|master|",
            r#"account|storage|license)[_-]?key|credentials?)(?:["']|\\")?\]?[ \t]{0,3}(?:=>|:=|=|:)[ \t]{0,3}"#,
            r#"(?:\\"([^"\\\s]{12,400})\\"|"([^"\s]{12,400})"|'([^'\s]{12,400})'|([^\s"',;)}\]\\`]{12,400}))"#,
        ),
        check: Check::Key,
        before: 16,
        after: 512,
    },
    OwnRule {
        kind: "password",
        keywords: &["--password", "--passphrase", "sshpass"],
        pattern: r#"(?:--(?:[a-z]+-)?(?:password|passphrase)[ =]|sshpass -p ?)["']?([^\s"'$<-][^\s"']{4,200})"#,
        check: Check::Password,
        before: 24,
        after: 256,
    },
    OwnRule {
        kind: "secret",
        keywords: &["-token ", "--secret", "-key ", "--token"],
        pattern: r#"--(?:[a-z]+-)*(?:token|secret|api-key|access-key)[ =]["']?([^\s"'$<-][^\s"']{11,400})"#,
        check: Check::Key,
        before: 40,
        after: 512,
    },
    OwnRule {
        kind: "api key",
        keywords: &["sk-", "sk_", "key-"],
        // The form that services of language models share.
        pattern: r"\b(?:sk|pk|rk)[-_](?:[a-z]{2,12}[-_]){0,3}[A-Za-z0-9_-]{20,200}",
        check: Check::Key,
        before: 4,
        after: 256,
    },
];
