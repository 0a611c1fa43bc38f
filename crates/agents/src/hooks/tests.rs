//! What clients sent is read, and what is written for them is well-formed.

use std::collections::{BTreeMap, BTreeSet};

use super::HookKind::{BeforeCompaction, SessionEnd, SessionStart, TurnEnd};
use super::*;
use crate::{agent_by_name, hooked_agents};

#[test]
fn tables_are_in_order_and_name_each_event_once() {
    for facts in hooked_agents() {
        let tables = facts.hooks.unwrap().tables;
        assert!(!tables.is_empty() && tables.is_sorted_by_key(|table| table.since), "{}", facts.id);
        for table in tables {
            let names: BTreeSet<&str> = table.events.iter().map(|binding| binding.event).collect();
            assert_eq!(names.len(), table.events.len(), "{}", facts.id);
        }
    }
}

#[test]
fn a_version_that_was_never_seen_gets_the_last_known_events() {
    for facts in hooked_agents() {
        let hooks = facts.hooks.unwrap();
        let future = hooks.resolve(facts, Some(Version(9_999, 0, 0)));
        let last = hooks.tables.last().unwrap().events;
        let is_seen = !facts.versions_seen.1.is_empty();
        assert_eq!((future.events.len(), future.newer_than.is_some()), (last.len(), is_seen), "{}", facts.id);
        assert_eq!(hooks.resolve(facts, None).newer_than, None, "{}", facts.id);
    }
}

/// Reads a call as it comes from an agent that was started by a command line.
fn read(agent: &str, event: &str, payload: &Value, started_by: &[&str]) -> HookEvent {
    read_with_vars(agent, event, payload, started_by, &[])
}

fn read_with_vars(agent: &str, event: &str, payload: &Value, started_by: &[&str], vars: &[(&str, &str)]) -> HookEvent {
    read_from(agent, event, payload, process(started_by, Some(true)), vars)
}

fn process(words: &[&str], reads_terminal: Option<bool>) -> CallerProcess {
    CallerProcess { words: words.iter().map(|word| (*word).to_owned()).collect(), reads_terminal }
}

fn read_from(agent: &str, event: &str, payload: &Value, client: CallerProcess, vars: &[(&str, &str)]) -> HookEvent {
    let vars: BTreeMap<String, String> =
        vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let agent = hooked_agents().find(|facts| facts.id == agent).unwrap();
    let payload = payload.to_string();
    let call = HookCall {
        agent,
        event,
        payload: payload.as_bytes(),
        vars: &vars,
        ancestors: &[process(&["sh", "-c"], Some(false)), client],
        cwd: "/elsewhere".as_ref(),
    };
    read_call(&call).unwrap()
}

#[test]
fn a_start_tells_session_folder_reason_and_whether_somebody_is_there() {
    let payload = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/p", "hook_event_name": "SessionStart",
        "source": "startup",
    });
    let event = read("claude-code", "SessionStart", &payload, &["/usr/bin/claude"]);
    let expected = HookEvent {
        agent: agent_by_name("claude-code").unwrap().facts().id,
        is_through_another: false,
        kind: HookKind::SessionStart,
        session: Some(SessionId("s1".to_owned())),
        folder: Some("/p".into()),
        transcript: Some("/t.jsonl".into()),
        start: StartReason::New,
        run_mode: RunMode::Interactive,
        is_sub_agent: false,
    };
    assert_eq!(event, expected);
    let headless = read("claude-code", "SessionStart", &payload, &["node", "/lib/claude.js", "-p", "do it"]);
    assert_eq!(headless.run_mode, RunMode::Headless);
    assert_eq!(read("claude-code", "Stop", &json!({}), &["vi"]).run_mode, RunMode::Unknown);
}

#[test]
fn a_program_with_odd_letters_in_its_path_is_quoted() {
    assert_eq!(hook_command("/usr/bin/carryover", "a", "E"), "/usr/bin/carryover hook a E");
    assert_eq!(hook_command("/home/o'n x/carryover", "a", "E"), r"'/home/o'\''n x/carryover' hook a E");
}

