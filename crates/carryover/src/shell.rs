//! Command lines to copy.

use std::path::Path;

use carryover_agents::{Os, ResumeCommand};
use carryover_core::plain::strip_hidden;

/// The line that goes on, from where the user stands.
pub(crate) fn resume_line(command: &ResumeCommand, from: &Path, os: Os) -> String {
    let words: Vec<String> = command.argv.iter().map(|word| quote_word(word, os)).collect();
    let words = words.join(" ");
    if command.cwd == from {
        return words;
    }
    format!("cd {} && {words}", quote_word(&command.cwd.to_string_lossy(), os))
}

/// The longest id, quoted, that is told: what is cut would leave a quotation mark open.
const MAX_ID_CHARS: usize = 70;

/// A command of ours about one session; where its id cannot stand in a command line, the one that lists all of them. An
/// id is a file's word, and whoever is told the command gives it to a shell.
pub(crate) fn session_command(before: &[&str], session: &str, after: &[&str], os: Os) -> String {
    let id = quote_word(session, os);
    let is_tellable =
        !session.starts_with('-') && id.chars().count() <= MAX_ID_CHARS && (id == session || is_quotable(session, os));
    if !is_tellable {
        return "carryover list --all".to_owned();
    }
    let words = before.iter().copied().chain([id.as_str()]).chain(after.iter().copied());
    format!("carryover {}", words.collect::<Vec<_>>().join(" "))
}

/// Whether a word is one between quotation marks. The shells of Windows look for variables there, each in its own way.
fn is_quotable(word: &str, os: Os) -> bool {
    let is_read = |c: char| os == Os::Windows && "\"%$`!^".contains(c);
    !word.is_empty() && strip_hidden(word) == word && !word.contains(['\n', '\t']) && !word.contains(is_read)
}

/// Quotes a word where a shell would read it as something else.
pub(crate) fn quote_word(word: &str, os: Os) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c) || (os == Os::Windows && c == '\\');
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    match os {
        Os::Windows => format!("\"{}\"", word.replace('"', "\\\"")),
        Os::Linux | Os::MacOs if is_quotable(word, os) || word.is_empty() => {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
        Os::Linux | Os::MacOs => escape_bytes(word),
    }
}

/// A word with characters that are not shown, each byte of them spelled: without them it would be another word.
fn escape_bytes(word: &str) -> String {
    let mut out = String::from("$'");
    for letter in word.chars() {
        let mut bytes = [0; 4];
        let text: &str = letter.encode_utf8(&mut bytes);
        match letter {
            '\'' | '\\' => out.extend(['\\', letter]),
            '\n' | '\t' => out.extend(text.bytes().map(|byte| format!("\\x{byte:02x}"))),
            _ if strip_hidden(text) == text => out.push(letter),
            _ => out.extend(text.bytes().map(|byte| format!("\\x{byte:02x}"))),
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quote_word("/home/you/calc", Os::Linux), "/home/you/calc");
        assert_eq!(quote_word("/home/you/my app", Os::Linux), "'/home/you/my app'");
        assert_eq!(quote_word("it's $HOME", Os::Linux), r"'it'\''s $HOME'");
        assert_eq!(quote_word("", Os::Linux), "''");
        assert_eq!(quote_word(r"C:\Users\you\my app", Os::Windows), r#""C:\Users\you\my app""#);
    }

    #[test]
    fn what_is_not_shown_is_spelled() {
        assert_eq!(quote_word("a\u{1b}[31m'b", Os::Linux), r"$'a\x1b[31m\'b'");
        assert_eq!(quote_word("a\nb\u{202e}c", Os::Linux), r"$'a\x0ab\xe2\x80\xaec'");
    }

    #[test]
    fn an_id_is_quoted_or_not_told() {
        let told = |id: &str, os| session_command(&["show"], id, &["--full"], os);
        assert_eq!(told("8f3c21aa-1", Os::Linux), "carryover show 8f3c21aa-1 --full");
        assert_eq!(told("x; curl h|sh", Os::Linux), "carryover show 'x; curl h|sh' --full");
        assert_eq!(told("x & y", Os::Windows), "carryover show \"x & y\" --full");
        let long = "x ".repeat(40);
        for id in ["--force", "-x", "a\nb", "a\u{1b}[2J", "a\u{202e}b", "", long.as_str()] {
            assert_eq!(told(id, Os::Linux), "carryover list --all", "{id:?}");
        }
        assert_eq!(told("$(curl h)", Os::Windows), "carryover list --all");
    }

    #[test]
    fn the_directory_is_entered_only_from_elsewhere() {
        let command =
            ResumeCommand { argv: vec!["codex".into(), "resume".into()], cwd: "/a b".into(), needs_cwd: true };
        assert_eq!(resume_line(&command, Path::new("/a b"), Os::Linux), "codex resume");
        assert_eq!(resume_line(&command, Path::new("/"), Os::Linux), "cd '/a b' && codex resume");
    }
}
