//! A store of every agent, as it is now and as a made-up future version of its client might write it.
//!
//! Who adds an agent adds a function, and an arm to `store`.

use rusqlite::Connection;

use crate::support::TestEnv;

const ID: &str = "00000000-0000-4000-8000-000000000001";

/// How an agent keeps a session.
pub(crate) enum Store {
    Lines(Lines),
    Rows(Rows),
}

/// A session that is a file of lines. `{FILL}` stands where a text may be long.
pub(crate) struct Lines {
    /// Below the home.
    path: String,
    /// What the client writes before anything is said.
    begin: &'static [&'static str],
    /// A question and an answer.
    talk: &'static [&'static str],
    /// What a future version calls the records of the talk.
    renames: &'static [(&'static str, &'static str)],
}

/// Sessions that are rows of a database.
pub(crate) struct Rows {
    path: &'static str,
    tables: &'static str,
    /// A session in which nothing was said.
    begin: &'static str,
    talk: &'static str,
    /// One more record, of which a byte is missing.
    damaged: &'static str,
    /// What future versions do with it.
    changes: &'static [(&'static str, &'static str)],
}

/// The store of an agent; `None` where nobody has made one up.
pub(crate) fn store(agent: &str) -> Option<Store> {
    Some(match agent {
        "claude-code" => claude_code(),
        "codex" => codex(),
        "gemini-cli" => gemini_cli(),
        "qwen-code" => qwen_code(),
        "pi" => pi(),
        "copilot-cli" => copilot_cli(),
        "aider" => aider(),
        "opencode" => opencode(),
        "openclaw" => openclaw(),
        _ => return None,
    })
}

fn lines(
    path: &str,
    begin: &'static [&'static str],
    talk: &'static [&'static str],
    renames: &'static [(&'static str, &'static str)],
) -> Store {
    Store::Lines(Lines { path: path.replace("{ID}", ID), begin, talk, renames })
}

