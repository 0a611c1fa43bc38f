//! Command lines: freed of the shell around them, and looked through for patches.
//!
//! Models without the tool for it run `apply_patch` as a program, and the client itself takes such a command for a patch
//! where it is nothing else. So do we: a command that does more stays a command, or the rest of it would be lost.

use carryover_core::transcript::Change;
use serde::Deserialize;

use super::patch;

/// The names under which the client has the program.
const PATCH_PROGRAMS: &[&str] = &["apply_patch", "applypatch"];

/// A command as it stands in a call.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum WireWords {
    Line(String),
    Words(Vec<String>),
}

impl WireWords {
    /// The command alone: `["bash", "-lc", "…"]` without its shell; other words are joined, quoted where they need it.
    pub(super) fn into_line(self) -> String {
        match self {
            Self::Line(line) => line,
            Self::Words(words) => match shell_script(&words) {
                Some(script) => script.to_owned(),
                None => words.iter().map(|word| quote_word(word)).collect::<Vec<_>>().join(" "),
            },
        }
    }

    /// The changes that the command makes, where it does nothing but apply patches.
    pub(super) fn patch_changes(&self, workdir: Option<&str>) -> Option<Vec<Change>> {
        let script = match self {
            Self::Line(line) => line,
            Self::Words(words) => match words.as_slice() {
                [program, text] if PATCH_PROGRAMS.contains(&program.as_str()) => {
                    return patch::parse(text).map(|changes| patch::prefix_paths(changes, workdir));
                }
                words => shell_script(words)?,
            },
        };
        // Most commands are none, and need no closer look.
        if !PATCH_PROGRAMS.iter().any(|program| script.contains(program)) {
            return None;
        }
        StatementReader { rest: script, folder: workdir.map(str::to_owned), changes: Vec::new() }.read_all()
    }
}

/// The script in the words by which a shell is called.
fn shell_script(words: &[String]) -> Option<&str> {
    let (shell, flag, script) = match words {
        [shell, flag, script] => (shell, flag, script),
        [shell, skipped, flag, script] if skipped.eq_ignore_ascii_case("-noprofile") => (shell, flag, script),
        _ => return None,
    };
    let shell = shell.rsplit(['/', '\\']).next().unwrap_or(shell);
    let shell = shell.strip_suffix(".exe").unwrap_or(shell);
    let is_shell = matches!(shell, "bash" | "sh" | "zsh" | "pwsh" | "powershell" | "cmd");
    let is_flag = matches!(flag.as_str(), "-lc" | "-c" | "-Command" | "-command" | "/c");
    (is_shell && is_flag).then_some(script)
}

fn quote_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// A script in the course of being read, statement by statement.
struct StatementReader<'s> {
    rest: &'s str,
    /// Where the next patch applies.
    folder: Option<String>,
    changes: Vec<Change>,
}

