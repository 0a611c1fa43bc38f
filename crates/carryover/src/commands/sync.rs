//! `carryover sync`.

use carryover_engine::context::Context;
use carryover_engine::sessions::list::{Filter, list_sessions};
use carryover_engine::share::remote::{Outgoing, choose_outgoing};
use clap::Args;
use serde::Serialize;

use super::capsule::PackArgs;
use super::pull::{PulledCapsule, PulledCapsules, list_waiting, pull_capsules};
use super::push::{PushedSession, name_sessions, push_sessions};
use super::remote::access::{connect, read_catalog};
use crate::args::Globals;
use crate::error::CommandError;
use crate::ui::Ui;

/// Push what has grown here, and fetch what others have pushed
///
/// Pushed are this project's newest session, and those that were pushed before and have gone on since; none of another
/// project, and none that was only brought here. What is fetched lies in ~/.carryover/capsules until `carryover import` goes on
/// with it. Where both sides have nothing new, nothing is sent.
#[derive(Args)]
pub(crate) struct SyncArgs {
    /// The remote [default: the only one, else origin]
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
    #[command(flatten)]
    pack: PackArgs,
}

/// What was pushed and pulled, as `--json` tells it.
#[derive(Serialize)]
struct SyncDocument<'a> {
    schema: &'static str,
    remote: &'a str,
    pushed: Vec<PushedSession>,
    pulled: Vec<PulledCapsule>,
    warnings: Vec<String>,
}

pub(crate) fn cmd_sync(ui: &mut Ui, context: &Context, globals: Globals, args: &SyncArgs) -> Result<(), CommandError> {
    let remote = connect(ui, context, args.remote.as_deref())?;
    let mut warnings = Vec::new();
    let catalog = read_catalog(ui, &remote, &mut warnings)?;
    let sessions = list_sessions(context, &Filter::default()).sessions;
    // First, for it asks nobody and changes nothing there.
    let waiting = list_waiting(context, &catalog, &sessions);
    let (pulled, failed) = match pull_capsules(ui, context, &remote, &waiting, &mut warnings) {
        Ok(PulledCapsules { capsules, failed }) => (capsules, failed),
        // What cannot be fetched is no reason not to push.
        Err(error) => (Vec::new(), Some(error)),
    };
    let outgoing = choose_outgoing(context, &catalog, sessions, Outgoing::Grown);
    name_sessions(ui, context, &outgoing)?;
    let pushed =
        push_sessions(ui, context, globals, &remote, &catalog, &outgoing, &args.pack.options(), &mut warnings)?;
    let is_nothing = pushed.is_empty() && pulled.is_empty() && failed.is_none();
    if ui.is_json() {
        let (schema, remote) = ("carryover.sync/1", &remote.name);
        ui.write_json(&SyncDocument { schema, remote, pushed, pulled, warnings })?;
    } else if is_nothing {
        ui.status(format_args!("{} and this project have nothing new for each other", remote.name))?;
    }
    failed.map_or(Ok(()), Err)
}
