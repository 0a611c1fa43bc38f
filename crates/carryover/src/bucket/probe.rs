//! Places for checks from outside.

use std::error::Error;

use carryover_engine::context::Context;
use carryover_engine::share::bucket::Bucket;

/// Opens a place as `share` and `open` do.
pub fn open_place(context: &Context, address: &str) -> Result<Box<dyn Bucket>, Box<dyn Error>> {
    Ok(super::open_bucket(context, address)?)
}
