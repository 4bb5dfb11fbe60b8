//! Many messages of one kind: the first are shown, and the others counted.

use indexmap::IndexMap;

use crate::report::counted;

/// The kind of a message: its text without quoted parts and digits.
fn kind_of(message: &str) -> String {
    let parts: Vec<&str> = message.split('`').step_by(2).collect();
    parts.join("…").chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// The messages so far, by kind.
#[derive(Debug)]
pub struct MessageKinds {
    /// Messages of one kind that are shown.
    shown: u64,
    counts: IndexMap<(String, String), u64>,
}

impl MessageKinds {
    /// No messages; at most `shown` of each kind are shown.
    ///
    /// ```
    /// use classmate_cli::report::message_kinds::MessageKinds;
    /// let mut kinds = MessageKinds::new(1);
    /// let shown = ["`a` is unknown", "`b` is unknown", "`c` is 3"].map(|text| kinds.is_shown("error", text));
    /// assert_eq!(shown, [true, false, true]);
    /// assert_eq!(kinds.rest(), ["note: 1 more error not shown: … is unknown"]);
    /// ```
    pub fn new(shown: u64) -> Self {
        MessageKinds { shown, counts: IndexMap::new() }
    }

    /// Counts a message; true if it is one of the first of its kind.
    pub fn is_shown(&mut self, level: &str, message: &str) -> bool {
        let count = self.counts.entry((level.to_owned(), kind_of(message))).or_default();
        *count += 1;
        *count <= self.shown
    }

    /// The number of messages that were not shown, in words, and their kind.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = (String, &str)> {
        let hidden = self.counts.iter().filter(|(_, count)| **count > self.shown);
        hidden.map(|((level, kind), count)| (counted(count - self.shown, &format!("more {level}")), kind.as_str()))
    }

    /// Notes on the messages that were not shown, one for each kind.
    pub fn rest(&self) -> Vec<String> {
        self.hidden().map(|(count, kind)| format!("note: {count} not shown: {kind}")).collect()
    }
}
