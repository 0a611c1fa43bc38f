//! Cutting what is carried to what the target takes.

use std::collections::BTreeSet;

use carryover_agents::{Agent, CarriedEntry, Loss};
use carryover_core::fit::{self, CannotFit, ContextItem};
use carryover_core::tokens::estimate;
use carryover_core::transcript::{Action, Body, Entry, EntryKey, Header, Origin, Part, SessionId, count_messages};

use super::assemble::{AssembledSession, SourceSession};
use super::complete::complete_entries;
use super::resume::ResumeError;
use crate::sessions::unread::Unread;
use crate::write::journal;

/// A session cut to size, as it will be written.
pub(super) struct FittedSession {
    pub(super) header: Header,
    pub(super) carried: Vec<CarriedEntry>,
    pub(super) brief: Option<String>,
    /// How many entries gave way to the brief.
    pub(super) cut: usize,
    /// How many of those carried stand before all others and came from no session.
    pub(super) n_openings: usize,
    pub(super) clipped: usize,
    /// What gave way, as a person counts it.
    pub(super) left_out: Option<LeftOut>,
    pub(super) tokens: u64,
    /// Of all entries, with those that gave way.
    pub(super) origins: Vec<journal::Origin>,
    pub(super) sources: Vec<SourceSession>,
    pub(super) losses: Vec<Loss>,
    pub(super) unread: Unread,
}

/// Older messages for which there was no room.
pub(super) struct LeftOut {
    pub(super) count: usize,
    /// Of all, of the same kind.
    total: usize,
    noun: &'static str,
    /// The tokens that all of it would take.
    whole_tokens: u64,
}

impl FittedSession {
    /// That older messages gave way, and what would keep them.
    pub(super) fn cut_warning(&self, window: u64) -> Option<String> {
        let LeftOut { count, total, noun, whole_tokens } = self.left_out.as_ref()?;
        let (window, whole) = (format_tokens(window), format_tokens(*whole_tokens));
        Some(format!(
            "leaves out the {count} oldest of {total} {noun} to fit {window} tokens: `--tokens {whole}` carries all, if \
             the model takes it"
        ))
    }
}

impl FittedSession {
    /// Puts words before everything else.
    pub(super) fn prepend_opening(&mut self, opening: Option<&str>) {
        let Some(opening) = opening else { return };
        let first = self.carried.first();
        let entry = Entry {
            // No record of a session is there.
            key: EntryKey { file: u16::MAX, offset: 0, part: 0, length: 0 },
            at: first.and_then(|first| first.entry.at),
            origin: Origin::Hook,
            side: false,
            node: None,
            body: Body::Prompt(vec![Part::Text(opening.to_owned())]),
        };
        let agent = first.map_or("", |first| first.agent);
        let carried = CarriedEntry { entry, agent, action: Action::Other, native: None, clipped: false };
        self.carried.insert(0, carried);
        self.tokens += estimate(opening);
        self.n_openings = 1;
    }
}

/// Tokens as `--tokens` takes them, rounded up to two or three digits.
fn format_tokens(tokens: u64) -> String {
    match tokens {
        0..10_000 => tokens.to_string(),
        10_000..950_000 => format!("{}k", tokens.div_ceil(1_000)),
        _ => {
            let tenths = tokens.div_ceil(100_000);
            if tenths.is_multiple_of(10) {
                format!("{}M", tenths / 10)
            } else {
                format!("{}.{}M", tenths / 10, tenths % 10)
            }
        }
    }
}

/// Fits a session into a number of tokens, and completes what is left of it.
pub(super) fn fit_session(
    assembled: AssembledSession,
    budget: u64,
    target: &dyn Agent,
) -> Result<FittedSession, ResumeError> {
    let AssembledSession { header, mut carried, origins, sources, unread, .. } = assembled;
    let show = format!("carryover show {} --full", shorten_id(&header.session));
    let mut items: Vec<ContextItem<'_>> =
        carried.iter_mut().map(|carried| ContextItem { entry: &mut carried.entry, action: &carried.action }).collect();
    let fit = fit::fit_into_window(&mut items, budget, &show)
        .map_err(|CannotFit { needed, window }| ResumeError::CannotFit { needed, window })?;
    for index in &fit.clipped {
        carried[*index].clipped = true;
    }
    let older: Vec<CarriedEntry> = carried.drain(..fit.cut).collect();
    let mut losses = complete_entries(&mut carried, &origins[fit.cut..], &sources, target);
    drop_clipped_natives(&mut carried, &older);
    losses.extend(drop_sealed_summaries(&mut carried));
    losses.extend(drop_blank_messages(&mut carried));
    if fit.brief.is_none() && carried.iter().all(|carried| matches!(carried.entry.body, Body::Opaque(_))) {
        return Err(ResumeError::Empty(unread));
    }
    let left_out = (fit.cut > 0).then(|| count_left_out(&older, &carried, fit.whole_tokens));
    losses.extend(left_out.as_ref().map(|left_out| Loss {
        what: if left_out.noun == STEPS { "older steps" } else { "older messages" },
        count: left_out.count,
        reason: "they did not fit; an outline of them stands in their place",
    }));
    losses.extend(unread_losses(&unread));
    Ok(FittedSession {
        header,
        carried,
        brief: fit.brief,
        cut: fit.cut,
        n_openings: 0,
        clipped: fit.clipped.len(),
        left_out,
        tokens: fit.tokens,
        origins,
        sources,
        losses,
        unread,
    })
}

