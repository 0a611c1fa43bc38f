//! The user's words from before the conversation that is shown: all of them as far as there is room, the long ones cut first.

use super::super::Material;
use super::super::material::{Message, Role, Said, Words};
use super::super::words::{at, end_of, flat, quote};
use super::pack::Room;
use crate::distill::{Quoting, clip_middle};

/// What one of them is cut at, in characters: the first with which all find room, else the last.
const WIDTHS: [usize; 8] = [3_000, 1_600, 1_000, 700, 480, 340, 240, 160];
const WORTH_CUTTING: usize = 60;
/// Shorter words are told with what they answer.
const SHORT_CHARS: usize = 40;
/// So much of what they answer.
const ANSWERED_CHARS: usize = 240;

/// Lines of what was said before a message, each with its own, the latest first.
pub(super) fn lines_before(material: &Material<'_>, before: usize, room: &mut Room) -> Vec<(usize, String)> {
    let said: Vec<&Said> = material.said.iter().filter(|said| said.message < before).collect();
    let widest = WIDTHS.iter().map(|width| rendered(material, &said, *width)).find(|lines| fit(lines, room));
    let lines = widest.unwrap_or_else(|| rendered(material, &said, WIDTHS[WIDTHS.len() - 1]));
    // Where not even that is room enough, the longest say most.
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(said[*index].text.chars().count()));
    let mut taken: Vec<usize> = order.into_iter().filter(|index| room.take(&lines[*index])).collect();
    taken.sort_unstable();
    taken.into_iter().map(|index| (said[index].message, lines[index].clone())).collect()
}

fn fit(lines: &[String], room: &Room) -> bool {
    let mut room = room.clone();
    lines.iter().all(|line| room.take(line))
}

fn rendered(material: &Material<'_>, said: &[&Said], width: usize) -> Vec<String> {
    said.iter().map(|said| line(material, said, width)).collect()
}

fn line(material: &Material<'_>, said: &Said, width: usize) -> String {
    // A cut that saves hardly more than its mark is none.
    let width = if said.text.chars().count() <= width + WORTH_CUTTING { width + WORTH_CUTTING } else { width };
    let words = quote(&clip_middle(&said.text, width), width + SHORT_CHARS);
    let answered = (said.text.chars().count() < SHORT_CHARS)
        .then(|| answered(&material.messages[..said.message], material.quoting))
        .flatten();
    let answered = answered.map(|asked| format!(", when the agent had said {asked}")).unwrap_or_default();
    format!("- the user{}: {words}{answered}\n", at(said.at))
}

/// The end of what the agent had asked before.
fn answered(before: &[Message<'_>], quoting: Quoting) -> Option<String> {
    let last = before.iter().rev().find(|message| message.role != Role::Tool)?;
    let Words::Text(text) = last.words else { return None };
    let end = quoting.passage(end_of(text, ANSWERED_CHARS * 4), ANSWERED_CHARS * 4);
    let end = end_of(&end, ANSWERED_CHARS);
    (last.role == Role::Agent && end.contains(['?', '？'])).then(|| format!("\"{}\"", flat(end, ANSWERED_CHARS)))
}
