//! Numbers of commands, and what messages call them (`docs/reference/wire-cedar.md` 16).

/// A command of a daemon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Command {
    pub(crate) number: i64,
    /// The action in messages: "… denies PHRASE to …".
    pub(crate) phrase: &'static str,
}

macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $phrase:literal;)*) => {
        $($(#[$doc])* pub(crate) const $name: Command = Command { number: $number, phrase: $phrase };)*

        /// The numbers of all commands of the client.
        pub(crate) const COMMANDS: &[i64] = &[$($number),*];
    };
}

commands! {
    QUERY_STARTD_ADS = 5, "reading slot ads";
    QUERY_SCHEDD_ADS = 6, "reading ads of access points";
    QUERY_MASTER_ADS = 7, "reading ads of masters";
    QUERY_SUBMITTOR_ADS = 12, "reading submitter ads";
    QUERY_COLLECTOR_ADS = 20, "reading ads of collectors";
    QUERY_ANY_ADS = 48, "reading ads";
    QUERY_NEGOTIATOR_ADS = 50, "reading negotiator ads";
    QUERY_ACCOUNTING_ADS = 78, "reading accounting ads";
    QUERY_JOB_ADS = 516, "reading job ads";
    DC_CONFIG_VAL = 60007, "reading configuration";
}

/// Begins every conversation.
pub(crate) const DC_AUTHENTICATE: i64 = 60010;

/// Asks a shared port daemon for an endpoint.
pub(crate) const SHARED_PORT_CONNECT: i64 = 75;
