//! Events as lines, for pipes and for programs.

use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use carryover_core::plain::one_line;
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::watch::{Activity, Doing, Event, Limit, Options, Watcher};
use serde::Serialize;

use super::notify::Notifier;
use super::{agent_name, choose_target, handoff_command, resume_command};
use crate::error::CommandError;
use crate::process_env;
use crate::relative_time::format_ago;
use crate::session_row::{abbreviate_home, cut_to_width};
use crate::short_id::ShortIds;
use crate::signals::Signals;
use crate::ui::{BAD, BOLD, COMMAND, DIM, Ui};
use crate::view::{LimitRow, TokensRow};

/// An event, as `--json` tells it: one line each.
#[derive(Serialize)]
struct EventLine<'a> {
    schema: &'static str,
    #[serde(flatten)]
    what: EventBody<'a>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
enum EventBody<'a> {
    Watching {
        agents: &'a [&'static str],
    },
    Active {
        agent: &'static str,
        session_id: &'a str,
        project: Option<String>,
        title: Option<&'a str>,
        at: String,
        doing: DoingRow<'a>,
        tokens: Option<TokensRow>,
        limits: Vec<LimitRow>,
    },
    Limit {
        agent: &'static str,
        session_id: &'a str,
        project: Option<String>,
        title: Option<&'a str>,
        at: String,
        message: &'a str,
        resets_at: Option<String>,
        /// Arguments of the command that goes on elsewhere; none where no other agent is installed.
        command: Option<Vec<String>>,
    },
    Ended {
        agent: &'static str,
        session_id: &'a str,
        project: Option<String>,
    },
    Trouble {
        agent: Option<&'static str>,
        message: &'a str,
    },
}

/// What a session does, as `--json` tells it.
#[derive(Default, Serialize)]
struct DoingRow<'a> {
    kind: &'static str,
    action: Option<&'static str>,
    text: Option<&'a str>,
    is_error: bool,
    resets_at: Option<String>,
}

