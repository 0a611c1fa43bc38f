//! Who may ask: the program that was given the address.

use hyper::header::{HOST, ORIGIN, UPGRADE};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};

use super::Shared;
use crate::daemon::is_same_secret;

/// A request that is let through: its route, and path and query below the route's address.
pub(super) struct Admitted {
    pub(super) route: usize,
    pub(super) path: String,
}

/// Why a request is turned away.
pub(super) type Refusal = (StatusCode, &'static str);

/// Lets a request through that comes by the address which was given out.
pub(super) fn check_request(shared: &Shared, head: &Parts) -> Result<Admitted, Refusal> {
    let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
    // A name of somebody else's that leads here is how a page gets around what a browser forbids.
    let host = text(HOST).unwrap_or_default();
    if ![format!("127.0.0.1:{}", shared.port), format!("localhost:{}", shared.port)].contains(&host.to_owned()) {
        return Err((StatusCode::FORBIDDEN, "this is not asked by that name"));
    }
    if head.headers.contains_key(ORIGIN) {
        return Err((StatusCode::FORBIDDEN, "pages may not ask"));
    }
    if head.uri.authority().is_some() || head.method == Method::CONNECT {
        return Err((StatusCode::FORBIDDEN, "this passes on to its own services alone"));
    }
    let path = head.uri.path_and_query().map_or("", |path| path.as_str());
    let mut parts = path.splitn(4, '/');
    let token = parts.nth(1).unwrap_or_default();
    if !is_same_secret(token.as_bytes(), shared.token.as_bytes()) {
        return Err((StatusCode::UNAUTHORIZED, "the address is not the one that was given out"));
    }
    let (route, query) = split_query(parts.next().unwrap_or_default());
    let route = route.parse().ok().filter(|route| *route < shared.routes.len());
    let route = route.ok_or((StatusCode::NOT_FOUND, "there is no such service"))?;
    if head.headers.contains_key(UPGRADE) {
        // Clients that would rather have a web socket then go on with ordinary requests.
        return Err((StatusCode::UPGRADE_REQUIRED, "ordinary requests alone are recorded"));
    }
    let path = parts.next().map_or_else(|| query.to_owned(), |rest| format!("/{rest}"));
    Ok(Admitted { route, path })
}

/// A name, and the query that may follow it.
fn split_query(name: &str) -> (&str, &str) {
    name.find('?').map_or((name, ""), |at| name.split_at(at))
}
