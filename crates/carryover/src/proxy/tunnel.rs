//! Through the proxy that the user's own settings name, to services that speak TLS.

use std::io;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::upstream::{Surroundings, Upstream, connect_tcp};

/// An answer whose head is longer is none of a proxy.
const MAX_HEAD_BYTES: usize = 16 << 10;

/// A proxy of the user's.
pub(super) struct ProxyServer {
    host: String,
    port: u16,
    /// Name and password, as a header has them.
    authorization: Option<String>,
}

impl ProxyServer {
    /// One that is spoken to in plain HTTP; of others we know nothing.
    pub(super) fn parse(address: &str) -> Option<Self> {
        let rest = address.strip_prefix("http://").unwrap_or(address);
        let place = rest.split('/').next().filter(|place| !place.is_empty() && !rest.contains("://"))?;
        let (user, place) = place.rsplit_once('@').map_or((None, place), |(user, place)| (Some(user), place));
        let (host, port) = place.rsplit_once(':').unwrap_or((place, "80"));
        let authorization = user.map(|user| format!("Basic {}", BASE64_STANDARD.encode(user)));
        Some(Self { host: host.to_owned(), port: port.parse().ok()?, authorization })
    }
}

/// The proxy that stands before a service; none where the user has excepted it.
pub(super) fn find_proxy<'a>(upstream: &Upstream, surroundings: &'a Surroundings) -> Option<&'a ProxyServer> {
    let is_excepted = surroundings.no_proxy.split(',').map(str::trim).any(|host| is_excepted_by(host, &upstream.host));
    surroundings.proxy.as_ref().filter(|_| !is_excepted)
}

/// An exception is a host, a domain or everything.
fn is_excepted_by(exception: &str, host: &str) -> bool {
    let domain = exception.trim_start_matches('*').trim_start_matches('.');
    let is_below = || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'));
    exception == "*" || (!domain.is_empty() && (host == domain || is_below()))
}

/// Connects to a service through a proxy.
pub(super) async fn connect_through(proxy: &ProxyServer, upstream: &Upstream) -> io::Result<TcpStream> {
    let mut stream = connect_tcp(&proxy.host, proxy.port).await?;
    let place = format!("{}:{}", upstream.host, upstream.port);
    let mut head = format!("CONNECT {place} HTTP/1.1\r\nhost: {place}\r\n");
    if let Some(authorization) = &proxy.authorization {
        head.extend(["proxy-authorization: ", authorization, "\r\n"]);
    }
    head.push_str("\r\n");
    stream.write_all(head.as_bytes()).await?;
    let answer = read_head(&mut stream).await?;
    let status = answer.split(' ').nth(1).unwrap_or_default();
    if status.starts_with('2') {
        return Ok(stream);
    }
    Err(io::Error::other(format!("the proxy {} does not connect: it answers {status}", proxy.host)))
}

/// Reads up to the empty line, and no byte of what comes behind it.
async fn read_head(stream: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == MAX_HEAD_BYTES {
            return Err(io::Error::other("what should be a proxy does not answer as one"));
        }
        head.push(stream.read_u8().await?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxys_address_may_have_a_name_and_a_password() {
        let proxy = ProxyServer::parse("http://me:secret@proxy.example:3128/").unwrap();
        assert_eq!((proxy.host.as_str(), proxy.port), ("proxy.example", 3128));
        assert_eq!(proxy.authorization.unwrap(), "Basic bWU6c2VjcmV0");
        assert!(ProxyServer::parse("socks5://x:1").is_none() && ProxyServer::parse("").is_none());
    }

    #[test]
    fn exceptions_are_hosts_and_domains() {
        let excepted = |exception| is_excepted_by(exception, "api.example.com");
        assert!(excepted("*") && excepted("example.com") && excepted(".example.com") && excepted("api.example.com"));
        assert!(!excepted("") && !excepted("ample.com") && !excepted("other.com"));
    }
}
