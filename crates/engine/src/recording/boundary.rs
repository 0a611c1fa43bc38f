//! The boundary of a session, exact: what its client told the model besides the conversation.

use std::io;

use carryover_agents::formats::digest::{digest_json, digest_tool};
use carryover_core::transcript::OfferedTool;
use serde::Serialize;
use serde_json::{Map, Value};

use super::archive::Recording;
use super::exchange::Exchange;
use super::request_form::{ModelRequest, RequestForm};

/// A session's last request without the conversation. Every field is as it was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedBoundary {
    /// The exchange that it is from.
    pub exchange: u64,
    pub form: RequestForm,
    /// The address of the model service.
    pub upstream: String,
    pub model: Option<String>,
    /// The texts before the conversation, in their order.
    pub system_prompt: Vec<String>,
    pub tools: Vec<RecordedTool>,
    /// Temperature, limits, thinking and whatever else the request sets.
    pub sampling: Map<String, Value>,
    /// How many messages the conversation had.
    pub messages: usize,
}

/// A tool that the model was offered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedTool {
    pub name: String,
    /// Of the form of its input; of all of the declaration where it has none.
    pub schema_sha256: String,
    /// Of all of the declaration, its description included.
    pub declaration_sha256: String,
}

/// Members of a request that say who asks, and not how.
const IDENTITY_FIELDS: &[&str] =
    &["metadata", "user", "prompt_cache_key", "safety_identifier", "session_id", "client_metadata"];

impl RecordedBoundary {
    /// The boundary of the session's own loop; none where no request to a model was answered.
    ///
    /// Titles, quota probes and sub-agents ask models as well. The loop begins with the first request that offers tools
    /// (the first of all, where none does), and goes on with those that share its system prompt or its first message.
    pub fn read(recording: &Recording) -> io::Result<Option<Self>> {
        let exchanges = recording.exchanges()?;
        let mut requests = Vec::new();
        for exchange in exchanges.iter().filter(|exchange| is_answered(exchange)) {
            if let Some(request) = read_request(recording, exchange)? {
                requests.push((exchange, Outline::new(&request)));
            }
        }
        let first = requests.iter().position(|(_, outline)| outline.has_tools).unwrap_or(0);
        let Some((mut last, mut current)) = requests.get(first).copied() else { return Ok(None) };
        for (exchange, outline) in &requests[first..] {
            if outline.continues(current) {
                (last, current) = (exchange, *outline);
            }
        }
        let request = read_request(recording, last)?;
        Ok(request.map(|request| Self::new(recording, last, request)))
    }

    fn new(recording: &Recording, exchange: &Exchange, request: ModelRequest) -> Self {
        let mut sampling = request.settings;
        sampling.retain(|name, _| !IDENTITY_FIELDS.contains(&name.as_str()));
        let service = recording.manifest.services.get(exchange.service);
        Self {
            exchange: exchange.number,
            form: request.form,
            upstream: service.map(|service| service.upstream.clone()).unwrap_or_default(),
            model: request.model,
            system_prompt: request.system,
            tools: request.tools.iter().map(RecordedTool::new).collect(),
            sampling,
            messages: request.messages.len(),
        }
    }
}

fn is_answered(exchange: &Exchange) -> bool {
    let is_good = exchange.response.as_ref().is_some_and(|response| (200..300).contains(&response.status));
    is_good && exchange.request.method == "POST" && !exchange.has_gaps
}

/// The request of an exchange, where it is one to a model.
pub(super) fn read_request(recording: &Recording, exchange: &Exchange) -> io::Result<Option<ModelRequest>> {
    let body = recording.with_exchange(exchange).decoded_request()?;
    Ok(ModelRequest::parse(exchange.request.route(), &body))
}

/// As much of a request as tells whose it is.
#[derive(Clone, Copy)]
struct Outline {
    has_tools: bool,
    system: u64,
    first_message: u64,
}

impl Outline {
    fn new(request: &ModelRequest) -> Self {
        let digest = |text: &str| crate::own::fingerprint::Fingerprint::from_bytes(text.as_bytes()).to_bits();
        Self {
            has_tools: !request.tools.is_empty(),
            system: digest(&request.system.join("\0")),
            first_message: digest(&request.messages.first().map(Value::to_string).unwrap_or_default()),
        }
    }

    fn continues(&self, before: Self) -> bool {
        self.has_tools == before.has_tools
            && (self.system == before.system || self.first_message == before.first_message)
    }
}

impl RecordedTool {
    fn new(declaration: &Value) -> Self {
        let OfferedTool { name, schema_sha256 } = digest_tool(declaration);
        let declaration_sha256 = digest_json(declaration);
        let schema_sha256 = schema_sha256.unwrap_or_else(|| declaration_sha256.clone());
        Self { name, schema_sha256, declaration_sha256 }
    }
}
