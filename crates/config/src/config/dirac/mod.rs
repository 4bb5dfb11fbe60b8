//! DIRAC's configuration files: groups and their shares, job scheduling, share corrections
//! (`docs/reference/dirac-shares.md` 3–6).
//!
//! In: a [`DiracTree`]. Out: [`DiracSettings`], and what is odd in them.

pub mod correction;
pub mod limit;
pub mod options;
pub mod tree;

use std::sync::Arc;

use indexmap::IndexMap;

pub use correction::{Instance, ShareCorrections, Slice};
pub use limit::{Attribute, SiteLimit};
pub use options::{Lottery, Order, PolicyOptions, Profile, Weighting};
pub use tree::{DiracTree, Entry, Section, Setting};

use super::{ConfigError, Diagnostic, shown};
use classmate::internal::builtin::near;

/// A name or value of DIRAC: bytes, shared.
pub type Word = Arc<[u8]>;

/// The word with these bytes.
pub fn word(bytes: &[u8]) -> Word {
    Arc::from(bytes)
}

/// The name for any community, or any setup.
const DEFAULTS: &[u8] = b"Defaults";

/// The settings of the policy in a DIRAC configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DiracSettings {
    /// Groups by name, in the order of the file.
    pub groups: IndexMap<Word, GroupSettings>,
    /// `taskQueueCPUTimeIntervals` in seconds, if it is a list that can be used.
    pub segments: Option<Vec<i64>>,
    /// `EnableSharesCorrection`: whether shares are corrected at all.
    pub correct: bool,
    /// `ShareCorrections`.
    pub corrections: ShareCorrections,
    /// `RunningLimit`, unless `CheckJobLimits` is off.
    pub running_limits: Vec<SiteLimit>,
    /// `MatchingDelay` in seconds, unless `CheckMatchingDelay` is off.
    pub matching_delays: Vec<SiteLimit>,
    /// Choices where the documentation and the program differ.
    pub options: PolicyOptions,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
}

/// The settings of a group in `/Registry/Groups`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct GroupSettings {
    /// `JobShare`, above 0; none: the default.
    pub share: Option<f64>,
    /// `JobSharing` among the `Properties`: the group's share is not divided among users.
    pub job_sharing: bool,
    /// `AllowBackgroundTQs`.
    pub background: bool,
    /// `Users`.
    pub users: Vec<Word>,
    /// `VO`.
    pub community: Option<Word>,
}

/// The community and setup of the `Operations` that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Whose<'a> {
    /// The community (VO); none: the only one the file has.
    pub community: Option<&'a str>,
    /// The setup; none: the only one the file has.
    pub setup: Option<&'a str>,
}

impl DiracSettings {
    /// Reads a configuration.
    ///
    /// # Errors
    /// A value that is not what its option takes, with its place; or a file that has settings of several communities
    /// or setups when none is chosen.
    ///
    /// ```
    /// use classmate_config::internal::config::dirac::{DiracSettings, DiracTree, Whose};
    /// let text = b"Registry\n{\nGroups\n{\nmc\n{\nJobShare = 300\nProperties = JobSharing\n}\n}\n}";
    /// let tree = DiracTree::parse("c", text)?;
    /// let settings = DiracSettings::read(&tree, Whose::default())?;
    /// let group = &settings.groups[&b"mc"[..]];
    /// assert_eq!((group.share, group.job_sharing), (Some(300.0), true));
    /// # Ok::<(), classmate_config::internal::config::ConfigError>(())
    /// ```
    pub fn read(tree: &DiracTree, whose: Whose<'_>) -> Result<Self, ConfigError> {
        let mut warnings = tree.warnings().to_vec();
        let scheduling = Scheduling::find(tree.root(), whose)?;
        let corrections = match scheduling.section("ShareCorrections") {
            Some(section) => ShareCorrections::read(section, &mut warnings)?,
            None => ShareCorrections::default(),
        };
        let correct = scheduling.option("EnableSharesCorrection");
        let is_on = |name: &str| scheduling.option(name).is_none_or(Setting::is_true);
        let mut limits = |switch: &str, name: &str| match scheduling.section(name) {
            Some(section) if is_on(switch) => limit::read(section, &mut warnings),
            _ => Ok(Vec::new()),
        };
        let (running_limits, matching_delays) =
            (limits("CheckJobLimits", "RunningLimit")?, limits("CheckMatchingDelay", "MatchingDelay")?);
        let segments = scheduling.option("taskQueueCPUTimeIntervals");
        let settings = Self {
            groups: groups(tree.root(), &mut warnings)?,
            segments: segments.and_then(|option| segments_of(option, &mut warnings)),
            correct: correct.is_some_and(Setting::is_true),
            corrections,
            running_limits,
            matching_delays,
            options: PolicyOptions::read(tree.root())?,
            warnings,
        };
        Ok(settings.checked(correct))
    }

