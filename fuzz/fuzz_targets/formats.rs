//! Any bytes as ads in every format: a reader ends, and reads the same in pieces as in one.
//!
//! The first byte is the size of the pieces.
#![no_main]

mod shared;

use classmate::internal::ad::ClassAd;
use classmate::internal::format::binding::read_as_binding;
use classmate::internal::format::{Format, Reader, Writer};
use classmate::internal::syntax::parse::ParseOptions;
use classmate::internal::syntax::print::Style;
use libfuzzer_sys::fuzz_target;
use shared::Dripping;

fn shown(ads: &[ClassAd]) -> Vec<Vec<u8>> {
    ads.iter().map(|ad| ad.to_expr().to_text(Style::New)).collect()
}

fuzz_target!(|data: &[u8]| {
    let Some((piece, text)) = data.split_first() else { return };
    let options = ParseOptions::default();
    for format in [None, Some(Format::Long), Some(Format::New), Some(Format::Json), Some(Format::JsonLines), Some(Format::Xml)] {
        let read = |piece: usize| {
            let input = Dripping { rest: text, piece };
            let mut reader = match format {
                Some(format) => Reader::new(input, format, &options),
                None => Reader::detect(input, &options).expect("reading from memory succeeds"),
            };
            let ads: Vec<ClassAd> = reader.by_ref().map(|ad| ad.expect("reading from memory succeeds")).collect();
            (ads, reader.report().clone())
        };
        let (ads, report) = read(text.len());
        let (dripped, other) = read(usize::from(*piece) + 1);
        assert_eq!(shown(&ads), shown(&dripped));
        assert_eq!(report, other);
        for fault in &report.faults {
            let _ = fault.to_string();
        }
        for format in [Format::Long, Format::New, Format::Json, Format::JsonLines, Format::Xml] {
            let mut writer = Writer::new(Vec::new(), format);
            for ad in &ads {
                writer.write(ad).expect("writing to memory succeeds");
            }
            writer.finish().expect("writing to memory succeeds");
        }
    }
    for format in ["old", "new", "newl", "json", "jsonl", "xml", "auto", "fileauto"] {
        let _ = read_as_binding(format, text, &options);
    }
});
