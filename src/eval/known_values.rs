//! Values of attributes in a long evaluation, so that references that double (`a = b + b`, `b = c + c`, ...) take time in
//! proportion to the ads.
//!
//! In: attributes that were evaluated. Out: the same values when they are evaluated again, with the same steps counted, so that
//! an evaluation is abandoned where it would have been without. Short evaluations, which nearly all are, remember nothing.

use hashbrown::HashMap;

use crate::eval::frame::{Active, LEFT, RIGHT};
use crate::eval::{EvalError, Evaluator};
use crate::random::SplitMix64;
use crate::value::logic::Truth;
use crate::value::{FrameId, Value};

/// Steps of an evaluation after which values are remembered.
pub(super) const LONG: u64 = 5_000;
/// Steps of an attribute whose value is remembered.
const MIN_STEPS: u64 = 8;
/// Values that are remembered.
const MAX_KNOWN: usize = 100_000;

/// An attribute of one of the ads of an evaluation, and the outermost ad at that time.
pub(super) type KnownKey = (u32, u32, FrameId);

/// The values that an evaluation has found.
#[derive(Default)]
pub(super) struct KnownValues {
    values: HashMap<KnownKey, KnownAttribute<Value>>,
    truths: HashMap<KnownKey, KnownAttribute<Truth>>,
}

/// The value of an attribute, and what its evaluation took.
pub(super) struct KnownAttribute<T> {
    value: T,
    steps: u64,
    bytes: u64,
    /// Levels around it; with more of them, the limit might be reached.
    depth: u32,
}

/// The state of an evaluation when that of an attribute begins.
pub(super) struct AttributeStart {
    key: KnownKey,
    steps_left: u64,
    bytes: u64,
    around: u64,
    random: SplitMix64,
}

/// A kind of result that is remembered.
pub(super) trait Remembered: Clone {
    fn of(known: &mut KnownValues) -> &mut HashMap<KnownKey, KnownAttribute<Self>>;

    /// Tests whether it means the same wherever it is used.
    fn is_plain(&self) -> bool;
}

impl Remembered for Value {
    fn of(known: &mut KnownValues) -> &mut HashMap<KnownKey, KnownAttribute<Self>> {
        &mut known.values
    }

    fn is_plain(&self) -> bool {
        !matches!(self, Value::List(_) | Value::Ad(_))
    }
}

impl Remembered for Truth {
    fn of(known: &mut KnownValues) -> &mut HashMap<KnownKey, KnownAttribute<Self>> {
        &mut known.truths
    }

    fn is_plain(&self) -> bool {
        true
    }
}

