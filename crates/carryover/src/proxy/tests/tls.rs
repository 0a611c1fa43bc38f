//! A service that speaks TLS, as real ones do, with a certificate of an authority that the test makes.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;

const HTTP_1: &[u8] = b"http/1.1";
const HTTP_2: &[u8] = b"h2";

/// What a service shows, and the file of the authority behind it.
struct Identity {
    config: Arc<ServerConfig>,
    authority: String,
}

impl Identity {
    /// One for these names, which offers these protocols.
    fn make(folder: &Path, names: &[&str], protocols: &[&[u8]]) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        // No two authorities have one name.
        params.distinguished_name.push(DnType::CommonName, folder.display().to_string());
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let file = folder.join("authority.pem");
        fs_err::write(&file, authority.pem()).unwrap();
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let mut config = builder.with_no_client_auth().with_single_cert(vec![certificate.der().clone()], key).unwrap();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Self { config: Arc::new(config), authority: file.display().to_string() }
    }
}

/// A proxy before a service with this identity, where the user has this variable.
struct TlsStage {
    stage: Stage,
    identity: Identity,
}

impl TlsStage {
    fn new(variable: &str) -> Self {
        Self::with_identity(variable, &["localhost"], &[HTTP_2, HTTP_1])
    }

    fn with_identity(variable: &str, names: &[&str], protocols: &[&[u8]]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let identity = Identity::make(home.path(), names, protocols);
        let vars = BTreeMap::from([(variable.to_owned(), identity.authority.clone())]);
        let stage = Stage::start(home, vars, |port| format!("https://localhost:{port}/base"));
        Self { stage, identity }
    }

    /// The proxy's connection, as the service sees it.
    fn accept(&self) -> TlsPeer {
        let Peer(stream) = self.stage.accept();
        let connection = ServerConnection::new(Arc::clone(&self.identity.config)).unwrap();
        TlsPeer(StreamOwned::new(connection, stream))
    }

    /// What the client is answered where there is no connection.
    fn ask_in_vain(self) -> (String, RecorderSummary, Vec<Exchange>) {
        let mut client = self.stage.connect();
        client.send(self.stage.head("Content-Length: 0\r\nConnection: close\r\n"));
        // The handshake fails at one end or the other.
        let mut byte = [0];
        let ended = self.accept().0.read(&mut byte);
        assert!(!matches!(ended, Ok(1..)), "{ended:?}");
        let answer = String::from_utf8(client.read_rest()).unwrap();
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
        let (exchanges, _, summary, _home) = self.stage.finish();
        (answer, summary, exchanges)
    }
}

/// The service's end of a connection.
struct TlsPeer(StreamOwned<ServerConnection, TcpStream>);

