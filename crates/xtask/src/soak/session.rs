//! One session in the making: what its client will have written at the end of the day, and how much of it is there.

use std::io::Write;
use std::path::{Path, PathBuf};

use carryover_testkit::lab::{BenchPlace, Lab};
use rusqlite::Connection;
use serde_json::Value;

use super::Result;
use super::daemon::Home;
use crate::bench::fixture_corpus::Fixtures;
use crate::bench::stores::{session_uuid, write_alone};

/// A word of the generated texts, in whose place each project gets a word of its own.
const COMMON_WORD: &str = "parser";
/// In so many steps a session comes to its end.
const STEPS: usize = 40;

/// The word that is said in one project only.
pub(super) fn project_word(number: u64) -> String {
    format!("{COMMON_WORD}Q{number:03}Q")
}

pub(super) struct Session {
    pub(super) lab: &'static Lab,
    /// The project, and which session of its agent it is.
    pub(super) number: u64,
    pub(super) id: String,
    pub(super) path: PathBuf,
    /// All of it, as a file or as a database with nothing else in it.
    whole: PathBuf,
    done: usize,
    pub(super) is_deleted: bool,
    /// A client has its database open all day.
    _client: Option<Connection>,
}

impl Session {
    pub(super) fn prepare(home: &Home, lab: &'static Lab, fixtures: &Fixtures, n: u64, size: usize) -> Result<Self> {
        let whole = home.folder.path().join(format!("whole-{}-{n}", lab.id));
        let place = write_alone(lab, fixtures, n, size, &whole)?;
        let path = home.home().join(place);
        fs_err::create_dir_all(path.parent().unwrap_or(&path))?;
        let project = home.project(n).display().to_string();
        if is_database(lab) {
            localise_rows(&whole, &project, n)?;
        } else {
            let text = fs_err::read_to_string(&whole)?;
            let lines: Vec<String> = text.lines().map(|line| localise_line(line, &project, n)).collect();
            fs_err::write(&whole, lines.join("\n") + "\n")?;
        }
        let client = is_database(lab).then(|| open_client(&path)).transpose()?;
        Ok(Self { lab, number: n, id: session_uuid(n), path, whole, done: 0, is_deleted: false, _client: client })
    }

    /// Goes on for some steps; whether there was something left.
    pub(super) fn grow(&mut self, steps: usize) -> Result<bool> {
        let before = self.done;
        if self.is_deleted || before == STEPS {
            return Ok(false);
        }
        self.done = (before + steps).min(STEPS);
        if is_database(self.lab) {
            self.copy_rows()?;
        } else {
            let lines = self.read_lines()?;
            let new = lines[share(lines.len(), before)..share(lines.len(), self.done)].concat();
            let mut file = fs_err::OpenOptions::new().create(true).append(true).open(&self.path)?;
            file.write_all(new.as_bytes())?;
        }
        Ok(true)
    }

    /// Loses its second half, as after a rewind that a client makes good in the file; whether it could.
    pub(super) fn rewrite(&mut self) -> Result<bool> {
        if self.is_deleted || self.done < 2 || is_database(self.lab) {
            return Ok(false);
        }
        self.done /= 2;
        let lines = self.read_lines()?;
        let kept = lines[..share(lines.len(), self.done)].concat();
        // Clients write anew beside it and rename, or write over it; each of them in turn.
        if self.number.is_multiple_of(2) {
            let beside = self.path.with_extension("new");
            fs_err::write(&beside, kept)?;
            fs_err::rename(&beside, &self.path)?;
        } else {
            fs_err::write(&self.path, kept)?;
        }
        Ok(true)
    }

    pub(super) fn delete(&mut self) -> Result<bool> {
        if self.is_deleted || self.done == 0 {
            return Ok(false);
        }
        self.is_deleted = true;
        if !is_database(self.lab) {
            fs_err::remove_file(&self.path)?;
            return Ok(true);
        }
        self.change_rows(|name, key, _| {
            format!("DELETE FROM main.{name} WHERE {key} IN (SELECT {key} FROM whole.{name});")
        })?;
        Ok(true)
    }

    fn read_lines(&self) -> Result<Vec<String>> {
        Ok(fs_err::read_to_string(&self.whole)?.split_inclusive('\n').map(str::to_owned).collect())
    }

