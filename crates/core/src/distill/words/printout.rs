//! Prompts that are a program's words and nobody's: a trace or a log that was pasted without a word about it.

use crate::distill::work::{is_stack_frame, reads_like_error};

/// Shorter ones are read as they are.
const MIN_LINES: usize = 3;
/// So many words say something.
const MIN_WORDS: usize = 2;

/// Whether a prompt is only what a program printed.
pub(super) fn is_printout(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    // Somebody's own words would stand before it or after it; PowerShell puts its own there, in the user's language.
    let n_first = usize::from(!is_powershell(text));
    let mut around = lines.iter().take(n_first).chain(lines.last());
    lines.len() >= MIN_LINES && has_printed_line(text) && !around.any(|line| is_own_words(line))
}

/// Whether the lines stand there that PowerShell puts below its messages.
fn is_powershell(text: &str) -> bool {
    text.contains("+ CategoryInfo ") || text.contains(".ps1:")
}

/// Whether a text has a line of a trace or of an error in it.
pub(super) fn has_printed_line(text: &str) -> bool {
    is_powershell(text)
        || text.lines().any(|line| is_stack_frame(&line.trim().to_lowercase()) || reads_like_error(line))
}

/// Beginnings of lines that programs print, and of lines behind a shell's prompt.
const PROGRAM_LINE_STARTS: [&str; 8] = ["Exception", "Traceback", "Error", "ERROR", "Caused by", "PS ", "$ ", "["];

/// Whether a line reads like somebody's words.
fn is_own_words(line: &str) -> bool {
    let n_words = line.split_whitespace().filter(|word| word.chars().all(char::is_alphabetic)).count();
    !line.starts_with(char::is_whitespace)
        && is_prose(line)
        && !reads_like_error(line)
        && !is_stack_frame(&line.to_lowercase())
        && !PROGRAM_LINE_STARTS.iter().any(|start| line.starts_with(start))
        && n_words >= MIN_WORDS
}

/// Whether a text reads like somebody's words and not like a program's: mostly letters, and no brackets of code or logs.
pub(super) fn is_prose(text: &str) -> bool {
    let n_chars = text.chars().count();
    let n_letters = text.chars().filter(|letter| letter.is_alphabetic() || letter.is_whitespace()).count();
    let is_logged = text.contains("[0") || text.contains("};") || text.trim_end().ends_with(['{', ';', '\\']);
    n_letters * 4 >= n_chars * 3 && !is_logged
}

#[cfg(test)]
mod tests {
    use super::is_printout;

    #[test]
    fn a_trace_without_a_word_about_it_is_a_printout() {
        let trace = "  File \"a.py\", line 3, in run\n    go()\n  File \"b.py\", line 4, in go\n    import x\n\
                     ModuleNotFoundError: No module named 'x'";
        assert!(is_printout(trace));
        assert!(!is_printout(&format!("{trace}\nsolve this error")));
        assert!(!is_printout(&format!("what does this mean\n{trace}")));
        assert!(is_printout(&format!("PS E:\\shop> python manage.py runserver\nWatching for file changes\n{trace}")));
        assert!(is_printout("Das geht nicht.\n    + CategoryInfo  : WriteError\n    + FullyQualifiedErrorId : X"));
        assert!(!is_printout("Fix these:\n+ a\n- b\n- c\n- d\n- e"));
    }
}
