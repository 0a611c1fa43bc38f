use crate::distill::shell::Line;
use crate::distill::testrun::of;

fn told(command: &str, output: &str) -> String {
    of(&Line::of(command), output).map(|report| report.told()).unwrap_or_default()
}

#[test]
fn the_common_runners_are_understood() {
    for (command, output, wanted) in [
        (
            "cargo test",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\ntest result: ok. 2 passed; 0 failed; 0 ignored",
            "5 passed, 0 failed, 1 skipped",
        ),
        (
            "cargo nextest run",
            "     Summary [   0.5s] 12 tests run: 11 passed, 1 failed, 2 skipped",
            "11 passed, 1 failed, 2 skipped",
        ),
        ("python -m pytest", "==== 3 failed, 5 passed, 1 skipped in 0.12s ====", "5 passed, 3 failed, 1 skipped"),
        (
            "uv run pytest -q",
            "FAILED tests/t.py::test_x - boom\n1 failed, 2 passed in 0.02s",
            "2 passed, 1 failed (tests/t.py::test_x)",
        ),
        ("python3 -m unittest", "Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1)", "3 passed, 2 failed"),
        ("python3 -m unittest -v", "Ran 5 tests in 0.001s\n\nOK", "5 passed, 0 failed"),
        ("npx jest", "Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 passed, 3 total", "2 passed, 1 failed"),
        ("npx vitest run", " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)", "2 passed, 1 failed"),
        ("npm test", "  5 passing (20ms)\n  1 pending\n  2 failing\n", "5 passed, 2 failed, 1 skipped"),
        ("node --test", "# tests 5\n# pass 4\n# fail 1\n# skipped 0", "4 passed, 1 failed"),
        ("node --test", "ℹ tests 2\nℹ pass 2\nℹ fail 0", "2 passed, 0 failed"),
        ("go test ./...", "ok  \texample.com/a\t0.1s\nFAIL\texample.com/b\t0.2s", "1 passed, 1 failed"),
        ("go test -v ./...", "--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)", "1 passed, 1 failed (TestB)"),
        ("mvn -q test", "[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1", "2 passed, 2 failed, 1 skipped"),
        ("./gradlew test", "5 tests completed, 1 failed", "4 passed, 1 failed"),
        (
            "java -jar junit.jar",
            "[         3 tests successful      ]\n[         1 tests failed          ]",
            "3 passed, 1 failed",
        ),
        ("ctest --test-dir build", "90% tests passed, 1 tests failed out of 10", "9 passed, 1 failed"),
        ("bundle exec rspec", "10 examples, 1 failure, 2 pending", "7 passed, 1 failed, 2 skipped"),
        ("vendor/bin/phpunit", "OK (5 tests, 10 assertions)", "5 passed, 0 failed"),
        ("vendor/bin/phpunit", "Tests: 5, Assertions: 10, Failures: 1.", "4 passed, 1 failed"),
        ("echo '3 passed in 1s'", "3 passed in 1s", ""),
        ("cat results.txt", "test result: ok. 3 passed; 0 failed", ""),
    ] {
        assert_eq!(told(command, output), wanted, "{command}: {output}");
    }
}

#[test]
fn colours_do_not_matter() {
    assert_eq!(
        told("npx vitest", "\u{1b}[2m      Tests \u{1b}[22m \u{1b}[32m2 passed\u{1b}[39m (2)"),
        "2 passed, 0 failed"
    );
}
