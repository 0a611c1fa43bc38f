//! Whose a connection is: an address on a command line can be read by everybody on the machine.

use std::net::SocketAddr;

/// The kernel's own tables of connections.
#[cfg(unix)]
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// Whether the other end of a connection to our port may be the agent: it is the user's own, or the administrator's.
/// Where the system has no such table, nothing is known against it.
#[cfg(unix)]
pub(super) fn is_own_peer(peer: SocketAddr, port: u16) -> bool {
    const ADMINISTRATOR: u32 = 0;
    let tables: Vec<String> = TABLES.iter().filter_map(|path| fs_err::read_to_string(path).ok()).collect();
    let owner = tables.iter().find_map(|table| find_owner(table, peer.port(), port));
    let own = rustix::process::geteuid().as_raw();
    tables.is_empty() || owner.is_some_and(|owner| [own, ADMINISTRATOR].contains(&owner))
}

#[cfg(not(unix))]
pub(super) fn is_own_peer(_: SocketAddr, _: u16) -> bool {
    true
}

/// The user whose the connection from one port to another is.
#[cfg(any(unix, test))]
fn find_owner(table: &str, from: u16, to: u16) -> Option<u32> {
    let (from, to) = (format!(":{from:04X}"), format!(":{to:04X}"));
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let is_it = fields.get(1)?.ends_with(&from) && fields.get(2)?.ends_with(&to);
        if is_it { fields.get(7)?.parse().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 100 1 0 100 0 0 10 0
   1: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 101 1 0 20 4 30 10 -1
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 102 1 0 20 4 30 10 -1
";

    #[test]
    fn a_connection_is_told_with_the_user_at_its_other_end() {
        assert_eq!(find_owner(TABLE, 50_000, 8080), Some(1001));
        assert_eq!(find_owner(TABLE, 8080, 50_000), Some(1000));
        assert_eq!(find_owner(TABLE, 50_001, 8080), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_connection_of_our_own_is_known() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = std::net::TcpStream::connect(address).unwrap();
        let peer = client.local_addr().unwrap();
        assert!(is_own_peer(peer, address.port()));
        assert!(!is_own_peer(peer, address.port() ^ 1));
    }
}
