//! The server over a real socket, asked as the clients ask it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;

use serde_json::{Value, json};

use super::{Block, FALLBACK_TEXT, Hold, ModelServer, Reply, RequestKind, Turn};

fn send_raw(server: &ModelServer, request: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn post_with_headers(server: &ModelServer, path: &str, headers: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    send_raw(server, &format!("POST {path} HTTP/1.1\r\ncontent-length: {length}\r\n{headers}\r\n{body}"))
}

fn post_json(server: &ModelServer, path: &str, body: &Value) -> String {
    post_with_headers(server, path, "", body)
}

/// The data of an event stream.
fn parse_events(response: &str) -> Vec<Value> {
    response
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn messages_body(prompt: &str) -> Value {
    let tools = json!([{"name": "Bash"}, {"name": "Agent"}]);
    json!({"model": "m", "stream": true, "tools": tools, "messages": [{"role": "user", "content": prompt}]})
}

fn responses_body(prompt: &str) -> Value {
    let input = json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}]);
    json!({"model": "m", "stream": true, "tools": [{"name": "exec_command"}], "input": input})
}

#[test]
fn messages_stream_holds_every_block_of_the_turn() {
    let server = ModelServer::start().unwrap();
    let call =
        Block::Call { id: "toolu_1".into(), name: "Bash".into(), namespace: None, input: json!({"command": "ls"}) };
    let thought = Block::Reasoning { text: "hm".into(), seal: "proof".into() };
    server.script_replies(RequestKind::Main, [Turn::from_blocks(vec![thought, Block::Text("hi".into()), call])]);
    let events = parse_events(&post_json(&server, "/v1/messages?beta=true", &messages_body("go")));
    let deltas: Vec<&Value> = events.iter().filter_map(|event| event.pointer("/delta/type")).collect();
    assert_eq!(deltas, ["thinking_delta", "signature_delta", "text_delta", "input_json_delta"]);
    assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
    assert_eq!(server.count_unused(), 0);
}

