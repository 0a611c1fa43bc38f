//! `carryover remote list`.

use carryover_engine::context::Context;
use carryover_engine::share::remote::has_key;
use clap::Args;
use serde::Serialize;

use crate::bucket::hide_secrets;
use crate::error::CommandError;
use crate::ui::{DOUBTFUL, Ui};

/// List the remotes that were added on this machine
#[derive(Args)]
pub(super) struct ListArgs {}

/// The remotes, as `--json` tells them.
#[derive(Serialize)]
struct ListDocument<'a> {
    schema: &'static str,
    remotes: Vec<RemoteRow<'a>>,
    total: usize,
}

#[derive(Serialize)]
struct RemoteRow<'a> {
    name: &'a str,
    url: String,
    /// Whether its key is on this machine.
    has_key: bool,
}

pub(super) fn list_remotes(ui: &mut Ui, context: &Context) -> Result<(), CommandError> {
    let remotes: Vec<RemoteRow<'_>> = context
        .config
        .remotes
        .iter()
        .map(|(name, remote)| RemoteRow { name, url: hide_secrets(&remote.url), has_key: has_key(context, name) })
        .collect();
    if ui.is_json() {
        let total = remotes.len();
        return Ok(ui.write_json(&ListDocument { schema: "carryover.remotes/1", remotes, total })?);
    }
    let width = remotes.iter().map(|remote| remote.name.len()).max().unwrap_or(0);
    for RemoteRow { name, url, has_key } in &remotes {
        let note = if *has_key { "" } else { "  its key is not here" };
        writeln!(ui.out(), "{name:<width$}  {url}{DOUBTFUL}{note}{DOUBTFUL:#}")?;
    }
    if remotes.is_empty() {
        ui.status("there is no remote yet")?;
        ui.hint("`carryover remote add origin URL` adds one: a folder of your team, a bucket, a git repository")?;
    }
    Ok(())
}