/// Writes a line for each event, until the process is told to end.
pub(super) fn watch_in_lines(ui: &mut Ui, context: &Context, options: Options) -> Result<(), CommandError> {
    let clock = process_env::make_clock(context);
    let mut watcher = Watcher::open(context, options, &clock);
    let handle = watcher.stop_handle();
    let signals = Signals::on_end(move || handle.stop())?;
    let notifier = Notifier::for_lines(context);
    let mut printer = EventPrinter { ui, context, ids: ShortIds::default(), shown: BTreeSet::new(), clock: &clock };
    let mut shown = Ok(());
    let ended = watcher.run(&mut |event| {
        if let Event::Limit(limit) = &event {
            notifier.tell_limit(context, limit);
        }
        shown = printer.show_event(&event);
        if shown.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    drop(signals);
    ended?;
    Ok(shown?)
}

/// Shows events as they come.
struct EventPrinter<'a> {
    ui: &'a mut Ui,
    context: &'a Context,
    ids: ShortIds,
    /// The sessions that are shown as being in use.
    shown: BTreeSet<(&'static str, String)>,
    clock: &'a dyn Fn() -> Timestamp,
}

impl EventPrinter<'_> {
    fn show_event(&mut self, event: &Event) -> io::Result<()> {
        if self.ui.is_json() {
            let what = event_body(self.context, event);
            return self.ui.write_json_line(&EventLine { schema: "carryover.watch/1", what });
        }
        match event {
            Event::Watching { agents } => {
                self.ui.status(format_args!("watching {}; Ctrl-C ends it", agents.join(", ")))?;
            }
            Event::Active(activity) => self.show_active(activity)?,
            Event::Limit(limit) => self.show_limit(limit)?,
            Event::Ended { agent, session, .. } => {
                self.shown.remove(&(*agent, session.0.clone()));
                let id = one_line(self.ids.shorten(&session.0), 40);
                writeln!(self.ui.out(), "{DIM}{agent:<13} {id}  is no longer in use{DIM:#}")?;
            }
            Event::Trouble { agent, message } => {
                let whose = agent.map(|agent| format!("{agent}: ")).unwrap_or_default();
                self.ui.warning(format_args!("{whose}{}", one_line(message, 400)))?;
            }
        }
        self.ui.flush()
    }

    /// One line when a session comes into use, and none for everything that is said in it.
    fn show_active(&mut self, activity: &Activity) -> io::Result<()> {
        self.ids.add(&activity.session.0);
        if !self.shown.insert((activity.agent, activity.session.0.clone())) {
            return Ok(());
        }
        let id = one_line(self.ids.shorten(&activity.session.0), 40);
        let when = format_ago(activity.at, (self.clock)());
        let title = activity.title.as_deref().map_or_else(|| "(no title)".to_owned(), |title| one_line(title, 200));
        let about = format!("{}  {title}", self.format_project(activity.project.as_deref()));
        let begin = format!("{:<13} {id}  {when:<10}  ", activity.agent);
        let room = self.ui.width().saturating_sub(begin.chars().count()).max(20);
        writeln!(self.ui.out(), "{begin}{}", cut_to_width(&about, room))
    }

    fn show_limit(&mut self, limit: &Limit) -> io::Result<()> {
        self.ids.add(&limit.session.0);
        let name = agent_name(limit.agent);
        let id = one_line(self.ids.shorten(&limit.session.0), 40);
        let project = self.format_project(limit.project.as_deref());
        let resets = limit.resets_at.map(|at| self.local_time(at));
        let target = choose_target(self.context, limit.agent);
        let command = target.map(|target| resume_command(self.context, &limit.session.0, target));
        let handoff = handoff_command(self.context, &limit.session.0);
        let out = self.ui.out();
        writeln!(out, "{BAD}limit:{BAD:#} {BOLD}{name}{BOLD:#} {id} in {project}: {}", one_line(&limit.message, 200))?;
        if let Some(resets) = resets {
            writeln!(out, "  it ends      {resets}")?;
        }
        match command {
            Some(command) => {
                writeln!(out, "  go on        {COMMAND}{command}{COMMAND:#}")?;
                writeln!(out, "  or hand over {COMMAND}{handoff}{COMMAND:#}")
            }
            None => writeln!(out, "  hand over    {COMMAND}{handoff}{COMMAND:#}"),
        }
    }

    fn format_project(&self, project: Option<&Path>) -> String {
        project.map_or_else(|| "an unknown project".to_owned(), |project| abbreviate_home(self.context, project))
    }

    /// A time as the clock on the wall shows it.
    fn local_time(&self, at: Timestamp) -> String {
        let instant = jiff::Timestamp::from_millisecond(at.millis()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        instant.to_zoned(self.context.env.zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string()
    }
}

fn event_body<'e>(context: &Context, event: &'e Event) -> EventBody<'e> {
    let path = |project: &Option<PathBuf>| project.as_ref().map(|path| path.display().to_string());
    match event {
        Event::Watching { agents } => EventBody::Watching { agents },
        Event::Active(activity) => EventBody::Active {
            agent: activity.agent,
            session_id: &activity.session.0,
            project: path(&activity.project),
            title: activity.title.as_deref(),
            at: activity.at.to_string(),
            doing: doing_row(&activity.doing),
            tokens: activity.usage.tokens.map(TokensRow::from),
            limits: activity.usage.limits.iter().copied().map(LimitRow::from).collect(),
        },
        Event::Limit(limit) => EventBody::Limit {
            agent: limit.agent,
            session_id: &limit.session.0,
            project: path(&limit.project),
            title: limit.title.as_deref(),
            at: limit.at.to_string(),
            message: &limit.message,
            resets_at: limit.resets_at.map(|at| at.to_string()),
            // As an argument, such an id would be an option.
            command: choose_target(context, limit.agent).filter(|_| !limit.session.0.starts_with('-')).map(|target| {
                ["carryover", "resume", &limit.session.0, "--target", target].map(str::to_owned).to_vec()
            }),
        },
        Event::Ended { agent, session, project, .. } => {
            EventBody::Ended { agent, session_id: &session.0, project: path(project) }
        }
        Event::Trouble { agent, message } => EventBody::Trouble { agent: *agent, message },
    }
}

fn doing_row(doing: &Doing) -> DoingRow<'_> {
    let plain = |kind| DoingRow { kind, ..DoingRow::default() };
    let with_text = |kind, text| DoingRow { kind, text: Some(text), ..DoingRow::default() };
    match doing {
        Doing::Unknown => plain("unknown"),
        Doing::Prompted => plain("prompted"),
        Doing::Thinking => plain("thinking"),
        Doing::Calling(call) => DoingRow { action: Some(call.action), ..with_text("calling", &call.subject) },
        Doing::Called { call, failed } => {
            DoingRow { action: Some(call.action), is_error: *failed, ..with_text("called", &call.subject) }
        }
        Doing::Asking { question } => with_text("asking", question),
        Doing::Proposing => plain("proposing"),
        Doing::Replied { text } => with_text("replied", text),
        Doing::AtLimit { message, resets_at } => {
            DoingRow { resets_at: resets_at.map(|at| at.to_string()), ..with_text("at_limit", message) }
        }
        Doing::Failed { message } => with_text("failed", message),
        Doing::Interrupted => plain("interrupted"),
        Doing::Compacted => plain("compacted"),
    }
}
