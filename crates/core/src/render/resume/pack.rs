//! Packing: section by section in the order of their need, as far as the budget goes.
//!
//! Half of the budget is kept for the conversation, where there is one: the rest of it takes what is left.

use super::super::Material;
use super::super::escape::{inline_code, quote_inline};
use super::sections::{self, DIFF_CHARS, LAST_EXCHANGE_MESSAGES, MAX_DIFFS, N_LISTINGS, RECENT_CHARS, RECENT_MESSAGES};
use super::{BudgetTooSmall, DroppedCount, ResumeOptions, ResumePrompt, earlier_prompts};
use crate::tokens::{estimate, estimate_within};

/// So many files are told with what became of them.
const MAX_DETAILED_FILES: usize = 8;
/// Less room than this is not worth cutting something to size for.
const WORTH_CUTTING_TOKENS: u64 = 200;

pub(super) fn fill_budget(
    material: &Material<'_>,
    options: &ResumeOptions<'_>,
) -> Result<ResumePrompt, BudgetTooSmall> {
    let mut room = options.budget;
    // The sum of the parts is nearly the whole; where it is not, the next try has less room.
    for _ in 0..8 {
        let Some(draft) = Draft::fill_within(material, options, room) else { break };
        let text = draft.join_text(options);
        let tokens = estimate(&text);
        if tokens <= options.budget {
            return Ok(ResumePrompt { text, tokens, dropped: draft.dropped });
        }
        room = room.saturating_sub(tokens - options.budget + 8);
    }
    let draft = Draft::fill_least(material, options);
    let text = draft.join_text(options);
    let tokens = estimate(&text);
    if tokens > options.budget {
        return Err(BudgetTooSmall { least: tokens });
    }
    Ok(ResumePrompt { text, tokens, dropped: draft.dropped })
}

/// The tokens that are left.
#[derive(Clone)]
pub(super) struct TokenBudget(u64);

impl TokenBudget {
    /// Whether a text fits; then it is paid for.
    pub(super) fn try_spend(&mut self, text: &str) -> bool {
        let Some(count) = estimate_within(text, self.0) else { return false };
        self.0 -= count;
        true
    }

    /// A part of the room, for a section that must not take all; what it does not use is given back.
    fn lend_part(&mut self, most: u64, spend: impl FnOnce(&mut Self)) {
        let lent = most.min(self.0);
        let mut part = Self(lent);
        spend(&mut part);
        self.0 -= lent - part.0;
    }
}

/// A prompt in the making.
#[derive(Default)]
struct Draft {
    head: String,
    state: String,
    task: String,
    listings: [String; N_LISTINGS],
    /// Each with the message that it is.
    earlier_prompts: Vec<(usize, String)>,
    standing: String,
    files: String,
    diffs: String,
    context: String,
    overview: String,
    earlier: String,
    recent: String,
    foot: String,
    dropped: Vec<DroppedCount>,
}

impl Draft {
    /// As much as goes into some tokens; none where not even the frame does.
    fn fill_within(material: &Material<'_>, options: &ResumeOptions<'_>, tokens: u64) -> Option<Self> {
        let mut room = TokenBudget(tokens);
        let (head, state, foot) = (
            sections::render_head(material, options, false),
            sections::render_state(material),
            sections::render_foot(),
        );
        let is_room = [&head, &foot, &state, &longest_left_out(options)].into_iter().all(|frame| room.try_spend(frame));
        if !is_room {
            return None;
        }
        let mut draft = Self { head, state, foot, ..Self::default() };
        draft.task = sections::render_last_prompt(material) + &sections::render_task(material, (room.0 / 4).min(1_500));
        if !room.try_spend(&draft.task) {
            return None;
        }
        let share = room.0 / 8;
        room.lend_part(share, |room| draft.add_about_task(material, room));
        room.lend_part(share * 2, |room| draft.add_listings(material, room));
        let mut conversation = ConversationPacker::new(material);
        room.lend_part(room.0 * 9 / 20, |room| conversation.take_messages(room));
        room.lend_part(share * 3 / 2, |room| draft.add_files(material, room));
        room.lend_part(room.0 * 4 / 5, |room| draft.add_earlier_prompts(material, conversation.from, room));
        let said = draft.earlier_prompts.iter().map(|(_, line)| line.as_str());
        let shown: String =
            said.chain([draft.task.as_str()]).chain(conversation.taken.iter().map(String::as_str)).collect();
        room.lend_part(share, |room| draft.add_standing(material, &shown, room));
        room.lend_part(room.0 / 2, |room| conversation.take_messages(room));
        draft.add_context(material, &mut room);
        draft.add_overview(material, &mut room);
        draft.add_diffs(material, &mut room);
        conversation.take_messages(&mut room);
        conversation.finish_into(&mut draft);
        Some(draft)
    }

