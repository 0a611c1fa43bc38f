//! Words on their way to the next agent: written, copied, and told about.

use std::path::{Path, PathBuf};

use carryover_agents::{Os, ResumeCommand, Target, USUAL_READING_ADVICE};
use carryover_core::render::{DroppedCount, Material, ResumeOptions, ResumePrompt, resume_prompt};
use carryover_engine::context::Context;
use carryover_engine::handoff::DistilledSession;
use carryover_engine::handoff::gitignore;
use carryover_engine::handoff::project_dir;
use carryover_engine::sessions::unread::Unread;
use serde::Serialize;

use crate::clipboard::{self, Copied};
use crate::error::{CommandError, ErrorKind};
use crate::launch::{launch_client, refuse_missing_client, write_command};
use crate::quantity;
use crate::session_row::abbreviate_home;
use crate::shell;
use crate::ui::{DIM, GOOD, Ui};

/// The budget for a target that is not known.
const DEFAULT_BUDGET_TOKENS: u64 = 32_000;

/// The command that shows a session whole.
pub(crate) fn show_command(session: &str, os: Os) -> String {
    shell::session_command(&["show"], session, &["--full"], os)
}

/// A prompt that fits.
pub(crate) struct Prompt {
    rendered: ResumePrompt,
    budget: u64,
}

impl Prompt {
    /// Fits a session's prompt into the budget that was given, or into what suits the target.
    pub(crate) fn from_session(
        context: &Context,
        distilled: &DistilledSession,
        agent_name: &str,
        taker: Option<&Target>,
        tokens: Option<u64>,
    ) -> Result<Self, CommandError> {
        let DistilledSession { brief, history, workspace, quoting, .. } = distilled;
        let material = Material::from_brief(brief, history, workspace, agent_name, *quoting);
        Self::from_material(context, &material, &brief.session.0, taker, tokens)
    }

    /// One that was fitted already.
    pub(crate) fn from_rendered(rendered: ResumePrompt, budget: u64) -> Self {
        Self { rendered, budget }
    }

    pub(crate) fn from_material(
        context: &Context,
        material: &Material<'_>,
        session: &str,
        taker: Option<&Target>,
        tokens: Option<u64>,
    ) -> Result<Self, CommandError> {
        let budget = tokens.or_else(|| taker.map(|taker| taker.budget)).unwrap_or(DEFAULT_BUDGET_TOKENS);
        let show = show_command(session, context.env.os);
        let options = ResumeOptions { target_name: taker.map(|taker| taker.name), budget, show_command: &show };
        let rendered = resume_prompt(material, &options).map_err(|small| {
            CommandError::new(ErrorKind::CannotFit, small).with_hint("allow more with `--tokens N`")
        })?;
        Ok(Self { rendered, budget })
    }
}

/// Where a prompt goes, and what is known of it.
pub(crate) struct Delivery {
    pub(crate) source: String,
    pub(crate) session: String,
    pub(crate) project: PathBuf,
    pub(crate) target: Option<Target>,
    pub(crate) copy: bool,
    pub(crate) launch: bool,
    /// Nothing is written or copied.
    pub(crate) dry_run: bool,
    /// Other files for the project's own folder: name and text.
    pub(crate) extra_files: Vec<(&'static str, String)>,
    /// The records of the session that could not be read.
    pub(crate) unread: Unread,
    pub(crate) warnings: Vec<String>,
}

/// The report, as `--json` tells it.
#[derive(Serialize)]
struct DeliveryDocument<'a> {
    schema: &'static str,
    source: &'a str,
    session_id: &'a str,
    target: Option<&'static str>,
    project: String,
    files: Vec<String>,
    copied: Option<&'static str>,
    tokens: u64,
    budget: u64,
    dropped: Vec<DroppedRow>,
    command: Option<Vec<String>>,
    cwd: String,
    dry_run: bool,
    unread: &'a Unread,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct DroppedRow {
    what: &'static str,
    count: usize,
}

impl Delivery {
    pub(crate) fn deliver(&self, ui: &mut Ui, context: &Context, prompt: &Prompt) -> Result<(), CommandError> {
        if self.launch && self.target.is_none() {
            return Err(
                CommandError::usage("there is nobody to start").with_hint("name an agent with `--target AGENT`")
            );
        }
        if self.launch {
            refuse_missing_client(context, self.target.as_ref())?;
        }
        let text = &prompt.rendered.text;
        let more = self.extra_files.iter().map(|(name, text)| (*name, text));
        let written: Vec<_> = std::iter::once((project_dir::RESUME_FILE, text)).chain(more).collect();
        let warnings = self.write_files(context, &written)?;
        let copied = if self.copy && !self.dry_run { clipboard::copy_text(context, text) } else { None };
        let files: Vec<_> = written.iter().map(|(name, _)| self.project.join(project_dir::FOLDER).join(name)).collect();
        if ui.is_json() {
            ui.write_json(&DeliveryDocument { warnings: &warnings, ..self.to_document(prompt, &files, copied) })?;
            return Ok(());
        }
        self.write_report(ui, context, prompt, &files, copied)?;
        for warning in &warnings {
            ui.warning(warning)?;
        }
        let Some(command) = self.start_command() else { return self.hint_by_hand(ui, context, copied) };
        write_command(ui, context, &command, self.dry_run)?;
        if self.launch {
            launch_client(ui, context, self.target.map_or("", |taker| taker.id), &command)?;
        }
        Ok(())
    }

