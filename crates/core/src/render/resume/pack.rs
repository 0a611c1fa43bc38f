//! Packing: the layers in the order of their priority, as far as the budget goes.
//!
//! Layers: 1 task, 2 changed files, 3 decisions and blockers, 4 the project, 5 the session at a glance and what the agent
//! explained, 6 the last messages, 7 the earlier ones. Files leave room for the third layer: a diff can be looked up, a decision cannot.

use super::super::Material;
use super::super::words::code;
use super::layers::{self, DIFF_CHARS, FILES, LISTINGS, RECENT};
use super::{Dropped, Rendered, ResumeOptions, TooSmall};
use crate::tokens::Counter;

/// Two texts that are put together may make a token more than both have.
const JOINT: u64 = 2;
/// Less room than this is not worth cutting something to size for.
const WORTH: u64 = 200;

pub(super) fn pack(material: &Material<'_>, options: &ResumeOptions<'_>) -> Result<Rendered, TooSmall> {
    let counter = options.counter;
    let budget = counter.exact(options.budget);
    let mut room = budget;
    // The sum of the parts is nearly the whole; where it is not, the next try has less room.
    for _ in 0..8 {
        let Some(draft) = Draft::within(material, options, room) else { break };
        let text = draft.text(options);
        let count = Counter::Exact.count(&text);
        if count <= budget {
            return Ok(Rendered { text, tokens: counter.padded(count), dropped: draft.dropped });
        }
        room = room.saturating_sub(count - budget + 8);
    }
    let draft = Draft::least(material, options);
    let text = draft.text(options);
    let tokens = counter.padded(Counter::Exact.count(&text));
    if tokens > options.budget {
        return Err(TooSmall { least: tokens });
    }
    Ok(Rendered { text, tokens, dropped: draft.dropped })
}

/// The tokens that are left.
struct Room(u64);

impl Room {
    /// Whether a text fits; then it is paid for.
    fn take(&mut self, text: &str) -> bool {
        let count = self.0.checked_sub(JOINT).and_then(|most| Counter::Exact.count_within(text, most));
        let Some(count) = count else { return false };
        self.0 -= count + JOINT;
        true
    }
}

/// A prompt in the making.
#[derive(Default)]
struct Draft {
    head: String,
    task: String,
    listings: String,
    files: String,
    context: String,
    overview: String,
    remarks: String,
    earlier: String,
    recent: String,
    foot: String,
    dropped: Vec<Dropped>,
}

impl Draft {
    /// As much as goes into some tokens; none where not even the frame does.
    fn within(material: &Material<'_>, options: &ResumeOptions<'_>, tokens: u64) -> Option<Self> {
        let mut room = Room(tokens);
        let mut draft = Self { head: layers::head(material, options, false), ..Self::default() };
        draft.foot = layers::foot(material, false);
        let frame = room.take(&draft.head) && room.take(&draft.foot) && room.take(&longest_left_out(options));
        if !frame {
            return None;
        }
        draft.task = layers::goal(material, (room.0 / 2).min(800));
        if !room.take(&draft.task) {
            return None;
        }
        draft.add_task(material, &mut room);
        let listed = Counter::Exact.count_within(&all_listings(material), room.0 * 2 / 5).unwrap_or(room.0 * 2 / 5);
        let mut files = Room(room.0 - listed);
        draft.add_files(material, &mut files);
        room.0 = files.0 + listed;
        draft.add_listings(material, &mut room);
        draft.add_context(material, &mut room);
        draft.add_overview(material, &mut room);
        draft.add_remarks(material, &mut room);
        draft.add_messages(material, &mut room);
        Some(draft)
    }

    /// The smallest prompt there is: the frame and the goal.
    fn least(material: &Material<'_>, options: &ResumeOptions<'_>) -> Self {
        let mut draft = Self {
            head: layers::head(material, options, true),
            task: layers::goal(material, 50),
            foot: layers::foot(material, true),
            ..Self::default()
        };
        let listings = layers::listings(material);
        draft.drop("steps of the plan", layers::task_units(material).len());
        for listing in &listings {
            draft.drop(listing.what, listing.items.len());
        }
        draft.drop("changed files", material.files.len());
        draft.drop("parts of the project's context", material.context.len());
        draft.drop("lines of the overview", material.overview.len());
        draft.drop("words of the agent", material.remarks.len());
        draft.drop("messages", layers::turns(&material.messages).count());
        draft
    }

