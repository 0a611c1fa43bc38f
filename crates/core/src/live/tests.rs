//! Small stores, and what of them is live.

use super::*;
use crate::json::Json;
use crate::transcript::{
    Call, CallForm, CallId, Closing, Compacted, EntryKey, Node, NodeId, Note, Outcome, Part, Status,
};

fn entry(n: u64, origin: Origin, body: Body) -> Entry {
    let key = EntryKey { file: 0, offset: n, part: 0, length: 1 };
    Entry { key, at: None, origin, side: false, node: None, body }
}

fn text(text: &str) -> Vec<Part> {
    vec![Part::Text(text.to_owned())]
}

fn prompt(n: u64, words: &str) -> Entry {
    entry(n, Origin::User, Body::Prompt(text(words)))
}

fn reply(n: u64, words: &str) -> Entry {
    entry(n, Origin::Agent, Body::Reply(text(words)))
}

fn call(n: u64, id: &str) -> Entry {
    let call = Call { id: CallId(id.into()), tool: "t".into(), input: Json::empty(), form: CallForm::Function };
    entry(n, Origin::Agent, Body::Call(Box::new(call)))
}

fn outcome(n: u64, id: &str, words: &str) -> Entry {
    let outcome = Outcome { call: CallId(id.into()), status: Status::Done, exit_code: None, parts: text(words) };
    entry(n, Origin::Agent, Body::Outcome(Box::new(outcome)))
}

/// Hangs an entry on another; `group` is the message that it is part of.
fn hang(mut entry: Entry, id: &str, parent: Option<&str>, group: Option<&str>) -> Entry {
    entry.node = Some(Node { id: NodeId::of(id), parent: parent.map(NodeId::of), group: group.map(NodeId::of) });
    entry
}

fn transcript(entries: Vec<Entry>, closing: Closing) -> Transcript {
    let mut transcript = Transcript { entries, ..Transcript::default() };
    transcript.header.closing = Some(closing);
    transcript
}

fn live(entries: Vec<Entry>, closing: Closing) -> Vec<u64> {
    let transcript = transcript(entries, closing);
    let place = |alive: &Alive| match alive {
        Alive::Entry(index) => transcript.entries[*index].key.offset,
        Alive::Answer { call, .. } => 1000 + transcript.entries[*call].key.offset,
    };
    resolve(&transcript).iter().map(place).collect()
}

