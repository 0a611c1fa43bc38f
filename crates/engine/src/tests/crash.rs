//! The disk stops at every step: by an error, or because the power is gone.

use std::io;
use std::path::{Path, PathBuf};

use carryover_agents::{Facts, NewRow, POINTER_FILES, VendorCommand, all_facts};
#[cfg(unix)]
use carryover_agents::{Placement, Target};
#[cfg(unix)]
use carryover_core::transcript::SessionId;

use super::fake::{BETA, BOTH};
use super::world::{World, undo_fake};
use crate::carry::resume::ResumeError;
use crate::context::Context;
#[cfg(unix)]
use crate::handoff::context_file::{ContextFile, write_context_file_on};
use crate::memory::sync::apply_sync_on;
use crate::memory::sync_plan::{SyncRequest, plan_sync};
use crate::own::files::TEMP_PREFIX;
use crate::own::fingerprint::Fingerprint;
use crate::write::disk::{Disk, NewFile, RealDisk};
use crate::write::journal::{self, Lines, Rows};
use crate::write::lines::LinesError;
use crate::write::new_rows::AddRowsError;
use crate::write::rows::RowsError;
use crate::write::run::RunError;
use crate::write::undo::{list_undoable, list_unfinished, undo_journal};

/// Stops at a step, counted down.
pub(super) struct FailingDisk {
    pub(super) steps_left: usize,
    /// Nothing works any more once it has stopped.
    pub(super) for_good: bool,
    pub(super) stopped: bool,
}

impl FailingDisk {
    fn count_step(&mut self) -> io::Result<()> {
        if self.stopped && self.for_good {
            return Err(io::Error::other("the power is gone"));
        }
        if self.steps_left == 0 && !self.stopped {
            self.stopped = true;
            return Err(io::Error::other("no space"));
        }
        self.steps_left = self.steps_left.saturating_sub(1);
        Ok(())
    }
}

impl Disk for FailingDisk {
    fn write_own(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.count_step()?;
        RealDisk.write_own(path, bytes)
    }

    fn replace_shared(&mut self, path: &Path, bytes: &[u8], project: &Path) -> io::Result<()> {
        self.count_step()?;
        RealDisk.replace_shared(path, bytes, project)
    }

    fn create_folder(&mut self, path: &Path, private: bool) -> io::Result<()> {
        self.count_step()?;
        RealDisk.create_folder(path, private)
    }

    fn stage(&mut self, folder: &Path, mark: &str, new: &NewFile<'_>) -> io::Result<PathBuf> {
        // A crash in the middle leaves half a file.
        self.count_step().inspect_err(|_| {
            if self.for_good {
                let half = NewFile { bytes: &new.bytes[..new.bytes.len() / 2], ..*new };
                RealDisk.stage(folder, mark, &half).unwrap();
            }
        })?;
        RealDisk.stage(folder, mark, new)
    }

    fn publish(&mut self, staged: &Path, path: &Path) -> io::Result<()> {
        self.count_step()?;
        RealDisk.publish(staged, path)
    }

    fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        self.count_step()?;
        RealDisk.remove_file(path)
    }

    fn remove_folder(&mut self, path: &Path) -> io::Result<()> {
        self.count_step()?;
        RealDisk.remove_folder(path)
    }

    fn run(&mut self, run: &VendorCommand, context: &Context) -> Result<(), RunError> {
        self.count_step().map_err(RunError::Start)?;
        RealDisk.run(run, context)
    }

    fn insert_rows(&mut self, database: &Path, rows: &[(&NewRow, Option<Fingerprint>)]) -> Result<(), AddRowsError> {
        self.count_step().map_err(|_| AddRowsError::Locked(database.to_owned()))?;
        RealDisk.insert_rows(database, rows)
    }

    fn delete_rows(&mut self, rows: &[Rows]) -> Result<(), RowsError> {
        RealDisk.delete_rows(rows)
    }

    fn append_line(&mut self, lines: &Lines, line: &str) -> io::Result<()> {
        self.count_step()?;
        RealDisk.append_line(lines, line)
    }

    fn remove_lines(&mut self, lines: &[Lines]) -> Result<(), LinesError> {
        RealDisk.remove_lines(lines)
    }
}

