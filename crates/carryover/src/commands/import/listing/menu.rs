//! The questions of `carryover import` alone: which one, and what to do with it. A slip of the finger is asked again.

use carryover_engine::context::Context;

use super::{Item, KINDS, item_lines, write_lines};
use crate::args::Globals;
use crate::commands::front::run_words;
use crate::error::CommandError;
use crate::short_id::ShortIds;
use crate::ui::Ui;

/// So many lines of the terminal are for what stands below the items.
const LINES_BELOW: usize = 6;

/// Shows the newest that fit on the terminal, and the next ones where more are asked for.
pub(super) fn choose_item(
    ui: &mut Ui,
    context: &Context,
    globals: Globals,
    items: &[Item],
    ids: &ShortIds,
    n_unlisted: usize,
) -> Result<(), CommandError> {
    let mut n_shown = show_page(ui, context, items, ids, 0)?;
    ui.status(KINDS)?;
    loop {
        let n_left = items.len() - n_shown;
        if n_left == 0 && n_unlisted > 0 {
            ui.status(format_args!("{n_unlisted} more sessions: `carryover list`"))?;
        }
        let more = if n_left > 0 { format!(", (m)ore: {n_left}") } else { String::new() };
        let answer = ui.ask_choice(&format!("which one? (number{more}, or q to leave)"))?;
        let answer = answer.ok_or_else(CommandError::left)?;
        if n_left > 0 && ["m", "more"].contains(&answer.to_lowercase().as_str()) {
            n_shown += show_page(ui, context, items, ids, n_shown)?;
            continue;
        }
        let item = answer.parse::<usize>().ok().and_then(|number| items[..n_shown].get(number.checked_sub(1)?));
        match item {
            Some(item) => return choose_action(ui, globals, item),
            None => ui.write_line(format_args!("that is none of the numbers: 1 to {n_shown}"))?,
        }
    }
}

/// Shows as many items as fit, one at the least; the answer is how many.
fn show_page(
    ui: &mut Ui,
    context: &Context,
    items: &[Item],
    ids: &ShortIds,
    first: usize,
) -> Result<usize, CommandError> {
    let room = ui.rows().map_or(usize::MAX, |rows| rows.saturating_sub(LINES_BELOW));
    let (mut n_shown, mut n_lines) = (0, 0);
    for (index, item) in items.iter().enumerate().skip(first) {
        let lines = item_lines(ui, context, &format!("{:>2}  ", index + 1), item, ids);
        n_lines += lines.len();
        if n_shown > 0 && n_lines > room {
            break;
        }
        write_lines(ui, &lines)?;
        n_shown += 1;
    }
    Ok(n_shown)
}

/// Does with an item what is asked for; who has looked at it is asked again.
fn choose_action(ui: &mut Ui, globals: Globals, item: &Item) -> Result<(), CommandError> {
    let (export, letters) = match item.actions.export {
        Some(_) => (", (e)xport", "c, f, d or e"),
        None => ("", "c, f or d"),
    };
    let question = format!("(c)ontinue, (f)ork, (d)etails{export}, or (q) to leave");
    loop {
        let answer = ui.ask_choice(&question)?.ok_or_else(CommandError::left)?;
        let words = match answer.to_lowercase().as_str() {
            "c" | "continue" => Some(&item.actions.go_on),
            "f" | "fork" => Some(&item.actions.fork),
            "d" | "details" => {
                run_words(ui, globals, &item.actions.details)?;
                continue;
            }
            "e" | "export" => item.actions.export.as_ref(),
            _ => None,
        };
        match words {
            Some(words) => return run_words(ui, globals, words),
            None => ui.write_line(format_args!("that is none of the letters: {letters}"))?,
        }
    }
}
