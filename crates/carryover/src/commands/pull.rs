//! `carryover pull`.

use carryover_core::plain::one_line;
use carryover_engine::context::Context;
use carryover_engine::sessions::list::{Filter, ListedSession, list_sessions};
use carryover_engine::share::remote::{
    Catalog, Pulled, PushedCapsule, Remote, choose_incoming, newest_per_session, project_name,
};
use clap::Args;
use serde::Serialize;

use super::remote::access::{connect, read_catalog};
use super::remote::pushed_row::describe_briefly;
use crate::args::Globals;
use crate::error::{CommandError, ErrorKind};
use crate::session_row::abbreviate_home;
use crate::ui::{DIM, GOOD, Ui};

const MAX_SHOWN: usize = 20;

/// Fetch a session from a remote, to go on with it
///
/// It is put together, verified as a whole, and laid into ~/.carryover/capsules; `carryover import ID` goes on with it. Nothing is
/// opened, started or told to an agent. Without an id or words: what others have pushed of a project with this folder's name.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover pull                      what others have pushed of this project
  carryover pull login bug            the session with these words
  carryover pull 5f404d9a
  carryover import 5f404d9a --target codex")]
pub(crate) struct PullArgs {
    /// The beginning of an id, or words of title, project or prompts
    #[arg(value_name = "ID|WORDS")]
    words: Vec<String>,
    /// The remote [default: the only one, else origin]
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
}

/// What was pulled, as `--json` tells it.
#[derive(Serialize)]
struct PullDocument<'a> {
    schema: &'static str,
    remote: &'a str,
    capsules: Vec<PulledCapsule>,
    total: usize,
    warnings: Vec<String>,
}

/// A capsule that is on the shelf now.
#[derive(Serialize)]
pub(super) struct PulledCapsule {
    capsule_id: String,
    source: String,
    session_id: String,
    title: Option<String>,
    path: String,
    /// False where it was there already.
    is_new: bool,
    /// The command that goes on with it, as words after carryover.
    import: [String; 2],
}

pub(crate) fn cmd_pull(ui: &mut Ui, context: &Context, globals: Globals, args: &PullArgs) -> Result<(), CommandError> {
    let remote = connect(ui, context, args.remote.as_deref())?;
    let mut warnings = Vec::new();
    let catalog = read_catalog(ui, &remote, &mut warnings)?;
    let words = args.words.join(" ");
    let chosen = if words.is_empty() {
        choose_waiting(ui, context, globals, &catalog)?
    } else {
        vec![choose_named(ui, context, globals, &remote, &catalog, &words)?]
    };
    let PulledCapsules { capsules, failed } = pull_capsules(ui, context, &remote, &chosen, &mut warnings)?;
    let is_nothing = capsules.is_empty() && failed.is_none();
    if ui.is_json() {
        let (total, remote) = (capsules.len(), &remote.name);
        ui.write_json(&PullDocument { schema: "carryover.pull/1", remote, capsules, total, warnings })?;
    } else if is_nothing {
        let project = project_name(context).unwrap_or_default();
        ui.status(format_args!("{} has nothing of {} that is not here", remote.name, one_line(&project, 60)))?;
        ui.hint(format_args!("`carryover remote show {}` tells all that is there", remote.name))?;
    }
    failed.map_or(Ok(()), Err)
}

/// What others have pushed of this project; somebody who is there chooses among several.
fn choose_waiting<'c>(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    catalog: &'c Catalog,
) -> Result<Vec<&'c PushedCapsule>, CommandError> {
    let waiting = list_waiting(context, catalog, &list_sessions(context, &Filter::default()).sessions);
    if waiting.len() < 2 || globals.yes || !ui.is_interactive() {
        return Ok(waiting);
    }
    write_numbered(ui, context, &waiting)?;
    let answer = ui.ask("which one? (number, `all`, or nothing to leave)")?;
    match answer.as_str() {
        "" => Err(CommandError::left()),
        "all" | "a" => Ok(waiting),
        number => Ok(vec![pick_number(&waiting, number)?]),
    }
}

/// What others have pushed of this project.
pub(super) fn list_waiting<'c>(
    context: &Context,
    catalog: &'c Catalog,
    sessions: &[ListedSession],
) -> Vec<&'c PushedCapsule> {
    project_name(context).map_or_else(Vec::new, |project| choose_incoming(context, catalog, sessions, &project))
}

