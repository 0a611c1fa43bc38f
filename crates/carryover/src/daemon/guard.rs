//! Who may ask at the port: programs of this machine that have the token, and no page in a browser.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The names of this machine, without the port.
const LOCAL_HOSTS: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Lets a request through that comes from here and has the token.
pub(super) async fn check_request(State(token): State<String>, request: Request, next: Next) -> Response {
    match check_headers(request.headers(), &token) {
        Ok(()) => next.run(request).await,
        Err((status, reason)) => (status, reason).into_response(),
    }
}

fn check_headers(headers: &HeaderMap, token: &str) -> Result<(), (StatusCode, &'static str)> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // A name of somebody else's that leads here is how a page gets around what a browser forbids.
    let host = text(header::HOST).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if !LOCAL_HOSTS.contains(&name) {
        return Err((StatusCode::FORBIDDEN, "this is not asked by that name"));
    }
    if headers.contains_key(header::ORIGIN) {
        return Err((StatusCode::FORBIDDEN, "pages may not ask"));
    }
    let given = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    match given {
        Some(given) if is_same_secret(given.trim().as_bytes(), token.as_bytes()) => Ok(()),
        _ => Err((StatusCode::UNAUTHORIZED, "the token in ~/.carryover/token is needed")),
    }
}

/// Compares without telling by its time how much was right.
pub(crate) fn is_same_secret(given: &[u8], token: &[u8]) -> bool {
    given.len() == token.len() && given.iter().zip(token).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(headers: &[(&str, &str)]) -> Option<u16> {
        let pairs = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        check_headers(&pairs.collect::<HeaderMap>(), "secret").err().map(|(status, _)| status.as_u16())
    }

    #[test]
    fn only_local_programs_with_the_token_get_through() {
        let token = ("authorization", "Bearer secret");
        assert_eq!(status(&[("host", "127.0.0.1:47823"), token]), None);
        assert_eq!(status(&[("host", "localhost"), token]), None);
        assert_eq!(status(&[("host", "localhost")]), Some(401));
        assert_eq!(status(&[("host", "localhost"), ("authorization", "Bearer other!")]), Some(401));
        assert_eq!(status(&[("host", "evil.example:47823"), token]), Some(403));
        assert_eq!(status(&[("host", "localhost"), ("origin", "http://localhost"), token]), Some(403));
        assert_eq!(status(&[token]), Some(403));
    }
}