    /// With what is odd about the whole.
    fn checked(mut self, correct: Option<Setting<'_>>) -> Self {
        let profile = self.options.profile;
        for instance in &self.corrections.instances {
            if let (Some(unread), Profile::Observed) = (instance.documented_max, profile) {
                let read = instance.global_max(profile);
                if unread != read {
                    let message = format!(
                        "`MaxGlobalCorrectionFactor` of `{}` is ignored: the maximum correction is {read}",
                        shown(&instance.name)
                    );
                    let help = format!("DIRAC reads `MaxGlobalCorrection = {unread}`");
                    self.warnings.push(instance.warning(message).help(help));
                }
            }
            if let Some(group) = instance.group.as_ref().filter(|_| !self.groups.is_empty())
                && !self.groups.contains_key(group)
            {
                let message = format!(
                    "`{}` corrects the shares of the group `{}`, which is not declared",
                    shown(&instance.name),
                    shown(group)
                );
                let warning = instance.warning(message).help("groups are declared in /Registry/Groups");
                let near = near::closest(group, self.groups.keys()).map(|near| shown(near));
                self.warnings.push(warning.did_you_mean(near));
            }
            let shared = instance.group.as_ref().and_then(|group| self.groups.get(group));
            if shared.is_some_and(|group| group.job_sharing) {
                self.warnings.push(instance.warning(format!(
                    "`{}` has no effect: users of a group with JobSharing do not have individual shares",
                    shown(&instance.name)
                )));
            }
        }
        if let Some(first) = self.corrections.instances.first()
            && correct.is_none()
        {
            let warning = first.warning("shares are not corrected, because `EnableSharesCorrection` is not set");
            self.warnings.push(warning.help("add `EnableSharesCorrection = yes` next to `ShareCorrections`"));
        }
        if let Some(correct) = correct.filter(|correct| correct.is_true())
            && self.corrections.order.is_empty()
        {
            let warning = correct.warning("shares are not corrected, because `ShareCorrectorsToStart` is empty");
            self.warnings.push(warning.help("add `ShareCorrectorsToStart = WMSHistory` to `ShareCorrections`"));
        }
        self
    }

    /// The settings of a group, or the defaults.
    pub fn group(&self, name: &[u8]) -> GroupSettings {
        self.groups.get(name).cloned().unwrap_or_default()
    }

    /// Returns true if the share of a group is not divided among its users.
    pub fn shares_jobs(&self, group: &[u8]) -> bool {
        self.groups.get(group).is_some_and(|group| group.job_sharing)
    }
}

/// The options of a group that are read; DIRAC has many others.
const GROUP_OPTIONS: [&str; 5] = ["JobShare", "Properties", "AllowBackgroundTQs", "Users", "VO"];

/// Others that lie near those.
const OTHER_GROUP_OPTIONS: [&str; 3] = ["VOMSVO", "VOMSRole", "IdPRole"];

