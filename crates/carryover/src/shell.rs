//! Command lines to copy.

use std::path::Path;

use carryover_agents::{Os, ResumeCommand};

/// The line that goes on, from where the user stands.
pub(crate) fn line(command: &ResumeCommand, from: &Path, os: Os) -> String {
    let words: Vec<String> = command.argv.iter().map(|word| quote(word, os)).collect();
    let words = words.join(" ");
    if command.cwd == from {
        return words;
    }
    format!("cd {} && {words}", quote(&command.cwd.to_string_lossy(), os))
}

/// Quotes a word where a shell would read it as something else.
pub(crate) fn quote(word: &str, os: Os) -> String {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c) || (os == Os::Windows && c == '\\');
    if !word.is_empty() && word.chars().all(harmless) {
        return word.to_owned();
    }
    match os {
        Os::Windows => format!("\"{}\"", word.replace('"', "\\\"")),
        Os::Linux | Os::MacOs => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quote("/home/you/calc", Os::Linux), "/home/you/calc");
        assert_eq!(quote("/home/you/my app", Os::Linux), "'/home/you/my app'");
        assert_eq!(quote("it's $HOME", Os::Linux), r"'it'\''s $HOME'");
        assert_eq!(quote("", Os::Linux), "''");
        assert_eq!(quote(r"C:\Users\you\my app", Os::Windows), r#""C:\Users\you\my app""#);
    }

    #[test]
    fn the_directory_is_entered_only_from_elsewhere() {
        let command =
            ResumeCommand { argv: vec!["codex".into(), "resume".into()], cwd: "/a b".into(), needs_cwd: true };
        assert_eq!(line(&command, Path::new("/a b"), Os::Linux), "codex resume");
        assert_eq!(line(&command, Path::new("/"), Os::Linux), "cd '/a b' && codex resume");
    }
}