/// Resumes on a disk that stops after some steps; `None` when it had enough of them.
fn stopped_after(left: usize, for_good: bool) -> Option<(World, super::world::FileTree)> {
    let mut world = World::new();
    world.write_sample();
    let before = world.read_tree();
    let mut disk = FailingDisk { steps_left: left, for_good, stopped: false };
    match world.try_resume(&mut disk, "aaaa1111", &World::resume_options(&BETA)) {
        Ok(_) => None,
        Err(error) => {
            assert!(matches!(error, ResumeError::Write { .. }), "{error}");
            Some((world, before))
        }
    }
}

#[test]
fn an_error_at_any_step_takes_everything_back() {
    let mut steps = 0;
    while let Some((world, before)) = stopped_after(steps, false) {
        assert_eq!(world.read_tree(), before, "after {steps} steps");
        assert!(list_undoable(&world.context).is_empty(), "after {steps} steps");
        steps += 1;
    }
    assert!(steps > 8, "{steps}");
}

#[test]
fn a_crash_at_any_step_leaves_whole_files_and_can_be_put_right() {
    let mut steps = 0;
    while let Some((world, before)) = stopped_after(steps, true) {
        for (path, bytes) in world.read_tree() {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let known = before.get(&path).is_some_and(|old| *old == bytes);
            let whole = bytes.is_none() || name.starts_with(TEMP_PREFIX) || is_whole(&path);
            assert!(known || whole, "{} after {steps} steps", path.display());
        }
        if list_unfinished(&world.context).is_empty() {
            assert_eq!(world.read_tree(), before, "nothing was begun after {steps} steps");
        } else {
            undo_fake(&world.context, None, false).unwrap();
            assert_eq!(world.read_tree(), before, "after {steps} steps");
        }
        assert!(list_unfinished(&world.context).is_empty());
        steps += 1;
    }
    assert!(steps > 8, "{steps}");
}

fn is_whole(path: &Path) -> bool {
    let text = fs_err::read_to_string(path).unwrap();
    text == "extra" || text.lines().last().unwrap().contains("\"s\":\"done\"")
}

#[test]
fn the_next_resume_puts_a_crash_right() {
    let mut steps = 0;
    while let Some((mut world, _)) = stopped_after(steps, true) {
        let crashed = list_unfinished(&world.context).len();
        let report = world.resume("aaaa1111", &BETA);
        assert_eq!(report.warnings.len(), crashed + 1, "{:?}", report.warnings);
        let sessions = fs_err::read_dir(world.path("home/.beta/sessions")).unwrap().count();
        assert_eq!(sessions, 1, "after {steps} steps");
        undo_fake(&world.context, None, false).unwrap();
        steps += 1;
    }
}

