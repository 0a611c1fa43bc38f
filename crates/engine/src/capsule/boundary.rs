//! The boundary: under which conditions the session would have gone on.
//!
//! Every field says how it is known: *recorded* by the client at the time, *read* from the machine when the capsule was
//! made, or *unknown*. Nothing is guessed.

use std::collections::BTreeMap;
use std::path::Path;

use carryover_agents::formats::digest::{digest_prompt, digest_text};
use carryover_agents::formats::file::read_bytes;
use carryover_agents::{Agent, MemoryPlace};
use carryover_core::json::Json;
use carryover_core::live::{self, LiveItem};
use carryover_core::redact::redact_text;
use carryover_core::transcript::{Body, Header, Origin, Transcript, text_cow};
pub use carryover_core::transcript::{OfferedTool, TextDigest};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::files::expand_pattern;
use crate::memory::privacy::is_readable;
use crate::own::sha256::hex_sha256;
use crate::recording::{RecordedBoundary, RecordedTool};

pub const SCHEMA: &str = "carryover.boundary/1";
const MAX_INSTRUCTION_BYTES: u64 = 4 << 20;

/// How a fact is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Knowledge {
    Recorded,
    Read,
    Unknown,
}

/// A fact, and how it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known<T> {
    pub known: Knowledge,
    #[serde(skip_serializing_if = "Option::is_none", default = "Option::default")]
    pub value: Option<T>,
}

impl<T> Known<T> {
    pub const UNKNOWN: Self = Self { known: Knowledge::Unknown, value: None };

    /// What a client wrote down, if it did.
    pub fn recorded(value: Option<T>) -> Self {
        value.map_or(Self::UNKNOWN, |value| Self { known: Knowledge::Recorded, value: Some(value) })
    }

    /// What was found on the machine, if anything was.
    pub fn read(value: Option<T>) -> Self {
        value.map_or(Self::UNKNOWN, |value| Self { known: Knowledge::Read, value: Some(value) })
    }
}

/// The conditions of a session at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boundary {
    pub schema: String,
    pub client_version: Known<String>,
    /// The form in which the client was started: its terminal program, a library, an editor.
    pub entrypoint: Known<String>,
    /// The command that the user began with.
    pub command: Known<String>,
    pub model: Known<String>,
    /// All models that spoke, in the order in which they first did.
    pub models: Known<Vec<String>>,
    /// Through whom the model was reached.
    pub routing: Known<String>,
    pub sampling: Known<BTreeMap<String, Value>>,
    pub system_prompt: Known<TextDigest>,
    /// The mode of permissions that was set last; so are those below.
    pub permission_mode: Known<String>,
    pub approval_policy: Known<String>,
    pub sandbox: Known<String>,
    pub permission_rules: Known<Vec<String>>,
    pub output_style: Known<String>,
    /// What the agent's model is told from files.
    pub instruction_files: Known<Vec<FileDigest>>,
    /// The tools that the model was offered.
    pub tools: Known<Vec<OfferedTool>>,
    /// The tools that were called, and how often.
    pub tools_used: Known<BTreeMap<String, u64>>,
    pub compaction: Known<CompactionState>,
    /// What the harness told the model in the user's place.
    pub reminders: Known<Vec<TextDigest>>,
    pub git: Known<GitPosition>,
    /// The branch as the client wrote it down.
    pub branch: Known<String>,
    /// A digest over all that stands above.
    pub config_hash: String,
}

/// A file of the project by its digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    pub path: String,
    pub bytes: u64,
    pub sha256: String,
}

/// What compactions have left of the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionState {
    /// How often the context was begun anew.
    pub count: u64,
    /// A summary stands in the context.
    pub summary_in_context: bool,
    pub entries_in_context: u64,
    pub entries_before: u64,
}

/// Where a repository was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitPosition {
    pub commit: Option<String>,
    pub branch: Option<String>,
}

impl Boundary {
    /// Takes down what the session's records tell, and what its project and the agent's settings show.
    pub(super) fn from_session(
        agent: &dyn Agent,
        transcript: &Transcript,
        project: Option<&Path>,
        git: Option<GitPosition>,
        rules: Option<Vec<String>>,
    ) -> Self {
        let Header { model, models, client_version, branch, start_settings: start, .. } = &transcript.header;
        let last = transcript.header.conditions.clone();
        let some_list = |list: &[String]| (!list.is_empty()).then(|| list.to_vec());
        let reminders = Some(digest_reminders(transcript)).filter(|reminders| !reminders.is_empty());
        let recorded = last.commit.map(|commit| GitPosition { commit: Some(commit), branch: branch.clone() });
        let git = if recorded.is_some() { Known::recorded(recorded) } else { Known::read(git) };
        let sampling = |settings: BTreeMap<String, Json>| {
            settings.into_iter().map(|(name, value)| (name, value.to_value())).collect()
        };
        let boundary = Self {
            schema: SCHEMA.to_owned(),
            client_version: Known::recorded(client_version.clone()),
            entrypoint: Known::recorded(start.entrypoint.clone()),
            command: Known::recorded(start.command.clone()),
            model: Known::recorded(model.clone()),
            models: Known::recorded(some_list(models)),
            routing: Known::recorded(last.routing),
            sampling: Known::recorded(last.sampling.map(sampling)),
            system_prompt: Known::recorded(last.system_prompt),
            permission_mode: Known::recorded(last.permission_mode),
            approval_policy: Known::recorded(last.approval_policy),
            sandbox: Known::recorded(last.sandbox),
            permission_rules: last.permission_rules.map_or(Known::read(rules), |told| Known::recorded(Some(told))),
            output_style: Known::recorded(last.output_style),
            instruction_files: Known::read(project.map(|project| digest_instructions(agent, project))),
            tools: Known::recorded(last.tools),
            tools_used: Known::recorded(Some(count_calls(transcript))),
            compaction: Known::recorded(Some(CompactionState::from_transcript(transcript))),
            reminders: Known::recorded(reminders),
            git,
            branch: Known::recorded(branch.clone()),
            config_hash: String::new(),
        };
        boundary.with_hash()
    }

