//! `docs/conformance-restore.md`: what came back of sessions that were deleted.

use std::fmt::Write as _;

use fs_err as fs;

use super::restore::{RestoreOutcome, table_line};
use super::walk::WalkRow;
use super::{ConformanceError, Options};

/// The page's name, beside the matrix.
const FILE_NAME: &str = "conformance-restore.md";

const INTRODUCTION: &str = "# Conformance of `restore`

Written by `cargo xtask conformance --restore --full`; do not edit. Each row is a session that a real client wrote. The ledger
took it in, it was deleted as said, `carryover restore` brought it back, and the client resumed it: the request that it then
sends to its model is compared with the one before the deletion.

- **restored**: the same files with the same bytes, or a new session in the client's own format, where sessions share a
  database or a file
- **live**, **ghosts**, **images**, **structure**: as in [the matrix](conformance.md)
- **calls**: all calls have the names and ids that they had
- **whole**: all of this holds

| client | session | deleted | restored | live | ghosts | images | structure | calls | whole |
|---|---|---|---|---|---|---|---|---|---|
";

/// Compares the rows with the page, or writes them where all were run or where it is asked for.
pub(super) fn check_or_write(options: &Options, rows: &[WalkRow<RestoreOutcome>]) -> Result<(), ConformanceError> {
    let path = options.output.with_file_name(FILE_NAME);
    let lines: Vec<String> = rows.iter().map(table_line).collect();
    if options.check {
        let page = fs::read_to_string(&path)?;
        let missing = rows.iter().zip(&lines).find(|(row, line)| !has_row(&page, row, line));
        return match missing {
            Some((_, line)) => Err(ConformanceError::Outdated { path, row: line.clone() }),
            None => Ok(()),
        };
    }
    if options.is_whole() {
        fs::write(&path, render_page(&lines))?;
    } else if options.write {
        fs::write(&path, update_lines(&fs::read_to_string(&path)?, rows, &lines))?;
    }
    Ok(())
}

/// How many facts a whole session has may differ: a client that is killed has written down more or less.
fn has_row(page: &str, row: &WalkRow<RestoreOutcome>, line: &str) -> bool {
    let client = client_cell(row);
    page.lines().any(|known| known == line || (row.is_whole() && known.starts_with(&client)))
}

fn client_cell(row: &WalkRow<RestoreOutcome>) -> String {
    format!("| {} |", row.name)
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

/// The page with these lines in the place of what it said of the same clients.
fn update_lines(page: &str, rows: &[WalkRow<RestoreOutcome>], lines: &[String]) -> String {
    let table = page.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let known = table.take_while(|line| line.starts_with('|'));
    let now = |known: &str| rows.iter().position(|row| known.starts_with(&client_cell(row)));
    let updated: Vec<String> =
        known.map(|known| now(known).map_or_else(|| known.to_owned(), |index| lines[index].clone())).collect();
    render_page(&updated)
}

#[cfg(test)]
mod tests {
    use super::{has_row, render_page, update_lines};
    use crate::conformance::restore::{RestoreOutcome, table_line};
    use crate::conformance::walk::WalkRow;

    fn failed_row(name: &str) -> WalkRow<RestoreOutcome> {
        WalkRow { name: name.to_owned(), outcome: Err("no".to_owned()) }
    }

    #[test]
    fn rows_take_the_place_of_those_of_the_same_client() {
        let known = "| A 1 | whole | by hand | the same files | 4/4 | 0 | 0/0 | 2/2 | ✓ | ✓ |".to_owned();
        let other = known.replace("A 1", "B 2");
        let page = render_page(&[known.clone(), other.clone()]);
        assert!(page.ends_with("2 of 2 sessions are whole.\n"));
        let row = failed_row("A 1");
        let line = table_line(&row);
        assert!(!has_row(&page, &row, &line), "one that is worse than the page says");
        let updated = update_lines(&page, &[row], &[line]);
        assert!(!updated.contains(&known) && updated.contains(&other));
        assert!(updated.ends_with("1 of 2 sessions are whole.\n"));
    }
}
