//! An expression and two ads, in both modes: evaluation ends, in bounded time and memory.
//!
//! The input is the expression, the ad it is evaluated in and the ad on the other side, separated by bytes 0xFF.
#![no_main]

use classmate::internal::ad::ClassAd;
use classmate::internal::eval::flatten::{Inlining, flatten};
use classmate::internal::eval::references::{Naming, external, internal};
use classmate::internal::eval::matching::{rank, symmetric};
use classmate::internal::eval::scope::{Limits, Scope, EvalOptions};
use classmate::internal::syntax::parse::{Mode, parse_expr};
use classmate::internal::syntax::print::Style;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|byte| *byte == 0xff);
    let (text, my, target) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    for mode in [Mode::HTCondor, Mode::Strict] {
        let limits = Limits { work: 100_000, bytes: 4 << 20, ..Limits::default() };
        let settings = EvalOptions { mode, limits, now: 1_735_689_600, ..EvalOptions::default() };
        let ad = |text: &[u8]| ClassAd::parse_with(text, &settings.parse_options()).ok();
        let my = my.and_then(ad).unwrap_or_default();
        let target = target.and_then(ad);
        let scope = Scope::new(&my, &settings);
        let scope = target.as_ref().map_or(scope, |target| scope.with_target(target));
        if let Ok(expr) = parse_expr(text, &settings.parse_options()) {
            if let Ok(value) = scope.eval(&expr) {
                let _ = value.to_text(Style::New);
            }
            for inlining in [Inlining::Keep, Inlining::Inline] {
                let _ = flatten(&my, &expr, inlining, &settings);
            }
            let _ = external(&my, &expr, Naming::Full, &settings);
            let _ = internal(&my, &expr, &settings);
        }
        for name in my.names() {
            let _ = scope.eval_attr(name);
        }
        if let Some(target) = &target {
            let matches = symmetric(&my, target, &settings);
            assert_eq!(matches, symmetric(target, &my, &settings));
            let _ = rank(&my, target, &settings);
        }
    }
});
