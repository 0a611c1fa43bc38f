//! Capsules that are whole, and ones that were made to do harm.

mod crafted;
mod hostile;
mod round_trip;
mod zipped;
