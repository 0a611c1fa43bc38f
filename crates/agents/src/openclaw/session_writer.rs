//! A session in the making, as the lines of a file that the client imports.
//!
//! One line a message, each named by its parent. What came from this agent in the first place is written back as it
//! was.

use super::{dialect, outcome};
use crate::WriteRequest;
use crate::formats::ids::{self, Ids};
use crate::formats::losses::count_loss;
use crate::formats::session_lines::WrittenFile;
use crate::formats::tree::blocks::ClientDialect;
use crate::formats::tree::session_writer::{RecordFormat, SessionWriter};

const FORMAT: RecordFormat = RecordFormat {
    dialect: ClientDialect { translate: dialect::translate_action, exit_code_lines: outcome::spell_exit_lines },
    api: "openai-completions",
    make_name: Ids::next_uuid,
    renewed_fields: &[],
};

/// The lines of the file, in which records are known by their names.
pub(super) fn write_entries(request: &WriteRequest<'_>, project: &str, session: &str, ids: Ids) -> WrittenFile {
    let mut page = SessionWriter::write_all(FORMAT, request, project, ids);
    end_turn(&mut page);
    count_old_images(&mut page);
    let mut file = page.begin_file(session);
    for line in &page.draft.chain.lines {
        file.note_entries(&line.entries, ids::digest_name(line.value["id"].as_str().unwrap_or_default()));
        file.write_line(&line.value);
    }
    file.finish(page.draft.losses, page.blocks.calls.translated)
}

/// A prompt that was never answered is taken out of the branch with the next one: it is sent once more, beside that,
/// and then never again. After a turn that failed, which is how the client itself ends such a turn, it stays.
fn end_turn(page: &mut SessionWriter<'_>) {
    let last = page.draft.chain.lines.last();
    if last.is_none_or(|line| line.value["message"]["role"] != "user") {
        return;
    }
    page.draft.chain.advance_time(None);
    let mut message = page.agent_message(page.draft.request.source_agent, &[], "error");
    message["errorMessage"] = "carried over before it was answered".into();
    page.push_message(message, Vec::new());
}

/// Names the images that the client keeps and will not send: those from before the last turns.
fn count_old_images(page: &mut SessionWriter<'_>) {
    let lines = &page.draft.chain.lines;
    let roles: Vec<&str> = lines.iter().map(|line| line.value["message"]["role"].as_str().unwrap_or("")).collect();
    let images =
        lines[..images_sent_from(&roles)].iter().filter_map(|line| line.value["message"]["content"].as_array());
    let images = images.flatten().filter(|block| block["type"] == "image").count();
    let reason = "the client keeps it, and sends images of the last three turns only";
    (0..images).for_each(|_| count_loss(&mut page.draft.losses, "older image", reason));
}

/// Where the last turns begin whose images are sent. A turn begins with a prompt, and counts once it was answered.
fn images_sent_from(roles: &[&str]) -> usize {
    const TURNS_WITH_IMAGES: usize = 3;
    let mut turns = Vec::new();
    let mut open: Option<(usize, bool)> = None;
    // The prompt with which the user goes on ends the last turn.
    for (index, role) in roles.iter().chain(&["user"]).enumerate() {
        match (*role, &mut open) {
            ("user", turn) => {
                turns.extend(turn.filter(|(_, answered)| *answered).map(|(begin, _)| begin));
                open = Some((index, false));
            }
            ("toolResult", turn @ None) => *turn = Some((index, false)),
            ("assistant", Some((_, answered))) => *answered = true,
            _ => {}
        }
    }
    if turns.len() > TURNS_WITH_IMAGES { turns[turns.len() - TURNS_WITH_IMAGES] } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_of_the_last_three_turns_are_sent() {
        let turn = ["user", "assistant", "toolResult", "assistant"];
        for (turns, expected) in [(1, 0), (3, 0), (4, 4), (6, 12)] {
            assert_eq!(images_sent_from(&turn.repeat(turns)), expected, "{turns}");
        }
        assert_eq!(images_sent_from(&["user", "user", "assistant"]), 0);
    }
}
