//! Where a session can go on: every target, with the road to it and what was carried there before.

use std::cmp::Reverse;

use carryover_agents::{AGENTS, Agent, Loss, ResumeCommand, Target};
use carryover_core::render::{ContextOptions, context_block};
use carryover_core::tokens::estimate;

use super::earlier::EarlierCopy;
use super::own;
use super::resume::{self, Options, ResumeError};
use crate::client;
use crate::context::Context;
use crate::handoff::{self, distil_session};
use crate::sessions::copies::Copies;
use crate::sessions::list::ListedSession;

/// How a session gets to a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Road {
    /// It is there: the client's own command goes on with it. Anything else is a fork.
    Own(ResumeCommand),
    /// A session is written into the target's own store.
    Native,
    /// Words where the target reads its instructions, or a prompt.
    Context,
}

/// One target that a session can go on in.
#[derive(Clone)]
pub struct Offer {
    pub target: Target,
    pub agent: &'static dyn Agent,
    pub installed: bool,
    pub road: Road,
    /// The newest copy that is still there of those that were carried to it.
    pub copy: Option<EarlierCopy>,
}

/// What the target would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    pub messages: usize,
    pub calls: usize,
    pub tokens: u64,
    pub window: u64,
    pub lost: Vec<Loss>,
    pub warnings: Vec<String>,
}

/// Every target of a session: those that are installed first, then those that take sessions, then editors; of each, others
/// before the session's own agent.
pub fn list_offers(context: &Context, session: &ListedSession) -> Vec<Offer> {
    let copies = Copies::load(context);
    let mut offers: Vec<Offer> = AGENTS.iter().map(|agent| make_offer(context, session, *agent, &copies)).collect();
    let is_own = |offer: &Offer| offer.target.id == session.agent.facts().id;
    offers.sort_by_key(|offer| (Reverse(offer.installed), offer.is_editor(), is_own(offer)));
    offers
}

fn make_offer(context: &Context, session: &ListedSession, agent: &'static dyn Agent, copies: &Copies) -> Offer {
    let target = Target::from_facts(agent.facts());
    let installed = client::find_agent_program(context, agent.facts()).is_some();
    let is_taker = agent.writer().is_some() || resume::goes_into_editor(context, agent);
    let road = match own::own_command(context, session, agent) {
        Some(command) => Road::Own(command),
        None if is_taker => Road::Native,
        None => Road::Context,
    };
    let copy = EarlierCopy::find(context, copies, session, agent);
    Offer { target, agent, installed, road, copy }
}

impl Offer {
    /// Whether it takes no sessions: a brief is left where it reads its rules.
    pub fn is_editor(&self) -> bool {
        self.road == Road::Context
    }

    /// What the target would get, by a dry run; a session that is its own already is what it is, and a fork is told.
    pub fn estimate(&self, context: &Context, session: &ListedSession) -> Result<Estimate, ResumeError> {
        let target = self.agent;
        let into_editor = resume::goes_into_editor(context, target);
        if target.writer().is_none() && !into_editor {
            return self.estimate_words(context, session);
        }
        let options = Options {
            target,
            project: None,
            tokens: None,
            dry_run: true,
            sub_agents: Vec::new(),
            opening: None,
            whole: None,
            into_editor,
        };
        let report = resume::resume_session(context, session, &options)?;
        let resume::Report { messages, calls, tokens, window, lost, warnings, .. } = report;
        Ok(Estimate { messages, calls, tokens, window, lost, warnings })
    }

    fn estimate_words(&self, context: &Context, session: &ListedSession) -> Result<Estimate, ResumeError> {
        let distilled = distil_session(context, session, handoff::Options { project: None, redact: true })?;
        let show = format!("carryover show {}", session.found.id);
        let agent_name = session.agent.facts().name;
        let text = context_block(&distilled.brief, &ContextOptions { agent_name, show_command: &show, opening: "" });
        Ok(Estimate {
            messages: 0,
            calls: 0,
            tokens: estimate(&text),
            window: self.target.budget,
            lost: Vec::new(),
            warnings: distilled.warnings,
        })
    }
}
