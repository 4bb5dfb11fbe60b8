//! Lists the slots of a pool: `cargo run -p classmate-wire --example slots -- cm.example.org`.
#![expect(clippy::print_stdout, reason = "the example prints")]

use classmate_wire::{AdType, Address, Client, Query};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let collector: Address = std::env::args().nth(1).unwrap_or_else(|| "localhost".to_owned()).parse()?;
    let query = Query::all().attributes(["Name", "State", "Cpus"]);
    for slot in Client::default().query(&collector, AdType::Slot, &query)? {
        let slot = slot?;
        let text = |name| slot.eval_string(name).unwrap_or_default();
        println!("{}\t{}\t{}", text("Name"), text("State"), slot.eval_int("Cpus").unwrap_or_default());
    }
    Ok(())
}
