//! `ShareCorrections`: which correctors run, for whom, over which time slices (`docs/reference/dirac-shares.md` 4.1).

use hashbrown::HashMap;
use indexmap::IndexSet;

use super::tree::{Section, Setting};
use super::{Profile, Word, word};
use crate::config::{ConfigError, Diagnostic, Location, shown};
use classmate::internal::builtin::near;

/// The correctors there are.
const CORRECTORS: [&str; 2] = ["WMSHistory", "MonitoringHistory"];

/// Seconds a slice looks back by default.
const TIME_SPAN: f64 = 604_800.0;
/// A slice's weight by default.
const WEIGHT: f64 = 1.0;
/// A slice's greatest factor by default.
const MAX_CORRECTION: f64 = 3.0;
/// An instance's greatest factor by default.
const GLOBAL_MAX: f64 = 5.0;

/// The correctors to run, in order, with their instances.
///
/// ```
/// use classmate_config::internal::config::dirac::{Profile, ShareCorrections, DiracTree};
/// let text = b"ShareCorrectorsToStart = WMSHistory\nWMSHistory\n{\nAll\n{\nMaxGlobalCorrectionFactor = 3\n\
///              Week\n{\nWeight = 80\n}\nHour\n{\nTimeSpan = 3600\nWeight = 20\n}\n}\n}";
/// let tree = DiracTree::parse("c", text)?;
/// let corrections = ShareCorrections::read(tree.root(), &mut Vec::new())?;
/// let instance = &corrections.instances[0];
/// assert_eq!(instance.slices.iter().map(|slice| slice.weight).collect::<Vec<_>>(), [0.8, 0.2]);
/// assert_eq!(instance.global_max(Profile::Documented), 3.0);
/// assert_eq!(instance.global_max(Profile::Observed), 5.0);
/// # Ok::<(), classmate_config::internal::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShareCorrections {
    /// `ShareCorrectorsToStart`: types of correctors, in the order in which they are applied.
    pub order: Vec<Word>,
    /// Instances in that order; one for each corrector and target.
    pub instances: Vec<Instance>,
}

/// One corrector for one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// Its type, such as `WMSHistory`.
    pub corrector: Word,
    /// The name of the section.
    pub name: Word,
    /// The group whose users' shares are corrected; none: the shares of groups are.
    pub group: Option<Word>,
    /// Its time slices, in the order of the file.
    pub slices: Vec<Slice>,
    /// `MaxGlobalCorrectionFactor`, the name in the documentation.
    pub documented_max: Option<f64>,
    /// `MaxGlobalCorrection`, the name the program reads.
    pub observed_max: Option<f64>,
    /// The beginning of the section.
    pub place: Location,
}

/// A stretch of the past that is looked at.
#[derive(Debug, Clone, PartialEq)]
pub struct Slice {
    /// The name of the section.
    pub name: Word,
    /// `TimeSpan`: seconds back from now.
    pub time_span: f64,
    /// `Weight` as a fraction of the weights of all slices of the instance.
    pub weight: f64,
    /// `MaxCorrection`: its factor stays between this and its inverse.
    pub max_correction: f64,
}

impl Instance {
    /// The bound of the whole factor, which stays between this and its inverse.
    ///
    /// The documentation's `MaxGlobalCorrectionFactor` counts in the documented profile only.
    pub fn global_max(&self, profile: Profile) -> f64 {
        let documented = self.documented_max.filter(|_| profile == Profile::Documented);
        documented.or(self.observed_max).unwrap_or(GLOBAL_MAX)
    }

    /// A warning about its name.
    pub(super) fn warning(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning_at(message, self.place.clone()).width(self.name.len())
    }
}

