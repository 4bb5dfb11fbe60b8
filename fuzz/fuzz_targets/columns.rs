//! An expression as the Requirements of either side of a match: split into clauses and evaluated over columns, it accepts
//! the same ads as the evaluator.
//!
//! The input is the expression, the ad that is a row and the ad on the other side, separated by bytes 0xFF.
#![no_main]

use std::sync::Arc;

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::matching::accepts;
use classmate::internal::eval::scope::{Limits, EvalOptions};
use classmate::internal::program::Side;
use classmate::internal::program::atom::{Atom, Atoms};
use classmate::internal::program::column::Column;
use classmate::internal::program::condition::requirements;
use classmate::internal::program::mask::Mask;
use classmate::internal::program::table::Table;
use classmate::internal::program::view::TableView;
use classmate::internal::syntax::parse::parse_expr;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|byte| *byte == 0xff);
    let (text, row, other) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let limits = Limits { work: 100_000, bytes: 4 << 20, ..Limits::default() };
    let settings = EvalOptions { limits, now: 1_735_689_600, ..EvalOptions::default() };
    let options = settings.parse_options();
    let Ok(expr) = parse_expr(text, &options) else { return };
    let ad = |text: Option<&[u8]>| {
        let mut ad = text.and_then(|text| ClassAd::parse_with(text, &options).ok()).unwrap_or_default();
        ad.insert_expr("Requirements", &expr);
        ad
    };
    let (row, other) = (ad(row), ad(other));
    let scopes = ["self", "my", "parent", "root", "toplevel", "left", "right", "lctx", "rctx", "other", "target", "ad"];
    // A cycle over ads that define such names uses the reference matcher.
    if [&row, &other].iter().any(|ad| scopes.iter().any(|scope| ad.contains(*scope))) {
        return;
    }
    let mut table = Table::default();
    for name in row.names() {
        Column::of(&[name], 1, &|_| &row).into_iter().flatten().for_each(|column| table.push(column));
    }
    let source = vec![&row];
    let view = TableView { table: &table, ads: &[0], source: &source, other: &other, settings: &settings };
    for side in [Side::Row, Side::Other] {
        let mut accepted = Mask::all(1);
        let truths = |atom: &Atom| Some(Arc::new(view.truths(atom, &view.groups(atom))?));
        let clauses = requirements(&view.pair(), side, &mut Atoms::default());
        let known = clauses.iter().all(|clause| match view.clause(clause, truths) {
            Some(truths) => {
                accepted.keep(&truths.yes);
                true
            }
            None => false,
        });
        let (my, target) = if side == Side::Row { (&row, &other) } else { (&other, &row) };
        assert!(!known || accepted.contains(0) == accepts(my, target, &settings), "{side:?}");
    }
});