    /// The smallest prompt there is: the frame and the task.
    fn fill_least(material: &Material<'_>, options: &ResumeOptions<'_>) -> Self {
        let (head, foot) = (sections::render_head(material, options, true), sections::render_foot());
        let mut draft = Self { head, task: sections::render_task(material, 50), foot, ..Self::default() };
        for listing in &sections::all_listings(material) {
            draft.note_dropped(listing.what, listing.items.len());
        }
        draft.note_dropped("words of the user", material.earlier_prompts.len() + material.about_task.len());
        draft.note_dropped("changed files", material.files.len());
        draft.note_dropped("parts of the project's context", material.context.len());
        draft.note_dropped("lines of the overview", material.overview.len());
        draft.note_dropped("messages", sections::newest_turns(&material.messages).count());
        draft
    }

    fn join_text(&self, options: &ResumeOptions<'_>) -> String {
        let said = match self.earlier_prompts.as_slice() {
            [] => String::new(),
            said => said.iter().fold(EARLIER_HEADING.to_owned(), |text, (_, line)| text + line),
        };
        let parts = [&self.head, &self.state, &self.task].into_iter().chain(&self.listings).chain([
            &self.standing,
            &said,
            &self.files,
            &self.diffs,
            &self.context,
            &self.overview,
            &self.earlier,
            &self.recent,
        ]);
        let mut out: String = parts.map(String::as_str).collect();
        if !self.dropped.is_empty() {
            out += &left_out_section(&self.dropped, options);
        }
        out + &self.foot
    }

    fn note_dropped(&mut self, what: &'static str, n: usize) {
        if n > 0 {
            self.dropped.push(DroppedCount { what, n });
        }
    }

    fn add_about_task(&mut self, material: &Material<'_>, room: &mut TokenBudget) {
        let units = sections::about_task_units(material);
        let taken: Vec<&String> = units.iter().filter(|unit| room.try_spend(unit)).collect();
        self.task.extend(taken.iter().map(|unit| unit.as_str()));
        self.note_dropped("words about the task", units.len() - taken.len());
    }

    /// In turn from each list, so that none is left out for another.
    fn add_listings(&mut self, material: &Material<'_>, room: &mut TokenBudget) {
        let listings = sections::all_listings(material);
        let mut taken = [0; N_LISTINGS];
        let longest = listings.iter().map(|listing| listing.items.len()).max().unwrap_or(0);
        for index in 0..longest {
            for (at, listing) in listings.iter().enumerate() {
                let Some(item) = listing.items.get(index).filter(|_| taken[at] == index) else { continue };
                let heading = if index == 0 { listing.heading } else { "" };
                taken[at] += usize::from(room.try_spend(&list_line(heading, item)));
            }
        }
        for (at, listing) in listings.iter().enumerate() {
            for (index, item) in listing.items.iter().take(taken[at]).enumerate() {
                self.listings[at] += &list_line(if index == 0 { listing.heading } else { "" }, item);
            }
            self.note_dropped(listing.what, listing.items.len() - taken[at]);
        }
    }

    /// Adds the user's prompts from before the messages that are shown.
    fn add_earlier_prompts(&mut self, material: &Material<'_>, before: usize, room: &mut TokenBudget) {
        if room.try_spend(EARLIER_HEADING) {
            self.earlier_prompts = earlier_prompts::lines_before(material, before, room);
        }
    }

