//! The `classmate` command.

/// The allocator of the static binary: that of musl makes a cycle take more than twice as long.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    classmate_cli::cli::run()
}