    /// Writes the files, or finds out what would be in the way. Answers what the user should know.
    fn write_files(&self, context: &Context, written: &[(&str, &String)]) -> Result<Vec<String>, CommandError> {
        let mut warnings = self.warnings.clone();
        let mut kept = Vec::new();
        for (name, _) in written {
            kept.extend(project_dir::would_write_over(context, &self.project, name)?);
        }
        // Before the first byte is in the folder.
        warnings.extend(gitignore::ignore_folder(context, &self.project, &self.source, &self.session, self.dry_run));
        if !self.dry_run {
            kept.clear();
            for (name, text) in written {
                kept.extend(project_dir::write_over(context, &self.project, name, text.as_bytes())?);
            }
        }
        warnings.append(&mut kept);
        Ok(warnings)
    }

    /// Tells the user what to do by hand where no command goes on.
    fn hint_by_hand(&self, ui: &mut Ui, context: &Context, copied: Option<Copied>) -> Result<(), CommandError> {
        let whom = self.target.map_or("the next agent", |taker| taker.name);
        // The words speak of the folder that the agent is in.
        let is_here = self.project == context.cwd;
        let place = if is_here { String::new() } else { format!(" in {}", abbreviate_home(context, &self.project)) };
        let words = self.pointer_prompt();
        match copied {
            _ if self.dry_run => {}
            Some(_) => {
                ui.hint(format_args!("paste {} into {whom}{place}, or say there: {words}", project_dir::RESUME_FILE))?;
            }
            None => ui.hint(format_args!("say to {whom}{place}: {words}"))?,
        }
        Ok(())
    }

    /// The words that send the target to the file, as it reads files.
    fn pointer_prompt(&self) -> String {
        project_dir::pointer_prompt(self.target.map_or(USUAL_READING_ADVICE, |taker| taker.reading_advice))
    }

    /// The command that starts the target on it.
    fn start_command(&self) -> Option<ResumeCommand> {
        let argv = self.target?.start_command(&self.pointer_prompt(), &project_dir::resume_path())?;
        Some(ResumeCommand { argv, cwd: self.project.clone(), needs_cwd: true })
    }

    fn to_document<'a>(
        &'a self,
        prompt: &'a Prompt,
        files: &[PathBuf],
        copied: Option<Copied>,
    ) -> DeliveryDocument<'a> {
        DeliveryDocument {
            schema: "carryover.handoff/2",
            source: &self.source,
            session_id: &self.session,
            target: self.target.map(|taker| taker.id),
            project: self.project.display().to_string(),
            files: files.iter().map(|file| file.display().to_string()).collect(),
            copied: copied.map(|copied| match copied {
                Copied::ByProgram => "clipboard",
                Copied::ByTerminal => "terminal",
            }),
            tokens: prompt.rendered.tokens,
            budget: prompt.budget,
            dropped: prompt
                .rendered
                .dropped
                .iter()
                .map(|DroppedCount { what, n }| DroppedRow { what, count: *n })
                .collect(),
            command: self.start_command().map(|command| command.argv),
            cwd: self.project.display().to_string(),
            dry_run: self.dry_run,
            unread: &self.unread,
            warnings: &self.warnings,
        }
    }

    fn write_report(
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
            let purpose = if files.len() > 1 { file_purpose(file) } else { "" };
            ui.status(format_args!("  {wrote:<11} {DIM}{}{DIM:#}{purpose}", abbreviate_home(context, file)))?;
        }
        let name = project_dir::RESUME_FILE;
        match (self.copy && !self.dry_run, copied) {
            (_, Some(Copied::ByProgram)) => ui.status(format_args!("  copied      {name}, to the clipboard"))?,
            (_, Some(Copied::ByTerminal)) => {
                ui.status(format_args!("  copied      {name}, through the terminal, if it allows that"))?;
            }
            (true, None) => ui.status("  copied      nowhere: there is no clipboard here")?,
            (false, None) => {}
        }
        let (tokens, budget) = (prompt.rendered.tokens, prompt.budget);
        let bar = quantity::format_bar(tokens, budget);
        let (shown, of) = (quantity::format_tokens(tokens), quantity::format_tokens(budget));
        ui.status(format_args!("  tokens      {bar} about {shown} of {of}"))?;
        for dropped in &prompt.rendered.dropped {
            ui.status(format_args!("  left out    {} {}", dropped.n, dropped.what))?;
        }
        Ok(())
    }
}

/// What a file is for, where there are several.
fn file_purpose(file: &Path) -> &'static str {
    if file.ends_with(project_dir::HANDOFF_FILE) {
        ", the same in short, to read or to keep"
    } else {
        ", the prompt to go on from"
    }
}
