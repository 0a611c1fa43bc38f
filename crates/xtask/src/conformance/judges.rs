//! Sessions that real clients wrote, carried to an agent of which no client runs here: its vendor's own code opens what was
//! written, and must show all that the user and the agent said. It opens that agent's fixtures as well, and must show what we
//! read of them.

use std::path::{Path, PathBuf};

use carryover_testkit::agents::{JUDGES, LABS};
use carryover_testkit::client::{ClientError, InstalledJudge, Launch, RUN_LIMIT, ShownItem, ShownKind, StoreJudge};
use carryover_testkit::lab::Lab;
use fs_err as fs;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::walk::{self, WalkOutcome};
use super::{ConformanceError, Options, judges_page, plan};

/// A session and who reads it.
pub(super) struct JudgedSession {
    judge: &'static StoreJudge,
    pub(super) lab: &'static Lab,
    pub(super) fixture: &'static str,
}

impl JudgedSession {
    fn name(&self) -> String {
        format!("{} · {} → {}", self.lab.name, self.label(), self.judge.agent)
    }

    /// The fixture without the names that its client gave to folders.
    pub(super) fn label(&self) -> &'static str {
        if self.is_own() { self.fixture.split('/').next().unwrap_or(self.fixture) } else { self.fixture }
    }

    /// Whether the judge's own agent is said to have written it.
    fn is_own(&self) -> bool {
        self.lab.id == self.judge.agent
    }
}

/// What the vendor's code showed of what there was.
pub(super) struct JudgedOutcome {
    pub(super) judge: String,
    pub(super) prompts: SpokenCount,
    pub(super) replies: SpokenCount,
    /// Commands that were shown, and those that no call of the session has.
    pub(super) commands: usize,
    strange_commands: usize,
}

/// How many of so many were shown as they were said, in their order.
#[derive(Clone, Copy)]
pub(super) struct SpokenCount {
    pub(super) shown: usize,
    pub(super) said: usize,
    is_same: bool,
}

impl WalkOutcome for JudgedOutcome {
    fn findings(&self) -> Vec<String> {
        let wrong = |what: &str, shown: SpokenCount| {
            (!shown.is_same).then(|| format!("{what}: {} shown of {}, or not as they were", shown.shown, shown.said))
        };
        let strange = (self.strange_commands > 0).then(|| format!("{} commands were never run", self.strange_commands));
        [wrong("prompts", self.prompts), wrong("replies", self.replies), strange].into_iter().flatten().collect()
    }
}

/// The part of `carryover resume --json` that is needed.
#[derive(Deserialize)]
struct Resumed {
    files: Vec<PathBuf>,
}

/// The part of `carryover show --json` that is needed.
#[derive(Deserialize)]
struct Session {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    kind: String,
    #[serde(default)]
    live: bool,
    origin: String,
    #[serde(default)]
    parts: Vec<Part>,
    #[serde(default)]
    input: serde_json::Value,
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

impl Entry {
    fn words(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(|part| part.text.as_deref()).collect();
        texts.join("\n\n").trim().to_owned()
    }
}

/// Installs the vendors' packages.
pub(super) fn install_all(options: &Options) -> Result<(), ConformanceError> {
    JUDGES.iter().try_for_each(|judge| judge.find_or_install(&options.clients).map(drop).map_err(Into::into))
}

/// Has every session judged, and checks or writes the page.
pub(super) fn run_walks(options: &Options) -> Result<(), ConformanceError> {
    let sessions = list_sessions(options);
    if sessions.is_empty() {
        return Err(ConformanceError::NothingToRun);
    }
    let rows =
        walk::run_rows(options, "judges", &sessions, JudgedSession::name, |session| judge_once(options, session));
    judges_page::check_or_write(options, &sessions, &rows)?;
    walk::check_rows(&rows)
}

/// The sessions with tools of every agent whose client was run, and the fixtures of the judge's own.
fn list_sessions(options: &Options) -> Vec<JudgedSession> {
    let of_judge = |judge: &'static StoreJudge| {
        let others = LABS.iter().filter(move |lab| lab.id != judge.agent && !lab.pins().is_empty());
        let carried = others.flat_map(move |lab| {
            lab.loose_files.iter().map(move |file| JudgedSession { judge, lab, fixture: file.fixture })
        });
        let own = LABS.iter().filter(move |lab| lab.id == judge.agent);
        let read =
            own.flat_map(move |lab| judge.fixtures.iter().map(move |&fixture| JudgedSession { judge, lab, fixture }));
        carried.chain(read)
    };
    let all = JUDGES.iter().flat_map(|judge| of_judge(judge));
    all.filter(|session| plan::matches_filter(options.from.as_ref(), session.lab.id)).collect()
}

