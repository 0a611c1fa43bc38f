//! Packing: section by section in the order of their need, as far as the budget goes.
//!
//! Half of the budget is kept for the conversation, where there is one: the rest of it takes what is left.

use super::super::Material;
use super::super::words::{code, quote};
use super::layers::{self, DIFF_CHARS, LAST_EXCHANGE, LISTINGS, MAX_DIFFS, RECENT, RECENT_CHARS};
use super::{Dropped, Rendered, ResumeOptions, TooSmall, said};
use crate::tokens::{estimate, estimate_within};

/// So many files are told with what became of them.
const DETAILED_FILES: usize = 8;
/// Less room than this is not worth cutting something to size for.
const WORTH_CUTTING: u64 = 200;

pub(super) fn pack(material: &Material<'_>, options: &ResumeOptions<'_>) -> Result<Rendered, TooSmall> {
    let mut room = options.budget;
    // The sum of the parts is nearly the whole; where it is not, the next try has less room.
    for _ in 0..8 {
        let Some(draft) = Draft::within(material, options, room) else { break };
        let text = draft.text(options);
        let tokens = estimate(&text);
        if tokens <= options.budget {
            return Ok(Rendered { text, tokens, dropped: draft.dropped });
        }
        room = room.saturating_sub(tokens - options.budget + 8);
    }
    let draft = Draft::least(material, options);
    let text = draft.text(options);
    let tokens = estimate(&text);
    if tokens > options.budget {
        return Err(TooSmall { least: tokens });
    }
    Ok(Rendered { text, tokens, dropped: draft.dropped })
}

/// The tokens that are left.
#[derive(Clone)]
pub(super) struct Room(u64);

impl Room {
    /// Whether a text fits; then it is paid for.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let Some(count) = estimate_within(text, self.0) else { return false };
        self.0 -= count;
        true
    }

    /// A part of the room, for a section that must not take all; what it does not use is given back.
    fn lend(&mut self, most: u64, spend: impl FnOnce(&mut Self)) {
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
    listings: [String; LISTINGS],
    /// Each with the message that it is.
    said: Vec<(usize, String)>,
    standing: String,
    files: String,
    diffs: String,
    context: String,
    overview: String,
    earlier: String,
    recent: String,
    foot: String,
    dropped: Vec<Dropped>,
}

impl Draft {
    /// As much as goes into some tokens; none where not even the frame does.
    fn within(material: &Material<'_>, options: &ResumeOptions<'_>, tokens: u64) -> Option<Self> {
        let mut room = Room(tokens);
        let (head, state, foot) = (layers::head(material, options, false), layers::state(material), layers::foot());
        let is_room = [&head, &foot, &state, &longest_left_out(options)].into_iter().all(|frame| room.take(frame));
        if !is_room {
            return None;
        }
        let mut draft = Self { head, state, foot, ..Self::default() };
        draft.task = layers::last_prompt(material) + &layers::task(material, (room.0 / 4).min(1_500));
        if !room.take(&draft.task) {
            return None;
        }
        let share = room.0 / 8;
        room.lend(share, |room| draft.add_about_task(material, room));
        room.lend(share * 2, |room| draft.add_listings(material, room));
        let mut conversation = Conversation::of(material);
        room.lend(room.0 * 9 / 20, |room| conversation.take(room));
        room.lend(share * 3 / 2, |room| draft.add_files(material, room));
        room.lend(room.0 * 4 / 5, |room| draft.add_said(material, conversation.from, room));
        let said = draft.said.iter().map(|(_, line)| line.as_str());
        let shown: String =
            said.chain([draft.task.as_str()]).chain(conversation.taken.iter().map(String::as_str)).collect();
        room.lend(share, |room| draft.add_standing(material, &shown, room));
        room.lend(room.0 / 2, |room| conversation.take(room));
        draft.add_context(material, &mut room);
        draft.add_overview(material, &mut room);
        draft.add_diffs(material, &mut room);
        conversation.take(&mut room);
        conversation.finish(&mut draft);
        Some(draft)
    }

    /// The smallest prompt there is: the frame and the task.
    fn least(material: &Material<'_>, options: &ResumeOptions<'_>) -> Self {
        let (head, foot) = (layers::head(material, options, true), layers::foot());
        let mut draft = Self { head, task: layers::task(material, 50), foot, ..Self::default() };
        for listing in &layers::listings(material) {
            draft.drop(listing.what, listing.items.len());
        }
        draft.drop("words of the user", material.said.len() + material.about_task.len());
        draft.drop("changed files", material.files.len());
        draft.drop("parts of the project's context", material.context.len());
        draft.drop("lines of the overview", material.overview.len());
        draft.drop("messages", layers::turns(&material.messages).count());
        draft
    }

