//! An S3 server on this machine that checks signatures and keeps to conditions, or fails as servers do.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use hyper::body::Incoming;
use hyper::header::IF_NONE_MATCH;
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, HttpResponse};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(crate) const BUCKET: &str = "team";
pub(crate) const KEY: &str = "AKIDEXAMPLE";
pub(crate) const SECRET: &str = "wJalrXUtnFEMIexampleexampleexample";

/// How it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It writes over objects although it is told not to.
    ForgetsConditions,
    /// The same for uploads in parts alone.
    ForgetsConditionsOfParts,
    /// It hangs up in the middle of an upload, at its second part.
    CutsUploads,
}

struct Behaviour {
    folder: PathBuf,
    fault: Mutex<Option<Fault>>,
    requests: Mutex<Vec<String>>,
    /// What it is made of looks first and writes then, so writers go one by one.
    writing: tokio::sync::Mutex<()>,
}

pub(crate) struct S3Server {
    port: u16,
    folder: tempfile::TempDir,
    behaviour: Arc<Behaviour>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl S3Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join(BUCKET)).unwrap();
        let behaviour = Arc::new(Behaviour {
            folder: folder.path().to_owned(),
            fault: Mutex::default(),
            requests: Mutex::default(),
            writing: tokio::sync::Mutex::default(),
        });
        let mut builder = S3ServiceBuilder::new(s3s_fs::FileSystem::new(folder.path()).unwrap());
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = builder.build();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (end, ended) = oneshot::channel();
        let shared = Arc::clone(&behaviour);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    () = serve(listener, service, shared) => {}
                    _ = ended => {}
                }
            });
            runtime.shutdown_background();
        });
        Self { port, folder, behaviour, end: Some(end), thread: Some(thread) }
    }

    pub(crate) fn set_fault(&self, fault: Fault) {
        *self.behaviour.fault.lock().unwrap() = Some(fault);
    }

    /// What a user of it has in the environment.
    pub(crate) fn vars(&self) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port)),
            ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    /// How many requests had this in their addresses.
    pub(crate) fn count_requests(&self, part: &str) -> usize {
        self.behaviour.requests.lock().unwrap().iter().filter(|request| request.contains(part)).count()
    }

    /// The file that an object is kept in.
    pub(crate) fn object(&self, key: &str) -> PathBuf {
        self.folder.path().join(BUCKET).join(key)
    }

    pub(crate) fn stop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.stop();
    }
}

async fn serve(listener: TcpListener, service: S3Service, behaviour: Arc<Behaviour>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (service, behaviour) = (service.clone(), Arc::clone(&behaviour));
        let answer =
            hyper::service::service_fn(move |request| answer(service.clone(), Arc::clone(&behaviour), request));
        tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
    }
}

fn no_such_bucket() -> HttpResponse {
    let body = "<Error><Code>NoSuchBucket</Code><Message>There is no such bucket</Message></Error>";
    let mut response = HttpResponse::new(Body::from(body.to_owned()));
    *response.status_mut() = hyper::StatusCode::NOT_FOUND;
    response
}

async fn answer(
    service: S3Service,
    behaviour: Arc<Behaviour>,
    mut request: Request<Incoming>,
) -> io::Result<HttpResponse> {
    let told = format!("{} {}", request.method(), request.uri());
    behaviour.requests.lock().unwrap().push(told);
    let fault = *behaviour.fault.lock().unwrap();
    let query = request.uri().query().unwrap_or_default().to_owned();
    let is_completion = request.method() == Method::POST && query.contains("uploadId=");
    if fault == Some(Fault::CutsUploads) && query.contains("partNumber=2") {
        return Err(io::Error::other("cut"));
    }
    if !request.uri().path().starts_with(&format!("/{BUCKET}")) {
        return Ok(no_such_bucket());
    }
    if fault == Some(Fault::ForgetsConditions) && request.headers().contains_key(IF_NONE_MATCH) {
        // The condition is part of what is signed, and holds where nothing is there.
        fs_err::remove_file(behaviour.folder.join(&request.uri().path()[1..])).ok();
    }
    if fault == Some(Fault::ForgetsConditionsOfParts) && is_completion {
        request.headers_mut().remove(IF_NONE_MATCH);
    }
    let is_write = request.method() == Method::PUT || is_completion;
    let _turn = if is_write { Some(behaviour.writing.lock().await) } else { None };
    service.call(request.map(Body::from)).await.map_err(|error| io::Error::other(format!("{error:?}")))
}
