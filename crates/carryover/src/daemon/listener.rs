//! Serving connections, bounded in number and in time.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;

/// So many are served at once; more wait.
const MAX_CONNECTIONS: usize = 64;
/// A request whose head takes longer is none.
const HEAD_TIME: Duration = Duration::from_secs(5);
/// A connection is not held for longer, whatever is said on it.
const CONNECTION_TIME: Duration = Duration::from_secs(30);

/// Where connections come from.
pub(super) trait Listener {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;
    fn accept_stream(&self) -> impl Future<Output = std::io::Result<Self::Stream>> + Send;
}

impl Listener for tokio::net::TcpListener {
    type Stream = tokio::net::TcpStream;

    async fn accept_stream(&self) -> std::io::Result<Self::Stream> {
        Ok(self.accept().await?.0)
    }
}

#[cfg(unix)]
impl Listener for tokio::net::UnixListener {
    type Stream = tokio::net::UnixStream;

    async fn accept_stream(&self) -> std::io::Result<Self::Stream> {
        Ok(self.accept().await?.0)
    }
}

/// Serves for ever.
pub(super) async fn serve<L: Listener>(listener: L, routes: Router) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        let Ok(stream) = listener.accept_stream().await else {
            // Out of files, most likely: others must end first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let service = TowerToHyperService::new(routes.clone());
        tokio::spawn(async move {
            let mut server = hyper::server::conn::http1::Builder::new();
            server.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
            let connection = server.serve_connection(TokioIo::new(stream), service);
            // A connection that breaks off is the other side's affair.
            tokio::time::timeout(CONNECTION_TIME, connection).await.ok();
            drop(place);
        });
    }
}
