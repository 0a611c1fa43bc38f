//! A small session as its client keeps it, for tests that make stores: sound ones, damaged ones, and such as a made-up
//! future version of the client might write.

use std::path::{Path, PathBuf};

use fs_err as fs;
use rusqlite::Connection;

/// A store with one session.
pub struct Sample {
    /// The store's folder below the home. The project is `calc`.
    pub root: &'static str,
    /// A variable that moves the store, and where the store is below what it names.
    pub root_variable: Option<(&'static str, &'static str)>,
    /// The session's file in the store.
    pub file: &'static str,
    pub format: Format,
    /// Files other than sessions that are read, below the home.
    pub other_files: &'static [&'static str],
    /// Files that belong to a session and lie in a folder of it, beside the session's file; `{ID}` is that of the sample.
    pub companions: &'static [&'static str],
}

/// How a session is kept.
pub enum Format {
    Lines(LineFormat),
    Rows(RowFormat),
    Document(DocumentFormat),
}

/// A session that is a file of lines. `{FILL}` stands where a text may be long.
pub struct LineFormat {
    /// Lines that the client writes before anything is said.
    pub start_lines: &'static [&'static str],
    /// A question and an answer.
    pub exchange: &'static [&'static str],
    /// Names that a future version gives the records of the talk.
    pub renames: &'static [(&'static str, &'static str)],
    /// Prompts whose words are not where the reader looks for them.
    pub without_words: &'static [&'static str],
}

/// A session that is one JSON document with a list of records. `{FILL}` stands where a text may be long.
pub struct DocumentFormat {
    /// What stands before the first record, and after the last.
    pub begin: &'static str,
    pub end: &'static str,
    /// A question with its answer.
    pub exchange: &'static str,
    /// A record that cannot be read, though the document can.
    pub damaged: &'static str,
    /// Names that a future version gives, each alone.
    pub renames: &'static [(&'static str, &'static str)],
}

impl DocumentFormat {
    /// The document with these records.
    pub fn write(&self, records: &[&str]) -> String {
        [self.begin, &records.join(","), self.end].concat()
    }
}

/// Sessions that are rows of a database.
pub struct RowFormat {
    pub tables: &'static str,
    /// A session in which nothing was said.
    pub start_sql: &'static str,
    pub exchange_sql: &'static str,
    /// One more record, of which a byte is missing.
    pub damaged: &'static str,
    /// Changes that future versions make, each with what is new.
    pub changes: &'static [(&'static str, &'static str)],
    /// Adds the record with this number to a session in which nothing was said.
    pub add_record: fn(&Connection, usize, &[u8]) -> rusqlite::Result<()>,
    /// The record of a prompt.
    pub prompt: &'static str,
}

/// The text that stands for what was said.
const FILL_MARK: &str = "{FILL}";

impl Sample {
    /// Where the session is, below the home.
    pub fn session_path(&self) -> String {
        format!("{}/{}", self.root, self.file)
    }

    pub fn is_database(&self) -> bool {
        matches!(self.format, Format::Rows(_))
    }

    /// Whether the session is a log of JSON records.
    pub fn is_json_log(&self) -> bool {
        matches!(&self.format, Format::Lines(lines) if lines.start_lines.iter().all(|line| line.starts_with('{')))
    }

    /// How many records `write_records` begins with.
    pub fn start_records(&self) -> usize {
        match &self.format {
            Format::Lines(lines) => lines.start_lines.len().min(1),
            Format::Rows(_) => 1,
            Format::Document(_) => 0,
        }
    }

    /// A prompt as the client records it.
    pub fn prompt_record(&self, text: &str) -> String {
        match &self.format {
            Format::Lines(lines) => lines.exchange[0].replace(FILL_MARK, text),
            Format::Rows(rows) => rows.prompt.replace(FILL_MARK, text),
            Format::Document(document) => document.exchange.replace(FILL_MARK, text),
        }
    }

    /// Whether a future version of it was made up.
    pub(crate) fn has_future(&self) -> bool {
        !matches!(&self.format, Format::Rows(rows) if rows.changes.is_empty())
    }

    /// Makes a session of these records in a store, and tells where it is.
    pub fn write_records(&self, root: &Path, records: &[&[u8]]) -> Result<PathBuf, SampleError> {
        let path = self.make_folder(root)?;
        match &self.format {
            Format::Lines(lines) => {
                let all: Vec<&[u8]> = lines
                    .start_lines
                    .iter()
                    .take(1)
                    .map(|line| line.as_bytes())
                    .chain(records.iter().copied())
                    .collect();
                write_lines(&path, &all)?;
            }
            Format::Rows(rows) => {
                let connection = open_unsynced(&path)?;
                connection.execute_batch(&[rows.tables, rows.start_sql].concat())?;
                for (number, record) in records.iter().enumerate() {
                    (rows.add_record)(&connection, number, record)?;
                }
            }
            Format::Document(document) => {
                let records: Vec<String> = records.iter().map(|record| to_json(record)).collect();
                let records: Vec<&str> = records.iter().map(String::as_str).collect();
                fs::write(&path, document.write(&records))?;
            }
        }
        Ok(path)
    }

    /// Makes a store of a made-up future version, of which nothing is known.
    pub fn write_future_version(&self, root: &Path) -> Result<(), SampleError> {
        let path = self.make_folder(root)?;
        match &self.format {
            Format::Lines(_) | Format::Document(_) => {
                write_lines(&path, &[br#"{"v":9,"kind":"turn","body":{}}"#, br#"{"v":9,"kind":"reply","body":{}}"#])?;
            }
            Format::Rows(rows) => {
                let change = rows.changes.first().map_or("", |(_, sql)| *sql);
                open_unsynced(&path)?
                    .execute_batch(&[rows.tables, rows.start_sql, rows.exchange_sql, change].concat())?;
            }
        }
        Ok(())
    }

    fn make_folder(&self, root: &Path) -> Result<PathBuf, SampleError> {
        let path = root.join(self.file);
        fs::create_dir_all(path.parent().unwrap_or(root))?;
        Ok(path)
    }
}

/// A sample that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum SampleError {
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
}

/// What is no JSON would cost the whole document: it becomes a text in it.
fn to_json(record: &[u8]) -> String {
    let text = String::from_utf8_lossy(record);
    match serde_json::from_str::<&serde_json::value::RawValue>(&text) {
        Ok(_) => text.into_owned(),
        Err(_) => serde_json::Value::String(text.into_owned()).to_string(),
    }
}

fn write_lines(path: &Path, lines: &[&[u8]]) -> Result<(), SampleError> {
    let mut bytes = lines.join(&b'\n');
    bytes.push(b'\n');
    Ok(fs::write(path, bytes)?)
}

/// Opens a database that need not outlive a crash, which is many times quicker to write.
fn open_unsynced(path: &Path) -> Result<Connection, SampleError> {
    let connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA synchronous = OFF;")?;
    Ok(connection)
}
