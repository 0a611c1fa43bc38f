//! Errors of services in our words: who was asked, and why not, without what a request carried.

use std::error::Error;

use carryover_core::plain::one_line;
use carryover_engine::share::bucket::BucketError;
use object_store::Error as StoreError;
use object_store::client::HttpError;

const MAX_REASON_CHARS: usize = 200;
/// What stands before the status of an answer without a document.
const STATUS_WORDS: &str = "Server returned non-2xx status code: ";

/// Whether a name was not free.
pub(super) fn is_taken(error: &StoreError) -> bool {
    matches!(error, StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } | StoreError::NotModified { .. })
}

pub(super) fn explain_error(place: &str, key: &str, error: &StoreError) -> BucketError {
    let (place, key) = (place.to_owned(), key.to_owned());
    let answer = find_answer(error);
    let code = answer.as_deref().and_then(|answer| find_element(answer, "Code"));
    let reason = describe(error, answer.as_deref());
    match error {
        // A bucket that is not there is not the object's fault.
        StoreError::NotFound { .. } => match code {
            Some("NoSuchBucket" | "ContainerNotFound") => BucketError::Unreachable { place, reason },
            _ => BucketError::NotFound { place, key },
        },
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            BucketError::Refused { place, reason }
        }
        _ if find_http_error(error).is_none() && is_refusal(error) => BucketError::Refused { place, reason },
        _ => BucketError::Unreachable { place, reason },
    }
}

/// What is wrong with the settings of a service. Their values are not told.
pub(super) fn describe_setting(error: &StoreError) -> String {
    shorten(&deepest_text(error))
}

/// A service that was reached and understands us, but not what was asked.
fn is_refusal(error: &StoreError) -> bool {
    deepest_text(error).strip_prefix(STATUS_WORDS).is_some_and(|status| status.starts_with('4'))
}

fn describe(error: &StoreError, answer: Option<&str>) -> String {
    if let Some(error) = find_http_error(error) {
        return describe_http(error);
    }
    answer.and_then(describe_answer).unwrap_or_else(|| shorten(&deepest_text(error)))
}

/// Why a request had no answer.
pub(super) fn describe_http(error: &HttpError) -> String {
    shorten(&deepest_text(error))
}

/// What a service's document says; none where it is no such document.
pub(super) fn describe_answer(answer: &str) -> Option<String> {
    let code = find_element(answer, "Code")?;
    Some(match find_element(answer, "Message") {
        Some(message) => shorten(&format!("{message} ({code})")),
        None => shorten(code),
    })
}

/// The cause of all, which is what went wrong; those above it tell what was being done, with the whole address.
fn deepest_text(error: &(dyn Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    deepest.to_string()
}

fn find_http_error(error: &StoreError) -> Option<&HttpError> {
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<HttpError>() {
            return Some(found);
        }
        next = error.source();
    }
    None
}

/// The document that services answer with.
fn find_answer(error: &StoreError) -> Option<String> {
    let text = deepest_text(error);
    text.contains("<Code>").then_some(text)
}

fn find_element<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = answer.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

/// One line, without queries of addresses: a signature can be one.
fn shorten(text: &str) -> String {
    let text = text.strip_prefix(STATUS_WORDS).unwrap_or(text).trim_end_matches([':', ' ']);
    let words: Vec<&str> = text.split_whitespace().map(strip_query).collect();
    one_line(&words.join(" "), MAX_REASON_CHARS)
}

fn strip_query(word: &str) -> &str {
    if word.contains("://") { word.split('?').next().unwrap_or_default() } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: &str, body: &str) -> Box<dyn Error + Send + Sync> {
        format!("Server returned non-2xx status code: {status}: {body}").into()
    }

    #[test]
    fn services_words_are_passed_on_and_signatures_are_not() {
        let body = "<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Message>Check\nyour key</Message></Error>";
        let error = StoreError::PermissionDenied { path: "a".to_owned(), source: answered("403", body) };
        let told = explain_error("s3://b", "a", &error).to_string();
        assert_eq!(told, "s3://b refused: Check your key (SignatureDoesNotMatch)");
        let error = StoreError::PermissionDenied { path: "a".to_owned(), source: answered("403 Forbidden", "") };
        assert_eq!(explain_error("s3://b", "a", &error).to_string(), "s3://b refused: 403 Forbidden");
        let source = "GET https://x/a?X-Amz-Signature=secret failed".into();
        let told = explain_error("s3://b", "a", &StoreError::Generic { store: "S3", source }).to_string();
        assert_eq!(told, "s3://b could not be reached: GET https://x/a failed");
    }

    #[test]
    fn missing_object_is_told_from_a_missing_bucket() {
        let missing = |code: &str| {
            let source = answered("404", &format!("<Error><Code>{code}</Code></Error>"));
            explain_error("s3://b", "a", &StoreError::NotFound { path: "a".to_owned(), source })
        };
        assert!(matches!(missing("NoSuchKey"), BucketError::NotFound { key, .. } if key == "a"));
        assert!(matches!(missing("NoSuchBucket"), BucketError::Unreachable { reason, .. } if reason == "NoSuchBucket"));
    }
}
