//! The foundation of the tests: a fake model server, a runner for the real clients, scenarios that make
//! real sessions in them, and the comparison of the requests that they send.
//!
//! Everything here stays on loopback, runs clients with a cleared environment in a throw-away home,
//! and ends only processes that it started itself.

pub mod agents;
pub mod client;
pub mod lab;
pub mod model;
pub mod request;
pub mod scenario;