#[test]
fn a_crashed_resume_that_somebody_used_is_theirs() {
    // Everything is in place, and the last word of the journal is missing.
    let mut steps = 0;
    let mut last = None;
    while let Some((world, _)) = stopped_after(steps, true) {
        last = Some(world);
        steps += 1;
    }
    let mut world = last.unwrap();
    let crashed = list_unfinished(&world.context).remove(0);
    let file = world.path(&format!("home/.beta/sessions/{}.beta.jsonl", crashed.session));
    World::append_lines(&file, &[r#"{"t":"prompt","s":"used"}"#]);
    world.resume("aaaa1111", &BETA);
    assert!(file.exists());
    assert!(list_unfinished(&world.context).is_empty());
    assert_eq!(list_undoable(&world.context).len(), 2);
}

/// Leaves a brief in a project that git knows, on a disk that stops after some steps.
#[cfg(unix)]
fn brief_stopped_after(left: usize, for_good: bool) -> Option<World> {
    let mut world = World::new();
    world.context.env.vars.insert("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
    let list = world.write_file("project/.gitignore", "target");
    let project = world.path("project");
    let git = std::process::Command::new("git").args(["init", "-q"]).current_dir(&project).status();
    assert!(git.unwrap().success());
    let taker = Target::all().find(|taker| taker.placement == Placement::StartFile).unwrap();
    let session = SessionId("aaaa1111".into());
    let leaving = ContextFile {
        target: &taker,
        project: &project,
        agent: "alpha",
        session: &session,
        title: None,
        text: "brief",
        dry_run: false,
    };
    let mut disk = FailingDisk { steps_left: left, for_good, stopped: false };
    let is_done = write_context_file_on(&mut disk, &world.context, &leaving).is_ok();
    if is_done {
        assert_eq!(World::read_lines(&list), ["target", "# Carryover (auto-added)", ".carryover/"]);
    }
    (!is_done).then_some(world)
}

#[cfg(unix)]
#[test]
fn a_brief_that_stops_anywhere_leaves_the_users_list_as_it_was() {
    let list = |world: &World| fs_err::read_to_string(world.path("project/.gitignore")).unwrap();
    let mut steps = 0;
    while let Some(world) = brief_stopped_after(steps, false) {
        assert_eq!(list(&world), "target", "after {steps} steps");
        steps += 1;
    }
    assert!(steps > 3, "{steps}");
    for left in 0..steps {
        let world = brief_stopped_after(left, true).unwrap();
        if !list_unfinished(&world.context).is_empty() {
            undo_fake(&world.context, None, false).unwrap();
        }
        assert_eq!(list(&world), "target", "after {left} steps");
    }
}

/// Makes files of instructions follow the common one, on a disk that stops after some steps. Before it, one of them held
/// what an earlier sync had put there.
fn sync_stopped_after(left: usize, for_good: bool) -> Option<World> {
    let mut world = World::new();
    let [common, importing, only] = [0, 1, 2].map(|at: usize| format!("project/{}", POINTER_FILES[at].name));
    world.write_file(&common, "rules");
    world.write_file(&importing, "mine");
    let project = world.path("project");
    let agents: Vec<&Facts> = all_facts().collect();
    let mut sync = |disk: &mut dyn Disk, from: &str| {
        world.context.seed += 1 << 96;
        let request = SyncRequest { project: &project, from: Some(from), agents: &agents };
        let plan = plan_sync(&world.context, &request).unwrap();
        apply_sync_on(disk, &world.context, &plan).map(|_| plan.changes.len())
    };
    assert_eq!(sync(&mut RealDisk, POINTER_FILES[1].name).unwrap(), 2);
    assert!(project.join(POINTER_FILES[2].name).exists(), "{only}");
    let mut disk = FailingDisk { steps_left: left, for_good, stopped: false };
    let is_done = sync(&mut disk, POINTER_FILES[0].name).is_ok();
    (!is_done).then_some(world)
}

#[test]
fn a_sync_that_stops_anywhere_leaves_every_word_and_can_be_taken_back() {
    let text =
        |world: &World, at: usize| fs_err::read_to_string(world.path("project").join(POINTER_FILES[at].name)).ok();
    let mut steps = 0;
    for for_good in [false, true] {
        let mut left = 0;
        while let Some(world) = sync_stopped_after(left, for_good) {
            let told = |at: usize| text(&world, at).unwrap();
            assert!(told(0).starts_with("rules") && told(1).starts_with("mine"), "after {left} steps");
            while !list_undoable(&world.context).is_empty() {
                undo_fake(&world.context, None, false).unwrap();
            }
            let now = [0, 1, 2].map(|at| text(&world, at));
            assert_eq!(
                now,
                [Some("rules".to_owned()), Some("mine".to_owned()), None],
                "after {left} steps, {for_good}"
            );
            left += 1;
        }
        steps += left;
    }
    assert!(steps > 8, "{steps}");
}

#[test]
fn nothing_is_unfinished_while_somebody_is_at_it() {
    let (world, _) = stopped_after(4, true).unwrap();
    assert_eq!(list_unfinished(&world.context).len(), 1);
    let _lock = crate::write::journal::Lock::acquire(&world.context).unwrap();
    assert!(list_unfinished(&world.context).is_empty());
}

#[test]
fn a_file_in_the_way_is_never_overwritten() {
    let mut world = World::new();
    world.write_sample();
    let id = format!("{:032x}", world.context.seed + (1 << 96) + 1);
    let theirs = world.write_file(&format!("home/.beta/extra/deep/{id}"), "theirs");
    let before = world.read_tree();
    let result = world.try_resume(&mut RealDisk, "aaaa1111", &World::resume_options(&BETA));
    assert!(matches!(result, Err(ResumeError::Write { path, .. }) if path == theirs));
    assert_eq!(world.read_tree(), before);
}

#[test]
fn whatever_fails_while_a_resume_is_taken_back_is_told() {
    for left in 0.. {
        let mut world = World::new();
        world.write_sample();
        world.resume("aaaa1111", &BETA);
        let mut journal = journal::read_all(&world.context).remove(0);
        let mut disk = FailingDisk { steps_left: left, for_good: false, stopped: false };
        let result = undo_journal(BOTH, &mut disk, &world.context, &mut journal, false);
        if !disk.stopped {
            assert!(left > 4, "{left}");
            return;
        }
        let told = result.map_or_else(|error| vec![error.to_string()], |undone| undone.warnings);
        assert!(!told.is_empty(), "after {left} steps");
    }
}
