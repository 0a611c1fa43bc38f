//! Words on their way to the next agent: written, copied, and told about.

use std::path::PathBuf;

use carryover_agents::{Os, ResumeCommand, Taker};
use carryover_core::render::{Dropped, Material, Rendered, ResumeOptions, resume_prompt};
use carryover_engine::context::Context;
use carryover_engine::handoff::Distilled;
use carryover_engine::handoff::ignored;
use carryover_engine::handoff::project_dir;
use carryover_engine::sessions::unread::Unread;
use serde::Serialize;

use crate::clipboard::{self, Copied};
use crate::error::{CommandError, ErrorKind};
use crate::launch::{launch, refuse_missing, tell_command};
use crate::quantity;
use crate::session_row::from_home;
use crate::shell;
use crate::ui::{DIM, GOOD, Ui};

/// The short one.
pub(crate) const HANDOFF: &str = "handoff.md";

/// What suits a target that is not known.
const BUDGET: u64 = 32_000;

/// The command that shows a session whole.
pub(crate) fn show_command(session: &str, os: Os) -> String {
    shell::about_session(&["show"], session, &["--full"], os)
}

/// A prompt that fits.
pub(crate) struct Prompt {
    rendered: Rendered,
    budget: u64,
}

impl Prompt {
    /// Fits a session's prompt into the budget that was given, or into what suits the target.
    pub(crate) fn of_session(
        context: &Context,
        distilled: &Distilled,
        agent_name: &str,
        taker: Option<&Taker>,
        tokens: Option<u64>,
    ) -> Result<Self, CommandError> {
        let Distilled { brief, history, workspace, quoting, .. } = distilled;
        let material = Material::of(brief, history, workspace, agent_name, *quoting);
        Self::of(context, &material, &brief.session.0, taker, tokens)
    }

    pub(crate) fn of(
        context: &Context,
        material: &Material<'_>,
        session: &str,
        taker: Option<&Taker>,
        tokens: Option<u64>,
    ) -> Result<Self, CommandError> {
        let budget = tokens.or_else(|| taker.map(|taker| taker.budget)).unwrap_or(BUDGET);
        let show = show_command(session, context.env.os);
        let options = ResumeOptions { target_name: taker.map(|taker| taker.name), budget, show_command: &show };
        let rendered = resume_prompt(material, &options)
            .map_err(|small| CommandError::new(ErrorKind::CannotFit, small).hint("allow more with `--tokens N`"))?;
        Ok(Self { rendered, budget })
    }
}

/// Where a prompt goes, and what is known of it.
pub(crate) struct Delivery {
    pub(crate) source: String,
    pub(crate) session: String,
    pub(crate) project: PathBuf,
    pub(crate) taker: Option<Taker>,
    pub(crate) copy: bool,
    pub(crate) launch: bool,
    /// Nothing is written or copied.
    pub(crate) dry_run: bool,
    /// Other files for the project's own folder: name and text.
    pub(crate) more: Vec<(&'static str, String)>,
    /// What of the session could not be read.
    pub(crate) unread: Unread,
    pub(crate) warnings: Vec<String>,
}

/// What happened, as `--json` tells it.
#[derive(Serialize)]
struct Delivered<'a> {
    schema: &'static str,
    source: &'a str,
    session_id: &'a str,
    target: Option<&'static str>,
    project: String,
    files: Vec<String>,
    copied: Option<&'static str>,
    tokens: u64,
    budget: u64,
    dropped: Vec<LeftOut>,
    command: Option<Vec<String>>,
    cwd: String,
    dry_run: bool,
    unread: &'a Unread,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct LeftOut {
    what: &'static str,
    count: usize,
}

impl Delivery {
    pub(crate) fn deliver(&self, ui: &mut Ui, context: &Context, prompt: &Prompt) -> Result<(), CommandError> {
        if self.launch && self.taker.is_none() {
            return Err(CommandError::usage("there is nobody to start").hint("name an agent with `--target AGENT`"));
        }
        if self.launch {
            refuse_missing(context, self.taker.as_ref())?;
        }
        let text = &prompt.rendered.text;
        let more = self.more.iter().map(|(name, text)| (*name, text));
        let written: Vec<_> = std::iter::once((project_dir::RESUME, text)).chain(more).collect();
        let warnings = self.write(context, &written)?;
        let copied = if self.copy && !self.dry_run { clipboard::copy(context, text) } else { None };
        let files: Vec<_> = written.iter().map(|(name, _)| self.project.join(project_dir::FOLDER).join(name)).collect();
        if ui.json() {
            ui.write_json(&Delivered { warnings: &warnings, ..self.document(prompt, &files, copied) })?;
            return Ok(());
        }
        self.tell(ui, context, prompt, &files, copied)?;
        for warning in &warnings {
            ui.warning(warning)?;
        }
        let Some(command) = self.command() else { return self.tell_by_hand(ui, context, copied) };
        tell_command(ui, context, &command, self.dry_run)?;
        if self.launch {
            launch(ui, context, self.taker.map_or("", |taker| taker.id), &command)?;
        }
        Ok(())
    }

