//! The parts of a file name, as `$F…`, `$BASENAME` and `$DIRNAME` take them.

/// The options of `$F`, by its letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parts {
    /// The letters, `a` in the lowest bit.
    letters: u32,
    /// `d`: the last folder; `dd`: the last two, and so on.
    last: u8,
}

impl Parts {
    /// Reads `F` and its letters.
    pub(crate) fn parse(name: &[u8]) -> Option<Self> {
        // `f` is the full path: only a daemon knows the folder it was started in.
        const LETTERS: &[u8] = b"fpdnxqabuw";
        let letters = name.strip_prefix(b"F")?;
        letters.iter().try_fold(Parts::default(), |parts, letter| {
            let last = parts.last + u8::from(*letter == b'd');
            LETTERS.contains(letter).then(|| Parts { letters: parts.letters | 1 << (letter - b'a'), last })
        })
    }

    fn has(self, letter: u8) -> bool {
        self.letters & 1 << (letter - b'a') != 0
    }

    /// These parts of a path.
    pub(crate) fn of(self, path: &[u8]) -> Vec<u8> {
        let cut = name_start(path);
        let (folder, file) = path.split_at(cut);
        let (stem, extension) = file.split_at(extension_start(file));
        // All folders, the name without extension, the extension with its dot.
        let (folders, name, ending) = (self.has(b'p'), self.has(b'n'), self.has(b'x'));
        let all = !folders && self.last == 0 && !name && !ending;
        let mut out = Vec::with_capacity(path.len() + 2);
        if all {
            out.extend_from_slice(path);
        } else {
            if self.last > 0 {
                out.extend_from_slice(last_folders(folder, self.last));
            } else if folders {
                out.extend_from_slice(folder);
            }
            // `b`: without the slash at the end.
            if self.has(b'b') && !name && !ending && out.len() > 1 && is_slash(out[out.len() - 1]) {
                out.pop();
            }
            out.extend_from_slice(if name { stem } else { b"" });
            out.extend_from_slice(if ending { extension } else { b"" });
        }
        for byte in &mut out {
            match byte {
                b'\\' if self.has(b'u') => *byte = b'/',
                b'/' if self.has(b'w') => *byte = b'\\',
                _ => {}
            }
        }
        if self.has(b'q') {
            let quote = if self.has(b'a') { b'\'' } else { b'"' };
            out.insert(0, quote);
            out.push(quote);
        }
        out
    }
}

fn is_slash(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
}

/// The offset of the file name, after the last slash.
fn name_start(path: &[u8]) -> usize {
    path.iter().rposition(|byte| is_slash(*byte)).map_or(0, |slash| slash + 1)
}

/// The offset of the extension, at the last dot; a leading dot does not count.
fn extension_start(file: &[u8]) -> usize {
    file.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0).unwrap_or(file.len())
}

fn last_folders(folder: &[u8], count: u8) -> &[u8] {
    let mut start = folder.len();
    for _ in 0..count {
        let before = folder[..start].strip_suffix(b"/").or_else(|| folder[..start].strip_suffix(b"\\"));
        let Some(before) = before else { break };
        if before.is_empty() {
            // The root: it is a folder only if nothing else is asked for.
            if start == folder.len() {
                start = 0;
            }
            break;
        }
        start = name_start(before);
    }
    &folder[start..]
}

/// The path without the double quotes around it.
pub(crate) fn unquoted(path: &[u8]) -> &[u8] {
    path.strip_prefix(b"\"").and_then(|path| path.strip_suffix(b"\"")).unwrap_or(path)
}

/// The folders of a path, with the last slash.
pub(crate) fn folder(path: &[u8]) -> &[u8] {
    &path[..name_start(path)]
}

/// The name of a path without a suffix.
pub(crate) fn base_name<'p>(path: &'p [u8], suffix: &[u8]) -> &'p [u8] {
    let file = &path[name_start(path)..];
    file.strip_suffix(suffix).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of the reference library.
    #[test]
    fn letters_ask_for_parts() {
        for (letters, path, expected) in [
            ("F", "/data/simulate.tar.gz", "/data/simulate.tar.gz"),
            ("Fn", "/data/simulate.tar.gz", "simulate.tar"),
            ("Fx", "/data/simulate.tar.gz", ".gz"),
            ("Fnx", "/data/simulate.tar.gz", "simulate.tar.gz"),
            ("Fp", "/data/simulate.tar.gz", "/data/"),
            ("Fd", "/data/simulate.tar.gz", "data/"),
            ("Fpd", "/data/simulate.tar.gz", "data/"),
            ("Fbd", "/data/simulate.tar.gz", "data"),
            ("Fb", "/data/simulate.tar.gz", "/data/simulate.tar.gz"),
            ("Fq", "/data/simulate.tar.gz", "\"/data/simulate.tar.gz\""),
            ("Fqa", "/data/simulate.tar.gz", "'/data/simulate.tar.gz'"),
            ("Fa", "rel/x.y", "rel/x.y"),
            ("Fw", "/data/simulate.tar.gz", "\\data\\simulate.tar.gz"),
            ("Fu", "a\\b", "a/b"),
            ("Fpq", "/data/simulate.tar.gz", "\"/data/\""),
            ("Fp", "sim", ""),
            ("Fd", "/x/y/", "y/"),
            ("Fn", "/x/y/", ""),
            ("Fx", ".bashrc", ""),
            ("Fn", ".bashrc", ".bashrc"),
            ("Fd", "/x", "/"),
            ("Fp", "/x", "/"),
            ("Fdd", "/a/b/c/e.f", "b/c/"),
            ("Fddn", "/a/b/c/e.f", "b/c/e"),
            ("Fddb", "/a/b/c/e.f", "b/c"),
            ("Fdnx", "/a/b/c/e.f", "c/e.f"),
            ("Fpdn", "rel/x.y", "rel/x"),
        ] {
            let found = Parts::parse(letters.as_bytes()).unwrap().of(path.as_bytes());
            assert_eq!(String::from_utf8(found).unwrap(), expected, "${letters}({path})");
        }
        assert_eq!(Parts::parse(b"Fz"), None);
    }

    #[test]
    fn a_suffix_is_taken_off_the_name() {
        assert_eq!(base_name(b"/x", b"x"), b"");
        assert_eq!(base_name(b".bashrc", b"rc"), b".bash");
        assert_eq!(base_name(b"/x/y/", b""), b"");
        assert_eq!(folder(b"rel/x.y"), b"rel/");
        assert_eq!(unquoted(b"\"/a b/c\""), b"/a b/c");
    }
}
