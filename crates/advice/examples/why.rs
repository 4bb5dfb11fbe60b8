//! Prints why a job of a pool directory is idle: `cargo run -p classmate-advice --example why -- examples/stuck 2.0`.
#![expect(clippy::print_stdout, reason = "a program for the terminal")]

use std::env;
use std::error::Error;

use classmate_advice::explain_job;
use classmate_pool::{JobId, Snapshot, negotiate};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [directory, job] = arguments.as_slice() else { return Err("usage: why DIRECTORY CLUSTER.PROCESS".into()) };
    let (pool, job): (_, JobId) = (Snapshot::read_dir(directory)?, job.parse()?);
    if let Some(made) = negotiate(&pool.snapshot)?.matches.iter().find(|made| made.job == job) {
        println!("job {job} matched {}", made.slot);
    } else {
        let explanation = explain_job(&pool.snapshot, job)?.ok_or("the pool has no such job")?;
        for cause in explanation.causes {
            println!("{}", cause.text);
        }
    }
    Ok(())
}
