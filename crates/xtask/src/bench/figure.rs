//! One measured figure and what it may be.

use std::fmt;
use std::time::Duration;

/// A figure with its limit.
pub(crate) struct Figure {
    name: String,
    measured: String,
    limit: String,
    pub(crate) holds: bool,
}

impl Figure {
    pub(super) fn from_ratio(
        name: impl Into<String>,
        measured: Duration,
        against: Duration,
        limit: f64,
        than: &str,
    ) -> Self {
        let ratio = measured.as_secs_f64() / against.as_secs_f64();
        Self {
            name: name.into(),
            measured: format!("{ratio:.2} × ({} ms against {} ms)", measured.as_millis(), against.as_millis()),
            limit: format!("{limit:.1} × {than}"),
            holds: ratio <= limit,
        }
    }

    /// Adds what another way of measuring says, where a busy machine may have decided the first.
    pub(super) fn with_cpu_time(mut self, measured: Duration, against: Duration) -> Self {
        let ratio = measured.as_secs_f64() / against.as_secs_f64();
        self.measured = format!("{}, processor time {ratio:.2} ×", self.measured);
        self
    }

    /// Adds what half of the runs stay below.
    pub(super) fn with_median(mut self, median: Duration) -> Self {
        self.measured = format!("{} (median {:.1} ms)", self.measured, median.as_secs_f64() * 1000.0);
        self
    }

    pub(super) fn from_bytes(name: impl Into<String>, measured: u64, limit: u64, said: &str) -> Self {
        Self {
            name: name.into(),
            measured: format_megabytes(measured),
            limit: format!("{} ({said})", format_megabytes(limit)),
            holds: measured <= limit,
        }
    }

    pub(super) fn from_time(name: impl Into<String>, measured: Duration, limit: Duration) -> Self {
        let shown = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
        Self { name: name.into(), measured: shown(measured), limit: shown(limit), holds: measured <= limit }
    }
}

fn format_megabytes(bytes: u64) -> String {
    let tenths = bytes * 10 / (1 << 20);
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

impl fmt::Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.holds { "holds" } else { "MISSED" };
        write!(out, "{:<46} {:<58} at most {:<44} {verdict}", self.name, self.measured, self.limit)
    }
}
