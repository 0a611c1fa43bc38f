//! One connection of the client's, and the one to its service that belongs to it.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use carryover_engine::recording::{Ending, ExchangeTap, Header, RequestHead, ResponseHead};
use hyper::body::Incoming;
use hyper::client::conn::http1::SendRequest;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::guard::{self, Admitted};
use super::tapped_body::{RequestBody, ResponseBody};
use super::upstream::{self, Upstream};
use super::{Route, Shared, peer};

/// So many connections are served at once; more wait.
const MAX_CONNECTIONS: usize = 256;

/// A connection that was used before is waited for so long; then there is a new one.
const REUSE_WAIT: Duration = Duration::from_secs(1);

/// Headers that are about one connection and not about the request.
const HOP_HEADERS: &[&str] = &[
    "connection",
    "expect",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Serves for ever.
pub(super) async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of files, most likely: others must end first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        if !peer::is_own_peer(peer, shared.port) {
            continue;
        }
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            serve_connection(stream, shared).await;
            drop(place);
        });
    }
}

async fn serve_connection(stream: TcpStream, shared: Arc<Shared>) {
    // Without it, small chunks wait for each other.
    stream.set_nodelay(true).ok();
    let client = Arc::new(ClientConnection { shared, idle: Mutex::new(None) });
    let service = service_fn(move |request| {
        let client = Arc::clone(&client);
        async move { Ok::<_, hyper::Error>(client.answer(request).await) }
    });
    let mut server = hyper::server::conn::http1::Builder::new();
    server.preserve_header_case(true).header_read_timeout(None);
    // A connection that breaks off is the client's affair, or was told to it.
    server.serve_connection(TokioIo::new(stream), service).await.ok();
}

/// A connection of the client's.
struct ClientConnection {
    shared: Arc<Shared>,
    /// The connection to a service that the last request has left open.
    idle: Mutex<Option<UpstreamConnection>>,
}

/// A connection to a service, which is hung up when dropped.
struct UpstreamConnection {
    upstream: Upstream,
    sender: SendRequest<RequestBody>,
    task: AbortHandle,
}

impl Drop for UpstreamConnection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A connection to a service that is in use.
pub(super) struct Lease {
    connection: UpstreamConnection,
    owner: Weak<ClientConnection>,
}

impl Lease {
    /// Leaves the connection to the client's next request.
    pub(super) fn give_back(self) {
        if let Some(owner) = self.owner.upgrade() {
            *owner.idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.connection);
        }
    }
}

impl ClientConnection {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Response<ResponseBody> {
        let (mut head, body) = request.into_parts();
        let Admitted { route, path } = match guard::check_request(&self.shared, &head) {
            Ok(admitted) => admitted,
            Err((status, reason)) => return make_answer(status, reason),
        };
        let method = head.method.to_string();
        let recorded = RequestHead { method, path: path.clone(), headers: list_headers(&head.headers) };
        let tap = Arc::new(self.shared.recorder.begin(route, recorded));
        let upstream = choose_upstream(&self.shared.routes[route], &head.headers).clone();
        remove_hop_headers(&mut head.headers);
        match address_request(&upstream, &path) {
            Ok((uri, host)) => {
                head.uri = uri;
                head.headers.insert(header::HOST, host);
            }
            Err(_) => return make_answer(StatusCode::BAD_REQUEST, "the path is none"),
        }
        let request = Request::from_parts(head, RequestBody::new(body, Arc::clone(&tap)));
        match self.send(&upstream, request).await {
            Ok((response, connection)) => {
                let lease = Lease { connection, owner: Arc::downgrade(&self) };
                pass_response(response, tap, lease)
            }
            Err(failure) => {
                let place = format!("{}:{}", upstream.host, upstream.port);
                let reason = format!("{place} {}: {}", failure.happened, failure.error);
                tap.set_failure(failure.ending, reason.clone());
                make_answer(StatusCode::BAD_GATEWAY, &reason)
            }
        }
    }

