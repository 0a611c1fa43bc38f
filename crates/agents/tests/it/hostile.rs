//! Input that no client would write. Nothing of it may cost more than its own record.

use carryover_agents::Agent;
use carryover_core::live;
use carryover_testkit::agents::find_lab;
use carryover_testkit::lab::StoreForm;
use proptest::prelude::*;

use crate::support::{agents_and_forms, read, store};

/// Reads damage and a prompt after it.
fn survives(agent: &dyn Agent, form: StoreForm, name: &str, damage: &[u8]) {
    let made = store(form, &[damage, form.sample.prompt_record("still here").as_bytes()]);
    let transcript = read(agent, &made.path);
    let alive = live::resolve_context(&transcript);
    assert!(!alive.is_empty(), "{name}: the prompt after the damage is lost");
    assert!(transcript.entries.len() > form.sample.start_records(), "{name}: a record was dropped");
}

#[test]
fn a_bad_record_costs_one_record() {
    let deep = format!("{{\"type\":\"user\",\"message\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_object = format!("{}1{}", "{\"a\":".repeat(50_000), "}".repeat(50_000));
    let damages: [&[u8]; 8] = [
        b"not json",
        b"\0\0\0\0",
        b"{\"type\":\"user\",\"message\":{\"content\":\"\xff\xfe\"}}",
        b"[1,2,3]",
        b"null",
        b"{\"type\":",
        deep.as_bytes(),
        deep_object.as_bytes(),
    ];
    for (agent, form, name) in agents_and_forms() {
        for damage in damages {
            survives(agent, form, &name, damage);
        }
    }
}

#[test]
fn a_line_of_a_hundred_megabytes_is_passed_over() {
    let long = vec![b'x'; 100 << 20];
    // What is kept in one value of a row is too long as a whole then.
    for (agent, form, name) in agents_and_forms().filter(|(_, form, _)| !form.is_one_value) {
        survives(agent, form, &name, &long);
    }
}

#[test]
fn cycles_and_duplicates_end() {
    let line = |uuid: &str, parent: &str, text: &str| {
        format!(
            r#"{{"parentUuid":"{parent}","type":"user","message":{{"role":"user","content":"{text}"}},"uuid":"{uuid}","timestamp":"1969-01-01T00:00:00.000Z"}}"#
        )
    };
    let agent = carryover_agents::agent_by_name("claude-code").unwrap();
    let lines = [line("a", "b", "one"), line("b", "a", "two"), line("b", "b", "twice"), line("c", "nowhere", "three")];
    let lines: Vec<&[u8]> = lines.iter().map(String::as_bytes).collect();
    let made = store(find_lab("claude-code").unwrap().forms().next().unwrap(), &lines);
    let transcript = read(agent, &made.path);
    // The unknown parent is bridged to the record before; the cycle above it is walked once.
    assert_eq!(live::resolve_context(&transcript).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_a_reader_panic(damage in prop::collection::vec(any::<u8>(), 0..300)) {
        let damage: Vec<u8> = damage.into_iter().filter(|byte| *byte != b'\n').collect();
        for (agent, form, name) in agents_and_forms() {
            survives(agent, form, &name, &damage);
        }
    }
}
