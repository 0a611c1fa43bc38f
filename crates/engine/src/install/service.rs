//! The daemon as a service that begins when its user logs in: a unit of systemd, or an agent of launchd.
//!
//! Only the user's own service manager is spoken to, and only where it runs.

use std::path::{Path, PathBuf};

use carryover_agents::Os;

use super::error::InstallError;
use super::managed_file::FileChange;
use super::own_file;
use super::record::{FileKind, FileRecord, InstallRecord, SERVICE};
use super::setup::new_record;
use crate::client;
use crate::context::Context;
use crate::write::disk::RealDisk;

mod runner;

pub use runner::{ProgramRunner, RealRunner};

const UNIT: &str = "carryover.service";
const LABEL: &str = "dev.carryover.daemon";

/// The line by which a service file is known to be ours.
const UNIT_MARK: &str = "# Written by `carryover install`; `carryover uninstall` removes it.";
const PLIST_MARK: &str = "<!-- Written by `carryover install`; `carryover uninstall` removes it. -->";

/// Who starts services here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceManager {
    Systemd,
    Launchd,
}

/// What became of the service.
#[derive(Debug)]
pub enum ServiceOutcome {
    /// It begins with every login, and was started.
    Registered(PathBuf),
    /// It was so already.
    Unchanged(PathBuf),
    /// Nobody here starts services for a user; this line in a file that is read at login does.
    Unavailable { line: String, file: &'static str },
    /// It is gone.
    Removed(PathBuf),
    /// The manager refused; its file is taken back.
    Failed { manager: ServiceManager, reason: String },
}

/// Who would start the daemon at login, if anybody.
pub fn find_manager(context: &Context) -> Option<ServiceManager> {
    match context.env.os {
        Os::MacOs => client::find_program(context, "launchctl").map(|_| ServiceManager::Launchd),
        Os::Linux => {
            client::find_program(context, "systemctl")?;
            let runtime = context.env.path_var("XDG_RUNTIME_DIR")?;
            let is_reachable = runtime.join("bus").exists() || runtime.join("systemd/private").exists();
            is_reachable.then_some(ServiceManager::Systemd)
        }
        Os::Windows => None,
    }
}

/// Registers the daemon and starts it.
pub fn register(
    context: &Context,
    program: &Path,
    runner: &mut dyn ProgramRunner,
) -> Result<ServiceOutcome, InstallError> {
    let Some(manager) = find_manager(context) else { return Ok(explain_autostart(context, program)) };
    let mut record = InstallRecord::load(&context.home)?.unwrap_or_default();
    let change = plan_file(context, &record, program, manager)?;
    let path = change.path().to_owned();
    let is_new = change.changes_file();
    change.apply(context, &mut record, &mut RealDisk)?;
    let started = match manager {
        ServiceManager::Systemd => start_with_systemd(runner, is_new),
        ServiceManager::Launchd => start_with_launchd(context, runner, &path, is_new),
    };
    match started {
        Ok(()) if is_new => Ok(ServiceOutcome::Registered(path)),
        Ok(()) => Ok(ServiceOutcome::Unchanged(path)),
        Err(reason) => {
            remove_file(context, &mut record)?;
            Ok(ServiceOutcome::Failed { manager, reason })
        }
    }
}

/// Stops the service and takes its file away, where we put one.
pub fn unregister(context: &Context, runner: &mut dyn ProgramRunner) -> Result<Option<ServiceOutcome>, InstallError> {
    let mut record = InstallRecord::load(&context.home)?.unwrap_or_default();
    let Some(file) = record.find_file(SERVICE, FileKind::OwnFile).cloned() else { return Ok(None) };
    // One that does not run, or is not known any more, cannot be stopped, and need not be.
    let manager = find_manager(context);
    match manager {
        Some(ServiceManager::Systemd) => {
            runner.run("systemctl", &["--user", "disable", "--now", UNIT]).ok();
        }
        Some(ServiceManager::Launchd) => {
            runner.run("launchctl", &["bootout", &launchd_target(context)]).ok();
        }
        None => {}
    }
    remove_file(context, &mut record)?;
    if manager == Some(ServiceManager::Systemd) {
        runner.run("systemctl", &["--user", "daemon-reload"]).ok();
    }
    Ok(Some(ServiceOutcome::Removed(file.path)))
}

fn remove_file(context: &Context, record: &mut InstallRecord) -> Result<(), InstallError> {
    let Some(file) = record.find_file(SERVICE, FileKind::OwnFile).cloned() else { return Ok(()) };
    let change = FileChange::give_back(context, &file, |text| Ok(text.to_owned()))?;
    change.apply(context, record, &mut RealDisk)
}

fn plan_file(
    context: &Context,
    record: &InstallRecord,
    program: &Path,
    manager: ServiceManager,
) -> Result<FileChange, InstallError> {
    let (path, text, mark) = match manager {
        ServiceManager::Systemd => (unit_path(context), render_unit(context, program), UNIT_MARK),
        ServiceManager::Launchd => (plist_path(context), render_plist(context, program), PLIST_MARK),
    };
    let draft: FileRecord = new_record(SERVICE, FileKind::OwnFile, &path);
    own_file::plan_put(context, record, draft, text, Some(mark))
}

fn start_with_systemd(runner: &mut dyn ProgramRunner, is_new: bool) -> Result<(), String> {
    if is_new {
        runner.run("systemctl", &["--user", "daemon-reload"])?;
    }
    runner.run("systemctl", &["--user", "enable", UNIT])?;
    // A program that moved or was upgraded is the one that shall run.
    runner.run("systemctl", &["--user", if is_new { "restart" } else { "start" }, UNIT])
}

fn start_with_launchd(
    context: &Context,
    runner: &mut dyn ProgramRunner,
    path: &Path,
    is_new: bool,
) -> Result<(), String> {
    let target = launchd_target(context);
    if !is_new && runner.run("launchctl", &["print", &target]).is_ok() {
        return Ok(());
    }
    // One that is loaded under that name is the old one.
    runner.run("launchctl", &["bootout", &target]).ok();
    let domain = target.trim_end_matches(LABEL).trim_end_matches('/').to_owned();
    runner.run("launchctl", &["bootstrap", &domain, &path.to_string_lossy()])
}

/// The service as launchd names it, in the session of the user who owns the home.
fn launchd_target(context: &Context) -> String {
    format!("gui/{}/{LABEL}", owner_id(&context.env.home).unwrap_or_default())
}

#[cfg(unix)]
fn owner_id(path: &Path) -> Option<u32> {
    fs_err::metadata(path).ok().map(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata))
}

