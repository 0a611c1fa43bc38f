//! Processes of clients, as they note them down.

use std::path::Path;

/// Whether a process may run. A crash leaves its note behind; where processes can be looked up in files, they are.
pub fn may_run(pid: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(pid.to_string()).exists()
}
