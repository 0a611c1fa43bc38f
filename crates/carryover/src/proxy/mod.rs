//! The recording proxy: passes on what one agent and its model services say to each other, and lets a recorder hear it.
//!
//! Nothing is changed on the way but the address: bodies go chunk by chunk as they come, whoever hangs up is hung up on
//! at the other end, and a slow reader slows the sender down. It listens on loopback, and answers who knows the token in
//! the address and is the same user. Keys are not its matter: each request has its own.

mod certificates;
mod connection;
mod guard;
mod peer;
mod probe;
mod tapped_body;
mod tunnel;
mod upstream;

#[cfg(test)]
mod tests;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use carryover_engine::recording::RecorderHandle;
use tokio::sync::oneshot;

pub use probe::ProxyProbe;
pub(crate) use upstream::{Surroundings, Upstream, connect};

/// A model service to which requests are passed on.
pub(crate) struct Route {
    pub(crate) upstream: Upstream,
    /// Another one, for requests that have this header.
    pub(crate) by_header: Option<(&'static str, Upstream)>,
}

/// Shared by all connections.
struct Shared {
    routes: Vec<Route>,
    token: String,
    port: u16,
    recorder: RecorderHandle,
    surroundings: Surroundings,
}

/// A proxy that runs on a thread of its own, until it is dropped.
pub(crate) struct Proxy {
    port: u16,
    token: String,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    pub(crate) fn start(
        routes: Vec<Route>,
        token: String,
        recorder: RecorderHandle,
        surroundings: Surroundings,
    ) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let listener = std::net::TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared { routes, token: token.clone(), port, recorder, surroundings });
        let (end, ended) = oneshot::channel();
        let run = move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                tokio::spawn(connection::serve(listener, shared));
                // An end that nobody asks for is one, too.
                ended.await.ok();
            });
            // What is still under way ends with it; name look-ups are not waited for.
            runtime.shutdown_background();
        };
        let thread = thread::Builder::new().name("proxy".to_owned()).spawn(run)?;
        Ok(Self { port, token, end: Some(end), thread: Some(thread) })
    }

    /// The base address that stands for a route.
    pub(crate) fn address(&self, route: usize) -> String {
        format!("http://127.0.0.1:{}/{}/{route}", self.port, self.token)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // A panic in it has nothing to say that was not said.
            let _: thread::Result<()> = thread.join();
        }
    }
}