    /// The same with what a recording of the session tells exactly.
    #[must_use]
    pub(super) fn with_recorded(mut self, recorded: RecordedBoundary) -> Self {
        let RecordedBoundary { upstream, model, system_prompt, tools, sampling, .. } = recorded;
        let offered = |tool: RecordedTool| OfferedTool { name: tool.name, schema_sha256: Some(tool.schema_sha256) };
        self.routing = Known::recorded(Some(upstream));
        self.system_prompt = Known::recorded(digest_prompt(&system_prompt));
        self.tools = Known::recorded(Some(tools.into_iter().map(offered).collect()));
        self.sampling = Known::recorded(Some(sampling.into_iter().collect()));
        if model.is_some() {
            self.model = Known::recorded(model);
        }
        self.with_hash()
    }

    /// Gives it the digest that its fields have: for who has changed one.
    #[must_use]
    pub fn with_hash(mut self) -> Self {
        self.config_hash = self.compute_hash();
        self
    }

    /// The digest over everything but the digest.
    pub(super) fn compute_hash(&self) -> String {
        let unnamed = Self { config_hash: String::new(), ..self.clone() };
        hex_sha256(&serde_json::to_vec(&unnamed).unwrap_or_default())
    }

    /// The same with its secrets masked: a command or a rule may hold one.
    #[must_use]
    pub(super) fn redacted(mut self) -> Self {
        let texts = [
            &mut self.entrypoint,
            &mut self.command,
            &mut self.model,
            &mut self.routing,
            &mut self.permission_mode,
            &mut self.approval_policy,
            &mut self.sandbox,
            &mut self.output_style,
            &mut self.branch,
        ];
        texts.into_iter().filter_map(|known| known.value.as_mut()).for_each(mask);
        for list in [&mut self.permission_rules, &mut self.models] {
            list.value.iter_mut().flatten().for_each(mask);
        }
        if let Some(branch) = self.git.value.as_mut().and_then(|git| git.branch.as_mut()) {
            mask(branch);
        }
        self.sampling.value.iter_mut().flat_map(BTreeMap::values_mut).for_each(mask_json);
        self.with_hash()
    }
}

fn mask_json(value: &mut Value) {
    match value {
        Value::String(text) => mask(text),
        Value::Array(items) => items.iter_mut().for_each(mask_json),
        Value::Object(members) => members.values_mut().for_each(mask_json),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn mask(text: &mut String) {
    if let std::borrow::Cow::Owned(masked) = redact_text(text) {
        *text = masked;
    }
}

impl CompactionState {
    fn from_transcript(transcript: &Transcript) -> Self {
        let live = live::resolve_context(transcript);
        let history = live::full_history(transcript);
        let count = history.iter().filter(|index| matches!(transcript.entries[**index].body, Body::Compacted(_)));
        let is_summary = |item: &LiveItem| match item {
            LiveItem::Entry(index) => transcript.entries[*index].body.whole_kind() == "summary",
            LiveItem::Answer { .. } => false,
        };
        let count = count.count() as u64;
        let entries_before = (history.len() as u64).saturating_sub(count).saturating_sub(live.len() as u64);
        Self {
            count,
            summary_in_context: live.iter().any(is_summary),
            entries_in_context: live.len() as u64,
            entries_before: if count == 0 { 0 } else { entries_before },
        }
    }
}

fn count_calls(transcript: &Transcript) -> BTreeMap<String, u64> {
    let mut used = BTreeMap::new();
    for index in live::full_history(transcript) {
        if let Body::Call(call) = &transcript.entries[index].body {
            *used.entry(call.tool.clone()).or_default() += 1;
        }
    }
    used
}

/// What stands in the user's place and is the harness's, and what it told beside the entries. That there is none in a
/// log does not say that none was told.
fn digest_reminders(transcript: &Transcript) -> Vec<TextDigest> {
    let is_reminder = |origin| matches!(origin, Origin::Harness | Origin::Hook);
    let told = transcript.entries.iter().filter(|entry| !entry.side && is_reminder(entry.origin));
    let told = told.filter_map(|entry| match &entry.body {
        Body::Prompt(parts) => Some(digest_text(&text_cow(parts))),
        _ => None,
    });
    told.chain(transcript.header.conditions.reminders.iter().cloned()).collect()
}

/// The instruction files of an agent that are in the project.
pub(super) fn digest_instructions(agent: &dyn Agent, project: &Path) -> Vec<FileDigest> {
    let told = agent.facts().memory.files.iter().filter(|file| file.place == MemoryPlace::Project);
    // What a link leads to may be no instruction, and a digest of something short tells what it is.
    let names = told.flat_map(|file| expand_pattern(project, file.path)).filter(|name| is_readable(project, name));
    let read = |name: String| {
        let bytes = read_bytes(&project.join(&name), MAX_INSTRUCTION_BYTES).ok()?;
        Some(FileDigest { path: name, bytes: bytes.len() as u64, sha256: hex_sha256(&bytes) })
    };
    names.filter_map(read).collect()
}
