//! The user maps that a configuration names: what `userMap` looks things up in.
//!
//! In: a [`Config`], and the files it names. Out: the maps, and what is odd about them. A daemon reads the maps that
//! `<SUBSYSTEM>_CLASSAD_USER_MAP_NAMES` lists: each from the file `CLASSAD_USER_MAPFILE_<name>`, or from the text of
//! `CLASSAD_USER_MAPDATA_<name>`.

use super::{Config, ConfigError, Files};
use classmate::internal::builtin::user_map::{UserMap, UserMaps};

/// Reads the maps that a daemon has.
///
/// Maps with unreadable files and invalid lines of a map are skipped and reported.
///
/// # Errors
/// A knob whose value cannot be expanded.
///
/// ```
/// use classmate_config::internal::config::{Config, TextFiles, user_map::user_maps};
/// let text = b"NEGOTIATOR_CLASSAD_USER_MAP_NAMES = Groups\nCLASSAD_USER_MAPDATA_Groups = * ada physics";
/// let config = Config::parse("condor_config", text).unwrap();
/// let (maps, odd) = user_maps(&config, "NEGOTIATOR", &TextFiles::default()).unwrap();
/// assert_eq!(maps.output(b"groups", b"ada"), Some(b"physics".to_vec()));
/// assert!(odd.is_empty());
/// ```
pub fn user_maps(config: &Config, subsystem: &str, files: &dyn Files) -> Result<(UserMaps, Vec<String>), ConfigError> {
    let (mut maps, mut odd) = (UserMaps::default(), Vec::new());
    for name in config.list(&format!("{subsystem}_CLASSAD_USER_MAP_NAMES"))? {
        let shown = String::from_utf8_lossy(&name).into_owned();
        let (file, data) = (format!("CLASSAD_USER_MAPFILE_{shown}"), format!("CLASSAD_USER_MAPDATA_{shown}"));
        let text = if let Some(found) = config.text(&file)? {
            let path = String::from_utf8_lossy(&found.text).into_owned();
            match files.read(&path) {
                Ok(text) => text,
                Err(error) => {
                    let place = found.place.map_or_else(String::new, |place| format!("{place}: "));
                    odd.push(format!("{place}skipped the user map `{shown}`: cannot read `{path}`: {error}"));
                    continue;
                }
            }
        } else if let Some(found) = config.text(&data)? {
            found.text
        } else {
            odd.push(format!("skipped the user map `{shown}`: neither `{file}` nor `{data}` is set"));
            continue;
        };
        let map = UserMap::parse(&text);
        odd.extend(map.skipped().iter().map(|line| format!("user map `{shown}`: {line}")));
        maps.insert(&name, map);
    }
    Ok((maps, odd))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TextFiles;

    #[test]
    fn a_file_comes_before_a_text_and_what_is_missing_is_told() {
        let text = "NEGOTIATOR_CLASSAD_USER_MAP_NAMES = a, b, c\nCLASSAD_USER_MAPFILE_a = /maps/a\n\
                    CLASSAD_USER_MAPDATA_a = * x no\nCLASSAD_USER_MAPFILE_b = /maps/b\n";
        let config = Config::parse("c", text.as_bytes()).unwrap();
        let files: TextFiles = [("/maps/a", "* x yes\n* \"open")].into_iter().collect();
        let (maps, odd) = user_maps(&config, "NEGOTIATOR", &files).unwrap();
        assert_eq!(maps.output(b"A", b"x"), Some(b"yes".to_vec()));
        assert_eq!(maps.output(b"b", b"x"), None);
        assert_eq!(odd.len(), 3, "{odd:?}");
        assert!(odd[1].starts_with("c:4:1: skipped the user map `b`: cannot read `/maps/b`: no such file"), "{odd:?}");
        assert!(odd[2].contains("neither `CLASSAD_USER_MAPFILE_c` nor `CLASSAD_USER_MAPDATA_c` is set"), "{odd:?}");
    }
}