#[test]
fn messages_without_stream_are_one_object() {
    let server = ModelServer::start().unwrap();
    let mut body = messages_body("go");
    body["stream"] = json!(false);
    let response = post_json(&server, "/v1/messages", &body);
    let message: Value = serde_json::from_str(response.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    assert_eq!(message["content"][0]["text"], FALLBACK_TEXT);
}

#[test]
fn responses_stream_ends_with_the_whole_output() {
    let server = ModelServer::start().unwrap();
    let patch = Block::Custom { id: "call_1".into(), name: "apply_patch".into(), input: "*** Begin Patch".into() };
    server.script_replies(RequestKind::Main, [Turn::from_blocks(vec![Block::Text("hi".into()), patch])]);
    let events = parse_events(&post_json(&server, "/v1/responses", &responses_body("go")));
    let last = events.last().unwrap();
    assert_eq!(last["type"], "response.completed");
    assert_eq!(last["response"]["output"][1]["name"], "apply_patch");
    assert!(events.iter().enumerate().all(|(number, event)| event["sequence_number"] == number));
}

#[test]
fn side_requests_leave_the_script_alone() {
    let server = ModelServer::start().unwrap();
    server.script_replies(RequestKind::Main, [Turn::from_text("scripted")]);
    let mut title = messages_body("name this");
    title["tools"] = json!([]);
    title["output_config"] = json!({"format": {"schema": {"properties": {"title": {}}}}});
    let mut quota = messages_body("quota");
    quota["max_tokens"] = json!(1);
    let mut codex_title = responses_body("name this");
    codex_title["text"] = json!({"format": {"schema": {"properties": {"title": {}}}}});
    assert!(post_json(&server, "/v1/messages", &title).contains("title"));
    post_json(&server, "/v1/messages", &quota);
    post_json(&server, "/v1/responses", &codex_title);
    assert_eq!(server.count_unused(), 1);
    assert_eq!(server.requests(RequestKind::Side).len(), 3);
    assert!(post_json(&server, "/v1/messages", &messages_body("go")).contains("scripted"));
}

#[test]
fn compactions_and_sub_agents_have_scripts_of_their_own() {
    let server = ModelServer::start().unwrap();
    server.script_replies(RequestKind::Main, [Turn::from_text("of main")]);
    server.script_replies(RequestKind::SubAgent, [Turn::from_text("of sub"), Turn::from_text("of sub")]);
    server
        .script_replies(RequestKind::Compaction, [Turn::from_text("of compaction"), Turn::from_text("of compaction")]);
    let agent = "x-claude-code-agent-id: a1\r\n";
    assert!(post_with_headers(&server, "/v1/messages", agent, &messages_body("task")).contains("of sub"));
    let child = "x-codex-turn-metadata: {\"session_id\":\"a\",\"thread_id\":\"b\",\"request_kind\":\"turn\"}\r\n";
    assert!(post_with_headers(&server, "/v1/responses", child, &responses_body("task")).contains("of sub"));
    let compaction =
        "x-codex-turn-metadata: {\"session_id\":\"a\",\"thread_id\":\"a\",\"request_kind\":\"compaction\"}\r\n";
    assert!(
        post_with_headers(&server, "/v1/responses", compaction, &responses_body("sum up")).contains("of compaction")
    );
    assert!(post_json(&server, "/v1/responses/compact", &responses_body("sum up")).contains("of compaction"));
    assert!(post_json(&server, "/v1/responses", &responses_body("go")).contains("of main"));
}

#[test]
fn failures_carry_their_status() {
    let server = ModelServer::start().unwrap();
    server.script_replies(RequestKind::Main, [Turn::from_failure(429, "rate_limit_error", "later")]);
    let response = post_json(&server, "/v1/messages", &messages_body("go"));
    assert!(response.starts_with("HTTP/1.1 429"));
    assert!(response.contains("rate_limit_error"));
}

#[test]
fn held_answer_comes_when_released() {
    let server = ModelServer::start().unwrap();
    let hold = Hold::default();
    server.script_replies(RequestKind::Main, [Turn::from_text("at last").held_by(&hold)]);
    thread::scope(|scope| {
        let asked = scope.spawn(|| post_json(&server, "/v1/messages", &messages_body("go")));
        while server.requests(RequestKind::Main).is_empty() {
            thread::yield_now();
        }
        assert!(!asked.is_finished());
        hold.release();
        assert!(asked.join().unwrap().contains("at last"));
    });
}

#[test]
fn reply_can_depend_on_the_request() {
    let server = ModelServer::start().unwrap();
    let echo = Reply::FromRequest(Arc::new(|body| Turn::from_text(format!("model {}", body["model"]))));
    server.script_replies(RequestKind::Main, [echo]);
    assert!(post_json(&server, "/v1/messages", &messages_body("go")).contains("model \\\"m\\\""));
}

#[test]
fn websocket_upgrade_is_refused() {
    let server = ModelServer::start().unwrap();
    let response = send_raw(&server, "GET /v1/responses HTTP/1.1\r\nupgrade: websocket\r\n\r\n");
    assert!(response.starts_with("HTTP/1.1 426"));
}

#[test]
fn chunked_bodies_are_read() {
    let server = ModelServer::start().unwrap();
    let body = messages_body("in chunks").to_string();
    let (first, second) = body.split_at(10);
    let chunks = format!("{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\n\r\n", first.len(), second.len());
    send_raw(&server, &format!("POST /v1/messages HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n{chunks}"));
    assert_eq!(server.requests(RequestKind::Main)[0]["messages"][0]["content"], "in chunks");
}

#[test]
fn keys_are_not_logged() {
    let server = ModelServer::start().unwrap();
    post_with_headers(&server, "/v1/messages", "x-api-key: secret\r\nx-other: kept\r\n", &messages_body("go"));
    let headers = &server.log()[0].headers;
    assert!(headers.iter().any(|(name, _)| name == "x-other"));
    assert!(headers.iter().all(|(name, _)| name != "x-api-key"));
}

fn chat_body(prompt: &str) -> Value {
    let tools = json!([{"type": "function", "function": {"name": "bash"}}]);
    let messages = json!([{"role": "system", "content": "You help."}, {"role": "user", "content": prompt}]);
    json!({"model": "m", "stream": true, "tools": tools, "messages": messages})
}

fn gemini_body(prompt: &str) -> Value {
    let tools = json!([{"functionDeclarations": [{"name": "run_shell_command"}]}]);
    json!({"tools": tools, "contents": [{"role": "user", "parts": [{"text": prompt}]}]})
}

const STREAM_PATH: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";

/// A thought, a text and a call.
fn rich_turn(name: &str) -> Turn {
    let call = Block::Call { id: "call_1".into(), name: name.into(), namespace: None, input: json!({"command": "ls"}) };
    let thought = Block::Reasoning { text: "hm".into(), seal: "proof".into() };
    Turn::from_blocks(vec![thought, Block::Text("hi".into()), call])
}

/// The chunks of a stream of chat completions, without its end.
fn parse_chunks(response: &str) -> Vec<Value> {
    assert!(response.ends_with("data: [DONE]\n\n"));
    parse_events(response.trim_end().strip_suffix("data: [DONE]").unwrap())
}

#[test]
fn chat_stream_holds_every_block_of_the_turn() {
    let server = ModelServer::start().unwrap();
    server.script_replies(RequestKind::Main, [rich_turn("bash")]);
    let chunks = parse_chunks(&post_json(&server, "/v1/chat/completions", &chat_body("go")));
    let delta = |key: &str| chunks.iter().find_map(|chunk| chunk.pointer(&format!("/choices/0/delta/{key}")));
    assert_eq!(delta("reasoning_content").unwrap(), "hm");
    assert_eq!(delta("tool_calls/0/function/arguments").unwrap(), "{\"command\":\"ls\"}");
    assert!(chunks.iter().any(|chunk| chunk["choices"][0]["finish_reason"] == "tool_calls"));
    assert!(chunks.last().unwrap()["usage"]["prompt_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn chat_without_stream_is_one_object() {
    let server = ModelServer::start().unwrap();
    server.script_replies(RequestKind::Main, [rich_turn("bash")]);
    let mut body = chat_body("go");
    body["stream"] = json!(false);
    let response = post_json(&server, "/v1/chat/completions", &body);
    let whole: Value = serde_json::from_str(response.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let message = &whole["choices"][0]["message"];
    assert_eq!((&message["content"], &message["tool_calls"][0]["id"]), (&json!("hi"), &json!("call_1")));
}

#[test]
fn chat_requests_are_told_apart() {
    let server = ModelServer::start().unwrap();
    let mut title = chat_body("name this");
    title["tools"] = json!([]);
    let mut commit = chat_body("say what changed");
    commit["model"] = json!(super::SIDE_MODEL);
    let mut flat = title.clone();
    flat["model"] = json!(super::FLAT_MODEL);
    let summary = chat_body("Distil it all into a <state_snapshot>.");
    let mut sub = chat_body("task");
    sub["messages"][0]["content"] = json!("You are a subagent.");
    for body in [&chat_body("go"), &title, &commit, &flat, &summary, &sub] {
        post_json(&server, "/v1/chat/completions", body);
    }
    let kinds: Vec<RequestKind> = server.log().iter().map(|logged| logged.kind).collect();
    assert_eq!(
        kinds,
        [
            RequestKind::Main,
            RequestKind::Side,
            RequestKind::Side,
            RequestKind::Main,
            RequestKind::Compaction,
            RequestKind::SubAgent
        ]
    );
}

#[test]
fn gemini_stream_holds_every_block_of_the_turn() {
    let server = ModelServer::start().unwrap();
    server.script_replies(RequestKind::Main, [rich_turn("run_shell_command")]);
    let events = parse_events(&post_json(&server, STREAM_PATH, &gemini_body("go")));
    let parts: Vec<&Value> = events.iter().map(|event| &event["candidates"][0]["content"]["parts"][0]).collect();
    assert_eq!(parts.len(), 3);
    assert_eq!((&parts[0]["thought"], &parts[1]["text"]), (&json!(true), &json!("hi")));
    assert_eq!(parts[2]["functionCall"]["name"], "run_shell_command");
    assert_eq!(
        (&events[2]["candidates"][0]["finishReason"], &events[2]["modelVersion"]),
        (&json!("STOP"), &json!("gemini-2.5-pro"))
    );
}

#[test]
fn gemini_requests_are_told_apart() {
    let server = ModelServer::start().unwrap();
    let mut title = gemini_body("name this");
    title["tools"] = json!([]);
    let mut check = gemini_body("who speaks next?");
    check["generationConfig"] =
        json!({"responseMimeType": "application/json", "responseJsonSchema": {"properties": {"next": {}}}});
    let mut summary = title.clone();
    summary["systemInstruction"] = json!({"parts": [{"text": "Write a <state_snapshot>."}]});
    let mut sub = gemini_body("task");
    sub["tools"][0]["functionDeclarations"][0]["name"] = json!("complete_task");
    assert!(post_json(&server, STREAM_PATH, &check).contains("next"));
    for body in [&title, &summary, &sub, &gemini_body("go")] {
        post_json(&server, "/v1beta/models/m:generateContent", body);
    }
    let counted = post_json(&server, "/v1beta/models/m:countTokens", &gemini_body("go"));
    assert!(counted.contains("totalTokens"));
    let kinds: Vec<RequestKind> = server.log().iter().map(|logged| logged.kind).collect();
    assert_eq!(
        kinds,
        [
            RequestKind::Side,
            RequestKind::Side,
            RequestKind::Compaction,
            RequestKind::SubAgent,
            RequestKind::Main,
            RequestKind::Other
        ]
    );
}

#[test]
fn lasting_refusal_meets_every_try() {
    let server = ModelServer::start().unwrap();
    server.script_replies(RequestKind::Main, [Turn::from_failure(429, "RESOURCE_EXHAUSTED", "later").lasting()]);
    for _ in 0..2 {
        assert!(post_json(&server, STREAM_PATH, &gemini_body("go")).starts_with("HTTP/1.1 429"));
    }
    assert_eq!(server.count_unused(), 0);
    server.script_replies(RequestKind::Main, [Turn::from_text("again")]);
    assert!(post_json(&server, "/v1/chat/completions", &chat_body("go")).contains("again"));
}
