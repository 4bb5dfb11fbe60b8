//! Numbers with a unit, of which the attribute beside them says what was meant.
//!
//! In: a text with a number such as `4GB`. Out: the finding about it, with the number in the unit of the attribute.

use super::attributes::fact;
use classmate::Diagnostic;
use classmate::internal::span::Span;

/// Letters of units, each 1024 times the one before it.
const LETTERS: &[u8] = b"kmgt";

/// The finding about a number with a unit, with the number to write if an attribute says in which unit it counts: the one
/// that it is compared with, or else the one that gets the value.
pub(super) fn in_unit(found: Diagnostic, text: &[u8], attribute: Option<&[u8]>) -> Diagnostic {
    let range = found.span.range();
    if found.code != "size-suffix" || found.fix.is_some() || range.end > text.len() {
        return found;
    }
    let (before, after) = (text[..range.start].trim_ascii(), text[range.end..].trim_ascii());
    let is_whole = before.is_empty() && after.is_empty();
    // A factor is not an amount.
    let calculates = |text: &[u8], at: Option<&u8>| !text.is_empty() && at.is_some_and(|byte| b"*/+-%".contains(byte));
    if calculates(before, before.last()) || calculates(after, after.first()) {
        let unit = attribute.and_then(|name| fact(&name.to_ascii_lowercase())).and_then(|fact| fact.unit);
        return match unit {
            Some(unit) => found.help(format!("numbers have no units: write the number in {unit}, without the unit")),
            None => found,
        };
    }
    let name = match attribute.filter(|_| is_whole) {
        Some(name) => Some(name.to_ascii_lowercase()),
        None => compared_before(before).or_else(|| compared_after(after)),
    };
    let known = name.and_then(|name| fact(&name)).and_then(|fact| Some((fact.name, fact.unit?)));
    let Some((name, unit)) = known else { return found };
    let Some(written) = converted(&text[range.clone()], unit) else { return found };
    let help = format!("write `{written}`: `{name}` is in {unit}");
    found.help(help).fix(Span::new(range.start, range.end), written)
}

/// The attribute (lower case) at the end of `TARGET.Memory >=`.
fn compared_before(text: &[u8]) -> Option<Vec<u8>> {
    let end = text.iter().rposition(|byte| !b"<>=!".contains(byte))? + 1;
    let front = text[..end].trim_ascii_end();
    let length = front.iter().rev().take_while(|byte| is_of_name(**byte)).count();
    (end < text.len()).then(|| last_name(&front[front.len() - length..]))
}

/// The attribute (lower case) at the beginning of `<= TARGET.Memory`.
fn compared_after(text: &[u8]) -> Option<Vec<u8>> {
    let start = text.iter().take_while(|byte| b"<>=!".contains(byte)).count();
    let rest = text[start..].trim_ascii_start();
    let length = rest.iter().take_while(|byte| is_of_name(**byte)).count();
    (start > 0).then(|| last_name(&rest[..length]))
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.".contains(&byte)
}

fn last_name(text: &[u8]) -> Vec<u8> {
    text.rsplit(|byte| *byte == b'.').next().unwrap_or_default().to_ascii_lowercase()
}

/// A number with a unit, `4 GB`, as a number in MiB or KiB; none if that is not whole.
fn converted(text: &[u8], unit: &str) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let letter = text[digits..].trim_start().bytes().next()?.to_ascii_lowercase();
    let power = |letter: u8| LETTERS.iter().position(|known| *known == letter);
    let (from, to) = (power(letter)?, power(unit.bytes().next()?.to_ascii_lowercase())?);
    let factor = |steps: usize| 1024_f64.powi(i32::try_from(steps).unwrap_or_default());
    let number: f64 = text[..digits].parse().ok()?;
    let number = if from >= to { number * factor(from - to) } else { number / factor(to - from) };
    (number.fract() == 0.0 && (1.0..1e15).contains(&number)).then(|| format!("{number:.0}"))
}

