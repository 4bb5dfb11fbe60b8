//! The `classmate` command.

fn main() -> std::process::ExitCode {
    classmate::cli::run()
}
