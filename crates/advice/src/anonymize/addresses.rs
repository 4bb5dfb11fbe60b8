//! Addresses of machines in texts, in all the spellings that contacts of daemons have.
//!
//! In: a text. Out: the address at its beginning, and the length of its spelling.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use super::pseudonyms::is_alphanumeric;

/// Four numbers up to 255 with points or hyphens between them at the beginning of a text, and their length.
pub(super) fn quad(text: &[u8]) -> Option<([u8; 4], usize)> {
    let (mut numbers, mut at, mut mark) = ([0; 4], 0, None);
    for (index, number) in numbers.iter_mut().enumerate() {
        if index > 0 {
            let found = *text.get(at).filter(|byte| matches!(byte, b'.' | b'-'))?;
            if *mark.get_or_insert(found) != found {
                return None;
            }
            at += 1;
        }
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        *number = std::str::from_utf8(&text[at..at + digits]).ok()?.parse().ok()?;
        at += digits;
    }
    Some((numbers, at))
}

/// A punctuation mark or space that is percent-encoded at the beginning of a text, as contacts within contacts have it, and its length.
pub(super) fn encoded(text: &[u8]) -> Option<(u8, usize)> {
    let is_hex = |at: usize| text.get(at..at + 2).is_some_and(|two| two.iter().all(u8::is_ascii_hexdigit));
    let mut at = 1;
    while text.first() == Some(&b'%') && text[at..].starts_with(b"25") && is_hex(at + 2) {
        at += 2;
    }
    let digits = text.strip_prefix(b"%").filter(|_| is_hex(at)).and_then(|_| text.get(at..at + 2))?;
    let byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    (byte.is_ascii_punctuation() || byte == b' ').then_some((byte, at + 2))
}

/// A text without percent-encoding.
pub(super) fn decoded(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.contains(&b'%') {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while at < text.len() {
        let (byte, length) = encoded(&text[at..]).unwrap_or((text[at], 1));
        out.push(byte);
        at += length;
    }
    Cow::Owned(out)
}

/// An IPv6 address at the beginning of a text, as in `[fe80::1]`, `[fe80--1]` and `fe80::1`, and where it ends,
/// before a closing bracket.
pub(super) fn address_6(text: &[u8]) -> Option<(Ipv6Addr, usize)> {
    /// The longest spelling.
    const MAX: usize = 45;
    let symbol = |at: usize| encoded(&text[at..]).or_else(|| Some((*text.get(at)?, 1)));
    let (mut at, mut spelled, mut hyphens) = (0, String::new(), false);
    let bracket = matches!(symbol(0)?, (b'[', _));
    if bracket {
        at = symbol(0)?.1;
    }
    while let Some((byte, length)) = symbol(at) {
        match byte {
            b':' | b'-' => {
                hyphens |= byte == b'-';
                spelled.push(':');
            }
            b'.' if bracket => spelled.push('.'),
            _ if byte.is_ascii_hexdigit() => spelled.push(char::from(byte)),
            _ if is_alphanumeric(byte) => return None,
            _ => break,
        }
        at += length;
        if spelled.len() > MAX {
            return None;
        }
    }
    // Options of commands have two hyphens, too.
    let is_plain = !bracket && (!spelled.contains(|c: char| c != ':') || hyphens && spelled.contains("::"));
    (!is_plain).then_some((spelled.parse().ok()?, at))
}

/// A part of a text.
pub(super) enum AddressPart {
    Address([u8; 4]),
    Address6(Ipv6Addr),
    Other,
}

/// The address at the beginning of a text, or what comes before the next place at which one can begin; `start`: no letter or digit
/// comes before.
pub(super) fn address_part(text: &[u8], start: bool) -> (AddressPart, usize) {
    let is_open = text.starts_with(b"[") || matches!(encoded(text), Some((b'[', _)));
    if (start || is_open)
        && let Some((address, length)) = address_6(text)
    {
        return (AddressPart::Address6(address), length);
    }
    match quad(text).filter(|_| start) {
        Some((address, length)) => (AddressPart::Address(address), length),
        None => (AddressPart::Other, encoded(text).map_or(1, |(_, length)| length)),
    }
}
