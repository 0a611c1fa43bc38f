//! Runs of an agent of the SDK's: how each ended and what it used, which its index alone keeps.

use carryover_core::time::Timestamp;
use carryover_core::transcript::{Body, Fact, Failure, FailureKind, Origin, Tokens, Usage};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cursor::failure::read_error_text;
use crate::cursor::lenient::{Lenient, parse_nested};
use crate::cursor::session::{RecordForm, RecordHead};
use crate::formats::sqlite;

const TABLE: &str = "runs";

/// The columns that are read, as far as they are there: the times at which a run can have ended among them.
const COLUMNS: [&str; 8] =
    ["status", "error_code", "model", "usage_json", "finished_at", "cancelled_at", "expired_at", "updated_at"];

/// A run as a record.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub head: RecordHead,
    pub text: String,
}

#[derive(Deserialize)]
struct WireRun {
    #[serde(default)]
    status: Lenient<String>,
    #[serde(default)]
    error_code: Lenient<String>,
    #[serde(default)]
    model: Lenient<String>,
    #[serde(default)]
    usage_json: Lenient<WireUsage>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the vendor's names")]
struct WireUsage {
    input_tokens: Lenient<u64>,
    output_tokens: Lenient<u64>,
    cache_read_tokens: Lenient<u64>,
    cache_write_tokens: Lenient<u64>,
    reasoning_tokens: Lenient<u64>,
}

/// The runs of an agent, in the order of its turns.
pub(super) fn list_runs(connection: &Connection, agent: &str) -> rusqlite::Result<Vec<Run>> {
    let there = sqlite::table_columns(connection, TABLE)?;
    let has = |name: &str| there.iter().any(|column| column == name);
    if !["run_id", "agent_id", "turn_number"].into_iter().all(has) {
        return Ok(Vec::new());
    }
    let wanted = COLUMNS.map(|name| if has(name) { name } else { "NULL" }).join(", ");
    let query = format!("SELECT run_id, {wanted} FROM {TABLE} WHERE agent_id = ?1 ORDER BY turn_number");
    let mut query = connection.prepare(&query)?;
    let rows = query.query_map([agent], |row| {
        let text = |column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str().ok().map(str::to_owned));
        let mut ended = None;
        for column in 5..=COLUMNS.len() {
            ended = ended.or(text(column)?.as_deref().and_then(Timestamp::parse));
        }
        let name = format!("run-{}", text(0)?.unwrap_or_default());
        let usage: Option<Value> = text(4)?.as_deref().and_then(parse_nested);
        let told = json!({ "status": text(1)?, "error_code": text(2)?, "model": text(3)?, "usage_json": usage });
        let head = RecordHead { at: ended, ..RecordHead::new(name, RecordForm::Run) };
        Ok(Run { head, text: told.to_string() })
    })?;
    rows.collect()
}

/// Puts runs among the messages of their session: each before the first message that was said after its end.
pub(super) fn place_runs(heads: &mut Vec<RecordHead>, runs: &[Run]) {
    for run in runs {
        let is_later = |head: &RecordHead| head.form != RecordForm::Run && head.at > run.head.at;
        let place = run.head.at.and_then(|_| heads.iter().position(is_later)).unwrap_or(heads.len());
        heads.insert(place, run.head.clone());
    }
}

/// Reads how a run ended.
pub(in crate::cursor) fn read_run(text: &str, facts: &mut Vec<Fact>) -> serde_json::Result<Vec<(Origin, Body)>> {
    let run: WireRun = serde_json::from_str(text)?;
    facts.extend(run.model.0.filter(|model| !model.is_empty() && model != "default").map(Fact::Model));
    let told = run.error_code.0.filter(|message| !message.is_empty());
    let status = run.status.0.unwrap_or_default();
    let failure = match status.to_ascii_lowercase().as_str() {
        "error" => Some(read_error_text(&told.unwrap_or(status))),
        // Another run took its place.
        "cancelled" | "expired" => {
            let message = told.unwrap_or(status);
            Some(Failure { kind: FailureKind::Interrupted, message, resets_at: None })
        }
        _ => None,
    };
    let usage = run.usage_json.0.and_then(|usage| Usage::for_reply(usage.into_tokens(), None));
    let mut bodies: Vec<(Origin, Body)> = usage.map(|usage| (Origin::Harness, usage.into_body())).into_iter().collect();
    bodies.extend(failure.map(|failure| (Origin::Harness, Body::Failure(Box::new(failure)))));
    if bodies.is_empty() {
        bodies.push((Origin::Harness, Body::known("run")));
    }
    Ok(bodies)
}

impl WireUsage {
    /// The SDK counts what came from a cache apart.
    fn into_tokens(self) -> Tokens {
        let count = |tokens: Lenient<u64>| tokens.0.unwrap_or_default();
        let (cache_read, cache_written) = (count(self.cache_read_tokens), count(self.cache_write_tokens));
        Tokens {
            input: count(self.input_tokens).saturating_add(cache_read).saturating_add(cache_written),
            output: count(self.output_tokens),
            cache_read,
            cache_written,
            reasoning: count(self.reasoning_tokens),
        }
    }
}
