//! The surroundings of this process, looked at once.
//!
//! This is the only place that reads the environment, the clock and randomness; everything else gets a `Context`.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use carryover_agents::{CallerProcess, Env, Os};
use carryover_core::time::Timestamp;
use carryover_engine::capture::MakeContext;
use carryover_engine::context::{self, Context};
use carryover_engine::own::config::{self, Config, ConfigError};

use crate::completion;
use crate::error::{CommandError, ErrorKind};

/// Sets the clock (RFC 3339), for tests that must give the same bytes each time.
const CARRYOVER_NOW: &str = "CARRYOVER_NOW";

/// Sets the randomness of ids (a whole number), for the same.
const CARRYOVER_SEED: &str = "CARRYOVER_SEED";

/// What a shell wants to have completed.
pub(crate) struct CompletionRequest {
    pub(crate) shell: String,
    /// The words so far, the program's name first.
    pub(crate) words: Vec<OsString>,
    pub(crate) folder: Option<PathBuf>,
}

/// The question of a shell, where one asks. A variable that names no shell is somebody else's.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
pub(crate) fn completion_request() -> Option<CompletionRequest> {
    let value = env::var(completion::ASKING_VARIABLE).ok()?;
    let shell = Path::new(&value).file_stem()?.to_str()?.to_owned();
    let is_end = |word: &OsString| word == "--";
    let words = env::args_os().skip_while(|word| !is_end(word)).skip(1).collect();
    completion::is_shell(&shell).then(|| CompletionRequest { shell, words, folder: env::current_dir().ok() })
}

/// Looks at this process and reads the configuration.
pub(crate) fn open_context() -> Result<Context, CommandError> {
    let env = read_env()?;
    let seed = read_seed(&env.vars)?;
    Ok(Context::open(env, working_directory()?, seed)?)
}

/// The same, with the defaults where the configuration is broken, and in what way it is.
pub(crate) fn context_or_defaults() -> Result<(Context, Option<ConfigError>), CommandError> {
    let env = read_env()?;
    let seed = read_seed(&env.vars)?;
    let home = context::own_folder(&env);
    let (config, broken) = match config::load(&home, &env.home) {
        Ok(config) => (config, None),
        Err(error) => (Config::default(), Some(error)),
    };
    Ok((Context::with_config(env, config, home, working_directory()?, seed), broken))
}

/// Looks at this process alone.
pub(crate) fn read_env() -> Result<Env, CommandError> {
    let vars = text_vars();
    Ok(Env {
        home: user_home(&vars)?,
        now: current_time(&vars)?,
        os: current_os(),
        zone: jiff::tz::TimeZone::system(),
        stores: BTreeMap::new(),
        projects: Vec::new(),
        vars,
    })
}

/// This program's own file.
pub(crate) fn current_program() -> Result<PathBuf, CommandError> {
    env::current_exe().map_err(|error| CommandError::new(ErrorKind::Io, error))
}

/// How many columns the user wants lines to have.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
pub(crate) fn terminal_columns() -> Option<usize> {
    env::var("COLUMNS").ok()?.parse().ok()
}

/// Variables that are text; others mean nothing to us.
fn text_vars() -> BTreeMap<String, String> {
    env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

fn user_home(vars: &BTreeMap<String, String>) -> Result<PathBuf, CommandError> {
    let name = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    let home = vars.get(name).filter(|value| !value.is_empty());
    let missing = || CommandError::new(ErrorKind::Io, format!("{name} is not set, so there is no home to look in"));
    home.map(PathBuf::from).ok_or_else(missing)
}

/// A clock for commands that run on; one that was set stands still.
pub(crate) fn make_clock(context: &Context) -> impl Fn() -> Timestamp + Send + Sync + 'static {
    let (start, vars) = (context.env.now, context.env.vars.clone());
    move || current_time(&vars).unwrap_or(start)
}

#[expect(clippy::disallowed_methods, reason = "this is where the clock is read")]
fn current_time(vars: &BTreeMap<String, String>) -> Result<Timestamp, CommandError> {
    match vars.get(CARRYOVER_NOW) {
        None => Ok(Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())),
        Some(text) => Timestamp::parse(text)
            .ok_or_else(|| CommandError::usage(format!("{CARRYOVER_NOW} is not a time as 2026-11-15T09:00:00Z"))),
    }
}

fn read_seed(vars: &BTreeMap<String, String>) -> Result<u128, CommandError> {
    match vars.get(CARRYOVER_SEED) {
        None => Ok(random_seed()),
        Some(text) => text.parse().map_err(|_| CommandError::usage(format!("{CARRYOVER_SEED} is not a whole number"))),
    }
}

