//! What a writer writes, a reader reads back as the same ad, in every format.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]

use classmate::internal::ad::ClassAd;
use classmate::internal::format::long::{LongReader, LongWriter};
use classmate::internal::format::new::{parse_ad, write_pretty};
use classmate::internal::format::xml::XmlWriter;
use classmate::internal::format::{Format, Reader, Writer};
use classmate::internal::name::Name;
use classmate::internal::syntax::expr::Expr;
use classmate::internal::syntax::literal::Literal;
use classmate::internal::syntax::parse::{ParseOptions, parse_expr};
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::quote::write_quoted;
use proptest::collection::vec;
use proptest::prelude::*;

const FORMATS: [Format; 5] = [Format::Long, Format::New, Format::Json, Format::JsonLines, Format::Xml];

fn options() -> ParseOptions {
    ParseOptions::default()
}

fn read(text: &[u8], format: Format) -> (Vec<ClassAd>, u64) {
    let mut reader = Reader::new(text, format, &options());
    let ads = reader.by_ref().collect::<Result<_, _>>().unwrap();
    (ads, reader.report().errors)
}

fn write(ads: &[ClassAd], format: Format) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format);
    for ad in ads {
        writer.write(ad).unwrap();
    }
    writer.finish().unwrap()
}

fn quoted(bytes: &[u8], quote: u8) -> String {
    let mut text = Vec::new();
    write_quoted(&mut text, bytes, quote);
    String::from_utf8(text).unwrap()
}

/// Bytes of strings and odd names: anything but NUL, the troublesome ones often.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => any::<u8>().prop_filter("no NUL", |byte| *byte != 0),
        2 => prop::sample::select(b"\\\"'/=#;]})&<>\n\r\t {[(,:.".as_slice()),
        4 => b'a'..=b'z',
    ];
    prop_oneof![
        8 => vec(byte, 0..12),
        1 => prop::sample::select(vec![b"/Expr(1)/".to_vec(), b"\\/Expr(1)\\/".to_vec(), b"</s>".to_vec(), b"&lt;".to_vec()]),
    ]
}

fn identifier() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z_][A-Za-z0-9_]{0,6}".prop_filter("a name", |text| Name::new(text).is_plain()),
        prop::sample::select(vec!["MY".to_owned(), "TARGET".to_owned(), "Memory".to_owned()]),
    ]
}

/// A name as the left side of an attribute, in quotes if need be.
fn attribute_name() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => identifier().prop_map(String::into_bytes),
        1 => bytes().prop_filter("not empty", |bytes| !bytes.is_empty()),
        1 => prop::sample::select(vec![b"true".to_vec(), b"parent".to_vec(), b"is".to_vec(), b"a b".to_vec(), b"1x".to_vec()]),
    ]
}

fn constant() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|value| value.to_string()),
        (-999_999_i32..999_999, 0_u32..6, -200_i32..200)
            .prop_map(|(mantissa, shift, exponent)| format!(
                "{}e{exponent}",
                f64::from(mantissa) / 10_f64.powi(shift as i32)
            ))
            .prop_map(|text| if text.contains('.') { text } else { text.replace('e', ".0e") }),
        prop::sample::select(vec!["true", "false", "undefined", "error", "0.0", "-0.0"]).prop_map(str::to_owned),
        bytes().prop_map(|bytes| quoted(&bytes, b'"')),
        (0_i64..4_000_000_000, -14_i32..=14).prop_map(|(seconds, hours)| {
            let mut text = Vec::new();
            let time = classmate::internal::syntax::time::AbsTime { seconds, offset: hours * 3600 };
            classmate::internal::syntax::time::write_abs(&mut text, time);
            format!("absTime(\"{}\")", String::from_utf8(text).unwrap())
        }),
    ]
}