    /// Sentences of prompts that are cut or left out, as far as they are told nowhere.
    fn add_standing(&mut self, material: &Material<'_>, shown: &str, room: &mut TokenBudget) {
        const HEADING: &str = "\n## Sentences of the user's from prompts that are not quoted whole here\n\n";
        let hidden = material.standing.iter().filter(|said| !shown.contains(&said.text));
        let lines: Vec<String> = hidden.map(|said| format!("{}: {}", said.by, quote_inline(&said.text, 400))).collect();
        (self.standing, _) = take_list(HEADING, &lines, room);
    }

    fn add_files(&mut self, material: &Material<'_>, room: &mut TokenBudget) {
        const HEADING: &str = "\n## Files changed, by the last edit on record\n\n";
        let mut taken = 0;
        room.lend_part(room.0 / 2, |room| {
            for file in material.files.iter().take(MAX_DETAILED_FILES) {
                let unit = format!("{}{}", if taken == 0 { HEADING } else { "" }, sections::file_line(file));
                if !room.try_spend(&unit) {
                    break;
                }
                self.files += &unit;
                taken += 1;
            }
        });
        // The others by their names, on one line.
        let mut names = String::new();
        for file in &material.files[taken..] {
            let unit = format!("{}{}", if names.is_empty() { "- and " } else { ", " }, sections::file_name(file));
            if !room.try_spend(&unit) {
                break;
            }
            names += &unit;
            taken += 1;
        }
        self.files += &names;
        self.files.push_str(if names.is_empty() { "" } else { "\n" });
        self.note_dropped("changed files", material.files.len() - taken);
    }

    /// As many changes as there is room for, the newest first: what lies on the disk can be looked up.
    fn add_diffs(&mut self, material: &Material<'_>, room: &mut TokenBudget) {
        const HEADING: &str =
            "\n## What the session's own edits changed in them\n\nThey may have been changed since, by commands too.\n";
        let mut without = 0;
        for file in material.files.iter().take(MAX_DIFFS) {
            let heading = if self.diffs.is_empty() { HEADING } else { "" };
            // Two characters a token are the least that code has.
            let chars = usize::try_from(room.0.saturating_mul(2)).unwrap_or(usize::MAX).min(DIFF_CHARS);
            let unit =
                (room.0 > WORTH_CUTTING_TOKENS).then(|| sections::file_unit(file, chars, material.quoting)).flatten();
            match unit.map(|unit| format!("{heading}{unit}")).filter(|unit| room.try_spend(unit)) {
                Some(unit) => self.diffs += &unit,
                None => without += 1,
            }
        }
        self.note_dropped("diffs of changed files", without);
    }

    fn add_context(&mut self, material: &Material<'_>, room: &mut TokenBudget) {
        const HEADING: &str = "\n## The project\n";
        let mut left = 0;
        for unit in sections::context_units(material) {
            let heading = if self.context.is_empty() { HEADING } else { "" };
            let unit = format!("{heading}{unit}");
            if room.try_spend(&unit) { self.context += &unit } else { left += 1 }
        }
        self.note_dropped("parts of the project's context", left);
    }

    fn add_overview(&mut self, material: &Material<'_>, room: &mut TokenBudget) {
        const HEADING: &str = "\n## The session at a glance\n\n";
        let left;
        (self.overview, left) = take_list(HEADING, &material.overview, room);
        self.note_dropped("lines of the overview", left);
    }
}

/// The heading over the user's earlier prompts.
const EARLIER_HEADING: &str = "\n## What the user said before the conversation below, the latest first\n\n";

/// The conversation, from its end backwards; what is not taken is not even made.
struct ConversationPacker<'m, 'a> {
    material: &'m Material<'a>,
    turns: std::iter::Peekable<Box<dyn Iterator<Item = sections::Turn<'m, 'a>> + 'm>>,
    n_turns: usize,
    /// The newest first.
    taken: Vec<String>,
    /// The oldest message that was taken, or else the number of all.
    from: usize,
}

/// The longest that the headings may become, for their tokens.
const LONGEST_HEADINGS: &str = "\n## Recent conversation (last 99999 of 99999 messages)\n\n## Earlier conversation\n";

