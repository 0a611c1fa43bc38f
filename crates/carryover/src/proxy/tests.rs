//! Real sockets on loopback. A test that waits, waits for an event; the time limit is for tests that fail.

mod tls;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use carryover_agents::{Env, Os};
use carryover_core::time::Timestamp;
use carryover_engine::context::Context;
use carryover_engine::own::config::Config;
use carryover_engine::recording::{Ending, Exchange, Recorder, RecorderSummary, Recording};

use super::*;

const TIME_LIMIT: Duration = Duration::from_secs(20);
const TOKEN: &str = "0123456789abcdef";

/// A proxy before a service that the test plays.
struct Stage {
    proxy: Proxy,
    recorder: Recorder,
    service: TcpListener,
    home: tempfile::TempDir,
}

fn make_context(home: &std::path::Path, vars: BTreeMap<String, String>) -> Context {
    let env = Env {
        home: home.to_owned(),
        vars,
        os: Os::Linux,
        now: Timestamp::from_millis(1_700_000_000_000),
        zone: jiff::tz::TimeZone::UTC,
        stores: BTreeMap::new(),
        projects: Vec::new(),
    };
    Context::with_config(env, Config::default(), home.join("ours"), home.to_owned(), 1)
}

impl Stage {
    fn new() -> Self {
        Self::with_path("/base")
    }

    fn with_path(path: &str) -> Self {
        Self::start(tempfile::tempdir().unwrap(), BTreeMap::new(), |port| format!("http://127.0.0.1:{port}{path}"))
    }

    fn start(home: tempfile::TempDir, vars: BTreeMap<String, String>, address: impl Fn(u16) -> String) -> Self {
        let context = make_context(home.path(), vars);
        let now = context.env.now;
        let recorder = Recorder::start(&context, "some-agent", Arc::new(move || now), |_| {}).unwrap();
        let service = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = service.local_addr().unwrap().port();
        let upstream = Upstream::parse(&address(port)).unwrap();
        let other = Upstream::parse(&format!("http://127.0.0.1:{port}/other")).unwrap();
        let routes = vec![Route { upstream, by_header: Some(("x-account", other)) }];
        let proxy = Proxy::start(routes, TOKEN.to_owned(), recorder.handle(), Surroundings::new(&context.env)).unwrap();
        Self { proxy, recorder, service, home }
    }

    /// Connects as the client does.
    fn connect(&self) -> Peer {
        Peer::new(TcpStream::connect((Ipv4Addr::LOCALHOST, self.proxy.port)).unwrap())
    }

    /// The proxy's connection, as the service sees it.
    fn accept(&self) -> Peer {
        Peer::new(self.service.accept().unwrap().0)
    }

    fn head(&self, more: &str) -> String {
        let port = self.proxy.port;
        format!("POST /{TOKEN}/0/v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n")
    }

    /// Ends it, and gives what was recorded.
    fn finish(self) -> (Vec<Exchange>, Recording, RecorderSummary, tempfile::TempDir) {
        drop(self.proxy);
        let folder = self.recorder.folder().to_owned();
        let (_, summary) = self.recorder.finish(Some(0)).unwrap();
        let recording = Recording::open(&folder).unwrap().unwrap();
        (recording.exchanges().unwrap(), recording, summary, self.home)
    }
}

/// One end of a connection.
struct Peer(TcpStream);

