//! Choices where DIRAC's documentation and its program differ, and the way lots are drawn.
//!
//! They are in a section `Classmate` that DIRAC itself does not read.

use serde::de::value::StrDeserializer;
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};

use super::tree::{Section, Setting};
use crate::config::{ConfigError, Diagnostic};

/// The source of the rules of correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Those of the program.
    #[default]
    Observed,
    /// Those of the documentation.
    Documented,
}

/// The division of a share among the task queues of an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// By the average priority of their jobs, families added up, as the program does.
    #[default]
    Observed,
    /// 1/N of it, times the queue's part of all user priorities, as the documentation says.
    Literal,
    /// By the queue's part of all user priorities.
    Proportional,
}

/// The weight with which a queue or a job is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lottery {
    /// By uniform number / priority, as the program does: not proportional to priority.
    #[default]
    Observed,
    /// Proportional to priority.
    Proportional,
}

/// True if lots are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// They are.
    #[default]
    Random,
    /// No: the highest priority goes first.
    Greedy,
}

/// The choices of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct PolicyOptions {
    /// `Profile`.
    pub profile: Profile,
    /// `Weighting`.
    pub weighting: Weighting,
    /// `Lottery`.
    pub lottery: Lottery,
    /// `Order`.
    pub order: Order,
    /// `DiracMemoryTags`: jobs that ask for memory get a tag for it.
    pub memory_tags: bool,
}

impl PolicyOptions {
    /// Reads the section `Classmate`.
    pub(super) fn read(root: Section<'_>) -> Result<Self, ConfigError> {
        let mut options = Self::default();
        for option in root.section("Classmate").into_iter().flat_map(Section::options) {
            match option.name {
                b"Profile" => options.profile = choice(option, &["observed", "documented"])?,
                b"Weighting" => options.weighting = choice(option, &["observed", "literal", "proportional"])?,
                b"Lottery" => options.lottery = choice(option, &["observed", "proportional"])?,
                b"Order" => options.order = choice(option, &["random", "greedy"])?,
                b"DiracMemoryTags" => options.memory_tags = option.is_true(),
                name => {
                    let message = format!("`{}` is not an option of `Classmate`", super::shown(name));
                    return Err(Diagnostic::error_at(message, option.place.clone())
                        .width(name.len())
                        .help("expected Profile, Weighting, Lottery, Order or DiracMemoryTags"));
                }
            }
        }
        Ok(options)
    }
}

/// The choice that has one of these names, those of its variants.
fn choice<T: DeserializeOwned>(option: Setting<'_>, names: &[&str]) -> Result<T, ConfigError> {
    let text = String::from_utf8_lossy(option.text).to_ascii_lowercase();
    let text: StrDeserializer<'_, serde::de::value::Error> = text.as_str().into_deserializer();
    T::deserialize(text).map_err(|_| {
        let known: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        option.expected(&known.join(" or "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::dirac::DiracTree;

    fn read(body: &str) -> Result<PolicyOptions, ConfigError> {
        PolicyOptions::read(DiracTree::parse("c", format!("Classmate\n{{\n{body}\n}}").as_bytes()).unwrap().root())
    }

    #[test]
    fn the_program_is_followed_unless_the_file_says_otherwise() {
        let all =
            "Profile = documented\nWeighting = literal\nLottery = Proportional\nOrder = greedy\nDiracMemoryTags = y";
        assert_eq!(
            read(all).unwrap(),
            PolicyOptions {
                profile: Profile::Documented,
                weighting: Weighting::Literal,
                lottery: Lottery::Proportional,
                order: Order::Greedy,
                memory_tags: true,
            }
        );
        assert_eq!(PolicyOptions::default().weighting, Weighting::Observed);
    }

    #[test]
    fn an_unknown_choice_or_option_is_an_error() {
        assert_eq!(read("Order = fast").unwrap_err().message, "`Order` is `fast`: expected `random` or `greedy`");
        assert_eq!(read("Ordre = greedy").unwrap_err().message, "`Ordre` is not an option of `Classmate`");
    }
}
