//! The `classmate` command.

/// The allocator. It asks for large pages: with them, a cycle takes a tenth to a fifth less time than with the allocator of glibc, and
/// less than half of the time that it takes with that of musl.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    classmate_cli::cli::run()
}
