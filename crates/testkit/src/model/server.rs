//! The server itself: one thread per connection, a queue of replies per kind of request, a log.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{HttpRequest, HttpResponse};
use super::turn::{Reply, Turn};
use super::{FALLBACK_TEXT, FLAT_MODEL, SIDE_MODEL, anthropic, chat, gemini, openai};

/// No answer is held longer than this.
const HOLD_LIMIT: Duration = Duration::from_mins(2);

/// Who asks the model, and so which part of the script answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// The session's own loop.
    Main,
    SubAgent,
    /// A summary for a compaction.
    Compaction,
    /// Titles, quota probes, warm-ups, suggestions: never scripted.
    Side,
    /// Anything that is not a request to a model.
    Other,
}

/// A request as it was logged.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    pub kind: RequestKind,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

#[derive(Default)]
struct SharedState {
    queues: Mutex<HashMap<RequestKind, VecDeque<Reply>>>,
    log: Mutex<Vec<LoggedRequest>>,
    stopping: AtomicBool,
}

/// A running fake model server; it stops when dropped.
pub struct ModelServer {
    port: u16,
    shared: Arc<SharedState>,
    accepting: Option<JoinHandle<()>>,
}

impl ModelServer {
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(SharedState::default());
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept_connections(&listener, &shared)
        });
        Ok(Self { port, shared, accepting: Some(accepting) })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Appends replies to what requests of this kind are answered with; a lasting refusal ends by it.
    pub fn script_replies<R: Into<Reply>>(&self, kind: RequestKind, replies: impl IntoIterator<Item = R>) {
        let mut queues = lock_mutex(&self.shared.queues);
        let queue = queues.entry(kind).or_default();
        queue.retain(|reply| !reply.is_lasting());
        queue.extend(replies.into_iter().map(Into::into));
    }

    /// How many scripted replies nobody asked for yet.
    pub fn count_unused(&self) -> usize {
        let queues = lock_mutex(&self.shared.queues);
        queues.values().flatten().filter(|reply| !reply.is_lasting()).count()
    }

    /// Forgets the replies that nobody asked for.
    pub fn drop_script(&self) {
        lock_mutex(&self.shared.queues).clear();
    }

    pub fn log(&self) -> Vec<LoggedRequest> {
        lock_mutex(&self.shared.log).clone()
    }

    /// The bodies of all requests of one kind, oldest first.
    pub fn requests(&self, kind: RequestKind) -> Vec<Value> {
        let log = lock_mutex(&self.shared.log);
        log.iter().filter(|logged| logged.kind == kind).map(|logged| logged.body.clone()).collect()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // The accepting thread only looks at the flag when a connection comes in.
        if TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            drop(accepting.join());
        }
    }
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept_connections(listener: &TcpListener, shared: &Arc<SharedState>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // A client that goes away in the middle is no concern of the server.
            drop(serve_connection(&stream, &shared));
        });
    }
}

fn serve_connection(stream: &TcpStream, shared: &SharedState) -> io::Result<()> {
    let Some(incoming) = HttpRequest::read_from(stream)? else {
        return Ok(());
    };
    let body = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
    answer_request(&incoming, &body, shared).write_to(stream, incoming.method != "HEAD")
}

fn answer_request(incoming: &HttpRequest, body: &Value, shared: &SharedState) -> HttpResponse {
    let route = incoming.route();
    let is_post = incoming.method == "POST";
    if incoming.header("upgrade").is_some() {
        log_request(shared, RequestKind::Other, incoming, body);
        return HttpResponse::from_json(426, &json!({"error": {"message": "no websockets here"}}));
    }
    if is_post && route.ends_with("/v1/messages") {
        let turn = next_turn(shared, anthropic::classify_request(incoming, body), incoming, body);
        return anthropic::make_response(&turn, body);
    }
    if is_post && route.ends_with("/responses") {
        let turn = next_turn(shared, openai::classify_request(incoming, body), incoming, body);
        return openai::make_response(&turn, body);
    }
    if is_post && route.ends_with("/responses/compact") {
        let turn = next_turn(shared, RequestKind::Compaction, incoming, body);
        return openai::make_compacted_response(&turn);
    }
    if is_post && route.ends_with("/chat/completions") {
        let turn = next_turn(shared, chat::classify_request(incoming, body), incoming, body);
        return chat::make_response(&turn, body);
    }
    if is_post && gemini::is_generate_route(route) {
        let turn = next_turn(shared, gemini::classify_request(body), incoming, body);
        return gemini::make_response(&turn, incoming, body);
    }
    log_request(shared, RequestKind::Other, incoming, body);
    match route {
        _ if gemini::is_count_route(route) => gemini::count_tokens(incoming),
        _ if route.ends_with("/count_tokens") => {
            HttpResponse::from_json(200, &json!({"input_tokens": incoming.body.len() / 4 + 1}))
        }
        _ if route.ends_with("/models") => HttpResponse::from_json(200, &list_models()),
        _ => HttpResponse::from_json(200, &json!({})),
    }
}

/// A list that the clients of all APIs accept.
fn list_models() -> Value {
    let ids = ["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5.5", SIDE_MODEL, FLAT_MODEL];
    let data: Vec<Value> = ids
        .iter()
        .map(|id| json!({"type": "model", "object": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z"}))
        .collect();
    json!({"object": "list", "data": data, "models": [], "has_more": false})
}

fn log_request(shared: &SharedState, kind: RequestKind, incoming: &HttpRequest, body: &Value) {
    let secret = |name: &str| matches!(name, "authorization" | "x-api-key" | "x-goog-api-key" | "cookie");
    let headers = incoming.headers.iter().filter(|(name, _)| !secret(name)).cloned().collect();
    let logged = LoggedRequest { kind, path: incoming.path.clone(), headers, body: body.clone() };
    lock_mutex(&shared.log).push(logged);
}

fn next_turn(shared: &SharedState, kind: RequestKind, incoming: &HttpRequest, body: &Value) -> Turn {
    log_request(shared, kind, incoming, body);
    let scripted = lock_mutex(&shared.queues).get_mut(&kind).and_then(next_reply);
    let turn = match scripted {
        Some(reply) => reply.make_turn(body),
        None if kind == RequestKind::Side => Turn::from_text(side_answer(body)),
        None => Turn::from_text(FALLBACK_TEXT),
    };
    if let Some(hold) = &turn.hold {
        hold.wait(HOLD_LIMIT);
    }
    turn
}

/// The next reply. A refusal stays: most clients try again, and a limit does not go away by that.
fn next_reply(queue: &mut VecDeque<Reply>) -> Option<Reply> {
    if queue.front().is_some_and(Reply::is_lasting) {
        return queue.front().cloned();
    }
    queue.pop_front()
}

/// Where the APIs have the schema of a structured answer.
const SCHEMA_POINTERS: &[&str] = &[
    "/output_config/format/schema",
    "/output_format/schema",
    "/text/format/schema",
    "/response_format/json_schema/schema",
    "/generationConfig/responseJsonSchema",
    "/generationConfig/responseSchema",
];

/// Fills every property that a side request's response schema names.
fn side_answer(body: &Value) -> String {
    let schema = SCHEMA_POINTERS.iter().find_map(|pointer| body.pointer(pointer));
    let Some(properties) = schema.and_then(|schema| schema["properties"].as_object()) else {
        return "Side answer".to_owned();
    };
    properties.keys().map(|key| (key.clone(), json!("Side answer"))).collect::<Value>().to_string()
}
