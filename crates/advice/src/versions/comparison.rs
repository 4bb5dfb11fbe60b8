//! One text in two versions.
//!
//! In: a text, the ads of its evaluation, and two versions. Out: the rules that make a difference, both readings with their
//! values, and a text that means the same in all versions.

use super::dependence::{dependent, may_differ};
use super::examples::{ExampleValues, VariantAds, examples};
use super::stage::{Stage, steps};
use super::writing;
use super::{DifferenceSeverity, VersionAds, VersionDifference, VersionReading, VersionText};
use classmate::internal::builtin;
use classmate::internal::semantics::{DOCUMENTED, LATEST, VersionRule};
use classmate::internal::syntax::expr::Node;
use classmate::internal::syntax::parse::{parse_expr, parse_prefix};
use classmate::internal::syntax::print::Style;
use classmate::internal::syntax::token::Quoting;
use classmate::{ClassAd, EvalError, EvalOptions, Expr, ParseOptions, Scope, Semantics, SyntaxError, Value};

/// Rules that are visible in the order of attributes only, or to programs that compare expressions.
const UNSEEN: [VersionRule; 3] =
    [VersionRule::AttributeOrder, VersionRule::EnvironmentOrder, VersionRule::RealSameness];

/// A successful or failed reading of a text in one version.
type Parsed = Result<(Expr, usize), SyntaxError>;

/// The difference of a text between two versions, by all rules that make it.
#[derive(Clone)]
pub(super) struct TextDifference {
    pub(super) rules: Vec<VersionRule>,
    pub(super) severity: DifferenceSeverity,
    pub(super) example: Vec<String>,
    /// The ads of the example.
    pub(super) ads: Option<VariantAds>,
    /// A part of the expression that differs for some values, if no example is known.
    pub(super) part: Option<Expr>,
    readings: [VersionReading; 2],
}

/// The comparison of one text in two versions.
#[derive(Clone, Copy)]
pub(super) struct TextComparison<'a> {
    pub(super) text: VersionText<'a>,
    /// The reading of the text, if it is not read as an expression alone.
    pub(super) read: Option<&'a dyn Fn(Semantics) -> Result<Expr, SyntaxError>>,
    pub(super) settings: &'a EvalOptions,
    pub(super) ads: VersionAds<'a>,
}