fn groups(root: Section<'_>, warnings: &mut Vec<Diagnostic>) -> Result<IndexMap<Word, GroupSettings>, ConfigError> {
    let mut groups = IndexMap::new();
    for section in root.section("Registry/Groups").into_iter().flat_map(Section::sections) {
        for option in section.options() {
            let is = |name: &&str| name.as_bytes() == option.name;
            let known = GROUP_OPTIONS.iter().chain(&OTHER_GROUP_OPTIONS).any(is);
            if let Some(near) = near::closest(option.name, GROUP_OPTIONS).filter(|_| !known) {
                let message = format!("`{}` of the group `{}` is ignored", shown(option.name), shown(section.name()));
                warnings.push(option.warning(message).did_you_mean(Some(near)));
            }
        }
        let list = |name: &str| section.option(name).into_iter().flat_map(Setting::list);
        let share = section.option("JobShare").map(|option| match option.number() {
            Some(share) if share > 0.0 => Ok(share),
            _ => Err(option
                .expected("a number above 0")
                .help("a share of 0 cannot be divided; remove the option to use the default of 1000")),
        });
        let shares = |property: &[u8]| property == b"JobSharing" || property == b"JOB_SHARING";
        let group = GroupSettings {
            share: share.transpose()?,
            job_sharing: list("Properties").any(shares),
            background: section.option("AllowBackgroundTQs").is_some_and(Setting::is_true),
            users: list("Users").map(word).collect(),
            community: section.option("VO").map(|option| word(option.text)),
        };
        groups.insert(word(section.name()), group);
    }
    Ok(groups)
}

/// A list that is not strictly increasing, or not numeric, is ignored.
fn segments_of(option: Setting<'_>, warnings: &mut Vec<Diagnostic>) -> Option<Vec<i64>> {
    let number = |item: &[u8]| std::str::from_utf8(item).ok()?.parse::<i64>().ok();
    let segments: Option<Vec<i64>> = option.list().map(number).collect();
    let usable =
        segments.filter(|list| list.first().is_some_and(|first| *first > 0) && list.is_sorted_by(|a, b| a < b));
    if usable.is_none() {
        let warning = option.warning(format!("ignored `{}`, which is `{}`", shown(option.name), shown(option.text)));
        warnings.push(warning.help("expected whole seconds above 0, each greater than the one before"));
    }
    usable
}

/// The sections `JobScheduling` that count, the most specific first.
struct Scheduling<'t>(Vec<Section<'t>>);

/// A section `JobScheduling` and whose it is.
#[derive(Clone, Copy)]
struct Candidate<'t> {
    community: &'t [u8],
    setup: Option<&'t [u8]>,
    section: Section<'t>,
}

impl<'t> Scheduling<'t> {
    fn find(root: Section<'t>, whose: Whose<'_>) -> Result<Self, ConfigError> {
        let mut all = Vec::new();
        for community in root.section("Operations").into_iter().flat_map(Section::sections) {
            let of = |setup: Option<Section<'t>>, section| Candidate {
                community: community.name(),
                setup: setup.map(Section::name),
                section,
            };
            all.extend(community.section("JobScheduling").map(|section| of(None, section)));
            let setups = community.sections().filter(|setup| setup.name() != b"JobScheduling");
            all.extend(setups.filter_map(|setup| Some(of(Some(setup), setup.section("JobScheduling")?))));
        }
        // A file that starts directly with what is otherwise deep inside.
        let mut found: Vec<Section<'t>> = root.section("JobScheduling").into_iter().collect();
        let community = choose("communities", whose.community, all.iter().map(|c| (c.community, c.section)))?;
        all.retain(|candidate| candidate.community == DEFAULTS || Some(candidate.community) == community.as_deref());
        let setups = all.iter().filter_map(|candidate| Some((candidate.setup?, candidate.section)));
        let setup = choose("setups", whose.setup, setups)?;
        all.retain(|c| c.setup.is_none_or(|name| name == DEFAULTS || Some(name) == setup.as_deref()));
        let rank = |candidate: &Candidate<'_>| {
            let setup = candidate.setup.map_or(2, |setup| i32::from(setup == DEFAULTS));
            (candidate.community == DEFAULTS, setup)
        };
        all.sort_by_key(rank);
        found.extend(all.iter().map(|candidate| candidate.section));
        found.push(root);
        Ok(Self(found))
    }

    fn option(&self, name: &str) -> Option<Setting<'t>> {
        self.0.iter().find_map(|section| section.option(name))
    }

    fn section(&self, name: &str) -> Option<Section<'t>> {
        self.0.iter().find_map(|section| section.section(name))
    }
}

