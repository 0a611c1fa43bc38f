//! What a session did to a file, as small diffs.

use std::collections::BTreeMap;

use super::super::words::clip_lines;
use crate::distill::{Event, History, Quoting, Roots};
use crate::transcript::{Action, Change, Hunk, Status};

/// One step in the life of a file.
#[derive(Debug, Clone)]
pub enum Piece<'a> {
    /// Written whole.
    Whole(&'a str),
    Hunk(&'a Hunk),
    Deleted,
    MovedTo(&'a str),
}

/// What happened to every file, in order, by its path as briefs name it. Calls that failed changed nothing.
pub(crate) fn pieces<'a>(history: &'a History, root: &str) -> BTreeMap<String, Vec<Piece<'a>>> {
    let roots = &Roots::of(history, root);
    let mut found: BTreeMap<String, Vec<Piece<'a>>> = BTreeMap::new();
    for step in &history.steps {
        let Event::Call(call) = &step.event else { continue };
        if call.end.as_ref().is_some_and(|end| end.status != Status::Done) {
            continue;
        }
        match &call.action {
            Action::Write { path, content } => add(&mut found, roots, path, Piece::Whole(content)),
            Action::Edit(changes) => {
                for change in changes {
                    of_change(&mut found, roots, change);
                }
            }
            _ => {}
        }
    }
    found
}

fn of_change<'a>(found: &mut BTreeMap<String, Vec<Piece<'a>>>, roots: &Roots, change: &'a Change) {
    match change {
        Change::Add { path, content } => add(found, roots, path, Piece::Whole(content)),
        Change::Delete { path } => add(found, roots, path, Piece::Deleted),
        Change::Update { path, moved_to, hunks } => {
            for hunk in hunks {
                add(found, roots, path, Piece::Hunk(hunk));
            }
            if let Some(to) = moved_to {
                let before = found.get(&roots.name(path)).cloned().unwrap_or_default();
                add(found, roots, path, Piece::MovedTo(to));
                found.entry(roots.name(to)).or_default().extend(before);
            }
        }
    }
}

fn add<'a>(found: &mut BTreeMap<String, Vec<Piece<'a>>>, roots: &Roots, path: &str, piece: Piece<'a>) {
    let pieces = found.entry(roots.name(path)).or_default();
    if matches!(piece, Piece::Whole(_) | Piece::Deleted) {
        // What was written before is gone.
        pieces.clear();
    }
    pieces.push(piece);
}

/// The text of a file's changes within `width` characters, the newest kept, and what its fence is called.
pub(crate) fn text(
    pieces: &[Piece<'_>],
    language: &'static str,
    width: usize,
    quoting: Quoting,
) -> (String, &'static str) {
    if let [Piece::Whole(content)] = pieces {
        return (clip_lines(&quoting.mask(bounded(content, width)), width), language);
    }
    let mut newest = Vec::new();
    let mut room = width;
    for piece in pieces.iter().rev() {
        if room == 0 {
            newest.push("[… earlier changes left out]\n".to_owned());
            break;
        }
        let text = clip_lines(&quoting.mask(&of_piece(piece, width)), room);
        room = room.saturating_sub(text.chars().count());
        newest.push(text);
    }
    newest.reverse();
    (newest.concat(), "diff")
}

/// What is masked is longer than what is shown, so that no secret is cut in two; what is far longer is not looked at.
fn bounded(content: &str, width: usize) -> &str {
    &content[..content.floor_char_boundary(width.saturating_mul(4) + 16 * 1024)]
}

fn of_piece(piece: &Piece<'_>, width: usize) -> String {
    match piece {
        Piece::Whole(content) => signed('+', content.lines(), width),
        Piece::Deleted => "[deleted]\n".to_owned(),
        Piece::MovedTo(to) => format!("[moved to {to}]\n"),
        Piece::Hunk(hunk) => of_hunk(hunk, width),
    }
}

/// The lines that differ, with up to two lines around them.
fn of_hunk(hunk: &Hunk, width: usize) -> String {
    const AROUND: usize = 2;
    let (old, new): (Vec<&str>, Vec<&str>) = (hunk.old.lines().collect(), hunk.new.lines().collect());
    let before = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count().min(most);
    let head = hunk.context.as_deref().map_or("@@", |context| context.lines().next().unwrap_or("@@"));
    let head = if head.starts_with("@@") { head.to_owned() } else { format!("@@ {head}") };
    let everywhere = if hunk.everywhere { " (every occurrence)" } else { "" };
    let mut out = format!("{head}{everywhere}\n");
    out += &signed(' ', old[before.saturating_sub(AROUND)..before].iter().copied(), width);
    out += &signed('-', old[before..old.len() - after].iter().copied(), width);
    out += &signed('+', new[before..new.len() - after].iter().copied(), width);
    out += &signed(' ', old[old.len() - after..].iter().take(AROUND).copied(), width);
    out
}

/// Lines with a sign before each, not many more than are shown.
fn signed<'a>(sign: char, lines: impl Iterator<Item = &'a str>, width: usize) -> String {
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