impl Peer {
    fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
        stream.set_write_timeout(Some(TIME_LIMIT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Reads up to these bytes, which must come.
    fn read_to(&mut self, end: &[u8]) -> String {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(end) {
            assert_eq!(self.0.read(&mut byte).unwrap(), 1, "{}", String::from_utf8_lossy(&bytes));
            bytes.push(byte[0]);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn read_head(&mut self) -> String {
        self.read_to(b"\r\n\r\n")
    }

    fn read_exact(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Reads to the end of the connection.
    fn read_rest(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match self.0.read_to_end(&mut bytes) {
            Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("{error}"),
            _ => bytes,
        }
    }

    /// Waits until the other end hangs up.
    fn wait_closed(&mut self) {
        let rest = self.read_rest();
        assert!(rest.is_empty(), "{} bytes came", rest.len());
    }
}

/// Bytes that no text is, as packed bodies are.
fn packed_bytes(length: usize) -> Vec<u8> {
    (0..length).map(|n| u8::try_from(n * 7919 % 251).unwrap()).collect()
}

#[test]
fn bytes_pass_as_they_are_chunk_by_chunk_and_the_key_reaches_the_service_alone() {
    let stage = Stage::new();
    let mut client = stage.connect();
    let body = packed_bytes(100_000);
    let more = format!(
        "Authorization: Bearer very-secret\r\nX-Custom: A\r\nContent-Encoding: br\r\nContent-Length: {}\r\n",
        body.len()
    );
    client.send(stage.head(&more));
    let mut service = stage.accept();
    let head = service.read_head();
    assert!(head.starts_with("POST /base/v1/messages?beta=true HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("Authorization: Bearer very-secret\r\n") && head.contains("X-Custom: A\r\n"), "{head}");
    assert!(head.contains("Content-Encoding: br\r\n") && head.contains("Content-Length: 100000\r\n"), "{head}");
    let port = stage.service.local_addr().unwrap().port();
    assert!(head.to_lowercase().contains(&format!("host: 127.0.0.1:{port}\r\n")) && !head.contains(TOKEN), "{head}");
    // The first half is there before the second is sent.
    client.send(&body[..50_000]);
    assert!(service.read_exact(50_000) == body[..50_000]);
    client.send(&body[50_000..]);
    assert!(service.read_exact(50_000) == body[50_000..]);
    let start =
        "HTTP/1.1 200 Fine\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nX-Kept: Yes\r\n\r\n";
    service.send(start);
    let head = client.read_head();
    assert!(head.starts_with("HTTP/1.1 200 Fine\r\n") && head.contains("X-Kept: Yes\r\n"), "{head}");
    for number in 0..50 {
        // Each event arrives before the next is sent.
        let event = format!("data: {{\"n\": {number:02}}}\n\n");
        let chunk = format!("{:x}\r\n{event}\r\n", event.len());
        service.send(&chunk);
        assert_eq!(client.read_to(b"\n\n\r\n").to_lowercase(), chunk.to_lowercase());
    }
    service.send("0\r\n\r\n");
    assert_eq!(client.read_to(b"0\r\n\r\n"), "0\r\n\r\n");
    let (exchanges, recording, _, _home) = stage.finish();
    assert_eq!(exchanges.len(), 1);
    let exchange = recording.with_exchange(&exchanges[0]);
    assert!(exchange.request_bytes().unwrap() == body);
    let events: Vec<String> = (0..50).map(|number| format!("data: {{\"n\": {number:02}}}\n\n")).collect();
    assert_eq!(String::from_utf8(exchange.response_bytes().unwrap()).unwrap(), events.concat());
    assert_eq!(exchanges[0].ending, Ending::Complete);
    assert!(!format!("{exchanges:?}").contains("very-secret"));
    assert!(!format!("{exchanges:?}").contains(TOKEN));
}

#[test]
fn a_client_that_hangs_up_while_it_waits_is_hung_up_at_the_service() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send(stage.head("Content-Length: 2\r\n"));
    client.send("{}");
    let mut service = stage.accept();
    service.read_head();
    service.read_exact(2);
    drop(client);
    service.wait_closed();
    let (exchanges, ..) = stage.finish();
    assert_eq!(exchanges[0].ending, Ending::ClientHungUp);
    assert_eq!(exchanges[0].response, None);
}

#[test]
fn a_client_that_hangs_up_amid_an_answer_is_hung_up_at_the_service() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send(stage.head("Content-Length: 0\r\n"));
    let mut service = stage.accept();
    service.read_head();
    service.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    client.read_to(b"hello\r\n");
    drop(client);
    service.wait_closed();
    let (exchanges, recording, _, _home) = stage.finish();
    assert_eq!(exchanges[0].ending, Ending::ClientHungUp);
    assert_eq!(recording.with_exchange(&exchanges[0]).response_bytes().unwrap(), b"hello");
}

#[test]
fn a_client_that_reads_slowly_slows_the_service_down() {
    const TOTAL: usize = 48 << 20;
    const CHUNK: usize = 64 << 10;
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send(stage.head("Content-Length: 0\r\n"));
    let mut service = stage.accept();
    service.read_head();
    service.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {TOTAL}\r\n\r\n"));
    client.read_head();
    // Nobody reads: at some point the service cannot write any more.
    service.0.set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    let chunk = vec![b'x'; CHUNK];
    let mut sent = 0;
    while let Ok(length @ 1..) = service.0.write(&chunk) {
        sent += length;
        assert!(sent < TOTAL / 2, "{sent} bytes went somewhere");
    }
    // Once it is read, the rest comes.
    service.0.set_write_timeout(Some(TIME_LIMIT)).unwrap();
    let writing = thread::spawn(move || {
        while sent < TOTAL {
            sent += service.0.write(&chunk[..CHUNK.min(TOTAL - sent)]).unwrap();
        }
        service
    });
    let mut buffer = vec![0; 1 << 20];
    let mut got = 0;
    while got < TOTAL {
        got += client.0.read(&mut buffer).unwrap();
    }
    drop(writing.join().unwrap());
}

#[test]
fn a_service_that_is_not_there_is_told_to_the_client() {
    let stage = Stage::new();
    let port = stage.service.local_addr().unwrap().port();
    let Stage { proxy, recorder, service, home } = stage;
    drop(service);
    let stage = Stage { proxy, recorder, service: TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap(), home };
    let mut client = stage.connect();
    client.send(stage.head("Content-Length: 0\r\nConnection: close\r\n"));
    let answer = String::from_utf8(client.read_rest()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    let said = format!("carryover record: 127.0.0.1:{port} could not be reached: ");
    assert!(answer.contains(&said), "{answer}");
    assert_eq!(stage.finish().0[0].ending, Ending::Unreachable);
}

#[test]
fn a_service_that_hangs_up_before_it_answers_is_told_to_the_client() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send(stage.head("Content-Length: 0\r\nConnection: close\r\n"));
    let mut service = stage.accept();
    service.read_head();
    drop(service);
    let answer = String::from_utf8(client.read_rest()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("hung up before it answered"), "{answer}");
    assert_eq!(stage.finish().0[0].ending, Ending::UpstreamHungUp);
}

#[test]
fn a_service_that_hangs_up_amid_an_answer_is_no_end_of_it() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send(stage.head("Content-Length: 0\r\n"));
    let mut service = stage.accept();
    service.read_head();
    service.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    client.read_to(b"hello\r\n");
    drop(service);
    // Without the last chunk the client knows that something is missing.
    assert_eq!(client.read_rest(), b"");
    assert_eq!(stage.finish().0[0].ending, Ending::UpstreamHungUp);
}

#[test]
fn only_who_was_given_the_address_is_answered() {
    let stage = Stage::new();
    let port = stage.proxy.port;
    let ask = |path: &str, host: &str, more: &str| {
        let mut client = stage.connect();
        client.send(format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: 0\r\nConnection: close\r\n{more}\r\n"
        ));
        let answer = String::from_utf8(client.read_rest()).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let (good, here) = (format!("/{TOKEN}/0/v1/messages"), format!("127.0.0.1:{port}"));
    assert_eq!(ask("/v1/messages", &here, ""), "401");
    assert_eq!(ask("/0123456789abcdeX/0/v1/messages", &here, ""), "401");
    assert_eq!(ask(&format!("/{TOKEN}/1/v1/messages"), &here, ""), "404");
    assert_eq!(ask(&good, "evil.example", ""), "403");
    assert_eq!(ask(&good, "127.0.0.1:1", ""), "403");
    assert_eq!(ask(&good, &here, "Origin: http://localhost\r\n"), "403");
    assert_eq!(ask(&format!("http://evil.example{good}"), &here, ""), "403");
    assert_eq!(ask(&good, &here, "Connection: upgrade\r\nUpgrade: websocket\r\n"), "426");
    stage.service.set_nonblocking(true).unwrap();
    assert_eq!(stage.service.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    assert_eq!(stage.finish().0, []);
}

#[test]
fn one_connection_of_the_clients_is_one_to_the_service_until_that_ends() {
    let stage = Stage::new();
    let mut client = stage.connect();
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    client.send(stage.head("Content-Length: 0\r\n"));
    let mut service = stage.accept();
    service.read_head();
    service.send(answer);
    client.read_to(b"ok");
    client.send(stage.head("Content-Length: 0\r\n"));
    service.read_head();
    service.send(answer);
    client.read_to(b"ok");
    // The service closes what is idle, as services do.
    service.0.shutdown(Shutdown::Both).unwrap();
    drop(service);
    client.send(stage.head("Content-Length: 0\r\n"));
    let mut service = stage.accept();
    service.read_head();
    service.send(answer);
    client.read_to(b"ok");
    assert_eq!(stage.finish().0.len(), 3);
}

#[test]
fn a_header_may_lead_to_another_address() {
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send(stage.head("X-Account: a\r\nContent-Length: 0\r\n"));
    let head = stage.accept().read_head();
    assert!(head.starts_with("POST /other/v1/messages?beta=true "), "{head}");
}

#[test]
fn a_service_without_a_path_gets_the_path_alone() {
    let stage = Stage::with_path("");
    let mut client = stage.connect();
    client.send(stage.head("Content-Length: 0\r\n"));
    let head = stage.accept().read_head();
    assert!(head.starts_with("POST /v1/messages?beta=true "), "{head}");
}

#[test]
fn a_disk_that_fails_does_not_fail_the_stream() {
    let stage = Stage::new();
    let bodies = stage.recorder.folder().join("bodies");
    fs_err::remove_dir_all(&bodies).unwrap();
    // A file where a folder should be: nothing can be written below it.
    carryover_engine::own::private::write_file(&bodies, b"").unwrap();
    let mut client = stage.connect();
    client.send(stage.head("Content-Length: 2\r\n"));
    client.send("{}");
    let mut service = stage.accept();
    service.read_head();
    service.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    client.read_to(b"ok");
    let (exchanges, _, summary, _home) = stage.finish();
    assert!(exchanges[0].has_gaps);
    assert!(summary.trouble.is_some() && summary.with_gaps == 1, "{summary:?}");
}

/// Memory that was held at most, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory() -> usize {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn a_huge_body_takes_little_memory() {
    const TOTAL: usize = 300 << 20;
    const MAX_MEMORY: usize = 200 << 20;
    let stage = Stage::new();
    let mut client = stage.connect();
    client.send(stage.head(&format!("Content-Length: {TOTAL}\r\n")));
    let mut service = stage.accept();
    service.read_head();
    let reading = thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        let mut got = 0;
        while got < TOTAL {
            got += service.0.read(&mut buffer).unwrap();
        }
        service.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        service
    });
    let chunk = vec![b'x'; 1 << 20];
    for _ in 0..TOTAL / chunk.len() {
        client.send(&chunk);
    }
    client.read_to(b"ok");
    drop(reading.join().unwrap());
    let peak = peak_memory();
    assert!(peak < MAX_MEMORY, "{} MB", peak >> 20);
}
