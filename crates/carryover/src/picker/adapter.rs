//! From what the engine tells to what the picker shows. Nothing else of the picker knows sessions of the engine.

mod preview;

use std::cell::OnceCell;

use anstyle::AnsiColor;
use carryover_agents::{Agent, AgentError, Liveness, Loss};
use carryover_engine::carry::offers::{self, Estimate, Road};
use carryover_engine::carry::resume::ResumeError;
use carryover_engine::context::Context;
use carryover_engine::sessions::copies::{CarriedCopy, Copies, CopyState, SessionRef};
use carryover_engine::sessions::glance::Glance;
use carryover_engine::sessions::list::{self, ListedSession, Listing};
use ratatui::style::Color;

use super::model::{Limit, Lineage, Offer, OfferEstimate, Row, RowKey, Way};
use crate::paint::agent_color;
use crate::relative_time::format_when;
use crate::session_row::abbreviate_home;
use crate::told_words::count_lost;

pub(super) use preview::{carried_section, read_preview};

pub(super) fn key_of(session: &ListedSession) -> RowKey {
    RowKey { agent: session.agent.facts().id, id: session.found.id.0.clone() }
}

/// Makes rows of sessions.
pub(super) struct RowMaker<'a> {
    context: &'a Context,
    copies: &'a Copies,
}

impl<'a> RowMaker<'a> {
    pub(super) fn new(context: &'a Context, copies: &'a Copies) -> Self {
        Self { context, copies }
    }

    pub(super) fn make_row(&self, session: &ListedSession, glance: Option<&Glance>) -> Row {
        let (facts, found) = (session.agent.facts(), &session.found);
        Row {
            key: key_of(session),
            agent_name: facts.name,
            color: row_color(session.agent),
            title: found.title.clone(),
            project: found.project.as_deref().map(|project| abbreviate_home(self.context, project)),
            branch: found.branch.clone(),
            updated_at: found.updated_at,
            messages: found.messages.or(glance.map(|glance| glance.messages)),
            is_here: session.here,
            is_open: found.live == Liveness::Live,
            limit: glance.and_then(|glance| glance.limit).map(|limit| Limit { until: limit.resets_at }),
            has_drifted: found.drifted,
            lineage: self.find_lineage(session),
            first_prompt: glance.and_then(|glance| glance.first_prompt.clone()),
            last_prompt: glance.and_then(|glance| glance.last_prompt.clone()),
            folded: OnceCell::new(),
        }
    }

    fn find_lineage(&self, session: &ListedSession) -> Lineage {
        let (agent, id) = (session.agent.facts().id, &session.found.id);
        let origin = self.copies.origin_of(agent, id);
        let made: Vec<&CarriedCopy> = self.copies.copies_of(agent, id).collect();
        let newest = origin.or_else(|| made.first().copied());
        Lineage {
            from: origin.map(|copy| name_session(&copy.told_source)),
            to: made.iter().map(|copy| name_session(&copy.target)).collect(),
            undo: newest.map(|copy| (copy.undo_id.clone(), format!("the copy {}", name_session(&copy.target)))),
        }
    }
}

/// An agent and the beginning of an id.
fn name_session(session: &SessionRef) -> String {
    let id = &session.session.0;
    format!("{} {}", session.agent, &id[..id.floor_char_boundary(8)])
}

/// The agent's colour, as it is in every listing.
fn row_color(agent: &dyn Agent) -> Color {
    match agent_color(agent) {
        AnsiColor::Black => Color::Black,
        AnsiColor::Red => Color::Red,
        AnsiColor::Green => Color::Green,
        AnsiColor::Yellow => Color::Yellow,
        AnsiColor::Blue => Color::Blue,
        AnsiColor::Magenta => Color::Magenta,
        AnsiColor::Cyan => Color::Cyan,
        AnsiColor::White => Color::Gray,
        AnsiColor::BrightBlack => Color::DarkGray,
        AnsiColor::BrightRed => Color::LightRed,
        AnsiColor::BrightGreen => Color::LightGreen,
        AnsiColor::BrightYellow => Color::LightYellow,
        AnsiColor::BrightBlue => Color::LightBlue,
        AnsiColor::BrightMagenta => Color::LightMagenta,
        AnsiColor::BrightCyan => Color::LightCyan,
        AnsiColor::BrightWhite => Color::White,
    }
}

/// What the user should know of a listing.
pub(super) fn listing_warnings(context: &Context, listing: &Listing) -> Vec<String> {
    let failed = listing.failures.iter().map(|(agent, error)| format!("{}: {error}", agent.facts().name));
    let missing = list::missing_stores(context).into_iter().map(|(agent, store)| {
        format!("{}: the configured store {} does not exist", agent.facts().name, store.display())
    });
    failed.chain(missing).collect()
}

/// Losses and warnings in words, the gravest first, and whether what was said gets lost.
fn estimate_notes(estimate: &Estimate) -> (Vec<String>, bool) {
    let (older, others): (Vec<&Loss>, Vec<&Loss>) = estimate.lost.iter().partition(|loss| is_older(loss));
    let is_doubtful = !older.is_empty();
    let losses = older.into_iter().chain(others);
    let mut notes: Vec<String> = losses.map(|loss| format!("loses {}: {}", count_lost(loss), loss.reason)).collect();
    if notes.is_empty() {
        notes.push("loses nothing".to_owned());
    }
    notes.extend(estimate.warnings.iter().cloned());
    (notes, is_doubtful)
}

