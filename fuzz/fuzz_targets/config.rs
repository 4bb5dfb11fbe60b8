//! Any bytes as HTCondor configuration: reading, lookup and checks end, and listed values read back.
//!
//! The input is up to four files, separated by bytes 0xFF; the first is the root, the others are `a`, `b` and `c`.
#![no_main]

use classmate_config::internal::config::check::check;
use classmate_config::internal::config::knobs::NegotiatorKnobs;
use classmate_config::internal::config::{Config, Context, TextFiles};
use classmate_pool::internal::quota::{GroupTree, QuotaSettings};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let texts: Vec<&[u8]> = data.splitn(4, |byte| *byte == 0xff).collect();
    let files = TextFiles::from_iter(["root", "a", "b", "c"].into_iter().zip(texts.iter().map(|text| text.to_vec())));
    let environment = [(b"HOME".to_vec(), b"/root".to_vec()), (b"_CONDOR_A".to_vec(), b"$(B) $(A)".to_vec())];
    let context = Context {
        local_name: Some("local".to_owned()),
        environment: environment.into_iter().collect(),
        ..Context::default()
    };
    let mut config = Config::new(context);
    if let Err(error) = config.read_root("root", &files) {
        assert!(!error.message.is_empty());
        place(&config, error.place.as_ref());
    }
    for warning in config.warnings() {
        place(&config, warning.place.as_ref());
    }
    let names: Vec<String> = config.names().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    // Single values may be large: a few are looked up, and the checker has a budget of its own.
    for name in names.iter().take(8) {
        if let Ok(Some(found)) = config.get(name) {
            assert!(found.text.len() <= 4 << 20);
        }
    }
    for diagnostic in check(&config) {
        place(&config, diagnostic.place.as_ref());
    }
    let _ = NegotiatorKnobs::read(&config);
    let _ = QuotaSettings::read(&config).map(|settings| GroupTree::new(&settings).warnings().len());
});

/// A place lies in a text that was read.
fn place(config: &Config, place: Option<&classmate_config::internal::config::Location>) {
    let Some(place) = place.filter(|place| place.line > 0) else { return };
    let source = config.sources().iter().find(|source| source.name == place.file).expect("the file was read");
    let line = source.text.split(|byte| *byte == b'\n').nth(place.line as usize - 1).expect("the line is there");
    assert!(place.column >= 1 && place.column as usize <= line.len() + 1);
}
