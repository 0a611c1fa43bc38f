//! `carryover doctor`.

use carryover_engine::context::Context;
use clap::Args;

use crate::error::CommandError;
use crate::ui::Ui;

/// Look for what is wrong
#[derive(Args)]
pub(crate) struct DoctorArgs {}

pub(crate) fn cmd_doctor(_ui: &mut Ui, _context: &Context, _args: &DoctorArgs) -> Result<(), CommandError> {
    Ok(())
}