/// Texts of expressions whose canonical text reads back as the same expression.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => constant(),
        2 => identifier(),
        1 => bytes().prop_map(|bytes| quoted(&bytes, b'\'')),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let operator = prop::sample::select(vec!["+", "-", "*", "<", "==", "=?=", "isnt", "&&", "||", ">>>", "&"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, op, b)| format!("({a}) {op} ({b})")),
            (identifier(), identifier()).prop_map(|(a, b)| format!("{a}.{b}")),
            (identifier(), inner.clone()).prop_map(|(a, b)| format!("{a}[{b}]")),
            inner.clone().prop_map(|a| format!("!({a})")),
            inner.clone().prop_map(|a| format!("-({a})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("({a}) ? {b} : {c}")),
            (identifier(), inner.clone()).prop_map(|(a, b)| format!("{a} ?: ({b})")),
            vec(inner.clone(), 0..4).prop_map(|list| format!("{{{}}}", list.join(","))),
            (
                identifier().prop_filter("no time", |name| !name.to_ascii_lowercase().ends_with("time")),
                vec(inner.clone(), 0..3)
            )
                .prop_map(|(name, list)| format!("{name}({})", list.join(","))),
            vec((attribute_name(), inner), 0..3).prop_map(|list| {
                let list: Vec<String> =
                    list.iter().map(|(name, value)| format!("{} = {value}", quoted(name, b'\''))).collect();
                format!("[{}]", list.join(";"))
            }),
        ]
    })
}

fn ad() -> impl Strategy<Value = ClassAd> {
    vec((attribute_name(), expression()), 1..8).prop_map(|attributes| {
        let mut ad = ClassAd::new();
        for (name, text) in attributes {
            let expr = parse_expr(text.as_bytes(), &options()).unwrap_or_else(|error| panic!("{text}: {error}"));
            ad.insert_expr(Name::new(name), &expr);
        }
        ad
    })
}

fn same(left: &[ClassAd], right: &[ClassAd]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(a, b)| a.same_as(b))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ads_come_back_from_new_syntax_json_and_xml(ads in vec(ad(), 1..4)) {
        for format in [Format::New, Format::Json, Format::JsonLines, Format::Xml] {
            let text = write(&ads, format);
            let (back, errors) = read(&text, format);
            prop_assert!(errors == 0 && same(&ads, &back), "{format:?}\n{}", String::from_utf8_lossy(&text));
        }
        let mut text = Vec::new();
        write_pretty(&mut text, &ads[0]);
        prop_assert!(parse_ad(&text, &options()).unwrap().0.same_as(&ads[0]));
        text.clear();
        XmlWriter::default().write_line(&mut text, &ads[0]);
        prop_assert!(Reader::new(text.as_slice(), Format::Xml, &options()).next().unwrap().unwrap().same_as(&ads[0]));
    }

    #[test]
    fn the_text_inside_sentences_reads_back(text in expression(), real in any::<f64>()) {
        let expr = parse_expr(text.as_bytes(), &options()).unwrap();
        let plain = expr.to_text(Style::PlainNew);
        prop_assert!(parse_expr(&plain, &options()).unwrap().same_as(&expr), "{}", String::from_utf8_lossy(&plain));
        // The styles differ in strings with a backslash, which is one character for old syntax, or with letters that ASCII lacks.
        let (plain, shown) = (String::from_utf8(plain).unwrap(), format!("{expr:#}"));
        prop_assert_eq!(plain.contains("\\\\") || !shown.is_ascii(), shown != plain, "{}", plain);
        // All digits of a real, where the canonical text has sixteen.
        if real.is_finite() {
            let real = Expr::literal(Literal::Real(real.abs()));
            let plain = format!("{real:#}");
            prop_assert!(parse_expr(plain.as_bytes(), &options()).unwrap().same_as(&real), "{plain}");
        }
    }

    #[test]
    fn the_long_format_loses_exactly_what_it_says(mut ad in ad()) {
        ad.remove("ClaimId");
        let mut text = Vec::new();
        let lost = LongWriter::default().write(&mut text, &ad);
        for lost in &lost {
            let mut alone = ClassAd::new();
            alone.insert_expr(lost.name, &ad.get(lost.name).unwrap());
            let text = write(&[alone.clone()], Format::Long);
            prop_assert!(!same(&[alone], &read(&text, Format::Long).0), "{lost:?} is not lost");
        }
        ad.retain(|name| lost.iter().all(|lost| lost.name != name));
        let text = write(std::slice::from_ref(&ad), Format::Long);
        let (back, errors) = read(&text, Format::Long);
        let kept: Vec<ClassAd> = [ad].into_iter().filter(|ad| !ad.is_empty()).collect();
        prop_assert!(errors == 0 && same(&kept, &back), "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn damaged_texts_are_read_to_their_end(
        ads in vec(ad(), 1..3),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        for written in FORMATS {
            let mut text = write(&ads, written);
            for (at, byte) in &damage {
                let at = at.index(text.len());
                text[at] = *byte;
            }
            text.truncate(cut.index(text.len() + 1));
            for format in FORMATS {
                let (found, errors) = read(&text, format);
                prop_assert!(found.len() as u64 + errors <= text.len() as u64);
            }
            let _ = Reader::detect(text.as_slice(), &options()).unwrap().count();
        }
    }

    #[test]
    fn readers_do_not_care_in_what_pieces_the_input_arrives(ads in vec(ad(), 1..4), size in 1_usize..40) {
        struct Pieces<'a>(&'a [u8], usize);
        impl std::io::Read for Pieces<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let count = self.1.min(buffer.len()).min(self.0.len());
                buffer[..count].copy_from_slice(&self.0[..count]);
                self.0 = &self.0[count..];
                Ok(count)
            }
        }
        for format in FORMATS {
            let text = write(&ads, format);
            let mut pieces = Reader::new(Pieces(&text, size), format, &options());
            let found: Vec<ClassAd> = pieces.by_ref().collect::<Result<_, _>>().unwrap();
            let (whole, errors) = read(&text, format);
            prop_assert!(same(&found, &whole) && pieces.report().errors == errors);
        }
    }
}