/// Damaged records of the store cannot be in the copy.
fn unread_losses(unread: &Unread) -> impl Iterator<Item = Loss> {
    let damaged = "damaged in the session's own store; a warning tells where";
    let unknown = "not understood, and left out; a warning names the kinds";
    let losses = [("unreadable records", unread.count, damaged), ("unknown records", unread.n_unknown(), unknown)];
    losses.into_iter().filter(|(_, count, _)| *count > 0).map(|(what, count, reason)| Loss { what, count, reason })
}

/// A record of which something was cut off cannot be written back as it was.
fn drop_clipped_natives(carried: &mut [CarriedEntry], older: &[CarriedEntry]) {
    let cut = carried.iter().filter(|carried| carried.clipped).chain(older);
    let cut: BTreeSet<(u16, u64)> = cut.map(|carried| carried.entry.key.record()).collect();
    for carried in carried.iter_mut().filter(|carried| cut.contains(&carried.entry.key.record())) {
        carried.native = None;
    }
}

/// A summary without words is one that only its vendor's API can open: to another agent it says nothing.
fn drop_sealed_summaries(carried: &mut [CarriedEntry]) -> Option<Loss> {
    let is_sealed = |carried: &&mut CarriedEntry| match &carried.entry.body {
        Body::Summary(parts) => parts.is_empty() && carried.native.is_none(),
        _ => false,
    };
    let count = make_opaque(carried, "sealed summary", is_sealed);
    let reason = "sealed by its vendor; `carryover show --full` has what it stood for";
    (count > 0).then_some(Loss { what: "summary", count, reason })
}

/// No API takes a message in which nothing is said, and clients leave it out when they resume: it costs itself and not
/// the session.
fn drop_blank_messages(carried: &mut [CarriedEntry]) -> Option<Loss> {
    let is_blank = |carried: &&mut CarriedEntry| match &carried.entry.body {
        Body::Prompt(parts) | Body::Reply(parts) => carried.native.is_none() && parts.iter().all(is_blank_part),
        _ => false,
    };
    let count = make_opaque(carried, "blank", is_blank);
    let reason = "nothing is said in them, and no model takes such a message";
    (count > 0).then_some(Loss { what: "blank messages", count, reason })
}

/// Leaves nothing of some entries but their places, and counts them.
fn make_opaque(
    carried: &mut [CarriedEntry],
    kind: &'static str,
    is_given_up: impl Fn(&&mut CarriedEntry) -> bool,
) -> usize {
    let given_up = carried.iter_mut().filter(is_given_up);
    given_up.map(|carried| carried.entry.body = Body::reduced(kind)).count()
}

fn is_blank_part(part: &Part) -> bool {
    matches!(part, Part::Text(text) if text.trim().is_empty())
}

/// Enough of an id to be the only one: ids that begin with the time share their first eight characters for a minute.
fn shorten_id(session: &SessionId) -> &str {
    session.0.get(..13).unwrap_or(&session.0)
}

const STEPS: &str = "steps";

/// How much did not fit, as a person counts it; a cut within one long turn may take nothing but calls.
fn count_left_out(older: &[CarriedEntry], kept: &[CarriedEntry], whole_tokens: u64) -> LeftOut {
    let entries = |part: &[CarriedEntry]| count_messages(part.iter().map(|carried| &carried.entry));
    match entries(older) {
        0 => LeftOut { count: older.len(), total: older.len() + kept.len(), noun: STEPS, whole_tokens },
        count => LeftOut { count, total: count + entries(kept), noun: "messages", whole_tokens },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_rounded_up_to_what_a_flag_takes() {
        let tokens = [9_999, 10_001, 200_000, 949_001, 950_000, 1_000_000, 1_000_001, 2_345_678].map(format_tokens);
        assert_eq!(tokens, ["9999", "11k", "200k", "950k", "1M", "1M", "1.1M", "2.4M"]);
    }
}
