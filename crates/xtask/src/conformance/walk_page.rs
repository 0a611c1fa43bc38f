//! A page with a row for each client of a walk.

use std::fmt::Write as _;

use fs_err as fs;

use super::walk::{WalkOutcome, WalkRow};
use super::{ConformanceError, Options};

/// A page beside the matrix.
pub(super) struct WalkPage {
    pub(super) file_name: &'static str,
    /// What its rows are of, in the last line.
    pub(super) noun: &'static str,
    /// Everything up to the first row.
    pub(super) introduction: &'static str,
}

/// What a row came to, as cells of the page behind the client's name.
pub(super) trait TableCells {
    /// How many there are, the last one not counted.
    const COUNT: usize;

    fn cells(&self) -> String;
}

impl WalkPage {
    /// Compares the rows with the page, or writes them where all were run or where it is asked for.
    pub(super) fn check_or_write<O: WalkOutcome + TableCells>(
        &self,
        options: &Options,
        rows: &[WalkRow<O>],
    ) -> Result<(), ConformanceError> {
        let path = options.output.with_file_name(self.file_name);
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
            fs::write(&path, self.render(&lines))?;
        } else if options.write {
            fs::write(&path, self.update_lines(&fs::read_to_string(&path)?, rows, &lines))?;
        }
        Ok(())
    }

    fn render(&self, lines: &[String]) -> String {
        let mut page = self.introduction.to_owned();
        for line in lines {
            page.extend([line.as_str(), "\n"]);
        }
        let whole = lines.iter().filter(|line| line.ends_with(" ✓ |")).count();
        // Writing to a string cannot fail.
        let _ = writeln!(page, "\n{whole} of {} {} are whole.", lines.len(), self.noun);
        page
    }

    /// The page with these lines in the place of what it said of the same clients, and new ones behind them.
    fn update_lines<O>(&self, page: &str, rows: &[WalkRow<O>], lines: &[String]) -> String {
        let table = page.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
        let known: Vec<&str> = table.take_while(|line| line.starts_with('|')).collect();
        let is_of = |line: &str, row: &WalkRow<O>| line.starts_with(&client_cell(row));
        let now = |line: &str| rows.iter().position(|row| is_of(line, row));
        let mut updated: Vec<String> = known
            .iter()
            .map(|line| now(line).map_or_else(|| (*line).to_owned(), |index| lines[index].clone()))
            .collect();
        let is_new = |row: &WalkRow<O>| !known.iter().any(|line| is_of(line, row));
        updated.extend(rows.iter().zip(lines).filter(|(row, _)| is_new(row)).map(|(_, line)| line.clone()));
        self.render(&updated)
    }
}

/// The cells of a row, or that there are none.
fn table_line<O: WalkOutcome + TableCells>(row: &WalkRow<O>) -> String {
    match &row.outcome {
        Ok(outcome) => {
            let whole = if row.is_whole() { "✓" } else { "✗" };
            format!("| {} | {} {whole} |", row.name, outcome.cells())
        }
        Err(_) => format!("| {} | not run to its end {}| ✗ |", row.name, "| ".repeat(O::COUNT - 1)),
    }
}

/// Figures of a whole session may differ: a client that is killed has written down more or less.
fn has_row<O: WalkOutcome>(page: &str, row: &WalkRow<O>, line: &str) -> bool {
    let client = client_cell(row);
    page.lines().any(|known| known == line || (row.is_whole() && known.starts_with(&client)))
}

fn client_cell<O>(row: &WalkRow<O>) -> String {
    format!("| {} |", row.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: WalkPage = WalkPage {
        file_name: "page.md",
        noun: "sessions",
        introduction: "# Page\n\n| client | n | whole |\n|---|---|---|\n",
    };

    struct Counted(usize, Vec<String>);

    impl WalkOutcome for Counted {
        fn findings(&self) -> Vec<String> {
            self.1.clone()
        }
    }

    impl TableCells for Counted {
        const COUNT: usize = 1;

        fn cells(&self) -> String {
            format!("{} |", self.0)
        }
    }

    fn row(name: &str, outcome: Result<Counted, String>) -> WalkRow<Counted> {
        WalkRow { name: name.to_owned(), outcome }
    }

    #[test]
    fn rows_take_the_place_of_those_of_the_same_client() {
        let first = [row("A 1", Ok(Counted(4, vec![]))), row("B 2", Ok(Counted(4, vec![])))];
        let lines: Vec<String> = first.iter().map(table_line).collect();
        assert_eq!(lines, ["| A 1 | 4 | ✓ |", "| B 2 | 4 | ✓ |"]);
        let page = PAGE.render(&lines);
        assert!(page.ends_with("2 of 2 sessions are whole.\n"));
        for (failed, expected) in [
            (row("A 1", Err("no".to_owned())), "| A 1 | not run to its end | ✗ |"),
            (row("A 1", Ok(Counted(4, vec!["other".to_owned()]))), "| A 1 | 4 | ✗ |"),
        ] {
            let line = table_line(&failed);
            assert_eq!(line, expected);
            assert!(!has_row(&page, &failed, &line), "one that is worse than the page says");
            let updated = PAGE.update_lines(&page, &[failed], std::slice::from_ref(&line));
            assert!(updated.contains(&line) && updated.contains(&lines[1]) && !updated.contains(&lines[0]));
            assert!(updated.ends_with("1 of 2 sessions are whole.\n"));
        }
    }

    #[test]
    fn a_new_client_comes_last() {
        let page = PAGE.render(&["| A 1 | 4 | ✓ |".to_owned()]);
        let new = row("B 2", Ok(Counted(5, vec![])));
        let updated = PAGE.update_lines(&page, &[new], &["| B 2 | 5 | ✓ |".to_owned()]);
        assert_eq!(updated, PAGE.render(&["| A 1 | 4 | ✓ |".to_owned(), "| B 2 | 5 | ✓ |".to_owned()]));
    }
}
