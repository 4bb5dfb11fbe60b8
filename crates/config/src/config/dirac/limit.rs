//! Limits of sites: `RunningLimit` and `MatchingDelay` (`docs/reference/dirac-shares.md` 5).

use super::tree::Section;
use super::{Word, word};
use crate::config::{ConfigError, Diagnostic, Location, shown};

/// The job attribute that a limit distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Attribute {
    /// The owner of the job.
    Owner,
    /// The group it was submitted with.
    OwnerGroup,
    /// One of its job types.
    JobType,
    /// One of its platforms.
    Platform,
    /// One of its computing elements.
    GridCE,
    /// One of its tags.
    Tag,
}

impl Attribute {
    const ALL: [(&'static str, Self); 6] = [
        ("Owner", Self::Owner),
        ("OwnerGroup", Self::OwnerGroup),
        ("JobType", Self::JobType),
        ("Platform", Self::Platform),
        ("GridCE", Self::GridCE),
        ("Tag", Self::Tag),
    ];

    fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, attribute)| *attribute)
    }
}

/// A number for the jobs of a kind at a site.
#[derive(Debug, Clone, PartialEq)]
pub struct SiteLimit {
    /// The site.
    pub site: Word,
    /// The job attribute that the limit distinguishes.
    pub attribute: Attribute,
    /// The value that is limited.
    pub value: Word,
    /// Jobs, or seconds; not negative.
    pub limit: f64,
    /// The place at which it is set.
    pub place: Location,
}

/// Reads `<site>/<attribute>/<value> = number`.
pub(super) fn read(section: Section<'_>, warnings: &mut Vec<Diagnostic>) -> Result<Vec<SiteLimit>, ConfigError> {
    let mut limits = Vec::new();
    for site in section.sections() {
        for kind in site.sections() {
            let Some(attribute) = Attribute::named(kind.name()) else {
                let warning = kind.warning(format!("`{}` cannot be used to limit jobs", shown(kind.name())));
                let known: Vec<&str> = Attribute::ALL.iter().map(|(name, _)| *name).collect();
                warnings.push(warning.help(format!("expected one of {}", known.join(", "))));
                continue;
            };
            for option in kind.options() {
                let limit = option.number().filter(|number| *number >= 0.0);
                limits.push(SiteLimit {
                    site: word(site.name()),
                    attribute,
                    value: word(option.name),
                    limit: limit.ok_or_else(|| option.expected("a number of at least 0"))?,
                    place: option.place.clone(),
                });
            }
        }
    }
    Ok(limits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::dirac::DiracTree;

    #[test]
    fn limits_are_by_site_attribute_and_value() {
        let text = "CERN\n{\nJobType\n{\nUser = 5\n}\nHair\n{\nred = 1\n}\n}";
        let tree = DiracTree::parse("c", text.as_bytes()).unwrap();
        let mut warnings = Vec::new();
        let limits = read(tree.root(), &mut warnings).unwrap();
        assert_eq!(limits.len(), 1);
        assert_eq!((&*limits[0].site, limits[0].attribute, limits[0].limit), (&b"CERN"[..], Attribute::JobType, 5.0));
        assert_eq!(warnings[0].message, "`Hair` cannot be used to limit jobs");
        let wrong = DiracTree::parse("c", b"CERN\n{\nOwner\n{\nann = few\n}\n}").unwrap();
        let error = read(wrong.root(), &mut warnings).unwrap_err();
        assert_eq!(error.message, "`ann` is `few`: expected a number of at least 0");
    }
}
