//! The formats of `$INT`, `$REAL` and `$STRING`: those of C's `printf`, with one directive.

use classmate::internal::syntax::number::write_general;

/// Widest field and longest precision.
const WIDEST: usize = 1000;

/// One `%…` of a format.
#[derive(Debug, PartialEq)]
pub(crate) struct Directive<'f> {
    /// Any of `-+ 0#`.
    flags: &'f [u8],
    width: usize,
    precision: Option<usize>,
    conversion: u8,
}

/// The format with its only directive replaced by the formatted value; `None` if it has not one directive, or
/// one that does not fit the value.
pub(crate) fn format(form: &[u8], value: impl Fn(&Directive<'_>) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    let at = memchr::memchr(b'%', form)?;
    let (directive, length) = Directive::parse(&form[at + 1..])?;
    let behind = &form[at + 1 + length..];
    if behind.contains(&b'%') {
        return None;
    }
    Some([&form[..at], &value(&directive)?, behind].concat())
}

impl<'f> Directive<'f> {
    fn parse(text: &'f [u8]) -> Option<(Self, usize)> {
        let mut at = text.iter().take_while(|byte| b"-+ 0#".contains(byte)).count();
        let flags = &text[..at];
        let number = |at: &mut usize| {
            let mut number = 0;
            while let Some(digit) = text.get(*at).filter(|byte| byte.is_ascii_digit()) {
                number = (number * 10 + usize::from(digit - b'0')).min(WIDEST);
                *at += 1;
            }
            number
        };
        let width = number(&mut at);
        let mut precision = None;
        if text.get(at) == Some(&b'.') {
            at += 1;
            precision = Some(number(&mut at));
        }
        while matches!(text.get(at), Some(b'l' | b'h' | b'q' | b'L' | b'z' | b'j')) {
            at += 1;
        }
        Some((Directive { flags, width, precision, conversion: *text.get(at)? }, at + 1))
    }

    fn has(&self, flag: u8) -> bool {
        self.flags.contains(&flag)
    }

    /// A whole number.
    pub(crate) fn integer(&self, value: i64) -> Option<Vec<u8>> {
        let (negative, digits) = match self.conversion {
            b'd' | b'i' => (value < 0, value.unsigned_abs().to_string()),
            b'u' => (false, (value as u64).to_string()),
            b'x' => (false, format!("{}{value:x}", if self.has(b'#') && value != 0 { "0x" } else { "" })),
            b'X' => (false, format!("{}{value:X}", if self.has(b'#') && value != 0 { "0X" } else { "" })),
            b'o' => (false, format!("{}{value:o}", if self.has(b'#') { "0" } else { "" })),
            _ => return None,
        };
        let missing = self.precision.unwrap_or(1).saturating_sub(digits.len());
        let digits = "0".repeat(missing) + &digits;
        let signed = matches!(self.conversion, b'd' | b'i');
        Some(self.field(self.sign(negative, signed), digits.as_bytes(), self.has(b'0') && self.precision.is_none()))
    }

    /// A real number.
    pub(crate) fn real(&self, value: f64) -> Option<Vec<u8>> {
        let precision = self.precision.unwrap_or(6);
        let magnitude = value.abs();
        let mut digits = Vec::new();
        match self.conversion {
            b'f' | b'F' => digits.extend_from_slice(format!("{magnitude:.precision$}").as_bytes()),
            b'g' => write_general(&mut digits, magnitude, precision, false),
            b'G' => write_general(&mut digits, magnitude, precision, true),
            b'e' | b'E' => {
                // Rust writes 1.5e3 for C's 1.5e+03.
                let text = format!("{magnitude:.precision$e}");
                let (number, exponent) = text.split_once('e')?;
                let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
                let letter = self.conversion as char;
                digits.extend_from_slice(format!("{number}{letter}{sign}{exponent:0>2}").as_bytes());
            }
            _ => return None,
        }
        Some(self.field(self.sign(value.is_sign_negative(), true), &digits, self.has(b'0') && value.is_finite()))
    }

    /// A text.
    pub(crate) fn string(&self, value: &[u8]) -> Option<Vec<u8>> {
        let shown = &value[..self.precision.unwrap_or(value.len()).min(value.len())];
        (self.conversion == b's').then(|| self.field("", shown, false))
    }

    fn sign(&self, negative: bool, signed: bool) -> &'static str {
        match (negative, signed) {
            (true, _) => "-",
            (false, true) if self.has(b'+') => "+",
            (false, true) if self.has(b' ') => " ",
            _ => "",
        }
    }

    fn field(&self, sign: &str, digits: &[u8], zeros: bool) -> Vec<u8> {
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        let blanks = vec![b' '; missing];
        let zero = vec![b'0'; missing];
        let sign = sign.as_bytes();
        if self.has(b'-') {
            [sign, digits, &blanks].concat()
        } else if zeros {
            [sign, &zero, digits].concat()
        } else {
            [&blanks, sign, digits].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of C's `printf`.
    #[test]
    fn fields_are_those_of_printf() {
        let int = |form: &str, value| {
            format(form.as_bytes(), |d| d.integer(value)).map(|text| String::from_utf8(text).unwrap())
        };
        assert_eq!(int("%05d", -42).as_deref(), Some("-0042"));
        assert_eq!(int("<%-6d>", 42).as_deref(), Some("<42    >"));
        assert_eq!(int("% d", 42).as_deref(), Some(" 42"));
        assert_eq!(int("%#x", 255).as_deref(), Some("0xff"));
        assert_eq!(int("%u", -1).as_deref(), Some("18446744073709551615"));
        for form in ["%s", "%f", "%d%d", "%%", "%", "", "x"] {
            assert_eq!(int(form, 1), None, "{form}");
        }
        let real =
            |form: &str, value| format(form.as_bytes(), |d| d.real(value)).map(|text| String::from_utf8(text).unwrap());
        assert_eq!(real("%08.2f", -3.14259).as_deref(), Some("-0003.14"));
        assert_eq!(real("%.3E", 123_456.0).as_deref(), Some("1.235E+05"));
        assert_eq!(real("%e", 1e-100).as_deref(), Some("1.000000e-100"));
        assert_eq!(real("%g", 1e10).as_deref(), Some("1e+10"));
        assert_eq!(real("%f", f64::INFINITY).as_deref(), Some("inf"));
    }

    #[test]
    fn fields_are_not_wider_than_anybody_needs() {
        let text = format(b"%99999999999999999999d", |d| d.integer(1)).unwrap();
        assert_eq!(text.len(), WIDEST);
    }
}
