//! Small stores, and what of them is live.

use super::*;
use crate::json::Json;
use crate::transcript::{
    Call, CallForm, CallId, Closing, Compaction, EntryKey, Node, NodeId, Note, Outcome, Part, Status,
};

fn make_entry(n: u64, origin: Origin, body: Body) -> Entry {
    let key = EntryKey { file: 0, offset: n, part: 0, length: 1 };
    Entry { key, at: None, origin, side: false, node: None, body }
}

fn text_parts(text: &str) -> Vec<Part> {
    vec![Part::Text(text.to_owned())]
}

fn prompt_entry(n: u64, words: &str) -> Entry {
    make_entry(n, Origin::User, Body::Prompt(text_parts(words)))
}

fn reply_entry(n: u64, words: &str) -> Entry {
    make_entry(n, Origin::Agent, Body::Reply(text_parts(words)))
}

fn call_entry(n: u64, id: &str) -> Entry {
    let call = Call { id: CallId(id.into()), tool: "t".into(), input: Json::empty_object(), form: CallForm::Function };
    make_entry(n, Origin::Agent, Body::Call(Box::new(call)))
}

fn outcome_entry(n: u64, id: &str, words: &str) -> Entry {
    let outcome = Outcome { call: CallId(id.into()), status: Status::Done, exit_code: None, parts: text_parts(words) };
    make_entry(n, Origin::Agent, Body::Outcome(Box::new(outcome)))
}

/// Hangs an entry on another; `group` is the message that it is part of.
fn with_node(mut entry: Entry, id: &str, parent: Option<&str>, group: Option<&str>) -> Entry {
    entry.node = Some(Node {
        id: NodeId::from_name(id),
        parent: parent.map(NodeId::from_name),
        group: group.map(NodeId::from_name),
    });
    entry
}

fn make_transcript(entries: Vec<Entry>, closing: Closing) -> Transcript {
    let mut transcript = Transcript { entries, ..Transcript::default() };
    transcript.header.closing = Some(closing);
    transcript
}

fn live_keys(entries: Vec<Entry>, closing: Closing) -> Vec<u64> {
    let transcript = make_transcript(entries, closing);
    let place = |alive: &LiveItem| match alive {
        LiveItem::Entry(index) => transcript.entries[*index].key.offset,
        LiveItem::Answer { call, .. } => 1000 + transcript.entries[*call].key.offset,
    };
    resolve_context(&transcript).iter().map(place).collect()
}

