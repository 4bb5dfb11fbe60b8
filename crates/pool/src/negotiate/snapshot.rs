//! The only input of a cycle: the state of a pool at one moment.
//!
//! In: the ads, log and configuration of a pool, read. Can be serialized, so that every cycle can be replayed.

use std::sync::Arc;

use hashbrown::HashMap;
use serde::{Deserialize, Serialize, Serializer};

use crate::accountant::AccountantLog;
use crate::pool::ad_reader::AdReader;
use crate::pool::slot::Slot;
use crate::priority::Policy;
use crate::priority::ranking::ServiceOrder;
use crate::queue::cluster::whole;
use classmate::internal::ad::{Attribute, ClassAd};
use classmate::internal::builtin::user_map::{UserMap, UserMaps};
use classmate::internal::eval::scope::EvalOptions;
use classmate::internal::name::Name;
use classmate::internal::syntax::print::Style;
use classmate_config::internal::config::{Config, Location};

/// A pool at one moment.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "RecordedSnapshot")]
pub struct Snapshot {
    /// The configuration.
    pub config: Config,
    /// Slot ads, in the order in which they are evaluated.
    pub slots: Vec<ClassAd>,
    /// Names of slot attributes whose values were not kept; used only to recognize misspelled names, and not complete.
    pub unkept: Vec<Name>,
    /// Job ads, in any order.
    pub jobs: Vec<ClassAd>,
    /// Submitter ads. `None`: they are derived from the jobs.
    pub submitters: Option<Vec<ClassAd>>,
    /// True if submitters that are equal in everything else negotiate in the order of their ads. Otherwise they do so in the
    /// order in which a collector hands the ads out and the negotiator sorts them, which is computed from their names.
    pub submitters_in_order: bool,
    /// True in the first cycle of a negotiator that was just started: it does not know the groups of the users of slots.
    pub first_cycle: bool,
    /// The number of the last job start of each submitter, by name; used if submitters are derived from the jobs. Among
    /// submitters that are otherwise equal, the one that has waited longest is served first. In a pool, the time of the
    /// last submitter ad decides instead, which is effectively random and changes every few minutes.
    pub served: HashMap<Vec<u8>, u64>,
    /// The accountant's log; `None`: no usage yet.
    pub log: Option<AccountantLog>,
    /// The user maps of the negotiator.
    pub maps: Arc<UserMaps>,
    /// The scheduling policy, which decides the order of service.
    pub policy: Policy,
    /// The clock, epoch seconds.
    pub now: i64,
    /// The seed of `random()`.
    pub seed: u64,
}

impl Snapshot {
    /// The newest time in the slot, job and submitter ads and the accountant's log, epoch seconds; 0 if there is none.
    ///
    /// The default clock of a cycle: a recorded pool is evaluated at the time of its recording.
    pub fn newest_time(&self) -> i64 {
        let settings = EvalOptions { semantics: self.config.semantics(), ..EvalOptions::default() };
        let in_ads = |ads: &[ClassAd], names: &[&str]| {
            let times = |ad| names.iter().filter_map(|&name| AdReader::of(ad, &settings).integer(name)).max();
            ads.iter().filter_map(times).max().unwrap_or(0)
        };
        let log = self.log.as_ref().and_then(|log| log.get(b"Accountant.")?.integer("LastUpdateTime"));
        let heard = ["MyCurrentTime", "LastHeardFrom"];
        in_ads(&self.slots, &heard)
            .max(in_ads(&self.jobs, &["ServerTime"]))
            .max(in_ads(self.submitters.as_deref().unwrap_or_default(), &heard))
            .max(log.unwrap_or(0))
    }

    /// The order in which the policy serves jobs.
    pub fn order(&self) -> ServiceOrder {
        self.policy.ranking(&self.slots, &self.jobs, &self.settings())
    }

    /// Clock, seed and version for evaluations.
    pub fn settings(&self) -> EvalOptions {
        EvalOptions {
            now: self.now,
            seed: self.seed,
            semantics: self.config.semantics(),
            maps: Arc::clone(&self.maps),
            ..EvalOptions::default()
        }
    }

    /// The settings for a cycle over slots, which is faster if the ads do not have several versions.
    pub(crate) fn settings_over(&self, slots: &[Slot]) -> EvalOptions {
        let settings = self.settings();
        let chosen = settings.semantics;
        let is_alike = |value: &Attribute| {
            value.tree().is_none_or(|tree| chosen.alone().differences(tree.semantics).next().is_none())
        };
        let ads = slots.iter().map(|slot| &slot.ad).chain(&self.jobs).chain(self.submitters.iter().flatten());
        let mut attributes = ads.flat_map(ClassAd::lineage).flat_map(ClassAd::attributes);
        let is_one = chosen.is_advertised() && attributes.all(|(_, value)| is_alike(value));
        EvalOptions { semantics: if is_one { chosen.alone() } else { chosen }, ..settings }
    }
}

