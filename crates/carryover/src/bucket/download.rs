//! What a signed address opens, as anybody can fetch it who has it.

use std::io::Write;

use carryover_agents::Env;
use carryover_core::time::Timestamp;
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
    let download = Download { place: hide_secrets(link), limit, ends_at: find_end(link), now: env.now };
    runtime.block_on(download.run(env, link, into))
}

struct Download {
    /// The address without what makes it a secret.
    place: String,
    limit: u64,
    /// Until when it says that it opens.
    ends_at: Option<Timestamp>,
    now: Timestamp,
}

/// Until when a signed address says that it opens: S3 and GCS name its beginning and so many seconds, Azure its end.
fn find_end(link: &str) -> Option<Timestamp> {
    let link = url::Url::parse(link).ok()?;
    let find = |name: &str| {
        let mut pairs = link.query_pairs();
        pairs.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.into_owned())
    };
    if let Some(end) = find("se") {
        return Timestamp::parse(&end);
    }
    let service = ["X-Amz", "X-Goog"].into_iter().find(|service| find(&format!("{service}-Date")).is_some())?;
    let seconds: i64 = find(&format!("{service}-Expires"))?.parse().ok()?;
    let digits = find(&format!("{service}-Date"))?;
    let [date, time] = digits.strip_suffix('Z')?.split('T').collect::<Vec<_>>().try_into().ok()?;
    let part = |text: &str, from: usize| text.get(from..from + 2).map(str::to_owned);
    let day = format!("{}-{}-{}", date.get(..4)?, part(date, 4)?, part(date, 6)?);
    let begin = Timestamp::parse(&format!("{day}T{}:{}:{}Z", part(time, 0)?, part(time, 2)?, part(time, 4)?))?;
    Some(begin.plus_millis(seconds.checked_mul(1_000)?))
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
        if !status.is_client_error() {
            return self.unreachable(&reason);
        }
        // Services say that a signature is wrong, or nothing, where its time is over.
        let ended = self.ends_at.filter(|at| *at <= self.now);
        let reason = ended.map_or(reason, |at| format!("the link opened until {at}"));
        BucketError::Refused { place, reason }
    }

    fn unreachable(&self, reason: &str) -> BucketError {
        BucketError::Unreachable { place: self.place.clone(), reason: reason.to_owned() }
    }

    fn too_large(&self) -> BucketError {
        let key = self.place.rsplit('/').next().unwrap_or_default().to_owned();
        BucketError::TooLarge { place: self.place.clone(), key, limit: self.limit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_signed_addresses_are_known() {
        let end = |link: &str| find_end(link).map(|at| at.to_string());
        let s3 = "https://b.example/x?X-Amz-Date=20261115T100000Z&X-Amz-Expires=604800&X-Amz-Signature=ab";
        assert_eq!(end(s3), Timestamp::parse("2026-11-22T10:00:00Z").map(|at| at.to_string()));
        assert_eq!(end(&s3.replace("Amz", "Goog")), end(s3));
        assert_eq!(end("https://a.example/x?se=2026-11-22T10%3A00%3A00Z&sig=ab"), end(s3));
        for none in ["https://b.example/x", "https://b.example/x?X-Amz-Date=now&X-Amz-Expires=9", "x"] {
            assert_eq!(end(none), None);
        }
    }
}
