//! Holds the estimate against the count by the vocabulary, kind by kind, on texts that are shipped here or made here.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::{estimate, estimate_within};

/// How far the estimate may be off, in hundredths of the count, for all but the outermost twentieths of a kind.
const LOWEST_ERROR_PERCENT: f64 = -10.0;
const HIGHEST_ERROR_PERCENT: f64 = 25.0;

/// How many pieces of a kind are made, and how many bytes each has at least.
const PIECES_PER_KIND: u64 = 24;
const PIECE_BYTES: usize = 5_000;

/// One kind of text and its pieces.
struct Kind {
    name: &'static str,
    pieces: Vec<String>,
}

#[test]
fn estimates_are_near_the_count_for_every_kind_of_text() {
    let missed: Vec<String> = all_kinds().iter().filter_map(describe_miss).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn no_text_is_no_token() {
    assert_eq!(estimate(""), 0);
    assert_eq!(estimate_within("", 0), Some(0));
}

#[test]
fn a_long_row_is_never_free() {
    for row in ["a", "A", "1", " ", "\n", "-", "─", "é", "я", "漢", "x1"] {
        assert!(estimate(&row.repeat(100_000)) > 400, "{row:?}");
    }
}

proptest! {
    #[test]
    fn an_estimate_within_a_limit_is_the_estimate(text in "\\PC{0,200}|[ -~\n]{0,200}") {
        let whole = estimate(&text);
        prop_assert_eq!(estimate_within(&text, whole), Some(whole));
        prop_assert_eq!(whole.checked_sub(1).and_then(|less| estimate_within(&text, less)), None);
    }

    #[test]
    fn a_longer_text_is_never_fewer_tokens(text in "\\PC{0,100}", more in "\\PC{0,100}") {
        let longer = estimate(&[text.as_str(), &more].concat());
        prop_assert!(longer >= estimate(&text));
    }

    #[test]
    fn lines_sum_up_to_the_text(lines in prop::collection::vec("[ -~]{20,80}\n", 1..50)) {
        let sum: u64 = lines.iter().map(|line| estimate(line)).sum();
        // Each piece is rounded up on its own.
        prop_assert!(sum.abs_diff(estimate(&lines.concat())) <= lines.len() as u64);
    }
}

/// Describes how far a kind is off, where it is off too far.
fn describe_miss(kind: &Kind) -> Option<String> {
    let mut errors: Vec<f64> = kind.pieces.iter().map(|piece| error_of(piece)).collect();
    errors.sort_by(f64::total_cmp);
    let outer = errors.len() / 20;
    let (low, high) = (errors[outer], errors[errors.len() - 1 - outer]);
    (low < LOWEST_ERROR_PERCENT || high > HIGHEST_ERROR_PERCENT)
        .then(|| format!("{}: {low:.1} % to {high:.1} %", kind.name))
}

/// The error of an estimate in hundredths of the count.
#[expect(clippy::cast_precision_loss, reason = "the counts are small")]
fn error_of(text: &str) -> f64 {
    let exact = o200k::o200k_base().count(text) as f64;
    (estimate(text) as f64 / exact - 1.0) * 100.0
}

fn all_kinds() -> Vec<Kind> {
    [shipped_kinds(), repository_kinds(), made_kinds()].into_iter().flatten().collect()
}

/// Prose and code that were written for this test.
fn shipped_kinds() -> Vec<Kind> {
    macro_rules! samples {
        ($($name:literal),* $(,)?) => {
            vec![$(Kind { name: $name, pieces: vec![include_str!(concat!("samples/", $name, ".txt")).to_owned()] }),*]
        };
    }
    samples![
        "english",
        "german",
        "french",
        "spanish",
        "czech",
        "russian",
        "greek",
        "arabic",
        "hebrew",
        "hindi",
        "chinese",
        "japanese",
        "korean",
        "python",
        "typescript",
        "go",
        "c",
        "html",
    ]
}

/// Files of the repository itself.
fn repository_kinds() -> Vec<Kind> {
    let rust = [include_str!("../estimate.rs"), include_str!("../mod.rs"), include_str!("tests.rs")];
    let markdown = [
        include_str!("../../../../../docs/architecture.md"),
        include_str!("../../../../../docs/configuration.md"),
        include_str!("../../../../../README.md"),
    ];
    let tables = [include_str!("../../../../../docs/agents.md"), include_str!("../../../../../docs/conformance.md")];
    let json = [
        include_str!("../../../../../docs/schemas/brief.schema.json"),
        include_str!("../../../../../docs/schemas/config.schema.json"),
    ];
    let compact = json.map(|text| serde_json::from_str::<serde_json::Value>(text).unwrap().to_string());
    vec![
        Kind { name: "rust", pieces: rust.map(str::to_owned).into() },
        Kind { name: "markdown", pieces: markdown.map(str::to_owned).into() },
        Kind { name: "tables", pieces: tables.map(str::to_owned).into() },
        Kind { name: "pretty json", pieces: json.map(str::to_owned).into() },
        Kind { name: "compact json", pieces: compact.into() },
        Kind { name: "diff", pieces: rust.map(make_diff).into() },
    ]
}

/// Every line of a text as if a third of it had been added and a third taken away.
fn make_diff(text: &str) -> String {
    let mut diff = "diff --git a/src/tokens.rs b/src/tokens.rs\nindex 3f2a91c..b07d4e8 100644\n".to_owned();
    for (n_line, line) in text.lines().enumerate() {
        if n_line % 12 == 0 {
            let _ = writeln!(diff, "@@ -{n_line},12 +{},14 @@", n_line + 2);
        }
        let _ = writeln!(diff, "{}{line}", ['+', '-', ' '][n_line % 3]);
    }
    diff
}

type MakeLine = fn(&mut Dice) -> String;

/// Output of programs, made line by line.
fn made_kinds() -> Vec<Kind> {
    let makers: [(&'static str, MakeLine); 16] = [
        ("hex", |dice| dice.pick_letters("0123456789abcdef", 64)),
        ("base64", |dice| dice.pick_letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 76)),
        ("uuids", make_uuid),
        ("log", make_log_line),
        ("trace in python", make_python_frame),
        ("trace in rust", make_rust_frame),
        ("json lines", make_json_line),
        ("table of numbers", |dice| {
            let cells: Vec<String> = (0..6).map(|_| format!("{:>8}", dice.roll(100_000))).collect();
            format!("| {} |", cells.join(" | "))
        }),
        ("rulers", |dice| {
            let length = 20 + dice.roll_index(100);
            format!("{}\n{}", dice.pick(&["-", "=", "*", "#", " ", "~"]).repeat(length), dice.pick(&WORDS))
        }),
        ("boxes", |dice| {
            let line = "─".repeat(10 + dice.roll_index(40));
            format!("┌{line}┐\n│ {} {} │\n└{line}┘", dice.pick(&WORDS), dice.pick(&WORDS))
        }),
        ("columns", |dice| {
            let width = 20 + dice.roll_index(30);
            format!("{:<width$}{:>10}  {}", dice.pick(&WORDS), dice.roll(9_999), dice.pick(&WORDS))
        }),
        ("paths", make_path),
        ("urls", |dice| {
            let host = dice.pick(&["example.org", "docs.example.com", "git.example.net"]);
            format!(
                "https://{host}{}?page={}&sort={}#L{}",
                make_path(dice),
                dice.roll(50),
                dice.pick(&WORDS),
                dice.roll(900)
            )
        }),
        ("emoji", |dice| {
            let emoji =
                ["😀", "🔥", "✅", "❌", "🚀", "🎉", "⚠️", "💡", "📝", "🐛", "✨", "🔧", "📦", "👍", "🦀", "🧪"];
            (0..8).map(|_| dice.pick(&emoji)).collect()
        }),
        ("integers", |dice| {
            let bound = 10_u64.pow(1 + u32::try_from(dice.roll(9)).unwrap());
            dice.roll(bound).to_string()
        }),
        ("decimals", |dice| {
            let cells: Vec<String> = (0..8).map(|_| format!("{}.{:03}", dice.roll(500), dice.roll(1_000))).collect();
            cells.join(", ")
        }),
    ];
    makers
        .map(|(name, make)| Kind { name, pieces: (0..PIECES_PER_KIND).map(|seed| make_piece(seed, make)).collect() })
        .into()
}

fn make_piece(seed: u64, make_line: MakeLine) -> String {
    let mut dice = Dice(seed);
    let mut piece = String::new();
    while piece.len() < PIECE_BYTES {
        piece += &make_line(&mut dice);
        piece.push('\n');
    }
    piece
}

fn make_uuid(dice: &mut Dice) -> String {
    [8, 4, 4, 4, 12].map(|length| dice.pick_letters("0123456789abcdef", length)).join("-")
}

fn make_log_line(dice: &mut Dice) -> String {
    format!(
        "2026-03-{:02}T{:02}:{:02}:{:02}.{:03}Z {} [worker-{}] {}::{}: {} {} took {} ms",
        1 + dice.roll(28),
        dice.roll(24),
        dice.roll(60),
        dice.roll(60),
        dice.roll(1_000),
        dice.pick(&["INFO", "WARN", "DEBUG", "ERROR"]),
        dice.roll(16),
        dice.pick(&WORDS),
        dice.pick(&WORDS),
        dice.pick(&["opened", "could not read", "retried", "finished"]),
        make_path(dice),
        dice.roll(5_000),
    )
}

fn make_python_frame(dice: &mut Dice) -> String {
    let (line, name) = (dice.roll(900), dice.pick(&WORDS));
    format!("  File \"{}.py\", line {line}, in {name}\n    return self.{name}({})", make_path(dice), dice.pick(&WORDS))
}

fn make_rust_frame(dice: &mut Dice) -> String {
    let (number, line) = (dice.roll(60), dice.roll(900));
    let (module, name) = (dice.pick(&WORDS), dice.pick(&WORDS));
    format!("{number:>4}: {module}::{name}\n             at {}.rs:{line}:{}", make_path(dice), dice.roll(80))
}

fn make_json_line(dice: &mut Dice) -> String {
    serde_json::json!({
        "type": dice.pick(&["user", "assistant", "tool_result"]),
        "uuid": make_uuid(dice),
        "sessionId": make_uuid(dice),
        "timestamp": format!("2026-03-04T{:02}:{:02}:17.345Z", dice.roll(24), dice.roll(60)),
        "message": { "content": [{ "type": "text", "text": format!("Read {} and {} it", make_path(dice), dice.pick(&WORDS)) }] },
        "usage": { "input_tokens": dice.roll(90_000), "output_tokens": dice.roll(2_000) },
    })
    .to_string()
}

fn make_path(dice: &mut Dice) -> String {
    (0..3 + dice.roll(4)).flat_map(|_| ["/", dice.pick(&WORDS)]).collect()
}

/// Names as they occur in code.
const WORDS: [&str; 24] = [
    "src",
    "parse_header",
    "index",
    "node_modules",
    "SessionStore",
    "readLine",
    "tests",
    "config",
    "target",
    "release",
    "token_count",
    "HttpRequest",
    "lib",
    "main",
    "transcript",
    "apply_patch",
    "getUserById",
    "utils",
    "build",
    "home",
    "workspace",
    "render",
    "MAX_SIZE",
    "docs",
];

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn roll_index(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll(bound as u64)).unwrap()
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.roll_index(words.len())]
    }

    fn pick_letters(&mut self, letters: &str, count: usize) -> String {
        (0..count).map(|_| char::from(letters.as_bytes()[self.roll_index(letters.len())])).collect()
    }
}
