//! All assignments of a text, also those that later ones replace.

use std::sync::Arc;

use super::line::{Lines, Logical};
use super::statement::{Operator, Statement, parse};
use super::{Location, Source, shown, template};

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

/// Calls a function with each statement of a text other than conditions, its line, and whether it is between `if` and `endif`.
/// Lines that are none, and those of values of several lines, are passed over.
fn each_statement(file: Arc<str>, text: &[u8], see: &mut dyn FnMut(&Logical, Statement, bool)) {
    let mut lines = Lines::new(file, text);
    let mut warnings = Vec::new();
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
            Ok(statement) => {
                if let Statement::Assign { operator: Operator::Block, value, .. } = &statement {
                    tag = Some(line.text[value.clone()].to_vec());
                }
                see(&line, statement, depth > 0);
            }
            Err(_) => {}
        }
    }
}

/// The assignments of a text in their order.
pub fn assigned(source: &Source) -> Vec<Assigned> {
    let mut found = Vec::new();
    each_statement(Arc::clone(&source.name), &source.text, &mut |line, statement, conditional| {
        if let Statement::Assign { name, operator, value, .. } = statement {
            found.push(Assigned {
                name: line.text[name].to_vec(),
                value: line.text[value].to_vec(),
                place: line.start(),
                replaces: !matches!(operator, Operator::Append(_)),
                conditional,
            });
        }
    });
    found
}

/// A template that a file uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateUse {
    /// The category and the name, `POLICY : Desktop`.
    pub title: String,
    /// Its arguments.
    pub arguments: Vec<Vec<u8>>,
    /// The statement that uses it.
    pub place: Location,
    /// The names that it sets, upper case; with true if the new value refers to the earlier one.
    pub sets: Vec<(Vec<u8>, bool)>,
}

/// The templates that a text uses outside of conditions, in their order.
pub fn templates(source: &Source) -> Vec<TemplateUse> {
    let mut found = Vec::new();
    each_statement(Arc::clone(&source.name), &source.text, &mut |line, statement, conditional| {
        let Statement::Use { category, items } = statement else { return };
        let category = &line.text[category];
        for item in template::items(&line.text[items]).unwrap_or_default().into_iter().filter(|_| !conditional) {
            let mut sets = Vec::new();
            set_by(category, &item, MAX_NESTED, &mut sets);
            let arguments = template::arguments(item.arguments);
            let title = format!("{} : {}", shown(category), shown(item.name));
            found.push(TemplateUse { title, arguments, place: line.start(), sets });
        }
    });
    found
}

/// Templates within templates that are looked at.
const MAX_NESTED: u32 = 8;

/// The names that a template sets in any case.
fn set_by(category: &[u8], item: &template::Item<'_>, nested: u32, sets: &mut Vec<(Vec<u8>, bool)>) {
    let Some(known) = template::find(template::all("STARTD"), category, item.name) else { return };
    let text = template::with_arguments(known.text.as_bytes(), item.arguments);
    let mut maybe: Vec<(Vec<u8>, bool)> = Vec::new();
    each_statement(Arc::from(known.name), &text, &mut |line, statement, conditional| match statement {
        Statement::Assign { name, operator, value, .. } => {
            let upper = line.text[name].to_ascii_uppercase();
            let own = [b"$(", upper.as_slice()].concat();
            let refers = memchr::memmem::find(&line.text[value].to_ascii_uppercase(), &own).is_some();
            let appends = matches!(operator, Operator::Append(_));
            // A name that refers to others is not known here.
            if !upper.contains(&b'$') {
                let into = if conditional { &mut maybe } else { &mut *sets };
                into.push((upper, refers || appends));
            }
        }
        Statement::Use { category, items } if nested > 0 && !conditional => {
            for item in template::items(&line.text[items]).unwrap_or_default() {
                set_by(&line.text[category.clone()], &item, nested - 1, sets);
            }
        }
        _ => {}
    });
    // One branch adds to a value, the other one sets it where there is none.
    let is_set = |name: &[u8]| maybe.iter().any(|(other, adds)| other == name && !adds);
    sets.extend(maybe.iter().filter(|(name, adds)| *adds && is_set(name)).cloned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_listed_with_what_they_set() {
        let text = b"use POLICY : Preempt_If_Memory_Exceeded, Always_Run_Jobs\nif true\nuse POLICY : Desktop\nendif\n\
            use feature : ScheddUserMapFile(m, /m), StartdCronPeriodic(t, 5m, /p)\n";
        let found = templates(&Source { name: Arc::from("f"), text: Arc::from(&text[..]) });
        let titles: Vec<&str> = found.iter().map(|one| one.title.as_str()).collect();
        assert_eq!(
            titles,
            [
                "POLICY : Preempt_If_Memory_Exceeded",
                "POLICY : Always_Run_Jobs",
                "feature : ScheddUserMapFile",
                "feature : StartdCronPeriodic"
            ]
        );
        assert!(found[0].sets.contains(&(b"PREEMPT".to_vec(), true)), "{:?}", found[0]);
        assert!(found[1].sets.contains(&(b"PREEMPT".to_vec(), false)), "{:?}", found[1]);
        // Names that are made of arguments, also in a template that uses another.
        assert!(found[2].sets.contains(&(b"CLASSAD_USER_MAPFILE_M".to_vec(), false)), "{:?}", found[2]);
        assert!(found[3].sets.contains(&(b"STARTD_CRON_JOBLIST".to_vec(), true)), "{:?}", found[3]);
    }

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
