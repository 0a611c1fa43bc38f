//! Our own files.

use std::path::Path;

use crate::context::Context;
use crate::own::config::{self, ConfigError};
use crate::own::permissions;
use crate::sessions::list::missing_stores;
use crate::write::journal;
use crate::write::undo;

use super::{Finding, Severity, writable};

pub(super) fn examine_files(context: &Context) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(config::load(&context.home, &context.env.home).err().as_ref().map(config_finding));
    for (agent, store) in missing_stores(context) {
        let key = format!("stores.{}", agent.facts().id);
        let message = format!("{key}: the configured store {} does not exist", store.display());
        let hint = format!("carryover config set {key} FOLDER, or '' to forget it");
        findings.push(Finding::new(None, Severity::Warning, message).with_hint(hint));
    }
    findings.extend(unwritable_home(&context.home));
    for unfinished in undo::list_unfinished(context) {
        let message = format!("a resume to {} ({}) was cut short", unfinished.target, unfinished.id);
        let hint = format!("carryover undo {}", unfinished.id);
        findings.push(Finding::new(None, Severity::Warning, message).with_hint(hint));
    }
    for id in journal::unreadable_ids(context) {
        let message = format!("{} cannot be read", journal::file_path(context, &id).display());
        findings.push(
            Finding::new(None, Severity::Warning, message).with_hint("remove it, if nothing is to be undone by it"),
        );
    }
    findings.extend(check_permissions(context));
    findings
}

/// Without its journals nothing can be carried over.
fn unwritable_home(home: &Path) -> Option<Finding> {
    let is_closed = home.is_dir() && !writable::is_writable(home);
    let message = format!("{} is not writable: nothing can be carried over", home.display());
    is_closed
        .then(|| Finding::new(None, Severity::Error, message).with_hint(format!("chmod u+rwx '{}'", home.display())))
}

fn config_finding(error: &ConfigError) -> Finding {
    let finding = Finding::new(None, Severity::Error, error.to_string());
    let unset = || error.wrong_key().map(|(key, _)| format!("`carryover config unset {key}` takes it out"));
    let hint = error.suggestion().map(|suggestion| format!("did you mean `{suggestion}`?")).or_else(unset);
    hint.into_iter().fold(finding, Finding::with_hint)
}

/// Transcripts hold secrets, and our files tell where they are.
#[cfg(unix)]
fn check_permissions(context: &Context) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let home = &context.home;
    if let Err(error) = permissions::check_private(home) {
        let hint = format!("look at what is in it, then: chmod -R go= '{}'", home.display());
        return Some(Finding::new(None, Severity::Error, error.to_string()).with_hint(hint));
    }
    let mode = fs_err::metadata(home).ok()?.permissions().mode();
    // A folder that is closed closes all that is in it.
    let others = mode & 0o077;
    if others == 0 {
        return None;
    }
    let message = format!("{} can be read by others", home.display());
    Some(Finding::new(None, Severity::Warning, message).with_hint(format!("chmod -R go= '{}'", home.display())))
}

#[cfg(not(unix))]
fn check_permissions(_context: &Context) -> Option<Finding> {
    None
}
