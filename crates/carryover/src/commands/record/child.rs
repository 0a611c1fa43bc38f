//! An agent as our child: it has the terminal and gets the signals, and we end as it ends.

use std::io;
use std::process::{Child, Command};

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Code(u8),
    Signal(u8),
}

impl Ended {
    /// The code with which a shell tells it.
    pub(super) fn exit_code(self) -> u8 {
        match self {
            Self::Code(code) => code,
            Self::Signal(signal) => 128_u8.saturating_add(signal),
        }
    }
}

/// Runs a client to its end. It inherits the terminal.
#[cfg(unix)]
pub(super) fn run_client(command: &mut Command) -> io::Result<Ended> {
    // Before it starts: a signal that comes as it does must not end us alone.
    let signals = crate::signals::HeldSignals::hold()?;
    let child = command.spawn()?;
    let _passing = pass_signals(signals, &child)?;
    wait_for(&child)
}

#[cfg(not(unix))]
pub(super) fn run_client(command: &mut Command) -> io::Result<Ended> {
    wait_for(command.spawn()?)
}

/// Passes on what asks this process to end. What is typed reaches the child by itself, which shares our terminal.
#[cfg(unix)]
fn pass_signals(signals: crate::signals::HeldSignals, child: &Child) -> io::Result<crate::signals::Passing> {
    use std::io::IsTerminal;
    let process = process_id(child)?;
    signals.pass_on(!io::stdin().is_terminal(), move |signal| {
        if let Some(signal) = rustix::process::Signal::from_named_raw(signal) {
            // It may be gone already.
            rustix::process::kill_process(process, signal).ok();
        }
    })
}

#[cfg(unix)]
fn process_id(child: &Child) -> io::Result<rustix::process::Pid> {
    let id = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    id.ok_or_else(|| io::Error::other("the client has no process"))
}

/// Waits for the end. A child that stops itself, as clients do on Ctrl-Z, stops us too: the shell waits for us.
#[cfg(unix)]
fn wait_for(child: &Child) -> io::Result<Ended> {
    use rustix::process::{Signal, WaitOptions, getpid, kill_process, waitpid};
    let process = process_id(child)?;
    loop {
        let status = match waitpid(Some(process), WaitOptions::UNTRACED) {
            Err(rustix::io::Errno::INTR) | Ok(None) => continue,
            status => status?,
        };
        let Some((_, status)) = status else { continue };
        if status.stopped() {
            kill_process(getpid(), Signal::STOP)?;
            kill_process(process, Signal::CONT)?;
        } else if let Some(code) = status.exit_status() {
            return Ok(Ended::Code(u8::try_from(code).unwrap_or(1)));
        } else if let Some(signal) = status.terminating_signal() {
            return Ok(Ended::Signal(u8::try_from(signal).unwrap_or(0)));
        }
    }
}

#[cfg(not(unix))]
fn wait_for(mut child: Child) -> io::Result<Ended> {
    let code = child.wait()?.code().unwrap_or(1);
    Ok(Ended::Code(u8::try_from(code).unwrap_or(1)))
}
