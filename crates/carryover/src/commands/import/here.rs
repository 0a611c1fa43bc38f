//! A capsule whose session is in the target's own store already: no copy is made unasked, but where the capsule has more of it.

use std::path::Path;

use carryover_agents::{Agent, ResumeCommand};
use carryover_engine::capsule::VerifiedCapsule;
use carryover_engine::capsule::import::{BroughtFiles, ImportOptions, TargetChoice, bring_files, takes_files};
use carryover_engine::capsule::manifest::Manifest;
use carryover_engine::carry::own::own_command;
use carryover_engine::context::Context;
use carryover_engine::sessions::glance::look_at_sessions;
use carryover_engine::sessions::list::{Filter, ListedSession, list_sessions};

use super::document::own_document;
use super::{ImportHow, tell_files};
use crate::args::Globals;
use crate::commands::front::run_words;
use crate::error::CommandError;
use crate::quantity::format_count;
use crate::ui::{GOOD, Ui};

/// The session of a capsule, as it is here.
pub(super) struct SessionHere {
    pub(super) session: ListedSession,
    pub(super) command: ResumeCommand,
    /// None where it cannot be read.
    pub(super) messages: Option<u64>,
}

impl SessionHere {
    /// Finds it in the target's own store, unless a copy is asked for.
    pub(super) fn find(
        context: &Context,
        how: &ImportHow,
        manifest: &Manifest,
        target: &'static dyn Agent,
    ) -> Option<Self> {
        if how.fork || how.project.is_some() || target.facts().id != manifest.source.agent {
            return None;
        }
        let id = &manifest.source.session_id;
        let listing = list_sessions(context, &Filter { agent: Some(target), ..Filter::default() });
        let session = listing.sessions.into_iter().find(|session| session.found.id.0 == *id)?;
        let command = own_command(context, &session, target)?;
        let mut looked_at = [session];
        let glance = look_at_sessions(context, &mut looked_at, &|| false).pop().flatten();
        let [session] = looked_at;
        let messages = glance.map(|glance| glance.messages).or(session.found.messages);
        Some(Self { session, command, messages })
    }

    /// That the capsule has more of it, in words.
    pub(super) fn tell_longer_capsule(&self, manifest: &Manifest) -> Option<String> {
        let more = manifest.source.messages.checked_sub(self.messages?).filter(|more| *more > 0)?;
        let name = self.session.agent.facts().name;
        Some(format!("{name} has that session already, and the capsule has {} more: this is a copy", messages(more)))
    }

    /// That more of it is here, in words.
    fn tell_shorter_capsule(&self, manifest: &Manifest) -> Option<String> {
        let more = self.messages?.checked_sub(manifest.source.messages).filter(|more| *more > 0)?;
        Some(format!(
            "the session here has {} more than the capsule; `--fork` copies that of the capsule",
            messages(more)
        ))
    }

    /// Whether the files go into another folder than the one that the session is in, so that a copy of it goes on there.
    pub(super) fn is_left_behind(
        &self,
        context: &Context,
        capsule: &mut VerifiedCapsule,
        options: &ImportOptions,
    ) -> Result<bool, CommandError> {
        let project = self.session.found.project.as_deref().map(crate::process_env::resolve_path);
        let is_elsewhere = project.is_none_or(|project| !project.starts_with(&options.folder));
        Ok(is_elsewhere && options.files && takes_files(context, capsule, &options.folder)?)
    }
}

fn messages(count: u64) -> String {
    format_count(usize::try_from(count).unwrap_or(usize::MAX), "message", "messages")
}

/// Brings the files into this folder, and tells how the session itself goes on.
pub(super) fn go_on_here(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    here: &SessionHere,
    path: &Path,
    capsule: &mut VerifiedCapsule,
    options: &ImportOptions,
) -> Result<(), CommandError> {
    let mut brought = ui.while_doing("unpacking the capsule…", || bring_files(context, capsule, options))?;
    brought.warnings.extend(here.tell_shorter_capsule(&capsule.manifest));
    let target =
        TargetChoice { agent: options.target, reason: "the session is here already".to_owned(), is_ambiguous: false };
    if ui.is_json() {
        return Ok(ui.write_json(&own_document(path, capsule, &target, here, &options.folder, &brought))?);
    }
    let BroughtFiles { workspace, undo_id, warnings } = &brought;
    ui.status(format_args!("{GOOD}verified{GOOD:#} capsule {}", capsule.manifest.id))?;
    tell_files(ui, context, workspace, &options.folder)?;
    for warning in warnings {
        ui.warning(warning)?;
    }
    if let Some(id) = undo_id {
        ui.hint(format_args!("`carryover undo {id} --files` takes the files back"))?;
    }
    let agent = options.target.facts().id;
    let id = format!("--session={}", here.session.found.id);
    let words = ["resume".to_owned(), id, format!("--source={agent}"), format!("--target={agent}")];
    run_words(ui, globals, &words)
}
