//! Expressions inside sentences: numbers as people write them, no blank behind a quotation mark.

/// A text with expressions in it, for people: `1.500000000000000E+00` becomes `1.5`, and what the canonical text writes
/// before `!` and `-` is left out.
///
/// ```
/// use classmate_advice::internal::explain::prose::prose;
/// assert_eq!(prose("` !(a < 1.500000000000000E+00)` &&  -b"), "`!(a < 1.5)` && -b");
/// assert_eq!(prose("`Y` -7"), "`Y` -7");
/// assert_eq!(prose("8.000000000000000E+00 1.0E+01 1.000000000000000E+300"), "8.0 1.0E+01 1e300");
/// ```
pub fn prose(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let (mut rest, mut inside) = (text, false);
    while let Some(first) = rest.chars().next() {
        let before = written.chars().next_back();
        let opened = before == Some('`') && inside;
        if first == ' '
            && (opened || matches!(before, None | Some(' ' | '(')))
            && rest[1..].starts_with(['!', '-', '+', '~'])
        {
            rest = &rest[1..];
            continue;
        }
        let is_start =
            first.is_ascii_digit() && !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.');
        if is_start && let Some((number, length)) = canonical(rest) {
            written.push_str(&short(number));
            rest = &rest[length..];
            continue;
        }
        inside ^= first == '`';
        written.push(first);
        rest = &rest[first.len_utf8()..];
    }
    written
}

/// A real in canonical text at the beginning: one digit, a point, fifteen digits, and an exponent; and how long it is.
fn canonical(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let digits = |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    if bytes.get(1) != Some(&b'.') || !digits(2, 17) || bytes.get(17) != Some(&b'E') || !digits(19, 21) {
        return None;
    }
    let end = 19 + bytes[19..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    Some((text.get(..end)?.parse().ok()?, end))
}

fn short(number: f64) -> String {
    if number == 0.0 || (1e-5..1e15).contains(&number.abs()) { format!("{number:?}") } else { format!("{number:e}") }
}
