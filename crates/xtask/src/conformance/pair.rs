//! One pair: there, go on, and back again.

use std::path::Path;

use carryover_testkit::client::{Client, ClientError, Sandbox, Setup};
use carryover_testkit::lab::SessionPlace;
use carryover_testkit::request::{Comparison, Truth, compare_with_truth, flat_text};
use carryover_testkit::scenario::{FurtherTurn, PROBE};
use fs_err as fs;
use serde_json::Value;

use super::carryover::{Carryover, ResumeOutput};
use super::plan::{Case, Options};
use super::report::{Check, PairFindings, RoundTrip};
use super::store::{SessionFiles, project_files};

/// The folders and settings of one pair's run.
struct PairRun<'a> {
    case: &'a Case,
    options: &'a Options,
    sandbox: Sandbox,
    truth: Truth,
    target_setup: Setup,
}

pub(super) fn run_once(case: &Case, options: &Options) -> Result<PairFindings, ClientError> {
    let runs = options.cache.join("runs");
    fs::create_dir_all(&runs)?;
    let mut scratch = tempfile::Builder::new().prefix("pair-").tempdir_in(fs::canonicalize(runs)?)?;
    scratch.disable_cleanup(options.keep);
    let sandbox = case.made.sandbox.copy_sessions(case.made.source.lab, scratch.path())?;
    let truth = Truth::new(&case.made.truth, &case.made.facts);
    let own_sessions = case.made.source.lab == case.target.lab;
    let target_setup = Setup { own_sessions, ..case.target_kind.setup() };
    let run = PairRun { case, options, sandbox, truth, target_setup };
    run.use_target_before()?;
    let (untouched, undone) = run.check_undo()?;
    let resumed = run.carry_there()?;
    let listed = run.is_listed(&resumed, scratch.path()).unwrap_or_else(|error| Some(Err(error.to_string())));
    let further = FurtherTurn::new(&case.target_kind, &run.sandbox.project);
    let there = run.continue_in_target(&resumed, &further)?;
    let back = run.carry_back(&resumed, &further);
    let lost = resumed.lost.iter().map(|loss| format!("{} × {}", loss.count, loss.what)).collect();
    Ok(PairFindings { there, listed, back: back.map_err(|error| error.to_string()), untouched, undone, lost })
}

impl PairRun<'_> {
    fn carryover(&self) -> Carryover<'_> {
        Carryover { program: &self.options.carryover, sandbox: &self.sandbox }
    }

    /// The target was used in this project before, as on a user's machine: some clients trust their index once they have one.
    fn use_target_before(&self) -> Result<(), ClientError> {
        let Case { made, target, .. } = self.case;
        if made.source.lab != target.lab {
            if let SessionPlace::Project { prefix } = target.lab.conformance.sessions {
                // Files that an earlier run left in the project, which is the same in every run.
                for path in project_files(&self.sandbox.project, prefix)? {
                    fs::remove_file(path)?;
                }
            }
            target.start_session(&self.sandbox, &self.target_setup, "Hello from before.")?;
        }
        self.configure_for(target, &self.target_setup)
    }

    /// Nothing listens on the port: `carryover` has no business with a model.
    fn configure_for(&self, client: &Client, setup: &Setup) -> Result<(), ClientError> {
        self.sandbox.configure(client.lab, setup, 9)
    }

    fn carry_there(&self) -> Result<ResumeOutput, ClientError> {
        let Case { made, source, target, .. } = self.case;
        if made.session_id.is_empty() {
            // The client has no ids, so the session is called as `carryover` calls it.
            let session_id = self.carryover().only_session(source, target)?;
            return self.carryover().resume(&session_id, source, target);
        }
        self.carryover().resume(&made.session_id, source, target)
    }

    fn session_files(&self) -> Result<SessionFiles, ClientError> {
        SessionFiles::read(&self.sandbox, [self.case.made.source.lab, self.case.target.lab])
    }

    /// Carries once and takes it back: nothing else may have been touched, and nothing may stay.
    fn check_undo(&self) -> Result<(Check, Check), ClientError> {
        let before = self.session_files()?;
        let resumed = self.carry_there()?;
        let between = self.session_files()?;
        let untouched = to_check(between.contains_all(&before), "a session file that was there before has changed");
        if between == before {
            return Ok((untouched, Err("there was nothing to undo: no session file was added".to_owned())));
        }
        if let Err(error) = self.carryover().undo(&resumed, &self.case.source, &self.case.target) {
            return Ok((untouched, Err(error.to_string())));
        }
        let after = self.session_files()?;
        Ok((untouched, to_check(after == before, "the session files are not what they were")))
    }

    /// Whether the target's own listing shows the session, asked in a copy: asking may register it.
    fn is_listed(&self, resumed: &ResumeOutput, scratch: &Path) -> Result<Option<Check>, ClientError> {
        let copied = self.sandbox.copy_home(&scratch.join("listing"))?;
        let witness = self.truth.portable_facts().last().map_or("", |fact| fact.word.as_str());
        let listed = self.case.target.lists_session(&copied, &self.target_setup, resumed.resume_handle(), witness)?;
        Ok(listed.map(|listed| to_check(listed, "its own listing does not show the session")))
    }

    /// Goes on in the target for a turn; the first request shows what it loaded.
    fn continue_in_target(&self, resumed: &ResumeOutput, further: &FurtherTurn) -> Result<Comparison, ClientError> {
        let Case { target, .. } = self.case;
        let turns = further.turns.clone();
        let captured =
            target.resume(&self.sandbox, &self.target_setup, resumed.resume_handle(), &further.prompt, turns)?;
        Ok(self.compare_request(captured.first()))
    }

    fn compare_request(&self, request: &Value) -> Comparison {
        let lost_by_source = self.case.made.source.lab.conformance.losses;
        Comparison { lost_by_source, ..compare_with_truth(request, &self.truth) }
    }

    /// Carries the continued session back and resumes it in the client that it came from.
    fn carry_back(&self, resumed: &ResumeOutput, further: &FurtherTurn) -> Result<RoundTrip, ClientError> {
        let Case { made, source, target, .. } = self.case;
        self.configure_for(source, &made.setup)?;
        let back = self.carryover().resume(&resumed.session_id, target, source)?;
        let captured = resume_probe(source, &self.sandbox, &made.setup, back.resume_handle())?;
        let comparison = self.compare_request(&captured);
        let text = flat_text(&captured);
        let new = further.facts.iter().filter(|fact| text.contains(&fact.word)).count();
        // Not necessarily one after the other: a session may come back with calls that its client had lost.
        let mut calls = comparison.calls.iter();
        let own = self.truth.calls.iter().all(|own| calls.any(|call| call == own));
        Ok(RoundTrip { comparison, new: (new, further.facts.len()), own })
    }
}

fn to_check(good: bool, otherwise: &str) -> Check {
    if good { Ok(()) } else { Err(otherwise.to_owned()) }
}

fn resume_probe(client: &Client, sandbox: &Sandbox, setup: &Setup, session_id: &str) -> Result<Value, ClientError> {
    let captured = client.resume(sandbox, setup, session_id, PROBE, Vec::new())?;
    Ok(captured.first().clone())
}