#[test]
fn one_pool_in_four_formats_is_one_pool() {
    let long = include_bytes!("data/samples/slots.ads").as_slice();
    let (slots, errors) = read(long, Format::Long);
    assert_eq!((slots.len(), errors), (2, 0));
    for (text, format) in [
        (include_bytes!("data/samples/slots.new.ads").as_slice(), Format::New),
        (include_bytes!("data/samples/slots.json").as_slice(), Format::Json),
        (include_bytes!("data/samples/slots.xml").as_slice(), Format::Xml),
    ] {
        let mut reader = Reader::detect(text, &options()).unwrap();
        assert_eq!(reader.format(), format);
        let ads: Vec<ClassAd> = reader.by_ref().collect::<Result<_, _>>().unwrap();
        assert!(reader.report().is_clean(), "{format:?} {:?}", reader.report().faults);
        assert!(same(&slots, &ads), "{format:?}");
    }
}

#[test]
fn a_recorded_pool_is_written_as_it_was() {
    // The tool that recorded the pool sorts names without case; apart from that the lines are the same.
    let sorted = |text: &[u8]| {
        let mut lines: Vec<Vec<u8>> = text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        lines.sort();
        lines
    };
    let long = include_bytes!("data/samples/slots.ads").as_slice();
    let (slots, _) = read(long, Format::Long);
    assert_eq!(sorted(&write(&slots, Format::Long)), sorted(long));
    let xml = include_bytes!("data/samples/slots.xml").as_slice();
    assert_eq!(sorted(&write(&slots, Format::Xml)), sorted(xml));
    // In a JSON object the last attribute has no comma, whichever it is.
    let bare = |text: &[u8]| -> Vec<Vec<u8>> {
        sorted(text).into_iter().map(|line| line.strip_suffix(b",").unwrap_or(&line).to_vec()).collect()
    };
    let json = include_bytes!("data/samples/slots.json").as_slice();
    assert_eq!(bare(&write(&slots, Format::Json)), bare(json));
}

/// How deep the texts nest that must be refused.
const DEPTH: usize = 100_000;

