//! The same little conversation in all APIs, whole and damaged.

use serde_json::{Value, json};

use super::{Comparison, ItemKind, Loss, Truth, compare_with_truth, read_items};
use crate::scenario::{Expect, Fact, Nature};

fn anthropic_body() -> Value {
    json!({"messages": [
        {"role": "user", "content": [{"type": "text", "text": "A1"}, {"type": "image", "source": {}}]},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "R2", "signature": "s"},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls C3"}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "O4"}]},
        {"role": "assistant", "content": "Z5"},
    ]})
}

fn openai_body() -> Value {
    json!({"input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "A1"}, {"type": "input_image", "image_url": "data:"}]},
        {"type": "function_call", "call_id": "c1", "name": "exec_command", "arguments": "{\"cmd\":\"ls C3\"}"},
        {"type": "function_call_output", "call_id": "c1", "output": "Output:\nO4"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Z5"}]},
    ]})
}

fn chat_body() -> Value {
    json!({"messages": [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": [{"type": "text", "text": "A1"}, {"type": "image_url", "image_url": {"url": "data:"}}]},
        {"role": "assistant", "content": "", "reasoning_content": "R2", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{\"command\":\"ls C3\"}"}},
        ]},
        {"role": "tool", "tool_call_id": "c1", "content": "O4"},
        {"role": "assistant", "content": "Z5"},
    ]})
}

fn gemini_body() -> Value {
    json!({"systemInstruction": {"parts": [{"text": "You help."}]}, "contents": [
        {"role": "user", "parts": [{"text": "A1"}, {"inlineData": {"mimeType": "image/png", "data": ""}}]},
        {"role": "model", "parts": [
            {"text": "R2", "thought": true},
            {"functionCall": {"name": "run_shell_command", "args": {"command": "ls C3"}}},
        ]},
        {"role": "user", "parts": [{"functionResponse": {"name": "run_shell_command", "response": {"output": "O4"}}}]},
        {"role": "model", "parts": [{"text": "Z5"}]},
    ]})
}

fn sample_truth() -> Truth {
    let fact = |word: &str, nature, expect| Fact { word: word.into(), about: word.into(), nature, expect };
    let facts = [
        fact("A1", Nature::Prompt, Expect::Live),
        fact("R2", Nature::Reasoning, Expect::Live),
        fact("C3", Nature::Call, Expect::Live),
        fact("O4", Nature::Outcome, Expect::Live),
        fact("Z5", Nature::Reply, Expect::Live),
        fact("G6", Nature::Reply, Expect::Ghost),
        fact("T7", Nature::Reply, Expect::Tolerated),
    ];
    Truth::new(&anthropic_body(), &facts)
}

#[test]
fn all_apis_give_the_same_kinds() {
    let kinds = |body: &Value| read_items(body).iter().map(|item| item.kind).collect::<Vec<_>>();
    let [text, image, call, outcome, reasoning] =
        [ItemKind::Text, ItemKind::Image, ItemKind::Call, ItemKind::Outcome, ItemKind::Reasoning];
    assert_eq!(kinds(&anthropic_body()), [text, image, reasoning, call, outcome, text]);
    assert_eq!(kinds(&openai_body()), [text, image, call, outcome, text]);
    assert_eq!(kinds(&chat_body()), [text, text, image, reasoning, call, outcome, text]);
    assert_eq!(kinds(&gemini_body()), [text, image, reasoning, call, outcome, text]);
    assert!(read_items(&chat_body())[0].is_harness());
}

#[test]
fn same_conversation_in_another_api_is_whole() {
    for (body, reasoning) in [(openai_body(), 0), (chat_body(), 1), (gemini_body(), 1)] {
        let comparison = compare_with_truth(&body, &sample_truth());
        assert!(comparison.is_whole(&[]), "{comparison:?}");
        assert_eq!((comparison.live, comparison.reasoning, comparison.native), ((4, 4), (reasoning, 1), (2, 2)));
    }
}

#[test]
fn outcomes_without_ids_belong_to_calls_by_their_order() {
    let mut body = gemini_body();
    let contents = body["contents"].as_array_mut().unwrap();
    contents.extend(contents[1..3].to_vec());
    assert_eq!(compare_with_truth(&body, &sample_truth()).unpaired, 0);
    body["contents"].as_array_mut().unwrap().pop();
    assert_eq!(compare_with_truth(&body, &sample_truth()).unpaired, 1);
}

#[test]
fn ghosts_are_found_and_tolerated_facts_are_not_missed() {
    let mut body = openai_body();
    body["input"][0]["content"][0]["text"] = json!("A1 and G6 and T7");
    let comparison = compare_with_truth(&body, &sample_truth());
    assert_eq!(comparison.ghosts, ["G6 (G6)"]);
    assert!(!comparison.is_whole(&[]));
}

#[test]
fn call_that_became_text_is_live_but_not_native() {
    let body = json!({"messages": [
        {"role": "user", "content": "A1"}, {"role": "assistant", "content": "ls C3 gave O4, Z5"},
    ]});
    let comparison = compare_with_truth(&body, &sample_truth());
    assert_eq!((comparison.live, comparison.native), ((4, 4), (0, 2)));
    assert!(!comparison.is_whole(&[Loss::Structure]));
    assert!(comparison.is_whole(&[Loss::Structure, Loss::Images]));
}

#[test]
fn order_and_pairing_are_checked() {
    let mut body = openai_body();
    let input = body["input"].as_array_mut().unwrap();
    input.swap(0, 3);
    input.remove(2);
    let Comparison { disordered, unpaired, missing, .. } = compare_with_truth(&body, &sample_truth());
    assert_eq!(disordered, ["C3 (C3)", "Z5 (Z5)"]);
    assert_eq!((unpaired, missing), (1, vec!["O4 (O4)".to_owned()]));
}

#[test]
fn what_the_harness_attaches_is_neither_live_nor_ghost() {
    let fact = Fact { word: "W8".into(), about: "w".into(), nature: Nature::Outcome, expect: Expect::AsClient };
    let body = json!({"messages": [{"role": "user", "content": "<system-reminder>W8</system-reminder>"}]});
    let truth = Truth::new(&body, &[fact]);
    assert!(truth.live.is_empty() && truth.ghosts.is_empty());
}

#[test]
fn outcome_that_comes_twice_is_found_unless_the_source_does_so_itself() {
    let mut body = chat_body();
    let messages = body["messages"].as_array_mut().unwrap();
    messages.insert(4, messages[3].clone());
    let comparison = compare_with_truth(&body, &sample_truth());
    assert_eq!((comparison.repeated, comparison.is_whole(&[])), ((1, 0), false));
    let fact = Fact { word: "O4".into(), about: "o".into(), nature: Nature::Outcome, expect: Expect::Live };
    assert!(compare_with_truth(&body, &Truth::new(&body, &[fact])).is_whole(&[]));
}
