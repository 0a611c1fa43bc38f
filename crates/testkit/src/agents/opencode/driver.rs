//! Makes a session in `OpenCode` through the server that its own interfaces talk to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use fs_err as fs;
use serde_json::{Value, json};

use crate::client::{Client, ClientError, RUN_LIMIT, RunningProgram, Sandbox, Setup};
use crate::scenario::Prompt;
use crate::scenario::make::{Driver, await_file};
use crate::scenario::project::PROMPT_IMAGE;

/// How long the client may go on trying after it was refused.
const REFUSAL_WAIT: Duration = Duration::from_secs(15);

/// A prompt on its way.
type PendingPrompt = JoinHandle<Result<Value, ClientError>>;

pub(super) struct OpencodeDriver<'a> {
    sandbox: &'a Sandbox,
    /// Gone after a crash.
    server: Option<RunningProgram>,
    port: u16,
    session_id: String,
    /// The prompts of the turns that still stand.
    prompts: Vec<String>,
}

impl<'a> OpencodeDriver<'a> {
    pub(super) fn start(
        client: &Client,
        sandbox: &'a Sandbox,
        setup: &Setup,
        model_port: u16,
    ) -> Result<Self, ClientError> {
        let port = free_port()?;
        let launch = sandbox.launch(client, setup, model_port)?;
        let server = launch.args(["serve", "--port", &port.to_string()]).start()?;
        await_server(port)?;
        let mut driver = Self { sandbox, server: Some(server), port, session_id: String::new(), prompts: Vec::new() };
        let created = driver.post_json("/session", &json!({}))?;
        created["id"].as_str().unwrap_or_default().clone_into(&mut driver.session_id);
        Ok(driver)
    }

    fn post_json(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        post_json(self.port, path, body)
    }

    /// A request about the session.
    fn post_to_session(&self, what: &str, body: &Value) -> Result<Value, ClientError> {
        self.post_json(&format!("/session/{}/{what}", self.session_id), body)
    }

    fn prompt_message(&self, prompt: &Prompt) -> Result<Value, ClientError> {
        let mut parts = vec![json!({"type": "text", "text": prompt.text})];
        if prompt.image {
            let data = BASE64_STANDARD.encode(fs::read(self.sandbox.project.join(PROMPT_IMAGE))?);
            let url = format!("data:image/png;base64,{data}");
            parts.push(json!({"type": "file", "mime": "image/png", "filename": "prompt.png", "url": url}));
        }
        Ok(json!({"parts": parts}))
    }

    /// Sends a prompt and does not wait for its end.
    fn send_in_background(&self, prompt: &Prompt) -> Result<PendingPrompt, ClientError> {
        let message = self.prompt_message(prompt)?;
        let (port, path) = (self.port, format!("/session/{}/message", self.session_id));
        Ok(thread::spawn(move || post_json(port, &path, &message)))
    }

    /// Sends a prompt and does something as soon as its command runs.
    fn act_while_running(
        &mut self,
        prompt: &Prompt,
        runs: &Path,
        act: impl FnOnce(&mut Self) -> Result<(), ClientError>,
    ) -> Result<(), ClientError> {
        let asking = self.send_in_background(prompt)?;
        await_file(runs)?;
        act(self)?;
        // Whether it is answered or broken off, the turn is over.
        drop(asking.join());
        Ok(())
    }
}

impl Driver for OpencodeDriver<'_> {
    fn run_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        let answer = self.post_to_session("message", &self.prompt_message(prompt)?)?;
        self.prompts.extend(answer["info"]["parentID"].as_str().map(str::to_owned));
        Ok(())
    }

    fn run_refused_turn(&mut self, prompt: &Prompt) -> Result<(), ClientError> {
        let asking = self.send_in_background(prompt)?;
        let deadline = Instant::now() + REFUSAL_WAIT;
        while !asking.is_finished() && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(100));
        }
        // It would try for long; whoever waits ends it.
        self.post_to_session("abort", &json!({}))?;
        drop(asking.join());
        Ok(())
    }

    fn compact(&mut self) -> Result<(), ClientError> {
        self.post_to_session("summarize", &json!({"providerID": "fake", "modelID": "fake-model"}))?;
        Ok(())
    }

    fn rewind(&mut self) -> Result<(), ClientError> {
        let Some(prompt) = self.prompts.pop() else { return Ok(()) };
        self.post_to_session("revert", &json!({"messageID": prompt}))?;
        Ok(())
    }

    fn interrupt(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.act_while_running(prompt, runs, |driver| driver.post_to_session("abort", &json!({})).map(drop))
    }

    fn crash(&mut self, prompt: &Prompt, runs: &Path) -> Result<(), ClientError> {
        self.act_while_running(prompt, runs, |driver| {
            drop(driver.server.take());
            Ok(())
        })
    }

    fn finish(mut self: Box<Self>) -> Result<String, ClientError> {
        if let Some(server) = self.server.take() {
            server.interrupt();
            // After a turn that was broken off it may not end by itself; what it wrote is written.
            drop(server.finish(Duration::from_secs(10)));
        }
        Ok(self.session_id)
    }
}

/// One that was free a moment ago.
fn free_port() -> Result<u16, ClientError> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// Waits for the server. What is asked before it is ready is never answered, so it is asked again.
fn await_server(port: u16) -> Result<(), ClientError> {
    let deadline = Instant::now() + RUN_LIMIT;
    while send_request(port, "GET", "/path", &Value::Null, Duration::from_secs(2)).is_err() {
        if Instant::now() > deadline {
            return Err(ClientError::TimedOut { program: "opencode serve".to_owned(), limit: RUN_LIMIT });
        }
        thread::sleep(Duration::from_millis(200));
    }
    Ok(())
}

fn post_json(port: u16, path: &str, body: &Value) -> Result<Value, ClientError> {
    send_request(port, "POST", path, body, RUN_LIMIT)
}

/// One request; the answer is there when what was asked for is done.
fn send_request(port: u16, method: &str, path: &str, body: &Value, limit: Duration) -> Result<Value, ClientError> {
    let body = body.to_string();
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_read_timeout(Some(limit))?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )?;
    // The connection stays open after the answer, so its length has to be heeded.
    let mut reader = BufReader::new(stream);
    let mut status = String::new();
    reader.read_line(&mut status)?;
    let body = read_body(&mut reader)?;
    if !status.starts_with("HTTP/1.1 2") {
        let said: String = String::from_utf8_lossy(&body).chars().take(300).collect();
        let message = format!("{} {said}", status.trim());
        return Err(ClientError::Refused { program: "opencode serve".to_owned(), method: path.to_owned(), message });
    }
    Ok(serde_json::from_slice(&body).unwrap_or_default())
}

/// The body after the headers, whole or in chunks.
fn read_body(reader: &mut impl BufRead) -> Result<Vec<u8>, ClientError> {
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        chunked |= line.starts_with("transfer-encoding:") && line.contains("chunked");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    while chunked {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let size = u64::from_str_radix(line.trim(), 16).unwrap_or(0);
        reader.by_ref().take(size).read_to_end(&mut body)?;
        reader.read_line(&mut line)?;
        chunked = size > 0;
    }
    Ok(body)
}