    fn text(&self, options: &ResumeOptions<'_>) -> String {
        let said = match self.said.as_slice() {
            [] => String::new(),
            said => said.iter().fold(SAID.to_owned(), |text, (_, line)| text + line),
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
            out += &left_out(&self.dropped, options);
        }
        out + &self.foot
    }

    fn drop(&mut self, what: &'static str, n: usize) {
        if n > 0 {
            self.dropped.push(Dropped { what, n });
        }
    }

    fn add_about_task(&mut self, material: &Material<'_>, room: &mut Room) {
        let units = layers::about_task(material);
        let taken: Vec<&String> = units.iter().filter(|unit| room.take(unit)).collect();
        self.task.extend(taken.iter().map(|unit| unit.as_str()));
        self.drop("words about the task", units.len() - taken.len());
    }

    /// In turn from each list, so that none is left out for another.
    fn add_listings(&mut self, material: &Material<'_>, room: &mut Room) {
        let listings = layers::listings(material);
        let mut taken = [0; LISTINGS];
        let longest = listings.iter().map(|listing| listing.items.len()).max().unwrap_or(0);
        for index in 0..longest {
            for (at, listing) in listings.iter().enumerate() {
                let Some(item) = listing.items.get(index).filter(|_| taken[at] == index) else { continue };
                let heading = if index == 0 { listing.heading } else { "" };
                taken[at] += usize::from(room.take(&list_line(heading, item)));
            }
        }
        for (at, listing) in listings.iter().enumerate() {
            for (index, item) in listing.items.iter().take(taken[at]).enumerate() {
                self.listings[at] += &list_line(if index == 0 { listing.heading } else { "" }, item);
            }
            self.drop(listing.what, listing.items.len() - taken[at]);
        }
    }

    /// What the user said before the messages that are shown.
    fn add_said(&mut self, material: &Material<'_>, before: usize, room: &mut Room) {
        if room.take(SAID) {
            self.said = said::lines_before(material, before, room);
        }
    }

    /// Sentences of prompts that are cut or left out, as far as they are told nowhere.
    fn add_standing(&mut self, material: &Material<'_>, shown: &str, room: &mut Room) {
        const HEADING: &str = "\n## Sentences of the user's from prompts that are not quoted whole here\n\n";
        let hidden = material.standing.iter().filter(|said| !shown.contains(&said.text));
        let lines: Vec<String> = hidden.map(|said| format!("{}: {}", said.by, quote(&said.text, 400))).collect();
        (self.standing, _) = list(HEADING, &lines, room);
    }

    fn add_files(&mut self, material: &Material<'_>, room: &mut Room) {
        const HEADING: &str = "\n## Files changed, by the last edit on record\n\n";
        let mut taken = 0;
        room.lend(room.0 / 2, |room| {
            for file in material.files.iter().take(DETAILED_FILES) {
                let unit = format!("{}{}", if taken == 0 { HEADING } else { "" }, layers::file_line(file));
                if !room.take(&unit) {
                    break;
                }
                self.files += &unit;
                taken += 1;
            }
        });
        // The others by their names, on one line.
        let mut names = String::new();
        for file in &material.files[taken..] {
            let unit = format!("{}{}", if names.is_empty() { "- and " } else { ", " }, layers::file_name(file));
            if !room.take(&unit) {
                break;
            }
            names += &unit;
            taken += 1;
        }
        self.files += &names;
        self.files.push_str(if names.is_empty() { "" } else { "\n" });
        self.drop("changed files", material.files.len() - taken);
    }

    /// As many changes as there is room for, the newest first: what lies on the disk can be looked up.
    fn add_diffs(&mut self, material: &Material<'_>, room: &mut Room) {
        const HEADING: &str =
            "\n## What the session's own edits changed in them\n\nThey may have been changed since, by commands too.\n";
        let mut without = 0;
        for file in material.files.iter().take(MAX_DIFFS) {
            let heading = if self.diffs.is_empty() { HEADING } else { "" };
            // Two characters a token are the least that code has.
            let chars = usize::try_from(room.0.saturating_mul(2)).unwrap_or(usize::MAX).min(DIFF_CHARS);
            let unit = (room.0 > WORTH_CUTTING).then(|| layers::file_unit(file, chars, material.quoting)).flatten();
            match unit.map(|unit| format!("{heading}{unit}")).filter(|unit| room.take(unit)) {
                Some(unit) => self.diffs += &unit,
                None => without += 1,
            }
        }
        self.drop("diffs of changed files", without);
    }

