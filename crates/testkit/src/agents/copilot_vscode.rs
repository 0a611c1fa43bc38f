//! Copilot in VS Code: an editor that no test runs, and the sessions that it keeps.

mod forms;

use crate::lab::{
    BenchPlace, ClientLab, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Sample, SessionPlace,
};

pub(super) static LAB: Lab = Lab {
    id: "copilot-vscode",
    name: "Copilot in VS Code",
    client: ClientLab::NOT_RUN,
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".config/Code/User/workspaceStorage"])),
    sample: SAMPLE,
    other_forms: forms::OTHERS,
    readings: &[
        ExpectedReading {
            fixture: "1.139.1-compacted.jsonl",
            tokens: "618 in (0 from cache), 25 out (0 thought), fake-1, customendpoint/Fake/fake-1",
            start_settings: r#"{"permission_mode":"agent"}"#,
            messages: "5 messages in 3 prompts and 4 pieces of replies",
        },
        ExpectedReading {
            fixture: "1.139.1-tools.jsonl",
            tokens: "202 in (0 from cache), 15 out (0 thought), fake-1",
            start_settings: r#"{"permission_mode":"agent"}"#,
            messages: "2 messages in 1 prompts and 2 pieces of replies",
        },
        ExpectedReading {
            fixture: "agent.jsonl",
            tokens: "2100 in (0 from cache), 120 out (0 thought), gpt-5-mini",
            start_settings: r#"{"permission_mode":"agent"}"#,
            messages: "7 messages in 5 prompts and 5 pieces of replies",
        },
        ExpectedReading {
            fixture: "v2.json",
            tokens: "nothing",
            start_settings: "",
            messages: "2 messages in 2 prompts and 2 pieces of replies",
        },
        ExpectedReading {
            fixture: "v1.json",
            tokens: "nothing",
            start_settings: "",
            messages: "7 messages in 4 prompts and 3 pieces of replies",
        },
    ],
    loose_files: &[LooseFile::from_jsonl("1.139.1-tools.jsonl"), LooseFile::from_json("v3.json")],
    bench: BenchPlace::Lines(".config/Code/User/workspaceStorage/p/chatSessions/{ID}.jsonl"),
};

pub(super) use forms::BENCH_INDEX;

const SAMPLE: Sample = Sample {
    root: ".config/Code/User",
    root_variable: None,
    file: "workspaceStorage/p/chatSessions/00000000-0000-4000-8000-000000000001.jsonl",
    format: Format::Lines(LOG),
    other_files: &[".config/Code/User/workspaceStorage/p/workspace.json"],
    companions: &[],
};

const LOG: LineFormat = LineFormat {
    start_lines: &[
        r#"{"kind":0,"v":{"version":3,"creationDate":1794700000000,"initialLocation":"panel","responderUsername":"GitHub Copilot","sessionId":"00000000-0000-4000-8000-000000000001","requests":[]}}"#,
    ],
    exchange: &[
        r#"{"kind":2,"k":["requests"],"v":[{"requestId":"request_1","timestamp":1794700001000,"message":{"text":"{FILL}","parts":[]},"variableData":{"variables":[]},"response":[],"modelState":{"value":0}}]}"#,
        r#"{"kind":2,"k":["requests",0,"response"],"v":[{"value":"Done."}]}"#,
    ],
    renames: &[(r#"{"kind":2"#, r#"{"kind":"push""#)],
    without_words: &[
        r#"{"kind":2,"k":["requests"],"v":[{"requestId":"request_9","message":{"words":"NEVER"}}]}"#,
        r#"{"kind":2,"k":["requests"],"v":[{"requestId":"request_9","words":"NEVER"}]}"#,
    ],
};