    fn text(&self, options: &ResumeOptions<'_>) -> String {
        let parts = [
            &self.head,
            &self.task,
            &self.listings,
            &self.files,
            &self.context,
            &self.overview,
            &self.remarks,
            &self.earlier,
            &self.recent,
            &self.foot,
        ];
        let mut out: String = parts.into_iter().map(String::as_str).collect();
        if !self.dropped.is_empty() {
            out += &left_out(&self.dropped, options);
        }
        out
    }

    fn drop(&mut self, what: &'static str, n: usize) {
        if n > 0 {
            self.dropped.push(Dropped { what, n });
        }
    }

    fn add_task(&mut self, material: &Material<'_>, room: &mut Room) {
        let units = layers::task_units(material);
        // A long plan must not take the place of everything else.
        let mut part = Room(room.0 / 2);
        let before = part.0;
        let taken = units.iter().take_while(|unit| part.take(unit)).count();
        self.task.extend(units.iter().take(taken).map(String::as_str));
        room.0 -= before - part.0;
        let all = material.in_progress.len() + usize::from(material.next.is_some());
        self.drop("steps of the plan", all + material.remaining.len() + material.done.len() - taken);
    }

    /// Every file by name first, then as many changes as there is room for, the newest first.
    fn add_files(&mut self, material: &Material<'_>, room: &mut Room) {
        const HEADING: &str = "\n## Files changed\n\nThe latest first.\n\n";
        let names: Vec<String> = material.files.iter().take(FILES).map(layers::file_line).collect();
        if names.is_empty() || !room.take(HEADING) {
            self.drop("changed files", material.files.len());
            return;
        }
        let shown = names.iter().take_while(|name| room.take(name)).count();
        self.drop("changed files", material.files.len() - shown);
        let mut diffs = String::new();
        let mut bare = String::new();
        let mut without = 0;
        for (file, name) in material.files.iter().zip(&names).take(shown) {
            let Some(unit) = layers::file_unit(file, DIFF_CHARS) else {
                bare += name;
                continue;
            };
            if room.take(&unit) {
                diffs += &unit;
                continue;
            }
            // Two characters a token are the least that code has.
            let chars = usize::try_from(room.0.saturating_mul(2)).unwrap_or(usize::MAX);
            match layers::file_unit(file, chars.min(DIFF_CHARS)).filter(|_| room.0 > WORTH) {
                Some(shorter) if room.take(&shorter) => diffs += &shorter,
                _ => {
                    without += 1;
                    bare += name;
                }
            }
        }
        // A file whose changes are shown is named there.
        let heading = if bare.is_empty() { HEADING.trim_end_matches('\n') } else { HEADING };
        let gap = if bare.is_empty() { "\n" } else { "" };
        self.files = format!("{heading}{gap}{bare}{diffs}");
        self.drop("diffs of changed files", without);
    }

    /// In turn from each list, so that none is left out for another.
    fn add_listings(&mut self, material: &Material<'_>, room: &mut Room) {
        let listings = layers::listings(material);
        let mut taken = [0; LISTINGS];
        let mut full = [false; LISTINGS];
        let longest = listings.iter().map(|listing| listing.items.len()).max().unwrap_or(0);
        for index in 0..longest {
            for (at, listing) in listings.iter().enumerate() {
                let Some(item) = listing.items.get(index).filter(|_| !full[at]) else { continue };
                let heading = if index == 0 { listing.heading } else { "" };
                if room.take(&listing_line(heading, item, index, listing.numbered)) {
                    taken[at] += 1;
                } else {
                    full[at] = true;
                }
            }
        }
        for (listing, taken) in listings.iter().zip(taken) {
            for (index, item) in listing.items.iter().take(taken).enumerate() {
                let heading = if index == 0 { listing.heading } else { "" };
                self.listings += &listing_line(heading, item, index, listing.numbered);
            }
            self.drop(listing.what, listing.items.len() - taken);
        }
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
        (self.overview, left) = items(HEADING, &material.overview, room);
        self.drop("lines of the overview", left);
    }

