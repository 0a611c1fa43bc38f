//! `cargo xtask`: what a contributor and CI run.

mod bench;
mod conformance;
mod dependencies;
mod diagram;
mod dist;
mod docs;
mod lint;
mod places;
mod program_files;
mod record;
mod soak;
mod test;

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
cargo xtask test [--full]     format, clippy, structure, dependencies, tests, docs, demo, recording, dist, soak,
                              conformance; with --full all pairs and the bench
cargo xtask docs [--check]    write the generated pages, or fail where they differ
cargo xtask lint              check the structure of the code
cargo xtask diagram           draw the pictures in docs/diagrams from their sources; needs Node with npm
cargo xtask record [--check]  play the scenario in a terminal and draw docs/demo.svg; needs tmux
cargo xtask dist              make archive, installer, npm packages and formula in target/dist, and try them;
                              [--profile NAME] [--base-url URL] [--homepage URL] [--out FOLDER]; with --check
                              only try them, with the debug build and in a temporary folder
cargo xtask conformance       prove pairs of agents with the real clients: each agent twice a source and twice a target,
                              with --full every pair, which writes the page (--check compares with it);
                              with --front-door by keys through the picker, with --restore of deleted sessions,
                              with --hooks of what the next agent is told, with --record of recordings
cargo xtask places            put objects into the emulator of a service, as `share` does; needs Node with npm
cargo xtask soak [--short]    a day with every agent, in minutes: sessions grow, are rewritten and deleted, the daemon is
                              killed, and at the end its ledger must equal the stores; [--seed N]
cargo xtask bench             measure, as ratios against a raw scan; with --handoff, --readers, --ledger or --recorder
                              these alone, with --daemon, --capsules or --list (of 5 GB) and a PROGRAM that is built
                              already, those";

fn main() -> ExitCode {
    match run_command(std::env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            write_line(&format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run_command(args: Vec<String>) -> Result<(), Box<dyn Error>> {
    let root = workspace_root();
    let mut args = args.into_iter();
    let command = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let words: Vec<&str> = rest.iter().map(String::as_str).collect();
    match (command.as_str(), &words[..]) {
        ("test", []) => test::run_steps(&root, false),
        ("test", ["--full"]) => test::run_steps(&root, true),
        ("docs", []) => docs::write_pages(&root),
        ("docs", ["--check"]) => docs::check_pages(&root),
        ("lint", []) => lint::check_sources(&root),
        ("diagram", []) => diagram::write_pictures(&root),
        ("record", []) => record::write_picture(&root),
        ("record", ["--check"]) => record::check_picture(&root).map(drop),
        ("dist", ["--check"]) => dist::check_quickly(&root).map(drop),
        ("dist", words) => dist::run_with_args(&root, words),
        ("conformance", _) => Ok(conformance::run_with_args(rest, &root)?),
        ("places", []) => match places::check_places(&root)? {
            test::StepOutcome::Passed => Ok(()),
            test::StepOutcome::Skipped(reason) => Err(reason.into()),
        },
        ("soak", words) => soak::run_with_args(&root, words),
        ("bench", []) => run_bench(&root),
        ("bench", ["--handoff"]) => show_figures(&bench::measure_handoff_alone(&root)?),
        ("bench", ["--readers"]) => show_figures(&bench::measure_readers_alone(&root)?),
        ("bench", ["--recorder"]) => show_figures(&bench::measure_recorder()?),
        ("bench", ["--ledger"]) => show_figures(&bench::measure_ledger(&root)?),
        ("bench", ["--daemon", program]) => show_figures(&bench::measure_daemon(Path::new(program))?),
        ("bench", ["--list", program]) => show_figures(&bench::measure_whole_home(&root, Path::new(program))?),
        ("bench", ["--capsules", program]) => show_figures(&bench::measure_capsules(&root, Path::new(program))?),
        // The bench starts itself again, so that each measurement has a process of its own.
        ("bench-child", [what, path]) => bench::run_child(what, Path::new(path)),
        ("bench-child", [what]) => bench::run_child(what, Path::new("")),
        _ => Err(format!("these are the commands:\n{USAGE}").into()),
    }
}

/// Runs the bench; a figure that is missed is an error after all are shown.
fn run_bench(root: &Path) -> Result<(), Box<dyn Error>> {
    show_figures(&bench::measure_all(root)?)
}

fn show_figures(figures: &[bench::Figure]) -> Result<(), Box<dyn Error>> {
    for figure in figures {
        write_line(&figure.to_string());
    }
    let missed = figures.iter().filter(|figure| !figure.holds).count();
    if missed == 0 { Ok(()) } else { Err(format!("{missed} of {} figures are missed", figures.len()).into()) }
}

/// The workspace.
fn workspace_root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_path_buf()
}

/// Writes a line for people.
fn write_line(line: &str) {
    // A progress line that cannot be shown is not worth failing for.
    drop(writeln!(io::stderr(), "{line}"));
}
