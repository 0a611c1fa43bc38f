//! The proxy for measurements from outside.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use carryover_engine::context::Context;
use carryover_engine::recording::Recorder;

use super::{Proxy, Route, Surroundings, Upstream};
use crate::process_env;

/// A proxy before one service, with a recording that is made.
pub struct ProxyProbe {
    proxy: Proxy,
    recorder: Recorder,
}

impl ProxyProbe {
    /// Starts one that records into the folder of these surroundings.
    pub fn start(context: &Context, upstream: &str) -> io::Result<Self> {
        let clock = Arc::new(process_env::make_clock(context));
        let recorder = Recorder::start(context, "probe", clock, |_| {})?;
        let upstream = Upstream::parse(upstream).map_err(|error| io::Error::other(error.0))?;
        let routes = vec![Route { upstream, by_header: None }];
        let surroundings = Surroundings::new(&context.env);
        let proxy = Proxy::start(routes, process_env::random_token(), recorder.handle(), surroundings)?;
        Ok(Self { proxy, recorder })
    }

    /// The address that stands for the service.
    pub fn address(&self) -> String {
        self.proxy.address(0)
    }

    /// Ends it, and tells where the recording is.
    pub fn finish(self) -> io::Result<PathBuf> {
        let folder = self.recorder.folder().to_owned();
        drop(self.proxy);
        self.recorder.finish(None)?;
        Ok(folder)
    }
}
