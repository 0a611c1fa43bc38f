//! `carryover daemon`.

use carryover_engine::context::Context;
use clap::{Args, Subcommand};

use crate::daemon::{self, RunFor, Stopped, client};
use crate::error::CommandError;
use crate::process_env;
use crate::ui::Ui;

/// Run the daemon that keeps sessions and publishes handoffs
///
/// The daemon watches the agents' stores, takes in what their hooks tell, keeps the ledger and publishes handoffs.
/// `carryover install` registers it, so that it runs by itself; these commands are for looking after it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  carryover daemon start
  carryover daemon restart
  carryover daemon logs -n 100
  carryover daemon run        in this terminal, until Ctrl-C")]
pub(crate) struct DaemonArgs {
    #[command(subcommand)]
    action: DaemonAction,
}

#[derive(Subcommand)]
enum DaemonAction {
    /// Run it in this terminal, until it is interrupted
    Run {
        /// Leave the terminal's session first
        #[arg(long, hide = true)]
        detached: bool,
        /// A service manager starts it, to which a daemon that runs already is none that failed
        #[arg(long, hide = true, conflicts_with = "detached")]
        service: bool,
    },
    /// Start it in the background
    Start,
    /// End it
    Stop,
    /// End it and start it again
    Restart,
    /// Show the last lines of its log
    Logs {
        /// How many lines
        #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
        lines: usize,
    },
}

pub(crate) fn cmd_daemon(ui: &mut Ui, context: &Context, args: &DaemonArgs) -> Result<(), CommandError> {
    match args.action {
        DaemonAction::Run { detached: true, .. } => {
            process_env::leave_session();
            daemon::run_daemon(context, RunFor::Background)
        }
        DaemonAction::Run { service: true, .. } => daemon::run_daemon(context, RunFor::Service),
        DaemonAction::Run { .. } => {
            ui.status(format_args!("running on {}; Ctrl-C ends it", context.home.display()))?;
            daemon::run_daemon(context, RunFor::Person)
        }
        DaemonAction::Start => start_daemon(ui, context),
        DaemonAction::Stop => stop_daemon(ui, context),
        DaemonAction::Restart => {
            stop_daemon(ui, context)?;
            start_daemon(ui, context)
        }
        DaemonAction::Logs { lines } => show_log(ui, context, lines),
    }
}

fn start_daemon(ui: &mut Ui, context: &Context) -> Result<(), CommandError> {
    let is_new = daemon::start(context)?;
    ui.status(if is_new { "the daemon runs" } else { "the daemon runs already" })?;
    if let Some(trouble) = client::query_status(context).and_then(|status| status.port_trouble) {
        ui.warning(trouble)?;
    }
    Ok(())
}

fn stop_daemon(ui: &mut Ui, context: &Context) -> Result<(), CommandError> {
    let said = match daemon::stop(context)? {
        Stopped::Stopped => "the daemon has ended",
        Stopped::NotRunning => "no daemon runs",
    };
    Ok(ui.status(said)?)
}

fn show_log(ui: &mut Ui, context: &Context, count: usize) -> Result<(), CommandError> {
    let lines = daemon::last_lines(context, count)?;
    if lines.is_empty() {
        ui.status("the daemon has written no log yet")?;
        ui.hint("`carryover daemon start` starts it")?;
    }
    for line in lines {
        writeln!(ui.out(), "{line}")?;
    }
    Ok(())
}
