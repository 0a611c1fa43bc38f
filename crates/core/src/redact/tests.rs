use proptest::prelude::*;

use super::*;

#[track_caller]
fn assert_masked(text: &str, want: &str) {
    assert_eq!(redact_text(text), want);
}

#[track_caller]
fn assert_unmasked(text: &str) {
    assert_eq!(redact_text(text), text);
}

#[test]
fn every_rule_compiles() {
    let broken: Vec<&str> =
        RuleSet::get().all_rules().iter().filter(|rule| rule.regex().is_none()).map(Rule::kind).collect();
    assert_eq!(broken, Vec::<&str>::new());
    assert!(RuleSet::get().all_rules().len() > 200);
}

/// An example as it would stand in a session, and the secrets that are marked in it.
fn parse_example(marked: &str) -> (String, Vec<Range<usize>>) {
    let (mut text, mut secrets) = (String::new(), Vec::new());
    for next in marked.strip_prefix('\n').unwrap_or(marked).chars() {
        match next {
            '«' => secrets.push(text.len()..text.len()),
            '»' => secrets.last_mut().unwrap().end = text.len(),
            '·' => {}
            // A text that has such quotes itself.
            '⟪' => text.push('«'),
            '⟫' => text.push('»'),
            next => text.push(next),
        }
    }
    (text, secrets)
}

