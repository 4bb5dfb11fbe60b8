//! Options whose value is one of a few words.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A parser of words, each with its help and its value. `table` is another word for `text`.
pub(super) fn words<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let shown = words.iter().map(|(word, help, _)| {
        let value = PossibleValue::new(*word).help(*help);
        if *word == "text" { value.alias("table") } else { value }
    });
    PossibleValuesParser::new(shown).try_map(|given| {
        let meant = if given == "table" { "text" } else { given.as_str() };
        let found = words.iter().find(|(word, ..)| *word == meant);
        found.map(|(.., value)| *value).ok_or("not one of the possible values")
    })
}
