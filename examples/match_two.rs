//! Match a job with two slots, rank them, and see what a slot's requirements leave open.
//!
//!     cargo run --example match_two
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use classmate::{ClassAd, EvalOptions, Flattened, Inlining, flatten, matches, rank};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let job = ClassAd::parse(
        "[ RequestCpus = 2; RequestMemory = 4096; Rank = TARGET.KFlops; \
            Requirements = TARGET.Cpus >= RequestCpus && TARGET.Memory >= RequestMemory ]",
    )?;
    let slots = [
        ClassAd::parse("[ Name = \"small\"; Cpus = 1; Memory = 2048; KFlops = 900; Requirements = true ]")?,
        ClassAd::parse(
            "[ Name = \"large\"; Cpus = 8; Memory = 16384; KFlops = 700; Start = TARGET.RequestMemory > 1024; \
                Requirements = Start && TARGET.RequestCpus <= MY.Cpus ]",
        )?,
    ];
    let options = EvalOptions::default();
    for slot in &slots {
        let verdict = if matches(&job, slot, &options) { "matches" } else { "does not match" };
        println!(
            "{} {verdict}, rank {}",
            slot.get("Name").map_or_else(String::new, |name| name.to_string()),
            rank(&job, slot, &options)
        );
    }
    // What the large slot asks of a job, with everything it knows itself filled in.
    if let Some(requirements) = slots[1].get("Requirements") {
        match flatten(&slots[1], &requirements, Inlining::Inline, &options)? {
            Flattened::Value(value) => println!("always {value}"),
            Flattened::Residue(rest) => println!("asks for {rest}"),
        }
    }
    Ok(())
}
