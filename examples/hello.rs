//! Parse, build, evaluate and print: the language in twenty lines.
//!
//!     cargo run --example hello
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use classmate::ad::ClassAd;
use classmate::eval::scope::{EvalOptions, Scope};
use classmate::syntax::parse::{ParseOptions, parse_expr};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut ad = ClassAd::parse(b"[ Cpus = 4; Memory = Cpus * 2048; Name = \"slot1\" ]")?;
    ad.insert("Site", "Madison");

    let settings = EvalOptions::default();
    let scope = Scope::new(&ad, &settings);
    println!("Memory is {}", scope.eval_attr("memory")?);

    let expr = parse_expr(b"strcat(Name, \"@\", Site, \" has \", Memory / 1024, \" GB\")", &ParseOptions::default())?;
    println!("{expr}\n  = {}", scope.eval(&expr)?);

    let missing = parse_expr(b"GPUs > 0 && Cpus > 2", &ParseOptions::default())?;
    println!("{missing}\n  = {}", scope.eval(&missing)?);
    println!("{ad}");
    Ok(())
}
