//! Windsurf: an editor that does not run here, and the transcripts that its hook has it write.

use crate::lab::{
    BenchPlace, ClientLab, ConformanceLab, ExpectedReading, Format, Lab, LineFormat, LooseFile, Sample, SessionPlace,
};

pub(super) static LAB: Lab = Lab {
    id: "windsurf",
    name: "Windsurf",
    client: ClientLab::NOT_RUN,
    conformance: ConformanceLab::lossless(SessionPlace::Folders(&[".windsurf/transcripts"])),
    sample: SAMPLE,
    other_forms: &[],
    readings: &[ExpectedReading {
        fixture: "documented.jsonl",
        tokens: "nothing",
        start_settings: "",
        messages: "3 messages in 1 prompts and 2 pieces of replies",
    }],
    loose_files: &[LooseFile::from_jsonl("documented.jsonl")],
    bench: BenchPlace::Lines(".windsurf/transcripts/{ID}.jsonl"),
};

const SAMPLE: Sample = Sample {
    root: ".windsurf",
    root_variable: None,
    file: "transcripts/00000000-0000-4000-8000-000000000001.jsonl",
    format: Format::Lines(LineFormat {
        start_lines: &[],
        exchange: &[
            r#"{"status":"done","type":"user_input","user_input":{"user_response":"{FILL}"}}"#,
            r#"{"planner_response":{"response":"Done."},"status":"done","type":"planner_response"}"#,
        ],
        renames: &[
            (r#""type":"user_input""#, r#""type":"human""#),
            (r#""type":"planner_response""#, r#""type":"model""#),
        ],
        without_words: &[r#"{"status":"done","type":"user_input","user_input":{"words":"NEVER"}}"#],
    }),
    other_files: &[],
    companions: &[],
};
