//! Homes with a store of an agent, as it is now and as a made-up future version of its client might write it. What the
//! store holds is the lab's `Sample`.

use carryover_testkit::agents::{LABS, find_lab};
use carryover_testkit::lab::{DocumentFormat, Format, Lab, LineFormat, RowFormat, StoreForm};
use rusqlite::Connection;

use crate::support::TestEnv;

const ID: &str = "00000000-0000-4000-8000-000000000001";

/// How an agent keeps a session.
pub(crate) struct Store {
    /// Whose it is, and in which form.
    pub(crate) agent: &'static str,
    pub(crate) name: String,
    form: StoreForm,
}

/// The store of an agent.
pub(crate) fn store(agent: &str) -> Store {
    stores_of(find_lab(agent).unwrap()).next().unwrap()
}

/// The stores of all agents, in every form.
pub(crate) fn all_stores() -> impl Iterator<Item = Store> {
    LABS.iter().flat_map(|lab| stores_of(lab))
}

fn stores_of(lab: &'static Lab) -> impl Iterator<Item = Store> {
    lab.forms().map(|form| Store {
        agent: lab.id,
        name: format!("{} {}", lab.id, form.name).trim_end().to_owned(),
        form,
    })
}

/// Bookkeeping of a future version, which is no drift as long as the talk is known.
const NOVEL: &str = r#"{"type":"novel-bookkeeping","v":9}"#;

impl Store {
    pub(crate) fn is_database(&self) -> bool {
        self.form.sample.is_database()
    }

    pub(crate) fn is_json_log(&self) -> bool {
        self.form.sample.is_json_log()
    }

    /// Where the session is, below the home.
    pub(crate) fn path(&self) -> String {
        self.form.sample.session_path()
    }

    /// Writes what stands beside the session.
    pub(crate) fn write_beside(&self, env: &TestEnv) {
        (self.form.write_beside)(&env.home().join(self.form.sample.root)).unwrap();
    }

    /// Homes in which this store is sound, each with what is special about it.
    pub(crate) fn sound(&self) -> Vec<(String, TestEnv)> {
        match &self.form.sample.format {
            Format::Lines(lines) => self.sound_lines(lines),
            Format::Rows(rows) => self.sound_rows(rows),
            Format::Document(document) => vec![
                self.home_with_text("a conversation", &document.write(&[document.exchange])),
                self.home_with_text("nothing said yet", &document.write(&[])),
            ],
        }
    }

    /// A home with a conversation in which one record cannot be read, as after a crash.
    pub(crate) fn damaged(&self) -> TestEnv {
        match &self.form.sample.format {
            Format::Lines(lines) => self.damaged_lines(lines),
            Format::Rows(rows) => {
                self.home_with_rows("", &[rows.tables, rows.start_sql, rows.exchange_sql, rows.damaged].concat()).1
            }
            Format::Document(document) => {
                self.home_with_text("", &document.write(&[document.exchange, document.damaged])).1
            }
        }
    }

    /// A home with two sessions, one of which cannot be opened; none where a session is no file of its own.
    #[cfg(unix)]
    pub(crate) fn unopened(&self) -> Option<TestEnv> {
        match &self.form.sample.format {
            Format::Lines(lines) if self.path().contains("00000000") => Some(self.unopened_lines(lines)),
            _ => None,
        }
    }

    /// A home with a conversation that goes on in kinds of a future version; none where records have no kinds.
    pub(crate) fn partly_new(&self) -> Option<TestEnv> {
        match &self.form.sample.format {
            Format::Lines(lines) if self.is_json_log() => Some(self.partly_new_lines(lines)),
            _ => None,
        }
    }

    /// Homes with this store of a made-up future version, each with what is new in it.
    pub(crate) fn futures(&self) -> Vec<(String, TestEnv)> {
        match &self.form.sample.format {
            Format::Lines(lines) => self.future_lines(lines),
            Format::Rows(rows) => {
                let changed = |sql: &str| [rows.tables, rows.start_sql, rows.exchange_sql, sql].concat();
                rows.changes.iter().map(|(what, sql)| self.home_with_rows(what, &changed(sql))).collect()
            }
            Format::Document(document) => self.future_documents(document),
        }
    }

    fn sound_lines(&self, lines: &LineFormat) -> Vec<(String, TestEnv)> {
        let (begin, talk) = (lines.start_lines.join("\n"), lines.exchange.join("\n"));
        let (filled, half) = (talk.replace("{FILL}", &"long ".repeat(30_000)), &talk[..talk.len() / 3]);
        let path = self.path();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let homes = [
            ("a conversation", format!("{begin}\n{talk}\n")),
            ("nothing said yet", format!("{begin}\n")),
            ("the first prompt being written", format!("{begin}\n{half}")),
            ("an answer being written", format!("{begin}\n{talk}\n{half}")),
            ("an empty file", String::new()),
            ("new bookkeeping before a long prompt", format!("{begin}\n{NOVEL}\n{NOVEL}\n{filled}\n{NOVEL}\n")),
        ];
        let mut made: Vec<_> = homes.into_iter().map(|(what, text)| self.home_with_text(what, &text)).collect();
        let empty = TestEnv::new();
        fs_err::create_dir_all(empty.home().join(folder)).unwrap();
        made.push(("an empty store".to_owned(), empty));
        made
    }

