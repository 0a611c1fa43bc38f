use std::path::Path;
use std::sync::Arc;

use carryover_core::time::Timestamp;
use serde_json::{Value, json};

use super::*;
use crate::context::Context;
use crate::ledger::Ledger;
use crate::ledger::forget::Forget;
use crate::tests::world::World;

fn empty_context() -> (World, Context) {
    let world = World::new();
    let context = world.context.clone();
    (world, context)
}

fn start_recorder(context: &Context) -> Recorder {
    let now = context.env.now;
    let describe = |manifest: &mut Manifest| {
        manifest.project = "/work/shop".into();
        manifest.services = vec![Service { name: "m".to_owned(), upstream: "http://up".to_owned() }];
    };
    Recorder::start(context, "some-agent", Arc::new(move || now), describe).unwrap()
}

fn head(path: &str, headers: &[(&str, &str)]) -> RequestHead {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    RequestHead { method: "POST".to_owned(), path: path.to_owned(), headers }
}

/// Records a request that is answered with these bytes.
fn record(recorder: &Recorder, head: RequestHead, request: &[u8], response: &[u8]) {
    let tap = recorder.handle().begin(0, head);
    request.chunks(7000).for_each(|chunk| tap.hear_request(chunk));
    tap.hear_response_head(ResponseHead { status: 200, headers: vec![("set-cookie".to_owned(), "s=1".to_owned())] });
    response.chunks(11).for_each(|chunk| tap.hear_response(chunk));
    tap.set_ending(Ending::Complete);
}

fn record_json(recorder: &Recorder, path: &str, request: &Value) {
    record(recorder, head(path, &[]), request.to_string().as_bytes(), b"{}");
}

fn finish(recorder: Recorder) -> Recording {
    let folder = recorder.folder().to_owned();
    let (_, summary) = recorder.finish(Some(0)).unwrap();
    assert_eq!(summary.trouble, None);
    Recording::open(&folder).unwrap().unwrap()
}

#[test]
fn bodies_come_back_as_they_were_sent_and_repeated_ones_take_little_room() {
    let (_home, context) = empty_context();
    let recorder = start_recorder(&context);
    // A conversation that grows, as random as a text can be.
    let mut chance = 1_u64;
    let mut noise = || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        format!("{chance:x}")
    };
    let mut request = (0..20_000).map(|_| noise()).collect::<String>().into_bytes();
    let mut sent = Vec::new();
    for _ in 0..20 {
        request.extend_from_slice(noise().as_bytes());
        record(&recorder, head("/v1/messages", &[]), &request, b"answer");
        sent.push(request.clone());
    }
    let recording = finish(recorder);
    let exchanges = recording.exchanges().unwrap();
    for (exchange, request) in exchanges.iter().zip(&sent) {
        let exchange = recording.with_exchange(exchange);
        assert!(exchange.request_bytes().unwrap() == *request, "{}", exchange.exchange.number);
        assert_eq!(exchange.response_bytes().unwrap(), b"answer");
    }
    assert_eq!(exchanges.len(), 20);
    let whole = sent[0].len() as u64;
    assert!(recording.disk_bytes() < 3 * whole, "{} for {whole}", recording.disk_bytes());
}

#[test]
fn a_body_that_is_too_long_for_memory_is_written_as_it_comes() {
    let (_home, context) = empty_context();
    let recorder = start_recorder(&context);
    let long = vec![b'x'; body::MAX_CHAINED_BYTES + 100_000];
    record(&recorder, head("/v1/messages", &[]), &long, b"a");
    record(&recorder, head("/v1/messages", &[]), b"short", b"a");
    let recording = finish(recorder);
    let exchanges = recording.exchanges().unwrap();
    assert!(recording.with_exchange(&exchanges[0]).request_bytes().unwrap() == long);
    assert_eq!(recording.with_exchange(&exchanges[1]).request_bytes().unwrap(), b"short");
}

#[test]
fn no_key_gets_to_disk_and_the_files_are_their_owners_alone() {
    let (_home, context) = empty_context();
    let recorder = start_recorder(&context);
    let key = "sk-ant-api03-verysecretverysecret";
    let headers = [("Authorization", key), ("x-api-key", key), ("x-other", "plain"), ("Cookie", key)];
    record(&recorder, head(&format!("/v1/x?key={key}&alt=sse"), &headers), b"{}", b"{}");
    let recording = finish(recorder);
    let mut files = Vec::new();
    list_files(&recording.folder, &mut files);
    assert_eq!(files.len(), 4, "{files:?}");
    for path in files {
        let bytes = fs_err::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains("verysecret") && !text.contains("s=1"), "{}", path.display());
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs_err::metadata(&path).unwrap().permissions()) & 0o077, 0);
    }
    let exchange = recording.exchanges().unwrap().remove(0);
    assert_eq!(exchange.request.header("X-Other"), Some("plain"));
    assert_eq!(exchange.request.path, "/v1/x?key=[stripped]&alt=sse");
}

fn list_files(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { list_files(&path, files) } else { files.push(path) }
    }
}