impl TlsPeer {
    fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
        self.0.flush().unwrap();
    }

    fn read_head(&mut self) -> String {
        let mut bytes = Vec::new();
        let mut byte = [0];
        while !bytes.ends_with(b"\r\n\r\n") {
            self.0.read_exact(&mut byte).unwrap();
            bytes.extend(byte);
        }
        String::from_utf8(bytes).unwrap()
    }

    /// Waits until the other end hangs up, with or without a word.
    fn wait_closed(&mut self) {
        let mut byte = [0];
        match self.0.read(&mut byte) {
            Ok(0) => {}
            Err(error) if [ErrorKind::UnexpectedEof, ErrorKind::ConnectionReset].contains(&error.kind()) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn an_answer_over_tls_passes_event_by_event() {
    for variable in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] {
        let tls = TlsStage::new(variable);
        let mut client = tls.stage.connect();
        client.send(tls.stage.head("X-Api-Key: very-secret\r\nContent-Length: 2\r\n"));
        client.send("{}");
        let mut service = tls.accept();
        let head = service.read_head();
        assert!(head.starts_with("POST /base/v1/messages?beta=true HTTP/1.1\r\n"), "{head}");
        assert!(
            head.contains("X-Api-Key: very-secret\r\n") && head.to_lowercase().contains("host: localhost:"),
            "{head}"
        );
        assert_eq!(service.0.conn.alpn_protocol(), Some(HTTP_1));
        assert_eq!(service.0.conn.server_name(), Some("localhost"));
        let mut body = [0; 2];
        service.0.read_exact(&mut body).unwrap();
        assert_eq!(&body, b"{}");
        service.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
        assert!(client.read_head().starts_with("HTTP/1.1 200 OK\r\n"));
        for number in 0..50 {
            // Each event arrives before the next is sent.
            let event = format!("data: {{\"n\": {number:02}}}\n\n");
            service.send(format!("{:x}\r\n{event}\r\n", event.len()));
            assert!(client.read_to(b"\n\n\r\n").contains(&event));
        }
        service.send("0\r\n\r\n");
        client.read_to(b"0\r\n\r\n");
        // The connection is kept for the next request.
        client.send(tls.stage.head("Content-Length: 0\r\n"));
        service.read_head();
        service.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
        client.read_to(b"ok");
        let (exchanges, recording, summary, _home) = tls.stage.finish();
        assert_eq!((exchanges.len(), exchanges[0].ending, summary.failed), (2, Ending::Complete, 0));
        assert_eq!(recording.with_exchange(&exchanges[0]).response_bytes().unwrap().len(), 50 * 17);
    }
}

#[test]
fn a_client_that_hangs_up_is_hung_up_at_a_service_behind_tls() {
    let tls = TlsStage::new("SSL_CERT_FILE");
    let mut client = tls.stage.connect();
    client.send(tls.stage.head("Content-Length: 0\r\n"));
    let mut service = tls.accept();
    service.read_head();
    drop(client);
    service.wait_closed();
    let mut client = tls.stage.connect();
    client.send(tls.stage.head("Content-Length: 0\r\n"));
    let mut service = tls.accept();
    service.read_head();
    service.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n");
    client.read_to(b"hello\r\n");
    drop(client);
    service.wait_closed();
    let endings: Vec<Ending> = tls.stage.finish().0.into_iter().map(|exchange| exchange.ending).collect();
    assert_eq!(endings, [Ending::ClientHungUp; 2]);
}

#[test]
fn a_certificate_that_is_not_trusted_is_told_to_the_client_and_kept_with_the_exchange() {
    // Trusted is another authority than the service's.
    let other = tempfile::tempdir().unwrap();
    let other = Identity::make(other.path(), &["localhost"], &[HTTP_1]);
    let tls = TlsStage { identity: other, ..TlsStage::new("SSL_CERT_FILE") };
    let (answer, summary, exchanges) = tls.ask_in_vain();
    let said = "could not be reached: its certificate is from an authority that is not trusted here; name the file of a \
                company's own authority in NODE_EXTRA_CA_CERTS (besides the system's) or SSL_CERT_FILE (in their place)";
    assert!(answer.contains("carryover record: localhost:") && answer.contains(said), "{answer}");
    assert_eq!((exchanges[0].ending, summary.failed), (Ending::Unreachable, 1));
    for reason in [&exchanges[0].reason, &summary.failure] {
        assert!(reason.as_ref().unwrap().ends_with(said), "{reason:?}");
    }
}

#[test]
fn a_certificate_of_another_host_is_told() {
    let (answer, ..) = TlsStage::with_identity("SSL_CERT_FILE", &["api.example.com"], &[HTTP_1]).ask_in_vain();
    assert!(answer.contains("could not be reached: its certificate is not valid: "), "{answer}");
    assert!(answer.contains("localhost"), "{answer}");
}

#[test]
fn a_service_that_speaks_http_2_alone_is_told() {
    let (answer, ..) = TlsStage::with_identity("SSL_CERT_FILE", &["localhost"], &[HTTP_2]).ask_in_vain();
    assert!(answer.contains("could not be reached: it does not speak HTTP/1.1"), "{answer}");
}

#[test]
fn a_file_of_certificates_that_is_not_there_is_named() {
    for variable in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] {
        let home = tempfile::tempdir().unwrap();
        let vars = BTreeMap::from([(variable.to_owned(), "/gone/authority.pem".to_owned())]);
        let stage = Stage::start(home, vars, |port| format!("https://localhost:{port}"));
        let mut client = stage.connect();
        client.send(stage.head("Content-Length: 0\r\nConnection: close\r\n"));
        let answer = String::from_utf8(client.read_rest()).unwrap();
        assert!(answer.contains(&format!("the certificates that {variable} names")), "{answer}");
        assert!(answer.contains("/gone/authority.pem"), "{answer}");
    }
}
