//! Restore with the real clients: a session that its client made is deleted as clients and users delete, brought back by
//! `carryover restore`, and resumed. The request must be the one that the client would have sent before.

use carryover_testkit::client::{Client, Deletion};
use carryover_testkit::request::{Comparison, Truth, compare_with_truth};
use carryover_testkit::scenario::{MadeSession, PROBE, Source};
use fs_err as fs;

use super::carryover::Carryover;
use super::plan::{self, Options};
use super::report::{format_ratio, list_differences};
use super::walk::{self, WalkOutcome};
use super::walk_page::TableCells;
use super::{ConformanceError, restore_page, tier};

/// What a restore came to.
struct RestoreOutcome {
    session: &'static str,
    deletion: String,
    /// The same bytes are where they were; else the session was written anew.
    is_exact: bool,
    comparison: Comparison,
    /// The calls have their own names and ids.
    has_own_calls: bool,
}

impl WalkOutcome for RestoreOutcome {
    fn findings(&self) -> Vec<String> {
        let mut findings = list_differences("", &self.comparison);
        if !self.has_own_calls {
            findings.push(format!("calls are {:?}", self.comparison.calls));
        }
        findings
    }
}

impl TableCells for RestoreOutcome {
    const COUNT: usize = 8;

    fn cells(&self) -> String {
        let Comparison { live, ghosts, images, native, .. } = &self.comparison;
        let how = if self.is_exact { "the same files" } else { "a new session" };
        let (live, images, native) = (format_ratio(*live), format_ratio(*images), format_ratio(*native));
        let calls = if self.has_own_calls { "✓" } else { "✗" };
        let (session, deletion, ghosts) = (self.session, &self.deletion, ghosts.len());
        format!("{session} | {deletion} | {how} | {live} | {ghosts} | {images} | {native} | {calls} |")
    }
}

/// Restores a session of each client, and checks or writes the page.
pub(super) fn run_walks(options: &Options) -> Result<(), ConformanceError> {
    let clients = list_clients(options);
    if clients.is_empty() {
        return Err(ConformanceError::NothingToRun);
    }
    let rows = walk::run_rows(options, "restore", &clients, plan::client_name, |source| restore_once(options, source));
    restore_page::PAGE.check_or_write(options, &rows)?;
    walk::check_rows(&rows)
}

/// The newest client of each agent, or all.
fn list_clients(options: &Options) -> Vec<Source> {
    let tier = tier::Tier::new(options.full);
    let mut clients = if options.full { tier.clients } else { tier.list_newest() };
    clients.retain(|client| plan::matches_filter(options.from.as_ref(), &client.label()));
    clients.retain(|client| options.without.as_ref().is_none_or(|without| !client.label().contains(without.as_str())));
    clients
}

fn restore_once(options: &Options, source: &Source) -> Result<RestoreOutcome, ConformanceError> {
    let client = plan::install_client(source, options)?;
    let made = plan::make_named_session(&client, source, tier::daily_session(source), options)?;
    let runs = options.cache.join("runs");
    fs::create_dir_all(&runs)?;
    let mut scratch = tempfile::Builder::new().prefix("restore-").tempdir_in(fs::canonicalize(runs)?)?;
    scratch.disable_cleanup(options.keep);
    let sandbox = made.sandbox.copy_sessions(source.lab, scratch.path())?;
    let carryover = Carryover { program: &options.carryover, sandbox: &sandbox };
    let session_id = match made.session_id.as_str() {
        // The client has no ids, so the session is called as `carryover` calls it.
        "" => carryover.only_session(&client, &client)?,
        id => id.to_owned(),
    };
    carryover.take_in(&client)?;
    client.delete_session(&sandbox, &made.setup, &made.session_id)?;
    let restored = carryover.restore(&session_id, &client)?;
    let captured = client.resume(&sandbox, &made.setup, restored.resume_handle(), PROBE, Vec::new())?;
    Ok(compare(&made, &client, restored.exact, captured.first()))
}

fn compare(made: &MadeSession, client: &Client, is_exact: bool, request: &serde_json::Value) -> RestoreOutcome {
    let truth = Truth::new(&made.truth, &made.facts);
    let comparison = compare_with_truth(request, &truth);
    let has_own_calls = comparison.calls == truth.calls;
    let deletion = Deletion::describe(client.deletion(), client.binary());
    RestoreOutcome { session: made.scenario, deletion, is_exact, comparison, has_own_calls }
}