impl ShareCorrections {
    /// Reads the section `ShareCorrections`.
    ///
    /// # Errors
    /// A number that is none or out of range, or slices whose weights sum to zero.
    pub fn read(section: Section<'_>, warnings: &mut Vec<Diagnostic>) -> Result<Self, ConfigError> {
        let started = section.option("ShareCorrectorsToStart");
        let order: Vec<Word> = started.into_iter().flat_map(Setting::list).map(word).collect();
        let mut instances: Vec<Instance> = Vec::new();
        let mut targets: HashMap<(Word, Option<Word>), usize> = HashMap::new();
        let distinct: IndexSet<&Word> = order.iter().collect();
        for corrector in distinct {
            if let Some(started) = started.filter(|_| !CORRECTORS.iter().any(|known| known.as_bytes() == &**corrector))
            {
                let warning = started.warning(format!("`{}` is not a DIRAC corrector", shown(corrector)));
                warnings.push(warning.help(format!("expected {}", CORRECTORS.join(" or "))));
            }
            let Some(found) = section.named(corrector) else {
                let message = format!("the corrector `{}` does not have a section", shown(corrector));
                warnings.extend(started.map(|started| Diagnostic::warning_at(message, started.place.clone())));
                continue;
            };
            for section in found.sections() {
                let instance = Instance::read(corrector, section, warnings)?;
                let target = (corrector.clone(), instance.group.clone());
                let first = targets.get(&target).and_then(|&at| instances.get(at));
                if let Some(first) = first {
                    let (now, before) = (shown(&instance.name), shown(&first.name));
                    let message = format!("`{now}` corrects the same shares as `{before}` and is ignored");
                    warnings.push(instance.warning(message).help(format!("the first one is used, at {}", first.place)));
                } else {
                    targets.insert(target, instances.len());
                    instances.push(instance);
                }
            }
        }
        Ok(Self { order, instances })
    }
}

impl Instance {
    fn read(corrector: &Word, section: Section<'_>, warnings: &mut Vec<Diagnostic>) -> Result<Self, ConfigError> {
        check_names(
            section,
            &["Group", "MaxGlobalCorrectionFactor", "MaxGlobalCorrection", "UpdateHistoryPeriod"],
            warnings,
        );
        let slices = section.sections().map(|slice| Slice::read(slice, warnings));
        let mut slices = slices.collect::<Result<Vec<_>, _>>()?;
        let name = word(section.name());
        let total: f64 = slices.iter().map(|slice| slice.weight).sum();
        if slices.is_empty() {
            warnings.push(section.warning(format!(
                "the corrector instance `{}` does not have a time slice, so it has no effect",
                shown(&name)
            )));
        } else if total <= 0.0 || !total.is_finite() {
            let message = format!("the weights of the slices of `{}` sum to {total}", shown(&name));
            let error = Diagnostic::error_at(message, section.place().clone()).width(name.len());
            return Err(error.help("at least one slice must have a `Weight` above 0"));
        }
        for slice in &mut slices {
            slice.weight /= total;
        }
        let mut bound = |name: &str| section.option(name).map(|setting| greatest(setting, warnings)).transpose();
        Ok(Self {
            corrector: corrector.clone(),
            group: section.option("Group").filter(|group| !group.text.is_empty()).map(|group| word(group.text)),
            documented_max: bound("MaxGlobalCorrectionFactor")?,
            observed_max: bound("MaxGlobalCorrection")?,
            place: section.place().clone(),
            name,
            slices,
        })
    }
}

impl Slice {
    /// Reads the section of a slice; its weight is not divided yet.
    fn read(section: Section<'_>, warnings: &mut Vec<Diagnostic>) -> Result<Self, ConfigError> {
        check_names(section, &["TimeSpan", "Weight", "MaxCorrection"], warnings);
        let weight = section.option("Weight").map_or(Ok(WEIGHT), |weight| match weight.number() {
            Some(number) if number >= 0.0 => Ok(number),
            _ => Err(weight.expected("a number of at least 0")),
        })?;
        Ok(Self {
            name: word(section.name()),
            time_span: section.option("TimeSpan").map_or(Ok(TIME_SPAN), positive)?,
            weight,
            max_correction: match section.option("MaxCorrection") {
                Some(setting) => greatest(setting, warnings)?,
                None => MAX_CORRECTION,
            },
        })
    }
}

/// A greatest factor; below 1 its inverse is the larger of the two, and what was meant as a bound is the only value
/// left.
fn greatest(setting: Setting<'_>, warnings: &mut Vec<Diagnostic>) -> Result<f64, ConfigError> {
    let number = positive(setting)?;
    if number < 1.0 {
        let (name, all) = (shown(setting.name), 1.0 / number);
        let warning = setting.warning(format!("`{name}` is `{number}`, below 1, so all factors become {all}"));
        let help = "factors are limited to the range from the inverse of this number to the number, \
            so it must be at least 1";
        warnings.push(warning.help(help));
    }
    Ok(number)
}

/// Reports unknown options.
pub(super) fn check_names(section: Section<'_>, known: &[&str], warnings: &mut Vec<Diagnostic>) {
    for option in section.options().filter(|option| !known.iter().any(|name| name.as_bytes() == option.name)) {
        let (name, of) = (shown(option.name), shown(section.name()));
        let warning = option.warning(format!("`{name}` is not an option of `{of}`"));
        let warning = warning.help(format!("expected {}", known.join(", ")));
        warnings.push(warning.did_you_mean(near::closest(option.name, known.iter().copied())));
    }
}