    fn copy_rows(&self) -> Result<()> {
        let done = self.done;
        self.change_rows(|name, _, count| {
            format!(
                "INSERT OR IGNORE INTO main.{name} SELECT * FROM whole.{name} ORDER BY rowid LIMIT {};",
                share(count, done).max(1)
            )
        })?;
        Ok(())
    }

    /// Changes every table of the agent's database by a statement that is made of its name, the name of its first column, and the
    /// number of rows of this session.
    fn change_rows(&self, make_sql: impl Fn(&str, &str, usize) -> String) -> Result<()> {
        let mut connection = Connection::open(&self.path)?;
        connection.busy_timeout(std::time::Duration::from_secs(10))?;
        connection.execute("ATTACH ?1 AS whole", [self.whole.display().to_string()])?;
        let tables: Vec<(String, String)> = {
            let mut query =
                connection.prepare("SELECT name, sql FROM whole.sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?
        };
        let transaction = connection.transaction()?;
        for (name, sql) in &tables {
            let is_there = "SELECT count(*) FROM main.sqlite_master WHERE name = ?1";
            if transaction.query_row(is_there, [name], |row| row.get::<_, u64>(0))? == 0 {
                transaction.execute_batch(sql)?;
            }
        }
        for (name, _) in tables.iter().filter(|(_, sql)| sql.starts_with("CREATE TABLE")) {
            let count = transaction.query_row(&format!("SELECT count(*) FROM whole.{name}"), [], |row| row.get(0))?;
            let key: String =
                transaction.query_row("SELECT name FROM pragma_table_info(?1) LIMIT 1", [name], |row| row.get(0))?;
            transaction.execute_batch(&make_sql(name, &key, count))?;
            self.touch_rows(&transaction, name, &key)?;
        }
        Ok(transaction.commit()?)
    }

    /// A client notes with the session when it was last changed.
    fn touch_rows(&self, connection: &Connection, table: &str, key: &str) -> Result<()> {
        for column in ["time_updated", "updated_at"] {
            let count = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
            if connection.query_row(count, [table, column], |row| row.get::<_, u64>(0))? == 1 {
                let sql = format!(
                    "UPDATE main.{table} SET {column} = {} WHERE {key} IN (SELECT {key} FROM whole.{table})",
                    1_794_700_000_000_u64 + self.done as u64 * 1_000
                );
                connection.execute_batch(&sql)?;
            }
        }
        Ok(())
    }
}

/// A connection that has looked at its database, and so keeps the log beside it from going.
fn open_client(path: &Path) -> Result<Connection> {
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, u64>(0))?;
    Ok(connection)
}

fn is_database(lab: &Lab) -> bool {
    matches!(lab.bench, BenchPlace::Rows(_) | BenchPlace::Events(_))
}

/// How many of something are there after so many steps.
fn share(count: usize, done: usize) -> usize {
    (count * done).div_ceil(STEPS).min(count)
}

/// Puts a record into a project: its folder, and its word.
fn localise_line(line: &str, project: &str, number: u64) -> String {
    let line = line.replace(COMMON_WORD, &project_word(number));
    let Ok(mut record) = serde_json::from_str::<Value>(&line) else { return line };
    localise_value(&mut record, project);
    record.to_string()
}

fn localise_value(value: &mut Value, project: &str) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if matches!(key.as_str(), "cwd" | "directory" | "gitRoot") => {
                        project.clone_into(text);
                    }
                    _ => localise_value(value, project),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| localise_value(item, project)),
        _ => {}
    }
}

/// The same in a database, whose records are columns and texts in them.
fn localise_rows(path: &Path, project: &str, number: u64) -> Result<()> {
    let connection = Connection::open(path)?;
    let texts = [("session", "directory"), ("part", "data"), ("message", "data"), ("transcript_events", "event_json")];
    for (table, column) in texts {
        let count = "SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2";
        if connection.query_row(count, [table, column], |row| row.get::<_, u64>(0))? == 0 {
            continue;
        }
        let rows: Vec<(i64, String)> = {
            let mut query =
                connection.prepare(&format!("SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL"))?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<rusqlite::Result<_>>()?
        };
        for (row, text) in rows {
            let text = if column == "directory" { project.to_owned() } else { localise_line(&text, project, number) };
            connection.execute(&format!("UPDATE {table} SET {column} = ?2 WHERE rowid = ?1"), (row, text))?;
        }
    }
    Ok(())
}