/// Words for units of time, with their seconds.
const TIMES: [(&[&str], f64); 4] = [
    (&["minute", "minutes", "min", "mins"], 60.0),
    (&["hour", "hours", "hr", "hrs", "h"], 3600.0),
    (&["day", "days"], 86_400.0),
    (&["week", "weeks"], 604_800.0),
];

/// An amount that a text names: `90 minutes`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NamedAmount {
    /// As it is written.
    pub(super) shown: String,
    number: f64,
    /// The seconds or bytes of its unit.
    unit: f64,
    is_time: bool,
}

/// A text in which small numbers are written with digits.
fn with_digits(text: &str) -> String {
    const WORDS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let number = |word: &str| WORDS.iter().position(|known| known.eq_ignore_ascii_case(word)).map(|at| at + 1);
    let words = text.split(' ').map(|word| number(word).map_or_else(|| word.to_owned(), |number| number.to_string()));
    words.collect::<Vec<_>>().join(" ")
}

/// The amounts of time or of bytes that a text names.
pub(super) fn named_amounts(text: &str) -> Vec<NamedAmount> {
    let mut found = Vec::new();
    let text = &with_digits(text);
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes[at..].iter().position(u8::is_ascii_digit).map(|start| at + start) {
        let is_of_number = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
        let end = start + bytes[start..].iter().take_while(is_of_number).count();
        let gap = usize::from(matches!(bytes.get(end), Some(b' ' | b'-')));
        let word = bytes[end + gap..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        at = end;
        let alone = start == 0 || !(bytes[start - 1].is_ascii_alphanumeric() || b"_.".contains(&bytes[start - 1]));
        let (Some(number), Some(unit)) = (text.get(start..end), text.get(end + gap..end + gap + word)) else {
            continue;
        };
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else { continue };
        let lower = unit.to_ascii_lowercase();
        let time = TIMES.iter().find(|(words, _)| words.contains(&lower.as_str())).map(|(_, seconds)| *seconds);
        let is_size = unit.len() >= 2 && matches!(&lower[1..], "b" | "ib");
        let power =
            lower.bytes().next().filter(|_| is_size).and_then(|first| LETTERS.iter().position(|one| *one == first));
        let size = power.and_then(|power| i32::try_from(power + 1).ok()).map(|power| 1024_f64.powi(power));
        let Some(of) = time.or(size).filter(|_| alone && number > 0.0) else { continue };
        let shown = text[start..end + gap + word].to_owned();
        found.push(NamedAmount { shown, number, unit: of, is_time: time.is_some() });
    }
    found
}

/// The amount in a text that a number of seconds, MiB or KiB is meant to be and is not: it is that amount in another unit. With it
/// the expression to write.
pub(super) fn meant_amount(text: &str, number: f64, unit: &str) -> Option<(NamedAmount, String)> {
    meant_of(&named_amounts(text), number, unit)
}

/// Ratios of a size to one that is meant: it may be in a larger unit than is read, or in a smaller one.
const SIZE_RATIOS: [f64; 5] = [1024.0, 1_048_576.0, 1_073_741_824.0, 1.0 / 1024.0, 1.0 / 1_048_576.0];

/// [`meant_amount`] among the amounts of a text.
pub(super) fn meant_of(amounts: &[NamedAmount], number: f64, unit: &str) -> Option<(NamedAmount, String)> {
    let (own, is_time) = match unit {
        "seconds" => (1.0, true),
        "bytes" => (1.0, false),
        "KiB" => (1024.0, false),
        "MiB" => (1_048_576.0, false),
        _ => return None,
    };
    let amounts = || amounts.iter().filter(|amount| amount.is_time == is_time);
    let ratio = |amount: &NamedAmount| amount.number * amount.unit / own / number;
    // A thousand may stand for 1024.
    let near = |ratio: f64, factor: f64| (factor * 0.9..=factor * 1.1).contains(&ratio);
    if number <= 0.0 || amounts().any(|amount| near(ratio(amount), 1.0)) {
        return None;
    }
    let is_other = |amount: &&NamedAmount| {
        let ratio = ratio(amount);
        let factors: &[f64] = if is_time { &[60.0, 3600.0, 86_400.0] } else { &SIZE_RATIOS };
        // What is less than the unit that is read has no product to write.
        let is_smaller = !is_time && ratio < 1.0 && amount.unit < own * 0.9;
        !is_smaller && factors.iter().any(|factor| if is_time { ratio == *factor } else { near(ratio, *factor) })
    };
    let meant = amounts().find(is_other)?.clone();
    let factor = meant.unit / own;
    let steps = if is_time { vec![factor] } else { vec![1024.0; (factor.log2() / 10.0).round().max(0.0) as usize] };
    let product = steps.iter().fold(format!("{}", meant.number), |text, step| format!("{text} * {step}"));
    Some((meant, product))
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate::ParseOptions;
    use classmate::internal::syntax::parse::parse_expr;

    use crate::lint::expression::unparsed;

    /// The text that the fix writes in place of the number.
    fn written(text: &str, attribute: Option<&str>) -> Option<String> {
        let options = ParseOptions::default();
        let error = parse_expr(text.as_bytes(), &options).unwrap_err();
        let found = unparsed(text.as_bytes(), &error, &options);
        in_unit(found, text.as_bytes(), attribute.map(str::as_bytes)).fix.map(|fix| fix.text)
    }

    #[test]
    fn amounts_in_words_tell_another_unit() {
        let meant = |text: &str, number: f64, unit: &str| {
            meant_amount(text, number, unit).map(|(amount, product)| (amount.shown, product))
        };
        let of = |shown: &str, product: &str| Some((shown.to_owned(), product.to_owned()));
        assert_eq!(meant("ran longer than 90 minutes", 90.0, "seconds"), of("90 minutes", "90 * 60"));
        assert_eq!(meant("# keep for 10 days", 14_400.0, "seconds"), of("10 days", "10 * 86400"));
        assert_eq!(meant("# 10 GB scratch", 10_000.0, "KiB"), of("10 GB", "10 * 1024 * 1024"));
        assert_eq!(meant("at least 16GiB", 16.0, "MiB"), of("16GiB", "16 * 1024"));
        // 10 GB in KiB, where MiB are read.
        assert_eq!(meant("# leave 10 GB", 10_485_760.0, "MiB"), of("10 GB", "10 * 1024"));
        assert_eq!(meant("# leave 512 KB", 524_288.0, "MiB"), None);
        for (text, number, unit) in [
            ("ran longer than 90 minutes", 5400.0, "seconds"),
            ("90 jobs, 2 minutes", 90.0, "seconds"),
            ("10 GB scratch", 10_000_000.0, "KiB"),
            ("version 1.90 minutes", 90.0, "seconds"),
            ("90 seconds", 90.0, "seconds"),
            ("10 GB", 10.0, "seconds"),
        ] {
            assert_eq!(meant(text, number, unit), None, "{text}");
        }
    }

    #[test]
    fn a_number_is_written_in_the_unit_of_its_attribute() {
        for (text, number) in [
            ("TARGET.Memory > 4GB", "4096"),
            ("Disk >= 10 GB && x", "10485760"),
            ("2g <= TARGET.RequestMemory", "2048"),
            ("MemoryUsage > 0.5GB", "512"),
        ] {
            assert_eq!(written(text, None).as_deref(), Some(number), "{text}");
        }
        assert_eq!(written("2GB", Some("RequestMemory")).as_deref(), Some("2048"));
        for text in ["x > 4GB", "Memory * 0.5 GB > RequestMemory", "Memory > 2 * 4GB", "Memory > 1KB", "4GB"] {
            assert_eq!(written(text, None), None, "{text}");
        }
    }
}
