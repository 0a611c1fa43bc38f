//! Capsules that are whole, and ones that were made to do harm.

mod crafted;
mod hostile;
#[cfg(unix)]
mod leaving_out;
#[cfg(unix)]
mod protecting;
mod round_trip;
mod zipped;
