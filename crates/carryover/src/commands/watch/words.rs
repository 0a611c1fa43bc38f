//! What a session does, in words for people.

use carryover_agents::Env;
use carryover_core::time::Timestamp;
use carryover_core::transcript::Limit;
use carryover_engine::watch::{Doing, LastUsage};

use crate::quantity::format_tokens;
use crate::relative_time::{format_until, format_when};

/// After so long without a change, words that are the last were the end of a turn.
const WAITS_AFTER_SECONDS: i64 = 30;

/// After so long without a change, a call may be one that the user is asked to allow.
const MAY_WAIT_AFTER_SECONDS: i64 = 60;

/// How far a limit may be used up before that is worth a warning, in percent.
const NEAR_LIMIT_PERCENT: f64 = 80.0;

/// What a session does that last changed at a time.
pub(super) fn describe_doing(doing: &Doing, at: Timestamp, env: &Env) -> String {
    let quiet = env.now.seconds().saturating_sub(at.seconds());
    match doing {
        Doing::Unknown => "active".to_owned(),
        Doing::Prompted => "works on your prompt".to_owned(),
        Doing::Thinking => "thinks".to_owned(),
        Doing::Calling(call) if quiet >= MAY_WAIT_AFTER_SECONDS => {
            format!("{} or waits for you: {}", call_verbs(call.action).0, call.subject)
        }
        Doing::Calling(call) => format!("{} {}", call_verbs(call.action).0, call.subject),
        Doing::Called { call, failed: false } => format!("{} {}", call_verbs(call.action).1, call.subject),
        Doing::Called { call, failed: true } => format!("{} (failed) {}", call_verbs(call.action).1, call.subject),
        Doing::Asking { question } => format!("asks you: {question}"),
        Doing::Proposing => "asks you to approve its plan".to_owned(),
        Doing::Replied { text } if quiet >= WAITS_AFTER_SECONDS => format!("waits for you: {text}"),
        Doing::Replied { text } => format!("says: {text}"),
        Doing::AtLimit { message, resets_at } => match resets_at {
            Some(ends) if *ends <= env.now => format!("its limit ended {}", format_when(*ends, env, false)),
            Some(ends) => format!("at a limit until {}: {message}", format_until(*ends, env)),
            None => format!("at a limit: {message}"),
        },
        Doing::Failed { message } => format!("failed: {message}"),
        Doing::Interrupted => "was stopped by you".to_owned(),
        Doing::Compacted => "compacted its context".to_owned(),
    }
}

/// Whether a limit holds it up at this moment.
pub(super) fn is_at_limit(doing: &Doing, now: Timestamp) -> bool {
    matches!(doing, Doing::AtLimit { resets_at, .. } if resets_at.is_none_or(|ends| ends > now))
}

/// What a call does while it runs, and what it did.
fn call_verbs(action: &str) -> (&'static str, &'static str) {
    match action {
        "run" => ("runs", "ran"),
        "read" => ("reads", "read"),
        "view" => ("looks at", "looked at"),
        "write" => ("writes", "wrote"),
        "edit" => ("edits", "edited"),
        "search" => ("searches for", "searched for"),
        "fetch" => ("fetches", "fetched"),
        "plan" => ("plans", "planned"),
        "delegate" => ("has a sub-agent at", "had a sub-agent at"),
        _ => ("calls", "called"),
    }
}

/// The tokens and limits in few columns each, and whether a limit is near. What matters more comes first.
pub(super) fn describe_usage(usage: &LastUsage, now: Timestamp) -> (Vec<String>, bool) {
    // A window that is over tells nothing of the one that has begun.
    let holds = |limit: &&Limit| limit.resets_at.is_none_or(|ends| ends > now);
    let in_force: Vec<&Limit> = usage.limits.iter().filter(holds).collect();
    let tokens = usage.tokens.map(|tokens| format!("{} tokens", format_tokens(tokens.input + tokens.output)));
    let limits = in_force.iter().map(|limit| {
        let window = limit.window_minutes.map_or_else(|| "limit".to_owned(), format_window);
        format!("{:.0}% of {window}", limit.used_percent)
    });
    let is_near = in_force.iter().any(|limit| limit.used_percent >= NEAR_LIMIT_PERCENT);
    let mut parts: Vec<String> = tokens.into_iter().chain(limits).collect();
    if is_near && usage.tokens.is_some() {
        parts.rotate_left(1);
    }
    (parts, is_near)
}

