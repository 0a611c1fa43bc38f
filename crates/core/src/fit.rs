//! Fitting a live context into a window.
