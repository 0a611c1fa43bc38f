//! `docs/conformance-judges.md`: what vendors' own code shows of sessions that were written for it.

use std::fmt::Write as _;

use fs_err as fs;

use super::judges::{JudgedOutcome, JudgedSession};
use super::walk::WalkRow;
use super::{ConformanceError, Options};

/// The page's name, beside the matrix.
const FILE_NAME: &str = "conformance-judges.md";

const INTRODUCTION: &str = "# Conformance where no client runs

Written by `cargo xtask conformance --judges --write`; do not edit. Each row is a session that a real client wrote, carried by
`carryover resume` to an agent of which no client runs here. The judge is a package that its vendor publishes: its own code opens
the store that was written and shows the session. The last rows are stores of that agent's own form, which carryover reads: the judge
must show what it reads there.

- **prompts**, **replies**: how many are shown of those that are live in the session; each must have the same words, in the same order
- **commands**: how many are shown; each must be one of the session's
- **whole**: all of this holds

What the vendor's client sends to a model after a resume is not seen here.

| session of | session | judge | prompts | replies | commands | whole |
|---|---|---|---|---|---|---|
";

/// Compares the rows with the page, or writes them where all were run and it is asked for.
pub(super) fn check_or_write(
    options: &Options,
    sessions: &[JudgedSession],
    rows: &[WalkRow<JudgedOutcome>],
) -> Result<(), ConformanceError> {
    let path = options.output.with_file_name(FILE_NAME);
    let lines: Vec<String> = sessions.iter().zip(rows).map(|(session, row)| table_line(session, row)).collect();
    if options.check {
        let page = fs::read_to_string(&path)?;
        let missing = lines.into_iter().find(|line| !page.lines().any(|known| known == line));
        return missing.map_or(Ok(()), |row| Err(ConformanceError::Outdated { path, row }));
    }
    if options.write && options.from.is_none() {
        fs::write(&path, render_page(&lines))?;
    }
    Ok(())
}

fn table_line(session: &JudgedSession, row: &WalkRow<JudgedOutcome>) -> String {
    let (name, fixture) = (session.lab.name, session.label());
    let whole = if row.is_whole() { "✓" } else { "✗" };
    match &row.outcome {
        Ok(JudgedOutcome { judge, prompts, replies, commands, .. }) => format!(
            "| {name} | `{fixture}` | `{judge}` | {}/{} | {}/{} | {commands} | {whole} |",
            prompts.shown, prompts.said, replies.shown, replies.said
        ),
        Err(_) => format!("| {name} | `{fixture}` | not run to its end | | | | {whole} |"),
    }
}

fn render_page(lines: &[String]) -> String {
    let mut page = INTRODUCTION.to_owned();
    for line in lines {
        page.extend([line.as_str(), "\n"]);
    }
    let whole = lines.iter().filter(|line| line.ends_with(" ✓ |")).count();
    // Writing to a string cannot fail.
    let _ = writeln!(page, "\n{whole} of {} sessions are whole.", lines.len());
    page
}

#[cfg(test)]
mod tests {
    use super::render_page;

    #[test]
    fn whole_sessions_are_counted() {
        let page = render_page(&["| A | ✓ |".to_owned(), "| B | ✗ |".to_owned()]);
        assert!(page.ends_with("| A | ✓ |\n| B | ✗ |\n\n1 of 2 sessions are whole.\n"));
    }
}