fn format_window(minutes: u32) -> String {
    match minutes {
        0..60 => format!("{minutes} min"),
        60..2880 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1440),
    }
}

#[cfg(test)]
mod tests {
    use carryover_core::transcript::Tokens;
    use carryover_engine::watch::CallSummary;

    use super::super::view::tests::make_context;
    use super::*;

    fn tell(doing: &Doing, quiet: i64) -> String {
        let env = &make_context().env;
        describe_doing(doing, env.now.plus_millis(-quiet * 1000), env)
    }

    #[test]
    fn a_call_is_told_as_what_it_does_and_not_as_more() {
        let call = |action, subject: &str| CallSummary { action, subject: subject.to_owned() };
        assert_eq!(tell(&Doing::Calling(call("run", "cargo test")), 5), "runs cargo test");
        assert_eq!(tell(&Doing::Calling(call("run", "cargo test")), 90), "runs or waits for you: cargo test");
        assert_eq!(tell(&Doing::Called { call: call("edit", "src/a.rs"), failed: false }, 900), "edited src/a.rs");
        assert_eq!(tell(&Doing::Called { call: call("run", "make"), failed: true }, 0), "ran (failed) make");
        assert_eq!(tell(&Doing::Calling(call("other", "weather")), 0), "calls weather");
    }

    #[test]
    fn an_agent_that_spoke_waits_only_after_a_while() {
        let replied = Doing::Replied { text: "Done.".to_owned() };
        assert_eq!([tell(&replied, 3), tell(&replied, 30)], ["says: Done.", "waits for you: Done."]);
    }

    #[test]
    fn a_limit_is_told_until_it_ends() {
        let limit = |text: &str| Doing::AtLimit { message: "no more".to_owned(), resets_at: Timestamp::parse(text) };
        assert_eq!(tell(&limit("2026-11-15T17:00:00Z"), 0), "at a limit until 17:00: no more");
        assert_eq!(tell(&limit("2026-11-17T09:05:00Z"), 0), "at a limit until Tue 09:05: no more");
        assert_eq!(tell(&limit("2026-11-15T09:00:00Z"), 0), "its limit ended 1 h ago");
        assert_eq!(tell(&limit("unknown"), 0), "at a limit: no more");
        let now = Timestamp::parse("2026-11-15T10:00:00Z").unwrap();
        assert!(is_at_limit(&limit("unknown"), now) && is_at_limit(&limit("2026-11-15T17:00:00Z"), now));
        assert!(!is_at_limit(&limit("2026-11-15T09:00:00Z"), now) && !is_at_limit(&Doing::Thinking, now));
    }

    #[test]
    fn usage_takes_few_columns() {
        let limit = |used_percent, window_minutes| Limit { used_percent, window_minutes, resets_at: None };
        let tokens = Tokens { input: 125_500, output: 500, ..Tokens::default() };
        let usage = LastUsage { tokens: Some(tokens), limits: vec![limit(41.6, Some(300)), limit(7.0, Some(10_080))] };
        let now = Timestamp::parse("2026-11-15T10:00:00Z").unwrap();
        let told = |usage: &LastUsage| {
            let (parts, is_near) = describe_usage(usage, now);
            (parts.join(", "), is_near)
        };
        assert_eq!(told(&usage), ("126k tokens, 42% of 5 h, 7% of 7 d".to_owned(), false));
        let usage = LastUsage { tokens: Some(tokens), limits: vec![limit(96.0, None)] };
        assert_eq!(told(&usage), ("96% of limit, 126k tokens".to_owned(), true));
        let over = Limit { resets_at: Some(now), ..limit(100.0, Some(300)) };
        assert_eq!(told(&LastUsage { tokens: None, limits: vec![over] }), (String::new(), false));
    }
}