#[test]
fn an_exchange_that_was_complete_outlives_a_crash_and_one_that_was_not_does_no_harm() {
    let (_home, context) = empty_context();
    let recorder = start_recorder(&context);
    record(&recorder, head("/v1/messages", &[]), b"first", b"answer");
    let open = recorder.handle().begin(0, head("/v1/messages", &[]));
    open.hear_request(b"second");
    let recording = finish(recorder);
    drop(open);
    let lines = recording.folder.join(recorder::EXCHANGES);
    let mut torn = fs_err::read(&lines).unwrap();
    torn.extend_from_slice(br#"{"number":2,"serv"#);
    crate::own::private::write_file(&lines, &torn).unwrap();
    let exchanges = recording.exchanges().unwrap();
    assert_eq!(exchanges.len(), 1);
    assert_eq!(recording.with_exchange(&exchanges[0]).request_bytes().unwrap(), b"first");
}

#[test]
fn a_body_that_was_changed_is_told_and_never_given() {
    let (_home, context) = empty_context();
    let recorder = start_recorder(&context);
    record(&recorder, head("/v1/messages", &[]), b"first", b"answer");
    let recording = finish(recorder);
    let mut exchange = recording.exchanges().unwrap().remove(0);
    exchange.request_body.as_mut().unwrap().sha256 = "0".repeat(64);
    assert!(recording.with_exchange(&exchange).request_bytes().unwrap_err().to_string().contains("damaged"));
    exchange.request_body.as_mut().unwrap().file = "../recording.json.zst".to_owned();
    assert!(recording.with_exchange(&exchange).request_bytes().is_err());
}

#[test]
fn the_boundary_is_that_of_the_sessions_own_loop() {
    let (_home, context) = empty_context();
    let recorder = start_recorder(&context);
    let request = |system: &str, first: &str, n_messages: usize, tools: &[&str]| {
        let messages: Vec<Value> =
            (0..n_messages).map(|n| json!({"role": "user", "content": format!("{first}{n}")})).collect();
        let tools: Vec<Value> = tools
            .iter()
            .map(|name| json!({"name": name, "description": "d", "input_schema": {"type": "object"}}))
            .collect();
        json!({"model": "m-1", "system": [{"type": "text", "text": system}], "messages": messages, "tools": tools,
            "max_tokens": 32000, "temperature": 1, "metadata": {"user_id": "u"}, "stream": true})
    };
    record_json(&recorder, "/v1/messages?beta=true", &request("make a title", "hello", 1, &[]));
    record_json(&recorder, "/v1/messages", &request("you are", "hello", 1, &["Bash"]));
    record_json(&recorder, "/v1/messages", &request("you are", "hello", 3, &["Bash", "Edit"]));
    record_json(&recorder, "/v1/messages/count_tokens", &request("you are", "hello", 5, &["Bash"]));
    record_json(&recorder, "/v1/messages", &request("you are a helper", "look", 9, &["Read"]));
    record_json(&recorder, "/v1/messages", &request("you are", "hello", 1, &[]));
    let boundary = RecordedBoundary::read(&finish(recorder)).unwrap().unwrap();
    assert_eq!((boundary.exchange, boundary.messages), (3, 3));
    assert_eq!(boundary.form, RequestForm::Messages);
    assert_eq!(boundary.model.as_deref(), Some("m-1"));
    assert_eq!(boundary.system_prompt, ["you are"]);
    assert_eq!(boundary.upstream, "http://up");
    assert_eq!(Value::from(boundary.sampling), json!({"max_tokens": 32000, "temperature": 1, "stream": true}));
    let names: Vec<&str> = boundary.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["Bash", "Edit"]);
    assert_eq!(boundary.tools[0].schema_sha256, boundary.tools[1].schema_sha256);
    assert_ne!(boundary.tools[0].declaration_sha256, boundary.tools[1].declaration_sha256);
}

