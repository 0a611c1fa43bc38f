//! `carryover remote remove`.

use carryover_engine::context::Context;
use carryover_engine::own::config;
use carryover_engine::share::remote::forget_remote;
use clap::Args;
use serde::Serialize;

use super::access::unknown_remote;
use crate::bucket::hide_secrets;
use crate::error::CommandError;
use crate::ui::Ui;

/// Forget a remote on this machine, and delete nothing there
///
/// Its address, its key and what was read of its index go from here. What was pushed stays there, and what was pulled stays here.
#[derive(Args)]
pub(super) struct RemoveArgs {
    /// The remote's name
    #[arg(value_name = "NAME")]
    remote: String,
}

/// What was forgotten, as `--json` tells it.
#[derive(Serialize)]
struct RemoveDocument<'a> {
    schema: &'static str,
    name: &'a str,
    url: String,
}

pub(super) fn remove_remote(ui: &mut Ui, context: &Context, args: &RemoveArgs) -> Result<(), CommandError> {
    let name = args.remote.as_str();
    let Some(there) = context.config.remotes.get(name) else { return Err(unknown_remote(context, name)) };
    let url = hide_secrets(&there.url);
    forget_remote(context, name)?;
    config::remove_remote(&context.home, name)?;
    if ui.is_json() {
        return Ok(ui.write_json(&RemoveDocument { schema: "carryover.remote-remove/1", name, url })?);
    }
    ui.status(format_args!("{name} is forgotten here; what is in {url} stays there"))?;
    Ok(())
}