impl Evaluator<'_> {
    /// The state before an attribute is evaluated, in an evaluation that is long already; none where its value may depend
    /// on what is around it.
    #[inline]
    pub(super) fn start_of_attribute(&self, active: Active, at: FrameId) -> Option<AttributeStart> {
        if self.work - self.steps_left < self.long { None } else { self.start_in_long_evaluation(active, at) }
    }

    #[cold]
    #[inline(never)]
    fn start_in_long_evaluation(&self, active: Active, at: FrameId) -> Option<AttributeStart> {
        let is_side = at == self.start || self.start == LEFT && at == RIGHT;
        let is_alone = active.holder == 0 && self.outer_depth == 0 && self.relocated.is_empty() && self.deepest > 0;
        (is_side && is_alone).then(|| AttributeStart {
            key: (active.part, active.owner, self.root),
            steps_left: self.steps_left,
            bytes: self.bytes,
            around: self.around,
            random: self.random.clone(),
        })
    }

    /// The value of an attribute that is known, counted as if it were evaluated.
    ///
    /// # Errors
    /// Its evaluation would reach a limit.
    pub(super) fn known<T: Remembered>(&mut self, start: &AttributeStart) -> Option<Result<T, EvalError>> {
        let known = T::of(self.known.as_mut()?).get(&start.key)?;
        if self.depth > known.depth {
            return None;
        }
        let (value, steps, bytes) = (known.value.clone(), known.steps, known.bytes);
        let counted =
            self.charge_work(steps).and_then(|()| self.charge_bytes(usize::try_from(bytes).unwrap_or(usize::MAX)));
        Some(counted.map(|()| value))
    }

    /// Remembers the value of an attribute, unless it drew random numbers or depended on what is around it.
    pub(super) fn remember<T: Remembered>(&mut self, start: &AttributeStart, value: &T) {
        let (steps, bytes) = (start.steps_left - self.steps_left, self.bytes - start.bytes);
        if steps < MIN_STEPS || !value.is_plain() || start.around != self.around || start.random != self.random {
            return;
        }
        let known = T::of(self.known.get_or_insert_default());
        if known.len() < MAX_KNOWN {
            known.insert(start.key, KnownAttribute { value: value.clone(), steps, bytes, depth: self.depth });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ad::ClassAd;
    use crate::eval::scope::{EvalOptions, Limits, Scope};
    use crate::name::Name;

    /// Values that refer to other attributes of both ads, some of them in circles.
    const PARTS: [&str; 20] = [
        "3",
        "\"text\"",
        "undefined",
        "a + b",
        "b + b + c + c",
        "c > 1 && d || TARGET.e",
        "(d ? e : f) + sum({ e, f, 1, 2, 3, 4 })",
        "strcat(e, f, e, f, \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\")",
        "f == g || g == f || f =!= g",
        "TARGET.a + TARGET.b + MY.h",
        "random(10) + h",
        "a ?: b",
        "{ a, b, c }[1]",
        "[x = a + b; y = x + x + c].y",
        "size(strcat(g, h)) + size(string(h))",
        "h || a || b || c || d || e || f || g",
        "eval(\"a + b + c\")",
        ".a",
        "evalInEachContext(b + c, { MY, TARGET })[0]",
        "root.b ?: parent.c",
    ];
    const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

    fn random_ad(random: &mut SplitMix64) -> ClassAd {
        let mut part = || PARTS[random.next_u64() as usize % PARTS.len()];
        let text: String = NAMES.iter().map(|name| format!("{name} = {}; ", part())).collect();
        ClassAd::parse(format!("[{text}]").as_bytes()).unwrap()
    }

    #[test]
    fn values_that_are_remembered_are_those_that_are_evaluated_again() {
        let (mut random, mut remembered) = (SplitMix64::new(7), 0);
        for _ in 0..150 {
            let [my, target] = [(); 2].map(|()| random_ad(&mut random));
            let limits = [
                Limits { work: 20_000, ..Limits::default() },
                Limits { work: random.next_u64() % 3000, ..Limits::default() },
                Limits { work: 20_000, depth: (random.next_u64() % 30) as u32, ..Limits::default() },
                Limits { work: 20_000, bytes: random.next_u64() % 3000, ..Limits::default() },
            ];
            for limits in limits {
                let settings = EvalOptions { limits, ..EvalOptions::default() };
                for scope in [Scope::new(&my, &settings), Scope::new(&my, &settings).with_target(&target)] {
                    for name in NAMES.map(Name::new) {
                        let mut outcome = |long: u64| {
                            let [mut of_value, mut of_truth] = [(); 2].map(|()| Evaluator::new(scope));
                            (of_value.long, of_truth.long) = (long, long);
                            let value = of_value.eval_attribute(name).map(|value| value.to_string());
                            let truth = of_truth.truth_outward(name, of_truth.start).map_err(|_| ());
                            remembered += [&of_value, &of_truth].into_iter().filter(|one| one.known.is_some()).count();
                            let steps = [of_value, of_truth].map(|one| one.steps_left);
                            (steps, value, truth)
                        };
                        assert_eq!(outcome(0), outcome(u64::MAX), "{my} {target} within {limits:?}");
                    }
                }
            }
        }
        assert!(remembered > 1_000, "{remembered}");
    }

    #[test]
    fn references_that_double_take_little_time() {
        let text: String = (0..60).map(|at| format!("a{at} = a{0} + a{0}; b{at} = b{0} && b{0}; ", at + 1)).collect();
        let ad = ClassAd::parse(format!("[{text} a60 = 1; b60 = true]").as_bytes()).unwrap();
        let limits = Limits { work: u64::MAX, ..Limits::default() };
        let settings = EvalOptions { limits, ..EvalOptions::default() };
        let scope = Scope::new(&ad, &settings);
        // Without the values that are remembered, 2^60 additions.
        assert!(matches!(scope.eval_attr(Name::new("a0")), Ok(Value::Int(value)) if value == 1 << 60));
        assert_eq!(Evaluator::new(scope).attribute_truth(Name::new("b0")), Ok(Truth::True));
    }
}
