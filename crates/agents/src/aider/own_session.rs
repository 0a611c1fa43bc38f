//! A chat that moves as a whole: the history as it was, in a file of its own. Told anew, it would have other blank lines, which
//! the client sends.

use super::{Aider, chats, write};
use crate::formats::file::{self, MAX_DOCUMENT_BYTES};
use crate::formats::session_lines::WrittenFile;
use crate::{AgentError, OwnSession, TargetView, WritePlan, WriteRequest, Writer, WrittenEntry};

impl Writer for Aider {
    fn plan(&self, request: &WriteRequest<'_>, target: &TargetView<'_>) -> Result<WritePlan, AgentError> {
        write::plan_session(request, target)
    }

    fn plan_own(
        &self,
        own: &OwnSession<'_>,
        request: &WriteRequest<'_>,
        target: &TargetView<'_>,
    ) -> Result<Option<WritePlan>, AgentError> {
        let chats = chats::read_chats(&own.source.path)?;
        let session = chats::find_session(&chats, own.source.key.as_deref());
        let Some(key) = session.and_then(<[chats::Chat]>::first).map(|chat| chat.key.clone()) else { return Ok(None) };
        // What the log of requests alone holds is in no history.
        if request.entries.iter().any(|carried| carried.entry.key.file != 0) {
            return Ok(None);
        }
        let name = write::history_name(request);
        let file = request.project.join(&name);
        let place =
            |(entry, carried): (usize, &crate::CarriedEntry)| WrittenEntry { entry, offset: carried.entry.key.offset };
        let written = WrittenFile {
            bytes: file::read_bytes(&own.source.path, MAX_DOCUMENT_BYTES)?,
            origins: request.entries.iter().enumerate().map(place).collect(),
            losses: Vec::new(),
            translated: 0,
        };
        let session = chats::session_id(&chats::resolve_folder(&file), &key);
        let resume = write::restore_command(&name, request.tokens, request.project);
        Ok(Some(written.into_plan(target, session, file, resume)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_fixtures::{plan_own, session_bytes, write_file};

    #[test]
    fn a_history_moves_with_every_blank_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".aider.chat.history.md");
        let text =
            "\n# aider chat started at 2026-11-15 00:00:01\n\n> Aider v0.86.2  \n\n#### look  \n\nIt is so.\n\n\n\n";
        write_file(&path, text.as_bytes());
        let (plan, entries) = plan_own(&Aider, &path);
        let plan = plan.unwrap();
        assert_eq!((session_bytes(&plan), plan.origins.len()), (text.as_bytes(), entries.len()));
        assert!(
            plan.file.starts_with("/new") && plan.resume.argv.iter().any(|word| word.contains(".aider.chat.history."))
        );
    }
}