impl TextComparison<'_> {
    fn options(&self, semantics: Semantics) -> ParseOptions {
        ParseOptions { quoting: self.text.quoting, semantics, mode: self.settings.mode, ..ParseOptions::default() }
    }

    /// The style of expressions that are read as the text is.
    pub(super) fn style(&self) -> Style {
        if self.text.quoting == Quoting::New { Style::PlainNew } else { Style::Plain }
    }

    pub(super) fn parse(&self, semantics: Semantics) -> Parsed {
        let text = self.text.text.trim_ascii_end();
        if let Some(read) = self.read {
            return read(semantics).map(|expr| (expr, text.len()));
        }
        let options = self.options(semantics);
        if self.text.prefix {
            parse_prefix(text, &options)
        } else {
            parse_expr(text, &options).map(|expr| (expr, text.len()))
        }
    }

    /// Tests whether a version reads all of the text.
    fn is_whole(&self, semantics: Semantics) -> bool {
        self.parse(semantics).is_ok_and(|(_, end)| end == self.text.text.trim_ascii_end().len())
    }

    /// The value in the ads of one of the versions.
    pub(super) fn value(&self, expr: &Expr, semantics: Semantics, ads: usize) -> String {
        self.in_scope(semantics, ads, |scope| scope.eval(expr))
    }

    /// A value in the ads of one of the versions, or the reason that the evaluation fails.
    fn in_scope(
        &self,
        semantics: Semantics,
        ads: usize,
        value: impl FnOnce(Scope<'_>) -> Result<Value, EvalError>,
    ) -> String {
        let settings = EvalOptions { semantics, ..self.settings.clone() };
        let scope = Scope::new(self.ads.my[ads], &settings);
        match value(self.ads.target[ads].map_or(scope, |target| scope.with_target(target))) {
            Ok(value) => format!("{value:#}"),
            Err(failed) => format!("evaluation fails: {failed}"),
        }
    }

    /// Tests whether two readings differ: whether they parse, where they end, their trees, or their values.
    fn differs(&self, [first, second]: [(&Parsed, Semantics); 2], ads: usize) -> bool {
        match (first.0, second.0) {
            (Err(_), Err(_)) => false,
            (Ok((one, one_end)), Ok((other, other_end))) => {
                one_end != other_end
                    || !one.same_as(other)
                    || self.value(one, first.1, ads) != self.value(other, second.1, ads)
            }
            _ => true,
        }
    }

    /// The difference in the ads of the comparison; `None` if the text means the same.
    pub(super) fn difference(&self, versions: [Semantics; 2]) -> Option<TextDifference> {
        seen(versions).next()?;
        let parsed = versions.map(|version| self.parse(version));
        let severity = self.severity(&parsed, versions)?;
        let mut rules: Vec<VersionRule> =
            seen(versions).filter(|rule| self.is_cause(*rule, &parsed, versions)).collect();
        if rules.contains(&VersionRule::SizeSuffix) {
            rules.retain(|rule| *rule != VersionRule::SuffixPrinting);
        }
        if rules.is_empty() {
            return None; // only what it refers to differs
        }
        let readings = [self.reading(versions[0], 0), self.reading(versions[1], 1)];
        Some(TextDifference { rules, severity, example: Vec::new(), ads: None, part: None, readings })
    }

    /// As [`Self::difference`], in an example for which the values differ, if one is found.
    pub(super) fn in_example(&self, versions: [Semantics; 2]) -> Option<TextDifference> {
        self.in_example_of(versions, ExampleValues::Plain)
    }

    /// As [`Self::in_example`]; also if versions only use some values in different ways.
    pub(super) fn in_any_example(&self, versions: [Semantics; 2]) -> Option<TextDifference> {
        seen(versions).next()?;
        self.in_example_of(versions, ExampleValues::All).or_else(|| {
            let (expr, _) = self.parse(versions[0]).ok()?;
            let part = dependent(&expr, &versions, self.settings)?;
            let differ = |pair: [Semantics; 2]| self.value(&part, pair[0], 0) != self.value(&part, pair[1], 0);
            let is_cause = |rule: VersionRule| {
                let [first, second] = versions;
                differ([first, first.with(rule, second)]) || differ([second, second.with(rule, first)])
            };
            let rules: Vec<VersionRule> = seen(versions).filter(|rule| is_cause(*rule)).collect();
            let readings = [self.reading(versions[0], 0), self.reading(versions[1], 1)];
            // Nothing is proven of the whole.
            let severity = DifferenceSeverity::Note;
            let found = TextDifference { rules, severity, example: Vec::new(), ads: None, part: Some(part), readings };
            (!found.rules.is_empty()).then_some(found)
        })
    }

    fn in_example_of(&self, versions: [Semantics; 2], of: ExampleValues) -> Option<TextDifference> {
        let found = self.difference(versions);
        let exprs = versions.map(|version| self.parse(version).ok().map(|(expr, _)| expr));
        let [Some(first), Some(second)] = exprs else { return found };
        // A difference of the trees, or of a function, may show in some ads only.
        if found.as_ref().is_some_and(|found| found.readings[0].value != found.readings[1].value)
            || found.is_none() && !may_differ(&first, versions, self.settings)
        {
            return found;
        }
        let differs = |ads: &VariantAds| {
            let here = self.with_ads(ads);
            here.value(&first, versions[0], 0) != here.value(&second, versions[1], 1)
        };
        let base = VariantAds { my: ClassAd::new(), target: None };
        let example = examples([&first, &second], of, &base, None).0.find(differs).and_then(|ads| {
            let ads = ads.reduced(differs);
            let found = self.with_ads(&ads).difference(versions)?;
            Some(TextDifference { example: ads.shown(), ads: Some(ads), ..found })
        });
        example.or_else(|| {
            let bare = |mut found: TextDifference| {
                for reading in &mut found.readings {
                    reading.value = None;
                }
                found
            };
            found.map(bare)
        })
    }

    /// The comparison in the ads of an example.
    pub(super) fn with_ads<'b>(&self, ads: &'b VariantAds) -> TextComparison<'b>
    where
        Self: 'b,
    {
        let VersionAds { name, .. } = self.ads;
        let ads = VersionAds { my: [&ads.my; 2], target: [ads.target.as_ref(); 2], name };
        TextComparison { ads, ..*self }
    }

    /// One difference for each rule: if there are several, between two stages from one version to the other.
    pub(super) fn by_rule(
        &self,
        versions: [Semantics; 2],
        find: impl Fn(&Self, [Semantics; 2]) -> Option<TextDifference>,
    ) -> Vec<VersionDifference> {
        let Some(whole) = find(self, versions) else { return Vec::new() };
        let text = String::from_utf8_lossy(self.text.text).trim().to_owned();
        let (write, write_keeps) = self.replacement(versions, &whole.rules).unzip();
        let of_rule = |rule: VersionRule, found: TextDifference| VersionDifference {
            rule: rule.change().name,
            severity: found.severity,
            text: text.clone(),
            example: found.example,
            readings: found.readings,
            write: write.clone(),
            write_keeps: write_keeps.clone(),
        };
        if let [only] = *whole.rules {
            return vec![of_rule(only, whole)];
        }
        let (steps, end) = steps(&whole.rules, versions, |semantics| self.is_whole(semantics));
        let mut found: Vec<VersionDifference> = Vec::new();
        let mut before = Stage::of(versions[0]);
        // Between the versions, the ads are as one reads them that reads the text.
        let between = usize::from(self.is_whole(versions[1]));
        let ads_at = |stage: &Stage| versions.iter().position(|one| *one == stage.semantics).unwrap_or(between);
        for (rule, after) in steps {
            let at = [ads_at(&before), ads_at(&after)];
            let VersionAds { my, target, name } = self.ads;
            let ads = VersionAds { my: at.map(|at| my[at]), target: at.map(|at| target[at]), name };
            let step = find(&TextComparison { ads, ..*self }, [before.semantics, after.semantics]);
            // A rule of a part that is not read has no effect.
            let Some(mut step) = step.filter(|step| step.rules.contains(&rule)) else { continue };
            before.name(&mut step.readings[0]);
            after.name(&mut step.readings[1]);
            found.push(of_rule(rule, step));
            before = after;
        }
        match found.last_mut() {
            Some(last) => end.name(&mut last.readings[1]),
            None => found.extend(whole.rules.first().map(|rule| of_rule(*rule, whole.clone()))),
        }
        found
    }

    /// The text as a version reads it.
    pub(super) fn reading(&self, semantics: Semantics, ads: usize) -> VersionReading {
        let (expression, problem, value) = match self.parse(semantics) {
            Err(error) => (None, Some(error.to_string()), None),
            Ok((expr, end)) => {
                let rest = String::from_utf8_lossy(self.text.text.trim_ascii_end().get(end..).unwrap_or_default());
                let problem = (!rest.is_empty()).then(|| format!("`{}` is ignored", rest.trim()));
                (Some(writing::parenthesized(&expr, self.style())), problem, Some(self.value(&expr, semantics, ads)))
            }
        };
        VersionReading { series: semantics.to_string(), without: Vec::new(), expression, problem, value }
    }

    /// The importance of the difference; `None` if there is none.
    fn severity(&self, parsed: &[Parsed; 2], versions: [Semantics; 2]) -> Option<DifferenceSeverity> {
        match parsed {
            [Err(_), Err(_)] => None,
            [Ok((first, first_end)), Ok((second, second_end))] => {
                let is_cut = first_end != second_end;
                let same_value = || self.value(first, versions[0], 0) == self.value(second, versions[1], 1);
                // A size suffix that only one of them prints.
                let is_same_printed = || {
                    let printed = versions[0].with(VersionRule::SuffixPrinting, versions[1]);
                    self.parse(printed).is_ok_and(|(expr, _)| expr.same_as(second))
                };
                let only_printed = || (first.nodes().len() == 1 || is_same_printed()) && same_value();
                match (is_cut, first.same_as(second)) {
                    (true, _) => Some(DifferenceSeverity::Error),
                    (_, false) if only_printed() => Some(DifferenceSeverity::Note),
                    (_, false) => Some(DifferenceSeverity::Warning),
                    (_, true) if same_value() && !calls_misspelled(first, versions) => None,
                    _ => Some(DifferenceSeverity::Warning),
                }
            }
            _ => Some(DifferenceSeverity::Error),
        }
    }

    /// Tests whether one rule alone makes a difference, in either version.
    fn is_cause(&self, rule: VersionRule, parsed: &[Parsed; 2], versions: [Semantics; 2]) -> bool {
        if rule == VersionRule::VersionCase {
            return parsed.iter().flatten().any(|(expr, _)| calls_misspelled(expr, versions));
        }
        [(0, 1), (1, 0)].into_iter().any(|(at, other)| {
            let flipped = versions[at].with(rule, versions[other]);
            self.differs([(&parsed[at], versions[at]), (&self.parse(flipped), flipped)], at)
        })
    }

    /// A text that means in all versions what the second one reads, or the first if the second refuses it; and that version.
    /// Of an attribute that refers to itself, it is what the newer one reads. A text that has another meaning for some values is none.
    pub(super) fn replacement(&self, versions: [Semantics; 2], rules: &[VersionRule]) -> Option<(String, String)> {
        let text = self.text.text.trim_ascii_end();
        let parsed = versions.map(|version| self.parse(version));
        let is_whole = |at: usize| parsed[at].as_ref().is_ok_and(|(_, end)| *end == text.len());
        let own = self.ads.name.filter(|_| rules.contains(&VersionRule::Cycle));
        let meant = match own {
            Some(_) => usize::from(versions[0].series() < versions[1].series()),
            None => usize::from(is_whole(1)),
        };
        if own.is_some() && !is_whole(meant) {
            return None;
        }
        // Size suffixes are seen only where they are printed.
        let seen = versions[meant].with(VersionRule::SuffixPrinting, Semantics::of(DOCUMENTED[0]));
        let (expr, _) = self.parse(seen).ok()?;
        let read = parsed[meant].as_ref().ok().map(|(expr, _)| expr)?;
        let meaning = self.value(read, versions[meant], meant);
        // A reference to the attribute may have another value than its expression alone.
        let referred = |name| self.in_scope(versions[meant], meant, |scope| scope.eval_attr(name));
        if own.is_some_and(|name| referred(name) != meaning) {
            return None;
        }
        let written = writing::portable(&expr, own, self.style());
        let written = if own.is_some() { self.folded(written) } else { written };
        if written.as_bytes() == text.trim_ascii() {
            return None;
        }
        let read_alike = self.read_alike(&written)?;
        let of_all = DOCUMENTED.map(Semantics::of);
        let means = |here: &TextComparison<'_>, semantics| {
            here.value(&read_alike, semantics, meant) == here.value(read, versions[meant], meant)
        };
        if !of_all.iter().all(|semantics| means(self, *semantics))
            || dependent(&read_alike, &of_all, self.settings).is_some()
        {
            return None;
        }
        let base = VariantAds { my: self.ads.my[meant].clone(), target: self.ads.target[meant].cloned() };
        let shows = |ads: VariantAds| {
            let here = self.with_ads(&ads);
            [of_all[0], versions[1 - meant], versions[meant]].into_iter().all(|semantics| means(&here, semantics))
        };
        let (mut variants, is_complete) = examples([read, &read_alike], ExampleValues::All, &base, own);
        // Some examples are not enough where a reference is left out. Otherwise both are the same but for parentheses, products of
        // suffixes, seconds and spellings.
        let is_shown = (is_complete || own.is_none()) && variants.all(shows);
        is_shown.then(|| (written, versions[meant].to_string()))
    }

    /// The value of a text without references and calls; any other text as it is.
    fn folded(&self, text: String) -> String {
        let Ok(expr) = parse_expr(text.as_bytes(), &self.options(Semantics::default())) else { return text };
        let is_constant = |node: &Node| {
            matches!(
                node,
                Node::Literal(_) | Node::Paren(_) | Node::Unary(..) | Node::Binary(..) | Node::Conditional { .. }
            )
        };
        match Scope::new(&ClassAd::new(), &EvalOptions::default()).eval(&expr) {
            Ok(value) if expr.nodes().iter().all(is_constant) => writing::shown(&value.to_expr(), self.style()),
            _ => text,
        }
    }

    /// A text that has the same tree in all series.
    fn read_alike(&self, write: &str) -> Option<Expr> {
        let text = VersionText { text: write.as_bytes(), ..self.text };
        let comparison = TextComparison { text, read: None, ..*self };
        let mut first: Option<Expr> = None;
        for semantics in DOCUMENTED.into_iter().map(Semantics::of) {
            let (expr, end) = comparison.parse(semantics).ok()?;
            if end != write.len() || first.as_ref().is_some_and(|first| !first.same_as(&expr)) {
                return None;
            }
            first.get_or_insert(expr);
        }
        first.filter(|expr| !calls_misspelled(expr, [DOCUMENTED[0], LATEST].map(Semantics::of)))
    }
}

/// The rules that two versions do not share, as far as they are seen in values.
fn seen(versions: [Semantics; 2]) -> impl Iterator<Item = VersionRule> {
    let rules = versions[0].differences(versions[1]).map(|change| change.rule);
    rules.filter(|rule| !UNSEEN.contains(rule))
}

/// Tests whether an expression calls a function by a name that only one of the versions knows.
fn calls_misspelled(expr: &Expr, versions: [Semantics; 2]) -> bool {
    versions[0].is_old(VersionRule::VersionCase) != versions[1].is_old(VersionRule::VersionCase)
        && expr.nodes().iter().any(|node| {
            let Node::Call(call) = node else { return false };
            let name = expr.tree().calls[*call as usize].name;
            builtin::find(name).is_some_and(|function| !builtin::version::is_spelled(function.name, name))
        })
}