    fn partly_new_lines(&self, lines: &LineFormat) -> TestEnv {
        let (begin, talk) = (lines.start_lines.join("\n"), lines.exchange.join("\n"));
        let renamed = lines.renames.iter().fold(talk.clone(), |talk, (old, new)| talk.replace(old, new));
        let first = renamed.lines().next().unwrap_or_default().replace(r#""u""#, r#""w""#).replace("0001", "0003");
        self.home_with_text("", &format!("{begin}\n{talk}\n{first}\n")).1
    }

    fn future_lines(&self, lines: &LineFormat) -> Vec<(String, TestEnv)> {
        let (begin, talk) = (lines.start_lines.join("\n"), lines.exchange.join("\n"));
        let renamed = lines.renames.iter().fold(talk.clone(), |talk, (old, new)| talk.replace(old, new));
        let wrap = |line: &str| format!("{}\n", serde_json::json!({ "v": 9, "kind": "event", "body": line }));
        let enveloped: String = begin.lines().chain(talk.lines()).map(wrap).collect();
        let long = format!("{begin}\n{}", format!("{renamed}\n").repeat(600));
        vec![
            self.home_with_text("renamed kinds", &format!("{begin}\n{renamed}\n")),
            self.home_with_text("renamed kinds in a long session", &long),
            self.home_with_text("another envelope", &enveloped),
        ]
    }

    fn future_documents(&self, document: &DocumentFormat) -> Vec<(String, TestEnv)> {
        let text = document.write(&[document.exchange]);
        let renamed =
            |(old, new): &(&str, &str)| self.home_with_text(&format!("{new} for {old}"), &text.replace(old, new));
        document.renames.iter().map(renamed).collect()
    }

    /// A link that leads to itself can be opened by nobody, not even by root.
    #[cfg(unix)]
    fn unopened_lines(&self, lines: &LineFormat) -> TestEnv {
        let (_, env) =
            self.home_with_text("", &format!("{}\n{}\n", lines.start_lines.join("\n"), lines.exchange.join("\n")));
        let other = self.path().replace(ID, "11111111-0000-4000-8000-000000000001");
        let other = env.home().join(other.replace("-00000000.", "-11111111."));
        fs_err::create_dir_all(other.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&other, &other).unwrap();
        env
    }

    /// What is no JSON is damaged by a byte that is no text.
    fn damaged_lines(&self, lines: &LineFormat) -> TestEnv {
        let (begin, talk) = (lines.start_lines.join("\n"), lines.exchange.join("\n"));
        let (_, env) = self.home_with_text("", &format!("{begin}\n{talk}\n"));
        let last = lines.exchange.last().unwrap_or(&"");
        let damaged = last.replacen('"', "", 1).into_bytes();
        let damaged = if last.starts_with('{') { damaged } else { b"And \xff more.".to_vec() };
        let path = env.home().join(self.path());
        let text = [fs_err::read(&path).unwrap(), damaged, b"\n".to_vec()].concat();
        fs_err::write(&path, text).unwrap();
        env
    }

    fn home_with_text(&self, what: &str, text: &str) -> (String, TestEnv) {
        let env = TestEnv::new();
        env.write(&self.path(), &text.replace("{FILL}", "Fix it."));
        self.write_beside(&env);
        (what.to_owned(), env)
    }

    fn sound_rows(&self, rows: &RowFormat) -> Vec<(String, TestEnv)> {
        let RowFormat { tables, start_sql: begin, exchange_sql: talk, .. } = rows;
        let mut made = vec![
            self.home_with_rows("a conversation", &format!("{tables}{begin}{talk}")),
            self.home_with_rows("nothing said yet", &format!("{tables}{begin}")),
        ];
        if self.form.is_of_one_session {
            return made;
        }
        made.extend([
            self.home_with_rows("an empty store", tables),
            self.home_with_rows(
                "a database that was only just made",
                "CREATE TABLE migration (x); INSERT INTO migration VALUES (1);",
            ),
        ]);
        made
    }

    fn home_with_rows(&self, what: &str, sql: &str) -> (String, TestEnv) {
        let env = TestEnv::new();
        let path = env.home().join(self.path());
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
        self.write_beside(&env);
        (what.to_owned(), env)
    }
}