/// The name that was asked for, otherwise the only one there is.
fn choose<'t>(
    what: &str,
    asked: Option<&str>,
    names: impl Iterator<Item = (&'t [u8], Section<'t>)>,
) -> Result<Option<Vec<u8>>, ConfigError> {
    if let Some(asked) = asked {
        return Ok(Some(asked.as_bytes().to_vec()));
    }
    let mut names = names.filter(|(name, _)| *name != DEFAULTS);
    let Some((one, _)) = names.next() else { return Ok(None) };
    match names.find(|(name, _)| *name != one) {
        None => Ok(Some(one.to_vec())),
        Some((other, section)) => {
            let message = format!(
                "`JobScheduling` is defined for several {what}, including `{}` and `{}`",
                shown(one),
                shown(other)
            );
            let flag = if what == "setups" { "--setup" } else { "--vo" };
            Err(Diagnostic::error_at(message, Some(section.place().clone()))
                .width(b"JobScheduling".len())
                .help(format!("choose one with {flag} NAME")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sections written as `A/B/c = v`, one option a line.
    fn settings(lines: &[&str], whose: Whose<'_>) -> Result<DiracSettings, ConfigError> {
        let mut text = String::new();
        for line in lines {
            let (path, value) = line.split_once('=').unwrap();
            let mut parts: Vec<&str> = path.trim().split('/').collect();
            let name = parts.pop().unwrap();
            text.extend(parts.iter().map(|part| format!("{part} {{\n")));
            text.push_str(&format!("{name} ={value}\n"));
            text.push_str(&"}\n".repeat(parts.len()));
        }
        DiracSettings::read(&DiracTree::parse("c", text.as_bytes()).unwrap(), whose)
    }

    fn read(lines: &[&str]) -> DiracSettings {
        settings(lines, Whose::default()).unwrap()
    }

    #[test]
    fn misspelled_and_unknown_names_are_reported_with_their_places() {
        let reported = |lines: &[&str]| {
            let warnings = read(lines).warnings;
            warnings.iter().map(classmate::Diagnostic::to_line).collect::<Vec<_>>()
        };
        let none: Vec<String> = Vec::new();
        assert_eq!(
            reported(&[
                "Registry/Groups/mc/JobShre = 5",
                "Registry/Groups/mc/VOMSRole = x",
                "Registry/Groups/mc/Colour = red"
            ]),
            ["c:4:1: `JobShre` of the group `mc` is ignored"]
        );
        let instance = "JobScheduling/ShareCorrections/WMSHistory/a";
        let slice = format!("{instance}/s/Weight = 1");
        let lines = |group: &str| {
            vec![
                "Registry/Groups/mc/JobShare = 5".to_owned(),
                "JobScheduling/EnableSharesCorrection = yes".to_owned(),
                "JobScheduling/ShareCorrections/ShareCorrectorsToStart = WMSHistory".to_owned(),
                format!("{instance}/Group = {group}"),
                slice.clone(),
            ]
        };
        let of = |group: &str| reported(&lines(group).iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(of("mc"), none);
        let missing = of("nosuch");
        assert_eq!(missing.len(), 1);
        assert!(
            missing[0].ends_with("`a` corrects the shares of the group `nosuch`, which is not declared"),
            "{missing:?}"
        );
        assert_eq!(
            reported(&["JobScheduling/EnableSharesCorrection = yes"]),
            ["c:2:1: shares are not corrected, because `ShareCorrectorsToStart` is empty"]
        );
    }

    #[test]
    fn groups_have_shares_and_properties() {
        let found = read(&[
            "Registry/Groups/mc/JobShare = 300",
            "Registry/Groups/mc/Properties = NormalUser, JobSharing",
            "Registry/Groups/usr/Users = ann, bob",
            "Registry/Groups/usr/AllowBackgroundTQs = Yes",
        ]);
        assert_eq!((found.group(b"mc").share, found.shares_jobs(b"mc")), (Some(300.0), true));
        assert_eq!((found.group(b"usr").share, found.shares_jobs(b"usr")), (None, false));
        assert!(found.group(b"usr").background && found.group(b"usr").users.len() == 2);
        assert_eq!(found.group(b"nobody"), GroupSettings::default());
    }

    #[test]
    fn a_share_of_zero_is_an_error_with_its_place() {
        for share in ["0", "-5", "x", "nan"] {
            let error = settings(&[&format!("Registry/Groups/mc/JobShare = {share}")], Whose::default()).unwrap_err();
            assert_eq!(error.message, format!("`JobShare` is `{share}`: expected a number above 0"));
            assert_eq!(error.place.unwrap().to_string(), "c:4:12");
        }
    }

    #[test]
    fn job_scheduling_is_found_wherever_it_may_stand() {
        for path in [
            "Operations/lhcb/Production/JobScheduling/",
            "Operations/lhcb/Defaults/JobScheduling/",
            "Operations/Defaults/Production/JobScheduling/",
            "Operations/Defaults/JobScheduling/",
            "Operations/lhcb/JobScheduling/",
            "JobScheduling/",
            "",
        ] {
            let found = read(&[
                &format!("{path}EnableSharesCorrection = yes"),
                &format!("{path}ShareCorrections/ShareCorrectorsToStart = WMSHistory"),
                &format!("{path}ShareCorrections/WMSHistory/all/week/Weight = 1"),
            ]);
            assert!(found.correct, "{path}");
            assert_eq!(found.corrections.instances.len(), 1, "{path}");
            assert_eq!(found.warnings, [], "{path}");
        }
    }

    #[test]
    fn the_more_specific_section_counts_and_a_choice_may_be_needed() {
        let lines = [
            "Operations/Defaults/JobScheduling/taskQueueCPUTimeIntervals = 1",
            "Operations/lhcb/JobScheduling/taskQueueCPUTimeIntervals = 2",
            "Operations/lhcb/Production/JobScheduling/taskQueueCPUTimeIntervals = 3",
        ];
        assert_eq!(read(&lines).segments, Some(vec![3]));
        assert_eq!(read(&lines[..2]).segments, Some(vec![2]));
        let two = [lines[1], "Operations/cta/JobScheduling/taskQueueCPUTimeIntervals = 4"];
        let error = settings(&two, Whose::default()).unwrap_err();
        assert_eq!(error.message, "`JobScheduling` is defined for several communities, including `lhcb` and `cta`");
        let cta = settings(&two, Whose { community: Some("cta"), setup: None }).unwrap();
        assert_eq!(cta.segments, Some(vec![4]));
    }

    #[test]
    fn segments_that_do_not_increase_are_ignored_with_a_warning() {
        for text in ["100, 100", "200, 100", "0, 100", "a", ""] {
            let found = read(&[&format!("JobScheduling/taskQueueCPUTimeIntervals = {text}")]);
            assert_eq!((found.segments, found.warnings.len()), (None, 1), "{text}");
        }
        assert_eq!(read(&["JobScheduling/taskQueueCPUTimeIntervals = 500, 900"]).segments, Some(vec![500, 900]));
    }

    #[test]
    fn what_has_no_effect_is_told() {
        let found = read(&[
            "ShareCorrections/ShareCorrectorsToStart = WMSHistory",
            "ShareCorrections/WMSHistory/mcOnly/Group = mc",
            "ShareCorrections/WMSHistory/mcOnly/MaxGlobalCorrectionFactor = 3",
            "ShareCorrections/WMSHistory/mcOnly/week/Weight = 1",
            "Registry/Groups/mc/Properties = JobSharing",
        ]);
        let reported: Vec<_> = found.warnings.iter().map(|warning| warning.message.as_str()).collect();
        assert_eq!(
            reported,
            [
                "`MaxGlobalCorrectionFactor` of `mcOnly` is ignored: the maximum correction is 5",
                "`mcOnly` has no effect: users of a group with JobSharing do not have individual shares",
                "shares are not corrected, because `EnableSharesCorrection` is not set",
            ]
        );
    }
}