#[test]
fn every_form_of_request_tells_its_boundary() {
    let schema = json!({"properties": {"a": {}}, "type": "object"});
    let turned = json!({"type": "object", "properties": {"a": {}}});
    let forms = [
        (
            "/v1/messages",
            json!({"model": "m", "system": "sys", "messages": [{"role": "user", "content": "hi"}], "temperature": 0,
                "tools": [{"name": "t", "input_schema": schema}]}),
        ),
        (
            "/v1/responses",
            json!({"model": "m", "instructions": "sys", "input": [{"role": "user", "content": "hi"}], "temperature": 0,
                "tools": [{"type": "function", "name": "t", "parameters": turned}], "prompt_cache_key": "k"}),
        ),
        (
            "/v1/chat/completions",
            json!({"model": "m", "messages": [{"role": "system", "content": "sys"}, {"role": "user", "content": "hi"}],
                "temperature": 0, "tools": [{"type": "function", "function": {"name": "t", "parameters": schema}}]}),
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({"systemInstruction": {"parts": [{"text": "sys"}]}, "contents": [{"role": "user", "parts": []}],
                "temperature": 0, "tools": [{"functionDeclarations": [{"name": "t", "parametersJsonSchema": schema}]}]}),
        ),
        (
            "/v1internal:streamGenerateContent?alt=sse",
            json!({"model": "m", "project": "p", "request": {"systemInstruction": {"parts": [{"text": "sys"}]},
                "contents": [{"role": "user", "parts": []}], "temperature": 0,
                "tools": [{"functionDeclarations": [{"name": "t", "parametersJsonSchema": schema}]}]}}),
        ),
    ];
    for (path, body) in forms {
        let (_home, context) = empty_context();
        let recorder = start_recorder(&context);
        record_json(&recorder, path, &body);
        let boundary = RecordedBoundary::read(&finish(recorder)).unwrap().unwrap();
        assert_eq!(boundary.model.as_deref(), Some("m"), "{path}");
        assert_eq!(boundary.system_prompt, ["sys"], "{path}");
        assert_eq!(boundary.tools[0].name, "t", "{path}");
        assert_eq!(boundary.tools[0].schema_sha256, carryover_agents::formats::digest::digest_json(&schema), "{path}");
        assert_eq!(Value::from(boundary.sampling), json!({"temperature": 0}), "{path}");
        assert_eq!(boundary.messages, 1, "{path}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_request_that_its_client_has_packed_is_read_as_well() {
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).to_string();
    let (first, rest) = body.as_bytes().split_at(20);
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    for (encoding, packed) in [
        ("zstd", zstd(body.as_bytes())),
        ("Zstd", zstd(body.as_bytes())),
        ("zstd", [zstd(first), zstd(rest)].concat()),
        ("gzip", gzip(body.as_bytes())),
        // Two packs in a row are one body.
        ("gzip", [gzip(first), gzip(rest)].concat()),
        ("identity", body.clone().into_bytes()),
    ] {
        let (_home, context) = empty_context();
        let recorder = start_recorder(&context);
        record(&recorder, head("/v1/messages", &[("content-encoding", encoding)]), &packed, b"{}");
        let recording = finish(recorder);
        let exchanges = recording.exchanges().unwrap();
        let exchange = recording.with_exchange(&exchanges[0]);
        assert_eq!(exchange.request_bytes().unwrap(), packed);
        assert_eq!(exchange.decoded_request().unwrap(), body.as_bytes(), "{encoding}");
        assert_eq!(RecordedBoundary::read(&recording).unwrap().unwrap().model.as_deref(), Some("m"), "{encoding}");
    }
}

#[test]
fn a_request_that_cannot_be_unpacked_leaves_the_boundary_unknown_and_not_that_of_an_earlier_one() {
    let body = |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "hi"}]}).to_string();
    let packed = gzip(body("later").as_bytes());
    let cut = packed[..packed.len() - 9].to_vec();
    for (encoding, bytes) in [("br", packed.clone()), ("gzip, zstd", packed.clone()), ("gzip", cut), ("zstd", packed)] {
        let (_home, context) = empty_context();
        let recorder = start_recorder(&context);
        record(&recorder, head("/v1/messages", &[]), body("earlier").as_bytes(), b"{}");
        record(&recorder, head("/v1/messages", &[("content-encoding", encoding)]), &bytes, b"{}");
        let recording = finish(recorder);
        assert!(RecordedBoundary::read(&recording).is_err(), "{encoding}");
    }
}

#[test]
fn forgetting_a_project_a_time_or_everything_takes_its_recordings_along() {
    let (_home, context) = empty_context();
    let count = || list_recordings(&context).unwrap().len();
    let forget = |what: Forget| {
        let mut ledger = Ledger::open(&context).unwrap().ledger;
        ledger.forget(&context, &what).unwrap();
    };
    finish(start_recorder(&context));
    finish(start_recorder(&context));
    assert_eq!(count(), 2);
    forget(Forget::Project("/work/other".into()));
    forget(Forget::Before(context.env.now));
    assert_eq!(count(), 2);
    forget(Forget::Project("/work/shop".into()));
    assert_eq!(count(), 0);
    finish(start_recorder(&context));
    forget(Forget::Before(context.env.now.plus_millis(1)));
    assert_eq!(count(), 0);
    let unfinished = start_recorder(&context).folder().join(manifest::FILE_NAME);
    fs_err::remove_file(unfinished).unwrap();
    forget(Forget::All);
    assert_eq!(fs_err::read_dir(folder(&context)).unwrap().count(), 0);
}

#[test]
fn what_is_older_than_the_retention_goes() {
    let (_home, mut context) = empty_context();
    finish(start_recorder(&context));
    context.config.ledger.retention = Some(30);
    let mut ledger = Ledger::open(&context).unwrap().ledger;
    ledger.drop_expired(&context).unwrap();
    assert_eq!(list_recordings(&context).unwrap().len(), 1);
    context.env.now = Timestamp::from_millis(context.env.now.millis() + 31 * 86_400_000);
    ledger.drop_expired(&context).unwrap();
    assert_eq!(list_recordings(&context).unwrap().len(), 0);
}
