//! `classmate policy RELATION A [B]`

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum;
use serde::Serialize;

use crate::cli::settings::of_files;
use crate::cli::{Failure, FormatArguments, Reply, Streams, language, parsed, print_result};
use classmate::internal::analysis::proof::{PairAnswer, find_pair};
use classmate::internal::program::mentions::Mentions;
use classmate::{ClassAd, EvalOptions, Expr, Scope};

/// Prove a relation of two conditions, or refute it by an example.
///
/// A and B are expressions; with `--variable`, configuration files that set it. Both are evaluated in the same pair of
/// ads, MY and TARGET, and hold if they are true. Attributes can be missing or have any value of any type, numbers up to
/// 2^50. An example is evaluated before it is shown. The search is limited, so the answer can be `unknown`, as it is for
/// versions before 25.13 where a circle in an ad could end an evaluation. `time()` is the beginning of 2026 in
/// examples.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  classmate policy implies 'Memory > 4096' 'Memory > 1024'
  classmate policy equal 'Owner == \"ann\" || Owner == \"bob\"' 'stringListIMember(Owner, \"ann,bob\")'
  classmate policy disjoint 'TARGET.RequestGPUs > 0' 'TARGET.RequestGPUs =?= undefined'
  classmate policy never 'Cpus > 4 && Cpus < 2'
  classmate policy equal --variable START examples/policy/old.config examples/policy/new.config

Exit status: 0 if proven, 1 if refuted or unknown or if a file cannot be read, 2 if the input is invalid.")]
pub(super) struct ProofArguments {
    /// The relation to prove
    #[arg(value_enum)]
    relation: Relation,
    /// The first condition
    #[arg(value_name = "A", allow_hyphen_values = true)]
    first: String,
    /// The second condition
    #[arg(value_name = "B", allow_hyphen_values = true)]
    second: Option<String>,
    /// Compare this variable of two configuration files
    #[arg(long, value_name = "NAME")]
    variable: Option<String>,
    #[command(flatten)]
    output: FormatArguments,
}

/// A relation of conditions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum Relation {
    /// B is true wherever A is
    Implies,
    /// A and B are true for the same ads
    Equal,
    /// A and B are never true together
    Disjoint,
    /// A is always true
    Always,
    /// A is never true
    Never,
}

impl Relation {
    /// The relation as a sentence.
    fn sentence(self) -> &'static str {
        match self {
            Self::Implies => "the second condition is true wherever the first is",
            Self::Equal => "both conditions are true for the same ads",
            Self::Disjoint => "the conditions are never true together",
            Self::Always => "the condition is always true",
            Self::Never => "the condition is never true",
        }
    }

    /// The questions whose examples refute it: conditions that hold, and others that do not.
    fn questions<'e>(self, first: &'e Expr, second: Option<&'e Expr>) -> Vec<(Vec<&'e Expr>, Vec<&'e Expr>)> {
        let second = || second.into_iter().collect::<Vec<_>>();
        match self {
            Self::Implies => vec![(vec![first], second())],
            Self::Equal => vec![(vec![first], second()), (second(), vec![first])],
            Self::Disjoint => vec![([vec![first], second()].concat(), Vec::new())],
            Self::Always => vec![(Vec::new(), vec![first])],
            Self::Never => vec![(vec![first], Vec::new())],
        }
    }
}

/// The answer to a question about conditions.
#[derive(Serialize)]
struct Proof {
    relation: Relation,
    first: String,
    second: Option<String>,
    /// `proven`, `refuted` or `unknown`.
    answer: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<RefutingAds>,
}

/// A pair of ads that refutes a relation.
#[derive(Serialize)]
struct RefutingAds {
    my: Vec<String>,
    target: Vec<String>,
    /// The values of the conditions.
    values: Vec<String>,
    /// The attributes that the conditions refer to.
    #[serde(skip)]
    names: Vec<String>,
    /// True if the value may be another one in other ads.
    #[serde(skip)]
    varies: bool,
}

