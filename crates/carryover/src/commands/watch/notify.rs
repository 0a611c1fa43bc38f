//! Word of a limit to somebody who does not look: a bell, or a notification of the desktop. That it cannot be given is no
//! failure.

use std::process::{Command, Stdio};

use carryover_agents::{Env, Os};
use carryover_core::plain::one_line;
use carryover_core::redact::redact_title;
use carryover_engine::client::find_program;
use carryover_engine::context::Context;
use carryover_engine::watch::Limit;

use super::agent_name;
use crate::relative_time::format_until;
use crate::screen::Screen;
use crate::session_row::abbreviate_home;

const BELL: &str = "\u{7}";

/// How limits are told, besides showing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Notifier {
    Off,
    Bell,
    Desktop,
}

impl Notifier {
    /// On a terminal, a bell is the least.
    pub(super) fn for_screen(context: &Context) -> Self {
        match context.config.watch.notify.as_deref() {
            Some("off") => Self::Off,
            Some("desktop") => Self::Desktop,
            _ => Self::Bell,
        }
    }

    /// Into a pipe goes nothing but lines.
    pub(super) fn for_lines(context: &Context) -> Self {
        match Self::for_screen(context) {
            Self::Bell => Self::Off,
            notifier => notifier,
        }
    }

    pub(super) fn tell_limit(self, context: &Context, limit: &Limit) {
        if self == Self::Desktop {
            notify_by_program(context, &Notification::of_limit(context, limit));
        }
    }

    /// The same where the terminal can be asked. It is asked where no program tells, as over SSH.
    pub(super) fn tell_limit_on(self, screen: &mut Screen, context: &Context, limit: &Limit) -> std::io::Result<()> {
        match self {
            Self::Off => Ok(()),
            Self::Bell => screen.send_sequence(BELL),
            Self::Desktop => {
                let notification = Notification::of_limit(context, limit);
                if notify_by_program(context, &notification) {
                    return Ok(());
                }
                screen.send_sequence(&notification.to_sequence())
            }
        }
    }
}

/// Plain text on one line each: desktops read marks in it, terminals escapes.
struct Notification {
    title: String,
    body: String,
}

impl Notification {
    fn of_limit(context: &Context, limit: &Limit) -> Self {
        let title = limit.title.as_deref().map(|title| redact_title(&one_line(title, 80), &[]));
        let project = limit.project.as_deref().map(|project| abbreviate_home(context, project));
        let env = Env { now: limit.at, ..context.env.clone() };
        let until = limit.resets_at.map(|ends| format!("until {}", format_until(ends, &env)));
        let parts: Vec<String> = [until, project, title].into_iter().flatten().collect();
        Self { title: format!("{} is at a limit", agent_name(limit.agent)), body: without_marks(&parts.join(", ")) }
    }

    /// Asks the terminal (OSC 9). One that does not know it still rings.
    fn to_sequence(&self) -> String {
        format!("\u{1b}]9;{}: {}{BELL}{BELL}", self.title, self.body)
    }
}

/// Text in which no desktop finds markup.
fn without_marks(text: &str) -> String {
    one_line(text, 200).replace('<', "‹").replace('>', "›").replace('&', "+")
}

/// Tells it by the desktop's own program; whether there is one. The program is not waited for.
fn notify_by_program(context: &Context, notification: &Notification) -> bool {
    let is_set = |name: &str| context.env.var(name).is_some_and(|value| !value.is_empty());
    // The desktop over there is nobody's.
    if is_set("SSH_TTY") || is_set("SSH_CONNECTION") {
        return false;
    }
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"].into_iter().any(is_set);
    let (name, arguments): (_, Vec<&str>) = match context.env.os {
        Os::Linux if has_desktop => {
            ("notify-send", vec!["--app-name=carryover", "--", &notification.title, &notification.body])
        }
        Os::MacOs => ("osascript", [&OSASCRIPT[..], &[&notification.body, &notification.title]].concat()),
        _ => return false,
    };
    find_program(context, name).is_some_and(|program| start_detached(Command::new(program).args(arguments)))
}

/// The texts are arguments of the script and no part of it.
const OSASCRIPT: [&str; 7] = [
    "-e",
    "on run argv",
    "-e",
    "display notification (item 1 of argv) with title (item 2 of argv)",
    "-e",
    "end run",
    "--",
];

fn start_detached(command: &mut Command) -> bool {
    let started = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = started else { return false };
    let wait = move || child.wait().map(drop);
    // Where there is no thread to wait for it, it stays a zombie until we end.
    std::thread::Builder::new().name("notification".to_owned()).spawn(wait).is_ok()
}
