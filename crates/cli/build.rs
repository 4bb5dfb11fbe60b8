//! Names the commit of the sources in builds for use. Builds for development do without, so that a commit does not make them
//! compile the command again.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=CLASSMATE_COMMIT");
    if std::env::var_os("CLASSMATE_COMMIT").is_some() || std::env::var("PROFILE").is_ok_and(|name| name != "release") {
        return;
    }
    if let Some(commit) = packaged().or_else(checked_out) {
        println!("cargo::rustc-env=CLASSMATE_COMMIT={commit}");
    }
}

/// The digits of a commit that are shown.
const SHOWN: usize = 12;

/// The commit that a package was made of.
fn packaged() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\"")?;
    rest.split('"').nth(1).map(|commit| commit.chars().take(SHOWN).collect())
}

/// The commit of the checkout that this file is in.
fn checked_out() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
    };
    // Sources that are part of another repository do not have its commit.
    if git(&["ls-files", "--", "build.rs"])? != "build.rs" {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    // The next commit changes one of these.
    for name in ["HEAD", "packed-refs", &git(&["rev-parse", "--symbolic-full-name", "HEAD"])?] {
        let path = git(&["rev-parse", "--git-path", name])?;
        if std::fs::exists(&path).unwrap_or(false) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    Some(commit.chars().take(SHOWN).collect())
}
