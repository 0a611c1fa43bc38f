//! A session of the client's own that comes back to it: what was forbidden in it stays so. Without a terminal, for one, the
//! client forbids its model to ask questions, and then does not offer it the tool.

use serde::Deserialize;
use serde_json::{Value, json};

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
        let denials: Vec<Value> = session.info.permission.iter().filter_map(copy_denial).collect();
        write::plan_session(request, target, &denials).map(Some)
    }
}

/// A rule that forbids something, and nothing else that it may hold. Those that allow something stay behind: permissions
/// never widen.
fn copy_denial(rule: &Value) -> Option<Value> {
    let word = |name: &str| rule[name].as_str();
    let (permission, pattern) = (word("permission")?, word("pattern")?);
    (word("action") == Some("deny")).then(|| json!({ "permission": permission, "pattern": pattern, "action": "deny" }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_fixtures::{moved_request, moved_session, sample_env, write_lines};
    use crate::{Source, Store, WriteOp};

    #[test]
    fn what_was_forbidden_stays_so_and_what_was_allowed_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.json");
        let rule = |what: &str, action: &str| json!({"permission": what, "pattern": "*", "action": action});
        let mut more = rule("question", "deny");
        more["allow"] = json!("*");
        let rules = [more, rule("bash", "allow"), json!({"action": "deny"}), json!(5)];
        write_lines(&path, &[json!({"info": {"id": "ses_1", "permission": rules}, "messages": []})]);
        let (env, source, header) = (sample_env(), Source::file(&path), carryover_core::transcript::Header::default());
        let store = Store { root: "/home/u/store".into() };
        let program = std::path::PathBuf::from("/bin/client");
        let target = TargetView { env: &env, store: &store, program: Some(&program), version: None };
        let own = OwnSession { source: &source, root: folder.path(), header: &header, old_home: None };
        let entries = moved_session();
        let plan = OpenCode.plan_own(&own, &moved_request(&entries, None), &target).unwrap().unwrap();
        let WriteOp::Run(run) = &plan.ops[0] else { panic!("the client imports it") };
        let export: Value = serde_json::from_slice(&run.files[0].1).unwrap();
        assert_eq!(export["info"]["permission"], json!([rule("question", "deny")]));
        let unmoved = OpenCode.plan(&moved_request(&entries, None), &target).unwrap();
        assert!(!format!("{:?}", unmoved.ops).contains("permission"));
    }
}
