//! The `classmate` command.

fn main() -> std::process::ExitCode {
    classmate_cli::cli::run()
}
