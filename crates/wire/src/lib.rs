//! Read a live HTCondor pool over CEDAR, the protocol of its daemons.
//!
//! The slots of a pool, in ten lines:
//!
//! ```no_run
//! use classmate_wire::{AdType, Address, Client, Query};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let collector: Address = "cm.example.org:9618".parse()?;
//!     let slots = Client::default().query(&collector, AdType::Slot, &Query::all())?;
//!     for slot in slots {
//!         println!("{}", slot?.eval_string("Name").unwrap_or_default());
//!     }
//!     Ok(())
//! }
//! ```
//!
//! - Addresses: [`Address`], as people write them and as daemons advertise themselves, with shared ports and IPv6
//! - Conversations: a [`Client`] with [`Credentials`] and [`Timeouts`]; it encrypts always, authenticates when a daemon wants
//!   that, and resumes sessions
//! - Questions: ads of a collector or access point ([`AdType`], [`Query`], [`Ads`]), configuration variables
//! - A whole pool: [`LivePool`] finds its daemons and reads all that a negotiation cycle looks at, with a [`SourceFailure`]
//!   for each source that cannot be read
//! - Failures: [`WireError`] says with whom the conversation was and what went wrong, without secrets
//!
//! The client only reads. It asks for no private attributes, and drops those that come anyway. Whatever a peer sends, the client
//! is made to need at most 64 MiB besides the ads that it hands on, and to end within its [`Timeouts`]. Tests measure that for one
//! conversation, for eight access points that are read at the same time, taken or not, and for sessions with 1000 of them. Of
//! that, 16 MiB are for names of attributes that were never seen before, which stay in memory until the process ends. After them, ads
//! with further names are skipped and reported, and others are read.

mod ad;
mod address;
mod budget;
mod cipher;
mod client;
mod command;
mod connection;
mod credentials;
#[cfg(test)]
mod daemon;
mod entropy;
mod error;
mod file_system;
mod handshake;
#[cfg(test)]
mod hex;
#[cfg(test)]
mod hostile;
mod key;
#[cfg(test)]
mod limits;
mod new_names;
mod pool;
mod query;
#[cfg(test)]
mod replay;
mod script;
mod session;
mod silent;
mod ssl;
mod token;
mod transport;

pub use address::{Address, COLLECTOR_PORT};
pub use client::{Ads, Client};
pub use credentials::Credentials;
pub use error::{Failure, WireError};
pub use pool::{Daemon, LivePool, PoolSource, Progress, SourceFailure};
pub use query::{AdType, Query};
pub use silent::SilentAccessPoints;
pub use token::Token;
pub use transport::Timeouts;

/// Parts that the tests of this workspace use; they may change at any time.
#[doc(hidden)]
pub mod internal {
    pub use crate::connection::real;
    pub use crate::pool::first_answer;
    pub use crate::script::{AnswerKind, answer, handshake};
}
