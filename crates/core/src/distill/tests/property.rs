use proptest::prelude::*;

use super::telling::{Telling, at, telling};
use crate::transcript::StepState;

/// Words that meet the extractors' conditions, and what no writer thinks of.
const SCRAPS: &[&str] = &[
    "we decided to use X because Y. ",
    "next, I'll do it. ",
    "? ",
    "!?…\"). ",
    "\n- [ ] ",
    "\n## Next steps\n",
    "```\n",
    "<system-reminder>",
    "</system-reminder>",
    "<a-b>",
    "</",
    "<",
    "`",
    "# ",
    "TODO ",
    "// FIXME: x\n",
    "é漢字🦀",
    "\u{1b}[31m",
    "\u{1b}]0;",
    "we decided to use \u{9b}31mX\u{202e} because \u{1b}[2JY. ",
    "should we use \u{9b}31mX\u{202e}?",
    "\u{2028}",
    "\r\n",
    "\t",
    "://",
    "http://",
    "#12",
    "AB-12",
    "error: ",
    "Traceback (most recent call last):\n",
    "test result: ok. 99999999999999999999999 passed; ",
    "Ran 3 tests in",
    "cat > a <<EOF\n",
    "rm a.b && ",
    "cd /x; ",
    "' \" ",
    "\\",
    "| tail",
    "> out.txt ",
    "=",
    "option 2",
    "yes",
    "1. ",
    "e.g. ",
    "at f (a:1)\n",
    "2026-11-14 02:00:01 ",
    "git commit -m \"",
    "fn f() { ",
    "class A:\n",
    "\0",
    "we are 重构ing the ",
    "i.e. ",
    "i.i.i.e.e.e.",
    "that's that. ",
    ", as it ",
    " so I ",
    ": ",
    " — ",
    " -> ",
    "don't—é x- ",
    "“",
    "…",
    "--------",
    ", next task ",
];

fn text() -> impl Strategy<Value = String> {
    let scrap = prop_oneof![
        4 => proptest::sample::select(SCRAPS).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    proptest::collection::vec(scrap, 0..24).prop_map(|scraps| scraps.concat())
}

fn told() -> impl Strategy<Value = Telling> {
    let step = (0..12_u8, text(), text());
    proptest::collection::vec(step, 0..14).prop_map(|steps| {
        steps.into_iter().fold(telling(), |told, (kind, one, other)| match kind {
            0 | 1 => told.user(&one),
            2 | 3 => told.agent(&one),
            4 => told.run(&one, 0, &other),
            5 => told.run(&one, 1, &other),
            6 => told.write(&format!("/p/{one}.rs"), &other),
            7 => told.edit("/p/a.py", &one, &other, 0).file("/p/a.py", Some(at(3)), Some(&other)),
            8 => told.plan(&[(&one, StepState::InProgress), (&other, StepState::Done)]),
            9 => told.summary(&one),
            10 => told.running(&one),
            _ => told.limit(&one),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_story_has_one_brief(told in told()) {
        let brief = told.brief();
        prop_assert_eq!(serde_json::to_string(&brief).unwrap(), serde_json::to_string(&told.brief()).unwrap());
        let items = brief.task.iter().chain(&brief.next).chain(&brief.questions).chain(&brief.blockers).chain(&brief.done);
        for item in items.chain(brief.decisions.iter().map(|decision| &decision.what)) {
            prop_assert!(!item.cites.is_empty());
            prop_assert!(!item.text.contains('\n') && item.text.chars().count() <= 1501);
        }
        // What is told goes to terminals.
        let words = [&brief.requests, &brief.remarks, &brief.action_items, &brief.references, &brief.remaining];
        let reasons = brief.decisions.iter().filter_map(|decision| decision.reason.as_deref());
        let items = [&brief.in_progress, &brief.done, &brief.questions, &brief.blockers].into_iter().chain(words).flatten();
        let items = items.chain(&brief.task).chain(&brief.next).chain(brief.decisions.iter().map(|decision| &decision.what));
        for text in items.map(|item| item.text.as_str()).chain(reasons) {
            prop_assert_eq!(crate::plain::plain(text), text);
        }
    }
}

#[test]
fn huge_lines_are_borne() {
    let long = "we decided x ".repeat(200_000);
    let tags = "<a-b><c-d>".repeat(50_000);
    let open = "`".repeat(300_000);
    let brief = telling()
        .user(&long)
        .user(&tags)
        .agent(&open)
        .run(&long, 1, &long)
        .write("/p/a.rs", &"{".repeat(600_000))
        .write("/p/b.rs", &"(".repeat(100_000))
        .brief();
    assert!(brief.task.is_some());
}
