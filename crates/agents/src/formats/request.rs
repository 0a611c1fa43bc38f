//! Questions that every writer asks about the session it is to write.

use std::path::Path;

use carryover_core::plain::one_line;
use carryover_core::transcript::{Body, Origin, text_of};

use super::relocate::Relocation;
use crate::{AgentError, OwnSession, TargetView, WriteRequest};

/// Longer titles are cut.
const MAX_TITLE_CHARS: usize = 200;

/// The project's path as text, which every client's records hold.
pub(crate) fn project_text<'a>(request: &WriteRequest<'a>, agent: &'static str) -> Result<&'a str, AgentError> {
    let reason = || "the project's path is not UTF-8".to_owned();
    request.project.to_str().ok_or_else(|| AgentError::CannotHold { agent, reason: reason() })
}

/// Where paths of the project have to be moved, if it is elsewhere now. Every path would lie below one that is empty.
pub(crate) fn project_relocation<'a>(request: &WriteRequest<'a>, project: &'a str) -> Option<Relocation<'a>> {
    let old = request.old_project.and_then(Path::to_str).filter(|old| *old != project && !old.is_empty());
    old.map(|old| Relocation { old, new: project })
}

/// Where paths of a session that moves as a whole have to be moved: those of its project, and those of the home.
pub(crate) fn own_relocations<'a>(
    own: &OwnSession<'a>,
    request: &WriteRequest<'a>,
    project: &'a str,
    target: &TargetView<'a>,
) -> Vec<Relocation<'a>> {
    let old_home = own.old_home.and_then(Path::to_str).filter(|old| old.len() > 1);
    let homes = old_home.zip(target.env.home.to_str()).filter(|(old, new)| old != new);
    let home = homes.map(|(old, new)| Relocation { old, new });
    project_relocation(request, project).into_iter().chain(home).collect()
}

/// The session's title in one line, if it has any.
pub(crate) fn given_title(request: &WriteRequest<'_>) -> Option<String> {
    request.title.map(|title| one_line(title, MAX_TITLE_CHARS)).filter(|title| !title.is_empty())
}

/// The title, or the first prompt where there is none.
pub(crate) fn title_or_prompt(request: &WriteRequest<'_>) -> String {
    let first = || user_prompts(request).next().map(|text| one_line(&text, 80));
    let title = request.title.map(|title| one_line(title, MAX_TITLE_CHARS)).or_else(first);
    title.filter(|title| !title.is_empty()).unwrap_or_else(|| "carried over".to_owned())
}

/// The prompts of the user, in their order.
pub(crate) fn user_prompts(request: &WriteRequest<'_>) -> impl Iterator<Item = String> {
    request.entries.iter().filter_map(|carried| match &carried.entry.body {
        Body::Prompt(parts) if carried.entry.origin == Origin::User => Some(text_of(parts)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write_fixtures::moved_request;

    #[test]
    fn a_project_without_a_path_moves_nothing() {
        for (old, moves) in [("/old", true), ("/new", false), ("", false)] {
            let request = WriteRequest { old_project: Some(Path::new(old)), ..moved_request(&[], None) };
            assert_eq!(project_relocation(&request, "/new").is_some(), moves, "{old}");
        }
    }
}