impl StatementReader<'_> {
    /// All changes; `None` where anything is done besides.
    fn read_all(mut self) -> Option<Vec<Change>> {
        loop {
            self.rest = self.rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == ';');
            self.rest = self.rest.strip_prefix("&&").unwrap_or(self.rest).trim_start();
            if self.rest.is_empty() {
                return (!self.changes.is_empty()).then_some(self.changes);
            }
            self.read_statement()?;
        }
    }

    fn read_statement(&mut self) -> Option<()> {
        let (word, behind) = split_word(self.rest)?;
        match word {
            "cd" => {
                let (folder, behind) = split_word(behind.trim_start_matches(' '))?;
                self.folder = Some(patch::join_path(self.folder.as_deref(), folder));
                self.rest = behind;
            }
            // Only how the shell goes on after an error.
            "set" => self.rest = behind.find([';', '\n']).map(|end| &behind[end..])?,
            "cat" => {
                let (body, line, behind) = split_here_document(behind.trim_start())?;
                let program = line.trim().strip_prefix('|')?.trim();
                self.add_patch(Some(program).filter(|program| PATCH_PROGRAMS.contains(program)).map(|_| body)?)?;
                self.rest = behind;
            }
            word if PATCH_PROGRAMS.contains(&word) => {
                let behind = behind.trim_start_matches(' ');
                if behind.starts_with("<<") {
                    let (body, line, behind) = split_here_document(behind)?;
                    self.add_patch(body)?;
                    // The rest of the mark's line belongs to the command, too.
                    Some(()).filter(|()| line.trim().is_empty())?;
                    self.rest = behind;
                } else {
                    let (text, behind) = split_quotation(behind)?;
                    self.add_patch(&text)?;
                    self.rest = behind;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn add_patch(&mut self, text: &str) -> Option<()> {
        self.changes.extend(patch::prefix_paths(patch::parse(text)?, self.folder.as_deref()));
        Some(())
    }
}

/// The first word, without the quotes around it.
fn split_word(text: &str) -> Option<(&str, &str)> {
    if let Some(quote) = text.chars().next().filter(|letter| matches!(letter, '"' | '\'')) {
        let end = text[1..].find(quote)? + 1;
        return Some((&text[1..end], &text[end + 1..]));
    }
    let end = text.find(|letter: char| letter.is_whitespace() || ";&|<".contains(letter)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// The body of a here-document, the rest of the line that begins it, and what follows it.
fn split_here_document(text: &str) -> Option<(&str, &str, &str)> {
    let text = text.strip_prefix("<<")?;
    let text = text.strip_prefix('-').unwrap_or(text).trim_start_matches(' ');
    let (mark, behind) = split_word(text)?;
    let (line, body) = behind.split_once('\n')?;
    let mut end = 0;
    for one in body.split_inclusive('\n') {
        if one.trim() == mark {
            return Some((&body[..end], line, &body[end + one.len()..]));
        }
        end += one.len();
    }
    // A shell takes the end of the script for the mark, and models leave it out.
    Some((body, line, ""))
}

/// A text in quotes, as the shell would hand it over.
fn split_quotation(text: &str) -> Option<(String, &str)> {
    let quote = text.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    let mut said = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            _ if letter == quote => return Some((said, &text[at + 1..])),
            '\\' if quote == '"' => match letters.next()?.1 {
                escaped @ ('"' | '\\' | '$' | '`') => said.push(escaped),
                '\n' => {}
                other => said.extend(['\\', other]),
            },
            _ => said.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a.rs\n+it's \"x\"\n*** End Patch";

    fn added(path: &str) -> Vec<Change> {
        vec![Change::Add { path: path.to_owned(), content: "it's \"x\"\n".to_owned() }]
    }

    fn changes_of(script: &str) -> Option<Vec<Change>> {
        WireWords::Line(script.to_owned()).patch_changes(None)
    }

    #[test]
    fn a_patch_is_found_however_the_program_is_called() {
        let words = |words: &[&str]| WireWords::Words(words.iter().map(|word| (*word).to_owned()).collect());
        for program in ["apply_patch", "applypatch"] {
            assert_eq!(words(&[program, PATCH]).patch_changes(None), Some(added("a.rs")));
            let script = format!("{program} <<'EOF'\n{PATCH}\nEOF\n");
            assert_eq!(changes_of(&script), Some(added("a.rs")));
            assert_eq!(words(&["bash", "-lc", &script]).patch_changes(None), Some(added("a.rs")));
            assert_eq!(words(&["/usr/bin/zsh", "-c", &script]).patch_changes(None), Some(added("a.rs")));
        }
        assert_eq!(changes_of(&format!("apply_patch << 'EOF'\n{PATCH}")), Some(added("a.rs")));
        assert_eq!(changes_of(&format!("apply_patch << \"PATCH\"\n{PATCH}\nPATCH")), Some(added("a.rs")));
        assert_eq!(changes_of(&format!("cat <<'EOF' | apply_patch\n{PATCH}\nEOF\n")), Some(added("a.rs")));
        let escaped = PATCH.replace('"', "\\\"");
        assert_eq!(changes_of(&format!("apply_patch \"{escaped}\"")), Some(added("a.rs")));
        assert_eq!(changes_of(&format!("set -e\napply_patch <<EOF\n{PATCH}\nEOF\n")), Some(added("a.rs")));
    }

    #[test]
    fn a_patch_applies_in_the_folder_of_its_command() {
        let there = format!("cd src && apply_patch <<'EOF'\n{PATCH}\nEOF\n");
        assert_eq!(changes_of(&there), Some(added("src/a.rs")));
        assert_eq!(WireWords::Line(there).patch_changes(Some("/r")), Some(added("/r/src/a.rs")));
        let absolute = format!("cd '/q r' && apply_patch <<'EOF'\n{PATCH}\nEOF\n");
        assert_eq!(WireWords::Line(absolute).patch_changes(Some("/r")), Some(added("/q r/a.rs")));
    }

    #[test]
    fn several_patches_are_one_edit() {
        let one = format!("apply_patch <<'EOF'\n{PATCH}\nEOF\n");
        assert_eq!(changes_of(&format!("{one}{one}")), Some([added("a.rs"), added("a.rs")].concat()));
    }

    #[test]
    fn a_command_that_does_more_stays_a_command() {
        for script in [
            format!("apply_patch <<'EOF' && cargo test\n{PATCH}\nEOF\n"),
            format!("apply_patch <<'EOF'\n{PATCH}\nEOF\ncargo test"),
            format!("cargo fmt && apply_patch <<'EOF'\n{PATCH}\nEOF\n"),
            "grep -rn apply_patch src".to_owned(),
            "apply_patch".to_owned(),
            "apply_patch <<'EOF'\nno patch\nEOF".to_owned(),
        ] {
            assert_eq!(changes_of(&script), None, "{script}");
        }
    }
}
