//! The limit of work of the evaluations of many ads together.

use classmate::{ClassAd, EvalError, EvalOptions, Expr, Name, Scope, Value};

/// Steps that may be taken before the first ad.
const BEGINNING: u64 = 20_000_000;

/// Steps that every attribute read allows, far more than real ads take: a slot of a large pool has 475 attributes, and its
/// Requirements take some hundred steps.
const PER_ATTRIBUTE: u64 = 100;

/// Evaluates in ad after ad within one allowance, which grows with what is read: a megabyte of ads never takes long.
pub(super) struct Meter {
    settings: EvalOptions,
    /// The limit of one evaluation.
    most: u64,
    left: u64,
    exhausted: bool,
}

impl Meter {
    pub(super) fn new(settings: EvalOptions) -> Self {
        Meter { most: settings.limits.work, settings, left: BEGINNING, exhausted: false }
    }

    /// An ad was read.
    pub(super) fn meet(&mut self, ad: &ClassAd) {
        self.left = self.left.saturating_add(PER_ATTRIBUTE * ad.len() as u64);
    }

    /// True if an evaluation was abandoned that would have been allowed for a single ad.
    pub(super) fn exhausted(&self) -> bool {
        self.exhausted
    }

    pub(super) fn eval(&mut self, ad: &ClassAd, expr: &Expr) -> Result<Value, EvalError> {
        self.metered(|settings| Scope::new(ad, settings).eval_counted(expr))
    }

    pub(super) fn eval_attr(&mut self, ad: &ClassAd, name: Name) -> Result<Value, EvalError> {
        self.metered(|settings| Scope::new(ad, settings).eval_attr_counted(name))
    }

    fn metered(
        &mut self,
        eval: impl FnOnce(&EvalOptions) -> (Result<Value, EvalError>, u64),
    ) -> Result<Value, EvalError> {
        self.settings.limits.work = self.most.min(self.left);
        let (value, steps) = eval(&self.settings);
        self.exhausted |= self.left < self.most && matches!(value, Err(EvalError::Work(_)));
        self.left = self.left.saturating_sub(steps);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_costly_ads_share_one_allowance() {
        // Each doubling evaluates twice what it refers to: 2^20 references and as many sums.
        let links: String = (0..20).map(|at| format!("a{at} = a{} + a{}; ", at + 1, at + 1)).collect();
        let ad = ClassAd::parse(format!("[ {links} a20 = 1 ]").as_bytes()).unwrap();
        let mut meter = Meter::new(EvalOptions::default());
        let evaluated = (0..100).take_while(|_| {
            meter.meet(&ad);
            meter.eval_attr(&ad, Name::new("a0")).is_ok()
        });
        assert!((1..20).contains(&evaluated.count()));
        assert!(meter.exhausted());
    }

    #[test]
    fn ads_of_ordinary_cost_never_exhaust_it() {
        let ad = ClassAd::parse(b"[ a = 1; b = a + 1; c = b > 1 && a < 5 ]").unwrap();
        let mut meter = Meter::new(EvalOptions::default());
        for _ in 0..100_000 {
            meter.meet(&ad);
            assert!(meter.eval_attr(&ad, Name::new("c")).is_ok());
        }
        assert!(!meter.exhausted() && meter.left > BEGINNING);
    }
}
