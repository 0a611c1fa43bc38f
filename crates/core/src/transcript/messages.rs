//! How many messages a conversation has, as a person counts them.
//!
//! The user's prompts and the agent's answers: a message of several blocks is one; what was thought, called or came
//! back is none. What was taken back does not count, nor does what a sub-agent or the client itself said.

use super::{Body, Entry, Origin, Transcript};

/// Counts the messages on the branch in force, also those that a compaction took out of the context; `history` is
/// `live::full_history`.
pub(super) fn count_on_branch(transcript: &Transcript, history: &[usize]) -> usize {
    let entries = &transcript.entries;
    // The usage of a reply is recorded at one of its ends.
    let ends: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].usage().is_some()).collect();
    let ended =
        |from: usize, to: usize| ends.get(ends.partition_point(|end| *end <= from)).is_some_and(|end| *end < to);
    let mut counter = Counter::default();
    let mut repeating = None;
    let mut last = 0;
    for &index in history {
        let entry = &entries[index];
        if let Body::Compacted(compacted) = &entry.body {
            repeating = compacted.repeats.then(|| entry.key.record());
        }
        // Some compactions write the messages from before once more.
        if repeating == Some(entry.key.record()) {
            continue;
        }
        if entry.body.whole_kind() == "reply" {
            counter.is_open &= !ended(last, index);
            last = index;
        }
        counter.add(entry);
    }
    counter.count
}

/// Counts the messages among entries of which all count, as those that are carried do.
pub fn count_messages<'a>(entries: impl Iterator<Item = &'a Entry>) -> usize {
    let mut counter = Counter::default();
    entries.for_each(|entry| counter.add(entry));
    counter.count
}

#[derive(Default)]
struct Counter<'a> {
    count: usize,
    /// The last part of the last answer.
    last: Option<&'a Entry>,
    /// Nothing was said or done since.
    is_open: bool,
}

impl<'a> Counter<'a> {
    fn add(&mut self, entry: &'a Entry) {
        match entry.body.whole_kind() {
            "reply" => {
                let goes_on = self.is_open || self.last.is_some_and(|last| is_same_message(last, entry));
                self.count += usize::from(!goes_on);
                (self.last, self.is_open) = (Some(entry), true);
            }
            "reasoning" => {}
            kind => {
                self.count += usize::from(kind == "prompt" && entry.origin == Origin::User);
                self.is_open = false;
            }
        }
    }
}

fn is_same_message(a: &Entry, b: &Entry) -> bool {
    let group = |entry: &Entry| entry.node.and_then(|node| node.group);
    a.key.record() == b.key.record() || (group(a).is_some() && group(a) == group(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{Call, CallForm, CallId, Compaction, EntryKey, Part, Reasoning, Tokens, Usage};

    fn make_transcript(said: &[(u64, Origin, Body)]) -> Transcript {
        let entry = |(part, (offset, origin, body)): (usize, &(u64, Origin, Body))| {
            let key = EntryKey { file: 0, offset: *offset, part: u16::try_from(part).unwrap(), length: 1 };
            Entry { key, at: None, origin: *origin, side: false, node: None, body: body.clone() }
        };
        Transcript { entries: said.iter().enumerate().map(entry).collect(), ..Transcript::default() }
    }

    fn text_parts() -> Vec<Part> {
        vec![Part::Text("words".to_owned())]
    }

    fn make_call() -> Body {
        let (id, input) = (CallId("c".into()), crate::json::Json::empty_object());
        Body::Call(Box::new(Call { id, tool: "run".to_owned(), input, form: CallForm::Function }))
    }

    #[test]
    fn a_message_of_several_blocks_is_one() {
        let thought = Body::Reasoning(Box::new(Reasoning { text: "hm".to_owned(), sealed: false }));
        let mut said = vec![
            (0, Origin::User, Body::Prompt(text_parts())),
            (0, Origin::Hook, Body::Prompt(text_parts())),
            (1, Origin::Agent, Body::Reply(text_parts())),
            (1, Origin::Agent, thought),
            (1, Origin::Agent, Body::Reply(text_parts())),
            (1, Origin::Agent, make_call()),
            (1, Origin::Agent, Body::Reply(text_parts())),
        ];
        assert_eq!(make_transcript(&said).n_messages(), 2);
        said.push((2, Origin::Agent, Body::Reply(text_parts())));
        assert_eq!(make_transcript(&said).n_messages(), 2, "nothing stands between the two");
        let usage = Usage::for_reply(Tokens { output: 1, ..Tokens::default() }, None).unwrap();
        said.push((3, Origin::Harness, usage.into_body()));
        said.push((4, Origin::Agent, Body::Reply(text_parts())));
        assert_eq!(make_transcript(&said).n_messages(), 3, "each reply has its cost");
        said.push((4, Origin::Agent, make_call()));
        said.push((5, Origin::Agent, Body::Reply(text_parts())));
        assert_eq!(make_transcript(&said).n_messages(), 4);
        let mut reduced = make_transcript(&said);
        reduced.entries.iter_mut().for_each(Entry::reduce);
        assert_eq!(reduced.n_messages(), 4);
    }

    #[test]
    fn what_is_taken_back_or_said_again_does_not_count() {
        let again = Compaction { repeats: true, ..Compaction::default() };
        let said = [
            (0, Origin::User, Body::Prompt(text_parts())),
            (1, Origin::User, Body::Prompt(text_parts())),
            (2, Origin::Harness, Body::Rewound { turns: 1 }),
            (3, Origin::Harness, Body::Compacted(Box::new(again))),
            (3, Origin::User, Body::Prompt(text_parts())),
            (4, Origin::Agent, Body::Reply(text_parts())),
            (5, Origin::Harness, Body::Reply(text_parts())),
        ];
        assert_eq!(make_transcript(&said).n_messages(), 2);
    }
}
