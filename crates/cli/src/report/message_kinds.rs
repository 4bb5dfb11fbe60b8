//! Many messages of one kind: the first are shown, and the others counted.

use indexmap::IndexMap;

use crate::report::counted;

/// Appends the kind of a message: its text without quoted parts and digits.
fn push_kind(kind: &mut String, message: &str) {
    for (at, part) in message.split('`').step_by(2).enumerate() {
        kind.push_str(if at > 0 { "…" } else { "" });
        part.split(|one: char| one.is_ascii_digit()).for_each(|part| kind.push_str(part));
    }
}

/// The messages so far, by kind.
#[derive(Debug)]
pub struct MessageKinds {
    /// Messages of one kind that are shown.
    shown: u64,
    /// The number of messages of each severity and kind, such as `error: … is unknown`.
    counts: IndexMap<String, u64>,
    /// The kind of the last message.
    last: String,
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
        MessageKinds { shown, counts: IndexMap::new(), last: String::new() }
    }

    /// Counts a message; true if it is one of the first of its kind.
    pub fn is_shown(&mut self, level: &str, message: &str) -> bool {
        self.last.clear();
        self.last.extend([level, ": "]);
        push_kind(&mut self.last, message);
        if let Some(count) = self.counts.get_mut(self.last.as_str()) {
            *count += 1;
            return *count <= self.shown;
        }
        self.counts.insert(self.last.clone(), 1);
        self.shown > 0
    }

    /// The number of messages that were not shown, in words, and their kind.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = (String, &str)> {
        let hidden = self.counts.iter().filter(|(_, count)| **count > self.shown);
        hidden.filter_map(|(kind, count)| {
            let (level, kind) = kind.split_once(": ")?;
            Some((counted(count - self.shown, &format!("more {level}")), kind))
        })
    }

    /// Notes on the messages that were not shown, one for each kind.
    pub fn rest(&self) -> Vec<String> {
        self.hidden().map(|(count, kind)| format!("note: {count} not shown: {kind}")).collect()
    }
}
