//! Parse, build, evaluate and print: the language in twenty lines.
//!
//!     cargo run --example hello
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use classmate::{ClassAd, EvalOptions, Scope, parse_expr};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut ad = ClassAd::parse("[ Cpus = 4; Memory = Cpus * 2048; Name = \"slot1\" ]")?;
    ad.insert("Site", "Madison");

    let options = EvalOptions::default();
    let scope = Scope::new(&ad, &options);
    println!("Memory is {}", scope.eval_attr("memory")?);

    let expr = parse_expr("strcat(Name, \"@\", Site, \" has \", Memory / 1024, \" GB\")")?;
    println!("{expr}\n  = {}", scope.eval(&expr)?);

    let missing = parse_expr("GPUs > 0 && Cpus > 2")?;
    println!("{missing}\n  = {}", scope.eval(&missing)?);
    println!("{ad}");
    Ok(())
}
