//! Who has a port: to name the program that keeps the daemon from it.

use std::path::Path;

/// The name of the program that listens at a port of this machine; none where the system does not tell.
pub(super) fn find_port_owner(port: u16) -> Option<String> {
    let socket = listening_socket(&fs_err::read_to_string("/proc/net/tcp").ok()?, port)?;
    let link = format!("socket:[{socket}]");
    let processes = fs_err::read_dir("/proc").ok()?.filter_map(Result::ok);
    processes.map(|process| process.path()).find(|process| holds_socket(process, &link)).and_then(|process| {
        let name = fs_err::read_to_string(process.join("comm")).ok()?;
        Some(name.trim().to_owned())
    })
}

/// The inode of the socket that listens, in the kernel's own table.
fn listening_socket(table: &str, port: u16) -> Option<String> {
    const LISTENING: &str = "0A";
    let port = format!(":{port:04X}");
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_it = fields.get(1)?.ends_with(&port) && fields.get(3) == Some(&LISTENING);
        is_it.then(|| fields.get(9).map(|inode| (*inode).to_owned())).flatten()
    })
}

fn holds_socket(process: &Path, link: &str) -> bool {
    let files = fs_err::read_dir(process.join("fd")).into_iter().flatten().filter_map(Result::ok);
    files.into_iter().any(|file| fs_err::read_link(file.path()).is_ok_and(|target| target.as_os_str() == link))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_that_listens_is_named() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let owner = find_port_owner(listener.local_addr().unwrap().port());
        let own = fs_err::read_to_string("/proc/self/comm").unwrap();
        assert_eq!(owner.as_deref(), Some(own.trim()));
    }
}
