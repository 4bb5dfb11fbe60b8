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
        return found;
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