    /// Writes the files, or finds out what would be in the way. Answers what the user should know.
    fn write(&self, context: &Context, written: &[(&str, &String)]) -> Result<Vec<String>, CommandError> {
        let mut warnings = self.warnings.clone();
        let mut kept = Vec::new();
        for (name, _) in written {
            kept.extend(project_dir::would_write_over(context, &self.project, name)?);
        }
        // Before the first byte is in the folder.
        warnings.extend(ignored::hide(context, &self.project, &self.source, &self.session, self.dry_run));
        if !self.dry_run {
            kept.clear();
            for (name, text) in written {
                kept.extend(project_dir::write_over(context, &self.project, name, text.as_bytes())?);
            }
        }
        warnings.append(&mut kept);
        Ok(warnings)
    }

    /// What is left to a person where no command goes on.
    fn tell_by_hand(&self, ui: &mut Ui, context: &Context, copied: Option<Copied>) -> Result<(), CommandError> {
        let whom = self.taker.map_or("the next agent", |taker| taker.name);
        // The words speak of the folder that the agent is in.
        let is_here = self.project == context.cwd;
        let place = if is_here { String::new() } else { format!(" in {}", from_home(context, &self.project)) };
        let words = project_dir::pointer();
        match copied {
            _ if self.dry_run => {}
            Some(_) => ui.hint(format_args!("paste it into {whom}{place}, or say there: {words}"))?,
            None => ui.hint(format_args!("say to {whom}{place}: {words}"))?,
        }
        Ok(())
    }

    /// The command that starts the target on it.
    fn command(&self) -> Option<ResumeCommand> {
        let argv = self.taker?.command(&project_dir::pointer(), &project_dir::resume_file())?;
        Some(ResumeCommand { argv, cwd: self.project.clone(), needs_cwd: true })
    }

    fn document<'a>(&'a self, prompt: &'a Prompt, files: &[PathBuf], copied: Option<Copied>) -> Delivered<'a> {
        Delivered {
            schema: "carryover.handoff/2",
            source: &self.source,
            session_id: &self.session,
            target: self.taker.map(|taker| taker.id),
            project: self.project.display().to_string(),
            files: files.iter().map(|file| file.display().to_string()).collect(),
            copied: copied.map(|copied| match copied {
                Copied::ByProgram => "clipboard",
                Copied::ByTerminal => "terminal",
            }),
            tokens: prompt.rendered.tokens,
            budget: prompt.budget,
            dropped: prompt.rendered.dropped.iter().map(|Dropped { what, n }| LeftOut { what, count: *n }).collect(),
            command: self.command().map(|command| command.argv),
            cwd: self.project.display().to_string(),
            dry_run: self.dry_run,
            unread: &self.unread,
            warnings: &self.warnings,
        }
    }

    fn tell(
        &self,
        ui: &mut Ui,
        context: &Context,
        prompt: &Prompt,
        files: &[PathBuf],
        copied: Option<Copied>,
    ) -> Result<(), CommandError> {
        let (done, wrote) = if self.dry_run { ("would hand over", "would write") } else { ("handed over", "wrote") };
        ui.status(format_args!("{GOOD}{done}{GOOD:#}"))?;
        for file in files {
            ui.status(format_args!("  {wrote:<11} {DIM}{}{DIM:#}", from_home(context, file)))?;
        }
        match (self.copy && !self.dry_run, copied) {
            (_, Some(Copied::ByProgram)) => ui.status("  copied      to the clipboard")?,
            (_, Some(Copied::ByTerminal)) => ui.status("  copied      through the terminal, if it allows that")?,
            (true, None) => ui.status("  copied      nowhere: there is no clipboard here")?,
            (false, None) => {}
        }
        let (tokens, budget) = (prompt.rendered.tokens, prompt.budget);
        let bar = quantity::bar(tokens, budget);
        let (shown, of) = (quantity::tokens(tokens), quantity::tokens(budget));
        ui.status(format_args!("  tokens      {bar} about {shown} of {of}"))?;
        for dropped in &prompt.rendered.dropped {
            ui.status(format_args!("  left out    {} {}", dropped.n, dropped.what))?;
        }
        Ok(())
    }
}