/// A call as a client made it, shortened, and what is read from it.
struct SampleCall {
    agent: &'static str,
    event: &'static str,
    payload: Value,
    /// The nearest process above the call that is the client's.
    started_by: &'static [&'static str],
    expected: (HookKind, &'static str, StartReason, RunMode, bool),
}

impl SampleCall {
    fn check(&self) {
        let event = read(self.agent, self.event, &self.payload, self.started_by);
        let session = event.session.map(|id| id.0).unwrap_or_default();
        let found = (event.kind, session.as_str(), event.start, event.run_mode, event.is_sub_agent);
        assert_eq!((event.agent, found), (self.agent, self.expected), "{} {}", self.agent, self.event);
        assert_eq!(event.folder.as_deref(), Some(Path::new("/p")), "{} {}", self.agent, self.event);
    }
}

#[test]
fn what_clients_send_at_a_start_is_read() {
    let samples = [
        SampleCall {
            agent: "codex",
            event: "SessionStart",
            payload: json!({
                "session_id": "c1", "transcript_path": "/h/.codex/sessions/r.jsonl", "cwd": "/p",
                "hook_event_name": "SessionStart", "model": "gpt-5.5", "permission_mode": "default", "source": "fork",
            }),
            // The interface leaves the work to a server in the background.
            started_by: &["/h/.codex/packages/bin/codex", "app-server", "--listen", "unix://", "--managed-daemon"],
            expected: (SessionStart, "c1", StartReason::Forked, RunMode::Interactive, false),
        },
        SampleCall {
            agent: "gemini-cli",
            event: "SessionStart",
            payload: json!({
                "session_id": "g1", "transcript_path": "/h/.gemini/tmp/p/chats/session-g1.jsonl", "cwd": "/p",
                "hook_event_name": "SessionStart", "timestamp": "2026-11-18T05:34:10.053Z", "source": "clear",
            }),
            started_by: &["/usr/bin/node", "--max-old-space-size=12052", "/usr/bin/gemini", "-m", "x", "--yolo"],
            expected: (SessionStart, "g1", StartReason::Cleared, RunMode::Interactive, false),
        },
        SampleCall {
            agent: "qwen-code",
            event: "SessionStart",
            payload: json!({
                "session_id": "q1", "transcript_path": "/h/.qwen/projects/-p/chats/q1.jsonl", "cwd": "/p",
                "hook_event_name": "SessionStart", "timestamp": "2026-11-18T05:34:21.020Z",
                "permission_mode": "yolo", "source": "startup", "model": "m",
            }),
            started_by: &["node", "/usr/bin/qwen", "--yolo", "-p", "say one"],
            expected: (SessionStart, "q1", StartReason::New, RunMode::Headless, false),
        },
        SampleCall {
            agent: "copilot-cli",
            event: "sessionStart",
            payload: json!({
                "sessionId": "k1", "timestamp": 1_794_980_055_376_u64, "cwd": "/p", "source": "new",
                "initialPrompt": "say two",
            }),
            started_by: &["/lib/copilot-linux-x64/copilot", "--allow-all-tools"],
            expected: (SessionStart, "k1", StartReason::New, RunMode::Interactive, false),
        },
        SampleCall {
            agent: "opencode",
            event: "session.start",
            payload: json!({ "session_id": "ses_1", "cwd": "/p", "agent_id": "ses_1", "source": "startup" }),
            started_by: &["opencode"],
            expected: (SessionStart, "ses_1", StartReason::New, RunMode::Interactive, true),
        },
        SampleCall {
            agent: "pi",
            event: "session_start",
            payload: json!({
                "session_id": "p1", "transcript_path": "/h/.pi/agent/sessions/s.jsonl", "cwd": "/p",
                "is_headless": true, "source": "resume",
            }),
            started_by: &["pi", "", ""],
            expected: (SessionStart, "p1", StartReason::Resumed, RunMode::Headless, false),
        },
        SampleCall {
            agent: "cursor",
            event: "sessionStart",
            payload: json!({
                "conversation_id": "u1", "session_id": "u1", "hook_event_name": "sessionStart",
                "cursor_version": "3.16.0", "workspace_roots": ["/p"], "transcript_path": null,
                "is_background_agent": false,
            }),
            started_by: &["/usr/share/cursor/cursor"],
            expected: (SessionStart, "u1", StartReason::New, RunMode::Interactive, false),
        },
    ];
    samples.iter().for_each(SampleCall::check);
}