    fn add_context(&mut self, material: &Material<'_>, room: &mut Room) {
        const HEADING: &str = "\n## The project\n";
        let mut left = 0;
        for unit in layers::context_units(material) {
            let heading = if self.context.is_empty() { HEADING } else { "" };
            let unit = format!("{heading}{unit}");
            if room.take(&unit) { self.context += &unit } else { left += 1 }
        }
        self.drop("parts of the project's context", left);
    }

    fn add_overview(&mut self, material: &Material<'_>, room: &mut Room) {
        const HEADING: &str = "\n## The session at a glance\n\n";
        let left;
        (self.overview, left) = list(HEADING, &material.overview, room);
        self.drop("lines of the overview", left);
    }
}

/// What stands over the user's words.
const SAID: &str = "\n## What the user said before the conversation below, the latest first\n\n";

/// The conversation, from its end backwards; what is not taken is not even made.
struct Conversation<'m, 'a> {
    material: &'m Material<'a>,
    turns: std::iter::Peekable<Box<dyn Iterator<Item = layers::Turn<'m, 'a>> + 'm>>,
    n_turns: usize,
    /// The newest first.
    taken: Vec<String>,
    /// The oldest message that was taken, or else the number of all.
    from: usize,
}

/// What the headings may need.
const HEADINGS: &str = "\n## Recent conversation (last 99999 of 99999 messages)\n\n## Earlier conversation\n";

impl<'m, 'a> Conversation<'m, 'a> {
    fn of(material: &'m Material<'a>) -> Self {
        let turns: Box<dyn Iterator<Item = layers::Turn<'m, 'a>> + 'm> = Box::new(layers::turns(&material.messages));
        let n_turns = layers::turns(&material.messages).count();
        Self { material, turns: turns.peekable(), n_turns, taken: Vec::new(), from: material.messages.len() }
    }

    /// Takes messages as long as they fit.
    fn take(&mut self, room: &mut Room) {
        if self.taken.is_empty() && (self.n_turns == 0 || !room.take(HEADINGS)) {
            return;
        }
        while let Some(turn) = self.turns.peek() {
            let unit = render_turn(turn, self.taken.len(), room.0, self.material);
            if !room.take(&unit) {
                return;
            }
            self.from = turn.index;
            self.taken.push(unit);
            self.turns.next();
        }
    }

    fn finish(self, draft: &mut Draft) {
        let Self { material, n_turns, taken, from, .. } = self;
        // The conversation may have reached further back since.
        draft.said.retain(|(message, _)| *message < from);
        let n_before = material.said.iter().filter(|said| said.message < from).count();
        draft.drop("words of the user", n_before - draft.said.len());
        draft.drop("messages", n_turns - taken.len());
        let (recent, earlier) = taken.split_at(taken.len().min(RECENT));
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
fn render_turn(turn: &layers::Turn<'_, '_>, n_taken: usize, room: u64, material: &Material<'_>) -> String {
    match n_taken {
        n if n < LAST_EXCHANGE => {
            let chars = usize::try_from(room.saturating_mul(3) / 2).unwrap_or(usize::MAX);
            turn.at_length(chars.clamp(RECENT_CHARS, 12_000), true, material)
        }
        n if n < RECENT => turn.at_length(RECENT_CHARS, false, material),
        _ => turn.in_short(material),
    }
}

/// A list below its heading, and how many items there was no room for.
fn list(heading: &str, texts: &[String], room: &mut Room) -> (String, usize) {
    let (mut list, mut left) = (String::new(), 0);
    for text in texts {
        let unit = list_line(if list.is_empty() { heading } else { "" }, text);
        if room.take(&unit) { list += &unit } else { left += 1 }
    }
    (list, left)
}

fn list_line(heading: &str, item: &str) -> String {
    format!("{heading}- {item}\n")
}

/// What was left out, and how to see it.
fn left_out(dropped: &[Dropped], options: &ResumeOptions<'_>) -> String {
    let parts: Vec<String> = dropped.iter().map(|dropped| format!("{} {}", dropped.n, dropped.what)).collect();
    format!("\n## Left out\n\n{}. All of it: {}\n", parts.join(", "), code(options.show_command, 100))
}

/// What the list of what was left out may need.
fn longest_left_out(options: &ResumeOptions<'_>) -> String {
    const KINDS: [&str; 14] = [
        "failures",
        "steps of the plan",
        "decisions",
        "open questions",
        "parts of a summary",
        "lines about git",
        "changes since the session ended",
        "words about the task",
        "words of the user",
        "changed files",
        "diffs of changed files",
        "parts of the project's context",
        "lines of the overview",
        "messages",
    ];
    let dropped: Vec<Dropped> = KINDS.iter().map(|what| Dropped { what, n: 99_999 }).collect();
    left_out(&dropped, options)
}
