//! Options whose value is one of a few words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A parser of words, each with its help and its value.
pub(super) fn words<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let shown = words.iter().map(|(word, help, _)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(shown).try_map(|given| {
        let found = words.iter().find(|(word, ..)| *word == given);
        found.map(|(.., value)| *value).ok_or("not one of the possible values")
    })
}
