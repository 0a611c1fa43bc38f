//! Which remote is meant, and the way to it.

use carryover_engine::context::Context;
use carryover_engine::own::config::find_nearest;
use carryover_engine::share::remote::{Catalog, Remote, open_remote};

use crate::bucket::{hide_secrets, open_bucket};
use crate::error::{CommandError, ErrorKind};
use crate::ui::Ui;

/// The remote that is taken where several are there and none is named.
const DEFAULT: &str = "origin";
const MAX_TOLD: usize = 5;

/// The remote that is named, else the only one, else `origin`: its name and its address.
pub(in crate::commands) fn choose_remote<'c>(
    context: &'c Context,
    named: Option<&str>,
) -> Result<(&'c str, &'c str), CommandError> {
    let remotes = &context.config.remotes;
    let found = match named {
        Some(name) => remotes.get_key_value(name),
        None if remotes.len() == 1 => remotes.first_key_value(),
        None => remotes.get_key_value(DEFAULT),
    };
    if let Some((name, remote)) = found {
        return Ok((name, &remote.url));
    }
    if remotes.is_empty() {
        return Err(CommandError::new(ErrorKind::NotFound, "there is no remote yet").with_hint(
            "`carryover remote add origin URL` adds one: a folder of your team, a bucket, a git repository",
        ));
    }
    let all: Vec<&str> = remotes.keys().map(String::as_str).collect();
    match named {
        Some(name) => Err(unknown_remote(context, name)),
        None => Err(CommandError::usage(format!("there are several remotes: {}", all.join(", ")))
            .with_hint("say which with `--remote NAME`")),
    }
}

/// The error for a name that is no remote's.
pub(in crate::commands) fn unknown_remote(context: &Context, name: &str) -> CommandError {
    let error = CommandError::new(ErrorKind::NotFound, format!("no remote is called {name}"));
    match find_nearest(name, context.config.remotes.keys().cloned()) {
        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
        None => error.with_hint("`carryover remote list` names them"),
    }
}

/// Opens a remote that was added here.
pub(in crate::commands) fn connect(ui: &Ui, context: &Context, named: Option<&str>) -> Result<Remote, CommandError> {
    let (name, url) = choose_remote(context, named)?;
    ui.while_doing(&format!("asking {}…", hide_secrets(url)), || {
        let bucket = open_bucket(context, url)?;
        Ok(open_remote(context, name, bucket)?)
    })
}

/// Reads what is in a remote, and names what cannot be read of it.
pub(in crate::commands) fn read_catalog(
    ui: &mut Ui,
    remote: &Remote,
    warnings: &mut Vec<String>,
) -> Result<Catalog, CommandError> {
    let catalog = ui.while_counting("reading what is there…", |counter| {
        remote.read_catalog(&|done, total| counter.set(done, total))
    })?;
    for (_, error) in catalog.unreadable.iter().take(MAX_TOLD) {
        warnings.push(format!("{error}; it is passed over"));
    }
    if let Some(more) = catalog.unreadable.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
        warnings.push(format!("{more} more of the index cannot be read, and are passed over"));
    }
    if !ui.is_json() {
        warnings.iter().try_for_each(|warning| ui.warning(warning))?;
    }
    Ok(catalog)
}
