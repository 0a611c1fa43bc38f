//! The user's words from before the conversation that is shown: all of them as far as there is room, the long ones cut first.

use super::super::Material;
use super::super::escape::{flatten_text, quote_inline, text_end, time_suffix};
use super::super::material::{EarlierPrompt, Message, MessageContent, Role};
use super::pack::TokenBudget;
use crate::distill::{Quoting, clip_middle};

/// The lengths at which a prompt is cut, in characters: the first with which all find room, else the last.
const WIDTHS_CHARS: [usize; 8] = [3_000, 1_600, 1_000, 700, 480, 340, 240, 160];
const WORTH_CUTTING_CHARS: usize = 60;
/// Shorter words are told with what they answer.
const SHORT_CHARS: usize = 40;
/// So much of what they answer.
const ANSWERED_CHARS: usize = 240;

/// Lines of what was said before a message, each with its own, the latest first.
pub(super) fn lines_before(material: &Material<'_>, before: usize, room: &mut TokenBudget) -> Vec<(usize, String)> {
    let said: Vec<&EarlierPrompt> = material.earlier_prompts.iter().filter(|said| said.message < before).collect();
    let widest =
        WIDTHS_CHARS.iter().map(|width| render_all(material, &said, *width)).find(|lines| fits_budget(lines, room));
    let lines = widest.unwrap_or_else(|| render_all(material, &said, WIDTHS_CHARS[WIDTHS_CHARS.len() - 1]));
    // Where not even that is room enough, the longest say most.
    let mut order: Vec<usize> = (0..lines.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(said[*index].text.chars().count()));
    let mut taken: Vec<usize> = order.into_iter().filter(|index| room.try_spend(&lines[*index])).collect();
    taken.sort_unstable();
    taken.into_iter().map(|index| (said[index].message, lines[index].clone())).collect()
}

fn fits_budget(lines: &[String], room: &TokenBudget) -> bool {
    let mut room = room.clone();
    lines.iter().all(|line| room.try_spend(line))
}

fn render_all(material: &Material<'_>, said: &[&EarlierPrompt], width: usize) -> Vec<String> {
    said.iter().map(|said| render_prompt(material, said, width)).collect()
}

fn render_prompt(material: &Material<'_>, said: &EarlierPrompt, width: usize) -> String {
    // A cut that saves hardly more than its mark is none.
    let width =
        if said.text.chars().count() <= width + WORTH_CUTTING_CHARS { width + WORTH_CUTTING_CHARS } else { width };
    let words = quote_inline(&clip_middle(&said.text, width), width + SHORT_CHARS);
    let answered = (said.text.chars().count() < SHORT_CHARS)
        .then(|| answered_question(&material.messages[..said.message], material.quoting))
        .flatten();
    let answered = answered.map(|asked| format!(", when the agent had said {asked}")).unwrap_or_default();
    format!("- the user{}: {words}{answered}\n", time_suffix(said.at))
}

/// The end of what the agent had asked before.
fn answered_question(before: &[Message<'_>], quoting: Quoting) -> Option<String> {
    let last = before.iter().rev().find(|message| message.role != Role::Tool)?;
    let MessageContent::Text(text) = last.content else { return None };
    let end = quoting.quote_passage(text_end(text, ANSWERED_CHARS * 4), ANSWERED_CHARS * 4);
    let end = text_end(&end, ANSWERED_CHARS);
    (last.role == Role::Agent && end.contains(['?', '？']))
        .then(|| format!("\"{}\"", flatten_text(end, ANSWERED_CHARS)))
}