fn choose_named<'c>(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    remote: &Remote,
    catalog: &'c Catalog,
    words: &str,
) -> Result<&'c PushedCapsule, CommandError> {
    let found = newest_per_session(catalog.find(words));
    let shown_words = one_line(words, 200);
    match found[..] {
        [] => {
            Err(CommandError::new(ErrorKind::NotFound, format!("nothing in {} matches `{shown_words}`", remote.name))
                .with_hint(format!("`carryover remote show {}` tells all that is there", remote.name)))
        }
        [one] => Ok(one),
        [newest, ..] if globals.yes => Ok(newest),
        _ if !ui.is_interactive() => {
            let lines = found.iter().take(MAX_SHOWN).map(|pushed| describe_briefly(context, pushed));
            let message = format!("`{shown_words}` fits {} sessions", found.len());
            Err(CommandError::new(ErrorKind::NotFound, message)
                .with_details(lines.collect::<Vec<_>>())
                .with_hint("name one by its id"))
        }
        _ => {
            write_numbered(ui, context, &found)?;
            let answer = ui.ask("which one? (number, or nothing to leave)")?;
            if answer.is_empty() { Err(CommandError::left()) } else { pick_number(&found, &answer) }
        }
    }
}

fn write_numbered(ui: &mut Ui, context: &Context, pushed: &[&PushedCapsule]) -> Result<(), CommandError> {
    for (index, pushed) in pushed.iter().enumerate() {
        ui.write_line(format_args!("{:>2}  {}", index + 1, describe_briefly(context, pushed)))?;
    }
    Ok(())
}

fn pick_number<'c>(pushed: &[&'c PushedCapsule], answer: &str) -> Result<&'c PushedCapsule, CommandError> {
    let picked = answer.parse::<usize>().ok().and_then(|number| pushed.get(number.checked_sub(1)?)).copied();
    picked.ok_or_else(|| CommandError::usage("that is none of the numbers"))
}

/// Capsules that are on the shelf now, and the error at the end where some are not.
pub(super) struct PulledCapsules {
    pub(super) capsules: Vec<PulledCapsule>,
    pub(super) failed: Option<CommandError>,
}

/// Lays capsules on the shelf, and says how each is gone on with. One that cannot be had is named, and the others go on.
pub(super) fn pull_capsules(
    ui: &mut Ui,
    context: &Context,
    remote: &Remote,
    chosen: &[&PushedCapsule],
    warnings: &mut Vec<String>,
) -> Result<PulledCapsules, CommandError> {
    let mut pulled = Vec::new();
    let mut n_failed = 0;
    for pushed in chosen {
        let fetched = ui.while_counting("pulling…", |counter| {
            remote.pull(context, pushed, &|done, total| counter.set(done, total))
        });
        let Pulled { path, is_new } = match fetched {
            Ok(fetched) => fetched,
            Err(error) if chosen.len() == 1 => return Err(error.into()),
            Err(error) => {
                n_failed += 1;
                let warning = format!("{} is not pulled: {}", pushed.capsule, CommandError::from(error).to_line());
                ui.warning(&warning)?;
                warnings.push(warning);
                continue;
            }
        };
        let title = one_line(pushed.title.as_deref().unwrap_or("a session without a title"), 80);
        let how = if is_new { "pulled" } else { "here already:" };
        ui.status(format_args!("{GOOD}{how}{GOOD:#} {title}"))?;
        ui.status(format_args!("  capsule     {DIM}{}{DIM:#}", abbreviate_home(context, &path)))?;
        ui.hint(format_args!("`carryover import {}` goes on with it", pushed.capsule))?;
        pulled.push(PulledCapsule {
            capsule_id: pushed.capsule.clone(),
            source: pushed.agent.clone(),
            session_id: pushed.session_id.clone(),
            title: pushed.title.clone(),
            path: path.display().to_string(),
            is_new,
            import: ["import".to_owned(), pushed.capsule.clone()],
        });
    }
    let failed = (n_failed > 0).then(|| {
        let message = format!("{n_failed} of {} sessions could not be pulled", chosen.len());
        CommandError::new(ErrorKind::Io, message)
            .with_hint(
                "`carryover push SESSION` where they are sends what is missing there; what is damaged has to be deleted first",
            )
    });
    Ok(PulledCapsules { capsules: pulled, failed })
}
