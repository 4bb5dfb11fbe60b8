//! Transcripts: what commands read, print and return.
//!
//! `TRYCMD=overwrite cargo test --test cli` writes the answers; read the difference before you keep it.

#[test]
fn transcripts_are_as_recorded() {
    trycmd::TestCases::new().case("tests/cli/*.toml");
}