    /// Sends a request by the connection that is there, or a new one where that has been closed meanwhile.
    async fn send(
        &self,
        upstream: &Upstream,
        request: Request<RequestBody>,
    ) -> Result<(Response<Incoming>, UpstreamConnection), Failure> {
        let mut request = request;
        if let Some(mut connection) = self.take_idle(upstream).await {
            match connection.sender.try_send_request(request).await {
                Ok(response) => return Ok((response, connection)),
                Err(mut error) => match error.take_message() {
                    // Not a byte of it was sent.
                    Some(unsent) => request = unsent,
                    None => return Err(Failure::broken_off(error.into_error())),
                },
            }
        }
        let mut connection = open_connection(upstream, &self.shared).await.map_err(Failure::unreachable)?;
        let sent = connection.sender.send_request(request).await;
        sent.map(|response| (response, connection)).map_err(Failure::broken_off)
    }

    async fn take_idle(&self, upstream: &Upstream) -> Option<UpstreamConnection> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut connection = idle.filter(|connection| connection.upstream == *upstream)?;
        let ready = tokio::time::timeout(REUSE_WAIT, connection.sender.ready()).await;
        matches!(ready, Ok(Ok(()))).then_some(connection)
    }
}

/// A service that did not answer.
struct Failure {
    ending: Ending,
    happened: &'static str,
    error: Box<dyn std::error::Error + Send + Sync>,
}

impl Failure {
    fn unreachable(error: io::Error) -> Self {
        Self { ending: Ending::Unreachable, happened: "could not be reached", error: error.into() }
    }

    fn broken_off(error: hyper::Error) -> Self {
        Self { ending: Ending::UpstreamHungUp, happened: "hung up before it answered", error: error.into() }
    }
}

async fn open_connection(upstream: &Upstream, shared: &Shared) -> io::Result<UpstreamConnection> {
    let stream = upstream::connect(upstream, &shared.surroundings).await?;
    let mut client = hyper::client::conn::http1::Builder::new();
    client.preserve_header_case(true);
    let (sender, connection) = client.handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    // What breaks on it is told by the answer that does not come.
    let task = tokio::spawn(async move { connection.await.ok() }).abort_handle();
    Ok(UpstreamConnection { upstream: upstream.clone(), sender, task })
}

fn choose_upstream<'a>(route: &'a Route, headers: &HeaderMap) -> &'a Upstream {
    match &route.by_header {
        Some((name, upstream)) if headers.contains_key(*name) => upstream,
        _ => &route.upstream,
    }
}

/// The path of a request at its service, and the service's name.
fn address_request(upstream: &Upstream, path: &str) -> Result<(Uri, HeaderValue), hyper::http::Error> {
    let path = format!("{}{path}", upstream.path);
    let path = if path.starts_with('/') { path } else { format!("/{path}") };
    Ok((path.parse()?, HeaderValue::from_str(&upstream.authority)?))
}

fn remove_hop_headers(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in &named {
        headers.remove(name);
    }
    for name in HOP_HEADERS {
        headers.remove(*name);
    }
}

fn pass_response(response: Response<Incoming>, tap: Arc<ExchangeTap>, lease: Lease) -> Response<ResponseBody> {
    let (mut head, body) = response.into_parts();
    tap.hear_response_head(ResponseHead { status: head.status.as_u16(), headers: list_headers(&head.headers) });
    remove_hop_headers(&mut head.headers);
    Response::from_parts(head, ResponseBody::passed(body, tap, lease))
}

fn list_headers(headers: &HeaderMap) -> Vec<Header> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// An answer of our own, in a form that clients show.
fn make_answer(status: StatusCode, reason: &str) -> Response<ResponseBody> {
    let message = format!("carryover record: {reason}");
    let body = serde_json::json!({"error": {"type": "carryover_record", "message": message}}).to_string();
    let mut response = Response::new(ResponseBody::own(body));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
