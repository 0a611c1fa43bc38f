//! Listing thousands of sessions when our own caches are warm, and the parts of it that a first frame waits for.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use carryover_agents::{Env, Os};
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::own::config::Config;
use carryover_engine::sessions::glance::{self, GlanceCache};
use carryover_engine::sessions::list::{self, Filter};
use carryover_engine::sessions::{catalog, list::Listing};
use serde_json::json;

use super::corpus::Random;
use super::figure::Figure;
use super::{Binaries, Result, child, quickest_run};

pub(super) const N_SESSIONS: u64 = 5_000;
const N_PROJECTS: u64 = 200;
/// As often as a person would not notice.
const MAX_LIST_TIME: Duration = Duration::from_millis(500);
/// The picker's first frame shows what the catalog holds.
const MAX_CATALOG_TIME: Duration = Duration::from_millis(50);
const MAX_GLANCES_TIME: Duration = Duration::from_millis(10);
const LOADS: u32 = 20;

/// Measures `list`, and loading what is remembered.
pub(super) fn measure_warm(binaries: &Binaries, folder: &Path) -> Result<Vec<Figure>> {
    let home = make_home(folder)?;
    let run = |what: &str| child::run_child(&binaries.xtask, &["bench-child", what], &home);
    run("remember")?;
    let list = || {
        let mut command = Command::new(&binaries.carryover);
        command.arg("list").current_dir(home.join("work/project-0")).env_clear().env("HOME", &home).output()
    };
    if !String::from_utf8(list()?.stdout)?.contains(" 2 ") {
        return Err("list does not tell the number of messages".into());
    }
    let time =
        |name: &str, measured, limit| Figure::from_time(format!("{name} {N_SESSIONS} sessions"), measured, limit);
    Ok(vec![
        time("list, caches warm:", quickest_run(list)?, MAX_LIST_TIME),
        time("load the catalog of", run("catalog")?.elapsed, MAX_CATALOG_TIME),
        time("load the glances at", run("glances")?.elapsed, MAX_GLANCES_TIME),
    ])
}

/// The child's side: the work by its name, and how long it took at its quickest; none where it is not of this file.
pub(super) fn do_work(what: &str, home: &Path) -> Result<Option<Duration>> {
    let context = make_context(home);
    match what {
        "remember" => remember_all(&context).map(|()| Some(Duration::ZERO)),
        "catalog" => quickest_load(|| catalog::load_listing(&context).map(|listing| listing.sessions.len())).map(Some),
        "glances" => {
            let listing = catalog::load_listing(&context).ok_or("no catalog")?;
            let (first, last) = (&listing.sessions[0], &listing.sessions[listing.sessions.len() - 1]);
            quickest_load(|| {
                let glances = GlanceCache::load(&context);
                let is_known = [first, last].iter().all(|session| glances.find(&session.found.source).is_some());
                is_known.then_some(listing.sessions.len())
            })
            .map(Some)
        }
        _ => Ok(None),
    }
}

/// The quickest of some loads, each of which has to give all sessions.
fn quickest_load(load: impl Fn() -> Option<usize>) -> Result<Duration> {
    let mut best = Duration::MAX;
    for _ in 0..LOADS {
        let start = Instant::now();
        let n_sessions = black_box(load());
        best = best.min(start.elapsed());
        if n_sessions != usize::try_from(N_SESSIONS).ok() {
            return Err(format!("{n_sessions:?} of {N_SESSIONS} sessions were remembered").into());
        }
    }
    Ok(best)
}

fn remember_all(context: &Context) -> Result<()> {
    let Listing { mut sessions, failures, drifted } = list::list_sessions(context, &Filter::default());
    glance::look_at_sessions(context, &mut sessions, &|| false);
    Ok(catalog::save_listing(context, &Listing { sessions, failures, drifted })?)
}

pub(super) fn make_context(home: &Path) -> Context {
    let env = Env {
        home: home.to_owned(),
        vars: BTreeMap::new(),
        os: Os::Linux,
        now: Timestamp::from_millis(1_800_000_000_000),
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::new(),
        projects: Vec::new(),
    };
    Context::with_config(env, Config::default(), home.join(".carryover"), home.join("work/project-0"), 0)
}

/// A home with many small sessions of many projects, kept for the next run.
pub(super) fn make_home(folder: &Path) -> Result<PathBuf> {
    let home = fs_err::canonicalize(folder)?.join(format!("small-{N_SESSIONS}"));
    let done = home.join("done");
    if done.exists() {
        return Ok(home);
    }
    let mut random = Random::new(5);
    for number in 0..N_SESSIONS {
        let project = home.join(format!("work/project-{}", number % N_PROJECTS));
        let store = home.join(format!(".claude/projects/-work-project-{}", number % N_PROJECTS));
        fs_err::create_dir_all(project.join(".git"))?;
        fs_err::create_dir_all(&store)?;
        let id = format!("{number:08x}-0000-4000-8000-000000000001");
        let at = Timestamp::from_millis(1_790_000_000_000 + i64::try_from(number)? * 60_000).to_string();
        let (asked, answered) = (format!("{id}-1"), format!("{id}-2"));
        let prompt = json!({ "type": "user", "uuid": asked, "parentUuid": null, "sessionId": id, "cwd": project,
            "version": "2.1.325", "gitBranch": "main", "isSidechain": false, "timestamp": at,
            "message": { "role": "user", "content": random.next_text(400) } });
        let reply = json!({ "type": "assistant", "uuid": answered, "parentUuid": asked, "sessionId": id, "cwd": project,
            "version": "2.1.325", "gitBranch": "main", "isSidechain": false, "timestamp": at, "message": { "id": "msg_1",
            "type": "message", "role": "assistant", "model": "claude-opus-5-5",
            "content": [{ "type": "text", "text": random.next_text(800) }] } });
        fs_err::write(store.join(format!("{id}.jsonl")), format!("{prompt}\n{reply}\n"))?;
    }
    fs_err::write(&done, "")?;
    Ok(home)
}