#[test]
fn calls_that_share_an_id_keep_their_own_outcomes() {
    let entries = vec![
        prompt_entry(1, "a"),
        call_entry(2, "call_0"),
        outcome_entry(3, "call_0", "first"),
        prompt_entry(4, "b"),
        call_entry(5, "call_0"),
        outcome_entry(6, "call_0", "second"),
        outcome_entry(7, "call_0", "once too often"),
    ];
    assert_eq!(live_keys(entries, Closing::Drop), [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_call_that_was_written_twice_counts_once() {
    let entries = vec![
        prompt_entry(1, "a"),
        call_entry(2, "x"),
        call_entry(3, "x"),
        outcome_entry(4, "x", "done"),
        call_entry(5, "x"),
    ];
    assert_eq!(live_keys(entries, Closing::Answer("aborted")), [1, 2, 4, 5, 1005]);
}

#[test]
fn a_call_without_an_outcome_is_closed_as_the_client_does() {
    let entries = || vec![prompt_entry(1, "a"), call_entry(2, "x"), prompt_entry(3, "b"), call_entry(4, "y")];
    assert_eq!(live_keys(entries(), Closing::Drop), [1, 3]);
    assert_eq!(live_keys(entries(), Closing::Answer("aborted")), [1, 2, 1002, 3, 4, 1004]);
    assert_eq!(live_keys(entries(), Closing::AnswerAtEnd("ended")), [1, 3, 4, 1004]);
}

#[test]
fn roll_backs_take_back_turns_and_compactions_all() {
    let rewound = |n, turns| make_entry(n, Origin::Harness, Body::Rewound { turns });
    let entries = vec![
        prompt_entry(1, "a"),
        reply_entry(2, "a"),
        prompt_entry(3, "b"),
        reply_entry(4, "b"),
        rewound(5, 1),
        prompt_entry(6, "c"),
    ];
    assert_eq!(live_keys(entries, Closing::Drop), [1, 2, 6]);
    let barrier = make_entry(3, Origin::Harness, Body::Compacted(Box::default()));
    let summary = make_entry(4, Origin::Agent, Body::Summary(text_parts("so far")));
    assert_eq!(live_keys(vec![prompt_entry(1, "a"), reply_entry(2, "a"), barrier, summary], Closing::Drop), [4]);
}

#[test]
fn the_branch_is_the_newest_below_the_named_leaf() {
    let leaf = |n, id: &str| make_entry(n, Origin::Harness, Body::Note(Note::Leaf(NodeId::from_name(id))));
    let tree = || {
        vec![
            with_node(prompt_entry(1, "a"), "a", None, None),
            with_node(reply_entry(2, "a"), "ra", Some("a"), Some("m1")),
            with_node(prompt_entry(3, "rewound"), "b", Some("ra"), None),
            with_node(prompt_entry(4, "instead"), "c", Some("ra"), None),
        ]
    };
    let named = |id: &str| {
        let mut entries = tree();
        entries.push(leaf(5, id));
        live_keys(entries, Closing::Drop)
    };
    assert_eq!(live_keys(tree(), Closing::Drop), [1, 2, 4]);
    assert_eq!(named("b"), [1, 2, 3]);
    assert_eq!(named("ra"), [1, 2, 4]);
    assert_eq!(named("nobody"), [1, 2, 4]);
}

#[test]
fn parallel_calls_come_together_and_turns_stay_apart() {
    let entries = vec![
        with_node(prompt_entry(1, "a"), "a", None, None),
        with_node(call_entry(2, "x"), "cx", Some("a"), Some("same")),
        with_node(outcome_entry(3, "x", "x"), "ox", Some("cx"), None),
        with_node(call_entry(4, "y"), "cy", Some("cx"), Some("same")),
        with_node(outcome_entry(5, "y", "y"), "oy", Some("cy"), None),
        with_node(prompt_entry(6, "b"), "b", Some("oy"), None),
        with_node(reply_entry(7, "b"), "rb", Some("b"), Some("same")),
    ];
    assert_eq!(live_keys(entries, Closing::Drop), [1, 2, 4, 3, 5, 6, 7]);
}

#[test]
fn a_call_that_hangs_on_what_an_earlier_one_wrote_while_it_ran_is_of_the_same_message() {
    let progress = |n| make_entry(n, Origin::Harness, Body::known("progress"));
    let entries = vec![
        with_node(prompt_entry(1, "a"), "a", None, None),
        with_node(call_entry(2, "x"), "cx", Some("a"), Some("m1")),
        with_node(progress(3), "p1", Some("cx"), None),
        with_node(call_entry(4, "y"), "cy", Some("p1"), Some("m1")),
        with_node(outcome_entry(5, "y", "y"), "oy", Some("cy"), None),
        with_node(progress(6), "p2", Some("oy"), None),
        with_node(call_entry(7, "z"), "cz", Some("p2"), Some("m1")),
        with_node(outcome_entry(8, "z", "z"), "oz", Some("cz"), None),
        with_node(outcome_entry(9, "x", "x"), "ox", Some("cx"), None),
        with_node(reply_entry(10, "a"), "ra", Some("ox"), Some("m2")),
    ];
    assert_eq!(live_keys(entries, Closing::Drop), [1, 2, 4, 7, 5, 8, 9, 10]);
}

#[test]
fn what_hooks_said_beside_parallel_calls_is_live_and_comes_after_the_outcomes() {
    let hook = |n| make_entry(n, Origin::Hook, Body::Prompt(text_parts("hook")));
    let entries = vec![
        with_node(prompt_entry(1, "a"), "a", None, None),
        with_node(call_entry(2, "x"), "cx", Some("a"), Some("m1")),
        with_node(call_entry(3, "y"), "cy", Some("cx"), Some("m1")),
        with_node(hook(4), "before y", Some("cy"), None),
        with_node(outcome_entry(5, "y", "y"), "oy", Some("cy"), None),
        with_node(hook(6), "after y", Some("oy"), None),
        with_node(outcome_entry(7, "x", "x"), "ox", Some("cx"), None),
        with_node(hook(8), "after x", Some("ox"), None),
        with_node(reply_entry(9, "a"), "ra", Some("after x"), Some("m2")),
        with_node(hook(10), "abandoned", Some("ra"), None),
        with_node(prompt_entry(11, "b"), "b", Some("ra"), None),
    ];
    assert_eq!(live_keys(entries, Closing::Drop), [1, 2, 3, 5, 7, 4, 6, 8, 9, 11]);
}

#[test]
fn what_was_said_after_an_abandoned_call_stays_out() {
    let entries = vec![
        with_node(prompt_entry(1, "a"), "a", None, None),
        with_node(call_entry(2, "x"), "cx", Some("a"), Some("m1")),
        with_node(outcome_entry(3, "x", "x"), "ox", Some("cx"), None),
        with_node(reply_entry(4, "abandoned"), "r1", Some("ox"), Some("m2")),
        with_node(prompt_entry(5, "abandoned"), "b", Some("r1"), None),
        with_node(reply_entry(6, "abandoned"), "r2", Some("b"), Some("m1")),
        with_node(prompt_entry(7, "c"), "c", Some("ox"), None),
    ];
    assert_eq!(live_keys(entries, Closing::Drop), [1, 2, 3, 7]);
}

#[test]
fn the_end_of_a_session_that_was_written_twice_counts_once() {
    let entries = vec![
        with_node(prompt_entry(1, "a"), "a", None, None),
        with_node(call_entry(2, "x"), "cx", Some("a"), Some("m1")),
        with_node(outcome_entry(3, "x", "x"), "ox", Some("cx"), None),
        with_node(reply_entry(4, "a"), "ra", Some("ox"), Some("m2")),
        with_node(prompt_entry(5, "a"), "a2", None, None),
        with_node(call_entry(6, "x"), "cx2", Some("a2"), Some("m1")),
        with_node(outcome_entry(7, "x", "x"), "ox2", Some("cx2"), None),
        with_node(reply_entry(8, "a"), "ra2", Some("ox2"), Some("m2")),
        with_node(prompt_entry(9, "b"), "b", Some("ra2"), None),
    ];
    assert_eq!(live_keys(entries, Closing::Drop), [5, 6, 7, 8, 9]);
}

#[test]
fn a_compaction_keeps_the_segment_that_it_names() {
    let compacted = Compaction {
        kept: Some((NodeId::from_name("b"), NodeId::from_name("rb"))),
        anchor: Some(NodeId::from_name("s")),
        ..Compaction::default()
    };
    let entries = vec![
        with_node(prompt_entry(1, "a"), "a", None, None),
        with_node(prompt_entry(2, "b"), "b", Some("a"), None),
        with_node(reply_entry(3, "b"), "rb", Some("b"), Some("m")),
        with_node(make_entry(4, Origin::Harness, Body::Compacted(Box::new(compacted))), "k", None, None),
        with_node(make_entry(5, Origin::Agent, Body::Summary(text_parts("so far"))), "s", Some("k"), None),
        with_node(prompt_entry(6, "c"), "c", Some("s"), None),
    ];
    assert_eq!(live_keys(entries, Closing::Drop), [5, 2, 3, 6]);
}

#[test]
fn a_compaction_that_hangs_on_the_branch_takes_away_what_it_hangs_on() {
    let entries = vec![
        with_node(prompt_entry(1, "a"), "a", None, None),
        with_node(reply_entry(2, "a"), "ra", Some("a"), Some("m")),
        with_node(make_entry(3, Origin::Harness, Body::Compacted(Box::default())), "k", Some("ra"), None),
        with_node(make_entry(4, Origin::Agent, Body::Summary(text_parts("so far"))), "s", Some("k"), None),
        with_node(prompt_entry(5, "b"), "b", Some("s"), None),
    ];
    let transcript = make_transcript(entries.clone(), Closing::Drop);
    assert_eq!(live_keys(entries, Closing::Drop), [4, 5]);
    assert_eq!(full_history(&transcript), [0, 1, 2, 3, 4], "what was done before is still told");
}
