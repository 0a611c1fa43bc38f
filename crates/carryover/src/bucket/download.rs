//! What a signed address opens, as anybody can fetch it who has it.

use std::io::Write;

use carryover_agents::Env;
use carryover_engine::share::bucket::BucketError;
use futures_util::StreamExt;
use hyper::{Method, StatusCode, Uri};
use object_store::client::{HttpRequest, HttpRequestBody, HttpResponse, HttpService};

use super::address::hide_secrets;
use super::http::Connections;
use super::store_error::{describe_answer, describe_http};

/// The document that says why not is a few lines.
const MAX_ANSWER_BYTES: usize = 16 << 10;

/// Fetches what is at an address of the web, over TLS or from this machine itself. It is not followed elsewhere.
pub(crate) fn download_link(env: &Env, link: &str, into: &mut dyn Write, limit: u64) -> Result<u64, BucketError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(Download { place: hide_secrets(link), limit }.run(env, link, into))
}

struct Download {
    /// The address without what makes it a secret.
    place: String,
    limit: u64,
}

impl Download {
    async fn run(&self, env: &Env, link: &str, into: &mut dyn Write) -> Result<u64, BucketError> {
        let uri: Uri = link.parse().map_err(|_| self.unreachable("it is no address of the web"))?;
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = Method::GET;
        *request.uri_mut() = uri;
        let response = Connections::new(env, false, false).call(request).await;
        let response = response.map_err(|error| self.unreachable(&describe_http(&error)))?;
        if response.status() != StatusCode::OK {
            return Err(self.explain_status(response).await);
        }
        let told = response.headers().get("content-length").and_then(|length| length.to_str().ok()?.parse().ok());
        self.copy_body(response, told, into).await
    }

    async fn copy_body(
        &self,
        response: HttpResponse,
        told: Option<u64>,
        into: &mut dyn Write,
    ) -> Result<u64, BucketError> {
        if told.is_some_and(|told| told > self.limit) {
            return Err(self.too_large());
        }
        let mut pieces = response.into_body().bytes_stream();
        let mut total = 0;
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| self.unreachable(&describe_http(&error)))?;
            total += piece.len() as u64;
            if total > self.limit {
                return Err(self.too_large());
            }
            into.write_all(&piece)?;
        }
        Ok(total)
    }

    async fn explain_status(&self, response: HttpResponse) -> BucketError {
        let status = response.status();
        let mut answer = Vec::new();
        let mut pieces = response.into_body().bytes_stream();
        while let Some(Ok(piece)) = pieces.next().await
            && answer.len() < MAX_ANSWER_BYTES
        {
            answer.extend_from_slice(&piece);
        }
        let told = describe_answer(&String::from_utf8_lossy(&answer));
        let reason = told.unwrap_or_else(|| format!("it answers {}", status.as_u16()));
        let place = self.place.clone();
        if status.is_redirection() {
            return self.unreachable("it leads to another address, which is not followed");
        }
        if status.is_client_error() { BucketError::Refused { place, reason } } else { self.unreachable(&reason) }
    }

    fn unreachable(&self, reason: &str) -> BucketError {
        BucketError::Unreachable { place: self.place.clone(), reason: reason.to_owned() }
    }

    fn too_large(&self) -> BucketError {
        let key = self.place.rsplit('/').next().unwrap_or_default().to_owned();
        BucketError::TooLarge { place: self.place.clone(), key, limit: self.limit }
    }
}