fn judge_once(options: &Options, session: &JudgedSession) -> Result<JudgedOutcome, ConformanceError> {
    let judge = session.judge.find_or_install(&options.clients)?;
    let scratch = tempfile::tempdir()?;
    let home = fs::canonicalize(scratch.path())?;
    let project = home.join("project");
    fs::create_dir_all(&project)?;
    let file = copy_fixture(options, session, &home)?;
    let carryover = |args: &[&str]| -> Result<String, ClientError> {
        let env = [("HOME", home.display().to_string()), ("PATH", "/usr/bin:/bin".to_owned())];
        let env = env.into_iter().map(|(name, value)| (name.to_owned(), value));
        let launch = Launch::new(&options.carryover, &project).args(args.iter().copied()).env(env);
        Ok(launch.run_to_success(RUN_LIMIT)?.stdout)
    };
    let (store, folder) = (&file, project.display().to_string());
    let file = file.display().to_string();
    let told: Session = parse(&carryover(&["show", &file, "--json", "--no-redact"])?)?;
    if session.is_own() {
        return Ok(compare(session.judge, &told, &judge.read_store(store, &project)?));
    }
    let target = ["resume", &file, "--target", session.judge.agent, "--project", &folder];
    let resumed: Resumed = parse(&carryover(&[&target[..], &["--json", "--yes", "--no-redact"]].concat())?)?;
    let shown = read_first(&judge, &resumed.files, &project)?;
    Ok(compare(session.judge, &told, &shown))
}

fn parse<T: DeserializeOwned>(text: &str) -> Result<T, ClientError> {
    Ok(serde_json::from_str(text)?)
}

/// The file of the session is named first.
fn read_first(judge: &InstalledJudge, files: &[PathBuf], project: &Path) -> Result<Vec<ShownItem>, ClientError> {
    let store = files.first().ok_or_else(|| ClientError::Unexpected {
        path: project.to_owned(),
        message: "no file was written".to_owned(),
    })?;
    judge.read_store(store, project)
}

/// A copy of the session, where its client would have it; of a store, with what stands around it.
fn copy_fixture(options: &Options, session: &JudgedSession, home: &Path) -> Result<PathBuf, ConformanceError> {
    let fixture = fixture_path(options, session);
    if session.is_own() {
        let inside = Path::new(session.fixture).strip_prefix(session.label()).unwrap_or(Path::new(session.fixture));
        let root = fixture.ancestors().nth(inside.components().count()).unwrap_or(&fixture);
        copy_folder(root, home)?;
        return Ok(home.join(inside));
    }
    let named = session.lab.loose_files.iter().find(|file| file.fixture == session.fixture);
    let file = home.join(named.map_or("s", |file| file.name));
    fs::copy(fixture, &file)?;
    Ok(file)
}

fn copy_folder(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn fixture_path(options: &Options, session: &JudgedSession) -> PathBuf {
    let workspace = options.output.ancestors().nth(2).unwrap_or(Path::new("."));
    let folder = session.lab.id.replace('-', "_");
    workspace.join("crates/agents/src").join(folder).join("fixtures").join(session.fixture)
}

fn compare(judge: &StoreJudge, told: &Session, shown: &[ShownItem]) -> JudgedOutcome {
    let said = |kind: &str, origin: &str| -> Vec<String> {
        let meant = told.entries.iter().filter(|entry| entry.live && entry.kind == kind && entry.origin == origin);
        meant.map(Entry::words).filter(|words| !words.is_empty()).collect()
    };
    let read = |kind: ShownKind| -> Vec<String> {
        shown.iter().filter(|item| item.kind == kind).map(|item| item.text.trim().to_owned()).collect()
    };
    let count = |said: Vec<String>, shown: Vec<String>| SpokenCount {
        shown: shown.len(),
        said: said.len(),
        is_same: said == shown,
    };
    let commands = read(ShownKind::Command);
    let inputs: Vec<String> = told.entries.iter().map(|entry| entry.input.to_string()).collect();
    let is_known = |command: &&String| {
        let spelt = serde_json::Value::from(command.as_str()).to_string();
        inputs.iter().any(|input| input.contains(spelt.trim_matches('"')))
    };
    JudgedOutcome {
        judge: judge.label(),
        prompts: count(said("prompt", "user"), read(ShownKind::Prompt)),
        replies: count(said("reply", "agent"), read(ShownKind::Reply)),
        strange_commands: commands.iter().filter(|command| !is_known(command)).count(),
        commands: commands.len(),
    }
}
