//! Requests to services that keep objects, over connections of our own: TLS as everywhere else, the user's proxy, no redirects.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use carryover_agents::Env;
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::{HOST, HeaderValue, IF_NONE_MATCH, USER_AGENT};
use hyper::http::uri::{PathAndQuery, Scheme};
use hyper::{Method, Uri};
use hyper_util::rt::TokioIo;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody,
    HttpService,
};
use tokio::time::timeout;

use super::timed_body::TimedBody;
use crate::proxy::{self, Surroundings, Upstream};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an answer is waited for once a request is sent.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);
/// A line that is slower than this is taken for a broken one.
const MIN_BYTES_PER_SECOND: u64 = 32 << 10;
/// Services hang up on connections that are idle; one of ours is younger than what any of them allows.
const MAX_IDLE: Duration = Duration::from_secs(10);
/// A connection whose last answer was not read to its end is not waited for.
const REUSE_WAIT: Duration = Duration::from_millis(50);
const AGENT: &str = concat!("carryover/", env!("CARGO_PKG_VERSION"));

/// Connections to one place, kept between requests.
#[derive(Clone)]
pub(super) struct Connections {
    shared: Arc<Shared>,
}

struct Shared {
    surroundings: Surroundings,
    /// Whether words may go over a network unencrypted. To this machine itself they always may.
    allows_http: bool,
    /// Whether the last step of an upload in parts is to fail where its name is taken, as S3 and its like offer.
    completes_once: bool,
    idle: Mutex<Vec<IdleConnection>>,
}

struct IdleConnection {
    origin: String,
    sender: SendRequest<HttpRequestBody>,
    since: Instant,
}

impl Connections {
    pub(super) fn new(env: &Env, allows_http: bool, completes_once: bool) -> Self {
        let surroundings = Surroundings::new(env);
        Self { shared: Arc::new(Shared { surroundings, allows_http, completes_once, idle: Mutex::default() }) }
    }
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connections").finish_non_exhaustive()
    }
}

impl HttpConnector for Connections {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for Connections {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.shared.send(request).await
    }
}

impl Shared {
    async fn send(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let origin = self.find_origin(request.uri())?;
        let length = request.body().content_length() as u64;
        self.complete_head(&mut request, &origin)?;
        let mut sender = match self.take_idle(&origin.authority).await {
            Some(sender) => sender,
            None => self.open_connection(&origin).await?,
        };
        let patience = ANSWER_TIMEOUT + Duration::from_secs(length / MIN_BYTES_PER_SECOND);
        let response = timeout(patience, sender.send_request(request)).await;
        let response = response.map_err(|_| late("it does not answer"))?.map_err(explain_hyper)?;
        self.keep_idle(origin.authority, sender);
        Ok(response.map(wrap_body))
    }

    /// The service that an address belongs to.
    fn find_origin(&self, uri: &Uri) -> Result<Upstream, HttpError> {
        let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else {
            return Err(unusable("an address of a request names no host"));
        };
        if *scheme != Scheme::HTTPS && !self.allows_http && !is_loopback(authority.host()) {
            return Err(unusable("http is not encrypted on the way, and is for this machine alone"));
        }
        Upstream::parse(&format!("{scheme}://{authority}")).map_err(|error| unusable(error.0))
    }

    /// Puts what the connection needs into a request that is signed already; none of it is part of what is signed.
    fn complete_head(&self, request: &mut HttpRequest, origin: &Upstream) -> Result<(), HttpError> {
        let host = HeaderValue::try_from(&origin.authority).map_err(|_| unusable("its host is no name"))?;
        let is_completion = request.method() == Method::POST
            && request.uri().query().is_some_and(|query| query.split('&').any(|pair| pair.starts_with("uploadId=")));
        let path = request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from(path);
        let headers = request.headers_mut();
        headers.entry(HOST).or_insert(host);
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        if self.completes_once && is_completion {
            headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
        }
        Ok(())
    }

    /// A connection that is open still. A service that has hung up on it is heard of while it is waited for.
    async fn take_idle(&self, origin: &str) -> Option<SendRequest<HttpRequestBody>> {
        let found = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.retain(|connection| connection.since.elapsed() < MAX_IDLE);
            let index = idle.iter().position(|connection| connection.origin == origin)?;
            idle.swap_remove(index)
        };
        let mut sender = found.sender;
        tokio::time::sleep(Duration::from_millis(1)).await;
        timeout(REUSE_WAIT, sender.ready()).await.ok()?.ok()?;
        Some(sender)
    }

    fn keep_idle(&self, origin: String, sender: SendRequest<HttpRequestBody>) {
        let connection = IdleConnection { origin, sender, since: Instant::now() };
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    async fn open_connection(&self, origin: &Upstream) -> Result<SendRequest<HttpRequestBody>, HttpError> {
        let stream = within(CONNECT_TIMEOUT, proxy::connect(origin, &self.surroundings)).await?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await.map_err(explain_hyper)?;
        // It ends with the last request that it serves; an error of it reaches whoever waits for that.
        drop(tokio::spawn(connection));
        Ok(sender)
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = io::Result<T>>) -> Result<T, HttpError> {
    match timeout(limit, work).await {
        Ok(done) => done.map_err(|error| HttpError::new(HttpErrorKind::Connect, error)),
        Err(_) => Err(HttpError::new(HttpErrorKind::Connect, io::Error::other("it does not answer"))),
    }
}

fn wrap_body(body: Incoming) -> HttpResponseBody {
    HttpResponseBody::new(TimedBody::new(body))
}

fn late(reason: &'static str) -> HttpError {
    HttpError::new(HttpErrorKind::Timeout, io::Error::new(io::ErrorKind::TimedOut, reason))
}

fn unusable(reason: &'static str) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, io::Error::other(reason))
}

/// A request that was never sent may be sent again; one that broke off may have been heard.
pub(super) fn explain_hyper(error: hyper::Error) -> HttpError {
    let kind = if error.is_canceled() {
        HttpErrorKind::Request
    } else if error.is_parse() {
        HttpErrorKind::Decode
    } else {
        HttpErrorKind::Interrupted
    };
    HttpError::new(kind, error)
}

/// Whether a host is this machine itself.
pub(super) fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for host in ["localhost", "127.0.0.1", "127.8.0.1", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["127.0.0.1.example.com", "localhost.example.com", "10.0.0.1", "[::2]", ""] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