    /// What the conversation may have no room for.
    fn add_remarks(&mut self, material: &Material<'_>, room: &mut Room) {
        const HEADING: &str =
            "\n## What the agent said on the way\n\nWhat it explained, and what it said last; the latest first.\n\n";
        let mut part = Room(room.0 / 3);
        let before = part.0;
        let left;
        (self.remarks, left) = items(HEADING, &material.remarks, &mut part);
        room.0 -= before - part.0;
        self.drop("words of the agent", left);
    }

    /// The newest first until there is no more room; what is not taken is not even made.
    fn add_messages(&mut self, material: &Material<'_>, room: &mut Room) {
        let mut turns = layers::turns(&material.messages).peekable();
        let heading = "\n## Recent conversation (the last 20 messages at most)\n";
        let mut recent = Vec::new();
        if turns.peek().is_some() && room.take(heading) {
            recent = taken(&mut turns, RECENT, room, layers::Turn::at_length);
        }
        let heading_earlier = "\n## Earlier conversation\n";
        let mut earlier = Vec::new();
        if recent.len() == RECENT && turns.peek().is_some() && room.take(heading_earlier) {
            earlier = taken(&mut turns, usize::MAX, room, layers::Turn::in_short);
        }
        if !recent.is_empty() {
            self.recent.push_str(heading);
            self.recent.extend(recent.into_iter().rev());
        }
        if !earlier.is_empty() {
            self.earlier.push_str(heading_earlier);
            self.earlier.extend(earlier.into_iter().rev());
        }
        self.drop("messages", turns.count());
    }
}

/// Turns as long as they fit; the first that does not stays in the iterator.
fn taken<'m, 'a: 'm>(
    turns: &mut std::iter::Peekable<impl Iterator<Item = layers::Turn<'m, 'a>>>,
    most: usize,
    room: &mut Room,
    text: impl Fn(&layers::Turn<'m, 'a>) -> String,
) -> Vec<String> {
    let mut units = Vec::new();
    while units.len() < most
        && let Some(turn) = turns.peek()
    {
        let unit = text(turn);
        if !room.take(&unit) {
            break;
        }
        units.push(unit);
        turns.next();
    }
    units
}

/// A list below its heading, and how many items there was no room for.
fn items(heading: &str, texts: &[String], room: &mut Room) -> (String, usize) {
    let (mut list, mut left) = (String::new(), 0);
    for text in texts {
        let unit = listing_line(if list.is_empty() { heading } else { "" }, text, 0, false);
        if room.take(&unit) { list += &unit } else { left += 1 }
    }
    (list, left)
}

fn listing_line(heading: &str, item: &str, index: usize, numbered: bool) -> String {
    if numbered { format!("{heading}{}. {item}\n", index + 1) } else { format!("{heading}- {item}\n") }
}

fn all_listings(material: &Material<'_>) -> String {
    let listings = layers::listings(material);
    let filled = listings.iter().filter(|listing| !listing.items.is_empty());
    let mut out = String::new();
    for listing in filled {
        out += listing.heading;
        // The joints are paid for as well.
        out += &listing.items.join("\n1. . . ");
    }
    out
}

/// What was left out, and how to see it.
fn left_out(dropped: &[Dropped], options: &ResumeOptions<'_>) -> String {
    let parts: Vec<String> = dropped.iter().map(|dropped| format!("{} {}", dropped.n, dropped.what)).collect();
    format!("\n## Left out\n\n{}. All of it: {}\n", parts.join(", "), code(options.show_command, 100))
}

/// What the list of what was left out may need.
fn longest_left_out(options: &ResumeOptions<'_>) -> String {
    const KINDS: [&str; 12] = [
        "steps of the plan",
        "changed files",
        "diffs of changed files",
        "decisions",
        "errors and blockers",
        "open questions",
        "words of the user",
        "changes since the session ended",
        "parts of the project's context",
        "lines of the overview",
        "words of the agent",
        "messages",
    ];
    let dropped: Vec<Dropped> = KINDS.iter().map(|what| Dropped { what, n: 9_999_999 }).collect();
    left_out(&dropped, options)
}
