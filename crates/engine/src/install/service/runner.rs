//! The one place where a service manager is started, so that tests can look on instead.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use crate::context::Context;

/// So much of what a program says is told.
const MAX_REASON_CHARS: usize = 300;

/// Runs programs by name.
pub trait ProgramRunner {
    /// Runs a program to its end; where it fails, why.
    fn run(&mut self, program: &str, args: &[&str]) -> Result<(), String>;
}

/// The real one, with the variables of the user.
pub struct RealRunner {
    vars: BTreeMap<String, String>,
}

impl RealRunner {
    pub fn new(context: &Context) -> Self {
        Self { vars: context.env.vars.clone() }
    }
}

impl ProgramRunner for RealRunner {
    fn run(&mut self, program: &str, args: &[&str]) -> Result<(), String> {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(&self.vars).stdin(Stdio::null());
        let output = command.output().map_err(|error| format!("{program}: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said: String = String::from_utf8_lossy(&output.stderr).trim().chars().take(MAX_REASON_CHARS).collect();
        Err(if said.is_empty() { format!("{program} ended with {}", output.status) } else { said })
    }
}
