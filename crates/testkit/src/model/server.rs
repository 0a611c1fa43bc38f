//! The server itself: one thread per connection, a queue of replies per kind of request, a log.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{Incoming, Outgoing};
use super::turn::{Reply, Turn};
use super::{FALLBACK, FLAT_MODEL, SIDE_MODEL, anthropic, chat, gemini, openai};

/// No answer is held longer than this.
const HOLD_LIMIT: Duration = Duration::from_mins(2);

/// Who asks the model, and so which part of the script answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
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
pub struct Logged {
    pub kind: Kind,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Value,
}

#[derive(Default)]
struct Shared {
    queues: Mutex<HashMap<Kind, VecDeque<Reply>>>,
    log: Mutex<Vec<Logged>>,
    stopping: AtomicBool,
}

/// A running fake model server; it stops when dropped.
pub struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

impl ModelServer {
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let accepting = thread::spawn({
            let shared = Arc::clone(&shared);
            move || accept(&listener, &shared)
        });
        Ok(Self { port, shared, accepting: Some(accepting) })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Appends replies to what requests of this kind are answered with; a lasting refusal ends by it.
    pub fn script<R: Into<Reply>>(&self, kind: Kind, replies: impl IntoIterator<Item = R>) {
        let mut queues = lock(&self.shared.queues);
        let queue = queues.entry(kind).or_default();
        queue.retain(|reply| !reply.is_lasting());
        queue.extend(replies.into_iter().map(Into::into));
    }

    /// How many scripted replies nobody asked for yet.
    pub fn unused(&self) -> usize {
        let queues = lock(&self.shared.queues);
        queues.values().flatten().filter(|reply| !reply.is_lasting()).count()
    }

    pub fn log(&self) -> Vec<Logged> {
        lock(&self.shared.log).clone()
    }

    /// The bodies of all requests of one kind, oldest first.
    pub fn requests(&self, kind: Kind) -> Vec<Value> {
        let log = lock(&self.shared.log);
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // A client that goes away in the middle is no concern of the server.
            drop(serve(&stream, &shared));
        });
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(incoming) = Incoming::read(stream)? else {
        return Ok(());
    };
    let body = serde_json::from_slice(&incoming.body).unwrap_or(Value::Null);
    answer(&incoming, &body, shared).write(stream, incoming.method != "HEAD")
}

fn answer(incoming: &Incoming, body: &Value, shared: &Shared) -> Outgoing {
    let route = incoming.route();
    let is_post = incoming.method == "POST";
    if incoming.header("upgrade").is_some() {
        record(shared, Kind::Other, incoming, body);
        return Outgoing::json(426, &json!({"error": {"message": "no websockets here"}}));
    }
    if is_post && route.ends_with("/v1/messages") {
        let turn = next_turn(shared, anthropic::classify(incoming, body), incoming, body);
        return anthropic::respond(&turn, body);
    }
    if is_post && route.ends_with("/responses") {
        let turn = next_turn(shared, openai::classify(incoming, body), incoming, body);
        return openai::respond(&turn, body);
    }
    if is_post && route.ends_with("/responses/compact") {
        let turn = next_turn(shared, Kind::Compaction, incoming, body);
        return openai::respond_compacted(&turn);
    }
    if is_post && route.ends_with("/chat/completions") {
        let turn = next_turn(shared, chat::classify(incoming, body), incoming, body);
        return chat::respond(&turn, body);
    }
    if is_post && gemini::generates(route) {
        let turn = next_turn(shared, gemini::classify(body), incoming, body);
        return gemini::respond(&turn, incoming, body);
    }
    record(shared, Kind::Other, incoming, body);
    match route {
        _ if gemini::counts(route) => gemini::count(incoming),
        _ if route.ends_with("/count_tokens") => {
            Outgoing::json(200, &json!({"input_tokens": incoming.body.len() / 4 + 1}))
        }
        _ if route.ends_with("/models") => Outgoing::json(200, &models()),
        _ => Outgoing::json(200, &json!({})),
    }
}

/// A list that the clients of all APIs accept.
fn models() -> Value {
    let ids = ["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5", "gpt-5.5", SIDE_MODEL, FLAT_MODEL];
    let data: Vec<Value> = ids
        .iter()
        .map(|id| json!({"type": "model", "object": "model", "id": id, "display_name": id, "created_at": "2025-01-01T00:00:00Z"}))
        .collect();
    json!({"object": "list", "data": data, "models": [], "has_more": false})
}

fn record(shared: &Shared, kind: Kind, incoming: &Incoming, body: &Value) {
    let secret = |name: &str| matches!(name, "authorization" | "x-api-key" | "x-goog-api-key" | "cookie");
    let headers = incoming.headers.iter().filter(|(name, _)| !secret(name)).cloned().collect();
    let logged = Logged { kind, path: incoming.path.clone(), headers, body: body.clone() };
    lock(&shared.log).push(logged);
}

fn next_turn(shared: &Shared, kind: Kind, incoming: &Incoming, body: &Value) -> Turn {
    record(shared, kind, incoming, body);
    let scripted = lock(&shared.queues).get_mut(&kind).and_then(take);
    let turn = match scripted {
        Some(reply) => reply.turn(body),
        None if kind == Kind::Side => Turn::text(side_answer(body)),
        None => Turn::text(FALLBACK),
    };
    if let Some(hold) = &turn.hold {
        hold.wait(HOLD_LIMIT);
    }
    turn
}

/// The next reply. A refusal stays: most clients try again, and a limit does not go away by that.
fn take(queue: &mut VecDeque<Reply>) -> Option<Reply> {
    if queue.front().is_some_and(Reply::is_lasting) {
        return queue.front().cloned();
    }
    queue.pop_front()
}

/// Where the APIs have the schema of a structured answer.
const SCHEMAS: &[&str] = &[
    "/output_config/format/schema",
    "/output_format/schema",
    "/text/format/schema",
    "/response_format/json_schema/schema",
    "/generationConfig/responseJsonSchema",
    "/generationConfig/responseSchema",
];

/// Fills every property that a side request's response schema names.
fn side_answer(body: &Value) -> String {
    let schema = SCHEMAS.iter().find_map(|pointer| body.pointer(pointer));
    let Some(properties) = schema.and_then(|schema| schema["properties"].as_object()) else {
        return "Side answer".to_owned();
    };
    properties.keys().map(|key| (key.clone(), json!("Side answer"))).collect::<Value>().to_string()
}