#[cfg(not(unix))]
fn owner_id(_path: &Path) -> Option<u32> {
    None
}

/// Refuses a home that is somebody else's: what we made there could not be taken back by its owner.
#[cfg(unix)]
pub fn check_own_home(context: &Context) -> Result<(), InstallError> {
    let is_ours = owner_id(&context.env.home).is_none_or(|owner| owner == rustix::process::geteuid().as_raw());
    if is_ours { Ok(()) } else { Err(InstallError::ForeignHome(context.env.home.clone())) }
}

#[cfg(not(unix))]
pub fn check_own_home(_context: &Context) -> Result<(), InstallError> {
    Ok(())
}

fn explain_autostart(context: &Context, program: &Path) -> ServiceOutcome {
    let program = program.display();
    match context.env.os {
        Os::Windows => ServiceOutcome::Unavailable {
            line: format!("\"{program}\" daemon start"),
            file: "a .cmd file in the folder that `shell:startup` opens",
        },
        Os::Linux | Os::MacOs => {
            ServiceOutcome::Unavailable { line: format!("'{program}' daemon start"), file: "~/.profile" }
        }
    }
}

fn unit_path(context: &Context) -> PathBuf {
    let config = context.env.path_var("XDG_CONFIG_HOME").unwrap_or_else(|| context.env.home.join(".config"));
    config.join("systemd/user").join(UNIT)
}

fn plist_path(context: &Context) -> PathBuf {
    context.env.home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"))
}

fn render_unit(context: &Context, program: &Path) -> String {
    let program = quote_unit_word(&program.display().to_string());
    let moved = context.env.var("CARRYOVER_HOME").map(|_| context.home.display().to_string());
    let environment = moved.map(|home| format!("Environment={}\n", quote_unit_word(&format!("CARRYOVER_HOME={home}"))));
    format!(
        "{UNIT_MARK}\n\
         [Unit]\n\
         Description=carryover: the next coding agent starts informed\n\
         \n\
         [Service]\n\
         ExecStart={program} daemon run\n\
         {}Restart=on-failure\n\
         RestartSec=2\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n",
        environment.unwrap_or_default()
    )
}

/// A word in quotation marks, in which systemd reads nothing but the word.
fn quote_unit_word(word: &str) -> String {
    let word = word.replace('\\', r"\\").replace('"', r#"\""#).replace('%', "%%");
    format!("\"{word}\"")
}

fn render_plist(context: &Context, program: &Path) -> String {
    let program = escape_xml(&program.display().to_string());
    let moved = context.env.var("CARRYOVER_HOME").map(|_| escape_xml(&context.home.display().to_string()));
    let variables = moved.map_or_else(String::new, |home| format!("<key>CARRYOVER_HOME</key><string>{home}</string>"));
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
{PLIST_MARK}
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>{LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>{program}</string>
    <string>daemon</string>
    <string>run</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>{variables}</dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
"#
    )
}

fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
