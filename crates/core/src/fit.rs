//! Fitting a live context into a window.
//!
//! The biggest tool outputs are cut first; then the older part gives way to an outline of it. What people and agents
//! said is never cut, a call never loses its outcome, and what is left out is named.

mod clip;
mod cost;
mod outline;

use std::ops::Range;

use crate::transcript::{Action, Body, Entry, Origin, Part};

use cost::{estimate_text, estimate_total};
use outline::Outline;

/// Tool outputs are never cut below this many bytes.
const SMALLEST_CAP_BYTES: usize = 2_000;

/// One entry of the live context and what it means.
#[derive(Debug)]
pub struct ContextItem<'a> {
    pub entry: &'a mut Entry,
    pub action: &'a Action,
}

/// The cuts that were made so that it fits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FitResult {
    /// Entries before this index gave way to the outline.
    pub cut: usize,
    /// Entries of which something was cut, by index.
    pub clipped: Vec<usize>,
    /// Stands for what was before the cut.
    pub brief: Option<String>,
    /// The size after the cuts, in estimated tokens.
    pub tokens: u64,
    /// The size before them.
    pub whole_tokens: u64,
}

/// The end of the session alone is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CannotFit {
    pub needed: u64,
    pub window: u64,
}

/// Cuts what must be cut for `window` tokens. `show` is the command that shows the session whole.
pub fn fit_into_window(items: &mut [ContextItem<'_>], window: u64, show: &str) -> Result<FitResult, CannotFit> {
    let tokens = estimate_total(items, usize::MAX);
    if tokens <= window {
        return Ok(FitResult { tokens, whole_tokens: tokens, ..FitResult::default() });
    }
    if estimate_total(items, SMALLEST_CAP_BYTES) <= window {
        return Ok(FitResult { whole_tokens: tokens, ..clip_outputs(items, 0, None, window, show) });
    }
    let outline = Outline::from_items(items, show);
    let (cut, brief) = choose_cut(items, &outline, window)?;
    Ok(FitResult { whole_tokens: tokens, ..clip_outputs(items, cut, Some(brief), window, show) })
}

/// Where to cut, and the outline of what stands before.
fn choose_cut(items: &[ContextItem<'_>], outline: &Outline, window: u64) -> Result<(usize, String), CannotFit> {
    let rest = cost::suffix_sums(items, SMALLEST_CAP_BYTES);
    let turns = possible_cuts(items, is_turn_start);
    // A turn may be larger than any window: then it is cut between two of its steps.
    let steps = possible_cuts(items, |_| true);
    // An outline with all that was said and done, else one without the calls, before anything that was said goes.
    for (cuts, with_calls) in [(&turns, true), (&turns, false), (&steps, true), (&steps, false)] {
        let fits = |cut: &&usize| outline.full_cost(**cut, with_calls).saturating_add(rest[**cut]) <= window;
        if let Some(cut) = cuts.iter().find(fits) {
            return Ok((*cut, outline.render_full(*cut, with_calls)));
        }
    }
    // More was said than fits. The recent part takes at most half, so that the outline has room, too.
    let least = |cut: usize| outline.least_cost(cut).saturating_add(rest[cut]);
    let fits = |cut: &&usize| least(**cut) <= window;
    let half = |cut: &&usize| fits(cut) && rest[**cut] <= window / 2;
    let in_turns = turns.iter().find(half).or_else(|| turns.iter().rfind(fits));
    let cut = in_turns.or_else(|| steps.iter().find(half)).or_else(|| steps.iter().find(fits));
    if let Some(cut) = cut {
        return Ok((*cut, outline.render_newest(*cut, window - rest[*cut])));
    }
    let needed = steps.iter().map(|cut| least(*cut)).min().unwrap_or(rest[0]).min(rest[0]);
    Err(CannotFit { needed, window })
}

fn is_turn_start(entry: &Entry) -> bool {
    matches!(entry.body, Body::Prompt(_)) && entry.origin == Origin::User
}

/// The places where the context may be cut: something is left on both sides, and no call is parted from its outcome.
fn possible_cuts(items: &[ContextItem<'_>], starts: impl Fn(&Entry) -> bool) -> Vec<usize> {
    let mut open = std::collections::BTreeSet::new();
    let mut cuts = Vec::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 && open.is_empty() && starts(item.entry) {
            cuts.push(index);
        }
        match &item.entry.body {
            Body::Call(call) => {
                open.insert(&call.id);
            }
            Body::Outcome(outcome) => {
                open.remove(&outcome.call);
            }
            _ => {}
        }
    }
    cuts
}

/// Cuts tool outputs after `cut` as little as the window allows.
fn clip_outputs(
    items: &mut [ContextItem<'_>],
    cut: usize,
    brief: Option<String>,
    window: u64,
    show: &str,
) -> FitResult {
    let reserved = brief.as_deref().map_or(0, estimate_text);
    let room = window.saturating_sub(reserved);
    let cap = find_largest_cap(&items[cut..], room);
    let mut clipped = Vec::new();
    for (index, item) in items.iter_mut().enumerate().skip(cut) {
        if clip_outcome(item.entry, cap, show) {
            clipped.push(index);
        }
    }
    let tokens = estimate_total(&items[cut..], usize::MAX) + reserved;
    FitResult { cut, clipped, brief, tokens, whole_tokens: tokens }
}

/// The largest number of bytes that every tool output may have; the smallest cap is known to fit.
fn find_largest_cap(items: &[ContextItem<'_>], room: u64) -> usize {
    let longest = items.iter().flat_map(|item| outcome_parts(item.entry)).map(Part::text_len).max().unwrap_or(0);
    let Range { mut start, mut end } = SMALLEST_CAP_BYTES..longest.max(SMALLEST_CAP_BYTES) + 1;
    while end - start > 1 {
        let middle = start + (end - start) / 2;
        if estimate_total(items, middle) <= room {
            start = middle;
        } else {
            end = middle;
        }
    }
    start
}

fn outcome_parts(entry: &Entry) -> &[Part] {
    match &entry.body {
        Body::Outcome(outcome) => &outcome.parts,
        _ => &[],
    }
}

fn clip_outcome(entry: &mut Entry, cap: usize, show: &str) -> bool {
    let Body::Outcome(outcome) = &mut entry.body else { return false };
    let mut clipped = false;
    for part in &mut outcome.parts {
        if let Part::Text(text) = part
            && text.len() > cap
        {
            *text = clip::cut_middle(text, cap, show);
            clipped = true;
        }
    }
    clipped
}

#[cfg(test)]
mod tests;