#[test]
fn calls_that_share_an_id_keep_their_own_outcomes() {
    let entries = vec![
        prompt(1, "a"),
        call(2, "call_0"),
        outcome(3, "call_0", "first"),
        prompt(4, "b"),
        call(5, "call_0"),
        outcome(6, "call_0", "second"),
        outcome(7, "call_0", "once too often"),
    ];
    assert_eq!(live(entries, Closing::Drop), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_call_that_was_written_twice_counts_once() {
    let entries = vec![prompt(1, "a"), call(2, "x"), call(3, "x"), outcome(4, "x", "done"), call(5, "x")];
    assert_eq!(live(entries, Closing::Answer("aborted")), [1, 2, 4, 5, 1005]);
}

#[test]
fn a_call_without_an_outcome_is_closed_as_the_client_does() {
    let entries = || vec![prompt(1, "a"), call(2, "x"), prompt(3, "b"), call(4, "y")];
    assert_eq!(live(entries(), Closing::Drop), [1, 3]);
    assert_eq!(live(entries(), Closing::Answer("aborted")), [1, 2, 1002, 3, 4, 1004]);
    assert_eq!(live(entries(), Closing::AnswerAtEnd("ended")), [1, 3, 4, 1004]);
}

#[test]
fn roll_backs_take_back_turns_and_compactions_all() {
    let rewound = |n, turns| entry(n, Origin::Harness, Body::Rewound { turns });
    let entries = vec![prompt(1, "a"), reply(2, "a"), prompt(3, "b"), reply(4, "b"), rewound(5, 1), prompt(6, "c")];
    assert_eq!(live(entries, Closing::Drop), [1, 2, 6]);
    let barrier = entry(3, Origin::Harness, Body::Compacted(Box::default()));
    let summary = entry(4, Origin::Agent, Body::Summary(text("so far")));
    assert_eq!(live(vec![prompt(1, "a"), reply(2, "a"), barrier, summary], Closing::Drop), [4]);
}

#[test]
fn the_branch_is_the_newest_below_the_named_leaf() {
    let leaf = |n, id: &str| entry(n, Origin::Harness, Body::Note(Note::Leaf(NodeId::of(id))));
    let tree = || {
        vec![
            hang(prompt(1, "a"), "a", None, None),
            hang(reply(2, "a"), "ra", Some("a"), Some("m1")),
            hang(prompt(3, "rewound"), "b", Some("ra"), None),
            hang(prompt(4, "instead"), "c", Some("ra"), None),
        ]
    };
    let named = |id: &str| {
        let mut entries = tree();
        entries.push(leaf(5, id));
        live(entries, Closing::Drop)
    };
    assert_eq!(live(tree(), Closing::Drop), [1, 2, 4]);
    assert_eq!(named("b"), [1, 2, 3]);
    assert_eq!(named("ra"), [1, 2, 4]);
    assert_eq!(named("nobody"), [1, 2, 4]);
}

#[test]
fn parallel_calls_come_together_and_turns_stay_apart() {
    let entries = vec![
        hang(prompt(1, "a"), "a", None, None),
        hang(call(2, "x"), "cx", Some("a"), Some("same")),
        hang(outcome(3, "x", "x"), "ox", Some("cx"), None),
        hang(call(4, "y"), "cy", Some("cx"), Some("same")),
        hang(outcome(5, "y", "y"), "oy", Some("cy"), None),
        hang(prompt(6, "b"), "b", Some("oy"), None),
        hang(reply(7, "b"), "rb", Some("b"), Some("same")),
    ];
    assert_eq!(live(entries, Closing::Drop), [1, 2, 4, 3, 5, 6, 7]);
}

#[test]
fn a_call_that_hangs_on_what_an_earlier_one_wrote_while_it_ran_is_of_the_same_message() {
    let progress = |n| entry(n, Origin::Harness, Body::Opaque("progress".into()));
    let entries = vec![
        hang(prompt(1, "a"), "a", None, None),
        hang(call(2, "x"), "cx", Some("a"), Some("m1")),
        hang(progress(3), "p1", Some("cx"), None),
        hang(call(4, "y"), "cy", Some("p1"), Some("m1")),
        hang(outcome(5, "y", "y"), "oy", Some("cy"), None),
        hang(progress(6), "p2", Some("oy"), None),
        hang(call(7, "z"), "cz", Some("p2"), Some("m1")),
        hang(outcome(8, "z", "z"), "oz", Some("cz"), None),
        hang(outcome(9, "x", "x"), "ox", Some("cx"), None),
        hang(reply(10, "a"), "ra", Some("ox"), Some("m2")),
    ];
    assert_eq!(live(entries, Closing::Drop), [1, 2, 4, 7, 5, 8, 9, 10]);
}

#[test]
fn what_hooks_said_beside_parallel_calls_is_live_and_comes_after_the_outcomes() {
    let hook = |n| entry(n, Origin::Hook, Body::Prompt(text("hook")));
    let entries = vec![
        hang(prompt(1, "a"), "a", None, None),
        hang(call(2, "x"), "cx", Some("a"), Some("m1")),
        hang(call(3, "y"), "cy", Some("cx"), Some("m1")),
        hang(hook(4), "before y", Some("cy"), None),
        hang(outcome(5, "y", "y"), "oy", Some("cy"), None),
        hang(hook(6), "after y", Some("oy"), None),
        hang(outcome(7, "x", "x"), "ox", Some("cx"), None),
        hang(hook(8), "after x", Some("ox"), None),
        hang(reply(9, "a"), "ra", Some("after x"), Some("m2")),
        hang(hook(10), "abandoned", Some("ra"), None),
        hang(prompt(11, "b"), "b", Some("ra"), None),
    ];
    assert_eq!(live(entries, Closing::Drop), [1, 2, 3, 5, 7, 4, 6, 8, 9, 11]);
}

#[test]
fn what_was_said_after_an_abandoned_call_stays_out() {
    let entries = vec![
        hang(prompt(1, "a"), "a", None, None),
        hang(call(2, "x"), "cx", Some("a"), Some("m1")),
        hang(outcome(3, "x", "x"), "ox", Some("cx"), None),
        hang(reply(4, "abandoned"), "r1", Some("ox"), Some("m2")),
        hang(prompt(5, "abandoned"), "b", Some("r1"), None),
        hang(reply(6, "abandoned"), "r2", Some("b"), Some("m1")),
        hang(prompt(7, "c"), "c", Some("ox"), None),
    ];
    assert_eq!(live(entries, Closing::Drop), [1, 2, 3, 7]);
}

#[test]
fn the_end_of_a_session_that_was_written_twice_counts_once() {
    let entries = vec![
        hang(prompt(1, "a"), "a", None, None),
        hang(call(2, "x"), "cx", Some("a"), Some("m1")),
        hang(outcome(3, "x", "x"), "ox", Some("cx"), None),
        hang(reply(4, "a"), "ra", Some("ox"), Some("m2")),
        hang(prompt(5, "a"), "a2", None, None),
        hang(call(6, "x"), "cx2", Some("a2"), Some("m1")),
        hang(outcome(7, "x", "x"), "ox2", Some("cx2"), None),
        hang(reply(8, "a"), "ra2", Some("ox2"), Some("m2")),
        hang(prompt(9, "b"), "b", Some("ra2"), None),
    ];
    assert_eq!(live(entries, Closing::Drop), [5, 6, 7, 8, 9]);
}

#[test]
fn a_compaction_keeps_the_segment_that_it_names() {
    let compacted = Compacted {
        kept: Some((NodeId::of("b"), NodeId::of("rb"))),
        anchor: Some(NodeId::of("s")),
        ..Compacted::default()
    };
    let entries = vec![
        hang(prompt(1, "a"), "a", None, None),
        hang(prompt(2, "b"), "b", Some("a"), None),
        hang(reply(3, "b"), "rb", Some("b"), Some("m")),
        hang(entry(4, Origin::Harness, Body::Compacted(Box::new(compacted))), "k", None, None),
        hang(entry(5, Origin::Agent, Body::Summary(text("so far"))), "s", Some("k"), None),
        hang(prompt(6, "c"), "c", Some("s"), None),
    ];
    assert_eq!(live(entries, Closing::Drop), [5, 2, 3, 6]);
}

#[test]
fn a_compaction_that_hangs_on_the_branch_takes_away_what_it_hangs_on() {
    let entries = vec![
        hang(prompt(1, "a"), "a", None, None),
        hang(reply(2, "a"), "ra", Some("a"), Some("m")),
        hang(entry(3, Origin::Harness, Body::Compacted(Box::default())), "k", Some("ra"), None),
        hang(entry(4, Origin::Agent, Body::Summary(text("so far"))), "s", Some("k"), None),
        hang(prompt(5, "b"), "b", Some("s"), None),
    ];
    let transcript = transcript(entries.clone(), Closing::Drop);
    assert_eq!(live(entries, Closing::Drop), [4, 5]);
    assert_eq!(history(&transcript), [0, 1, 2, 3, 4], "what was done before is still told");
}
