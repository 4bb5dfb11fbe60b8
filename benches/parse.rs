//! Reading and writing ads, in bytes of text per second on one core.
//!
//! The ads have the shape of the slots of a large pool: 475 attributes, 22 KB in the long format, 93 of 100 values
//! constants (one string in nine holds escaped quotes), the others of a few texts that all slots share.

use std::fmt::Write as _;
use std::hint::black_box;

use classmate::internal::ad::ClassAd;
use classmate::internal::format::{Format, Reader, Writer};
use classmate::internal::syntax::parse::ParseOptions;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const SLOTS: usize = 200;
const ATTRIBUTES: usize = 475;

const EXPRESSIONS: [&str; 8] = [
    "Start && WithinResourceLimits && (TARGET.RequestGPUs ?: 0) <= GPUs",
    "MY.Cpus > 0 && TARGET.RequestCpus <= MY.Cpus && MY.Memory > 0 && TARGET.RequestMemory <= MY.Memory && MY.Disk > 0 && TARGET.RequestDisk <= MY.Disk",
    "ifThenElse(isUndefined(TotalLoadAvg),0.0,TotalLoadAvg - CondorLoadAvg)",
    "(TARGET.Owner =?= \"alice\") || stringListMember(TARGET.ProjectName,AllowedProjects)",
    "10 * 60",
    "Cpus",
    "MY.MachineLastMatchTime =!= undefined",
    "{ \"GPU-1\",\"GPU-2\" }",
];

/// The slots as text; a linear congruential generator makes the values, which are the same in every run.
fn slots() -> String {
    let mut text = String::new();
    let mut state = 20_260_705_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let stems =
        ["Recent", "Total", "Cpu", "HasFileTransfer", "CVMFS_oasis_opensciencegrid_", "GLIDEIN_", "Job", "Monitor"];
    for slot in 0..SLOTS {
        for number in 0..ATTRIBUTES {
            let _ = write!(text, "{}Attribute{number} = ", stems[number * 7 % stems.len()]);
            let _ = match number % 15 {
                0 => writeln!(text, "{}", EXPRESSIONS[number / 15 % EXPRESSIONS.len()]),
                1 | 6 | 11 => writeln!(text, "{}", if random(2) == 0 { "true" } else { "false" }),
                2 => writeln!(text, "{}.{:03}", random(1000), random(1000)),
                3 => writeln!(
                    text,
                    "\"{{[ p=\\\"primary\\\"; a=\\\"10.{}.187.67\\\"; port={}; n=\\\"Internet\\\" ]}}\"",
                    random(256),
                    random(60_000)
                ),
                4 | 8 | 12 => {
                    writeln!(text, "\"slot{slot}@glidein_{}_{}.example.org\"", random(10_000), random(100_000))
                }
                9 => writeln!(
                    text,
                    "\"$CondorVersion: 24.12.22 2026-06-25 BuildID: {} PackageID: 24.12.22-0.925682 $\"",
                    random(1_000_000)
                ),
                _ => writeln!(text, "{}", random(2_000_000_000)),
            };
        }
        text.push('\n');
    }
    text
}

fn ads(text: &[u8]) -> Vec<ClassAd> {
    Reader::new(text, Format::Long, &ParseOptions::default()).collect::<Result<_, _>>().unwrap_or_default()
}

fn write(ads: &[ClassAd], format: Format, into: Vec<u8>) -> Vec<u8> {
    let mut writer = Writer::new(into, format);
    for ad in ads {
        let _ = writer.write(ad);
    }
    writer.finish().unwrap_or_default()
}

fn formats(criterion: &mut Criterion) {
    let ads = ads(slots().as_bytes());
    assert_eq!(ads.iter().map(ClassAd::len).sum::<usize>(), SLOTS * ATTRIBUTES);
    let names = [(Format::Long, "long"), (Format::New, "new"), (Format::Json, "json"), (Format::Xml, "xml")];
    let mut group = criterion.benchmark_group("parse");
    group.sample_size(20);
    for (format, name) in names {
        let text = write(&ads, format, Vec::new());
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(format!("{name} in"), |bencher| {
            bencher.iter(|| {
                let reader = Reader::new(black_box(text.as_slice()), format, &ParseOptions::default());
                reader.map(|ad| ad.map_or(0, |ad| ad.len())).sum::<usize>()
            });
        });
        let mut out = Vec::with_capacity(2 * text.len());
        group.bench_function(format!("{name} out"), |bencher| {
            bencher.iter(|| {
                out.clear();
                out = write(black_box(&ads), format, std::mem::take(&mut out));
                out.len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, formats);
criterion_main!(benches);
