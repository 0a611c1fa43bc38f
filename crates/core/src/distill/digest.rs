//! A story prepared for the extractors: words as sentences, calls with what became of them. Made once.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use super::aim::Aim;
use super::cues::Cue;
use super::heard::Understood;
use super::prose::Line;
use super::role::{self, Role};
use super::shell::Line as ShellLine;
use super::testrun::{self, Report};
use super::{Deed, ENOUGH, Ended, Heard, Item, MANY, Roots, Step, Story, Voice, Workspace};
use super::{changes, commands, outcome, request};
use crate::parts::{both, mapped};
use crate::plain::{one_line, squeezed};
use crate::time::Timestamp;
use crate::transcript::{Action, EntryKey};

/// The longest text of one finding, in characters; renderings clip further.
const LONG: usize = 600;

/// What the extractors work on.
pub(super) struct Digest<'a> {
    pub(super) story: &'a Story,
    pub(super) workspace: &'a Workspace,
    /// In order.
    pub(super) said: Vec<Said<'a>>,
    /// In order.
    pub(super) calls: Vec<Call<'a>>,
    /// The index of the last step that is a prompt, a reply or a call.
    pub(super) last: usize,
    settled: Settled,
}

/// A message.
pub(super) struct Said<'a> {
    pub(super) step: usize,
    pub(super) key: EntryKey,
    pub(super) at: Option<Timestamp>,
    pub(super) voice: Voice,
    pub(super) is_summary: bool,
    understood: Cow<'a, Understood>,
}

impl Deref for Said<'_> {
    type Target = Understood;

    fn deref(&self) -> &Understood {
        &self.understood
    }
}

/// A call.
pub(super) struct Call<'a> {
    pub(super) step: usize,
    pub(super) key: EntryKey,
    pub(super) at: Option<Timestamp>,
    pub(super) tool: &'a str,
    pub(super) action: &'a Action,
    pub(super) ended: Option<&'a Ended>,
    pub(super) failed: bool,
    pub(super) role: Role,
    /// The commands that it runs, where it does.
    pub(super) line: Option<ShellLine<'a>>,
    /// What it came to, where it ran tests and said so.
    pub(super) report: Option<Report>,
    pub(super) aim: Aim<'a>,
    /// Whether it may do something to files that is in plain sight.
    pub(super) may_touch: bool,
    /// Whether it runs what may make a commit.
    pub(super) may_commit: bool,
}

impl<'a> Digest<'a> {
    pub(super) fn of(story: &'a Story, heard: &'a Heard, workspace: &'a Workspace) -> Self {
        let Told { words, deeds } = Told::of(story, heard);
        let understood = || {
            let said = mapped(&words, ENOUGH, Said::of);
            let settled = Settled::of(&said);
            (said, settled)
        };
        let (calls, (said, settled)) = both(deeds.len() >= MANY, || mapped(&deeds, ENOUGH, Call::of), understood);
        let last = said.last().map(|said| said.step).max(calls.last().map(|call| call.step)).unwrap_or_default();
        Self { story, workspace, said, calls, last, settled }
    }

    /// The folders that paths are seen from.
    pub(super) fn roots(&self) -> Roots {
        Roots::of(self.story, &self.workspace.root)
    }

    /// Whether later words settle what a text speaks of.
    pub(super) fn is_settled_later(&self, step: usize, text: &str) -> bool {
        self.settled.has(step, &request::stems(text))
    }

    /// Whether there is a call between two steps.
    pub(super) fn calls_between(&self, start: usize, end: usize) -> bool {
        let from = self.calls.partition_point(|call| call.step <= start);
        self.calls.get(from).is_some_and(|call| call.step < end)
    }

    pub(super) fn prompts(&self) -> impl DoubleEndedIterator<Item = &Said<'a>> {
        self.said.iter().filter(|said| said.voice == Voice::User && !said.text.is_empty())
    }

    /// What the agent said to the user.
    pub(super) fn replies(&self) -> impl DoubleEndedIterator<Item = &Said<'a>> {
        self.said.iter().filter(|said| said.voice == Voice::Agent && !said.is_summary)
    }

    /// The last prompt that has words of the user, acknowledgements too.
    pub(super) fn last_prompt(&self) -> Option<&Said<'a>> {
        self.prompts().next_back()
    }

    /// The replies since the last prompt.
    pub(super) fn last_turn(&self) -> impl DoubleEndedIterator<Item = &Said<'a>> {
        let from = self.last_prompt().map_or(0, |prompt| prompt.step);
        self.replies().filter(move |reply| reply.step >= from)
    }
}

/// A story with words and deeds apart.
#[derive(Default)]
struct Told<'a> {
    words: Vec<Words<'a>>,
    deeds: Vec<Called<'a>>,
}

/// A message as it is told.
struct Words<'a> {
    index: usize,
    step: &'a Step,
    heard: Option<&'a Understood>,
}

/// A call as it is told.
struct Called<'a> {
    index: usize,
    step: &'a Step,
    tool: &'a str,
    action: &'a Action,
    ended: Option<&'a Ended>,
}

impl<'a> Told<'a> {
    fn of(story: &'a Story, heard: &'a Heard) -> Self {
        let (mut told, mut next) = (Self::default(), 0);
        for (index, step) in story.steps.iter().enumerate() {
            match &step.deed {
                Deed::Prompt { .. } | Deed::Reply { .. } | Deed::Summary { .. } => {
                    told.words.push(Words { index, step, heard: heard.get(step.key, &mut next) });
                }
                Deed::Call { tool, action, ended } => {
                    told.deeds.push(Called { index, step, tool, action, ended: ended.as_ref() });
                }
                Deed::Attached { .. } | Deed::Reasoning { .. } | Deed::Failure(_) => {}
            }
        }
        told
    }
}

