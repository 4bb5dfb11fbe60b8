//! All assignments of a text, also those that later ones replace.

use std::sync::Arc;

use super::line::Lines;
use super::statement::{Operator, Statement, parse};
use super::{Location, Source};

/// An assignment as a file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assigned {
    /// The name.
    pub name: Vec<u8>,
    /// The text after the operator: for a multi-line value, its tag.
    pub value: Vec<u8>,
    /// The beginning of the line.
    pub place: Location,
    /// True if it replaces the earlier value as a whole.
    pub replaces: bool,
    /// True if it is between `if` and `endif`.
    pub conditional: bool,
}

/// The assignments of a text in their order; lines that are none are passed over.
pub fn assigned(source: &Source) -> Vec<Assigned> {
    let mut lines = Lines::new(Arc::clone(&source.name), &source.text);
    let mut warnings = Vec::new();
    let mut found = Vec::new();
    let (mut depth, mut tag) = (0_u32, None::<Vec<u8>>);
    while let Ok(Some(line)) = lines.next(&mut warnings) {
        warnings.clear();
        if let Some(open) = &tag {
            if line.text.strip_prefix(b"@") == Some(open.as_slice()) {
                tag = None;
            }
            continue;
        }
        match parse(&line.text) {
            Ok(Statement::If(_)) => depth += 1,
            Ok(Statement::Endif(_)) => depth = depth.saturating_sub(1),
            Ok(Statement::Assign { name, operator, value, .. }) => {
                let text = line.text[value.clone()].to_vec();
                found.push(Assigned {
                    name: line.text[name].to_vec(),
                    place: line.start(),
                    replaces: !matches!(operator, Operator::Append(_)),
                    conditional: depth > 0,
                    value: text.clone(),
                });
                if operator == Operator::Block {
                    tag = Some(text);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_assignment_is_listed_with_its_place() {
        let text = b"A = 1\nif true\n A = 2\nendif\nA += 3\nB @=end\nC = 1\n@end\nA = x \\\n y\n";
        let source = Source { name: Arc::from("f"), text: Arc::from(&text[..]) };
        let shown: Vec<String> = assigned(&source)
            .iter()
            .map(|one| {
                let name = String::from_utf8_lossy(&one.name).into_owned();
                format!("{name} {} {} {}", one.place.line, one.replaces, one.conditional)
            })
            .collect();
        assert_eq!(shown, ["A 1 true false", "A 3 true true", "A 5 false false", "B 6 true false", "A 9 true false"]);
    }
}