#[test]
fn nesting_is_read_up_to_a_limit_and_refused_beyond_it() {
    let around =
        |open: &str, inner: &str, close: &str, depth| format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
    for (depth, expected) in [(999, (2, 0)), (1001, (1, 1)), (100_000, (1, 1))] {
        let json = format!("{{\"a\": {}}} {{\"b\": 1}}", around("[", "1", "]", depth));
        let (lists, errors) = read(json.as_bytes(), Format::Json);
        assert_eq!((lists.len(), errors), expected);
        let json = format!("{} {{\"b\": 1}}", around("{\"a\":", "1", "}", depth));
        let (ads, errors) = read(json.as_bytes(), Format::Json);
        assert_eq!((ads.len(), errors), expected);
        let xml =
            format!("<c><a n=\"a\">{}</a></c><c><a n=\"b\"><i>1</i></a></c>", around("<l>", "<i>1</i>", "</l>", depth));
        let (xml, errors) = read(xml.as_bytes(), Format::Xml);
        assert_eq!((xml.len(), errors), expected);
        assert!(same(&lists, &xml));
        for format in [Format::Json, Format::Xml, Format::JsonLines] {
            assert!(same(&read(&write(&lists, format), format).0, &lists));
            assert!(same(&read(&write(&ads, format), format).0, &ads));
        }
    }
    let around = |open, inner, close| around(open, inner, close, DEPTH);
    // The expression parser has the limit of the reference.
    for text in [around("{", "1", "}"), around("[a=", "1", "]"), around("(", "1", ")")] {
        let (ads, errors) = read(format!("a = {text}\nb = 1\n").as_bytes(), Format::Long);
        assert_eq!((ads.len(), errors), (0, 1));
        let (ads, errors) = read(format!("[a = {text}] [b = 1]").as_bytes(), Format::New);
        assert_eq!((ads.len(), errors), (1, 1));
    }
}

#[test]
fn a_line_of_many_megabytes_is_read() {
    let mut text = b"a = \"".to_vec();
    text.resize(20_000_000, b'x');
    text.extend_from_slice(b"\"\nb = 1\n\nc = 1");
    let ads: Vec<ClassAd> = LongReader::new(text.as_slice(), &options()).collect::<Result<_, _>>().unwrap();
    assert_eq!(ads.len(), 2);
    assert_eq!(ads[0].constant("a").unwrap().as_bytes().map(<[u8]>::len), Some(20_000_000 - 5));
}

#[test]
fn unclosed_texts_take_time_in_proportion_to_their_length() {
    // Each of these made every byte a place to start again from, if the reader let it.
    for (piece, format) in [
        ("[a=\"", Format::New),
        ("[a=/*", Format::New),
        ("] ", Format::New),
        ("{\"a\":\"", Format::Json),
        ("} ", Format::Json),
        ("<", Format::Xml),
        ("<c>", Format::Xml),
        ("<c><a n=\"x\"><l>", Format::Xml),
        ("a = \"\\\"", Format::Long),
        ("a = (\n\n", Format::Long),
    ] {
        let text = piece.repeat(2_000_000 / piece.len());
        let (ads, _) = read(text.as_bytes(), format);
        assert!(ads.len() <= 1, "{piece}");
    }
}

/// An input that arrives byte by byte.
struct Dripping<'a>(&'a [u8]);

impl std::io::Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.0.len().min(buffer.len()).min(1);
        buffer[..length].copy_from_slice(&self.0[..length]);
        self.0 = &self.0[length..];
        Ok(length)
    }
}

#[test]
fn an_ad_behind_garbage_is_found_wherever_the_input_is_cut() {
    for (format, ad) in [(Format::Json, "{\"b\": 3}"), (Format::New, "[b = 3]")] {
        for garbage in 190..260 {
            let text = format!("{}{ad}", "@".repeat(garbage));
            let count = |reader: &mut dyn Iterator<Item = std::io::Result<ClassAd>>| reader.count();
            assert_eq!(count(&mut Reader::new(text.as_bytes(), format, &options())), 1, "{format:?} {garbage}");
            assert_eq!(
                count(&mut Reader::new(Dripping(text.as_bytes()), format, &options())),
                1,
                "{format:?} {garbage}"
            );
        }
    }
}
