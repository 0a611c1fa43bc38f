//! The settings of a turn: the first one's began the session, the last one's are in force.

use std::collections::BTreeMap;

use carryover_core::json::Json;
use carryover_core::transcript::StartSetting;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::WireTurnContext;
use crate::formats::text::Text;

/// A profile of what the sandbox lets through.
#[derive(Deserialize)]
struct WireProfile<'a> {
    #[serde(borrow, default)]
    file_system: Option<WireFiles<'a>>,
    /// A word, or an object of finer rules.
    #[serde(borrow, default)]
    network: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireFiles<'a> {
    #[serde(borrow, default)]
    entries: Vec<WireRule<'a>>,
}

#[derive(Deserialize)]
struct WireRule<'a> {
    #[serde(borrow)]
    path: WirePath<'a>,
    #[serde(borrow)]
    access: Text<'a>,
}

/// A path, or a place that has a name.
#[derive(Deserialize)]
struct WirePath<'a> {
    #[serde(borrow, default)]
    path: Option<Text<'a>>,
    #[serde(borrow, default)]
    value: Option<WirePlace<'a>>,
}

#[derive(Deserialize)]
struct WirePlace<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
}

#[derive(Deserialize)]
struct WireMode<'a> {
    #[serde(borrow)]
    mode: Text<'a>,
    #[serde(borrow, default)]
    settings: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireModeSettings<'a> {
    #[serde(borrow, default)]
    reasoning_effort: Option<&'a RawValue>,
}

/// The start settings in those of a turn; the first turn's count.
pub(super) fn from_turn(context: &WireTurnContext<'_>) -> Vec<StartSetting> {
    let approval = context.approval_policy.filter(|policy| policy.get() != "null").map(raw_text);
    let sandbox = context.sandbox_policy.as_ref().and_then(|policy| policy.kind.as_ref());
    let mode = parse_mode(context);
    let rules = context.permission_profile.and_then(permission_rules);
    let told = [
        mode.map(|mode| StartSetting::PermissionMode(mode.mode.to_string())),
        approval.map(StartSetting::ApprovalPolicy),
        sandbox.map(|sandbox| StartSetting::Sandbox(sandbox.to_string())),
        rules.map(StartSetting::PermissionRules),
    ];
    told.into_iter().flatten().collect()
}

/// How the model is asked in a turn; none where nothing is set.
pub(super) fn turn_sampling(context: &WireTurnContext<'_>) -> Option<BTreeMap<String, Json>> {
    let settings = parse_mode(context).and_then(|mode| mode.settings);
    let settings = settings.and_then(|raw| serde_json::from_str::<WireModeSettings<'_>>(raw.get()).ok());
    let effort = context.effort.or(settings.and_then(|settings| settings.reasoning_effort));
    let told = [("effort", effort), ("summary", context.summary), ("personality", context.personality)];
    let set = told.into_iter().filter_map(|(name, raw)| Some((name, raw.filter(|raw| raw.get() != "null")?)));
    let sampling: BTreeMap<String, Json> = set.map(|(name, raw)| (name.to_owned(), Json::from_raw(raw))).collect();
    (!sampling.is_empty()).then_some(sampling)
}

fn parse_mode<'a>(context: &WireTurnContext<'a>) -> Option<WireMode<'a>> {
    serde_json::from_str(context.collaboration_mode?.get()).ok()
}

/// A word as it is, and anything else as it is written.
fn raw_text(raw: &RawValue) -> String {
    serde_json::from_str::<String>(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

/// A profile without rules says that there are none.
fn permission_rules(raw: &RawValue) -> Option<Vec<String>> {
    let profile = serde_json::from_str::<WireProfile<'_>>(raw.get()).ok()?;
    let rule = |rule: WireRule<'_>| {
        let named = rule.path.value.as_ref().map(|place| &*place.kind);
        rule.path.path.as_deref().or(named).map(|path| format!("{} {path}", &*rule.access))
    };
    let mut rules: Vec<String> =
        profile.file_system.into_iter().flat_map(|files| files.entries).filter_map(rule).collect();
    rules.extend(profile.network.map(|network| format!("network {}", raw_text(network))));
    Some(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_a_turn_are_told_with_the_rules_of_its_sandbox() {
        let turn = r#"{"cwd":"/r","approval_policy":"on-request","sandbox_policy":{"type":"workspace-write"},
            "permission_profile":{"type":"managed","file_system":{"type":"restricted","entries":[
            {"path":{"type":"special","value":{"kind":"root"}},"access":"read"},
            {"path":{"type":"path","path":"/home/dv/repo"},"access":"write"},
            {"path":{"type":"path","path":"/home/dv/repo/.git"},"access":"read","missing_path_behavior":"skip"}
            ]},"network":"restricted"},"collaboration_mode":{"mode":"plan","settings":{}}}"#;
        let rules = ["read root", "write /home/dv/repo", "read /home/dv/repo/.git", "network restricted"];
        let told = [
            StartSetting::PermissionMode("plan".to_owned()),
            StartSetting::ApprovalPolicy("on-request".to_owned()),
            StartSetting::Sandbox("workspace-write".to_owned()),
            StartSetting::PermissionRules(rules.map(str::to_owned).to_vec()),
        ];
        assert_eq!(from_turn(&serde_json::from_str(turn).unwrap()), told);
        let odd = r#"{"approval_policy":{"granular":{}},"permission_profile":7,"collaboration_mode":[]}"#;
        let told = from_turn(&serde_json::from_str(odd).unwrap());
        assert_eq!(told, [StartSetting::ApprovalPolicy(r#"{"granular":{}}"#.to_owned())]);
    }

    #[test]
    fn a_profile_without_rules_takes_back_those_before() {
        let disabled = from_turn(&serde_json::from_str(r#"{"permission_profile":{"type":"disabled"}}"#).unwrap());
        assert_eq!(disabled, [StartSetting::PermissionRules(Vec::new())]);
    }

    #[test]
    fn effort_and_summary_are_told_wherever_the_version_writes_them() {
        let told = |turn: &str| {
            let sampling = turn_sampling(&serde_json::from_str(turn).unwrap()).unwrap_or_default();
            sampling.iter().map(|(name, value)| format!("{name}={}", value.as_str())).collect::<Vec<_>>()
        };
        assert_eq!(told(r#"{"effort":"high","summary":"auto"}"#), [r#"effort="high""#, r#"summary="auto""#]);
        let mode = r#"{"collaboration_mode":{"mode":"plan","settings":{"reasoning_effort":"low"}},"effort":null}"#;
        assert_eq!(told(mode), [r#"effort="low""#]);
        assert!(told(r#"{"effort":null,"collaboration_mode":7}"#).is_empty());
    }
}
