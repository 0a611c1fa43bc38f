use proptest::prelude::*;
use serde_json::json;

use super::*;

fn wanted(program: &str, events: &[&'static str], file_version: Option<u32>) -> WantedEntries<'static> {
    let entry = |event: &&'static str| {
        let command = format!("{program} hook alpha {event}");
        let entry = match file_version {
            Some(_) => json!({ "command": command }),
            None => json!({ "hooks": [{ "type": "command", "command": command, "timeout": 10 }] }),
        };
        (*event, entry)
    };
    WantedEntries { agent: "alpha", file_version, entries: events.iter().map(entry).collect() }
}

fn put(text: &str, wanted: &WantedEntries<'_>) -> (String, MadeMembers) {
    let mut made = MadeMembers::default();
    let put = put_entries(text, wanted, &mut made).unwrap();
    (put, made)
}

/// The events for which a file holds entries of ours.
fn list_our_events(text: &str) -> Vec<String> {
    let document = Document::parse(split_mark(text).1).unwrap();
    document.our_places("alpha").into_iter().map(|place| place.event).collect()
}

/// Put in, put in again, taken out: the second changes nothing, and the last gives back every byte.
fn check_inverse(text: &str, wanted: &WantedEntries<'_>) {
    let (with, mut made) = put(text, wanted);
    let once = made.clone();
    assert_eq!(put_entries(&with, wanted, &mut made).unwrap(), with, "twice, from {text:?}");
    assert_eq!(made, once, "{text:?}");
    let mut events = list_our_events(&with);
    let mut expected: Vec<&str> = wanted.entries.iter().map(|(event, _)| *event).collect();
    events.sort();
    expected.sort_unstable();
    assert_eq!(events, expected, "{text:?} became {with}");
    assert_eq!(remove_entries(&with, "alpha", &made).unwrap(), text, "by way of {with}");
}

const FILES: &[&str] = &[
    "",
    "\n",
    "\u{feff}",
    "// nothing yet",
    "/* nothing\n yet */\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{\r\n}\r\n",
    "\u{feff}{\r\n\t\"model\": \"x\"\r\n}\r\n",
    "{ // mine\n}",
    "{ /* mine */ }",
    "{\n  // mine\n}",
    r#"{"model":"x"}"#,
    r#"{"model":"x","hooks":{}}"#,
    r#"{"hooks":{"Stop":[]}}"#,
    r#"{"hooks": { "Stop": [ {"hooks": [{"type": "command", "command": "say done"}]} ] } }"#,
    "{ \"model\": \"x\" // mine\n}",
    "{ \"model\": \"x\", // mine, all mine\n}",
    "{\n    \"model\": \"x\", // mine\n    /* , */\n    \"env\": {},\n}\n",
    "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [] }, // first\n      // then\n    ],\n  },\n}\n",
    "{\n  \"a\": 1\n  ,\"b\": 2\n}\n",
    "{\n  \"hooks\": {\n    \"Other\": \"not a list\",\n    \"Stop\": [\n\n    ]\n  }\n}",
    "{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \"Bash\",\n\t\t\t\t\"hooks\": [{ \"type\": \"command\", \"command\": \"x\" }]\n\t\t\t}\n\t\t]\n\t},\n\t\"permissions\": { \"allow\": [\"Bash(ls:*)\"] }\n}\n",
    r#"{"größe":"ä","hooks":{"Stop":[{"command":"é"}]}}"#,
];

#[test]
fn what_is_put_in_is_taken_out_without_a_trace() {
    for text in FILES {
        check_inverse(text, &wanted("/usr/bin/carryover", &["SessionStart", "Stop"], None));
        check_inverse(text, &wanted("'/my tools/carryover'", &["SessionStart", "Stop"], Some(1)));
    }
}

#[test]
fn entries_stand_as_a_person_would_have_written_them() {
    let text = "{\n    // the good one\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"Stop\": [\n            { \"hooks\": [] } // mine\n        ]\n    }\n}\n";
    insta::assert_snapshot!(put(text, &wanted("/bin/carryover", &["SessionStart", "Stop"], None)).0, @r#"
    {
        // the good one
        "model": "opus",
        "hooks": {
            "Stop": [
                { "hooks": [] }, // mine
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "/bin/carryover hook alpha Stop",
                            "timeout": 10
                        }
                    ]
                }
            ],
            "SessionStart": [
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": "/bin/carryover hook alpha SessionStart",
                            "timeout": 10
                        }
                    ]
                }
            ]
        }
    }
    "#);
    insta::assert_snapshot!(put("", &wanted("/bin/carryover", &["stop"], Some(1))).0, @r#"
    {
      "version": 1,
      "hooks": {
        "stop": [
          {
            "command": "/bin/carryover hook alpha stop"
          }
        ]
      }
    }
    "#);
    let one_line = put(r#"{"a":1}"#, &wanted("/bin/carryover", &["stop"], Some(1))).0;
    assert_eq!(one_line, r#"{"a":1, "version": 1, "hooks": {"stop": [{"command":"/bin/carryover hook alpha stop"}]}}"#);
}

#[test]
fn a_moved_program_and_other_events_are_written_anew_and_never_doubled() {
    for text in FILES {
        let (first, mut made) = put(text, &wanted("/old/carryover", &["SessionStart", "Stop"], None));
        let moved = wanted("'/a b/carryover'", &["Stop", "SessionEnd"], None);
        let second = put_entries(&first, &moved, &mut made).unwrap();
        assert!(!second.contains("/old/"), "{second}");
        let mut events = list_our_events(&second);
        events.sort();
        assert_eq!(events, ["SessionEnd", "Stop"], "{second}");
        assert_eq!(remove_entries(&second, "alpha", &made).unwrap(), *text, "{second}");
    }
}

#[test]
fn only_what_is_ours_goes_from_a_file_that_others_changed() {
    let (text, made) = put("{}", &wanted("/bin/carryover", &["Stop"], None));
    // Somebody put a hook into our group, another event beside ours, and a setting behind all.
    let text = text
        .replace("\"hooks\": [\n", "\"hooks\": [\n          { \"type\": \"command\", \"command\": \"say done\" },\n");
    let text = text.replace("    \"Stop\": [", "    \"Other\": [{}],\n    \"Stop\": [");
    insta::assert_snapshot!(remove_entries(&text, "alpha", &made).unwrap(), @r#"
    {
      "hooks": {
        "Other": [{}],
        "Stop": [
          {
            "hooks": [
              { "type": "command", "command": "say done" }
            ]
          }
        ]
      }
    }
    "#);
    let compact =
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/bin/carryover hook alpha Stop"}]},{"x":1}]}}"#;
    assert_eq!(remove_entries(compact, "alpha", &made).unwrap(), r#"{"hooks":{"Stop":[{"x":1}]}}"#);
}

#[test]
fn commands_of_others_are_not_ours() {
    for command in [
        "/bin/carryover hook alpha Stop",
        "'/a b/carryover' hook alpha E",
        r#""C:\x\carryover.exe" hook alpha E"#,
        "carryover hook alpha E",
    ] {
        assert!(is_our_command(command, "alpha"), "{command}");
    }
    for command in [
        "/bin/carryover hook beta Stop",
        "/bin/mycarryover hook alpha E",
        "carryover hooks alpha E",
        "carryover hook alpha",
        "echo",
        "",
    ] {
        assert!(!is_our_command(command, "alpha"), "{command}");
    }
}

#[test]
fn a_file_that_is_not_as_it_should_be_is_refused_with_its_place() {
    let refusals: Vec<String> = [
        "{\n  \"a\": 1\n  \"b\": 2\n}",
        "{ 'a': 1 }",
        "[]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": {}}}",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{\"hooks\": {\"Stop\": [],\n \"Stop\": []}}",
        "{\"version\": 2}",
        "{\"a\": 1} x",
        "{\"a\": ",
    ]
    .into_iter()
    .map(|text| {
        put_entries(text, &wanted("carryover", &["Stop"], Some(1)), &mut MadeMembers::default())
            .unwrap_err()
            .to_string()
    })
    .collect();
    insta::assert_snapshot!(refusals.join("\n"), @"
    line 2, column 9: this is not JSON: expected comma
    line 1, column 3: this is not JSON: single-quoted strings are not allowed
    line 1, column 1: the file does not hold an object
    line 1, column 11: `hooks` is not an object
    line 1, column 20: `Stop` is not an array
    line 1, column 15: `hooks` is there twice
    line 2, column 2: `Stop` is there twice
    line 1, column 13: the file is of version 2, and hooks are known for version 1 only
    line 1, column 10: this is not JSON: text cannot contain more than one JSON value
    line 1, column 7: this is not JSON: expected value after colon in object property
    ");
    let deep = "[".repeat(100_000);
    assert!(put_entries(&deep, &wanted("carryover", &["Stop"], None), &mut MadeMembers::default()).is_err());
}

/// Blanks and comments, as people leave them.
fn blanks() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec!["", " ", "\n", "\r\n", "\t", "/* , */", "// ], }\n", "\n\n  "]);
    prop::collection::vec(piece, 0..3).prop_map(|pieces| pieces.concat())
}

/// Members between brackets, with whatever may stand around them.
fn members(open: char, close: char, member: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let spaced = (blanks(), member, blanks()).prop_map(|(before, member, after)| format!("{before}{member}{after}"));
    (prop::collection::vec(spaced, 0..4), blanks(), any::<bool>()).prop_map(move |(members, blank, has_comma)| {
        let comma = if has_comma && !members.is_empty() { "," } else { "" };
        format!("{open}{}{comma}{blank}{close}", members.join(","))
    })
}

fn entry() -> BoxedStrategy<String> {
    prop::sample::select(vec![
        "{}",
        "{\"hooks\": []}",
        "{\"command\": \"x\"}",
        "1",
        "{ \"hooks\": [ {\"command\": \"y, z\"} ] }",
    ])
    .prop_map(str::to_owned)
    .boxed()
}

/// A property with one of the keys that matter, or with another; keys are made single afterwards.
fn object(keys: &'static [&'static str], value: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let parts = (blanks(), blanks(), value, blanks()).prop_map(|(a, b, value, c)| (a, format!("{b}:{c}{value}")));
    (
        prop::collection::vec(parts, 0..=keys.len()),
        Just(keys.to_vec()).prop_shuffle(),
        blanks(),
        blanks(),
        any::<bool>(),
    )
        .prop_map(|(parts, keys, inner, after, has_comma)| {
            let comma = if has_comma && !parts.is_empty() { "," } else { "" };
            let properties =
                parts.iter().zip(keys).map(|((before, rest), key)| format!("{before}\"{key}\"{rest}{after}"));
            format!("{{{}{comma}{inner}}}", properties.collect::<Vec<_>>().join(","))
        })
}

fn file() -> impl Strategy<Value = String> {
    let events = object(&["Stop", "SessionStart", "Other"], members('[', ']', entry()).boxed());
    let with_hooks = (blanks(), events, blanks(), blanks(), blanks())
        .prop_map(|(a, hooks, b, c, d)| format!("{{{a}\"model\": \"x\"{b},{c}\"hooks\"{d}:{hooks}}}"));
    let without = object(&["model", "env"], Just("{}".to_owned()).boxed());
    (blanks(), prop_oneof![with_hooks, without], blanks()).prop_map(|(a, root, b)| format!("{a}{root}{b}"))
}

proptest! {
    #[test]
    fn any_file_is_given_back_as_it_was(text in file()) {
        check_inverse(&text, &wanted("/usr/bin/carryover", &["SessionStart", "Stop"], None));
        check_inverse(&text, &wanted("/usr/bin/carryover", &["Stop"], Some(1)));
    }
}