fn positive(setting: Setting<'_>) -> Result<f64, ConfigError> {
    match setting.number() {
        Some(number) if number > 0.0 => Ok(number),
        _ => Err(setting.expected("a number above 0")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::dirac::DiracTree;

    fn read(text: &str) -> (Result<ShareCorrections, ConfigError>, Vec<String>) {
        let tree = DiracTree::parse("c", text.as_bytes()).unwrap();
        let mut warnings = Vec::new();
        let corrections = ShareCorrections::read(tree.root(), &mut warnings);
        (corrections, warnings.iter().map(classmate::Diagnostic::to_line).collect())
    }

    fn instances(body: &str) -> String {
        format!("ShareCorrectorsToStart = WMSHistory\nWMSHistory\n{{\n{body}\n}}")
    }

    #[test]
    fn slices_have_defaults_and_weights_become_fractions() {
        let corrections = read(&instances("a\n{\none\n{\n}\ntwo\n{\nWeight = 3\nTimeSpan = 60\n}\n}")).0.unwrap();
        let instance = &corrections.instances[0];
        let slices: Vec<_> = instance.slices.iter().map(|s| (s.time_span, s.weight, s.max_correction)).collect();
        assert_eq!(slices, [(604_800.0, 0.25, 3.0), (60.0, 0.75, 3.0)]);
        assert_eq!((instance.global_max(Profile::Documented), &instance.group), (5.0, &None));
    }

    #[test]
    fn the_first_instance_for_a_target_counts() {
        let (corrections, warnings) =
            read(&instances("a\n{\ns\n{\n}\n}\nb\n{\nGroup = g\ns\n{\n}\n}\nc\n{\ns\n{\n}\n}"));
        let names: Vec<_> = corrections.unwrap().instances.iter().map(|i| shown(&i.name)).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(warnings, ["c:17:1: `c` corrects the same shares as `a` and is ignored"]);
    }

    #[test]
    fn weights_that_sum_to_zero_are_an_error_at_the_instance() {
        let error = read(&instances("  all\n{\ns\n{\nWeight = 0\n}\n}")).0.unwrap_err();
        assert_eq!(error.message, "the weights of the slices of `all` sum to 0");
        assert_eq!(error.place.unwrap().to_string(), "c:4:3");
    }

    #[test]
    fn numbers_out_of_range_are_told_at_the_value() {
        for (line, message, place) in [
            ("Weight = -1", "`Weight` is `-1`: expected a number of at least 0", "c:8:10"),
            ("TimeSpan = 0", "`TimeSpan` is `0`: expected a number above 0", "c:8:12"),
            ("MaxCorrection = x", "`MaxCorrection` is `x`: expected a number above 0", "c:8:17"),
            ("TimeSpan =", "`TimeSpan` is ``: expected a number above 0", "c:8:1"),
        ] {
            let error = read(&instances(&format!("a\n{{\ns\n{{\n{line}\n}}\n}}"))).0.unwrap_err();
            assert_eq!((error.message.as_str(), error.place.unwrap().to_string().as_str()), (message, place));
        }
    }

    #[test]
    fn what_is_misspelled_or_turns_a_bound_round_is_told_with_its_place() {
        let odd = "a\n{\nGruop = g\nMaxGlobalCorrection = 0.25\ns\n{\nMaxCorrection = 0.5\nWieght = 2\n}\n}";
        let reported = read(&instances(odd)).1;
        let expected = [
            "c:6:1: `Gruop` is not an option of `a`",
            "c:10:1: `MaxCorrection` is `0.5`, below 1, so all factors become 2",
            "c:11:1: `Wieght` is not an option of `s`",
            "c:7:1: `MaxGlobalCorrection` is `0.25`, below 1, so all factors become 4",
        ];
        let mut reported: Vec<&str> = reported.iter().map(String::as_str).collect();
        reported.sort_by_key(|line| expected.iter().position(|expected| expected == line));
        assert_eq!(reported, expected);
        let text = "ShareCorrectorsToStart = Foo\nFoo\n{\na\n{\ns\n{\n}\n}\n}";
        assert_eq!(read(text).1, ["c:1:1: `Foo` is not a DIRAC corrector"]);
    }

    #[test]
    fn what_corrects_nothing_is_told() {
        assert_eq!(
            read("ShareCorrectorsToStart = WMSHistory").1,
            ["c:1:1: the corrector `WMSHistory` does not have a section"]
        );
        let warnings = read(&instances("a\n{\n}")).1;
        assert_eq!(warnings, ["c:4:1: the corrector instance `a` does not have a time slice, so it has no effect"]);
    }
}
