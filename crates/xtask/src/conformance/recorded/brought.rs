//! A session that was brought into another home as a capsule, and what its client asks there beside what it asks at home.

use carryover_testkit::client::{CapturedRequests, Sandbox};
use carryover_testkit::request::{Item, read_items};
use carryover_testkit::scenario::WorkTurn;
use fs_err as fs;
use serde_json::Value;

use super::normalise::{Places, first_difference};
use super::{N_FURTHER_TURNS, Stage, workspace};
use crate::conformance::ConformanceError;
use crate::conformance::carryover::{Carryover, ImportOutput};
use crate::conformance::walk::WalkOutcome;
use crate::conformance::walk_page::TableCells;

/// A session in its second home.
struct BroughtSession {
    sandbox: Sandbox,
    kind: String,
    imported: ImportOutput,
}

/// What was compared, and how it came out.
#[derive(Default)]
pub(super) struct BroughtOutcome {
    /// The requests of all turns, and the messages and calls in the last of them.
    n_requests: usize,
    n_items: usize,
    n_files: usize,
    /// What the capsule is called, with what it lacks.
    pub(super) kind: String,
    pub(super) findings: Vec<String>,
}

impl WalkOutcome for BroughtOutcome {
    fn findings(&self) -> Vec<String> {
        self.findings.clone()
    }
}

impl TableCells for BroughtOutcome {
    const COUNT: usize = 3;

    fn cells(&self) -> String {
        format!("{} | {} | {} |", self.n_requests, self.n_items, self.n_files)
    }
}

impl Stage<'_> {
    /// Goes on in the home where the session was made and in another: each turn must ask the same, and leave the same files.
    pub(super) fn compare_further_turns(&self, original: &Sandbox) -> Result<BroughtOutcome, ConformanceError> {
        let session_id = self.session_id(original)?;
        let brought = self.bring_session(original, &session_id)?;
        let mut outcome = BroughtOutcome { kind: brought.kind.clone(), ..BroughtOutcome::default() };
        if !brought.imported.own_records {
            outcome.findings.push("the client was not given its own records".to_owned());
        }
        self.compare_files("after the import", original, &brought.sandbox, &mut outcome)?;
        for number in 1..=N_FURTHER_TURNS {
            let here = self.run_turn(original, self.native_handle(&session_id), number)?;
            let there = self.run_turn(&brought.sandbox, brought.imported.resume.resume_handle(), number)?;
            outcome.findings.extend(there.requests.iter().find_map(|request| find_other_home(request, original)));
            let places = Places::new(&[original, &brought.sandbox]);
            let (here, there) = (normalise_all(&places, &here), normalise_all(&places, &there));
            self.keep_requests(number, &here, &there)?;
            outcome.compare_requests(number, &here, &there);
        }
        self.compare_files("after the turns", original, &brought.sandbox, &mut outcome)?;
        Ok(outcome)
    }

    /// Exports the session and imports it where there is nothing but a clean checkout of the project.
    fn bring_session(&self, original: &Sandbox, session_id: &str) -> Result<BroughtSession, ConformanceError> {
        let capsule = self.folder.join("session.tar.zst");
        let exporter = Carryover { program: &self.options.carryover, sandbox: original };
        exporter.export(session_id, &self.client, &capsule)?;
        let kind = exporter.name_capsule(&self.client, &capsule)?;
        let sandbox = self.make_sandbox(FRESH_HOME)?;
        let carryover = Carryover { program: &self.options.carryover, sandbox: &sandbox };
        // What tells which model is used is a setting of the user's, and no part of a session.
        sandbox.configure(self.source.lab, &self.setup(), UNUSED_PORT)?;
        let imported = carryover.import(&self.client, &capsule)?;
        Ok(BroughtSession { sandbox, kind, imported })
    }

    fn run_turn(&self, sandbox: &Sandbox, handle: &str, number: usize) -> Result<CapturedRequests, ConformanceError> {
        let turn = WorkTurn::new(self.source, &sandbox.project, number);
        Ok(self.client.resume(sandbox, &self.setup(), handle, &turn.prompt, turn.turns)?)
    }

    fn compare_files(
        &self,
        when: &str,
        original: &Sandbox,
        other: &Sandbox,
        outcome: &mut BroughtOutcome,
    ) -> Result<(), ConformanceError> {
        let sessions = self.source.lab.conformance.sessions;
        let (findings, n_files) = workspace::compare_workspaces(original, other, sessions)?;
        outcome.n_files = n_files;
        outcome.findings.extend(findings.iter().map(|finding| format!("{when}: {finding}")));
        Ok(())
    }

    /// Beside the homes, for who keeps them to look into.
    fn keep_requests(&self, number: usize, here: &[Value], there: &[Value]) -> Result<(), ConformanceError> {
        for (name, requests) in [("here", here), ("there", there)] {
            let text: Vec<String> = requests.iter().map(|request| format!("{request:#}")).collect();
            fs::write(self.folder.join(format!("turn-{number}-{name}.json")), text.join("\n"))?;
        }
        Ok(())
    }
}

/// As long as the name of the other: clients count letters.
const FRESH_HOME: &str = "imported";

/// A port on which nobody listens.
const UNUSED_PORT: u16 = 9;

/// A path of the home or the project that a session comes from, in what its client says of itself elsewhere: what was said in
/// the conversation, and came back from tools, names them as it did.
fn find_other_home(request: &Value, original: &Sandbox) -> Option<String> {
    let paths = [&original.home, &original.project].map(|path| path.display().to_string());
    let is_conversation = |name: &str| ["messages", "input", "contents"].contains(&name);
    let fields = request.as_object().into_iter().flatten();
    let around =
        fields.filter(|(name, _)| !is_conversation(name)).map(|(name, value)| (name.clone(), value.to_string()));
    let said =
        read_items(request).into_iter().filter(Item::is_harness).map(|item| ("its own words".to_owned(), item.text));
    let mut texts = around.chain(said);
    let (place, _) = texts.find(|(_, text)| paths.iter().any(|path| text.contains(path.as_str())))?;
    Some(format!("the other home's path stands in {place}"))
}

fn normalise_all(places: &Places, captured: &CapturedRequests) -> Vec<Value> {
    captured.requests.iter().map(|request| places.normalise(request)).collect()
}

impl BroughtOutcome {
    fn compare_requests(&mut self, number: usize, here: &[Value], there: &[Value]) {
        let differences = here.iter().zip(there).enumerate();
        let differences =
            differences.filter_map(|(index, (here, there))| Some((index + 1, first_difference(here, there)?)));
        self.findings.extend(differences.map(|(index, told)| format!("turn {number}, request {index}: {told}")));
        if here.len() != there.len() {
            self.findings.push(format!("turn {number}: {} requests here, {} there", here.len(), there.len()));
        }
        self.n_requests += here.len();
        self.n_items = here.last().map_or(0, |last| read_items(last).len());
    }
}
