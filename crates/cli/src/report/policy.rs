//! Results of policy tests: lines as a test runner prints them, `JUnit` XML, coverage.

use std::io::{self, Write};

use crate::report::Color;
use crate::report::escape::styled;
use classmate_advice::internal::policy_test::{Covered, TestResult};

/// Writes a line a test, and below those that failed what was not as expected.
///
/// # Errors
/// The output cannot be written.
pub fn write(out: &mut impl Write, file: &str, results: &[TestResult], color: Color) -> io::Result<()> {
    writeln!(out, "{file}")?;
    for result in results {
        if result.failures.is_empty() {
            writeln!(out, "  {}      {}", styled("ok", "32", color), result.name)?;
        } else {
            writeln!(out, "  {}  {}", styled("FAILED", "31", color), result.name)?;
            result.failures.iter().try_for_each(|failure| writeln!(out, "            {failure}"))?;
        }
    }
    Ok(())
}

/// Writes which clauses the tests did not make both true and otherwise.
///
/// # Errors
/// The output cannot be written.
pub fn write_coverage(out: &mut impl Write, covered: &[Covered]) -> io::Result<()> {
    let complete = covered.iter().filter(|clause| clause.is_complete()).count();
    match covered.len() {
        0 => writeln!(out, "clause coverage: there are no clauses")?,
        1 => writeln!(out, "clause coverage: {complete} of 1 clause was seen both passing and failing")?,
        all => writeln!(out, "clause coverage: {complete} of {all} clauses were seen both passing and failing")?,
    }
    for clause in covered.iter().filter(|clause| !clause.is_complete()) {
        let what = match (clause.held, clause.refused) {
            (0, 0) => "never reached",
            (0, _) => "never passed",
            _ => "never failed",
        };
        writeln!(out, "  {what:13}  {}: `{}`", clause.place, clause.clause)?;
    }
    Ok(())
}

/// Writes the results of all files as `JUnit` XML, files that could not be run with the reason; times are left out, for the
/// same input gives the same output.
///
/// # Errors
/// The output cannot be written.
pub fn junit(out: &mut impl Write, files: &[(&str, &[TestResult])], refused: &[(String, String)]) -> io::Result<()> {
    let failed = |results: &[TestResult]| results.iter().filter(|result| !result.failures.is_empty()).count();
    let total: usize = files.iter().map(|(_, results)| results.len()).sum::<usize>() + refused.len();
    let failures: usize = files.iter().map(|(_, results)| failed(results)).sum();
    let errors = if refused.is_empty() { String::new() } else { format!(" errors=\"{}\"", refused.len()) };
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites tests=\"{total}\" failures=\"{failures}\"{errors}>")?;
    for (file, results) in files {
        let name = escaped(file);
        writeln!(out, "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\">", results.len(), failed(results))?;
        for result in *results {
            let case = format!("    <testcase classname=\"{name}\" name=\"{}\"", escaped(&result.name));
            if result.failures.is_empty() {
                writeln!(out, "{case}/>")?;
            } else {
                let message = escaped(&result.failures.join("\n"));
                writeln!(out, "{case}>\n      <failure message=\"{message}\"/>\n    </testcase>")?;
            }
        }
        writeln!(out, "  </testsuite>")?;
    }
    for (file, why) in refused {
        let (name, message) = (escaped(file), escaped(why));
        writeln!(out, "  <testsuite name=\"{name}\" tests=\"1\" failures=\"0\" errors=\"1\">")?;
        writeln!(out, "    <testcase classname=\"{name}\" name=\"the file\">")?;
        writeln!(out, "      <error message=\"{message}\"/>\n    </testcase>\n  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")
}

/// Text as an attribute of XML.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            // XML has no way to write these.
            character if character < ' ' => out.push('\u{FFFD}'),
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_holds_any_text() {
        let result = TestResult { name: "a<b & \"c\"".to_owned(), failures: vec!["x\u{1}".to_owned(), "y".to_owned()] };
        let mut out = Vec::new();
        junit(&mut out, &[("f", &[result])], &[("g".to_owned(), "bad <text>".to_owned())]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("name=\"a&lt;b &amp; &quot;c&quot;\""), "{text}");
        assert!(text.contains("message=\"x\u{FFFD}&#10;y\""), "{text}");
        assert!(text.contains("<testsuites tests=\"2\" failures=\"1\" errors=\"1\">"), "{text}");
        assert!(text.contains("<error message=\"bad &lt;text&gt;\"/>"), "{text}");
    }
}