/// What was said and does not fit is another matter than what no target can hold.
fn is_older(loss: &Loss) -> bool {
    loss.what.starts_with("older")
}

/// The ways to go on with a session.
pub(super) struct OfferMaker {
    offers: Vec<offers::Offer>,
    listed: Vec<Offer>,
}

impl OfferMaker {
    /// Finds them, without reading the session. A fork is a copy also where the session is the target's own.
    pub(super) fn new(context: &Context, session: &ListedSession, fork: bool) -> Self {
        let offers = offers::list_offers(context, session);
        let mut copies: Vec<(&CarriedCopy, Offer)> = Vec::new();
        let mut listed = Vec::new();
        for offer in &offers {
            if let Some(copy) = offer.copy.as_ref().filter(|copy| copy.state == CopyState::GoneOnWith && !fork) {
                copies.push((&copy.copy, copy_offer(context, offer, &copy.copy)));
            }
            listed.extend(plain_offer(session, offer, fork));
        }
        copies.sort_by_key(|(copy, _)| std::cmp::Reverse(copy.at));
        let listed = copies.into_iter().map(|(_, offer)| offer).chain(listed).collect();
        Self { offers, listed }
    }

    pub(super) fn offers(&self) -> Vec<Offer> {
        self.listed.clone()
    }

    /// The targets whose estimates are worth making, in order.
    pub(super) fn targets(&self) -> Vec<&'static str> {
        let carried = self.listed.iter().filter(|offer| matches!(offer.way, Way::Carry | Way::Words));
        carried.map(|offer| offer.target).collect()
    }

    /// What a target would get, which costs reading the session.
    pub(super) fn estimate(&self, context: &Context, session: &ListedSession, target: &str) -> Option<OfferEstimate> {
        let offer = self.offers.iter().find(|offer| offer.target.id == target)?;
        Some(match offer.estimate(context, session) {
            Ok(estimate) if offer.is_editor() => OfferEstimate {
                fill: Some((estimate.tokens, estimate.window)),
                summary: "a brief in words".to_owned(),
                ..OfferEstimate::default()
            },
            Ok(estimate) => {
                let (notes, is_doubtful) = estimate_notes(&estimate);
                let fill = Some((estimate.tokens, estimate.window));
                OfferEstimate { fill, summary: summarize_losses(&estimate), notes, is_doubtful, gets_prompt: false }
            }
            Err(error) => describe_failure(&error),
        })
    }
}

/// The first loss in few words; the reasons are told below.
fn summarize_losses(estimate: &Estimate) -> String {
    let gravest = estimate.lost.iter().find(|loss| is_older(loss)).or(estimate.lost.first());
    let more = estimate.lost.len().saturating_sub(1);
    match gravest {
        None => "loses nothing".to_owned(),
        Some(loss) if more == 0 => format!("loses {}", count_lost(loss)),
        Some(loss) => format!("loses {} (+{more})", count_lost(loss)),
    }
}

/// What comes of a session that cannot be carried: a prompt where the target cannot hold it, else nothing.
fn describe_failure(error: &ResumeError) -> OfferEstimate {
    let gets_prompt = matches!(error, ResumeError::NoWriter(_) | ResumeError::Agent(AgentError::CannotHold { .. }));
    let summary = if gets_prompt { "a prompt in words" } else { "cannot be carried" };
    OfferEstimate {
        fill: None,
        summary: summary.to_owned(),
        notes: vec![error.to_string()],
        is_doubtful: !gets_prompt,
        gets_prompt,
    }
}

fn copy_offer(context: &Context, offer: &offers::Offer, copy: &CarriedCopy) -> Offer {
    let key = RowKey { agent: offer.target.id, id: copy.target.session.0.clone() };
    let note = format!("{}, gone on with", format_when(copy.at, &context.env, false));
    Offer {
        target: offer.target.id,
        name: offer.target.name,
        way: Way::EarlierCopy(key),
        is_editor: offer.is_editor(),
        is_installed: offer.installed,
        note: Some(note),
        estimate: None,
    }
}

/// The offer itself; none for a fork where there is nothing that a copy could be written into.
fn plain_offer(session: &ListedSession, offer: &offers::Offer, fork: bool) -> Option<Offer> {
    let way = match &offer.road {
        Road::Own(_) if fork => Way::Carry,
        Road::Own(_) => Way::OwnClient,
        Road::Native => Way::Carry,
        Road::Context if fork => return None,
        Road::Context => Way::Words,
    };
    let own = format!("its own session {}", name_id(&session.found.id.0));
    let note = (way == Way::OwnClient).then_some(own);
    Some(Offer {
        target: offer.target.id,
        name: offer.target.name,
        way,
        is_editor: offer.is_editor(),
        is_installed: offer.installed,
        note,
        estimate: None,
    })
}

fn name_id(id: &str) -> &str {
    &id[..id.floor_char_boundary(8)]
}
