//! The service at the other end: its address, and a connection to it.

use std::io;
use std::sync::{Arc, OnceLock};

use carryover_agents::Env;
use hyper::Uri;
use hyper::http::uri::Scheme;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::certificates::{TrustedCertificates, explain_handshake};
use super::tunnel::{self, ProxyServer};

/// The base address of a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Upstream {
    pub(super) is_tls: bool,
    pub(super) host: String,
    pub(super) port: u16,
    /// Host and port as a request names them.
    pub(crate) authority: String,
    /// The path that every request's path is put behind.
    pub(super) path: String,
}

/// An address that is none of a service.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UpstreamError(pub(crate) &'static str);

impl Upstream {
    pub(crate) fn parse(address: &str) -> Result<Self, UpstreamError> {
        let uri: Uri = address.trim().parse().map_err(|_| UpstreamError("it is no address of the web"))?;
        let is_tls = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(UpstreamError("it begins with neither http:// nor https://")),
        };
        let authority = uri.authority().ok_or(UpstreamError("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(UpstreamError("it has a password in it"));
        }
        if uri.query().is_some() {
            return Err(UpstreamError("it has a query, which requests cannot be put behind"));
        }
        let port = authority.port_u16().unwrap_or(if is_tls { 443 } else { 80 });
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { is_tls, host, port, authority: authority.to_string(), path })
    }
}

/// The part of the user's surroundings that connections depend on.
pub(crate) struct Surroundings {
    trusted: TrustedCertificates,
    pub(super) proxy: Option<ProxyServer>,
    pub(super) no_proxy: String,
    tls: OnceLock<Arc<ClientConfig>>,
}

impl Surroundings {
    pub(crate) fn new(env: &Env) -> Self {
        let first = |names: [&str; 2]| names.iter().find_map(|name| env.var(name));
        Self {
            trusted: TrustedCertificates::new(env),
            proxy: first(["HTTPS_PROXY", "https_proxy"]).and_then(ProxyServer::parse),
            no_proxy: first(["NO_PROXY", "no_proxy"]).unwrap_or_default().to_owned(),
            tls: OnceLock::new(),
        }
    }

    fn tls(&self) -> io::Result<Arc<ClientConfig>> {
        if let Some(config) = self.tls.get() {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.make_tls()?);
        Ok(Arc::clone(self.tls.get_or_init(|| config)))
    }

    fn make_tls(&self) -> io::Result<ClientConfig> {
        let roots = self.trusted.load()?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let mut config = builder.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
        // Of what a service offers, only this can be passed on as it is.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// A connection of any kind.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Connects to a service. How long that may take is the client's to say, who hangs up.
pub(crate) async fn connect(upstream: &Upstream, surroundings: &Surroundings) -> io::Result<Box<dyn Stream>> {
    if !upstream.is_tls {
        return Ok(Box::new(connect_tcp(&upstream.host, upstream.port).await?));
    }
    let stream = match tunnel::find_proxy(upstream, surroundings) {
        Some(proxy) => tunnel::connect_through(proxy, upstream).await?,
        None => connect_tcp(&upstream.host, upstream.port).await?,
    };
    let name = ServerName::try_from(upstream.host.clone()).map_err(io::Error::other)?;
    let connector = TlsConnector::from(surroundings.tls()?);
    let stream = connector.connect(name, stream).await.map_err(explain_handshake)?;
    Ok(Box::new(stream))
}

pub(super) async fn connect_tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let stream = TcpStream::connect((host, port)).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_taken_apart() {
        let parse = |address: &str| {
            Upstream::parse(address).map(|upstream| (upstream.is_tls, upstream.host, upstream.port, upstream.path))
        };
        assert_eq!(parse("https://api.example.com"), Ok((true, "api.example.com".to_owned(), 443, String::new())));
        assert_eq!(parse("http://127.0.0.1:80/v1/"), Ok((false, "127.0.0.1".to_owned(), 80, "/v1".to_owned())));
        assert_eq!(parse("http://[::1]:9/a/b"), Ok((false, "::1".to_owned(), 9, "/a/b".to_owned())));
        for address in ["", "api.example.com", "ftp://x", "https://u:p@x", "https://x/?a=b", "http://"] {
            assert!(parse(address).is_err(), "{address}");
        }
    }
}
