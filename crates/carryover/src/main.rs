//! The `carryover` program; everything is in the library.

fn main() -> std::process::ExitCode {
    carryover::main()
}
