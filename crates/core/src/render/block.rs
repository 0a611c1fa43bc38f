//! Our block in a file of somebody else: put in, replaced, found and taken out again.
//!
//! Everything outside the markers keeps every byte, and taking out is the exact inverse of putting in. The block stands
//! at the end, after a blank line. That the file had no final newline is remembered by the block having none either. A
//! marker is a line of its own; a mention of it within a line is text like any other.

use std::ops::Range;

use thiserror::Error;

/// The line before the block.
pub const START: &str = "<!--CARRYOVER:START-->";
/// The line after the block.
pub const END: &str = "<!--CARRYOVER:END-->";

/// Why a file is left as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum BlockError {
    #[error("line {line}: a start marker without its end")]
    NoEnd { line: usize },
    #[error("line {line}: an end marker without its start")]
    NoStart { line: usize },
    #[error("line {line}: a second block")]
    Second { line: usize },
    #[error("line {line}: a marker inside a code fence")]
    InFence { line: usize },
    #[error("line {line}: a marker that was changed")]
    Altered { line: usize },
    #[error("line {line}: a code fence that is never closed")]
    OpenFence { line: usize },
}

/// The block in a text, both markers included, without the newline after it.
pub fn find(text: &str) -> Result<Option<Range<usize>>, BlockError> {
    scan_markers(text).map(|scan| scan.block)
}

/// Puts a block in, in the place of the one that is there.
pub fn insert(text: &str, body: &str) -> Result<String, BlockError> {
    let scan = scan_markers(text)?;
    if let Some(Range { start, end }) = scan.block {
        let eol = if text[start + START.len()..].starts_with("\r\n") { "\r\n" } else { "\n" };
        return Ok(format!("{}{}{}", &text[..start], wrap_body(body, eol), &text[end..]));
    }
    let eol = line_ending(text);
    let block = wrap_body(body, eol);
    if let Some(line) = scan.open_fence {
        // At the end it would be part of the code. At the beginning it would come before front matter.
        if text.trim_start_matches('\u{feff}').starts_with("---") {
            return Err(BlockError::OpenFence { line });
        }
        return Ok(format!("{block}{eol}{text}"));
    }
    Ok(match text {
        "" => format!("{block}{eol}"),
        _ if text.ends_with('\n') => format!("{text}{eol}{block}{eol}"),
        _ => format!("{text}{eol}{eol}{block}"),
    })
}

/// Takes the block out; a text without one stays as it is.
pub fn remove(text: &str) -> Result<String, BlockError> {
    let Some(Range { start, end }) = find(text)? else { return Ok(text.to_owned()) };
    let eol = if text[start + START.len()..].starts_with("\r\n") { "\r\n" } else { "\n" };
    let (before, after) = (&text[..start], &text[end..]);
    // Without a newline after it, the block was put into a text that did not end with one.
    let (after, blank) = match after.strip_prefix(eol) {
        Some(after) => (after, 1),
        None => (after, 2),
    };
    let mut kept = before;
    for _ in 0..blank {
        kept = kept.strip_suffix(eol).unwrap_or(kept);
    }
    Ok(format!("{kept}{after}"))
}

/// A body between markers, with one kind of line ending, its own markers opened up and its fences closed.
fn wrap_body(body: &str, eol: &str) -> String {
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    let body = super::escape::defuse_comments(body.trim_end());
    let mut fence = None;
    let mut lines = vec![START];
    for line in body.lines() {
        update_fence(&mut fence, line, 0);
        lines.push(line);
    }
    let close = fence.map(|fence: Fence| fence.mark.to_string().repeat(fence.length));
    lines.extend(close.as_deref());
    lines.push(END);
    lines.join(eol)
}

fn line_ending(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// An open code fence.
struct Fence {
    mark: char,
    length: usize,
    line: usize,
}

struct BlockScan {
    block: Option<Range<usize>>,
    open_fence: Option<usize>,
}

fn scan_markers(text: &str) -> Result<BlockScan, BlockError> {
    let (mut block, mut start, mut fence) = (None, None, None);
    let mut at = 0;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let line = index + 1;
        let content = whole.strip_suffix('\n').unwrap_or(whole);
        let content = content.strip_suffix('\r').unwrap_or(content);
        match parse_marker(content, line)? {
            Some(_) if fence.is_some() => return Err(BlockError::InFence { line }),
            Some(START) if block.is_some() || start.is_some() => return Err(BlockError::Second { line }),
            Some(START) => start = Some((at, line)),
            Some(_) => {
                let (from, _) = start.take().ok_or(BlockError::NoStart { line })?;
                block = Some(from..at + END.len());
            }
            None => update_fence(&mut fence, content, line),
        }
        at += whole.len();
    }
    if let Some((_, line)) = start {
        return Err(BlockError::NoEnd { line });
    }
    Ok(BlockScan { block, open_fence: fence.map(|fence| fence.line) })
}

/// The marker that a line is; a line that was one before somebody touched it is an error.
fn parse_marker(content: &str, line: usize) -> Result<Option<&'static str>, BlockError> {
    for known in [START, END] {
        if content == known {
            return Ok(Some(known));
        }
        if content.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}') == known {
            return Err(BlockError::Altered { line });
        }
    }
    Ok(None)
}

/// Opens or closes a code fence.
fn update_fence(fence: &mut Option<Fence>, content: &str, line: usize) {
    let inner = content.trim_start_matches(' ');
    if content.len() - inner.len() > 3 {
        return;
    }
    let Some(mark) = inner.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return };
    let length = inner.chars().take_while(|next| *next == mark).count();
    let rest = &inner[length..];
    let closes = |open: &Fence| open.mark == mark && length >= open.length && rest.trim().is_empty();
    // Backticks in the info string make it inline code.
    let opens = length >= 3 && !(mark == '`' && rest.contains('`'));
    match fence {
        Some(open) if closes(open) => *fence = None,
        None if opens => *fence = Some(Fence { mark, length, line }),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