fn claude_code() -> Store {
    lines(
        ".claude/projects/-home-you-calc/{ID}.jsonl",
        &[r#"{"type":"mode","mode":"normal","sessionId":"00000000-0000-4000-8000-000000000001"}"#],
        &[
            r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"{FILL}"},"uuid":"u","timestamp":"2026-11-15T00:00:01.000Z","sessionId":"s"}"#,
            r#"{"parentUuid":"u","type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]},"uuid":"v","timestamp":"2026-11-15T00:00:02.000Z","sessionId":"s"}"#,
        ],
        &[(r#""type":"user""#, r#""type":"human-turn""#), (r#""type":"assistant""#, r#""type":"model-turn""#)],
    )
}

fn codex() -> Store {
    lines(
        ".codex/sessions/2026/11/15/rollout-2026-11-15T00-00-00-{ID}.jsonl",
        &[
            r#"{"timestamp":"2026-11-15T00:00:00.000Z","type":"session_meta","payload":{"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p","originator":"x","cli_version":"0.166.0"}}"#,
        ],
        &[
            r#"{"timestamp":"2026-11-15T00:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"{FILL}"}]}}"#,
            r#"{"timestamp":"2026-11-15T00:00:02.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}}"#,
        ],
        &[(r#""type":"response_item""#, r#""type":"thread_entry""#)],
    )
}

fn gemini_cli() -> Store {
    lines(
        ".gemini/tmp/p/chats/session-2026-11-15T00-00-00000000.jsonl",
        &[
            r#"{"sessionId":"00000000-0000-4000-8000-000000000001","projectHash":"p","startTime":"2026-11-15T00:00:00.000Z","lastUpdated":"2026-11-15T00:00:00.000Z","kind":"main"}"#,
        ],
        &[
            r#"{"id":"u","timestamp":"2026-11-15T00:00:01.000Z","type":"user","content":[{"text":"{FILL}"}]}"#,
            r#"{"id":"v","timestamp":"2026-11-15T00:00:02.000Z","type":"gemini","content":"Done.","model":"m"}"#,
        ],
        &[(r#""type":"user""#, r#""type":"human""#), (r#""type":"gemini""#, r#""type":"model""#)],
    )
}

fn qwen_code() -> Store {
    lines(
        ".qwen/projects/-p/chats/{ID}.jsonl",
        &[r#"{"uuid":"t","parentUuid":null,"type":"system","subtype":"ui_telemetry","systemPayload":{}}"#],
        &[
            r#"{"uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-11-15T00:00:01.000Z","type":"user","message":{"role":"user","parts":[{"text":"{FILL}"}]}}"#,
            r#"{"uuid":"v","parentUuid":"u","sessionId":"s","timestamp":"2026-11-15T00:00:02.000Z","type":"assistant","message":{"role":"model","parts":[{"text":"Done."}]}}"#,
        ],
        &[(r#""type":"user""#, r#""type":"human""#), (r#""type":"assistant""#, r#""type":"model""#)],
    )
}

fn pi() -> Store {
    lines(
        ".pi/agent/sessions/--p--/2026-11-15T00-00-00-000Z_{ID}.jsonl",
        &[
            r#"{"type":"session","version":3,"id":"00000000-0000-4000-8000-000000000001","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p"}"#,
        ],
        &[
            r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-15T00:00:01.000Z","message":{"role":"user","content":"{FILL}","timestamp":1}}"#,
            r#"{"type":"message","id":"aaaa0002","parentId":"aaaa0001","timestamp":"2026-11-15T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop","timestamp":2}}"#,
        ],
        &[(r#""type":"message""#, r#""type":"turn""#)],
    )
}

fn copilot_cli() -> Store {
    lines(
        ".copilot/session-state/{ID}/events.jsonl",
        &[
            r#"{"type":"session.start","data":{"sessionId":"00000000-0000-4000-8000-000000000001","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":"2026-11-15T00:00:00.000Z"},"id":"a","timestamp":"2026-11-15T00:00:00.000Z","parentId":null}"#,
        ],
        &[
            r#"{"type":"user.message","data":{"content":"{FILL}"},"id":"u","timestamp":"2026-11-15T00:00:01.000Z","parentId":"a"}"#,
            r#"{"type":"assistant.message","data":{"messageId":"m","content":"Done.","toolRequests":[]},"id":"v","timestamp":"2026-11-15T00:00:02.000Z","parentId":"u"}"#,
        ],
        &[("user.message", "user.turn"), ("assistant.message", "assistant.turn")],
    )
}

fn aider() -> Store {
    lines(
        "calc/.aider.chat.history.md",
        &["# aider chat started at 2026-11-15 00:00:00", "> Aider v0.86.2  "],
        &["#### {FILL}  ", "Done."],
        &[("#### ", "@you ")],
    )
}

fn opencode() -> Store {
    Store::Rows(Rows {
        path: ".local/share/opencode/opencode.db",
        tables: "CREATE TABLE session (id, parent_id, directory, title, version, time_created, time_updated);
                 CREATE TABLE message (id, session_id, time_created, time_updated, data);
                 CREATE TABLE part (id, message_id, session_id, time_created, time_updated, data);",
        begin: "INSERT INTO session VALUES ('ses_1', NULL, '/p', 't', '1', 1, 1);",
        talk: r#"INSERT INTO message VALUES ('msg_1', 'ses_1', 1, 1, '{"role":"user","time":{"created":1}}');
                 INSERT INTO part VALUES ('prt_1', 'msg_1', 'ses_1', 1, 1, '{"type":"text","text":"Fix it."}');
                 INSERT INTO message VALUES ('msg_2', 'ses_1', 2, 2, '{"role":"assistant","time":{"created":2}}');
                 INSERT INTO part VALUES ('prt_2', 'msg_2', 'ses_1', 2, 2, '{"type":"text","text":"Done."}');"#,
        damaged: r#"INSERT INTO part VALUES ('prt_3', 'msg_2', 'ses_1', 3, 3, '{"type:"text","text":"And more."}');"#,
        changes: &[
            ("roles", "UPDATE message SET data = replace(data, 'role', 'speaker');"),
            ("kinds of parts", "UPDATE part SET data = replace(data, '\"type\":\"text\"', '\"type\":\"words\"');"),
            (
                "columns",
                "ALTER TABLE message RENAME COLUMN data TO body; ALTER TABLE session RENAME COLUMN time_updated TO at;",
            ),
            ("a table of messages", "ALTER TABLE message RENAME TO turn;"),
            (
                "all tables",
                "ALTER TABLE session RENAME TO conversation; ALTER TABLE message RENAME TO turn; DROP TABLE part;",
            ),
        ],
    })
}

fn openclaw() -> Store {
    Store::Rows(Rows {
        path: ".openclaw/agents/main/agent/openclaw-agent.sqlite",
        tables: "CREATE TABLE session_nodes (session_key, current_session_id, label, display_name, spawned_by);
                 CREATE TABLE session_windows (session_id, session_key, model, created_at, updated_at);
                 CREATE TABLE transcript_events (session_id, seq, event_json, created_at, event_zstd);
                 CREATE TABLE memory (path, body); INSERT INTO memory VALUES ('m', 'x');",
        begin: r#"INSERT INTO session_nodes VALUES ('k', 's1', NULL, NULL, NULL);
                  INSERT INTO session_windows VALUES ('s1', 'k', 'm', 1, 2);
                  INSERT INTO transcript_events VALUES ('s1', 0, '{"type":"session","version":4,"id":"s1","timestamp":"2026-11-15T00:00:00.000Z","cwd":"/p"}', 1, NULL);"#,
        talk: r#"INSERT INTO transcript_events VALUES ('s1', 1, '{"type":"message","id":"u","parentId":null,"message":{"role":"user","content":"Fix it."}}', 1, NULL);
                 INSERT INTO transcript_events VALUES ('s1', 2, '{"type":"message","id":"v","parentId":"u","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"stopReason":"stop"}}', 2, NULL);"#,
        damaged: r#"INSERT INTO transcript_events VALUES ('s1', 3, '{"type:"message","id":"w","parentId":"v"}', 3, NULL);"#,
        changes: &[
            (
                "kinds of records",
                r#"UPDATE transcript_events SET event_json = replace(event_json, '"type":"message"', '"type":"turn"');"#,
            ),
            ("roles", "UPDATE transcript_events SET event_json = replace(event_json, 'role', 'speaker');"),
            ("another form of events", "ALTER TABLE transcript_events RENAME COLUMN event_json TO event_cbor;"),
            ("columns", "ALTER TABLE transcript_events RENAME COLUMN session_id TO window_id;"),
            ("a table of events", "ALTER TABLE transcript_events RENAME TO transcript_items;"),
            (
                "all tables",
                "ALTER TABLE session_windows RENAME TO windows; ALTER TABLE transcript_events RENAME TO items;
                 ALTER TABLE session_nodes RENAME TO nodes;",
            ),
        ],
    })
}

/// Bookkeeping of a future version, which is no drift as long as the talk is known.
const NOVEL: &str = r#"{"type":"novel-bookkeeping","v":9}"#;

impl Store {
    pub(crate) fn is_a_database(&self) -> bool {
        matches!(self, Self::Rows(_))
    }

    /// Where the session is, below the home.
    pub(crate) fn path(&self) -> &str {
        match self {
            Self::Lines(lines) => &lines.path,
            Self::Rows(rows) => rows.path,
        }
    }

    /// Homes in which this store is sound, each with what is special about it.
    pub(crate) fn sound(&self) -> Vec<(String, TestEnv)> {
        match self {
            Self::Lines(lines) => lines.sound(),
            Self::Rows(rows) => rows.sound(),
        }
    }

    /// A home with a conversation in which one record cannot be read, as after a crash.
    pub(crate) fn damaged(&self) -> TestEnv {
        match self {
            Self::Lines(lines) => lines.damaged(),
            Self::Rows(rows) => {
                let sql = [rows.tables, rows.begin, rows.talk, rows.damaged].concat();
                rows.home("", &sql).1
            }
        }
    }

    /// A home with two sessions, one of which cannot be opened; none where a session is no file of its own.
    #[cfg(unix)]
    pub(crate) fn unopened(&self) -> Option<TestEnv> {
        match self {
            Self::Lines(lines) if lines.path.contains(ID) || lines.path.contains("00000000") => Some(lines.unopened()),
            _ => None,
        }
    }

    /// A home with a conversation that goes on in kinds of a future version; none where records have no kinds.
    pub(crate) fn partly_new(&self) -> Option<TestEnv> {
        match self {
            Self::Lines(lines) if lines.begin[0].starts_with('{') => Some(lines.partly_new()),
            _ => None,
        }
    }

    /// Homes with this store of a made-up future version, each with what is new in it.
    pub(crate) fn futures(&self) -> Vec<(String, TestEnv)> {
        match self {
            Self::Lines(lines) => lines.futures(),
            Self::Rows(rows) => rows.changes.iter().map(|(what, sql)| rows.changed(what, sql)).collect(),
        }
    }
}

impl Lines {
    fn sound(&self) -> Vec<(String, TestEnv)> {
        let (begin, talk) = (self.begin.join("\n"), self.talk.join("\n"));
        let (filled, half) = (talk.replace("{FILL}", &"long ".repeat(30_000)), &talk[..talk.len() / 3]);
        let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let homes = [
            ("a conversation", format!("{begin}\n{talk}\n")),
            ("nothing said yet", format!("{begin}\n")),
            ("the first prompt being written", format!("{begin}\n{half}")),
            ("an answer being written", format!("{begin}\n{talk}\n{half}")),
            ("an empty file", String::new()),
            ("new bookkeeping before a long prompt", format!("{begin}\n{NOVEL}\n{NOVEL}\n{filled}\n{NOVEL}\n")),
        ];
        let mut made: Vec<_> = homes.into_iter().map(|(what, text)| self.home(what, &text)).collect();
        let empty = TestEnv::new();
        fs_err::create_dir_all(empty.home().join(folder)).unwrap();
        made.push(("an empty store".to_owned(), empty));
        made
    }

    fn partly_new(&self) -> TestEnv {
        let (begin, talk) = (self.begin.join("\n"), self.talk.join("\n"));
        let renamed = self.renames.iter().fold(talk.clone(), |talk, (old, new)| talk.replace(old, new));
        let first = renamed.lines().next().unwrap_or_default().replace(r#""u""#, r#""w""#).replace("0001", "0003");
        self.home("", &format!("{begin}\n{talk}\n{first}\n")).1
    }

    fn futures(&self) -> Vec<(String, TestEnv)> {
        let (begin, talk) = (self.begin.join("\n"), self.talk.join("\n"));
        let renamed = self.renames.iter().fold(talk.clone(), |talk, (old, new)| talk.replace(old, new));
        let wrap = |line: &str| format!("{}\n", serde_json::json!({ "v": 9, "kind": "event", "body": line }));
        let enveloped: String = begin.lines().chain(talk.lines()).map(wrap).collect();
        let long = format!("{begin}\n{}", format!("{renamed}\n").repeat(600));
        vec![
            self.home("renamed kinds", &format!("{begin}\n{renamed}\n")),
            self.home("renamed kinds in a long session", &long),
            self.home("another envelope", &enveloped),
        ]
    }

    /// A link that leads to itself can be opened by nobody, not even by root.
    #[cfg(unix)]
    fn unopened(&self) -> TestEnv {
        let (_, env) = self.home("", &format!("{}\n{}\n", self.begin.join("\n"), self.talk.join("\n")));
        let other = self.path.replace("00000000-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000001");
        let other = env.home().join(other.replace("-00000000.", "-11111111."));
        fs_err::create_dir_all(other.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&other, &other).unwrap();
        env
    }

    /// What is no JSON is damaged by a byte that is no text.
    fn damaged(&self) -> TestEnv {
        let (begin, talk) = (self.begin.join("\n"), self.talk.join("\n"));
        let (_, env) = self.home("", &format!("{begin}\n{talk}\n"));
        let last = self.talk.last().unwrap_or(&"");
        let damaged = last.replacen('"', "", 1).into_bytes();
        let damaged = if last.starts_with('{') { damaged } else { b"And \xff more.".to_vec() };
        let path = env.home().join(&self.path);
        let text = [fs_err::read(&path).unwrap(), damaged, b"\n".to_vec()].concat();
        fs_err::write(&path, text).unwrap();
        env
    }

    fn home(&self, what: &str, text: &str) -> (String, TestEnv) {
        let env = TestEnv::new();
        env.write(&self.path, &text.replace("{FILL}", "Fix it."));
        (what.to_owned(), env)
    }
}

impl Rows {
    fn sound(&self) -> Vec<(String, TestEnv)> {
        let (tables, begin, talk) = (self.tables, self.begin, self.talk);
        vec![
            self.home("a conversation", &format!("{tables}{begin}{talk}")),
            self.home("nothing said yet", &format!("{tables}{begin}")),
            self.home("an empty store", tables),
            self.home(
                "a database that was only just made",
                "CREATE TABLE migration (x); INSERT INTO migration VALUES (1);",
            ),
        ]
    }

    fn changed(&self, what: &str, sql: &str) -> (String, TestEnv) {
        self.home(what, &format!("{}{}{}{sql}", self.tables, self.begin, self.talk))
    }

    fn home(&self, what: &str, sql: &str) -> (String, TestEnv) {
        let env = TestEnv::new();
        let path = env.home().join(self.path);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(sql).unwrap();
        connection.close().unwrap();
        (what.to_owned(), env)
    }
}