#[test]
fn what_clients_send_later_is_read() {
    let samples = [
        SampleCall {
            agent: "copilot-cli",
            event: "agentStop",
            payload: json!({
                "sessionId": "a1", "timestamp": 1, "cwd": "/p", "transcriptPath": "/h/session-state/k1/events.jsonl",
                "stopReason": "end_turn", "agentId": "a1", "parentAgentId": "k1",
            }),
            started_by: &["node", "/usr/bin/copilot", "-p", "delegate"],
            expected: (TurnEnd, "a1", StartReason::Unknown, RunMode::Headless, true),
        },
        SampleCall {
            agent: "codex",
            event: "SessionEnd",
            payload: json!({
                "session_id": "c1", "transcript_path": "/r.jsonl", "cwd": "/p", "hook_event_name": "SessionEnd",
                "reason": "other",
            }),
            started_by: &["/lib/bin/codex", "exec", "--skip-git-repo-check", "say one"],
            expected: (SessionEnd, "c1", StartReason::Unknown, RunMode::Headless, false),
        },
        SampleCall {
            agent: "gemini-cli",
            event: "PreCompress",
            payload: json!({
                "session_id": "g1", "transcript_path": "/s.jsonl", "cwd": "/p", "hook_event_name": "PreCompress",
                "timestamp": "2026-11-18T05:36:40.000Z", "trigger": "manual",
            }),
            started_by: &["node", "/usr/bin/gemini", "--prompt=say one"],
            expected: (BeforeCompaction, "g1", StartReason::Unknown, RunMode::Headless, false),
        },
        SampleCall {
            agent: "windsurf",
            event: "post_cascade_response_with_transcript",
            payload: json!({
                "agent_action_name": "post_cascade_response_with_transcript", "trajectory_id": "w1",
                "tool_info": { "transcript_path": "/h/.windsurf/transcripts/w1.jsonl", "cwd": "/p" },
            }),
            started_by: &["/opt/windsurf/language_server"],
            expected: (TurnEnd, "w1", StartReason::Unknown, RunMode::Interactive, false),
        },
    ];
    samples.iter().for_each(SampleCall::check);
}

#[test]
fn a_variable_that_was_inherited_does_not_hide_an_argument() {
    let vars = [("CLAUDE_CODE_ENTRYPOINT", "cli")];
    let run_mode = |words: &[&str]| read_with_vars("claude-code", "Stop", &json!({}), words, &vars).run_mode;
    assert_eq!(run_mode(&["claude", "-p", "do it"]), RunMode::Headless);
    assert_eq!(run_mode(&["claude", "--resume", "x"]), RunMode::Interactive);
    // Some versions overwrite their command line.
    let vars = [("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")];
    let event = read_with_vars("claude-code", "Stop", &json!({}), &["claude", "", ""], &vars);
    assert_eq!(event.run_mode, RunMode::Headless);
}

#[test]
fn a_prompt_that_is_piped_in_has_nobody_before_it() {
    let run_mode = |agent: &str, words: &[&str], reads_terminal| {
        read_from(agent, "SessionStart", &json!({}), process(words, reads_terminal), &[]).run_mode
    };
    for (agent, words) in [("gemini-cli", ["node", "/usr/bin/gemini"]), ("qwen-code", ["node", "/usr/bin/qwen"])] {
        assert_eq!(run_mode(agent, &words, Some(false)), RunMode::Headless);
        assert_eq!(run_mode(agent, &words, Some(true)), RunMode::Interactive);
        assert_eq!(run_mode(agent, &words, None), RunMode::Interactive, "not every system tells");
    }
}

#[test]
fn an_agent_that_runs_the_hooks_of_another_is_known_by_what_it_sends() {
    let payload = json!({
        "session_id": "u1", "hook_event_name": "sessionStart", "cursor_version": "3.16.0", "workspace_roots": ["/p"],
        "is_background_agent": false,
    });
    let event = read("claude-code", "SessionStart", &payload, &["/usr/share/cursor/cursor"]);
    assert_eq!((event.agent, event.is_through_another), ("cursor", true));
    assert_eq!((event.start, event.run_mode), (StartReason::New, RunMode::Interactive));
}

