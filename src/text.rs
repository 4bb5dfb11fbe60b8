//! The string of the language: immutable bytes, shared, one pointer wide.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use triomphe::ThinArc;

/// A ClassAd string: any bytes but NUL, counted in bytes; clones share the text.
///
/// ```
/// use classmate::Text;
/// let text = Text::new("é");
/// assert_eq!(text.len(), 2);
/// assert_eq!(text.to_string(), "é");
/// ```
#[derive(Clone)]
pub struct Text(ThinArc<(), u8>);

impl Text {
    /// Copies the bytes.
    pub fn new(bytes: impl AsRef<[u8]>) -> Self {
        Text(ThinArc::from_header_and_slice((), bytes.as_ref()))
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.slice
    }

    /// The address of the bytes. Strings at the same address are equal, as long as both exist.
    pub(crate) fn address(&self) -> usize {
        self.0.heap_ptr() as usize
    }

    /// As text; what is not UTF-8 becomes `�`.
    pub fn to_string_lossy(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self)
    }
}

impl Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Text {}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_string_lossy())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Text::new(text)
    }
}

impl From<Vec<u8>> for Text {
    fn from(bytes: Vec<u8>) -> Self {
        Text::new(bytes)
    }
}