/// Fresh randomness for ids.
pub(crate) fn random_seed() -> u128 {
    uuid::Uuid::new_v4().as_u128()
}

/// A secret that nobody can guess.
pub(crate) fn random_token() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

/// Surroundings for work that goes on for days: each time with the time, the settings and the randomness of the moment.
/// Settings that are broken meanwhile are the last that were not.
pub(crate) fn make_contexts(context: &Context) -> MakeContext {
    let base = context.clone();
    let last_config = Mutex::new(context.config.clone());
    Arc::new(move || {
        let mut env = base.env.clone();
        env.now = current_time(&env.vars).unwrap_or(env.now);
        let mut last = last_config.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(config) = config::load(&base.home, &env.home) {
            *last = config;
        }
        env.stores.clear();
        env.projects.clear();
        let seed = if env.vars.contains_key(CARRYOVER_SEED) { base.seed } else { random_seed() };
        Context::with_config(env, last.clone(), base.home.clone(), base.cwd.clone(), seed)
    })
}

/// How many processes above us are looked at.
const MAX_ANCESTORS: usize = 6;

/// The processes above this one, the nearest first; none where the system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn list_ancestors() -> Vec<CallerProcess> {
    let mut ancestors = Vec::new();
    let mut process = parent_process("self");
    while let Some(id) = process.filter(|id| id != "0" && ancestors.len() < MAX_ANCESTORS) {
        let bytes = fs_err::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        let words = bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
        let words = words.filter(|word| !word.is_empty()).collect();
        ancestors.push(CallerProcess { words, reads_terminal: reads_terminal(&id) });
        process = parent_process(&id);
    }
    ancestors
}

/// Whether the input of a process is a terminal, by the name of what it leads to.
#[cfg(target_os = "linux")]
fn reads_terminal(id: &str) -> Option<bool> {
    let input = fs_err::read_link(format!("/proc/{id}/fd/0")).ok()?;
    let is_terminal =
        |device: &str| ["/dev/pts/", "/dev/tty", "/dev/console"].iter().any(|name| device.starts_with(name));
    Some(input.to_str().is_some_and(is_terminal))
}

/// The parent of a process: the second field behind its name, which may hold anything.
#[cfg(target_os = "linux")]
fn parent_process(id: &str) -> Option<String> {
    let stat = fs_err::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1).map(str::to_owned)
}

/// Elsewhere the system's own program is asked; words are taken apart at spaces.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn list_ancestors() -> Vec<CallerProcess> {
    let mut ancestors = Vec::new();
    let mut id = std::os::unix::process::parent_id().to_string();
    while id != "0" && ancestors.len() < MAX_ANCESTORS {
        let asked = std::process::Command::new("/bin/ps").args(["-o", "ppid=,args=", "-p", &id]).output();
        let Ok(answer) = asked else { break };
        let text = String::from_utf8_lossy(&answer.stdout).into_owned();
        let mut words = text.split_whitespace().map(str::to_owned);
        let Some(parent) = words.next() else { break };
        ancestors.push(CallerProcess { words: words.collect(), reads_terminal: None });
        id = parent;
    }
    ancestors
}

#[cfg(not(unix))]
pub(crate) fn list_ancestors() -> Vec<CallerProcess> {
    Vec::new()
}

/// Leaves the terminal's session, so that its end is not ours. Where that fails, we are in no such session.
#[cfg(unix)]
pub(crate) fn leave_session() {
    rustix::process::setsid().ok();
}

#[cfg(not(unix))]
pub(crate) fn leave_session() {}

fn current_os() -> Os {
    match env::consts::OS {
        "macos" => Os::MacOs,
        "windows" => Os::Windows,
        _ => Os::Linux,
    }
}

fn working_directory() -> Result<PathBuf, CommandError> {
    let error = |error| CommandError::new(ErrorKind::Io, error);
    Ok(resolve_path(&env::current_dir().map_err(error)?))
}

/// A path without links; one that does not exist stays as it is.
pub(crate) fn resolve_path(path: &Path) -> PathBuf {
    // What is not there yet is in a folder that is.
    let existing = path.ancestors().find(|above| above.exists()).unwrap_or(path);
    let Ok(real) = fs_err::canonicalize(existing) else { return path.to_path_buf() };
    let path = match path.strip_prefix(existing) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    };
    // Windows answers with a prefix that no client writes.
    match path.to_str().and_then(|text| text.strip_prefix(r"\\?\")) {
        Some(rest) if !rest.starts_with("UNC") => PathBuf::from(rest),
        _ => path,
    }
}