#[test]
fn two_agents_that_share_a_file_are_told_apart() {
    let in_editor = json!({
        "timestamp": "2026-11-18T05:00:00.000Z", "cwd": "/p", "session_id": "v1", "hook_event_name": "SessionStart",
        "transcript_path": "/h/workspaceStorage/w/GitHub.copilot-chat/transcripts/v1.jsonl", "source": "new",
    });
    let event = read("copilot-cli", "sessionStart", &in_editor, &["/usr/share/code/code"]);
    assert_eq!((event.agent, event.kind, event.start), ("copilot-vscode", SessionStart, StartReason::New));
    // Its own hook is this one, so nothing else tells the same; through a third agent's, it would.
    assert_eq!((event.run_mode, event.is_through_another), (RunMode::Interactive, false));
    let event = read("claude-code", "SessionStart", &in_editor, &["/usr/share/code/code"]);
    assert_eq!((event.agent, event.is_through_another), ("copilot-vscode", true));
    let in_terminal = json!({ "sessionId": "k1", "timestamp": 1, "cwd": "/p", "source": "new" });
    let event = read("copilot-cli", "sessionStart", &in_terminal, &["copilot"]);
    assert_eq!((event.agent, event.is_through_another), ("copilot-cli", false));
    let rendered = |agent: &str| render_own_file(agent).unwrap();
    assert_eq!(rendered("copilot-cli"), rendered("copilot-vscode"));
}

/// The file that is an agent's own, where its hooks are such a file.
fn render_own_file(agent: &str) -> Option<String> {
    let hooks = hooked_agents().find(|facts| facts.id == agent)?.hooks?;
    let HookPlace::OwnFile { render, .. } = hooks.place else { return None };
    Some(render(&OwnHookFile { program: r#"/o'd d"/carryover"#, events: hooks.tables.last()?.events }))
}

#[test]
fn what_is_put_into_files_is_well_formed() {
    for facts in hooked_agents() {
        let hooks = facts.hooks.unwrap();
        for binding in hooks.tables.iter().flat_map(|table| table.events) {
            if let HookPlace::Entries { shape, .. } = hooks.place {
                let entry = shape.entry(facts.id, "/bin/carryover", binding);
                let command = entry.pointer("/hooks/0/command").or_else(|| entry.get("command")).unwrap();
                assert_eq!(*command, json!(format!("/bin/carryover hook {} {}", facts.id, binding.event)));
            }
        }
        match render_own_file(facts.id) {
            Some(text) if text.starts_with('{') => {
                let file: Value = serde_json::from_str(&text).unwrap();
                let command = r#"'/o'\''d d"/carryover' hook copilot-cli sessionEnd"#;
                assert_eq!(file["hooks"]["sessionEnd"][0]["bash"], json!(command));
            }
            Some(source) => {
                assert!(source.contains(r#"const PROGRAM = "/o'd d\"/carryover""#), "{}", facts.id);
                let told = |binding: &HookBinding| source.contains(&format!("\"{}\"", binding.event));
                assert!(hooks.tables.last().unwrap().events.iter().all(told), "{}", facts.id);
            }
            None => {}
        }
    }
}

#[test]
fn each_agent_gets_words_in_its_own_form() {
    let printed = |agent: &str, event: &str| {
        let hooks = hooked_agents().find(|facts| facts.id == agent).unwrap().hooks.unwrap();
        hooks.injection.render(event, "Words")
    };
    let nested = r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Words"}}"#;
    assert_eq!(printed("gemini-cli", "SessionStart").as_deref(), Some(nested));
    let both = format!(r#"{{"additionalContext":"Words",{}"#, &nested[1..]);
    assert_eq!(printed("copilot-cli", "sessionStart"), Some(both));
    assert_eq!(printed("cursor", "sessionStart").as_deref(), Some(r#"{"additional_context":"Words"}"#));
    assert_eq!(printed("pi", "session_start").as_deref(), Some("Words"));
    assert_eq!(printed("windsurf", "pre_user_prompt"), None);
}