#[test]
fn every_rule_of_our_own_finds_its_examples() {
    let mut wrong = Vec::new();
    for own in own::load_rules() {
        let (masks, keeps) = (own.masks.clone(), own.keeps.clone());
        assert!(!masks.is_empty() && !keeps.is_empty(), "{}", own.pattern);
        let rule = Box::leak(Box::new(Rule::from_own(own)));
        for marked in masks {
            let (text, secrets) = parse_example(&marked);
            let mut found = Vec::new();
            apply_rule(rule, &text, 0..text.len(), &mut found);
            let ranges: Vec<Range<usize>> = found.into_iter().map(|found| found.range).collect();
            if ranges != secrets {
                let found: Vec<&str> = ranges.iter().map(|range| &text[range.clone()]).collect();
                wrong.push(format!("{}: {marked}\n    its rule finds {found:?}", rule.kind()));
            }
            // Letters of several bytes around it are no hindrance.
            redact_text(&format!("é→{text}→é{text}"));
            let masked = redact_text(&text);
            if secrets.iter().any(|range| masked.contains(&text[range.clone()])) {
                wrong.push(format!("{}: {marked}\n    becomes {masked}", rule.kind()));
            }
        }
        for text in keeps {
            let text = text.replace('·', "").replace('⟪', "«").replace('⟫', "»");
            let masked = redact_text(&text);
            if masked != text {
                wrong.push(format!("{}: {text}\n    has to stay and becomes {masked}", rule.kind()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{} are wrong", wrong.join("\n"), wrong.len());
}

#[test]
fn keys_of_services_are_masked() {
    assert_masked("use ghp_16C7e42F292c6912E7710c838347Ae178B4a now", "use [redacted: github-pat] now");
    assert_masked("id AKIAZ52HGXYRN4WBTEST!", "id [redacted: aws-access-token]!");
    assert_masked(
        "export OPENAI_API_KEY=sk-proj-Ab3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA",
        "export OPENAI_API_KEY=[redacted: api key]",
    );
    let slack = format!("xoxb-{}", "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx");
    assert!(redact_text(&slack).starts_with("[redacted: slack"), "{}", redact_text(&slack));
}

#[test]
fn private_keys_are_masked_whole_or_cut() {
    let body = "MIIEpQIBAAKCAQEA7n2K9xR4vQ1mWcZ8hLbF3jD5sT6yU0pN2aG4eH7iO9kB1lM3\n".repeat(4);
    let begin = format!("-----BEGIN RSA {} KEY-----", "PRIVATE");
    let end = format!("-----END RSA {} KEY-----", "PRIVATE");
    assert_masked(&format!("a\n{begin}\n{body}{end}\nb"), "a\n[redacted: private key]\nb");
    assert_masked(&format!("a\n{begin}\n{body}[… 90 lines …]"), "a\n[redacted: private key]\n[… 90 lines …]");
    assert_masked(&format!("[… 90 lines …]\n{body}{end}\nb"), "[… 90 lines …]\n[redacted: private key]\nb");
    let escaped = body.replace('\n', "\\n");
    assert_masked(
        &format!("{{\"key\": \"{begin}\\n{escaped}{end}\\n\"}}"),
        "{\"key\": \"[redacted: private key]\\n\"}",
    );
}

#[test]
fn passwords_are_masked_where_they_stand() {
    assert_masked("postgres://app:s3cr3t@db.local:5432/x", "postgres://app:[redacted: password]@db.local:5432/x");
    assert_masked("redis://:p%40ss@cache/0", "redis://:[redacted: password]@cache/0");
    assert_masked("DB_PASSWORD=hunter2!\nA=1", "DB_PASSWORD=[redacted: password]\nA=1");
    assert_masked("{\"password\": \"Tr0ub4dor&3\"}", "{\"password\": \"[redacted: password]\"}");
    assert_masked("Server=x;Pwd=S3cret99;Db=y", "Server=x;Pwd=[redacted: password];Db=y");
    assert_masked("mysql --password=Xy12345z db", "mysql --password=[redacted: password] db");
    assert_masked(
        "curl -H 'Authorization: Bearer abcDEF123456789012345'",
        "curl -H 'Authorization: Bearer [redacted: bearer token]'",
    );
    assert_masked("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [redacted: credentials]");
    assert_masked("client_secret: 'q8Zr71LmPw03XvTy'", "client_secret: '[redacted: secret]'");
}

/// Text that agents' tools, files and other strings put around a line.
#[test]
fn a_secret_is_masked_whatever_stands_around_it() {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let begin = format!("-----BEGIN {} KEY-----", "PRIVATE");
    let key = "MzSBqGVjY3xV9w8Ew8rWk4v5HqzE0yqfQ0pX2r9aJmT7kQe1nZ5pUqk9Yj2LwXsD";
    let private = format!("{begin}\n{key}\n{key}\nq1w2==\n{}", begin.replace("BEGIN", "END"));
    let lines = [
        ("DB_PASSWORD=hunter2!", "hunter2!"),
        ("  \"password\": \"Tr0ub4dor&3\",", "Tr0ub4dor"),
        ("api_key: 9f8e7d6c5b4a39281706", "9f8e7d6c5b4a39281706"),
        (&private, key),
    ];
    for (text, secret) in lines {
        let each = |line: &dyn Fn(usize, &str) -> String| {
            text.lines().enumerate().map(|(at, text)| line(at + 1, text)).collect::<Vec<_>>().join("\n")
        };
        for shown in [
            each(&|at, text| format!("{at:6}→{text}")),
            each(&|at, text| format!("{at:6}\t{text}")),
            each(&|at, text| format!("conf/.env:{at}:{text}")),
            each(&|at, text| format!("{at}|{text}")),
            each(&|_, text| format!("+{text}")),
            each(&|_, text| format!("> {text}")),
            each(&|_, text| format!("\u{1b}[33m{text}\u{1b}[0m")),
            json(text),
            json(&json(text)),
            json(&json(&each(&|at, text| format!("{at:6}→{text}")))),
        ] {
            assert!(!redact_text(&shown).contains(secret), "{shown}\nbecomes\n{}", redact_text(&shown));
        }
    }
}

#[test]
fn names_and_code_stay() {
    for text in [
        "commit 4c9ca78e0b1d2f3a4b5c6d7e8f90a1b2c3d4e5f6",
        "session 019a8e4c-7b1d-7f00-8c1e-2f3a4b5c6d7e, sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "toolu_01A2b3C4d5E6f7G8h9I0j1K2 call_Ab12Cd34Ef56Gh78Ij90Kl12 chatcmpl-9aBcDeFgHiJkLmNoPqRsTuVwXyZ",
        "/home/me/projects/token/src/secret_store.rs:12 and ./target/debug/deps/key-1a2b3c4d5e6f7a8b",
        "let password: String = read_password()?; user.password = form.password;",
        "max_tokens=4096 tokens: 128000, token_count = 15, \"tokens\": \"1,234,567\"",
        "api_key = os.environ[\"SERVICE_API_KEY\"]; const token = getToken(user_id_2);",
        "password: ${DB_PASSWORD} secret={{ vault_secret_12345 }} token=<your-token-here-123>",
        "https://example.com:8080/path@v1.2.3 git@github.com:a/b.git http://localhost:3000/@user",
        "sourcegraph at 4c9ca78e0b1d2f3a4b5c6d7e8f90a1b2c3d4e5f6",
        "the sk-learn pipeline and pk_constraint_on_the_users_table",
        "",
    ] {
        assert_unmasked(text);
    }
}

#[test]
fn masking_again_changes_nothing() {
    for text in [
        "password=[redacted: password] token: [redacted: secret]",
        "a://u:[redacted: password]@h",
        "Bearer [redacted: bearer token]",
    ] {
        assert_unmasked(text);
    }
}

/// Repeated text must not be looked at again and again: a test that takes minutes says so.
#[test]
fn hostile_text_takes_time_by_its_length_alone() {
    let begin = concat!("-----BEGIN PRIV", "ATE KEY-----");
    let cut = format!("{begin}\nMIIEpQIBAAKCAQEA7n2K9xR4vQ1mWcZ8hLbF3jD5sT6yU0pN2aG4eH7iO9kB1lM3\n");
    let long = ["password=", begin, "\""].map(|piece| (piece, 1 << 20));
    let short =
        ["password: ", "\\\"", &cut, "a | password\n", "kind: Secret\n", "token=\"", "://a:b", "x=)", "curl -u "];
    for (piece, length) in long.into_iter().chain(short.map(|piece| (piece, 1 << 18))) {
        let text = piece.repeat(length / piece.len());
        assert!(!redact_text(&text).is_empty(), "{piece}");
    }
}

fn any_pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("password".to_owned()),
        Just("token=".to_owned()),
        Just("secret: '".to_owned()),
        Just("ghp_16C7e42F292c6912E7710c838347Ae178B4a".to_owned()),
        Just("postgres://u:p4ss@h/".to_owned()),
        Just("[redacted: x]".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        Just("-----END PRIVATE KEY-----".to_owned()),
        Just("Bearer ".to_owned()),
        Just("\\\"".to_owned()),
        Just("\\n".to_owned()),
        Just("    12→".to_owned()),
        Just("\u{1b}[31m".to_owned()),
        Just("| user | password |\n".to_owned()),
        Just("| a | hunter2! |\n".to_owned()),
        Just("kind: Secret\ndata:\n  a: YWRtaW4=\n".to_owned()),
        Just("?api_key=".to_owned()),
        Just("the password is ".to_owned()),
        Just("&quot;".to_owned()),
        Just("\n".to_owned()),
        "[A-Za-z0-9+/=]{0,40}",
        "\\PC{0,12}",
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn masking_is_idempotent_and_keeps_the_rest(text in any_pieces()) {
        let once = redact_text(&text).into_owned();
        prop_assert_eq!(redact_text(&once), once.as_str());
        // The text between masks was in the input, in this order.
        let mut rest = text.as_str();
        for kept in once.split("[redacted: ").map(|part| part.split_once(']').map_or(part, |(_, after)| after)) {
            let at = rest.find(kept);
            prop_assert!(at.is_some());
            rest = &rest[at.unwrap_or(0) + kept.len()..];
        }
    }
}

#[test]
fn what_tells_where_a_secret_is_stays() {
    assert_unmasked("arn:aws:secretsmanager:eu-west-1:288553115553:secret:prod/db/password-a1B2c3");
    assert_unmasked("db_password = jsondecode(data.aws_secretsmanager_secret_version.db.secret_string)[\"password\"]");
    assert_unmasked("{ \"login.password\": \"Wachtwoord\", \"login.title\": \"Aanmelden\" }");
}

#[test]
fn a_secret_is_masked_where_its_line_was_clipped_behind_it() {
    let secret = "Qm7Zt4LkX9wBv2RsHd6JpYc3NfGa8UeT";
    for before in [
        "psql -c \"ALTER USER shop WITH PASSWORD '",
        "define('DB_PASSWORD', '",
        "the admin password is `",
        "public string Password { get; set; } = \"",
        "co = cohere.Client(\"",
        "<user>ci</user><password>",
        "INSERT INTO users (email, password) VALUES ('b@x.io', '",
        "{\"body\": \"{\\\"client_secret\\\": \\\"",
    ] {
        for dots in ["…", "...", "…\nand so on"] {
            let masked = redact_text(&format!("{before}{secret}{dots}")).into_owned();
            assert!(masked.starts_with(before) && masked.ends_with(&format!("]{dots}")), "{masked}");
        }
    }
    assert_unmasked("let text = format!(\"{AbstractSingletonProxyFactoryBean2024...");
}

/// The secrets of a text, looked for everywhere: with every rule in all of its windows, and in every line.
fn find_slowly(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let rules = RuleSet::get();
    let readings = reading::all_readings(reading::read_plain(text));
    if rules.find_keywords(&readings[0].text).is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (index, reading) in readings.iter().enumerate() {
        let text = reading.text.as_ref();
        let mut found = Vec::new();
        for (rule, windows) in rules.find_windows(text, &rules.find_keywords(text)) {
            for window in windows {
                apply_rule(rule, text, window, &mut found);
            }
        }
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
        let parts = [
            ("private key", pem::find_keys(text)),
            ("password", table::find_secrets(text, &places)),
            ("password", sql_insert::find_secrets(text, &places)),
            ("secret", manifest::find_secrets(text)),
        ];
        let parts =
            parts.into_iter().flat_map(|(kind, ranges)| ranges.into_iter().map(move |range| Secret { range, kind }));
        let in_text =
            |found: Secret<'static>| Secret { range: reading::range_in_text(&readings, index, found.range), ..found };
        all.extend(found.into_iter().chain(parts).map(in_text));
    }
    join_secrets(text, &mut all);
    all.into_iter().map(|found| (found.range, found.kind)).collect()
}

/// What rules are tried on, and what may stand around it.
fn examples() -> Vec<String> {
    let rules = own::load_rules();
    let texts = rules.iter().flat_map(|rule| rule.masks.iter().chain(&rule.keeps));
    texts.map(|text| text.replace(['«', '»'], "")).collect()
}

const AROUND: [&str; 16] = [
    "\n",
    " ",
    "\\n",
    "\\\"",
    "\"",
    "# ",
    "12: ",
    "&quot;",
    "...\n",
    "\u{1b}[31m",
    "\\u0061",
    " = ",
    "key: ",
    "\n+",
    "\t",
    "lorem ipsum dolor ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn what_is_passed_over_has_no_secrets(
        parts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0_usize..40), 1..6),
        is_json in any::<bool>(),
    ) {
        let examples = examples();
        let mut text = String::new();
        for (example, around, count) in &parts {
            let example: &String = example.get(&examples);
            text.push_str(example);
            let around: &str = around.get::<&str>(&AROUND);
            text.push_str(&if count % 3 == 0 { around.repeat(*count) } else { (*around).to_owned() });
        }
        if is_json {
            text = serde_json::to_string(&text).unwrap();
        }
        let found: Vec<_> = find_secrets(&text).into_iter().map(|found| (found.range, found.kind)).collect();
        prop_assert_eq!(found, find_slowly(&text));
    }
}