/// Bytes, as a string if they are valid UTF-8, otherwise as numbers: no data is lost.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TextOrBytes {
    Text(String),
    Raw(Vec<u8>),
}

impl From<Vec<u8>> for TextOrBytes {
    fn from(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Raw(error.into_bytes()), Self::Text)
    }
}

impl From<TextOrBytes> for Vec<u8> {
    fn from(bytes: TextOrBytes) -> Self {
        match bytes {
            TextOrBytes::Text(text) => text.into_bytes(),
            TextOrBytes::Raw(bytes) => bytes,
        }
    }
}

/// A snapshot as it is serialized.
#[derive(Serialize, Deserialize)]
struct RecordedSnapshot {
    config: Vec<RecordedAssignment>,
    slots: Vec<TextOrBytes>,
    jobs: Vec<TextOrBytes>,
    submitters: Option<Vec<TextOrBytes>>,
    #[serde(default)]
    submitters_in_order: bool,
    #[serde(default)]
    first_cycle: bool,
    log: Option<TextOrBytes>,
    #[serde(default)]
    maps: Vec<(TextOrBytes, TextOrBytes)>,
    #[serde(default)]
    policy: Policy,
    now: i64,
    seed: u64,
}

#[derive(Serialize, Deserialize)]
struct RecordedAssignment {
    name: TextOrBytes,
    value: TextOrBytes,
    file: String,
    line: u32,
    column: u32,
}

fn written(ads: &[ClassAd]) -> Vec<TextOrBytes> {
    let text = |ad: &ClassAd| if ad.chained().is_some() { whole(ad).to_expr() } else { ad.to_expr() };
    ads.iter().map(|ad| text(ad).to_text(Style::New).into()).collect()
}

fn read(ads: Vec<TextOrBytes>) -> Result<Vec<ClassAd>, String> {
    ads.into_iter().map(|ad| ClassAd::parse(Vec::from(ad)).map_err(|error| error.to_string())).collect()
}

impl From<&Snapshot> for RecordedSnapshot {
    fn from(snapshot: &Snapshot) -> Self {
        let assignment = |(name, value, place): (&[u8], &[u8], &Location)| RecordedAssignment {
            name: name.to_vec().into(),
            value: value.to_vec().into(),
            file: place.file.to_string(),
            line: place.line,
            column: place.column,
        };
        Self {
            config: snapshot.config.assignments().map(assignment).collect(),
            slots: written(&snapshot.slots),
            jobs: written(&snapshot.jobs),
            submitters: snapshot.submitters.as_deref().map(written),
            submitters_in_order: snapshot.submitters_in_order,
            first_cycle: snapshot.first_cycle,
            log: snapshot.log.as_ref().map(|log| log.to_text().into()),
            maps: snapshot
                .maps
                .texts()
                .iter()
                .map(|(name, text)| (name.to_vec().into(), text.to_vec().into()))
                .collect(),
            policy: snapshot.policy.clone(),
            now: snapshot.now,
            seed: snapshot.seed,
        }
    }
}

impl TryFrom<RecordedSnapshot> for Snapshot {
    type Error = String;

    fn try_from(recorded: RecordedSnapshot) -> Result<Self, String> {
        let assignment = |RecordedAssignment { name, value, file, line, column }: RecordedAssignment| {
            (name.into(), value.into(), Location { file: file.into(), line, column })
        };
        let log = recorded.log.map(|text| AccountantLog::read(&Vec::from(text)).map_err(|error| error.to_string()));
        let mut maps = UserMaps::default();
        for (name, text) in recorded.maps {
            maps.insert(&Vec::from(name), UserMap::parse(&Vec::from(text)));
        }
        Ok(Self {
            maps: Arc::new(maps),
            config: Config::from_assignments(recorded.config.into_iter().map(assignment)),
            slots: read(recorded.slots)?,
            unkept: Vec::new(),
            served: HashMap::new(),
            jobs: read(recorded.jobs)?,
            submitters: recorded.submitters.map(read).transpose()?,
            submitters_in_order: recorded.submitters_in_order,
            first_cycle: recorded.first_cycle,
            log: log.transpose()?,
            policy: recorded.policy,
            now: recorded.now,
            seed: recorded.seed,
        })
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RecordedSnapshot::from(self).serialize(serializer)
    }
}