pub(super) fn run(arguments: &ProofArguments, streams: Streams) -> Result<ExitCode, Failure> {
    let is_pair = !matches!(arguments.relation, Relation::Always | Relation::Never);
    if is_pair != arguments.second.is_some() {
        let message = if is_pair { "the second condition is missing" } else { "one condition is expected, found two" };
        return Err(Failure::input(message).help("`classmate policy --help` has examples"));
    }
    let expr = |text: &str, name: &str| match &arguments.variable {
        Some(variable) => of_config(Path::new(text), variable, streams),
        None => parsed(text, name, streams),
    };
    let first = expr(&arguments.first, "A")?;
    let second = arguments.second.as_ref().map(|text| expr(text, "B")).transpose()?;
    let proof = prove(arguments.relation, &first, second.as_ref());
    let reply = Reply { schema: "policy/1", result: &proof, rows: std::slice::from_ref(&proof) };
    print_result(arguments.output.format, &reply, |out| write(out, &proof))?;
    Ok(ExitCode::from(u8::from(proof.answer != "proven")))
}

/// The condition that a configuration file sets.
fn of_config(path: &Path, variable: &str, streams: Streams) -> Result<Expr, Failure> {
    let config = of_files(&[path.to_owned()])?.whole(streams.err)?;
    let found = config.expression(variable)?.ok_or_else(|| {
        Failure::input(format!("`{}` does not set `{variable}`, which has no default", path.display()))
    })?;
    let failure = |error: classmate::SyntaxError| {
        super::unparsed(&error, &found.text, &format!("{}: {variable}", path.display()), streams.err)
    };
    found.expression().map_err(failure)
}

/// Returns true if two conditions are proven to be true for the same ads.
pub(super) fn is_equal(first: &Expr, second: &Expr) -> bool {
    prove(Relation::Equal, first, Some(second)).answer == "proven"
}

fn prove(relation: Relation, first: &Expr, second: Option<&Expr>) -> Proof {
    // 2026-01-01
    let settings = EvalOptions { now: 1_767_225_600, semantics: language::chosen(), ..EvalOptions::default() };
    let mut answer = "proven";
    let mut example = None;
    for (hold, fail) in relation.questions(first, second) {
        match find_pair(&hold, &fail, &settings) {
            PairAnswer::Impossible => {}
            PairAnswer::Open => answer = "unknown",
            PairAnswer::Found { my, target } => {
                answer = "refuted";
                example = Some(described(&my, &target, [Some(first), second], &settings));
                break;
            }
        }
    }
    Proof { relation, first: first.to_string(), second: second.map(ToString::to_string), answer, example }
}

fn described(my: &ClassAd, target: &ClassAd, conditions: [Option<&Expr>; 2], settings: &EvalOptions) -> RefutingAds {
    let lines = |ad: &ClassAd| ad.iter().map(|(name, expr)| format!("{name} = {expr}")).collect();
    let scope = Scope::new(my, settings).with_target(target);
    let value =
        |condition: &Expr| scope.eval(condition).map_or_else(|error| error.to_string(), |value| value.to_string());
    let conditions = || conditions.into_iter().flatten();
    let mentions: Vec<Mentions> = conditions().map(|condition| Mentions::of(condition.tree())).collect();
    let varies = mentions.iter().any(|found| found.opaque || found.random || found.live || !found.selectors.is_empty());
    let names: BTreeSet<String> = mentions.iter().flat_map(|found| &found.names).map(ToString::to_string).collect();
    RefutingAds {
        my: lines(my),
        target: lines(target),
        values: conditions().map(value).collect(),
        names: names.into_iter().collect(),
        varies,
    }
}

fn write(out: &mut impl Write, proof: &Proof) -> std::io::Result<()> {
    let sentence = proof.relation.sentence();
    let Some(example) = &proof.example else {
        return match proof.answer {
            "proven" => writeln!(out, "proven: {sentence}"),
            _ => writeln!(out, "unknown: neither proven nor refuted that {sentence}"),
        };
    };
    let values = match example.values.as_slice() {
        [first, second] => format!("the first condition is {first}, the second {second}"),
        [only] => format!("the condition is {only}"),
        _ => String::new(),
    };
    if example.my.is_empty() && example.target.is_empty() {
        return match example.names.as_slice() {
            [] if !example.varies => writeln!(out, "refuted: {values}, in all ads"),
            // A string that is evaluated can name any attribute.
            _ if example.varies => writeln!(out, "refuted: {values}, in ads without attributes"),
            names => writeln!(out, "refuted: {values}, in ads without `{}`", names.join("`, `")),
        };
    }
    writeln!(out, "refuted: {values}, in these ads")?;
    for (name, lines) in [("MY", &example.my), ("TARGET", &example.target)] {
        for line in lines {
            writeln!(out, "  {name}.{line}")?;
        }
    }
    Ok(())
}
