//! Turns that ended badly, by the name of the error or by what is said of it.

use carryover_core::transcript::{Failure, FailureKind};
use serde_json::Value;

/// An error of a bubble: an object, or a text that is one. What is named in it may be nested once more.
pub(super) fn read_error_details(details: &Value) -> Option<Failure> {
    let parsed = details.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let details = parsed.as_ref().unwrap_or(details);
    if details.is_null() || details.as_object().is_some_and(serde_json::Map::is_empty) {
        return None;
    }
    let nested = details["error"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let inner = nested.as_ref().filter(|value| value.is_object()).unwrap_or(&details["error"]);
    let text = |value: &Value, name: &str| value[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let name = details["error"].as_str().filter(|_| nested.is_none()).map(str::to_owned);
    let name = name.or_else(|| text(inner, "error")).or_else(|| text(inner, "code")).unwrap_or_default();
    let message = text(details, "message").or_else(|| text(inner, "message"));
    let message = message.or_else(|| text(details, "title")).or_else(|| details.as_str().map(str::to_owned));
    let message = message.unwrap_or_else(|| name.clone());
    let code = [details, inner].into_iter().find_map(|value| value["statusCode"].as_i64().or(value["status"].as_i64()));
    Some(Failure { kind: kind_of(&name, code, &message), message, resets_at: None })
}

/// An error of which only the words are kept.
pub(super) fn read_error_text(message: &str) -> Failure {
    Failure { kind: kind_of("", None, message), message: message.to_owned(), resets_at: None }
}

fn kind_of(name: &str, status: Option<i64>, message: &str) -> FailureKind {
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    let says = |words: &[&str]| {
        let message = message.to_lowercase();
        name.is_empty() && words.iter().any(|word| message.contains(word))
    };
    // Where paying for more is asked for, what was included is used up.
    if has(&["RATE_LIMIT", "USAGE_LIMIT", "USAGE_PRICING_REQUIRED", "RESOURCE_EXHAUSTED"])
        || status == Some(429)
        || says(&["rate limit", "rate-limit", "usage limit", "too many requests"])
    {
        FailureKind::RateLimit
    } else if has(&["CONVERSATION_TOO_LONG", "MAX_TOKENS"]) {
        FailureKind::ContextTooLong
    } else if has(&["NOT_LOGGED_IN", "UNAUTHORIZED", "BAD_API_KEY", "BAD_USER_API_KEY", "AUTH_TOKEN"])
        || matches!(status, Some(401 | 403))
    {
        FailureKind::Authentication
    } else if has(&["PAYMENT", "NOT_ENOUGH"]) || status == Some(402) {
        FailureKind::Billing
    } else if has(&["USER_ABORTED"]) {
        FailureKind::Interrupted
    } else if has(&["PROVIDER_ERROR", "OPENAI", "TIMEOUT", "UNAVAILABLE", "INTERNAL"])
        || status.is_some_and(|status| status >= 500)
        || says(&["provider error"])
    {
        FailureKind::Server
    } else {
        FailureKind::Other
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_error_is_known_in_each_of_its_forms() {
        let limit = "You've hit your usage limit.";
        for details in [
            json!({ "error": "ERROR_RATE_LIMITED", "message": limit }),
            json!(r#"{"error":"ERROR_PRO_USER_USAGE_LIMIT","message":"You've hit your usage limit."}"#),
            json!({ "error": r#"{"error":"ERROR_RESOURCE_EXHAUSTED","message":"You've hit your usage limit."}"# }),
            json!({ "statusCode": 429, "message": limit }),
        ] {
            let failure = read_error_details(&details).unwrap();
            assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::RateLimit, limit), "{details}");
        }
        let kind = |name: &str| read_error_details(&json!({ "error": name })).unwrap().kind;
        assert_eq!(kind("ERROR_CONVERSATION_TOO_LONG"), FailureKind::ContextTooLong);
        assert_eq!(kind("ERROR_PROVIDER_ERROR"), FailureKind::Server);
        assert_eq!(kind("ERROR_NEW_KIND"), FailureKind::Other);
        assert!(read_error_details(&json!({})).is_none());
    }

    #[test]
    fn an_error_without_a_name_is_known_by_its_words() {
        assert_eq!(read_error_text("Provider Error: rate limited").kind, FailureKind::RateLimit);
        assert_eq!(read_error_text("Provider Error: overloaded").kind, FailureKind::Server);
        assert_eq!(read_error_text("no").kind, FailureKind::Other);
    }
}
