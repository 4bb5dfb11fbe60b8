//! The differences of two texts, line by line.

use std::io::{self, Write};

use super::Color;
use super::escape::styled;

/// Lines on either side that are compared with one another; larger differences are shown as one.
const MAX_LINES: usize = 1500;

/// Writes the lines that differ, those of the old text behind `-` and those of the new one behind `+`.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, name: &str, old: &[u8], new: &[u8], color: Color) -> io::Result<()> {
    writeln!(out, "--- {name}\n+++ {name}")?;
    let lines = |text: &[u8]| -> Vec<String> {
        text.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    };
    let (old, new) = (lines(old), lines(new));
    for (a, b) in hunks(&old, &new) {
        writeln!(out, "@@ -{},{} +{},{} @@", a.start + 1, a.len(), b.start + 1, b.len())?;
        old[a].iter().try_for_each(|line| writeln!(out, "{}", styled(&format!("-{line}"), "31", color)))?;
        new[b].iter().try_for_each(|line| writeln!(out, "{}", styled(&format!("+{line}"), "32", color)))?;
    }
    Ok(())
}

type Range = std::ops::Range<usize>;

/// The ranges of lines that replace each other.
fn hunks(old: &[String], new: &[String]) -> Vec<(Range, Range)> {
    let front = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let back = old[front..].iter().rev().zip(new[front..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (a, b) = (&old[front..old.len() - back], &new[front..new.len() - back]);
    if a.is_empty() && b.is_empty() {
        return Vec::new();
    }
    if a.len() > MAX_LINES || b.len() > MAX_LINES {
        return vec![(front..front + a.len(), front..front + b.len())];
    }
    // Longest common subsequence of the rest.
    let width = b.len() + 1;
    let mut common = vec![0u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = if a[i] == b[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < a.len() || j < b.len() {
        let (from, to) = (i, j);
        while i < a.len() || j < b.len() {
            if i < a.len() && j < b.len() && a[i] == b[j] {
                break;
            }
            if j >= b.len() || (i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
                i += 1;
            } else {
                j += 1;
            }
        }
        found.push((front + from..front + i, front + to..front + j));
        while i < a.len() && j < b.len() && a[i] == b[j] {
            (i, j) = (i + 1, j + 1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_written() {
        let mut out = Vec::new();
        write(&mut out, "f", b"a\nb\nc\nd\ne", b"a\nB\nc\nd\nd2\ne", Color::Off).unwrap();
        let expected = "--- f\n+++ f\n@@ -2,1 +2,1 @@\n-b\n+B\n@@ -5,0 +5,1 @@\n+d2\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
