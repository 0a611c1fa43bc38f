//! The daemon as a service that begins when its user logs in: a unit of systemd, or an agent of launchd.
//!
//! Only the user's own service manager is spoken to, and only where it runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use carryover_agents::{HookPlace, Os, PathBase, all_facts};

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
            take_back(context, &mut record, manager, runner)?;
            Ok(ServiceOutcome::Failed { manager, reason })
        }
    }
}

/// Stops the service and takes its file away, where we put one.
pub fn unregister(context: &Context, runner: &mut dyn ProgramRunner) -> Result<Option<ServiceOutcome>, InstallError> {
    let mut record = InstallRecord::load(&context.home)?.unwrap_or_default();
    let Some(file) = record.find_file(SERVICE, FileKind::OwnFile).cloned() else { return Ok(None) };
    match find_manager(context) {
        Some(manager) => take_back(context, &mut record, manager, runner)?,
        None => remove_file(context, &mut record)?,
    }
    Ok(Some(ServiceOutcome::Removed(file.path)))
}

/// The service's file, where we put one.
pub fn registered_file(context: &Context) -> Option<PathBuf> {
    let record = InstallRecord::load(&context.home).ok().flatten()?;
    record.find_file(SERVICE, FileKind::OwnFile).map(|file| file.path.clone())
}

/// What a registered service can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceAction {
    Start,
    Stop,
}

/// Has the manager start or end the daemon, so that it knows what is wanted; whether it did. Where the daemon is not
/// registered, or nobody looks after services here, it did not.
pub fn control(context: &Context, action: ServiceAction, runner: &mut dyn ProgramRunner) -> bool {
    let Ok(Some(record)) = InstallRecord::load(&context.home) else { return false };
    let Some(file) = record.find_file(SERVICE, FileKind::OwnFile) else { return false };
    let Some(manager) = find_manager(context) else { return false };
    let done = match (manager, action) {
        (ServiceManager::Systemd, ServiceAction::Start) => runner.run("systemctl", &["--user", "start", UNIT]),
        (ServiceManager::Systemd, ServiceAction::Stop) => runner.run("systemctl", &["--user", "stop", UNIT]),
        (ServiceManager::Launchd, ServiceAction::Start) => start_with_launchd(context, runner, &file.path, false),
        // It ends well, so it is not started again, and stays loaded.
        (ServiceManager::Launchd, ServiceAction::Stop) => {
            runner.run("launchctl", &["kill", "SIGTERM", &launchd_target(context)])
        }
    };
    done.is_ok()
}

/// Ends the service and takes its file away. One that does not run, or is not known any more, cannot be stopped, and need
/// not be.
fn take_back(
    context: &Context,
    record: &mut InstallRecord,
    manager: ServiceManager,
    runner: &mut dyn ProgramRunner,
) -> Result<(), InstallError> {
    match manager {
        ServiceManager::Systemd => runner.run("systemctl", &["--user", "disable", "--now", UNIT]).ok(),
        ServiceManager::Launchd => runner.run("launchctl", &["bootout", &launchd_target(context)]).ok(),
    };
    remove_file(context, record)?;
    if manager == ServiceManager::Systemd {
        runner.run("systemctl", &["--user", "daemon-reload"]).ok();
    }
    Ok(())
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
        // One that runs already may be said to be in the way of itself; whether it runs is seen when it is asked.
        runner.run("launchctl", &["kickstart", &target]).ok();
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

/// The variables that lead to stores and files of hooks, with their values: a service gets none of those that the user's
/// shell sets.
fn leading_variables(context: &Context) -> BTreeMap<&'static str, String> {
    let stores = all_facts().flat_map(|facts| facts.stores);
    let hooks = all_facts().filter_map(|facts| facts.hooks).flat_map(|hooks| match hooks.place {
        HookPlace::Entries { file, .. } | HookPlace::OwnFile { file, .. } => file,
    });
    let variable = |base| if let PathBase::Variable(name) = base { Some(name) } else { None };
    let names = stores.chain(hooks).filter_map(|rule| variable(rule.base));
    let mut found: BTreeMap<&'static str, String> =
        names.filter_map(|name| Some((name, context.env.var(name)?.to_owned()))).collect();
    if context.env.var("CARRYOVER_HOME").is_some() {
        found.insert("CARRYOVER_HOME", context.home.display().to_string());
    }
    found
}

fn render_unit(context: &Context, program: &Path) -> String {
    let program = quote_unit_word(&program.display().to_string());
    // Memory that a thread gave back is of use to the others.
    let variables = leading_variables(context).into_iter().chain([("MALLOC_ARENA_MAX", "1".to_owned())]);
    let line = |(name, value)| format!("Environment={}\n", quote_unit_word(&format!("{name}={value}")));
    let environment = variables.map(line).collect::<Vec<_>>().concat();
    format!(
        "{UNIT_MARK}\n\
         [Unit]\n\
         Description=carryover: the next coding agent starts informed\n\
         \n\
         [Service]\n\
         ExecStart={program} daemon run --service\n\
         {environment}Restart=on-failure\n\
         RestartSec=2\n\
         \n\
         [Install]\n\
         WantedBy=default.target\n"
    )
}

/// A word in quotation marks, in which systemd reads nothing but the word.
fn quote_unit_word(word: &str) -> String {
    let word = word.replace('\\', r"\\").replace('"', r#"\""#).replace('%', "%%").replace('\n', r"\n");
    format!("\"{word}\"")
}

fn render_plist(context: &Context, program: &Path) -> String {
    let program = escape_xml(&program.display().to_string());
    let pair = |(name, value): (&str, String)| format!("<key>{name}</key><string>{}</string>", escape_xml(&value));
    let variables = leading_variables(context).into_iter().map(pair).collect::<Vec<_>>().concat();
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
    <string>--service</string>
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