impl<'a> Said<'a> {
    fn of(words: &Words<'a>) -> Self {
        let Words { index, step: Step { key, at, deed }, heard } = *words;
        let voice = if matches!(deed, Deed::Prompt { .. }) { Voice::User } else { Voice::Agent };
        let is_summary = matches!(deed, Deed::Summary { .. });
        let understood = heard.map_or_else(|| Cow::Owned(Understood::of(deed)), Cow::Borrowed);
        Self { step: index, key: *key, at: *at, voice, is_summary, understood }
    }

    pub(super) fn is_user(&self) -> bool {
        self.voice == Voice::User
    }

    /// A finding in these words of it.
    pub(super) fn item(&self, text: &str) -> Item {
        self.item_of(text, LONG)
    }

    /// The same in no more than so many characters.
    pub(super) fn item_of(&self, text: &str, width: usize) -> Item {
        // What is understood has no escapes.
        let text = squeezed(bounded(text, width), width);
        Item { text, voice: self.voice, at: self.at, cites: vec![self.key] }
    }
}

impl<'a> Call<'a> {
    fn of(called: &Called<'a>) -> Self {
        let Called { index, step: Step { key, at, .. }, tool, action, ended } = *called;
        let line = match action {
            Action::Run { command, .. } => Some(ShellLine::of(command)),
            _ => None,
        };
        let (role, aim) = (role::of(action, line.as_ref()), Aim::of(tool, action, line.as_ref()));
        let output = ended.filter(|_| role == Role::Check).map(|ended| ended.text.as_str());
        let report = output.and_then(|output| testrun::of(line.as_ref()?, output));
        let failed = ended.is_some_and(|ended| outcome::has_failed(action, ended, report.as_ref()));
        // Asked here, where the command is at hand: nearly all calls need not be looked at again.
        let may_touch = changes::may_touch(action, line.as_ref());
        let may_commit = matches!(action, Action::Run { command, .. } if commands::names_commit(command));
        let (step, key, at) = (index, *key, *at);
        Self { step, key, at, tool, action, ended, failed, role, line, report, aim, may_touch, may_commit }
    }

    pub(super) fn cites(&self) -> Vec<EntryKey> {
        let mut cites = vec![self.key];
        cites.extend(self.ended.map(|ended| ended.key));
        cites
    }

    /// When it was over.
    pub(super) fn over_at(&self) -> Option<Timestamp> {
        self.ended.and_then(|ended| ended.at).or(self.at)
    }

    pub(super) fn succeeded(&self) -> bool {
        self.ended.is_some() && !self.failed
    }

    /// What was done, in one line.
    pub(super) fn told(&self) -> String {
        let subject = match self.action {
            Action::Run { .. } => return short(&self.aim.object, 200),
            action => action.subject(),
        };
        let verb = match self.action {
            Action::Read { .. } | Action::View { .. } => "read",
            Action::Write { .. } => "write",
            Action::Edit(_) => "edit",
            Action::Grep { .. } | Action::Glob { .. } => "search",
            Action::Fetch { .. } => "fetch",
            Action::Delegate { .. } => "delegate",
            _ => return short(&format!("{} {subject}", self.tool), 200).trim().to_owned(),
        };
        short(&format!("{verb} {subject}"), 200)
    }
}

/// The sentences that settle something, by what they speak of: a question is not searched for in all that came after.
#[derive(Default)]
struct Settled {
    /// The step of each sentence.
    steps: Vec<usize>,
    by_stem: BTreeMap<String, Vec<usize>>,
}

impl Settled {
    fn of(said: &[Said<'_>]) -> Self {
        let mut settled = Self::default();
        for said in said.iter().filter(|said| !said.is_summary) {
            for (text, cues) in said.lines.iter().flat_map(Line::said) {
                let settles = cues.any(&[Cue::Solved, Cue::Decided])
                    || (said.is_user() && cues.any(&[Cue::Chooses, Cue::Contrast]));
                if !settles || cues.any(&[Cue::Open, Cue::Blocked]) {
                    continue;
                }
                for stem in request::stems(text) {
                    settled.by_stem.entry(stem).or_default().push(settled.steps.len());
                }
                settled.steps.push(said.step);
            }
        }
        settled
    }

    /// Whether a sentence after a step shares two words with these, or all of them where there are fewer.
    fn has(&self, step: usize, stems: &BTreeSet<String>) -> bool {
        let from = self.steps.partition_point(|at| *at <= step);
        let mut shared: Vec<usize> = Vec::new();
        for sentences in stems.iter().filter_map(|stem| self.by_stem.get(stem)) {
            shared.extend(&sentences[sentences.partition_point(|sentence| *sentence < from)..]);
        }
        shared.sort_unstable();
        match stems.len() {
            0 => false,
            1 => !shared.is_empty(),
            _ => shared.windows(2).any(|pair| pair[0] == pair[1]),
        }
    }
}

/// One line of bounded length, without escapes.
pub(super) fn short(text: &str, width: usize) -> String {
    one_line(bounded(text, width), width)
}

/// What is far longer is cut before it is cleaned.
fn bounded(text: &str, width: usize) -> &str {
    &text[..text.floor_char_boundary(width.saturating_mul(8))]
}
