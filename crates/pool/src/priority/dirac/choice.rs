//! The policy as it is chosen: its configuration files and what overrides them. Serializable, so that a cycle can be
//! replayed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use classmate_config::internal::config::ConfigError;
use classmate_config::internal::config::dirac::{DiracSettings, DiracTree, PolicyOptions, Whose};

/// Settings of the policy, and the texts they were read from.
///
/// ```
/// use classmate_pool::internal::priority::dirac::DiracChoice;
/// let choice = DiracChoice::read(vec![("dirac.cfg".to_owned(), b"JobScheduling {\n}\n".to_vec())], None, None)?;
/// assert!(!choice.settings().correct);
/// # Ok::<(), classmate_config::internal::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct DiracChoice {
    settings: Arc<DiracSettings>,
    written: Written,
}

/// Source texts and overrides: the serialized form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Written {
    files: Vec<(String, Vec<u8>)>,
    community: Option<String>,
    setup: Option<String>,
    options: Option<PolicyOptions>,
}

impl PartialEq for DiracChoice {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl DiracChoice {
    /// Reads files, given as name and text, one over the other.
    ///
    /// # Errors
    /// As [`DiracTree::add`] and [`DiracSettings::read`].
    pub fn read(
        files: Vec<(String, Vec<u8>)>,
        community: Option<String>,
        setup: Option<String>,
    ) -> Result<Self, ConfigError> {
        Self::of(Written { files, community, setup, options: None })
    }

    fn of(written: Written) -> Result<Self, ConfigError> {
        let mut tree = DiracTree::default();
        for (name, text) in &written.files {
            tree.add(name, text)?;
        }
        let whose = Whose { community: written.community.as_deref(), setup: written.setup.as_deref() };
        let mut settings = DiracSettings::read(&tree, whose)?;
        if let Some(options) = written.options {
            settings.options = options;
        }
        Ok(Self { settings: Arc::new(settings), written })
    }

    /// The same with options that override those of the files.
    #[must_use]
    pub fn with_options(mut self, options: PolicyOptions) -> Self {
        Arc::make_mut(&mut self.settings).options = options;
        self.written.options = Some(options);
        self
    }

    /// The settings.
    pub fn settings(&self) -> &Arc<DiracSettings> {
        &self.settings
    }
}

impl From<DiracChoice> for Written {
    fn from(choice: DiracChoice) -> Self {
        choice.written
    }
}

impl TryFrom<Written> for DiracChoice {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        Self::of(written).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use classmate_config::internal::config::dirac::Weighting;

    #[test]
    fn a_choice_is_written_down_and_read_again() {
        let text = b"Registry {\nGroups {\nmc {\nJobShare = 7\n}\n}\n}".to_vec();
        let choice = DiracChoice::read(vec![("c".to_owned(), text)], None, None).unwrap();
        let choice = choice.with_options(PolicyOptions { weighting: Weighting::Literal, ..PolicyOptions::default() });
        let again: DiracChoice = serde_json::from_str(&serde_json::to_string(&choice).unwrap()).unwrap();
        assert_eq!(again, choice);
        assert_eq!(again.settings().group(b"mc").share, Some(7.0));
        assert_eq!(again.settings().options.weighting, Weighting::Literal);
    }
}
