//! A session of the client's own that comes back to it: what was forbidden in it stays so. Without a terminal, for one, the
//! client forbids its model to ask questions, and then does not offer it the tool.

use serde::Deserialize;
use serde_json::Value;

use super::{OpenCode, write};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};
use crate::{AgentError, OwnSession, TargetView, WritePlan, WriteRequest, Writer};

#[derive(Deserialize)]
struct WireSession {
    info: WireInfo,
}

#[derive(Deserialize)]
struct WireInfo {
    #[serde(default)]
    permission: Vec<Value>,
}

impl Writer for OpenCode {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan_session(request, target, &[])
    }

    fn plan_own(
        &self,
        own: &OwnSession<'_>,
        request: &WriteRequest<'_>,
        target: &TargetView<'_>,
    ) -> Result<Option<WritePlan>, AgentError> {
        let Ok(document) = file::read_bytes(&own.source.path, MAX_DOCUMENT_BYTES) else { return Ok(None) };
        let Ok(session) = serde_json::from_slice::<WireSession>(&document) else { return Ok(None) };
        // Rules that allow something stay behind: permissions never widen.
        let is_denial = |rule: &Value| rule["action"] == "deny";
        let denials: Vec<Value> = session.info.permission.into_iter().filter(is_denial).collect();
        write::plan_session(request, target, &denials).map(Some)
    }
}
