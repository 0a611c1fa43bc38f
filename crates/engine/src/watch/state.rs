//! `.carryover/watcher-state.json`: what is watched and what is in use, for other programs to read.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::context::Context;
use crate::handoff::project_dir;

const FILE_NAME: &str = "watcher-state.json";

/// The watcher's state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    pub timestamp: String,
    pub agents: Vec<&'static str>,
    /// The files of the sessions in use, with the millisecond of their last change.
    pub active_sessions: BTreeMap<String, i64>,
}

/// Writes the state into a project.
pub(super) fn write_to_project(context: &Context, project: &Path, state: &State) -> io::Result<()> {
    let mut bytes = serde_json::to_vec_pretty(state)?;
    bytes.push(b'\n');
    project_dir::write_file(context, project, FILE_NAME, &bytes).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handoff::project_dir::FOLDER;
    use crate::tests::world::World;

    fn sample_state() -> State {
        let active_sessions = BTreeMap::from([("/a.jsonl".to_owned(), 1_794_718_800_000)]);
        State { timestamp: "2026-11-15T10:00:00.000Z".into(), agents: vec!["alpha"], active_sessions }
    }

    #[test]
    fn it_is_written_where_git_does_not_look() {
        let project = tempfile::tempdir().unwrap();
        write_to_project(&World::new().context, project.path(), &sample_state()).unwrap();
        let folder = project.path().join(FOLDER);
        assert_eq!(fs_err::read_to_string(folder.join(".gitignore")).unwrap(), "*\n");
        let text = fs_err::read_to_string(folder.join(FILE_NAME)).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected = serde_json::json!({ "timestamp": "2026-11-15T10:00:00.000Z", "agents": ["alpha"],
            "activeSessions": { "/a.jsonl": 1_794_718_800_000_i64 } });
        assert_eq!(value, expected);
        #[cfg(unix)]
        for (path, mode) in [(folder.clone(), 0o700), (folder.join(FILE_NAME), 0o600)] {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs_err::metadata(path).unwrap().permissions().mode() & 0o777, mode);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let project = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), project.path().join(FOLDER)).unwrap();
        assert!(write_to_project(&World::new().context, project.path(), &sample_state()).is_err());
        assert_eq!(fs_err::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}
