//! Planning a session file that the client's own resume loads.
//!
//! One line a message, each named by its parent. What came from this agent in the first place is written back as it
//! was.

use carryover_core::transcript::SessionId;
use serde_json::json;

use super::FACTS;
use super::discover;
use super::settings::{self, Settings};
use super::{dialect, outcome};
use crate::formats::ids::Ids;
use crate::formats::request::{given_title, project_text};
use crate::formats::tree::blocks::ClientDialect;
use crate::formats::tree::session_writer::{RecordFormat, SessionWriter};
use crate::{AgentError, TargetView, WritePlan, WriteRequest};

const FORMAT: RecordFormat = RecordFormat {
    dialect: ClientDialect { translate: dialect::translate_action, exit_code_lines: outcome::spell_exit_lines },
    api: "openai-completions",
    make_name: short_name,
    renewed_fields: &["systemMessage", "firstKeptEntryIndex"],
};

/// Records have names of eight digits.
fn short_name(ids: &mut Ids) -> String {
    let uuid = ids.next_uuid();
    uuid[uuid.len() - 8..].to_owned()
}

/// Plans the file.
pub(super) fn plan_session(request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
    let project = project_text(request, "pi")?;
    let mut ids = Ids::new(request.seed);
    let session = ids.next_timed_uuid(request.started_at);
    let time = request.started_at.to_string().replace([':', '.'], "-");
    let shared = settings::shared_folder(target.env, &target.store.root);
    let folder = shared.unwrap_or_else(|| discover::project_folder(&target.store.root, project));
    let file = folder.join(format!("{time}_{session}.jsonl"));
    let mut page = SessionWriter::write_all(FORMAT, request, project, ids);
    let settings = Settings::load(&target.store.root);
    if let (Some(provider), Some(model)) = (settings.default_provider, settings.default_model) {
        // Without a model to go on with, the client looks for the one that spoke last.
        page.push_record(json!({ "type": "model_change", "provider": provider, "modelId": model }), Vec::new());
    }
    if let Some(title) = given_title(request) {
        page.push_record(json!({ "type": "session_info", "name": title }), Vec::new());
    }
    let mut written = page.begin_file(&session);
    written.write_lines(&page.draft.chain.lines);
    let written = written.finish(page.draft.losses, page.blocks.calls.translated);
    let resume = FACTS.resume.command(&session, request.project);
    Ok(written.into_plan(target, SessionId(session), file, resume))
}
