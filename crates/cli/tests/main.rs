//! Integration tests of the command and of everything at once; each module is named after what it guards.

mod advise;
mod bad_input;
mod characters;
mod conformance;
mod experiment;
mod explain;
mod formats;
mod golden;
mod help;
mod hostile;
mod links;
mod lint;
mod live;
mod manual;
mod planted;
mod projection;
mod quotas;
mod report;
mod semantics;
mod sentences;
mod simulate_page;
mod slurm;
mod slurm_real;
mod status;
mod terminal;
mod transcripts;
mod userprio;
mod widths;
mod words;

#[path = "../../../tests/support/recorded.rs"]
mod recorded;
