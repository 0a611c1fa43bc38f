//! Changes of files by a session, as small diffs.

use std::collections::BTreeMap;

use super::super::escape::clip_lines;
use crate::distill::{Event, History, Quoting, Roots};
use crate::transcript::{Action, Change, Hunk};

/// One step in the life of a file.
#[derive(Debug, Clone)]
pub enum DiffPiece<'a> {
    /// Written whole.
    Whole(&'a str),
    Hunk(&'a Hunk),
    Deleted,
    MovedTo(&'a str),
}

/// The changes of every file, in order, by its path as briefs name it. Calls that failed changed nothing.
pub(crate) fn collect_pieces<'a>(history: &'a History, root: &str) -> BTreeMap<String, Vec<DiffPiece<'a>>> {
    let roots = &Roots::from_history(history, root);
    let mut found: BTreeMap<String, Vec<DiffPiece<'a>>> = BTreeMap::new();
    for step in &history.steps {
        let Event::Call(call) = &step.event else { continue };
        if call.end.as_ref().is_some_and(|end| end.status.is_failure()) {
            continue;
        }
        match &call.action {
            Action::Write { path, content } => add_piece(&mut found, roots, path, DiffPiece::Whole(content)),
            Action::Edit(changes) => {
                for change in changes {
                    add_change(&mut found, roots, change);
                }
            }
            _ => {}
        }
    }
    found
}

fn add_change<'a>(found: &mut BTreeMap<String, Vec<DiffPiece<'a>>>, roots: &Roots, change: &'a Change) {
    match change {
        Change::Add { path, content } => add_piece(found, roots, path, DiffPiece::Whole(content)),
        Change::Delete { path } => add_piece(found, roots, path, DiffPiece::Deleted),
        Change::Update { path, moved_to, hunks } => {
            for hunk in hunks {
                add_piece(found, roots, path, DiffPiece::Hunk(hunk));
            }
            if let Some(to) = moved_to {
                let before = found.get(&roots.display_path(path)).cloned().unwrap_or_default();
                add_piece(found, roots, path, DiffPiece::MovedTo(to));
                found.entry(roots.display_path(to)).or_default().extend(before);
            }
        }
    }
}

fn add_piece<'a>(found: &mut BTreeMap<String, Vec<DiffPiece<'a>>>, roots: &Roots, path: &str, piece: DiffPiece<'a>) {
    let pieces = found.entry(roots.display_path(path)).or_default();
    if matches!(piece, DiffPiece::Whole(_) | DiffPiece::Deleted) {
        // Earlier content is gone.
        pieces.clear();
    }
    pieces.push(piece);
}

/// The text of a file's changes within `width` characters, the newest kept, and what its fence is called.
pub(crate) fn render_changes(
    pieces: &[DiffPiece<'_>],
    language: &'static str,
    width: usize,
    quoting: Quoting,
) -> (String, &'static str) {
    if let [DiffPiece::Whole(content)] = pieces {
        return (clip_lines(&quoting.mask(bound_content(content, width)), width), language);
    }
    let mut newest = Vec::new();
    let mut room = width;
    for piece in pieces.iter().rev() {
        if room == 0 {
            newest.push("[… earlier changes left out]\n".to_owned());
            break;
        }
        let text = clip_lines(&quoting.mask(&render_piece(piece, width)), room);
        room = room.saturating_sub(text.chars().count());
        newest.push(text);
    }
    newest.reverse();
    (newest.concat(), "diff")
}

/// Bounds the text that is masked: longer than what is shown, so that no secret is cut in two.
fn bound_content(content: &str, width: usize) -> &str {
    &content[..content.floor_char_boundary(width.saturating_mul(4) + 16 * 1024)]
}

fn render_piece(piece: &DiffPiece<'_>, width: usize) -> String {
    match piece {
        DiffPiece::Whole(content) => sign_lines('+', content.lines(), width),
        DiffPiece::Deleted => "[deleted]\n".to_owned(),
        DiffPiece::MovedTo(to) => format!("[moved to {to}]\n"),
        DiffPiece::Hunk(hunk) => render_hunk(hunk, width),
    }
}

/// The lines that differ, with up to two lines around them.
fn render_hunk(hunk: &Hunk, width: usize) -> String {
    const CONTEXT_LINES: usize = 2;
    let (old, new): (Vec<&str>, Vec<&str>) = (hunk.old.lines().collect(), hunk.new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count().min(most);
    let head = hunk.context.as_deref().map_or("@@", |context| context.lines().next().unwrap_or("@@"));
    let head = if head.starts_with("@@") { head.to_owned() } else { format!("@@ {head}") };
    let everywhere = if hunk.everywhere { " (every occurrence)" } else { "" };
    let mut out = format!("{head}{everywhere}\n");
    out += &sign_lines(' ', old[before.saturating_sub(CONTEXT_LINES)..before].iter().copied(), width);
    out += &sign_lines('-', old[before..old.len() - after].iter().copied(), width);
    out += &sign_lines('+', new[before..new.len() - after].iter().copied(), width);
    out += &sign_lines(' ', old[old.len() - after..].iter().take(CONTEXT_LINES).copied(), width);
    out
}

/// Lines with a sign before each, not many more than are shown.
fn sign_lines<'a>(sign: char, lines: impl Iterator<Item = &'a str>, width: usize) -> String {
    let mut out = String::new();
    for line in lines {
        out.push(sign);
        out.push_str(line);
        out.push('\n');
        // Characters are at most four bytes, so this is past the cut.
        if out.len() > width.saturating_mul(4) {
            break;
        }
    }
    out
}