impl<'m, 'a> ConversationPacker<'m, 'a> {
    fn new(material: &'m Material<'a>) -> Self {
        let turns: Box<dyn Iterator<Item = sections::Turn<'m, 'a>> + 'm> =
            Box::new(sections::newest_turns(&material.messages));
        let n_turns = sections::newest_turns(&material.messages).count();
        Self { material, turns: turns.peekable(), n_turns, taken: Vec::new(), from: material.messages.len() }
    }

    /// Takes messages as long as they fit.
    fn take_messages(&mut self, room: &mut TokenBudget) {
        if self.taken.is_empty() && (self.n_turns == 0 || !room.try_spend(LONGEST_HEADINGS)) {
            return;
        }
        while let Some(turn) = self.turns.peek() {
            let unit = render_turn(turn, self.taken.len(), room.0, self.material);
            if !room.try_spend(&unit) {
                return;
            }
            self.from = turn.index;
            self.taken.push(unit);
            self.turns.next();
        }
    }

    fn finish_into(self, draft: &mut Draft) {
        let Self { material, n_turns, taken, from, .. } = self;
        // The conversation may have reached further back since.
        draft.earlier_prompts.retain(|(message, _)| *message < from);
        let n_before = material.earlier_prompts.iter().filter(|said| said.message < from).count();
        draft.note_dropped("words of the user", n_before - draft.earlier_prompts.len());
        draft.note_dropped("messages", n_turns - taken.len());
        let (recent, earlier) = taken.split_at(taken.len().min(RECENT_MESSAGES));
        if !recent.is_empty() {
            draft.recent = format!("\n## Recent conversation (last {} of {n_turns} messages)\n", recent.len());
            draft.recent.extend(recent.iter().rev().map(String::as_str));
        }
        if !earlier.is_empty() {
            draft.earlier.push_str("\n## Earlier conversation\n");
            draft.earlier.extend(earlier.iter().rev().map(String::as_str));
        }
    }
}

/// The last exchange is told as whole as half of the room allows, the recent messages at length, the others in short.
fn render_turn(turn: &sections::Turn<'_, '_>, n_taken: usize, room: u64, material: &Material<'_>) -> String {
    match n_taken {
        n if n < LAST_EXCHANGE_MESSAGES => {
            let chars = usize::try_from(room.saturating_mul(3) / 2).unwrap_or(usize::MAX);
            turn.render_long(chars.clamp(RECENT_CHARS, 12_000), true, material)
        }
        n if n < RECENT_MESSAGES => turn.render_long(RECENT_CHARS, false, material),
        _ => turn.render_short(material),
    }
}

/// A list below its heading, and how many items there was no room for.
fn take_list(heading: &str, texts: &[String], room: &mut TokenBudget) -> (String, usize) {
    let (mut list, mut left) = (String::new(), 0);
    for text in texts {
        let unit = list_line(if list.is_empty() { heading } else { "" }, text);
        if room.try_spend(&unit) { list += &unit } else { left += 1 }
    }
    (list, left)
}

fn list_line(heading: &str, item: &str) -> String {
    format!("{heading}- {item}\n")
}

/// The section that says what was left out, and how to see it.
fn left_out_section(dropped: &[DroppedCount], options: &ResumeOptions<'_>) -> String {
    let parts: Vec<String> = dropped.iter().map(|dropped| format!("{} {}", dropped.n, dropped.what)).collect();
    format!("\n## Left out\n\n{}. All of it: {}\n", parts.join(", "), inline_code(options.show_command, 100))
}

/// The longest that this section may become, for its tokens.
fn longest_left_out(options: &ResumeOptions<'_>) -> String {
    const KINDS: [&str; 14] = [
        "failures",
        "steps of the plan",
        "decisions",
        "open questions",
        "parts of a summary",
        "lines about git",
        "changes that the session did not see",
        "words about the task",
        "words of the user",
        "changed files",
        "diffs of changed files",
        "parts of the project's context",
        "lines of the overview",
        "messages",
    ];
    let dropped: Vec<DroppedCount> = KINDS.iter().map(|what| DroppedCount { what, n: 99_999 }).collect();
    left_out_section(&dropped, options)
}
